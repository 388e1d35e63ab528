use std::fmt::Write as _;
use std::path::{Component, Path, Prefix};

/// A path as a URI reference. Relative paths stay relative, and `.` is left out. All bytes but the unreserved ones are
/// percent-encoded, also those of names that are not UTF-8. The address of a file on another machine stays one.
pub(super) fn of(path: &Path) -> String {
    if let Some((scheme, rest)) = path.to_str().and_then(address) {
        return of_address(scheme, rest);
    }
    let mut uri = String::new();
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => match prefix.kind() {
                Prefix::Disk(drive) => _ = write!(uri, "file:///{}:", char::from(drive)),
                _ => encode(&mut uri, prefix.as_os_str().as_encoded_bytes()),
            },
            Component::RootDir if uri.is_empty() => uri.push_str("file:///"),
            Component::RootDir => uri.push('/'),
            Component::CurDir => {}
            Component::ParentDir => segment(&mut uri, b".."),
            Component::Normal(name) => segment(&mut uri, name.as_encoded_bytes()),
        }
    }
    uri
}

/// The scheme of an address, and what follows `://`. A drive of Windows is not a scheme.
fn address(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    (scheme.len() > 1 && scheme.bytes().all(is_scheme)).then_some((scheme, rest))
}

/// An address as a URI. A user and password before the host are left out. Names in buckets are not percent-encoded in addresses, and those
/// behind https are.
fn of_address(scheme: &str, rest: &str) -> String {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_http = ["http", "https"].iter().any(|http| scheme.eq_ignore_ascii_case(http));
    let has_container = ["abfs", "abfss", "wasb", "wasbs"].iter().any(|azure| scheme.eq_ignore_ascii_case(azure));
    let host = if has_container { host } else { host.rsplit_once('@').map_or(host, |(_, host)| host) };
    let mut uri = format!("{scheme}://");
    encode_but(&mut uri, host.as_bytes(), b":@[]");
    encode_but(&mut uri, path.as_bytes(), if is_http { b"/:@!$&'()*+,;=%?#" } else { b"/" });
    uri
}

fn segment(uri: &mut String, name: &[u8]) {
    if !uri.is_empty() && !uri.ends_with('/') {
        uri.push('/');
    }
    encode(uri, name);
}

/// Only the unreserved characters of RFC 3986 stay as they are.
fn encode(uri: &mut String, bytes: &[u8]) {
    encode_but(uri, bytes, b"");
}

/// Encodes all but the unreserved characters and some others.
fn encode_but(uri: &mut String, bytes: &[u8], but: &[u8]) {
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if but.contains(&byte) => uri.push(char::from(byte)),
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn paths_become_uris() {
        let cases = [
            ("model.popef", "model.popef"),
            ("./models//a b.popef", "models/a%20b.popef"),
            ("../x/100%.popef", "../x/100%25.popef"),
            ("/models/größe.popef", "file:///models/gr%C3%B6%C3%9Fe.popef"),
            ("c:/x?y#z", "c%3A/x%3Fy%23z"),
            ("-", "-"),
            ("s3://bucket/models/a b?100%.popef", "s3://bucket/models/a%20b%3F100%25.popef"),
            ("http://127.0.0.1:80/a%20b.popef?...#2", "http://127.0.0.1:80/a%20b.popef?...#2"),
            ("https://user:word@[::1]/größe", "https://[::1]/gr%C3%B6%C3%9Fe"),
            ("abfss://c@store.dfs.core.windows.net/k", "abfss://c@store.dfs.core.windows.net/k"),
            ("hf://owner/model@main/m.popef", "hf://owner/model%40main/m.popef"),
        ];
        for (path, uri) in cases {
            assert_eq!(super::of(Path::new(path)), uri);
        }
    }
}

use std::fmt::Write as _;
use std::path::{Component, Path, Prefix};

/// A path as a URI reference. Relative paths stay relative, and `.` is left out. All bytes but the unreserved ones are
/// percent-encoded, also those of names that are not UTF-8.
pub(super) fn of(path: &Path) -> String {
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

fn segment(uri: &mut String, name: &[u8]) {
    if !uri.is_empty() && !uri.ends_with('/') {
        uri.push('/');
    }
    encode(uri, name);
}

/// Only the unreserved characters of RFC 3986 stay as they are.
fn encode(uri: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
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
        ];
        for (path, uri) in cases {
            assert_eq!(super::of(Path::new(path)), uri);
        }
    }
}

//! Texts with addresses in them, without what may be secret.

use std::borrow::Cow;

/// Removes user, password, query and fragment from each address in a text, such as `https://...`. These can be secrets,
/// and text that is shown also ends up in logs. Text outside addresses stays as it is.
///
/// An address ends at a space, a quote or an angle bracket. If it is unclear where a password ends, nothing after the
/// scheme is kept.
///
/// ```
/// use popef::types::redact;
///
/// assert_eq!(redact("cannot open ftp://me:word@host/a.popef"), "cannot open ftp://host/a.popef");
/// assert_eq!(redact("https://host/a.popef?sig=1234"), "https://host/a.popef?...");
/// assert_eq!(redact("models/a.popef"), "models/a.popef");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    redacted(text, |c: char| c.is_whitespace() || "\"'`<>".contains(c))
}

/// Does the same for text that was given as one word for a file or an address: an address in it extends to the end, across
/// spaces and quotes. An address that has a login and a path, and no scheme, is known only here: in a text, it could be
/// the name of a tensor.
///
/// ```
/// use popef::types::redact_word;
///
/// assert_eq!(redact_word("oci://me:a b'c@host/a.popef"), "oci://host/a.popef");
/// assert_eq!(redact_word("me:word@host:/a.popef"), "host:/a.popef");
/// ```
pub fn redact_word(word: &str) -> Cow<'_, str> {
    match redacted(word, |_| false) {
        Cow::Borrowed(word) => without_login(word).map_or(Cow::Borrowed(word), Cow::Owned),
        shown => shown,
    }
}

/// A word without its login and its query, if it is `user:password@host/path`, or `user:password@host:/path` as `scp` takes it, perhaps
/// behind an option. In place of the path, there may be a query or a port. A drive of Windows is no user, and a password that begins with a slash is a path.
fn without_login(word: &str) -> Option<String> {
    let word = narrow(word);
    let (user, behind) = word.split_once(':')?;
    let (password, host) = behind.rsplit_once('@')?;
    let (option, user) = user.rfind('=').map_or(("", user), |at| user.split_at(at.saturating_add(1)));
    let is_login = !user.is_empty() && !user.contains(is_slash) && !password.starts_with(is_slash);
    let is_query = |at: &usize| has_value(host.split_at(*at).1.get(1..).unwrap_or_default());
    let query = host.match_indices(['?', '#']).map(|(at, _)| at).find(is_query);
    let (place, query) = host.split_at(query.unwrap_or(host.len()));
    let has_path = place.find(is_slash).is_some_and(|at| at > 0);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let has_port = place.split_once(':').is_some_and(|(_, port)| is_port(port));
    let is_address = has_path || has_port || !query.is_empty();
    let query = if query.starts_with('?') { "?..." } else { "" };
    (is_login && is_address).then(|| format!("{option}{place}{query}"))
}

fn is_slash(c: char) -> bool {
    c == '/' || c == '\\'
}

/// A text with the letters of ASCII in place of those that only look like them, because they are wider.
fn narrow(text: &str) -> Cow<'_, str> {
    let is_wide = |c: &char| ('\u{ff01}'..='\u{ff5e}').contains(c);
    if !text.contains(|c| is_wide(&c)) {
        return Cow::Borrowed(text);
    }
    let ascii =
        |c: char| if is_wide(&c) { char::from_u32(u32::from(c).saturating_sub(0xfee0)).unwrap_or(c) } else { c };
    Cow::Owned(text.chars().map(ascii).collect())
}

/// In addresses with these schemes, `?` can also be a pattern, and `@` can follow a container.
const BUCKETS: [&str; 7] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];
const WITH_CONTAINER: [&str; 6] = ["az", "azure", "abfs", "abfss", "wasb", "wasbs"];
/// Some programs read addresses with these schemes without a slash.
const WITHOUT_SLASHES: [&str; 10] = ["http", "https", "ftp", "ftps", "sftp", "s3", "s3a", "gs", "gcs", "hf"];

fn redacted(text: &str, ends: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    let narrow = narrow(text);
    let mut shown = String::new();
    let mut rest = &*narrow;
    while let Some(Found { before, scheme, body }) = Found::first(rest, ends) {
        shown.push_str(before);
        let word = body.split(ends).next().unwrap_or_default();
        shown.push_str(&of_address(scheme, word));
        rest = body.strip_prefix(word).unwrap_or_default();
    }
    shown.push_str(rest);
    if shown == *narrow { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// An address in a text.
struct Found<'t> {
    /// The text before the address, and the scheme with its slashes.
    before: &'t str,
    scheme: &'t str,
    /// The text after the slashes.
    body: &'t str,
}

impl<'t> Found<'t> {
    fn first(text: &'t str, ends: impl Fn(char) -> bool) -> Option<Self> {
        for (at, found) in text.match_indices([':', '?', '/']) {
            let (before, rest) = text.split_at(at);
            let behind = rest.get(found.len()..).unwrap_or_default();
            match found {
                ":" => {
                    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                    let scheme = before.rsplit(|c| !in_scheme(c)).next().unwrap_or_default();
                    let scheme = scheme.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
                    // One letter is a drive.
                    let goes_on = || behind.chars().next().is_some_and(|next| !ends(next) && !next.is_whitespace());
                    if scheme.len() > 1 && (behind.starts_with(is_slash) || is_known(scheme) && goes_on()) {
                        let body = behind.trim_start_matches(is_slash);
                        let before = text.get(..text.len().saturating_sub(body.len())).unwrap_or_default();
                        return Some(Found { before, scheme, body });
                    }
                }
                // The query of an address without its scheme.
                "?" => {
                    let word = before.rsplit(|c: char| ends(c) || c.is_whitespace()).next().unwrap_or_default();
                    if has_value(behind) && word.contains('/') && (word.contains('.') || word.contains("//")) {
                        return Some(Found { before, scheme: "", body: rest });
                    }
                }
                // An address of the same scheme, or one whose colon is missing or stands apart.
                _ => {
                    let authority =
                        behind.strip_prefix('/').and_then(|body| body.split(|c| c == '/' || ends(c)).next());
                    let has_login = |it: &str| it.split_once(':').is_some_and(|(_, it)| it.contains('@'));
                    let scheme = || before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
                    if authority.is_some_and(|it| has_login(it) || it.contains('@') && is_known(scheme())) {
                        let (before, body) = text.split_at(at.saturating_add(2));
                        return Some(Found { before, scheme: "", body });
                    }
                }
            }
        }
        None
    }
}

fn is_known(scheme: &str) -> bool {
    WITHOUT_SLASHES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
}

/// Whether the text after a `?` is a query: a name and its value.
fn has_value(behind: &str) -> bool {
    let name = behind.split('=').next().unwrap_or_default();
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.%~$".contains(&byte);
    !name.is_empty() && name.len() < behind.len() && name.bytes().all(in_name)
}

fn of_address(scheme: &str, word: &str) -> String {
    let is_one = |of: &[&str]| of.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    let is_bucket = is_one(&BUCKETS);
    // Punctuation that ends a sentence is not part of the address.
    let end = word.trim_end_matches([':', ',', ';', '.', ')', ']']).len();
    let (word, sentence) = word.split_at(end);
    let is_query = |at: &usize| {
        let (_, query) = word.split_at(*at);
        let behind = query.get(1..).unwrap_or_default();
        !is_bucket || (query.starts_with('?') && has_value(behind)) || (query.starts_with('#') && behind.contains('='))
    };
    let cut = word.match_indices(['?', '#']).map(|(at, _)| at).find(is_query).unwrap_or(word.len());
    let (head, tail) = word.split_at(cut);
    let authority = head.split(['/', '\\']).next().unwrap_or_default();
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._$".contains(&byte));
    let is_container = is_one(&WITH_CONTAINER)
        && authority.split_once('@').is_some_and(|(name, account)| is_name(name) && is_name(account));
    let port = authority.rsplit(']').next().unwrap_or_default().split_once(':').map_or("", |(_, port)| port);
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    let is_broken = tail.contains('@') && authority == head && !head.is_empty();
    let head = match head.rsplit_once('@') {
        _ if is_container || (!authority.contains('@') && is_port && !is_broken) => head,
        Some((_, behind)) if !tail.contains('@') => behind,
        _ => "...",
    };
    let tail = match tail.strip_prefix("?...") {
        // This is already a redacted name: the second one, with another query.
        Some(number) if number.strip_prefix('#').is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit())) => tail,
        _ if tail.starts_with('?') => "?...",
        _ => "",
    };
    let sentence = if tail == "?..." { sentence.trim_start_matches('.') } else { sentence };
    format!("{head}{tail}{sentence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "its many words take minutes there")]
    fn no_secret_is_left() {
        let words = [
            "ftp://u:SECRET@h/a",
            "FTP://SECRET@h/a",
            "gcs://b/k?sig=SECRET",
            "oci://u:SECRET/SECRET@h/a",
            "wasbs://c@a.blob/k?SECRET",
            "wasbs://u:SECRET@a.blob/k",
            "http:/u:SECRET@h/a",
            r"http:\\u:SECRET@h\a",
            "https:u:SECRET@h/a",
            "https:///u:SECRET@h/a",
            "https//h/x?token=SECRET",
            "s3//b/k?X-Amz-Signature=SECRET",
            "https://u:SECRET?SECRET@h/a",
            "https://SECRET?x@h",
            "https://u:SECRET#x@h",
            "https://u:SECRET",
            "https://u:SECRET@h/a?mail=a@SECRET",
            "https://u:SECRET@SECRET/x@h/a",
            "s3://b/k?X-Amz-Signature=SECRET",
            "s3://u:SECRET@b/k",
            "abfs://c@a.dfs/k?sig=SECRET",
            "abfs://c@u:SECRET@a/k",
            "git+https://SECRET@h/a",
            "url=https://SECRET@h/a",
            "blob:https://u:SECRET@h/a",
            "//u:SECRET@h/a",
            "h.com/a.popef?X-Amz-Signature=SECRET&b",
            "https://h/a#token=SECRET",
            "https//u:SECRET@h/a",
            "https//SECRET@h/a",
            "https ://u:SECRET@h/a",
            "https\u{ff1a}//u:SECRET@h/a",
            "https\u{ff1a}\u{ff0f}\u{ff0f}u:SECRET@h/a",
            "https:\u{ff0f}\u{ff0f}u\u{ff1a}SECRET\u{ff20}h/a",
        ];
        for word in words {
            for text in [word.to_owned(), format!("cannot read \"{word}\": no"), format!("{word}: no such file")] {
                for redact in [redact as fn(&str) -> Cow<'_, str>, redact_word] {
                    let shown = redact(&text);
                    assert!(!shown.contains("SECRET"), "{text} is shown as {shown}");
                    assert_eq!(redact(&shown), shown, "{text}");
                }
            }
        }
        assert!(!redact_word("ftp://u:SE CRET'SECRET@h/a").contains("CRET"));
        for (word, shown) in [
            ("u:SECRET@h:/a", "h:/a"),
            ("u:SECRET@h/a", "h/a"),
            ("u:SE/CRET@x@h/a", "h/a"),
            ("u:SECRET@h?x=1", "h?..."),
            ("u:p@h/a?sig=SECRET", "h/a?..."),
            ("u:SECRET@h#x=SECRET", "h"),
            ("u:SECRET@h:22", "h:22"),
            ("--output=u:SECRET@h/a", "--output=h/a"),
            ("u\u{ff1a}SECRET\u{ff20}h/a", "h/a"),
        ] {
            assert_eq!(redact_word(word), shown);
        }
        for word in [
            "a:b@c",
            "a:b@c.popef",
            "a:b@c?.popef",
            "C:/a@b/c",
            r"D:\a@b\c",
            "models/a:b@c/d",
            "git@host:/a",
            "x:/b@c/d",
        ] {
            assert_eq!(redact_word(word), word);
        }
    }

    #[test]
    fn the_rest_stays() {
        let texts = [
            "models/a@b?c.popef",
            "C:/models/a.popef?",
            r"D:\u:b@c",
            "a:b@c",
            "epoch=3/m?.popef",
            "s3://b/m?.popef and gs://b/**/*.popef",
            "s3://b/year=20??/m#1.popef",
            "abfs://c@a.dfs.core.windows.net/k",
            "hf://o/n@v1/m.popef",
            "https://h/@scope/m.popef",
            "http://[::1]:80/a: refused",
            "http://127.0.0.1:80: refused; try https",
            "https://h/m.popef?...#2: no such file",
            "https://h/m.popef?...: no such file",
            "see https://h/m.popef.",
            "note: what? a=b",
            "a:b@c/d",
            "\u{ff1a}// ok",
        ];
        for text in texts {
            assert_eq!(redact(text), text);
        }
    }
}

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
    let ends = |c: char| c.is_whitespace() || "\"'`<>".contains(c);
    redacted(text, |text| {
        let words = text.split_inclusive(ends).map(|word| {
            let (word, end) = word.split_at(word.trim_end_matches(ends).len());
            without_secrets(word, None) + end
        });
        words.collect()
    })
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
    redacted(word, |word| without_secrets(word, login(word)))
}

/// A text as a function shows it, if that leaves something out. The function gets the text with letters of ASCII in place of those
/// that stand for them.
fn redacted(text: &str, shown: impl Fn(&str) -> String) -> Cow<'_, str> {
    let ascii = in_ascii(text);
    let shown = shown(&ascii);
    if shown == *ascii { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// What stands for letters that are borders in addresses. A `?` is one only before a value, because it can be in names.
const ESCAPES: [(&str, &str); 6] =
    [("%3A", ":"), ("%2F", "/"), ("%5C", "\\"), ("%40", "@"), ("%3D", "="), ("%3f", "%3F")];

/// A text without letters that are wider than those of ASCII, and without escapes of borders.
fn in_ascii(text: &str) -> Cow<'_, str> {
    let is_wide = |c: char| ('\u{ff01}'..='\u{ff5e}').contains(&c);
    if !text.contains(|c| is_wide(c) || c == '%') {
        return Cow::Borrowed(text);
    }
    let narrow =
        |c: char| if is_wide(c) { char::from_u32(u32::from(c).saturating_sub(0xfee0)).unwrap_or(c) } else { c };
    let narrow = text.chars().map(narrow).collect();
    let plain = |text: String, (escape, letter): &(&str, &str)| {
        text.replace(escape, letter).replace(&escape.to_ascii_lowercase(), letter)
    };
    let plain = ESCAPES.iter().fold(narrow, plain);
    let mut parts = plain.split("%3F");
    let first = parts.next().unwrap_or_default().to_owned();
    let with_escape = |text: String, part: &str| text + if has_value(part) { "?" } else { "%3F" } + part;
    Cow::Owned(parts.fold(first, with_escape))
}

/// Where `user:password@host/path` begins in a word, or `user:password@host:/path` as `scp` takes it, perhaps behind an option
/// or another name. A port or a query can stand in place of the path. A drive of Windows is no user, and a password that begins
/// with a slash is a path.
fn login(word: &str) -> Option<usize> {
    let (before, behind) = word.split_once(':')?;
    let (password, host) = behind.split_once('@')?;
    let start = before.rfind(['=', ',', ';', '|', ' ']).map_or(0, |at| at.saturating_add(1));
    let (_, user) = before.split_at(start);
    let is_login = !user.is_empty() && !user.contains(is_slash) && !password.starts_with(is_slash);
    let is_address = host.match_indices(['/', '\\', '?', '#', ':']).any(|(at, found)| {
        let behind = host.get(at.saturating_add(1)..).unwrap_or_default();
        match found {
            ":" => !behind.is_empty() && behind.bytes().all(|byte| byte.is_ascii_digit()),
            "?" | "#" => has_value(behind),
            _ => at > 0,
        }
    });
    (is_login && is_address && !is_one(&KNOWN, last_word(user))).then_some(start)
}

/// The letters and digits at the end of a text, as in a scheme.
fn last_word(text: &str) -> &str {
    let word = text.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    word.trim_start_matches(|c: char| c.is_ascii_digit())
}

fn is_slash(c: char) -> bool {
    c == '/' || c == '\\'
}

/// In addresses with these schemes, `?` can also be a pattern, and `@` can follow a container.
const BUCKETS: [&str; 7] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];
const WITH_CONTAINER: [&str; 6] = ["az", "azure", "abfs", "abfss", "wasb", "wasbs"];
/// Addresses with these schemes are known without a slash, or without the colon.
const KNOWN: [&str; 16] = [
    "http", "https", "ftp", "ftps", "sftp", "s3", "s3a", "gs", "gcs", "hf", "az", "azure", "abfs", "abfss", "wasb",
    "wasbs",
];

fn is_one(of: &[&str], scheme: &str) -> bool {
    of.iter().any(|known| known.eq_ignore_ascii_case(scheme))
}

/// A word without logins, queries and fragments. It may hold several addresses: each begins behind a [`Link`], or at `login`. A
/// query extends to the end of the word.
fn without_secrets(word: &str, login: Option<usize>) -> String {
    // Punctuation that ends a sentence is not part of an address.
    let (word, sentence) = word.split_at(word.trim_end_matches([':', ',', ';', '.', ')', ']']).len());
    let first = |text: &str| word.find(text).unwrap_or(word.len());
    let end_of_host = first("/").max(first(".").min(first("//")));
    let (before, mut rest) = word.split_at(login.unwrap_or_default());
    let mut scheme = login.map(|_| "");
    let mut shown = before.to_owned();
    loop {
        let link = Link::first(rest);
        let part = link.as_ref().map_or(rest, |link| link.before);
        let of_host = end_of_host.saturating_sub(word.len().saturating_sub(rest.len()));
        let query = query(part, scheme, of_host);
        let (head, tail) = rest.split_at(query.unwrap_or(part.len()));
        let query = query.map_or("", |_| tail);
        shown.push_str(scheme.map_or(head, |scheme| without_user(head, query, scheme)));
        match link {
            None | Some(_) if !query.is_empty() => {
                let query = shown_query(query);
                let sentence = if query == "?..." { sentence.trim_start_matches('.') } else { sentence };
                return shown + query + sentence;
            }
            None => return shown + sentence,
            Some(link) => {
                shown.push_str(link.text);
                rest = link.body;
                scheme = link.scheme.or(scheme).or_else(|| has_password(rest).then_some(""));
            }
        }
    }
}

/// What leads to an authority: `https://`, or what somebody has left of it.
struct Link<'t> {
    before: &'t str,
    text: &'t str,
    body: &'t str,
    /// `None` if it can also be part of a path.
    scheme: Option<&'t str>,
}

impl<'t> Link<'t> {
    fn first(text: &'t str) -> Option<Self> {
        text.match_indices([':', '/', '\\']).find_map(|(at, found)| {
            let (before, rest) = text.split_at(at);
            let scheme = last_word(before);
            let behind = rest.strip_prefix(':').unwrap_or(rest);
            let body = behind.trim_start_matches(is_slash);
            let slashes = behind.len().saturating_sub(body.len());
            let (has_colon, is_known) = (found == ":", is_one(&KNOWN, scheme));
            // One letter is a drive.
            let is_sure = match slashes {
                0 | 1 => has_colon && is_known && !body.is_empty(),
                _ => is_known || has_colon && scheme.len() != 1,
            };
            let is_link = is_sure || slashes > 1 || slashes == 1 && has_colon && scheme.len() > 1;
            // The end of a password is no scheme.
            let start =
                if is_known { at.saturating_sub(scheme.len()) } else { text.len().saturating_sub(behind.len()) };
            let (before, link) = text.split_at(start);
            let (link, body) = link.split_at(link.len().saturating_sub(body.len()));
            is_link.then_some(Link { before, text: link, body, scheme: is_sure.then_some(scheme) })
        })
    }
}

/// Whether a text begins with an authority that has a user and a password.
fn has_password(text: &str) -> bool {
    let authority = text.split(is_slash).next().unwrap_or_default();
    authority.split_once(':').is_some_and(|(_, behind)| behind.contains('@'))
}

/// Where a query or a fragment begins. Without a scheme, it cannot be before `of_host`.
fn query(part: &str, scheme: Option<&str>, of_host: usize) -> Option<usize> {
    let last_value = part.rfind('=').unwrap_or_default();
    let mut found = part.match_indices(['?', '#']).map(|(at, found)| (at, found == "?"));
    let (at, _) = found.find(|(at, is_query)| match scheme {
        Some(scheme) if !is_one(&BUCKETS, scheme) => true,
        _ if *is_query => {
            part.get(at.saturating_add(1)..).is_some_and(has_value) && (scheme.is_some() || *at >= of_host)
        }
        _ => scheme.is_some() && *at < last_value,
    })?;
    Some(at)
}

/// Whether the text behind a `?` is names and a value.
fn has_value(query: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || "-_.%~$&".contains(c);
    let value = query.trim_start_matches(in_name);
    query.len() > value.len() && value.starts_with('=')
}

/// What is shown of a query. One that is redacted already may have a number.
fn shown_query(query: &str) -> &str {
    let number = query.strip_prefix("?...").and_then(|behind| behind.strip_prefix('#'));
    match number {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => query,
        _ if query.starts_with('?') => "?...",
        _ => "",
    }
}

/// Whether what follows the colon of an authority is a port, if there is a colon.
fn has_port(text: &str) -> bool {
    let authority = text.split(is_slash).next().unwrap_or_default();
    let port = authority.rsplit(']').next().unwrap_or_default().split_once(':').map_or("", |(_, port)| port);
    port.bytes().all(|byte| byte.is_ascii_digit())
}

/// The part of an address from its authority on, without the login. `...` if it is unclear where a password ends.
fn without_user<'t>(head: &'t str, query: &str, scheme: &str) -> &'t str {
    let authority = head.split(is_slash).next().unwrap_or_default();
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._$".contains(&byte));
    let is_container = is_one(&WITH_CONTAINER, scheme)
        && authority.split_once('@').is_some_and(|(name, account)| is_name(name) && is_name(account));
    let is_broken = query.contains('@') && authority == head && !head.is_empty();
    match head.rsplit_once('@') {
        _ if is_container || (!authority.contains('@') && has_port(authority) && !is_broken) => head,
        Some((_, behind)) if has_port(behind) && !query.contains('@') => behind,
        _ => "...",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            "abfs:c@a/k?sig=SECRET",
            "wasbs:c@a/k?SECRET",
            "oci:/u:SECRET@h/a",
            "http://h/a,http://u:SECRET@h/a",
            "http://h/a%20http://u:SECRET@h/a",
            "s3://b/m?.popef;https://h/a?SECRET",
            "s3://b/a/https://SECRET@h/a",
            "https://h:80|https:u:SECRET@h/a",
            "https://u:SE://SECRET@h/a",
            "https://u:x/:/SECRET@h/a",
            "https%3A%2F%2Fu%3ASECRET%40h%2fa",
            "https://u%3aSECRET%40h/a",
            "https%3A%2F%2Fh%2Fa%3Fsig%3DSECRET",
            "http://h/a.popef%3Fsv=1%26sig=SECRET",
            "s3://b/k?&X-Amz-Signature=SECRET",
            "az://c/k?sv&sig=SECRET",
            "az://c@a:SECRET/k",
            "https://@u:SECRET/a",
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
            ("u:SECRET@h#x=SECRET", "h"),
            ("u:SECRET@h:22", "h:22"),
            ("--output=u:SECRET@h/a", "--output=h/a"),
            ("u\u{ff1a}SECRET\u{ff20}h/a", "h/a"),
            ("u:SECRET@h/a?sig=SECRET", "h/a?..."),
            ("u:SECRET@h/a?mail=a@SECRET", "...?..."),
            ("a.popef,u:SECRET@h/a", "a.popef,h/a"),
            ("u:SECRET@h/a,https://u:SECRET@h/a", "h/a,https://h/a"),
            ("http://h/a https://u:SECRET@h/b", "http://h/a https://h/b"),
            ("s3://b/a,https://u:SECRET@h/b", "s3://b/a,https://h/b"),
            ("http://h:80/https://u:SECRET@h:81/b?SECRET", "http://h:80/https://h:81/b?..."),
            ("abfs:c@a/k?sig=SECRET", "abfs:c@a/k?..."),
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
            "s3://b/m?.popef,gs://b/**/*.popef;https://h:80/a",
            "models//a@b.popef",
            "https://h/%40scope/a%20b%2Fc%3F%231.popef",
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

    /// An address with secrets at all places where they can be, and a letter that can be before and behind another address.
    fn address() -> impl Strategy<Value = String> {
        const BEGINNINGS: &[&str] =
            &["https://", "HTTP://", "ftp:/", "s3:", "https//", "oci://", "gs://", "hf://", "git+https://", "//"];
        let secret = "[a-z]{0,3}[:@!$&*+=.]{0,2}SECRET[:!$&*+=.?#]?";
        (proptest::sample::select(BEGINNINGS), secret, proptest::option::of("(sig|X-Amz-Signature)=[a-z&]{0,3}SECRET"))
            .prop_map(|(beginning, password, query)| {
                let query = query.map_or_else(String::new, |query| format!("?{query}"));
                format!("{beginning}user:{password}@host:80/a.popef{query}")
            })
    }

    proptest! {
        #[test]
        #[cfg_attr(miri, ignore = "it takes minutes there")]
        fn no_secret_is_left_of_several_addresses(
            before in "([a-z]{1,4}[ ,;|/.])?",
            addresses in proptest::collection::vec((address(), "[ ,;|/]|%20"), 1..4),
        ) {
            let text = addresses.iter().fold(before, |text, (address, joint)| text + address + joint);
            for redact in [redact as fn(&str) -> Cow<'_, str>, redact_word] {
                let shown = redact(&text);
                prop_assert!(!shown.contains("SECRET"), "{} is shown as {}", text, shown);
                prop_assert_eq!(redact(&shown), &*shown);
            }
        }

        #[test]
        #[cfg_attr(miri, ignore = "it takes minutes there")]
        fn names_of_files_stay(name in r"[a-z?@#. -]{1,9}(/[a-z?@#. -]{1,9}){0,2}(:[a-z0-9 ]{1,5})?") {
            prop_assert_eq!(redact(&name), &*name);
            prop_assert_eq!(redact_word(&name), &*name);
        }
    }

    /// Longer texts would take minutes if the time were not proportional to their length.
    #[test]
    #[cfg_attr(miri, ignore = "it takes minutes there")]
    fn long_texts_take_no_longer_than_their_length() {
        for pattern in ["a:", "//", "a=?", "s3:?#", "/?", "https://u:@", "a://", "?.#="] {
            let text = pattern.repeat(20_000);
            assert!(redact(&text).len() <= text.len() && redact_word(&text).len() <= text.len(), "{pattern}");
        }
    }
}

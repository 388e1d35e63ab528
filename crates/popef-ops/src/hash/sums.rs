//! Lines as `sha256sum` and `b3sum` write them.

use super::digest::Digest;
use crate::error::{Code, Error};
use crate::name::FilePath;

/// A digest and the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SumsLine {
    /// The digest of the whole file. The line does not state its algorithm.
    pub digest: Digest,
    /// The path of the file, relative to the working folder.
    pub path: FilePath,
}

/// A line as `sha256sum` writes it, with its line feed. A name with line ends or backslashes is escaped.
pub fn sums_line(digest: Digest, name: &[u8]) -> Vec<u8> {
    let escaped = name.iter().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r'));
    let mut line = if escaped { b"\\".to_vec() } else { Vec::new() };
    line.extend_from_slice(format!("{digest}  ").as_bytes());
    for byte in name {
        match byte {
            b'\\' => line.extend_from_slice(br"\\"),
            b'\n' => line.extend_from_slice(br"\n"),
            b'\r' => line.extend_from_slice(br"\r"),
            other => line.push(*other),
        }
    }
    line.push(b'\n');
    line
}

/// Reads lines as `sha256sum` and `b3sum` write them. Skips empty lines, and lines that begin with `#`. Lines may end
/// as on Windows.
pub fn parse_sums(text: &[u8]) -> Result<Vec<SumsLine>, Error> {
    // A model was given instead of its manifest.
    if text.contains(&0) {
        return Err(Error::new(Code::BadManifest, "it is binary data, and not a manifest"));
    }
    // A carriage return that belongs to a name is escaped.
    let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    let wrong = |number: usize| {
        let message = format!("line {} is not a digest of 64 hex digits and a name", number.saturating_add(1));
        Error::new(Code::BadManifest, message)
    };
    lines.map(|(number, line)| parse_line(line).ok_or_else(|| wrong(number))).collect()
}

fn parse_line(line: &[u8]) -> Option<SumsLine> {
    let (escaped, line) = line.strip_prefix(b"\\").map_or((false, line), |line| (true, line));
    let (digest, rest) = line.split_at_checked(64)?;
    let digest = std::str::from_utf8(digest).ok()?.parse().ok()?;
    let name = rest.strip_prefix(b"  ").or_else(|| rest.strip_prefix(b" *")).filter(|name| !name.is_empty())?;
    let name = if escaped { unescape(name)? } else { name.to_owned() };
    Some(SumsLine { digest, path: FilePath::from(name.as_slice()) })
}

fn unescape(name: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            other => *other,
        });
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::{Digest, SumsLine, parse_sums, sums_line};

    #[test]
    fn lines_read_back() {
        for name in [&b"a b"[..], b" x ", b"-y", b"a\nb", b"a\\b", b"a\rb\\n", b"\xff", b"*x"] {
            let digest = Digest([0xa5; 32]);
            let line = sums_line(digest, name);
            let expected = SumsLine { digest, path: name.into() };
            assert_eq!(parse_sums(&line).unwrap(), std::slice::from_ref(&expected), "{line:?}");
            // As saved by an editor on Windows.
            let saved = [&b"\r\n"[..], &line[..line.len() - 1], b"\r\n"].concat();
            assert_eq!(parse_sums(&saved).unwrap(), [expected], "{line:?}");
        }
    }

    #[test]
    fn other_lines_are_errors() {
        let digits = "5".repeat(64);
        for line in ["x", &digits, &format!("{digits} name"), &format!("{digits}  "), &format!("\\{digits}  a\\x"), "é"]
        {
            let text = format!("# a comment\n\n{line}\n");
            let error = parse_sums(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), "line 3 is not a digest of 64 hex digits and a name", "{line}");
        }
        let error = parse_sums(b"PK\x03\x04\0\0\n").unwrap_err();
        assert_eq!(error.to_string(), "it is binary data, and not a manifest");
    }
}

//! The numbers of `Range` and `Content-Range`.

use std::ops::Range;

/// A range of bytes with its object's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    pub(crate) range: Range<u64>,
    pub(crate) size: u64,
}

/// The range that a request asks for: `bytes=0-65535`. Others are not sent here.
pub(crate) fn asked(header: &str) -> Option<Range<u64>> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    range(first, last)
}

/// The content of an answer's header: `bytes 0-65535/1000000`.
pub(crate) fn answered(header: &str) -> Option<ContentRange> {
    let (numbers, size) = header.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = numbers.split_once('-')?;
    let range = range(first, last)?;
    let size = number(size)?;
    (range.end <= size).then_some(ContentRange { range, size })
}

/// The size in an answer that refuses a range: `bytes */0`.
pub(crate) fn size_without_range(header: &str) -> Option<u64> {
    number(header.trim().strip_prefix("bytes */")?)
}

fn range(first: &str, last: &str) -> Option<Range<u64>> {
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..last.checked_add(1)?)
}

/// Digits only: the standard library also takes a sign.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_ranges_are_taken() {
        assert_eq!(asked("bytes=5-9"), Some(5..10));
        assert_eq!(asked("bytes=-9"), None);
        assert_eq!(answered("bytes 5-9/10"), Some(ContentRange { range: 5..10, size: 10 }));
        for wrong in
            ["bytes 5-9/9", "bytes 9-5/10", "bytes 5-9/*", "bytes +5-9/10", "5-9/10", "bytes 0-18446744073709551615/1"]
        {
            assert_eq!(answered(wrong), None, "{wrong}");
        }
        assert_eq!((size_without_range("bytes */0"), size_without_range("bytes 0-1/2")), (Some(0), None));
    }
}

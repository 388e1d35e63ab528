//! The number in the name of a member.

/// Splits a name at its last number before the first dot, or at its last number if the name has no dot.
pub(super) fn number_in(name: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let dot = name.iter().position(|&byte| byte == b'.').unwrap_or(name.len());
    let (stem, extension) = name.split_at_checked(dot)?;
    if let Some((before, number, rest)) = last_number(stem) {
        let after = name.get(stem.len().saturating_sub(rest.len())..)?;
        return Some((before, number, after));
    }
    let (before, number, after) = last_number(extension)?;
    Some((name.get(..stem.len().saturating_add(before.len()))?, number, after))
}

fn last_number(text: &[u8]) -> Option<(&[u8], u32, &[u8])> {
    let end = text.iter().rposition(u8::is_ascii_digit)?.saturating_add(1);
    let (front, after) = text.split_at_checked(end)?;
    let start = front.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last.saturating_add(1));
    let (before, digits) = front.split_at_checked(start)?;
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((before, number, after))
}

#[cfg(test)]
mod tests {
    use super::number_in;

    fn split(name: &str) -> Option<(&str, u32, &str)> {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        number_in(name.as_bytes()).map(|(before, number, after)| (text(before), number, text(after)))
    }

    #[test]
    fn the_last_number_before_the_extension_counts() {
        assert_eq!(split("tile12.elf"), Some(("tile", 12, ".elf")));
        assert_eq!(split("t0007.elf32"), Some(("t", 7, ".elf32")));
        assert_eq!(split("ipu1_tile30_final.o"), Some(("ipu1_tile", 30, "_final.o")));
        assert_eq!(split("5"), Some(("", 5, "")));
    }

    #[test]
    fn a_number_in_the_extension_counts_if_there_is_no_other() {
        assert_eq!(split("tile.12"), Some(("tile.", 12, "")));
        assert_eq!(split("a.b3c"), Some(("a.b", 3, "c")));
    }

    #[test]
    fn a_name_without_a_number_that_fits_has_none() {
        assert_eq!(split("supervisor.elf"), None);
        assert_eq!(split(""), None);
        assert_eq!(split("tile99999999999.elf"), None);
    }
}

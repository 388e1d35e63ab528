pub(super) use popef::seam::counted as count;
use popef::types::{Text, escape};

/// A name for a message: in quotes, on one line, with control characters escaped, and cut if it is long.
pub(super) fn quote(name: &Text<'_>) -> String {
    const LONGEST: usize = 80;
    let mut letters = name.chars();
    let shown: String = letters.by_ref().take(LONGEST).collect();
    let quoted = escape(&shown).replace('"', "\\\"");
    let end = if letters.next().is_some() { "..." } else { "" };
    format!("\"{quoted}{end}\"")
}

/// A shape as `[2, 3]`.
pub(super) fn shape(extents: impl ExactSizeIterator<Item = i64>) -> String {
    const LONGEST: usize = 16;
    let is_longer = extents.len() > LONGEST;
    let mut shown: Vec<_> = extents.take(LONGEST).map(|extent| extent.to_string()).collect();
    if is_longer {
        shown.push("...".to_owned());
    }
    format!("[{}]", shown.join(", "))
}

/// Names on one line: the first few, and the number of others.
pub(super) fn list<'t>(names: impl Iterator<Item = &'t Text<'t>>, number: u64) -> String {
    const MOST: u8 = 5;
    let more = number.saturating_sub(MOST.into());
    let shown: Vec<_> = names.take(MOST.into()).map(quote).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

//! Pictures of tiles in text: a character for each tile, or for some tiles.

use std::io;

use popef_show::{Kind, Out};

/// How full tiles are, as characters: the fuller, the higher.
const LEVELS: [&str; 9] = ["·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// So many characters are in a row.
const WIDTH: u32 = 64;

/// The rows of a picture of one IPU, and the IPUs of a larger one.
const ROWS: u32 = 24;

/// How full each tile of some IPUs is.
pub(super) struct Picture<'p> {
    pub(super) tiles_per_ipu: u32,
    pub(super) ipus: u32,
    /// The tiles that have something, in order, and how much.
    pub(super) amounts: &'p [(u32, u64)],
    /// What the fullest tile has, in words.
    pub(super) most: &'p str,
}

impl Picture<'_> {
    /// Writes it, with a legend.
    pub(super) fn write(&self, out: &mut Out) -> io::Result<()> {
        let most = self.amounts.iter().map(|tile| tile.1).max().unwrap_or_default();
        let each = self.tiles_per_character();
        let (rows, per_row) = match self.ipus {
            1 => (self.tiles_per_ipu.div_ceil(WIDTH.saturating_mul(each)), WIDTH.saturating_mul(each)),
            ipus => (ipus.min(ROWS), self.tiles_per_ipu),
        };
        let end = self.tiles_per_ipu.saturating_mul(self.ipus);
        let mut idle_from = None;
        for row in 0..rows {
            let first = row.saturating_mul(per_row);
            let last = first.saturating_add(per_row).min(end);
            if self.within(first, last).is_empty() {
                idle_from.get_or_insert(first);
                continue;
            }
            self.idle(out, idle_from.take(), first)?;
            out.put(&format!("{first:>7}  "));
            for character in (first..last).step_by(usize::try_from(each).unwrap_or(1)) {
                let tiles = self.within(character, character.saturating_add(each).min(last));
                let amount = tiles.iter().map(|tile| tile.1).max().unwrap_or_default();
                let level = usize::try_from(amount.saturating_mul(8).div_ceil(most.max(1))).unwrap_or(8);
                out.put_as(Kind::Name, LEVELS.get(level).copied().unwrap_or("█"));
            }
            out.end_line()?;
        }
        self.idle(out, idle_from, rows.saturating_mul(per_row).min(end))?;
        if rows < self.ipus {
            out.put(&format!("         ... and {} more IPUs", self.ipus - rows)).end_line()?;
        }
        let each = if each == 1 { "a tile".to_owned() } else { format!("the fullest of {each} tiles") };
        out.put(&format!("         each character is {each}: · idle, █ {}", self.most)).end_line()
    }

    fn tiles_per_character(&self) -> u32 {
        match self.ipus {
            1 => self.tiles_per_ipu.div_ceil(WIDTH.saturating_mul(ROWS)),
            _ => self.tiles_per_ipu.div_ceil(WIDTH),
        }
        .max(1)
    }

    /// The tiles from `first` up to `end` that have something.
    fn within(&self, first: u32, end: u32) -> &[(u32, u64)] {
        let from = self.amounts.partition_point(|tile| tile.0 < first);
        let to = self.amounts.partition_point(|tile| tile.0 < end);
        self.amounts.get(from..to).unwrap_or_default()
    }

    /// A line for rows of tiles that have nothing.
    fn idle(&self, out: &mut Out, from: Option<u32>, end: u32) -> io::Result<()> {
        match from {
            Some(first) => out.put(&format!("{first:>7}  idle up to tile {}", end.saturating_sub(1))).end_line(),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Picture;
    use popef_show::Out;

    fn shown(tiles_per_ipu: u32, ipus: u32, amounts: &[(u32, u64)]) -> String {
        let mut out = Out::in_memory(false);
        Picture { tiles_per_ipu, ipus, amounts, most: "8" }.write(&mut out).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn tiles_are_as_high_as_they_are_full() {
        let picture = shown(10, 1, &[(0, 8), (1, 4), (2, 1), (9, 7)]);
        assert_eq!(picture, "      0  █▄▁······▇\n         each character is a tile: · idle, █ 8\n");
    }

    #[test]
    fn idle_rows_are_one_line() {
        let picture = shown(300, 1, &[(0, 8), (256, 8)]);
        let lines: Vec<_> = picture.lines().collect();
        assert_eq!(lines[1], "     64  idle up to tile 255");
        assert_eq!(lines[2].chars().filter(|c| "█·".contains(*c)).count(), 300 - 256);
        assert_eq!(lines.len(), 4);
        assert_eq!(shown(300, 1, &[]).lines().next(), Some("      0  idle up to tile 299"));
    }

    #[test]
    fn many_tiles_share_a_character() {
        let picture = shown(1472, 2, &[(22, 8), (1472, 4)]);
        assert!(picture.starts_with("      0  █··"), "{picture}");
        assert!(picture.contains("   1472  ▄··"), "{picture}");
        assert!(picture.ends_with("each character is the fullest of 23 tiles: · idle, █ 8\n"), "{picture}");
        let large = shown(1472, 128, &[(0, 1), (128 * 1472 - 1, 1)]);
        assert!(large.contains("... and 104 more IPUs"), "{large}");
        // Nothing takes long or wraps around.
        shown(u32::MAX, 1, &[(0, u64::MAX)]);
        shown(1, u32::MAX, &[(u32::MAX - 1, u64::MAX)]);
    }
}

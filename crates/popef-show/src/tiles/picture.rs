//! Pictures of tiles in text: a character for each tile, or for some tiles.

use std::io;

use poplar_inspect::tiles::Interval;

use crate::{Kind, Out, Shown, size};

/// How full tiles are, as characters: the fuller, the higher.
const LEVELS: [&str; 9] = ["·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The number of characters in a row.
const WIDTH: u32 = 64;

/// The rows of a picture of one IPU, and the IPUs of a larger one.
const ROWS: u32 = 24;

/// How full each tile of some IPUs is.
pub(super) struct Picture<'p> {
    pub(super) tiles_per_ipu: u32,
    pub(super) ipus: u32,
    /// The tiles that have any bytes, in order, and how many.
    pub(super) amounts: &'p [(u32, u64)],
    /// The amount on the fullest tile, in words.
    pub(super) most: &'p Shown<'p>,
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
        let mut lines = Lines::default();
        for row in 0..rows {
            let first = row.saturating_mul(per_row);
            let last = first.saturating_add(per_row).min(end);
            let mut text = Shown::default();
            // A row of idle tiles costs no work.
            let characters = if self.within(first, last).is_empty() { 0..0 } else { first..last };
            for character in characters.step_by(usize::try_from(each).unwrap_or(1)) {
                let tiles = self.within(character, character.saturating_add(each).min(last));
                let amount = tiles.iter().map(|tile| tile.1).max().unwrap_or_default();
                let level = usize::try_from(amount.saturating_mul(8).div_ceil(most.max(1))).unwrap_or(8);
                text.push(LEVELS.get(level).copied().unwrap_or("█"));
            }
            let text = if text.is_empty() { Shown::own("idle") } else { text };
            lines.add(out, shown!("{:>7}", first), text, shown!("tile {}", last.saturating_sub(1)))?;
        }
        lines.end(out)?;
        if rows < self.ipus {
            out.put(shown!("         ... and {} more IPUs", self.ipus - rows)).end_line()?;
        }
        let each = if each == 1 { Shown::own("a tile") } else { shown!("the fullest of {} tiles", each) };
        out.put(shown!("         each character is {}: · idle, █ {}", each, self.most)).end_line()
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
}

/// Lines without repetitions: the last line of several equal ones says how far they go.
#[derive(Default)]
struct Lines {
    last: Shown<'static>,
    /// The label of the first line that was not written, and where the last one ends.
    repeated: Option<(Shown<'static>, Shown<'static>)>,
}

impl Lines {
    fn add(
        &mut self,
        out: &mut Out,
        label: Shown<'static>,
        text: Shown<'static>,
        end: Shown<'static>,
    ) -> io::Result<()> {
        if text == self.last {
            let first = self.repeated.take().map_or(label, |(first, _)| first);
            self.repeated = Some((first, end));
            return Ok(());
        }
        self.end(out)?;
        out.put(label).put("  ").put_as(Kind::Name, &text).end_line()?;
        self.last = text;
        Ok(())
    }

    fn end(&mut self, out: &mut Out) -> io::Result<()> {
        match self.repeated.take() {
            Some((label, end)) => out.put(shown!("{}  the same up to {}", label, end)).end_line(),
            None => Ok(()),
        }
    }
}

/// Which bytes of a tile are used.
pub(super) struct MemoryPicture<'p> {
    /// The bytes to show: the memory of the tile, or more if it overflows.
    pub(super) bytes: u64,
    /// The bytes that are used.
    pub(super) used: &'p [Interval],
    pub(super) interleaved_start: Option<u64>,
    /// Where the memory of the tile ends.
    pub(super) end: Option<u64>,
}

impl MemoryPicture<'_> {
    /// Writes the picture. Each character of a row stands for the same number of bytes.
    pub(super) fn write(&self, out: &mut Out) -> io::Result<()> {
        const MEMORY_ROWS: u64 = 16;
        let width = u64::from(WIDTH);
        // A power of two, so that rows begin at round addresses.
        let each = self.bytes.div_ceil(width.saturating_mul(MEMORY_ROWS)).max(1);
        let each = each.checked_next_power_of_two().unwrap_or(each);
        let per_row = width.saturating_mul(each);
        let mut lines = Lines::default();
        for row in 0..self.bytes.div_ceil(per_row) {
            let first = row.saturating_mul(per_row);
            let mut text = Shown::default();
            for character in 0..width {
                let begin = first.saturating_add(character.saturating_mul(each));
                let end = begin.saturating_add(each).min(self.bytes);
                if begin < end {
                    let level = usize::try_from(self.used_in(begin, end).saturating_mul(8).div_ceil(end - begin));
                    text.push(level.ok().and_then(|level| LEVELS.get(level)).copied().unwrap_or("█"));
                }
            }
            let end = first.saturating_add(per_row);
            if let Some(mark) = self.mark(first, end) {
                text.push("  ");
                text.push(mark);
            }
            lines.add(out, shown!("{:>#9x}", first), text, shown!("{:#x}", end.saturating_sub(1)))?;
        }
        lines.end(out)?;
        out.put(shown!("           each character is {}: · free, █ used", size(each))).end_line()
    }

    /// How many bytes from `begin` to `end` are used.
    fn used_in(&self, begin: u64, end: u64) -> u64 {
        let start = self.used.partition_point(|at| at.end() <= begin);
        let within = self.used.iter().skip(start).take_while(|at| at.begin() < end);
        within.map(|at| at.end().min(end).saturating_sub(at.begin().max(begin))).fold(0, u64::saturating_add)
    }

    /// The remark about what begins or ends in a row.
    fn mark(&self, first: u64, end: u64) -> Option<Shown<'static>> {
        let within = |at: &u64| (first..end).contains(at) && *at > 0;
        let interleaved = self.interleaved_start.filter(within).map(|at| shown!("interleaved from {:#x}", at));
        let beyond = self.end.filter(within).filter(|at| *at < self.bytes).map(|at| shown!("no memory from {:#x}", at));
        match (interleaved, beyond) {
            (Some(left), Some(right)) => Some(shown!("{}, {}", left, right)),
            (left, right) => left.or(right),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryPicture, Picture};
    use crate::{Out, Shown};
    use poplar_inspect::tiles::Interval;

    fn shown(tiles_per_ipu: u32, ipus: u32, amounts: &[(u32, u64)]) -> String {
        let mut out = Out::in_memory(false);
        Picture { tiles_per_ipu, ipus, amounts, most: &Shown::own("8") }.write(&mut out).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn tiles_are_as_high_as_they_are_full() {
        let picture = shown(10, 1, &[(0, 8), (1, 4), (2, 1), (9, 7)]);
        assert_eq!(picture, "      0  █▄▁······▇\n         each character is a tile: · idle, █ 8\n");
    }

    #[test]
    fn rows_that_repeat_are_one_line() {
        let picture = shown(300, 1, &[(0, 8), (256, 8)]);
        let lines: Vec<_> = picture.lines().collect();
        assert_eq!(lines[1..3], ["     64  idle", "    128  the same up to tile 255"]);
        assert_eq!(lines[3].chars().filter(|c| "█·".contains(*c)).count(), 300 - 256);
        assert_eq!(lines.len(), 5);
        let all: Vec<_> = (0..300).map(|tile| (tile, 1)).collect();
        assert!(shown(300, 1, &all).contains("     64  the same up to tile 255\n"), "{}", shown(300, 1, &all));
    }

    #[test]
    fn memory_shows_what_is_free() {
        let used = [(0, 8), (12, 14), (40, 44)].map(|(begin, end)| Interval::new(begin, end).unwrap());
        let mut out = Out::in_memory(false);
        MemoryPicture { bytes: 44, used: &used, interleaved_start: Some(20), end: Some(40) }.write(&mut out).unwrap();
        let picture = String::from_utf8(out.into_bytes()).unwrap();
        let row = "████████····██··························████";
        assert_eq!(
            picture.lines().next(),
            Some(format!("      0x0  {row}  interleaved from 0x14, no memory from 0x28").as_str())
        );
        // Nothing takes long or wraps around.
        let all = [Interval::new(0, u64::MAX).unwrap()];
        let huge = MemoryPicture { bytes: u64::MAX, used: &all, interleaved_start: None, end: None };
        huge.write(&mut Out::in_memory(false)).unwrap();
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

//! The widths of the columns.

/// The width of each column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) index: usize,
    pub(super) kind: usize,
    pub(super) name: usize,
    pub(super) holds: usize,
    pub(super) size: usize,
    pub(super) offset: usize,
    /// Whether wider texts are shortened. Otherwise they make their line longer.
    pub(super) shortened: bool,
}

/// A shorter name tells nothing, so the line becomes too long instead.
const LEAST: usize = 8;
/// Lines are not padded to a wider name than this, so that one long name does not make all lines long.
const MOST: usize = 200;
/// Two spaces before each of six columns.
const GAPS: usize = 12;

impl Columns {
    pub(super) fn headings() -> Self {
        Columns { index: 1, kind: 4, name: 4, holds: 5, size: 4, offset: 6, shortened: false }
    }

    /// Narrows the wider of the two wide columns, so that the lines fit into a terminal if there is one.
    pub(super) fn narrow(&mut self, screen: Option<usize>) {
        let Some(screen) = screen else {
            self.name = self.name.min(MOST);
            self.holds = self.holds.min(MOST);
            return;
        };
        self.shortened = true;
        let fixed = self.index + self.kind + self.size + self.offset + GAPS;
        let room = screen.saturating_sub(fixed);
        if self.name + self.holds > room {
            let half = (room / 2).max(LEAST);
            self.holds = self.holds.min(half.max(room.saturating_sub(self.name)));
            self.name = self.name.min(half.max(room.saturating_sub(self.holds)));
        }
    }
}

/// How many columns a number takes.
pub(super) fn digits(number: impl itoa::Integer) -> usize {
    itoa::Buffer::new().format(number).len()
}

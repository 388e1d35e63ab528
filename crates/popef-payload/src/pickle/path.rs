use std::collections::TryReserveError;

use super::text::spell_utf8;

/// A buffer for the path of an import: a module or another path, a dot, and a name.
#[derive(Default)]
pub(super) struct Path {
    text: String,
    dot: usize,
}

impl Path {
    pub(super) fn begin(&mut self) {
        self.text.clear();
        self.dot = 0;
    }

    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), TryReserveError> {
        // A byte that is not UTF-8 becomes a character of three bytes.
        self.text.try_reserve(bytes.len().saturating_mul(3))?;
        spell_utf8(bytes, |piece| self.text.push_str(piece));
        Ok(())
    }

    /// Adds a line without the white space at its end, such as a carriage return.
    pub(super) fn add_line(&mut self, line: &[u8]) -> Result<(), TryReserveError> {
        let start = self.text.len();
        self.add(line)?;
        let len = self.text.get(start..).unwrap_or_default().trim_end().len();
        self.text.truncate(start.saturating_add(len));
        Ok(())
    }

    pub(super) fn add_dot(&mut self) -> Result<(), TryReserveError> {
        self.dot = self.text.len();
        self.add(b".")
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns what is before the last dot that was added, and what is after it.
    pub(super) fn parts(&self) -> (&str, &str) {
        let (module, name) = self.text.split_at_checked(self.dot).unwrap_or_default();
        (module, name.strip_prefix('.').unwrap_or(name))
    }
}

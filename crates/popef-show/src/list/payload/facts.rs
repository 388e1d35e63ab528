use std::fmt::Display;
use std::io;

use popef::types::Text;

use crate::output::color::Kind::Name;
use crate::output::out::Out;
use crate::output::shown::{Show, Shown};

/// Writes facts, one per line: `Random seed: needed`.
pub(super) struct Facts<'o> {
    out: &'o mut Out,
    indent: usize,
}

impl<'o> Facts<'o> {
    pub(super) fn new(out: &'o mut Out, indent: usize) -> Self {
        Facts { out, indent }
    }

    /// The facts below the last one.
    pub(super) fn below(&mut self) -> Facts<'_> {
        Facts { out: self.out, indent: self.indent.saturating_add(2) }
    }

    pub(super) fn fact(&mut self, label: impl Show, value: impl Display) -> io::Result<()> {
        self.label(label);
        self.value(&value)
    }

    /// Writes a text from the file, unless it is empty.
    pub(super) fn str(&mut self, label: &'static str, value: &str) -> io::Result<()> {
        if value.is_empty() { Ok(()) } else { self.fact(label, value) }
    }

    /// Writes a fact that holds or not, if it holds.
    pub(super) fn flag(&mut self, label: &'static str, is_so: bool) -> io::Result<()> {
        if is_so { self.fact(label, "yes") } else { Ok(()) }
    }

    /// Writes names from the file, if there are any.
    pub(super) fn names<'t>(&mut self, label: &'static str, names: impl Iterator<Item = Text<'t>>) -> io::Result<()> {
        let mut names = names.peekable();
        if names.peek().is_none() {
            return Ok(());
        }
        self.label(label);
        for (index, name) in names.enumerate() {
            self.out.put(if index == 0 { " " } else { ", " }).text(Name, &name).flush_if_full()?;
        }
        self.out.end_line()
    }

    /// Writes a fact about something with a name from the file.
    pub(super) fn named(&mut self, name: &Text<'_>, value: impl Display) -> io::Result<()> {
        self.out.spaces(self.indent).text(Name, name).put(":");
        self.value(&value)
    }

    /// Writes a fact about something with a name that is UTF-8.
    pub(super) fn named_str(&mut self, name: &str, value: impl Display) -> io::Result<()> {
        self.named(&Text::from(name), value)
    }

    /// Writes the number of things, and below it a line for each: its name, and the fact about it. Nothing if there are none.
    pub(super) fn list(
        &mut self,
        label: &'static str,
        count: usize,
        things: &mut dyn Iterator<Item = (String, String)>,
    ) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.fact(label, count)?;
        let mut below = self.below();
        for (name, value) in things {
            below.named_str(&name, value)?;
        }
        Ok(())
    }

    /// A value after a label. Not generic, because there are many kinds of values.
    fn value(&mut self, value: &dyn Display) -> io::Result<()> {
        self.out.put(" ").put(Shown::from(value.to_string())).end_line()
    }

    fn label(&mut self, label: impl Show) {
        self.out.spaces(self.indent).put(label).put(":");
    }
}

use std::fmt::Display;
use std::io;

use popef::types::Text;

use crate::output::color::Kind::Name;
use crate::output::escape::escape;
use crate::output::out::Out;

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

    /// A fact.
    pub(super) fn fact(&mut self, label: &str, value: impl Display) -> io::Result<()> {
        self.label(label);
        self.value(&value)
    }

    /// A fact that is a text from the file. Nothing if the text is empty.
    pub(super) fn str(&mut self, label: &str, value: &str) -> io::Result<()> {
        if value.is_empty() { Ok(()) } else { self.fact(label, value) }
    }

    /// Whether something is so. Nothing if it is not.
    pub(super) fn flag(&mut self, label: &str, is_so: bool) -> io::Result<()> {
        if is_so { self.fact(label, "yes") } else { Ok(()) }
    }

    /// Names from the file. Nothing if there are none.
    pub(super) fn names<'t>(&mut self, label: &str, names: impl Iterator<Item = Text<'t>>) -> io::Result<()> {
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

    /// What there is to say of something that has a name in the file.
    pub(super) fn named(&mut self, name: &Text<'_>, value: impl Display) -> io::Result<()> {
        self.out.spaces(self.indent).text(Name, name).put(":");
        self.value(&value)
    }

    /// The same for a name that is UTF-8.
    pub(super) fn named_str(&mut self, name: &str, value: impl Display) -> io::Result<()> {
        self.named(&Text::from(name), value)
    }

    /// How many things there are, and each in a line below: its name, and what there is to say of it. Nothing if there are none.
    pub(super) fn list(
        &mut self,
        label: &str,
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
        self.out.put(" ").put(&escape(&value.to_string())).end_line()
    }

    fn label(&mut self, label: &str) {
        self.out.spaces(self.indent).put(label).put(":");
    }
}

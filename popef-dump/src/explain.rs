//! Explaining rules.

use std::io;
use std::process::ExitCode;

use popef::check::Rule;
use popef_show::rules::Groups;
use popef_show::{FindingsFormat, Out, rules};

use crate::program::{Program, Refusal};
use crate::screen::screen;

/// An explanation of some rules, or of all.
#[derive(Clone, Debug)]
pub struct Explanation<'a> {
    /// The ids of the rules. `None` stands for all rules.
    pub ids: Vec<Option<&'a str>>,
    /// The rules that there are.
    pub rules: Groups,
    /// Text, JSON or NDJSON. The other formats are for findings.
    pub format: FindingsFormat,
}

impl Explanation<'_> {
    /// Writes it, and returns the exit status.
    pub fn run(&self, program: Program, out: &mut Out) -> Result<ExitCode, Refusal> {
        let explained: Result<Vec<_>, _> = self.ids.iter().map(|id| self.explained(program, *id)).collect();
        let explained = explained.map_err(Refusal::Options)?;
        let selected = || self.all().filter(|&rule| explained.iter().any(|one| one.is_none_or(|one| one == rule)));
        let shown = match self.format {
            FindingsFormat::Text => self.in_text(&explained, out),
            FindingsFormat::Json => rules::document(out, selected()),
            FindingsFormat::Ndjson => rules::lines(out, selected()),
            other => {
                let name = other.name();
                return Err(Refusal::Options(format!("--format {name} is for findings: it explains no rules")));
            }
        };
        Ok(program.written(shown.and_then(|()| out.send())))
    }

    fn all(&self) -> impl Iterator<Item = &'static Rule> {
        self.rules.iter().flat_map(|(_, rules)| rules.iter().copied())
    }

    /// The rule of an id; none for all rules.
    fn explained(&self, program: Program, id: Option<&str>) -> Result<Option<&'static Rule>, String> {
        let rule = |id: &str| self.all().find(|rule| rule.id.eq_ignore_ascii_case(id));
        id.map(|id| rule(id).ok_or_else(|| program.no_rule(id, self.all()))).transpose()
    }

    /// Rules in the order given, with an empty line between them.
    fn in_text(&self, explained: &[Option<&Rule>], out: &mut Out) -> io::Result<()> {
        let width = screen().map(|screen| screen.width);
        for (index, rule) in explained.iter().enumerate() {
            if index > 0 {
                out.end_line()?;
            }
            match rule {
                Some(rule) => rules::explain(out, rule, width)?,
                None => rules::list(out, &self.rules, width)?,
            }
        }
        Ok(())
    }
}

//! Explaining rules, and the codes of errors.

use std::io;
use std::process::ExitCode;

use popef_check::Rule;
use popef_show::rules::{CodeEntry, Groups, did_you_mean, explain_code, nearest_code};
use popef_show::{FindingsFormat, Out, rules};

use crate::program::{Program, Refusal};
use crate::screen::screen;

/// An explanation of some rules and codes, or of all rules.
#[derive(Clone, Debug)]
pub struct Explanation<'a> {
    /// The ids of the rules, or names of codes. `None` stands for all rules.
    pub ids: Vec<Option<&'a str>>,
    /// All rules.
    pub rules: Groups,
    /// All codes of errors. If two have the same name, the first counts.
    pub codes: Vec<CodeEntry>,
    /// Text, JSON or NDJSON. The other formats are for findings.
    pub format: FindingsFormat,
}

#[derive(Clone, Copy)]
enum Explained {
    All,
    Rule(&'static Rule),
    Code(CodeEntry),
}

impl Explanation<'_> {
    /// Writes the explanation, and returns the exit status.
    pub fn run(&self, program: Program, out: &mut Out) -> Result<ExitCode, Refusal> {
        let explained: Result<Vec<_>, _> = self.ids.iter().map(|id| self.explained(program, *id)).collect();
        let explained = explained.map_err(Refusal::Options)?;
        let is_asked = |rule| {
            explained.iter().any(|one| match one {
                Explained::All => true,
                Explained::Rule(asked) => *asked == rule,
                Explained::Code(_) => false,
            })
        };
        let selected = || self.all().filter(|&rule| is_asked(rule));
        let shown = match self.format {
            FindingsFormat::Text => self.in_text(&explained, out),
            FindingsFormat::Json => rules::document(out, selected(), &codes(&explained)),
            FindingsFormat::Ndjson => rules::lines(out, selected(), &codes(&explained)),
            other => {
                let name = other.as_str();
                return Err(Refusal::Options(format!("--format {name} is for findings: it explains no rules")));
            }
        };
        Ok(program.written(shown.and_then(|()| out.send())))
    }

    fn all(&self) -> impl Iterator<Item = &'static Rule> {
        self.rules.iter().flat_map(|(_, rules)| rules.iter().copied())
    }

    /// The rule or code with an id or name. `None` means all rules.
    fn explained(&self, program: Program, id: Option<&str>) -> Result<Explained, String> {
        let Some(id) = id else { return Ok(Explained::All) };
        let code = || self.codes.iter().find(|entry| entry.code.eq_ignore_ascii_case(id)).copied();
        let rule = self.all().find(|rule| rule.id.eq_ignore_ascii_case(id));
        rule.map(Explained::Rule).or_else(|| code().map(Explained::Code)).ok_or_else(|| {
            if self.codes.is_empty() { program.no_rule(id, self.all()) } else { self.unknown(program, id) }
        })
    }

    /// The message that no rule and no code has this id, with similar ones.
    fn unknown(&self, program: Program, id: &str) -> String {
        let code = || nearest_code(id, &self.codes).map(|entry| format!("did you mean {}?", entry.code));
        let meant = did_you_mean(id, self.all()).or_else(code);
        let advice = meant.unwrap_or_else(|| format!("{} lists all rules", program.explain));
        format!("there is no rule and no error {id:?}; {advice}")
    }

    /// Rules and codes in the order given, with an empty line between them.
    fn in_text(&self, explained: &[Explained], out: &mut Out) -> io::Result<()> {
        let width = screen().map(|screen| screen.width);
        for (index, one) in explained.iter().enumerate() {
            if index > 0 {
                out.end_line()?;
            }
            match one {
                Explained::Rule(rule) => rules::explain(out, rule, width)?,
                Explained::Code(entry) => explain_code(out, entry, width)?,
                Explained::All => rules::list(out, &self.rules, width)?,
            }
        }
        Ok(())
    }
}

/// The codes that were asked for, each once.
fn codes(explained: &[Explained]) -> Vec<CodeEntry> {
    let mut codes: Vec<CodeEntry> = Vec::new();
    for one in explained {
        if let Explained::Code(entry) = one
            && !codes.contains(entry)
        {
            codes.push(*entry);
        }
    }
    codes
}

//! `--explain`: one rule, or the list of all.

use std::io::{self, Write};
use std::process::ExitCode;

use popef::check::Rule;

use super::paragraph::Paragraph;
use super::{nearest, text};
use crate::args::When;
use crate::render::color::Kind;
use crate::render::{Out, Screen, color};
use crate::run::{UNREAD, complain, written};

pub(crate) fn explain(id: Option<&str>, colors: When, screen: Option<Screen>, to: Box<dyn Write>) -> ExitCode {
    let mut out = Out::new(to, color::wanted(colors));
    let width = screen.map(|screen| screen.width);
    let Some(id) = id else { return written(list(&mut out, width).and_then(|()| out.send())) };
    match Rule::by_id(id) {
        Some(rule) => written(one(&mut out, rule, width).and_then(|()| out.send())),
        None => {
            complain(&format!("there is no rule {id}{}", nearest::hint(id)));
            ExitCode::from(UNREAD)
        }
    }
}

fn one(out: &mut Out, rule: &Rule, width: Option<usize>) -> io::Result<()> {
    let title = Paragraph::new(0).add(Kind::Group, &format!("{}:", rule.id)).add(Kind::Group, rule.title);
    title.write(out, width)?;
    out.put_as(text::kind(rule.severity), &rule.severity.to_string());
    if let Some(condition) = rule.condition() {
        out.put(", ").put(condition);
    }
    out.end_line()?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Plain, rule.meaning).write(out, width)?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Group, "To mend it:").add(Kind::Plain, rule.mend).write(out, width)
}

/// All rules, in the groups of what they look at.
fn list(out: &mut Out, width: Option<usize>) -> io::Result<()> {
    for (at, (title, rules)) in Rule::groups().enumerate() {
        if at > 0 {
            out.end_line()?;
        }
        out.put_as(Kind::Group, title).end_line()?;
        for rule in rules {
            let severity = rule.severity.to_string();
            let gap = " ".repeat("warning".len().saturating_sub(severity.len()));
            let line = Paragraph::new(2).add(Kind::Group, rule.id).add(text::kind(rule.severity), &severity);
            line.add(Kind::Plain, &format!("{gap}{}", rule.title)).write(out, width)?;
        }
    }
    Ok(())
}

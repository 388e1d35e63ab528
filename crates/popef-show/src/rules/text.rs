use std::io;

use popef_check::Rule;

use super::kind::kind;
use crate::output::color::Kind;
use crate::output::out::Out;
use crate::output::paragraph::Paragraph;

/// Explains one rule: what it means, and how to fix what it finds. Lines are no wider than the screen.
pub fn explain(out: &mut Out, rule: &Rule, width: Option<usize>) -> io::Result<()> {
    let title = Paragraph::new(0).add(Kind::Group, &format!("{}:", rule.id)).add(Kind::Group, rule.title);
    title.write(out, width)?;
    out.put_as(kind(rule.severity), &rule.severity.to_string());
    if let Some(condition) = rule.condition() {
        out.put(", ").put(condition);
    }
    out.end_line()?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Plain, rule.meaning).write(out, width)?;
    out.end_line()?;
    Paragraph::new(0).add(Kind::Group, "To fix it:").add(Kind::Plain, rule.fix).write(out, width)
}

/// Lists rules in groups, each with its title. Lines are no wider than the screen.
pub fn list(out: &mut Out, groups: &[(&str, Vec<&'static Rule>)], width: Option<usize>) -> io::Result<()> {
    for (at, (title, rules)) in groups.iter().enumerate() {
        if at > 0 {
            out.end_line()?;
        }
        out.put_as(Kind::Group, title).end_line()?;
        for rule in rules {
            let severity = rule.severity.to_string();
            let gap = " ".repeat("warning".len().saturating_sub(severity.len()));
            let line = Paragraph::new(2).add(Kind::Group, rule.id).add(kind(rule.severity), &severity);
            line.add(Kind::Plain, &format!("{gap}{}", rule.title)).write(out, width)?;
        }
    }
    Ok(())
}

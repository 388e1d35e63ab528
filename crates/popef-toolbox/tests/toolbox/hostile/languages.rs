//! What each language of output must not contain. A format that is not named here is held to what holds for all.

use popef::types::is_hidden;
use serde_json::Value;

/// What is wrong with a text in a format.
pub(super) fn fault(text: &str, format: &str) -> Option<String> {
    let lines = || text.lines().filter(|line| !line.is_empty());
    hidden(text).or_else(|| lines().find(|line| is_command(line)).map(|line| format!("a command: {line}"))).or_else(
        || match format {
            "json" | "sarif" => json(text),
            "ndjson" => lines().find_map(json),
            "html" => markup(text, true),
            "svg" | "junit" => markup(text, false),
            "csv" => csv(text),
            "github" => lines().find_map(annotation),
            "dot" | "mermaid" => picture(text, format == "dot"),
            _ => None,
        },
    )
}

/// A letter that has an effect on a terminal, or cannot be seen.
fn hidden(text: &str) -> Option<String> {
    let (at, letter) = text.char_indices().find(|&(_, letter)| is_hidden(letter) && letter != '\n')?;
    let before: String = text[..at].chars().skip(text[..at].chars().count().saturating_sub(80)).collect();
    Some(format!("{letter:?} behind {before:?}"))
}

/// Whether runners of CI take a line for a command that is not the tool's own.
fn is_command(line: &str) -> bool {
    let begins = |command: &str| line.trim_start().starts_with(command);
    line.contains("##[")
        || line.contains("##vso[")
        || ["::error file=x::y", "::warning::y", "::error::y"].into_iter().any(begins)
}

fn json(text: &str) -> Option<String> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value["version"] == "2.1.0" => sarif(&value),
        Ok(_) => None,
        Err(error) => Some(format!("{error}: {text:.300}")),
    }
}

/// A message of SARIF with a link.
fn sarif(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => {
            let text = members.get("text").and_then(Value::as_str).unwrap_or_default();
            if text.replace("\\[", "").contains("[x](") {
                return Some(format!("a link: {text}"));
            }
            members.values().find_map(sarif)
        }
        Value::Array(values) => values.iter().find_map(sarif),
        _ => None,
    }
}

/// A tag, an attribute or an entity that came from a name, or a tag without an end.
fn markup(text: &str, is_html: bool) -> Option<String> {
    let mut rest = text;
    let mut open = Vec::new();
    while let Some(at) = rest.find('<') {
        let (between, tag) = rest.split_at(at);
        if let Some(fault) = entities(between) {
            return Some(fault);
        }
        if tag.starts_with("<!--") {
            rest = tag.split_once("-->")?.1;
            continue;
        }
        let Some((inside, behind)) = tag_end(&tag[1..]) else { return Some(format!("no end: {tag:.200}")) };
        rest = behind;
        let name = inside.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        if inside.starts_with(['!', '?']) {
            continue;
        }
        if let Some(fault) = attributes(&inside[inside.len().min(name.len() + 1)..]) {
            return Some(format!("{fault} in <{inside}>"));
        }
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-".contains(&byte))
            || name == "hostile"
            || name.is_empty()
        {
            return Some(format!("a tag: {tag:.200}"));
        }
        if is_html && ["script", "style"].contains(&name) && !inside.starts_with('/') {
            let Some((content, behind)) = rest.split_once(&format!("</{name}>")) else {
                return Some(format!("no end of {name}"));
            };
            if content.contains("<hostile") || (inside.contains("application/json") && json(content).is_some()) {
                return Some(format!("{name}: {content:.300}"));
            }
            rest = behind;
        } else if !is_html && inside.starts_with('/') {
            if open.pop() != Some(name) {
                return Some(format!("</{name}> closes nothing"));
            }
        } else if !is_html && !inside.ends_with('/') {
            open.push(name);
        }
    }
    entities(rest).or_else(|| (!open.is_empty()).then(|| format!("not closed: {open:?}")))
}

/// The inside of a tag, and what follows it.
fn tag_end(tag: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let at = tag.char_indices().find_map(|(at, letter)| {
        match quote {
            Some(open) if open == letter => quote = None,
            Some(_) => {}
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None => return (letter == '>').then_some(at),
        }
        None
    })?;
    Some((&tag[..at], &tag[at + 1..]))
}

/// The attributes of a tag: names, with values in double quotes.
fn attributes(inside: &str) -> Option<String> {
    let mut rest = inside.trim_start();
    while !rest.is_empty() && rest != "/" {
        let name_end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-:_".contains(letter));
        let (name, behind) = rest.split_at(name_end.unwrap_or(rest.len()));
        if name.is_empty() || name.contains("hostile") {
            return Some(format!("the attribute {rest:.100}"));
        }
        rest = behind;
        if let Some(value) = behind.strip_prefix("=\"") {
            let (value, behind) = value.split_once('"')?;
            if value.starts_with("hostile:") || value.contains('<') {
                return Some(format!("the value {value:.100}"));
            }
            if let Some(fault) = entities(value) {
                return Some(fault);
            }
            rest = behind;
        }
        rest = rest.trim_start();
    }
    None
}

fn entities(text: &str) -> Option<String> {
    let is_entity = |behind: &str| {
        let name = behind.split(';').next().unwrap_or_default();
        name != "hostile" && name.len() < 8 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
    };
    let raw = text.split('&').skip(1).find(|behind| !is_entity(behind))?;
    Some(format!("an entity: &{raw:.80}"))
}

/// A row with another number of cells than the first, or a cell that a spreadsheet computes.
fn csv(text: &str) -> Option<String> {
    let (mut rows, mut cell, mut in_quotes) = (vec![vec![]], String::new(), false);
    for letter in text.chars() {
        match letter {
            '"' => in_quotes = !in_quotes,
            ',' | '\n' if !in_quotes => {
                rows.last_mut()?.push(std::mem::take(&mut cell));
                if letter == '\n' {
                    rows.push(vec![]);
                }
            }
            _ => cell.push(letter),
        }
    }
    rows.retain(|row| !row.is_empty());
    let columns = rows.first()?.len();
    let computes = |cell: &&String| cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
    if in_quotes || !cell.is_empty() {
        return Some("the last cell is open".to_owned());
    }
    let uneven = rows.iter().find(|row| row.len() != columns).map(|row| format!("{columns} columns, and {row:?}"));
    uneven.or_else(|| rows.iter().flatten().find(computes).map(|cell| format!("a formula: {cell}")))
}

/// An annotation of GitHub whose properties are not those of the tool.
fn annotation(line: &str) -> Option<String> {
    let (head, _) = line.strip_prefix("::")?.split_once("::")?;
    let (level, properties) = head.split_once(' ').unwrap_or((head, ""));
    let is_ours = |property: &str| {
        property.split_once('=').is_some_and(|(key, value)| ["file", "title"].contains(&key) && !value.contains(':'))
    };
    let is_good = ["error", "warning", "notice"].contains(&level)
        && (properties.is_empty() || properties.split(',').all(is_ours));
    (!is_good).then(|| format!("an annotation: {line}"))
}

/// A name outside of quotes in DOT and Mermaid.
fn picture(text: &str, has_escapes: bool) -> Option<String> {
    let (mut in_quotes, mut is_escaped, mut outside) = (false, false, String::new());
    for letter in text.chars() {
        if letter == '"' && !is_escaped {
            in_quotes = !in_quotes;
        } else if !in_quotes {
            outside.push(letter);
        }
        is_escaped = has_escapes && letter == '\\' && !is_escaped;
    }
    let is_bad = in_quotes || outside.contains("hostile") || (!has_escapes && text.contains("<hostile"));
    is_bad.then(|| format!("outside of quotes: {outside:.400}"))
}

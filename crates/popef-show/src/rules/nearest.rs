use popef::check::Rule;
use strsim::levenshtein;

/// The rules that a mistyped id may mean: `did you mean PE101 or PE111?`. None if no id is like it.
///
/// ```
/// use popef_show::rules::did_you_mean;
///
/// assert_eq!(did_you_mean("PE1O1").as_deref(), Some("did you mean PE101 or PE111?"));
/// assert_eq!(did_you_mean("PE999"), None);
/// ```
pub fn did_you_mean(id: &str) -> Option<String> {
    let nearest: Vec<_> = nearest(id).iter().map(|rule| rule.id).collect();
    (!nearest.is_empty()).then(|| format!("did you mean {}?", nearest.join(" or ")))
}

/// At most three rules whose ids are like a text, in order: a number, the beginning of an id, or an id with one wrong character.
fn nearest(id: &str) -> Vec<&'static Rule> {
    let id: String = id.chars().take(10).flat_map(char::to_uppercase).collect();
    let number = |id: &str| id.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<u32>().ok();
    let wanted = number(&id);
    let is_like = |rule: &Rule| {
        let begins = wanted.is_some() && rule.id.starts_with(&id);
        begins || wanted.is_some_and(|wanted| numbered(wanted) == Some(rule)) || levenshtein(&id, rule.id) <= 1
    };
    let apart = |rule: &Rule| match (wanted, number(rule.id)) {
        (Some(wanted), Some(found)) => wanted.abs_diff(found),
        _ => 0,
    };
    let mut rules: Vec<&Rule> = Rule::all().filter(|rule| is_like(rule)).collect();
    rules.sort_by_key(|rule| apart(rule));
    rules.truncate(3);
    rules.sort_by_key(|rule| rule.id);
    rules
}

/// The rule with a number.
fn numbered(number: u32) -> Option<&'static Rule> {
    Rule::by_id(&format!("PE{number:03}"))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn slips_of_the_pen_are_near() {
        assert_eq!(did_you_mean("PE1O1").unwrap(), "did you mean PE101 or PE111?");
        assert!(did_you_mean("pe10").unwrap().contains("PE101"));
        assert_eq!(did_you_mean("PE12").unwrap(), "did you mean PE012 or PE102 or PE112?");
        assert_eq!(did_you_mean("101").unwrap(), "did you mean PE101?");
        assert_eq!(did_you_mean("PE1").unwrap(), "did you mean PE001 or PE101 or PE102?");
        assert_eq!(did_you_mean("7").unwrap(), "did you mean PE007?");
    }

    #[test]
    fn other_ids_have_no_neighbours() {
        for id in ["", "PE999", "xyz", "PE1000000000000"] {
            assert_eq!(did_you_mean(id), None, "{id}");
        }
    }
}

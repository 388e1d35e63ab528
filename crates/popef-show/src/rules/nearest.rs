use popef_check::Rule;
use strsim::levenshtein;

/// Those of the given rules that a mistyped id may mean: `did you mean PE101 or PE111?`. None if no id is like it.
///
/// ```
/// use popef_check::Rule;
/// use popef_show::rules::did_you_mean;
///
/// assert_eq!(did_you_mean("PE1O1", popef_check::rules()).as_deref(), Some("did you mean PE101 or PE111?"));
/// assert_eq!(did_you_mean("PE999", popef_check::rules()), None);
/// ```
pub fn did_you_mean(id: &str, rules: impl IntoIterator<Item = &'static Rule>) -> Option<String> {
    let nearest: Vec<_> = nearest(id, rules.into_iter().collect()).iter().map(|rule| rule.id).collect();
    (!nearest.is_empty()).then(|| format!("did you mean {}?", nearest.join(" or ")))
}

/// At most three rules whose ids are like a text, in order: a number, perhaps after the same letters, the beginning of an id, or an id with
/// one wrong character.
fn nearest(id: &str, mut rules: Vec<&'static Rule>) -> Vec<&'static Rule> {
    let id: String = id.chars().take(10).flat_map(char::to_uppercase).collect();
    let number = |id: &str| id.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<u32>().ok();
    let wanted = number(&id);
    let letters = id.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_like = |rule: &Rule| {
        let begins = wanted.is_some() && rule.id.starts_with(&id);
        let has_number = wanted.is_some() && wanted == number(rule.id) && rule.id.starts_with(letters);
        begins || has_number || levenshtein(&id, rule.id) <= 1
    };
    let apart = |rule: &Rule| match (wanted, number(rule.id)) {
        (Some(wanted), Some(found)) => wanted.abs_diff(found),
        _ => 0,
    };
    rules.retain(|rule| is_like(rule));
    rules.sort_by_key(|rule| apart(rule));
    rules.truncate(3);
    rules.sort_by_key(|rule| rule.id);
    rules
}

#[cfg(test)]
mod tests {

    fn did_you_mean(id: &str) -> Option<String> {
        super::did_you_mean(id, popef_check::rules())
    }

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

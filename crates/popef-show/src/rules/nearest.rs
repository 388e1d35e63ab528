use popef::check::Rule;
use strsim::levenshtein;

/// The rules that a mistyped id may mean: `; did you mean PE101 or PE102?`
///
/// ```
/// assert_eq!(popef_show::rules::did_you_mean("PE1O1"), "; did you mean PE001 or PE101 or PE111?");
/// ```
pub fn did_you_mean(id: &str) -> String {
    let nearest: Vec<_> = nearest(id).iter().map(|rule| rule.id).collect();
    format!("; did you mean {}?", nearest.join(" or "))
}

/// The three rules whose ids differ least, in order.
fn nearest(id: &str) -> Vec<&'static Rule> {
    let id: String = id.chars().take(10).flat_map(char::to_uppercase).collect();
    let number = |id: &str| id.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<u32>().ok();
    let apart = |rule: &Rule| match (number(&id), number(rule.id)) {
        (Some(wanted), Some(found)) => wanted.abs_diff(found),
        _ => 0,
    };
    let mut rules: Vec<&Rule> = Rule::all().collect();
    rules.sort_by_key(|rule| (levenshtein(&id, rule.id), apart(rule)));
    rules.truncate(3);
    rules.sort_by_key(|rule| rule.id);
    rules
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn slips_of_the_pen_are_near() {
        assert_eq!(did_you_mean("PE1O1"), "; did you mean PE001 or PE101 or PE111?");
        assert!(did_you_mean("pe10").contains("PE101"));
        assert!(did_you_mean("").starts_with("; did you mean PE"));
    }
}

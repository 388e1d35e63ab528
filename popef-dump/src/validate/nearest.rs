//! The rules that a mistyped id may have meant.

use popef::check::Rule;

/// `; did you mean PE101 or PE102?`
pub(super) fn hint(id: &str) -> String {
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
    let mut rules: Vec<_> = Rule::all().map(|rule| (distance(&id, rule.id), apart(rule), rule)).collect();
    rules.sort_by_key(|&(distance, apart, _)| (distance, apart));
    let mut nearest: Vec<_> = rules.into_iter().take(3).map(|(.., rule)| rule).collect();
    nearest.sort_by_key(|rule| rule.id);
    nearest
}

/// How many letters have to be put in, left out or replaced to make the one of the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut next = vec![above + 1];
        for ((other, left), pair) in to.chars().zip(1..).zip(row.windows(2)) {
            let (Some(&diagonal), Some(&up)) = (pair.first(), pair.last()) else { break };
            let before = next.get(left - 1).copied().unwrap_or(usize::MAX - 1);
            next.push((diagonal + usize::from(letter != other)).min(up + 1).min(before + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, hint};

    #[test]
    fn slips_of_the_pen_are_near() {
        assert_eq!((distance("PE101", "PE101"), distance("PE1O1", "PE101"), distance("", "PE1")), (0, 1, 3));
        assert_eq!(hint("PE018"), "; did you mean PE015 or PE016 or PE017?");
        assert_eq!(hint("PE1O1"), "; did you mean PE001 or PE101 or PE111?");
        assert!(hint("pe10").contains("PE101"));
        assert!(hint("").starts_with("; did you mean PE"));
    }
}

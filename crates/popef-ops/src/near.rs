//! Names that a mistyped name may mean.

use popef::types::escape;
use strsim::damerau_levenshtein;

/// How many names are offered.
const MOST: usize = 3;
/// Longer names, in bytes, are not compared: that would take too long.
const LONGEST: usize = 256;

/// What follows an error about a name that was not found: `; did you mean numIpus?`, or nothing.
pub(crate) fn hint(name: &str, known: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut near: Vec<(usize, String)> = Vec::new();
    for known in known {
        let known = known.as_ref();
        if let Some(distance) = distance(name, known)
            && !near.iter().any(|(_, other)| other == known)
        {
            near.push((distance, known.to_owned()));
            near.sort();
            near.truncate(MOST);
        }
    }
    let near: Vec<_> = near.into_iter().map(|(_, name)| escape(&name).into_owned()).collect();
    match near.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; did you mean {last}?"),
        Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

/// A name from a file, in an error.
pub(crate) fn quoted(name: &(impl ToString + ?Sized)) -> String {
    format!("\"{}\"", escape(&name.to_string()))
}

/// How many letters differ, if they are few enough that one name may be meant by the other.
fn distance(name: &str, known: &str) -> Option<usize> {
    let most = (name.len().min(known.len()) / 4).max(1);
    if name.len() > LONGEST || name.len().abs_diff(known.len()) > most {
        return None;
    }
    let distance = damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    Some(distance).filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn only_near_names_are_offered() {
        let known = ["numIpus", "numProcesses", "w1", "w2", "numIpus"];
        assert_eq!(hint("numIPUs", known), "; did you mean numIpus?");
        assert_eq!(hint("numipu", known), "; did you mean numIpus?");
        assert_eq!(hint("numIpsu", known), "; did you mean numIpus?");
        assert_eq!(hint("w3", known), "; did you mean w1 or w2?");
        assert_eq!(hint("replicas", known), "");
        assert_eq!(hint(&"x".repeat(10_000), ["x".repeat(10_000)]), "");
    }
}

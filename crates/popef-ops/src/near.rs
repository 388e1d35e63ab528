//! Names that a mistyped name may mean.

use popef::types::escape;
use strsim::damerau_levenshtein;

/// Maximum number of suggested names.
const MOST: usize = 3;
/// Longer names, in bytes, are not compared: that takes time by the product of the lengths.
const LONGEST: usize = 256;

/// Returns the suggestion that follows an error about a name that was not found: `; did you mean numIpus?`, or nothing.
/// It has at most three names, the most similar first: those with few different letters, then those that contain the
/// name.
///
/// ```
/// use popef_ops::did_you_mean;
///
/// let names = ["layer1.weight", "layer1.bias", "layer2.weight"];
/// assert_eq!(did_you_mean("layer1.weigth", names), "; did you mean layer1.weight or layer2.weight?");
/// assert_eq!(did_you_mean("bias", names), "; did you mean layer1.bias?");
/// assert_eq!(did_you_mean("optimizer", names), "");
/// ```
pub fn did_you_mean(name: &str, known: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    if name.is_empty() || name.len() > LONGEST {
        return String::new();
    }
    let small = name.to_lowercase();
    let mut near: Vec<(usize, String)> = Vec::new();
    for known in known {
        let known = known.as_ref();
        if let Some(distance) = distance(&small, known)
            && !near.iter().any(|(_, other)| other == known)
        {
            let at = near.partition_point(|(other, _)| *other <= distance);
            near.insert(at, (distance, known.to_owned()));
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

/// The distance of a name from the typed one, in lower case. `None` if they are not similar.
fn distance(small: &str, known: &str) -> Option<usize> {
    if known.len() > LONGEST {
        return None;
    }
    let known = known.to_lowercase();
    let most = (small.chars().count() / 4).saturating_add(1);
    let apart = known.len().abs_diff(small.len());
    // The distance is at least the difference of the lengths: most names need no comparison. Letters are up to four bytes.
    let near = (apart / 4 <= most).then(|| damerau_levenshtein(small, &known)).filter(|distance| *distance <= most);
    // Most names contain any given letter.
    near.or_else(|| (small.len() > 2 && known.contains(small)).then_some(most.saturating_add(apart)))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn only_near_names_are_offered() {
        let known = ["numIpus", "numProcesses", "w1", "w2", "numIpus"];
        assert_eq!(did_you_mean("numIPUs", known), "; did you mean numIpus?");
        assert_eq!(did_you_mean("numipu", known), "; did you mean numIpus?");
        assert_eq!(did_you_mean("numIpsu", known), "; did you mean numIpus?");
        assert_eq!(did_you_mean("w3", known), "; did you mean w1 or w2?");
        assert_eq!(did_you_mean("num", known), "; did you mean numIpus or numProcesses?");
        assert_eq!(did_you_mean("replicas", known), "");
        assert_eq!(did_you_mean(&"x".repeat(10_000), ["x".repeat(10_000)]), "");
    }
}

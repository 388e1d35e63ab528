//! Names that a mistyped one may mean.

use strsim::levenshtein;

/// At most three of the names that are like a mistyped one, the most similar first: those with few other letters, then those
/// that have it as a part.
///
/// ```
/// use popef_show::nearest;
///
/// let names = ["layer1.weight", "layer1.bias", "layer2.weight"];
/// assert_eq!(nearest("layer1.weigth", names), ["layer1.weight", "layer2.weight"]);
/// assert_eq!(nearest("bias", names), ["layer1.bias"]);
/// assert_eq!(nearest("optimizer", names), [""; 0]);
/// ```
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    /// Comparing takes time by the product of the lengths.
    const LONGEST: usize = 200;
    const MOST: usize = 3;
    if wanted.is_empty() || wanted.len() > LONGEST {
        return Vec::new();
    }
    let small = wanted.to_lowercase();
    let mut found: Vec<(usize, &str)> = Vec::with_capacity(MOST + 1);
    for name in names.into_iter().filter(|name| name.len() <= LONGEST) {
        let Some(distance) = distance(&small, name) else { continue };
        if found.iter().any(|(_, other)| *other == name) {
            continue;
        }
        let at = found.partition_point(|(other, _)| *other <= distance);
        found.insert(at, (distance, name));
        found.truncate(MOST);
    }
    found.into_iter().map(|(_, name)| name).collect()
}

/// How far a name is from what was typed, in small letters; none if it is another name.
fn distance(small: &str, name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let most = 1 + small.chars().count() / 4;
    let apart = name.len().abs_diff(small.len());
    // The distance is at least the difference of the lengths: most names need no comparison. Letters are up to four bytes.
    let near = (apart <= 4 * most).then(|| levenshtein(small, &name)).filter(|distance| *distance <= most);
    // Most names have any one letter in them.
    near.or_else(|| (small.len() > 2 && name.contains(small)).then_some(most + apart))
}

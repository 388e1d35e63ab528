//! The settings in the environment. As in the stores' own tools, an empty one counts as missing.

use std::env;
use std::str::FromStr;

pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The settings of a store in variables that begin with its prefix.
pub(crate) fn settings<Key: FromStr>(prefix: &str) -> impl Iterator<Item = (Key, String)> {
    let texts = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts
        .filter(move |(name, value)| name.starts_with(prefix) && !value.is_empty())
        .filter_map(|(name, value)| Some((name.to_ascii_lowercase().parse().ok()?, value)))
}

//! The settings in the environment. As in the stores' own tools, an empty one counts as missing.

use std::env;

pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

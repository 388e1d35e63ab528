//! Values of options. They are those of popef-dump.

pub(crate) use popef_dump_tool::values::{named, path, rule_id, when};

/// A tolerance of a comparison.
pub(crate) fn tolerance(given: &str) -> Result<f64, String> {
    let wrong = || format!("{given} is not a number from 0 on");
    given.parse().ok().filter(|number: &f64| *number >= 0.0).ok_or_else(wrong)
}

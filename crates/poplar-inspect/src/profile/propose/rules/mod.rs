//! The tables of rules, by subject.

mod build;
mod limits;
mod memory;
mod time;

use super::found::{Found, Missing};
use super::subject::Subject;

/// A rule, the file that its findings are about, and the function that looks.
pub(super) type Check = popef_findings::Check<(Half, fn(&Subject<'_>, &mut Found) -> Result<(), Missing>)>;

/// A half of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Graph,
    Execution,
}

/// Rules about a subject.
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) checks: &'static [Check],
    /// Whether the user asked for exactly this, so that a rule that cannot look has failed.
    pub(super) is_asked_for: bool,
}

/// All rules, in the order of their ids.
pub(super) static GROUPS: &[Group] = &[
    Group { title: "Memory in profiles", checks: memory::RULES, is_asked_for: false },
    Group { title: "Time in profiles", checks: time::RULES, is_asked_for: false },
    Group { title: "How a profiled model was built", checks: build::RULES, is_asked_for: false },
    Group { title: "Limits for profiles", checks: limits::RULES, is_asked_for: true },
];

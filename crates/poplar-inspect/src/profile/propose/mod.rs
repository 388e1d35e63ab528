//! The proposer: rules over the results of the analysers, and advice for what they find.
//!
//! A rule is an item in one of the tables in `rules/`: its text, and the function that looks. Rules and findings are those of
//! [`popef_findings`], so that they are shown alike. A rule that needs what the report does not have draws no conclusion: it is skipped, and
//! the report says so.

mod found;
mod policy;
mod rules;
mod subject;
mod words;

use popef_findings::{Report, Rule};

use super::analyse::consistency::Consistency;
use super::analyse::facts::Facts;
use super::execution::ExecutionProfile;
use super::graph::GraphProfile;
use found::{Found, Skips};
pub use policy::{Policy, parse_bytes};
use rules::{GROUPS, Half};
use subject::Subject;

/// Looks for what makes a model slow, or too large, and says what to do about it.
///
/// `facts` are the [`facts`](super::facts) of these two, and `consistency` is their [`consistency`](super::consistency), if rules are to
/// look at it. A finding about the execution has the file 1, and one about the graph the file 0.
///
/// ```
/// use poplar_inspect::profile::{Policy, ReadOptions, Report, facts, propose};
///
/// let json = r#"{"target": {"numTiles": 2, "numIPUs": 1, "tilesPerIPU": 2, "bytesPerTile": 1000},
///                "memory": {"byTile": {"totalIncludingGaps": [900, 1200], "overflowed": [0, 200]}}}"#;
/// let report = Report::read(json.as_bytes(), &ReadOptions::default())?;
/// let graph = report.graph.unwrap();
/// let proposed = propose(&graph, None, &facts(&graph, None), None, &Policy::default());
/// let finding = &proposed.findings[0];
/// assert_eq!(finding.rule.id, "PP101");
/// assert_eq!(finding.message, "1 of 2 tiles does not fit (1), 200 B too much in all; tile 1 needs 1.2 KiB of 1000 B");
/// assert!(proposed.skipped.iter().any(|skipped| skipped.why == "there is no execution profile"));
/// # Ok::<(), poplar_inspect::profile::Error>(())
/// ```
pub fn propose(
    graph: &GraphProfile,
    execution: Option<&ExecutionProfile>,
    facts: &Facts<'_>,
    consistency: Option<&Consistency>,
    policy: &Policy,
) -> Report {
    let subject = Subject { graph, execution, facts, consistency, policy };
    let mut report = Report::default();
    let mut skips = Skips::default();
    for group in GROUPS {
        for check in group.checks {
            let Some(severity) = policy.severity_of(&check.rule) else { continue };
            let mut found = Found::new(&check.rule, severity);
            let (half, run) = check.run;
            if let Err(missing) = run(&subject, &mut found) {
                skips.add(check.rule.id, missing, group.is_asked_for);
            }
            found.finish(usize::from(half == Half::Execution), &mut report);
        }
    }
    skips.finish(&mut report);
    report.findings.sort_by_key(|finding| (finding.file, finding.rule.id));
    report
}

/// The rules of [`propose`], in groups by subject, each with its title.
pub fn rules() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static Rule>)> {
    GROUPS.iter().map(|group| (group.title, group.checks.iter().map(|check| &check.rule)))
}

/// The rule of [`propose`] with an id such as `PP101`. Case does not matter.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().flat_map(|(_, rules)| rules).find(|rule| rule.id.eq_ignore_ascii_case(id))
}

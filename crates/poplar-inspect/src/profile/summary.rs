use popef_findings::Report;

use super::{
    Bucket, Consistency, ExecutionProfile, Facts, GraphProfile, Policy, consistency, facts, histogram, propose,
};

/// All that is computed of a report as a whole.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary<'r> {
    /// The facts.
    pub facts: Facts<'r>,
    /// The tiles by the memory that they need.
    pub tile_sizes: Vec<Bucket>,
    /// Whether its steps follow from the graph, if it has steps.
    pub consistency: Option<Consistency>,
    /// What the rules find.
    pub findings: Report,
}

/// Computes the facts of a report, recomputes its steps, and applies the rules.
pub fn summary<'r>(graph: &'r GraphProfile, execution: Option<&'r ExecutionProfile>, policy: &Policy) -> Summary<'r> {
    const BUCKETS: u32 = 10;
    let facts = facts(graph, execution);
    let consistency = execution.and_then(|execution| consistency(graph, execution));
    let findings = propose(graph, execution, &facts, consistency.as_ref(), policy);
    Summary { facts, tile_sizes: histogram(graph, BUCKETS), consistency, findings }
}

//! How often things are done in an execution.

use std::collections::BTreeMap;

use crate::profile::execution::ExecutionProfile;
use crate::profile::program::{ExchangeKind, StepKind};

/// How often each compute set and exchange is a step.
pub(super) struct Runs {
    compute_sets: BTreeMap<u32, u64>,
    exchanges: [BTreeMap<u32, u64>; 3],
}

impl Runs {
    /// `None` if there are no steps.
    pub(super) fn of(execution: Option<&ExecutionProfile>) -> Option<Self> {
        let steps = &execution?.simulation.as_ref()?.steps;
        let mut runs = Runs { compute_sets: BTreeMap::new(), exchanges: Default::default() };
        let add = |map: &mut BTreeMap<u32, u64>, index: Option<u32>| {
            if let Some(index) = index {
                let runs = map.entry(index).or_default();
                *runs = runs.saturating_add(1);
            }
        };
        for step in steps {
            let [internal, external, host] = &mut runs.exchanges;
            match (step.kind, step.kind.exchange()) {
                (StepKind::OnTileExecute, _) => add(&mut runs.compute_sets, step.compute_set),
                (_, Some(ExchangeKind::Internal)) => add(internal, step.exchange),
                (_, Some(ExchangeKind::External)) => add(external, step.exchange),
                (_, Some(ExchangeKind::Host)) => add(host, step.exchange),
                _ => {}
            }
        }
        Some(runs)
    }

    pub(super) fn compute_set(&self, compute_set: u32) -> u64 {
        self.compute_sets.get(&compute_set).copied().unwrap_or_default()
    }

    pub(super) fn exchange(&self, kind: ExchangeKind, exchange: u32) -> u64 {
        let [internal, external, host] = &self.exchanges;
        let map = match kind {
            ExchangeKind::Internal => internal,
            ExchangeKind::External => external,
            ExchangeKind::Host => host,
        };
        map.get(&exchange).copied().unwrap_or_default()
    }
}

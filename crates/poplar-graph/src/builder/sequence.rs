//! Which ops must run in the order in which they are created.

use std::collections::BTreeMap;

use crate::{GraphId, OpId};

/// What [`Builder::in_sequence`](crate::Builder::in_sequence) requires of the ops that are created in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sequence {
    /// They run in the order in which they are created.
    Enforced,
    /// They run in any order that their data allow. Inside of an enforced sequence, all of them run at their place in it.
    Free,
    /// They take no part in the sequence around it.
    Pass,
}

/// The sequences around the op that is created next, outermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences(Vec<Scope>);

#[derive(Clone, Debug)]
struct Scope {
    mode: Sequence,
    /// For each graph, the ops that must run before everything after the scope.
    last: BTreeMap<GraphId, Vec<OpId>>,
}

impl Sequences {
    pub(super) fn enter(&mut self, mode: Sequence) {
        self.0.push(Scope { mode, last: BTreeMap::new() });
    }

    pub(super) fn leave(&mut self) {
        let (Some(inner), Some(outer)) = (self.0.pop(), self.0.last_mut()) else { return };
        for (graph, ops) in inner.last {
            outer.follow(graph, ops);
        }
    }

    /// Adds an op of a graph, and returns the ops that must run before it.
    pub(super) fn add(&mut self, graph: GraphId, op: OpId) -> Vec<OpId> {
        let before = self.before(graph);
        if let Some(scope) = self.0.last_mut() {
            scope.follow(graph, vec![op]);
        }
        before
    }

    /// The ops that must run before the next one of a graph.
    fn before(&self, graph: GraphId) -> Vec<OpId> {
        for scope in self.0.iter().rev() {
            match scope.mode {
                Sequence::Pass => break,
                // Ops of a free scope wait only for those before the scope.
                Sequence::Free => {}
                Sequence::Enforced => {
                    if let Some(ops) = scope.last.get(&graph) {
                        return ops.clone();
                    }
                }
            }
        }
        Vec::new()
    }
}

impl Scope {
    /// Adds ops, all of which run after the ops of [`Sequences::before`].
    fn follow(&mut self, graph: GraphId, ops: Vec<OpId>) {
        match self.mode {
            Sequence::Enforced => drop(self.last.insert(graph, ops)),
            Sequence::Free => self.last.entry(graph).or_default().extend(ops),
            Sequence::Pass => {}
        }
    }
}

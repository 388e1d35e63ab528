//! Whether data or `in_sequence` order the loads and calls of a graph.

use crate::validity::makers;
use crate::{Graph, OpId};

/// An op that loads or calls code, maybe through other graphs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) op: OpId,
    pub(super) loads: bool,
    pub(super) calls: bool,
}

/// The maximum number of pairs of ops in a graph whose order is checked.
const MAX_PAIRS: usize = 1 << 18;

/// The number of ops that the checks of a program may still look at.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Self {
        Budget(1 << 28)
    }

    /// Takes `work` from the budget if that much is left.
    pub(super) fn take(&mut self, work: usize) -> bool {
        let rest = self.0.checked_sub(work);
        self.0 = rest.unwrap_or_default();
        rest.is_some()
    }
}

/// The ops that each op of a graph needs.
pub(super) struct Needs {
    /// Where the needs of each op end in `ops`.
    ends: Vec<usize>,
    ops: Vec<OpId>,
}

/// The result for some ops.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ordered {
    /// All pairs are ordered.
    Yes,
    /// A load and a call that are not ordered.
    No(OpId, OpId),
    /// It would take too long.
    NotChecked,
}

impl Needs {
    pub(super) fn new(graph: &Graph) -> Self {
        let makers = makers(graph);
        let mut needs = Needs { ends: Vec::with_capacity(graph.ops.len()), ops: Vec::new() };
        for op in &graph.ops {
            let made = op.inputs.iter().filter_map(|slot| makers.get(slot.tensor.index()).copied().flatten());
            needs.ops.extend(made.chain(op.after.iter().copied()));
            needs.ends.push(needs.ops.len());
        }
        needs
    }

    fn each(&self) -> impl Iterator<Item = &[OpId]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| self.ops.get(begin..*end).unwrap_or_default())
    }

    /// Whether each of some ops, in the order of the graph, needs the one before it.
    pub(super) fn are_a_chain(&self, ops: impl Iterator<Item = OpId>) -> bool {
        let mut waiting = ops.peekable();
        // For each op, how many of the chain's ops are the op itself or certainly run before it.
        let mut reached: Vec<usize> = Vec::with_capacity(self.ends.len());
        let mut count = 0_usize;
        for (at, needs) in self.each().enumerate() {
            let mut most = needs.iter().filter_map(|need| reached.get(need.index()).copied()).max().unwrap_or_default();
            if waiting.next_if(|op| op.index() == at).is_some() {
                if most != count {
                    return false;
                }
                count = count.saturating_add(1);
                most = count;
            }
            reached.push(most);
        }
        true
    }

    /// Whether each load and each call among some ops, in the order of the graph, are ordered.
    pub(super) fn are_ordered(&self, touches: &[Touch], budget: &mut Budget) -> Ordered {
        let alike = |left: &Touch, right: &Touch| match (left.loads, left.calls) {
            (true, true) => false,
            kind => kind == (right.loads, right.calls),
        };
        let runs: Vec<&[Touch]> = touches.chunk_by(alike).collect();
        let mut pairs = Vec::new();
        // Runs that are ordered pairwise are ordered as a whole.
        for (left, right) in runs.iter().zip(runs.iter().skip(1)) {
            if pairs.len().saturating_add(left.len().saturating_mul(right.len())) > MAX_PAIRS {
                return Ordered::NotChecked;
            }
            pairs.extend(left.iter().flat_map(|left| right.iter().map(|right| (left.op, right.op))));
        }
        pairs.sort_unstable();
        self.check(&pairs, budget)
    }

    /// Whether the second op of each pair needs the first one. Pairs are sorted.
    fn check(&self, pairs: &[(OpId, OpId)], budget: &mut Budget) -> Ordered {
        let same_source = pairs.chunk_by(|left, right| left.0 == right.0).collect::<Vec<_>>();
        let sweeps = same_source.len().div_ceil(64);
        if !budget.take(sweeps.saturating_mul(self.ops.len().saturating_add(self.ends.len()))) {
            return Ordered::NotChecked;
        }
        for sources in same_source.chunks(64) {
            let found = sources.iter().filter_map(|pairs| pairs.first()).map(|pair| pair.0).collect::<Vec<_>>();
            let reached = self.sweep(&found);
            for (bit, pairs) in (0_u32..).zip(sources) {
                let bit = 1_u64.checked_shl(bit).unwrap_or_default();
                let needs =
                    |pair: &&(OpId, OpId)| reached.get(pair.1.index()).is_some_and(|reached| reached & bit != 0);
                if let Some(pair) = pairs.iter().find(|pair| !needs(pair)) {
                    return Ordered::No(pair.0, pair.1);
                }
            }
        }
        Ordered::Yes
    }

    /// For each op, which of at most 64 ops it needs. They are sorted.
    fn sweep(&self, sources: &[OpId]) -> Vec<u64> {
        let mut reached: Vec<u64> = Vec::with_capacity(self.ends.len());
        for (at, needs) in self.each().enumerate() {
            let before = needs.iter().filter_map(|need| reached.get(need.index())).fold(0, |all, one| all | one);
            let own = sources.binary_search_by_key(&at, |source| source.index()).ok();
            let own = own.and_then(|bit| 1_u64.checked_shl(u32::try_from(bit).ok()?)).unwrap_or_default();
            reached.push(before | own);
        }
        reached
    }
}

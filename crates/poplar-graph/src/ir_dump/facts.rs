use super::{DumpParameter, IrDump};
use crate::{CallGraph, CallRow, CodeLiveness, GraphCode, GraphId, OpCounts, Tensor};

/// All that is known of a dump as a whole.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DumpFacts<'d> {
    /// The dump.
    pub dump: &'d IrDump,
    /// Which graph calls which.
    pub calls: CallGraph,
    /// The calls as a tree.
    pub tree: Vec<CallRow>,
    /// The ops by type and place.
    pub ops: OpCounts,
    /// The parameters, the largest first.
    pub parameters: Vec<DumpParameter>,
    /// When the code of graphs is on the tiles.
    pub code: CodeLiveness,
}

impl IrDump {
    /// Computes what is known of the dump as a whole.
    #[must_use]
    pub fn facts(&self) -> DumpFacts<'_> {
        let calls = CallGraph::new(&self.ir);
        let (tree, ops) = (calls.tree(), OpCounts::new(&self.ir, &calls));
        DumpFacts { dump: self, calls, tree, ops, parameters: self.parameters(), code: CodeLiveness::new(&self.ir) }
    }
}

impl<'d> DumpFacts<'d> {
    /// Returns a parameter's tensor.
    #[must_use]
    pub fn tensor(&self, parameter: &DumpParameter) -> Option<&'d Tensor> {
        self.dump.ir.graph(self.dump.ir.main()?)?.tensor(parameter.tensor)
    }

    /// Returns the bytes of all parameters whose size is known.
    #[must_use]
    pub fn parameter_size(&self) -> u64 {
        self.parameters.iter().filter_map(|parameter| parameter.bytes).fold(0, u64::saturating_add)
    }

    /// Returns the number of tensors of all graphs.
    #[must_use]
    pub fn tensors(&self) -> usize {
        self.dump.ir.graphs().iter().map(|graph| graph.tensors.len()).sum()
    }

    /// Whether a graph calls itself, perhaps through others.
    #[must_use]
    pub fn is_recursive(&self, id: GraphId) -> bool {
        self.calls.recursive.iter().any(|group| group.binary_search(&id).is_ok())
    }

    /// The graphs whose code ops load to a known destination.
    pub fn loaded(&self) -> impl Iterator<Item = &GraphCode> {
        self.code.graphs.iter().filter(|code| code.loads > 0)
    }
}

use std::cmp::Reverse;

use super::IrDump;
use crate::{Graph, Op, TensorId};

/// A tensor that the main graph uses and no op makes: a variable, a constant or, in older versions, a stream. A dump does not say
/// which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpParameter {
    /// The tensor, in the main graph.
    pub tensor: TensorId,
    /// Its bytes, if its shape and type are known.
    pub bytes: Option<u64>,
    /// Whether an op of the main graph updates it, so that it is a variable. Ops of called graphs are not followed.
    pub updated: bool,
}

impl IrDump {
    /// The parameters of the program, largest first. Those of unknown size come last.
    #[must_use]
    pub fn parameters(&self) -> Vec<DumpParameter> {
        let Some(main) = self.ir.main().and_then(|main| self.ir.graph(main)) else { return Vec::new() };
        let known = known_of_tensors(main);
        let mut parameters = Vec::new();
        for ((at, tensor), known) in main.tensors.iter().enumerate().zip(known) {
            if let Some(id) = TensorId::of(at).filter(|_| !known.made) {
                parameters.push(DumpParameter { tensor: id, bytes: tensor.bytes(), updated: known.updated });
            }
        }
        parameters.sort_by_key(|parameter| Reverse(parameter.bytes));
        parameters
    }
}

#[derive(Clone, Copy, Default)]
struct Known {
    made: bool,
    updated: bool,
}

fn known_of_tensors(graph: &Graph) -> Vec<Known> {
    let mut known = vec![Known::default(); graph.tensors.len()];
    for op in &graph.ops {
        for slot in &op.outputs {
            if let Some(known) = known.get_mut(slot.tensor.index()) {
                known.made = true;
            }
        }
        let updated = op.input(0).filter(|_| is_update(op));
        if let Some(known) = updated.and_then(|tensor| known.get_mut(tensor.index())) {
            known.updated = true;
        }
    }
    known
}

/// Whether an op updates its first input: PopART's `VarUpdateOp` and what is derived from it.
fn is_update(op: &Op) -> bool {
    op.op_type.contains("VarUpdate") || op.op_type.contains("Accumul") || op.op_type == "SGD1AcclUpdate"
}

use super::Builder;
use crate::{Error, GraphId, OpId, TensorRef};

/// An op that calls a graph, and which tensors of caller and graph belong together: PopXL's `CallSiteInfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallSiteInfo {
    /// The graph with the op.
    pub caller: GraphId,
    /// The op.
    pub op: OpId,
    /// The graph that it calls.
    pub called_graph: GraphId,
    /// The tensors of the caller that it uses.
    pub inputs: Vec<TensorRef>,
    /// The tensors of the caller that it makes.
    pub outputs: Vec<TensorRef>,
    pub(super) graph_inputs: Vec<TensorRef>,
    pub(super) graph_outputs: Vec<TensorRef>,
}

impl CallSiteInfo {
    /// The caller's tensor of an input.
    #[must_use]
    pub fn parent_input(&self, index: usize) -> Option<TensorRef> {
        self.inputs.get(index).copied()
    }

    /// The caller's tensor of an output.
    #[must_use]
    pub fn parent_output(&self, index: usize) -> Option<TensorRef> {
        self.outputs.get(index).copied()
    }

    /// The tensor of the called graph that gets or makes a tensor of the caller: the first if there are several.
    #[must_use]
    pub fn parent_to_graph(&self, parent: TensorRef) -> Option<TensorRef> {
        paired(&self.inputs, &self.graph_inputs, parent).or_else(|| paired(&self.outputs, &self.graph_outputs, parent))
    }

    /// The caller's tensor for an input or output of the called graph.
    #[must_use]
    pub fn graph_to_parent(&self, graph: TensorRef) -> Option<TensorRef> {
        paired(&self.graph_inputs, &self.inputs, graph).or_else(|| paired(&self.graph_outputs, &self.outputs, graph))
    }

    /// Marks an input as changed by the call: changes of the called graph to its copy also change the caller's tensor. `tensor` is of the
    /// caller or of the called graph. If it is given to several inputs, the first is meant.
    ///
    /// Fails if it is not an input of the call, or a constant.
    pub fn set_parent_input_modified(&self, builder: &mut Builder, tensor: TensorRef) -> Result<(), Error> {
        let pairs = || self.inputs.iter().zip(&self.graph_inputs).enumerate();
        let own = pairs().find(|(_, (input, _))| **input == tensor);
        let found = own.or_else(|| pairs().find(|(_, (_, inner))| **inner == tensor));
        let Some((index, (&input, _))) = found else {
            return Err(Error::NotAnInput {
                tensor: builder.name_of(tensor),
                graph: builder.graph_name(self.called_graph),
            });
        };
        builder.check_can_change(input)?;
        let index = u32::try_from(index).map_err(|_| Error::TooMany { what: "inputs" })?;
        builder.change_op(self.caller, self.op, |op| {
            if !op.modifies.contains(&index) {
                op.modifies.push(index);
            }
        })
    }
}

fn paired(from: &[TensorRef], to: &[TensorRef], tensor: TensorRef) -> Option<TensorRef> {
    from.iter().position(|known| *known == tensor).and_then(|at| to.get(at)).copied()
}

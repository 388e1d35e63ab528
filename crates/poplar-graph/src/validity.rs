//! Whether all ids of graphs exist. Only such programs are made.

use crate::{Error, Graph, GraphId, Ir, Op, OpId, Order, ReplicaGrouping, TensorId};

impl Ir {
    /// Puts graphs together. Fails if an id does not exist, or if `order` is [`Order::Creation`] and an op needs a later one.
    pub fn new(graphs: Vec<Graph>, main: Option<GraphId>, order: Order) -> Result<Self, Error> {
        let ir = Ir { graphs, main, order, replication_factor: 1 };
        check(&ir)?;
        Ok(ir)
    }

    /// The same graphs with another replication factor. Fails if it is 0, or if the groups of a variable do not fit it.
    pub fn with_replication_factor(mut self, replication_factor: u32) -> Result<Self, Error> {
        self.replication_factor = replication_factor;
        check_replication(&self)?;
        Ok(self)
    }
}

fn check(ir: &Ir) -> Result<(), Error> {
    if GraphId::of(ir.graphs().len()).is_none() {
        return Err(Error::TooMany { what: "graphs" });
    }
    if let Some(main) = ir.main().filter(|main| ir.graph(*main).is_none()) {
        return Err(Error::NoSuch { what: "graph", index: main.0.into(), graph: "main".to_owned() });
    }
    ir.graphs().iter().try_for_each(|graph| check_graph(ir, graph))
}

fn check_replication(ir: &Ir) -> Result<(), Error> {
    let factor = ir.replication_factor();
    let groupings = ir.graphs().iter().flat_map(|graph| &graph.tensors).filter_map(|tensor| tensor.replicas);
    let all = ReplicaGrouping { stride: 1, group_size: factor };
    std::iter::once(all).chain(groupings).try_for_each(|grouping| check_grouping(factor, grouping))
}

/// Fails if replicas cannot be divided into groups of this kind: blocks of `stride * group_size` replicas, each with `stride` groups.
pub(super) fn check_grouping(factor: u32, grouping: ReplicaGrouping) -> Result<(), Error> {
    let ReplicaGrouping { stride, group_size } = grouping;
    match stride.checked_mul(group_size) {
        Some(block) if block != 0 && factor != 0 && factor.is_multiple_of(block) => Ok(()),
        _ => Err(Error::Replication { factor, stride, group_size }),
    }
}

fn check_graph(ir: &Ir, graph: &Graph) -> Result<(), Error> {
    if TensorId::of(graph.tensors.len()).is_none() {
        return Err(Error::TooMany { what: "tensors" });
    }
    if OpId::of(graph.ops.len()).is_none() {
        return Err(Error::TooMany { what: "ops" });
    }
    graph.inputs.iter().chain(&graph.outputs).try_for_each(|tensor| check_tensor(graph, *tensor))?;
    graph.ops.iter().try_for_each(|op| check_op(ir, graph, op))?;
    if ir.order() == Order::Creation { check_order(graph) } else { Ok(()) }
}

fn check_tensor(graph: &Graph, tensor: TensorId) -> Result<(), Error> {
    let exists = graph.tensor(tensor).is_some();
    exists.then_some(()).ok_or_else(|| no_such("tensor", tensor.0, graph))
}

fn check_op(ir: &Ir, graph: &Graph, op: &Op) -> Result<(), Error> {
    op.inputs.iter().chain(&op.outputs).try_for_each(|slot| check_tensor(graph, slot.tensor))?;
    let called = op.calls.iter().map(|callee| callee.graph);
    if let Some(missing) = called.chain(op.loads.map(|load| load.graph)).find(|id| ir.graph(*id).is_none()) {
        return Err(no_such("graph", missing.0, graph));
    }
    if let Some(index) = op.modifies.iter().find(|index| op.input(**index).is_none()) {
        return Err(no_such("input", *index, graph));
    }
    match op.after.iter().find(|op| graph.op(**op).is_none()) {
        Some(missing) => Err(no_such("op", missing.0, graph)),
        None => Ok(()),
    }
}

/// Whether each op comes after all that it needs.
fn check_order(graph: &Graph) -> Result<(), Error> {
    let makers = makers(graph);
    let maker = |tensor: TensorId| makers.get(tensor.index()).copied().flatten();
    for (id, op) in graph.op_ids() {
        let mut needs = op.inputs.iter().filter_map(|slot| maker(slot.tensor)).chain(op.after.iter().copied());
        if needs.any(|need| need >= id) {
            return Err(Error::BeforeItsNeeds { graph: graph.name.clone(), op: id.0 });
        }
    }
    Ok(())
}

/// The op that makes each tensor: the first one that has it as an output.
pub(super) fn makers(graph: &Graph) -> Vec<Option<OpId>> {
    let mut makers = vec![None; graph.tensors.len()];
    for (id, op) in graph.op_ids() {
        for slot in &op.outputs {
            if let Some(maker @ None) = makers.get_mut(slot.tensor.index()) {
                *maker = Some(id);
            }
        }
    }
    makers
}

fn no_such(what: &'static str, index: u32, graph: &Graph) -> Error {
    Error::NoSuch { what, index: index.into(), graph: graph.name.clone() }
}

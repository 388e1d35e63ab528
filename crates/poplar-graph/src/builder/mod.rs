//! Writes programs as PopXL does.

mod call_site;
mod calls;
mod destination;
mod ops;
mod sequence;
mod tensors;

use std::collections::{BTreeMap, BTreeSet};

pub use call_site::CallSiteInfo;
pub use calls::Inputs;
pub use destination::Destination;
pub use sequence::Sequence;
pub use tensors::Stream;

use self::sequence::Sequences;
use crate::{
    CallGraph, Error, Graph, GraphId, Ir, Op, OpId, Order, ReplicaGrouping, Slot, Spec, Tensor, TensorId, TensorKind,
    validity,
};

/// Writes a program: PopXL's `Ir`, with the contexts that PopXL keeps in `with` statements.
///
/// Ops are added to the current graph, at first the main graph. A tensor can be used only in its own graph; other graphs get it as an
/// input. Ops run in any order that their data allow, unless [`in_sequence`](Self::in_sequence) orders them.
///
/// ```
/// use popef::DataType;
/// use poplar_graph::{Array, Builder, Interpreter};
///
/// let mut builder = Builder::new();
/// let x = builder.variable("x", Array::full(&[2, 2], DataType::F32, 1.0)?)?;
/// let increment = builder.create_graph("increment_fn", &[x], |builder, inputs| {
///     let one = builder.constant("one", Array::full(&[2, 2], DataType::F32, 1.0)?)?;
///     builder.add(inputs[0], one)
/// })?;
/// let outputs = builder.call(increment, [x])?;
/// let ir = builder.build()?;
///
/// let mut run = Interpreter::new(&ir)?;
/// run.run()?;
/// assert_eq!(run.value(outputs[0]), Some(&Array::full(&[2, 2], DataType::F32, 2.0)?));
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    graphs: Vec<Graph>,
    replication_factor: u32,
    context: Context,
    sequences: Sequences,
    /// For each graph and name, the number of tensors that were to have it.
    names: Vec<BTreeMap<String, u64>>,
    graph_names: BTreeMap<String, u64>,
    called: BTreeSet<GraphId>,
}

/// A tensor of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorRef {
    /// The graph.
    pub graph: GraphId,
    /// The tensor.
    pub tensor: TensorId,
}

/// The context of the ops that are created next.
#[derive(Clone, Copy, Debug)]
struct Context {
    graph: GraphId,
    ipu: Option<i64>,
    stage: Option<i64>,
    phase: Option<i64>,
}

/// A PopXL module: something that builds a graph and remembers its graph inputs.
///
/// ```
/// use popef::DataType;
/// use poplar_graph::{Builder, Error, Module, TensorRef};
///
/// #[derive(Default)]
/// struct Scale {
///     factor: Option<TensorRef>,
/// }
///
/// impl Module for Scale {
///     fn build(&mut self, builder: &mut Builder, inputs: &[TensorRef]) -> Result<Vec<TensorRef>, Error> {
///         let factor = builder.graph_input("factor", &[], DataType::F32)?;
///         self.factor = Some(factor);
///         Ok(vec![builder.mul(inputs[0], factor)?])
///     }
/// }
/// ```
pub trait Module {
    /// Adds ops to the current graph, which has these inputs, and returns its outputs.
    fn build(&mut self, builder: &mut Builder, inputs: &[TensorRef]) -> Result<Vec<TensorRef>, Error>;
}

/// The outputs that a function which builds a graph returns: nothing, a tensor, or several.
pub trait Outputs {
    /// The outputs in order.
    fn into_outputs(self) -> Vec<TensorRef>;
}

impl Outputs for () {
    fn into_outputs(self) -> Vec<TensorRef> {
        Vec::new()
    }
}

impl Outputs for TensorRef {
    fn into_outputs(self) -> Vec<TensorRef> {
        vec![self]
    }
}

impl Outputs for Vec<TensorRef> {
    fn into_outputs(self) -> Vec<TensorRef> {
        self
    }
}

impl<const N: usize> Outputs for [TensorRef; N] {
    fn into_outputs(self) -> Vec<TensorRef> {
        self.to_vec()
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// The id of the main graph.
    pub const MAIN: GraphId = GraphId(0);

    /// A program with an empty main graph.
    #[must_use]
    pub fn new() -> Self {
        Builder {
            graphs: vec![Graph::new("maingraph")],
            replication_factor: 1,
            context: Context { graph: Self::MAIN, ipu: None, stage: None, phase: None },
            sequences: Sequences::default(),
            names: vec![BTreeMap::new()],
            graph_names: BTreeMap::new(),
            called: BTreeSet::new(),
        }
    }

    /// The program. Fails if a graph calls itself, or if groups of replicas do not fit the replication factor.
    pub fn build(self) -> Result<Ir, Error> {
        let ir = Ir::new(self.graphs, Some(Self::MAIN), Order::Creation)?;
        let ir = ir.with_replication_factor(self.replication_factor)?;
        match CallGraph::new(&ir).recursive.first() {
            Some(group) => {
                let name = group.first().and_then(|graph| ir.graph(*graph)).map(|graph| graph.name.clone());
                Err(Error::CallsItself { graph: name.unwrap_or_default() })
            }
            None => Ok(ir),
        }
    }

    /// Makes a graph with inputs of the same shapes and types as these tensors, which may be of any graph. `build` adds the ops and returns
    /// the outputs. The same function can make graphs for several shapes.
    ///
    /// If `build` fails, the unfinished graph stays in the program.
    pub fn create_graph<O: Outputs>(
        &mut self,
        name: &str,
        inputs: &[TensorRef],
        build: impl FnOnce(&mut Builder, &[TensorRef]) -> Result<O, Error>,
    ) -> Result<GraphId, Error> {
        let specs = inputs.iter().map(|input| self.spec(*input)).collect::<Result<Vec<_>, _>>()?;
        let id = GraphId::of(self.graphs.len()).ok_or(Error::TooMany { what: "graphs" })?;
        let count = self.graph_names.entry(name.to_owned()).or_default();
        self.graphs.push(Graph::new(format!("{name}_subgraph({count})")));
        *count = count.saturating_add(1);
        self.names.push(BTreeMap::new());
        self.in_graph(id, |builder| {
            let input = |spec: &Spec| builder.graph_input("input", &spec.shape.0, spec.data_type);
            let inputs = specs.iter().map(input).collect::<Result<Vec<_>, _>>()?;
            let outputs = build(builder, &inputs)?.into_outputs();
            outputs.into_iter().try_for_each(|output| builder.graph_output(output))
        })?;
        Ok(id)
    }

    /// Makes a graph from a module.
    pub fn create_graph_from(
        &mut self,
        name: &str,
        inputs: &[TensorRef],
        module: &mut dyn Module,
    ) -> Result<GraphId, Error> {
        self.create_graph(name, inputs, |builder, inputs| module.build(builder, inputs))
    }

    /// The graph to which ops are added.
    #[must_use]
    pub fn current_graph(&self) -> GraphId {
        self.context.graph
    }

    /// Adds ops to another graph.
    pub fn in_graph<R>(
        &mut self,
        graph: GraphId,
        build: impl FnOnce(&mut Builder) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.known(graph)?;
        self.within(|context| context.graph = graph, build)
    }

    /// Adds ops on an IPU.
    pub fn on_ipu<R>(&mut self, ipu: i64, build: impl FnOnce(&mut Builder) -> Result<R, Error>) -> Result<R, Error> {
        self.within(|context| context.ipu = Some(ipu), build)
    }

    /// Adds ops of a pipeline stage.
    pub fn in_stage<R>(
        &mut self,
        stage: i64,
        build: impl FnOnce(&mut Builder) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.within(|context| context.stage = Some(stage), build)
    }

    /// Adds ops of an execution phase.
    pub fn in_phase<R>(
        &mut self,
        phase: i64,
        build: impl FnOnce(&mut Builder) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.within(|context| context.phase = Some(phase), build)
    }

    /// Adds ops with or without a fixed order. Each graph has its own order, also graphs that are created inside.
    pub fn in_sequence<R>(
        &mut self,
        mode: Sequence,
        build: impl FnOnce(&mut Builder) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.sequences.enter(mode);
        let result = build(self);
        self.sequences.leave();
        result
    }

    /// Sets the number of copies of the program that run at the same time. Fails if it is 0.
    pub fn set_replication_factor(&mut self, factor: u32) -> Result<(), Error> {
        validity::check_grouping(factor, ReplicaGrouping { stride: 1, group_size: factor })?;
        self.replication_factor = factor;
        Ok(())
    }

    /// Divides the replicas into groups. Without a size, groups are as large as possible: one group if the stride is 1. Fails if the groups
    /// do not fit the replication factor.
    pub fn replica_grouping(&self, stride: u32, group_size: Option<u32>) -> Result<ReplicaGrouping, Error> {
        let factor = self.replication_factor;
        let largest = || factor.checked_div(stride).unwrap_or_default();
        let grouping = ReplicaGrouping { stride, group_size: group_size.unwrap_or_else(largest) };
        validity::check_grouping(factor, grouping)?;
        Ok(grouping)
    }

    /// The shape and type of a tensor.
    pub fn spec(&self, tensor: TensorRef) -> Result<Spec, Error> {
        let value = self.tensor(tensor)?;
        // All tensors of a builder have both.
        match (&value.shape, value.data_type) {
            (Some(shape), Some(data_type)) => Ok(Spec::new(shape, data_type)),
            _ => Err(self.no_such_tensor(tensor)),
        }
    }

    /// The number of dimensions of a tensor.
    pub fn rank(&self, tensor: TensorRef) -> Result<usize, Error> {
        self.spec(tensor).map(|spec| spec.shape.0.len())
    }

    fn within<R>(
        &mut self,
        change: impl FnOnce(&mut Context),
        build: impl FnOnce(&mut Builder) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let outer = self.context;
        change(&mut self.context);
        let result = build(self);
        self.context = outer;
        result
    }

    fn known(&self, graph: GraphId) -> Result<&Graph, Error> {
        let missing = || Error::NoSuch { what: "graph", index: graph.0.into(), graph: "the program".to_owned() };
        self.graphs.get(graph.index()).ok_or_else(missing)
    }

    fn tensor(&self, tensor: TensorRef) -> Result<&Tensor, Error> {
        self.known(tensor.graph)?.tensor(tensor.tensor).ok_or_else(|| self.no_such_tensor(tensor))
    }

    fn no_such_tensor(&self, tensor: TensorRef) -> Error {
        Error::NoSuch { what: "tensor", index: tensor.tensor.0.into(), graph: self.graph_name(tensor.graph) }
    }

    fn graph_name(&self, graph: GraphId) -> String {
        self.graphs.get(graph.index()).map(|graph| graph.name.clone()).unwrap_or_default()
    }

    fn name_of(&self, tensor: TensorRef) -> String {
        self.tensor(tensor).map(|tensor| tensor.name.clone()).unwrap_or_default()
    }

    /// Fails if a tensor does not belong to the current graph.
    fn check_here(&self, tensor: TensorRef) -> Result<(), Error> {
        self.tensor(tensor)?;
        if tensor.graph == self.context.graph {
            return Ok(());
        }
        Err(Error::OfAnotherGraph {
            tensor: self.name_of(tensor),
            owner: self.graph_name(tensor.graph),
            graph: self.graph_name(self.context.graph),
        })
    }

    fn check_can_change(&self, tensor: TensorRef) -> Result<(), Error> {
        match self.tensor(tensor)?.kind {
            TensorKind::Constant => Err(Error::ChangesConstant { tensor: self.name_of(tensor) }),
            _ => Ok(()),
        }
    }

    fn add_tensor(&mut self, graph: GraphId, name: &str, spec: &Spec, kind: TensorKind) -> Result<TensorRef, Error> {
        let name = self.unique_name(graph, name);
        let missing = Error::NoSuch { what: "graph", index: graph.0.into(), graph: "the program".to_owned() };
        let tensors = &mut self.graphs.get_mut(graph.index()).ok_or(missing)?.tensors;
        let tensor = TensorId::of(tensors.len()).ok_or(Error::TooMany { what: "tensors" })?;
        let (shape, data_type) = (Some(spec.shape.0.clone()), Some(spec.data_type));
        tensors.push(Tensor { name, shape, data_type, kind, ..Tensor::default() });
        Ok(TensorRef { graph, tensor })
    }

    fn unique_name(&mut self, graph: GraphId, name: &str) -> String {
        let Some(names) = self.names.get_mut(graph.index()) else { return name.to_owned() };
        let mut unique = name.to_owned();
        while let Some(count) = names.get_mut(&unique) {
            let suffixed = format!("{unique}__t{count}");
            *count = count.saturating_add(1);
            unique = suffixed;
        }
        names.insert(unique.clone(), 0);
        unique
    }

    /// Adds an op to the current graph, with new tensors as outputs.
    fn add_op(&mut self, mut op: Op, inputs: &[TensorRef], outputs: &[Spec]) -> Result<(OpId, Vec<TensorRef>), Error> {
        inputs.iter().try_for_each(|input| self.check_here(*input))?;
        let graph = self.context.graph;
        let name = format!("{}_out", op.op_type);
        let output = |spec: &Spec| self.add_tensor(graph, &name, spec, TensorKind::Activation);
        let outputs = outputs.iter().map(output).collect::<Result<Vec<_>, _>>()?;
        op.inputs = slots(inputs);
        op.outputs = slots(&outputs);
        (op.ipu, op.stage, op.phase) = (self.context.ipu, self.context.stage, self.context.phase);
        let id = OpId::of(self.known(graph)?.ops.len()).ok_or(Error::TooMany { what: "ops" })?;
        op.after = self.sequences.add(graph, id);
        if let Some(graph) = self.graphs.get_mut(graph.index()) {
            graph.ops.push(op);
        }
        Ok((id, outputs))
    }

    fn change_op(&mut self, graph: GraphId, op: OpId, change: impl FnOnce(&mut Op)) -> Result<(), Error> {
        let missing = Error::NoSuch { what: "op", index: op.0.into(), graph: self.graph_name(graph) };
        let found = self.graphs.get_mut(graph.index()).and_then(|graph| graph.ops.get_mut(op.index()));
        found.map(change).ok_or(missing)
    }
}

fn slots(tensors: &[TensorRef]) -> Vec<Slot> {
    (0..).zip(tensors).map(|(index, tensor)| Slot { index, tensor: tensor.tensor }).collect()
}

use popef::DataType;

use crate::Array;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index of the list that it belongs to.
            #[must_use]
            pub fn index(self) -> usize {
                // A list is never longer than memory, so an id that does not fit is in no list.
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }

            /// The id of a place in a list. `None` if there are too many.
            pub(crate) fn of(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map($name)
            }
        }
    };
}

id! {
    /// A graph of an [`Ir`]: an index of [`Ir::graphs`].
    GraphId
}
id! {
    /// A tensor of a [`Graph`]: an index of [`Graph::tensors`].
    TensorId
}
id! {
    /// An op of a [`Graph`]: an index of [`Graph::ops`].
    OpId
}

/// Graphs that call each other.
///
/// All ids in it are valid: [`Ir::new`] checks them, and nothing can be changed afterwards.
///
/// ```
/// use poplar_graph::{Calls, Graph, GraphId, Ir, Op, Order, op_type};
///
/// let mut main = Graph::new("maingraph");
/// let mut call = Op::new(op_type::LOOP);
/// call.calls = Calls::Repeat(GraphId(1), Some(3));
/// main.ops.push(call);
/// let ir = Ir::new(vec![main, Graph::new("body")], Some(GraphId(0)), Order::Schedule)?;
///
/// let callee = ir.graphs()[0].ops[0].calls.iter().next().unwrap();
/// assert_eq!((callee.graph, callee.times.most), (ir.find("body").unwrap(), Some(3)));
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Ir {
    pub(super) graphs: Vec<Graph>,
    pub(super) main: Option<GraphId>,
    pub(super) order: Order,
    pub(super) replication_factor: u32,
}

/// What the order of [`Graph::ops`] means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Order {
    /// The order in which the ops run is not known.
    #[default]
    Unknown,
    /// The ops run in this order.
    Schedule,
    /// The ops were created in this order. They run in any order that their data and [`Op::after`] allow. Each op comes after all that it
    /// needs.
    Creation,
}

/// A list of ops that can be called as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Graph {
    /// Its name: the id of PopART.
    pub name: String,
    /// The tensors that a caller provides, in the order of the caller's inputs.
    pub inputs: Vec<TensorId>,
    /// The tensors that a caller gets.
    pub outputs: Vec<TensorId>,
    /// All its tensors.
    pub tensors: Vec<Tensor>,
    /// All its ops. See [`Ir::order`].
    pub ops: Vec<Op>,
}

/// A tensor of a [`Graph`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The size of each dimension, if it is known.
    pub shape: Option<Vec<u64>>,
    /// The type of its elements, if it is known.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub data_type: Option<DataType>,
    /// The purpose of the tensor.
    pub kind: TensorKind,
    /// The value of a constant, or the first value of a variable, if it is known.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub value: Option<Array>,
    /// Which replicas have the same value of a variable. `None`: all of them.
    pub replicas: Option<ReplicaGrouping>,
}

/// The purpose of a [`Tensor`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum TensorKind {
    /// An input of a graph, or the result of an op.
    #[default]
    Activation,
    /// It keeps its value from one run of the program to the next.
    Variable,
    /// It never changes.
    Constant,
    /// A stream between the host and the device. [`Op`]s name it as the stream's tensor.
    Stream,
}

/// Replicas of a program in groups of the same size. Those of a group are `stride` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct ReplicaGrouping {
    /// The distance between two neighbours of a group.
    pub stride: u32,
    /// The number of replicas of a group.
    pub group_size: u32,
}

/// A step of a [`Graph`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Op {
    /// Its type: any text. Types with a meaning for this module are in [`op_type`].
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub op_type: String,
    /// Its name, which may be empty.
    pub name: String,
    /// The tensors that it uses.
    pub inputs: Vec<Slot>,
    /// The tensors that it makes.
    pub outputs: Vec<Slot>,
    /// The indices of inputs that it changes in place.
    pub modifies: Vec<u32>,
    /// The graphs that it calls.
    pub calls: Calls,
    /// The graph whose code it loads.
    pub loads: Option<CodeLoad>,
    /// Ops of the same graph that must run before it, besides those that make its inputs.
    pub after: Vec<OpId>,
    /// The IPU that it runs on.
    pub ipu: Option<i64>,
    /// Its pipeline stage.
    pub stage: Option<i64>,
    /// Its execution phase.
    pub phase: Option<i64>,
    /// All other attributes, in the order of the source.
    pub attributes: Vec<(String, String)>,
}

/// An input or output of an [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Slot {
    /// Which input or output. Indices are not always contiguous: an op may lack an optional input.
    pub index: u32,
    /// The tensor.
    pub tensor: TensorId,
}

/// The graphs that an [`Op`] calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Calls {
    /// No graph.
    #[default]
    None,
    /// One graph, once.
    Once(GraphId),
    /// One graph, this number of times. `None`: the number is unknown, and may be 0.
    Repeat(GraphId, Option<u64>),
    /// Exactly one of several graphs. A graph may be in the list twice.
    OneOf(Vec<GraphId>),
}

/// A graph's code that an [`Op`] loads from Streaming Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct CodeLoad {
    /// The graph.
    pub graph: GraphId,
    /// Where the code goes.
    pub destination: CodeLocation,
}

/// Where the code of a graph can be on an IPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum CodeLocation {
    /// The memory of tiles from which code runs.
    Executable,
    /// Memory of tiles for data. Code cannot run there.
    Buffer,
}

/// The [`Op::op_type`]s that this module itself makes and understands. They are PopART's.
pub mod op_type {
    /// Calls a graph once.
    pub const CALL: &str = "Call";
    /// Calls a graph several times: PopXL's `repeat`.
    pub const LOOP: &str = "Loop";
    /// Calls one of two graphs: PopXL's `conditional`.
    pub const IF: &str = "If";
    /// Loads the code of a graph.
    pub const REMOTE_CODE_LOAD: &str = "RemoteCodeLoad";
    /// Reads a stream from the host.
    pub const HOST_LOAD: &str = "HostLoad";
    /// Writes a stream to the host.
    pub const HOST_STORE: &str = "HostStore";
}

impl Calls {
    /// The graphs, each with the number of times that one run of the op calls it. A graph may come twice.
    pub fn iter(&self) -> impl Iterator<Item = Callee> + '_ {
        let (graphs, times): (&[GraphId], Times) = match self {
            Calls::None => (&[], Times::ONCE),
            Calls::Once(graph) => (std::slice::from_ref(graph), Times::ONCE),
            Calls::Repeat(graph, times) => (std::slice::from_ref(graph), Times::of(*times)),
            Calls::OneOf(graphs) if graphs.len() == 1 => (graphs, Times::ONCE),
            Calls::OneOf(graphs) => (graphs, Times { least: 0, most: Some(1) }),
        };
        graphs.iter().map(move |&graph| Callee { graph, times })
    }

    /// The same without a graph that is repeated zero times, and so is never called.
    pub(crate) fn called(&self) -> impl Iterator<Item = Callee> + '_ {
        self.iter().filter(|callee| callee.times.most != Some(0))
    }
}

/// A graph that an [`Op`] calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Callee {
    /// The graph.
    pub graph: GraphId,
    /// How many times one run of the op calls it.
    pub times: Times,
}

/// How many times something runs. A number that is too large is `u64::MAX`. The default is an unknown number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Times {
    /// The least number of times.
    pub least: u64,
    /// The greatest number of times, if it is known.
    pub most: Option<u64>,
}

impl Times {
    /// Exactly once.
    pub const ONCE: Times = Times { least: 1, most: Some(1) };
    /// Never.
    pub const NEVER: Times = Times { least: 0, most: Some(0) };

    fn of(times: Option<u64>) -> Self {
        Times { least: times.unwrap_or(0), most: times }
    }

    /// The number of times if each time consists of `each` times.
    #[must_use]
    pub fn times(self, each: Times) -> Self {
        let most = match (self.most, each.most) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (left, right) => left.zip(right).map(|(left, right)| left.saturating_mul(right)),
        };
        Times { least: self.least.saturating_mul(each.least), most }
    }

    /// The sum of both numbers of times.
    #[must_use]
    pub fn plus(self, other: Times) -> Self {
        let most = self.most.zip(other.most).map(|(left, right)| left.saturating_add(right));
        Times { least: self.least.saturating_add(other.least), most }
    }
}

impl Ir {
    /// All graphs, called or not.
    #[must_use]
    pub fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    /// All graphs with their ids.
    pub fn graph_ids(&self) -> impl ExactSizeIterator<Item = (GraphId, &Graph)> {
        self.graphs.iter().enumerate().map(|(at, graph)| (GraphId::of(at).unwrap_or_default(), graph))
    }

    /// A graph.
    #[must_use]
    pub fn graph(&self, id: GraphId) -> Option<&Graph> {
        self.graphs.get(id.index())
    }

    /// The graph with this name, the first if there are several.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<GraphId> {
        self.graphs.iter().position(|graph| graph.name == name).and_then(GraphId::of)
    }

    /// The graph that the program runs, if it is known.
    #[must_use]
    pub fn main(&self) -> Option<GraphId> {
        self.main
    }

    /// What the order of ops means.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// The number of copies of the program that run at the same time, each on IPUs of its own.
    #[must_use]
    pub fn replication_factor(&self) -> u32 {
        self.replication_factor
    }
}

impl Graph {
    /// A graph without tensors and ops.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Graph { name: name.into(), ..Graph::default() }
    }

    /// A tensor.
    #[must_use]
    pub fn tensor(&self, id: TensorId) -> Option<&Tensor> {
        self.tensors.get(id.index())
    }

    /// An op.
    #[must_use]
    pub fn op(&self, id: OpId) -> Option<&Op> {
        self.ops.get(id.index())
    }

    /// All ops with their ids.
    pub fn op_ids(&self) -> impl DoubleEndedIterator<Item = (OpId, &Op)> + ExactSizeIterator {
        self.ops.iter().enumerate().map(|(at, op)| (OpId::of(at).unwrap_or_default(), op))
    }
}

impl Tensor {
    /// The number of its elements, if its shape is known and the number fits.
    #[must_use]
    pub fn elements(&self) -> Option<u64> {
        self.shape.as_ref()?.iter().try_fold(1_u64, |product, &size| product.checked_mul(size))
    }

    /// The number of its bytes, if its shape and type are known.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(self.data_type?.size()?)
    }
}

impl Op {
    /// An op of a type, without inputs and outputs.
    #[must_use]
    pub fn new(op_type: impl Into<String>) -> Self {
        Op { op_type: op_type.into(), ..Op::default() }
    }

    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The tensor of an input.
    #[must_use]
    pub fn input(&self, index: u32) -> Option<TensorId> {
        self.inputs.iter().find(|slot| slot.index == index).map(|slot| slot.tensor)
    }

    /// The tensor of an output.
    #[must_use]
    pub fn output(&self, index: u32) -> Option<TensorId> {
        self.outputs.iter().find(|slot| slot.index == index).map(|slot| slot.tensor)
    }

    /// The graph whose code it loads to a place from which it can run.
    #[must_use]
    pub fn loads_executable(&self) -> Option<GraphId> {
        self.loads.filter(|load| load.destination == CodeLocation::Executable).map(|load| load.graph)
    }
}

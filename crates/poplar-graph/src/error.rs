use std::fmt;

use popef::DataType;

use crate::{Destination, Shape, Spec};

/// Why graphs cannot be put together, or cannot be run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// There is no such graph, tensor or op.
    NoSuch {
        /// What is missing: `graph`, `tensor`, `op`, `input`.
        what: &'static str,
        /// Its number.
        index: u64,
        /// The graph that should have it, or the name of the graph that names it.
        graph: String,
    },
    /// There are more graphs, tensors or ops than ids.
    TooMany {
        /// What there is too much of.
        what: &'static str,
    },
    /// The same programs are at more places than a small report is worth.
    TooManyPlaces,
    /// An op comes before one that it needs.
    BeforeItsNeeds {
        /// The graph.
        graph: String,
        /// The number of the op.
        op: u32,
    },
    /// The replication factor is zero, or does not fit the groups of replicas.
    Replication {
        /// The replication factor.
        factor: u32,
        /// The stride of the groups.
        stride: u32,
        /// The number of replicas in a group.
        group_size: u32,
    },
    /// An array has another number of elements than its shape.
    NumberOfElements {
        /// The shape.
        shape: Shape,
        /// The number of elements.
        given: usize,
    },
    /// A shape has more elements than memory.
    TooLarge {
        /// The shape.
        shape: Shape,
    },
    /// An element does not fit its type.
    OutOfRange {
        /// The element.
        value: i128,
        /// The type.
        data_type: DataType,
    },
    /// The interpreter does not calculate with such elements.
    NoArrayOf {
        /// The type.
        data_type: DataType,
    },
    /// A graph calls itself, maybe through others, or the main graph is called.
    CallsItself {
        /// The graph.
        graph: String,
    },
    /// A tensor is used outside of its graph.
    OfAnotherGraph {
        /// The tensor.
        tensor: String,
        /// Its graph.
        owner: String,
        /// The graph.
        graph: String,
    },
    /// A constant would be changed.
    ChangesConstant {
        /// The tensor.
        tensor: String,
    },
    /// The main graph would get an input.
    InputOfMain,
    /// Something of the main graph would be in another graph.
    OnlyInMain {
        /// What it is.
        what: &'static str,
    },
    /// A graph that is called would get another input or output.
    CalledAlready {
        /// The graph.
        graph: String,
    },
    /// A tensor is not an input of a call.
    NotAnInput {
        /// The tensor.
        tensor: String,
        /// The graph.
        graph: String,
    },
    /// An input of a graph is given twice.
    InputTwice {
        /// The tensor.
        tensor: String,
        /// The graph.
        graph: String,
    },
    /// A graph is called with too few or too many inputs.
    NumberOfInputs {
        /// The graph.
        graph: String,
        /// What is needed.
        needed: usize,
        /// What was given.
        given: usize,
    },
    /// A tensor has another shape or type than is needed.
    OtherSpec {
        /// What it is.
        what: String,
        /// What is needed.
        needed: Spec,
        /// What was given.
        given: Spec,
    },
    /// Two operands do not fit each other.
    DoNotFit {
        /// The op.
        op: &'static str,
        /// The first one.
        left: Spec,
        /// The second one.
        right: Spec,
    },
    /// An op cannot calculate with a type.
    NotForType {
        /// The op.
        op: &'static str,
        /// The type.
        data_type: DataType,
    },
    /// Dimensions cannot be put into this order.
    NoPermutation {
        /// The order.
        permutation: Vec<usize>,
        /// The number of dimensions.
        rank: usize,
    },
    /// A condition is not one truth value.
    NoCondition {
        /// What was given.
        given: Spec,
    },
    /// The two branches of an `if` make different tensors.
    BranchesDiffer {
        /// The first one.
        left: String,
        /// The second one.
        right: String,
    },
    /// A graph would be repeated 0 times.
    RepeatsNever,
    /// A graph with more outputs than inputs would be repeated.
    TooFewLoopInputs {
        /// The graph.
        graph: String,
        /// The number of its inputs.
        inputs: usize,
        /// The number of its outputs.
        outputs: usize,
    },
    /// A graph would load its own code.
    LoadsItself {
        /// The graph.
        graph: String,
    },
    /// There is no such destination of code.
    NoDestination {
        /// The name.
        name: String,
    },
    /// PopXL cannot load code to this place.
    DestinationNotSupported {
        /// The destination.
        destination: Destination,
    },
    /// A variable has not one value for each group of replicas.
    NoValueForEachGroup {
        /// The number of groups.
        groups: u32,
        /// The shape.
        shape: Shape,
    },
    /// The interpreter cannot run an op.
    NotRunnable {
        /// The op.
        op: String,
        /// Its type.
        op_type: String,
        /// The reason.
        why: &'static str,
    },
    /// A stream from the host has no more data.
    NoData {
        /// Its name.
        stream: String,
    },
    /// The main graph is not known.
    NoMain,
    /// The order in which ops run is not known.
    NoOrder,
    /// An output of a graph has no value.
    NoValue {
        /// The graph.
        graph: String,
    },
    /// A run takes too many steps or too much memory.
    TooMuch {
        /// What it is.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    /// The name of the problem, which never changes.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Error::NoSuch { .. } => "no-such",
            Error::TooMany { .. } => "too-many",
            Error::TooManyPlaces => "too-many-places",
            Error::BeforeItsNeeds { .. } => "before-its-needs",
            Error::Replication { .. } => "replication",
            Error::NumberOfElements { .. } => "number-of-elements",
            Error::TooLarge { .. } => "too-large",
            Error::OutOfRange { .. } => "out-of-range",
            Error::NoArrayOf { .. } => "no-array-of",
            Error::CallsItself { .. } => "calls-itself",
            Error::OfAnotherGraph { .. } => "of-another-graph",
            Error::ChangesConstant { .. } => "changes-constant",
            Error::InputOfMain => "input-of-main",
            Error::OnlyInMain { .. } => "only-in-main",
            Error::CalledAlready { .. } => "called-already",
            Error::NotAnInput { .. } => "not-an-input",
            Error::InputTwice { .. } => "input-twice",
            Error::NumberOfInputs { .. } => "number-of-inputs",
            Error::OtherSpec { .. } => "other-spec",
            Error::DoNotFit { .. } => "do-not-fit",
            Error::NotForType { .. } => "not-for-type",
            Error::NoPermutation { .. } => "no-permutation",
            Error::NoCondition { .. } => "no-condition",
            Error::BranchesDiffer { .. } => "branches-differ",
            Error::RepeatsNever => "repeats-never",
            Error::TooFewLoopInputs { .. } => "too-few-loop-inputs",
            Error::LoadsItself { .. } => "loads-itself",
            Error::NoDestination { .. } => "no-destination",
            Error::DestinationNotSupported { .. } => "destination-not-supported",
            Error::NoValueForEachGroup { .. } => "no-value-for-each-group",
            Error::NotRunnable { .. } => "not-runnable",
            Error::NoData { .. } => "no-data",
            Error::NoMain => "no-main",
            Error::NoOrder => "no-order",
            Error::NoValue { .. } => "no-value",
            Error::TooMuch { .. } => "too-much",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSuch { what, index, graph } => write!(f, "there is no {what} {index} in the graph {graph:?}"),
            Error::TooMany { what } => write!(f, "there are too many {what}: at most {} are possible", u32::MAX),
            Error::TooManyPlaces => f.write_str("the same programs are at too many places"),
            Error::BeforeItsNeeds { graph, op } => {
                write!(f, "op {op} of the graph {graph:?} needs one that comes behind it")
            }
            Error::Replication { factor, stride, group_size } => write!(
                f,
                "groups of {group_size} replicas with stride {stride} do not fit the replication factor {factor}"
            ),
            Error::NumberOfElements { shape, given } => {
                write!(f, "an array of shape {shape} was given {given} elements")
            }
            Error::TooLarge { shape } => write!(f, "an array of shape {shape} does not fit memory"),
            Error::OutOfRange { value, data_type } => write!(f, "{value} does not fit {data_type}"),
            Error::NoArrayOf { data_type } => {
                write!(f, "the interpreter calculates with F32, integers and BOOL, not with {data_type}")
            }
            Error::CallsItself { graph } => {
                write!(f, "the graph {graph:?} cannot be called from here: it would call itself")
            }
            Error::OfAnotherGraph { tensor, owner, graph } => write!(
                f,
                "the tensor {tensor:?} is of the graph {owner:?}; the graph {graph:?} can get it only as an input"
            ),
            Error::ChangesConstant { tensor } => write!(f, "the constant {tensor:?} cannot be changed"),
            Error::InputOfMain => f.write_str("the main graph has no inputs; use a stream or a variable"),
            Error::OnlyInMain { what } => {
                write!(f, "{what} can be only in the main graph; other graphs get it as an input")
            }
            Error::CalledAlready { graph } => {
                write!(f, "the graph {graph:?} is called already, so its inputs and outputs cannot change")
            }
            Error::NotAnInput { tensor, graph } => {
                write!(f, "the tensor {tensor:?} is not an input of the call of {graph:?}")
            }
            Error::InputTwice { tensor, graph } => {
                write!(f, "the input {tensor:?} of the graph {graph:?} is given twice")
            }
            Error::NumberOfInputs { graph, needed, given } => {
                write!(f, "the graph {graph:?} needs {needed} inputs and was given {given}")
            }
            Error::OtherSpec { what, needed, given } => write!(f, "{what:?} needs {needed}, and was given {given}"),
            Error::DoNotFit { op, left, right } => write!(f, "{op} cannot combine {left} and {right}"),
            Error::NotForType { op, data_type } => write!(f, "{op} cannot calculate with {data_type}"),
            Error::NoPermutation { permutation, rank } => {
                write!(f, "{permutation:?} is not an order of {rank} dimensions")
            }
            Error::NoCondition { given } => write!(f, "a condition is one BOOL, not {given}"),
            Error::BranchesDiffer { left, right } => {
                write!(f, "the branches {left:?} and {right:?} have outputs of different number, shape or type")
            }
            Error::RepeatsNever => f.write_str("a graph cannot be repeated 0 times; the count must be at least 1"),
            Error::TooFewLoopInputs { graph, inputs, outputs } => write!(
                f,
                "the graph {graph:?} cannot be repeated: it has {outputs} outputs, which become its inputs, and only {inputs} inputs"
            ),
            Error::LoadsItself { graph } => write!(f, "the graph {graph:?} cannot load its own code"),
            Error::NoDestination { name } => write!(f, "there is no code location {name:?}; use executable"),
            Error::DestinationNotSupported { destination } => {
                write!(f, "code cannot be loaded to {}; use executable", destination.name())
            }
            Error::NoValueForEachGroup { groups, shape } => write!(
                f,
                "values for {groups} groups of replicas have {groups} as their first dimension, not the shape {shape}"
            ),
            Error::NotRunnable { op, op_type, why } => write!(f, "cannot run {op} of type {op_type:?}: {why}"),
            Error::NoData { stream } => write!(f, "the stream {stream:?} has no more data; feed it more tensors"),
            Error::NoMain => f.write_str("the main graph is not known, so there is nothing to run"),
            Error::NoOrder => f.write_str("the order in which ops run is not known"),
            Error::NoValue { graph } => write!(f, "an output of the graph {graph:?} has no value when the graph ends"),
            Error::TooMuch { what, limit } => write!(f, "the run takes more than {limit} {what}; raise the limit"),
        }
    }
}

impl std::error::Error for Error {}

use popef::DataType;
use popef::seam::errors;

use crate::{Destination, Shape, Spec};

errors! {
    /// Why graphs cannot be put together, or cannot be run.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Error {
        /// There is no such graph, tensor or op.
        NoSuch { what: &'static str, index: u64, graph: String } = "no-such",
            "there is no {what} {index} in the graph {graph:?}";
        /// There are more graphs, tensors or ops than ids.
        TooMany { what: &'static str } = "too-many", "there are too many {what}: at most {} are possible", u32::MAX;
        /// The same programs are at more places than a small report is worth.
        TooManyPlaces = "too-many-places", "the same programs are at too many places";
        /// An op comes before one that it needs.
        BeforeItsNeeds { graph: String, op: u32 } = "before-its-needs",
            "op {op} of the graph {graph:?} needs one that comes behind it";
        /// The replication factor is zero, or does not fit the groups of replicas.
        Replication { factor: u32, stride: u32, group_size: u32 } = "replication",
            "groups of {group_size} replicas with stride {stride} do not fit the replication factor {factor}";
        /// An array has another number of elements than its shape.
        NumberOfElements { shape: Shape, given: usize } = "number-of-elements",
            "an array of shape {shape} was given {given} elements";
        /// A shape has more elements than memory.
        TooLarge { shape: Shape } = "too-large", "an array of shape {shape} does not fit memory";
        /// An element does not fit its type.
        OutOfRange { value: i128, data_type: DataType } = "out-of-range", "{value} does not fit {data_type}";
        /// The interpreter does not calculate with such elements.
        NoArrayOf { data_type: DataType } = "no-array-of",
            "the interpreter calculates with F32, integers and BOOL, not with {data_type}";
        /// A graph calls itself, maybe through others, or the main graph is called.
        CallsItself { graph: String } = "calls-itself",
            "the graph {graph:?} cannot be called from here: it would call itself";
        /// A tensor is used outside of its graph.
        OfAnotherGraph { tensor: String, owner: String, graph: String } = "of-another-graph",
            "the tensor {tensor:?} is of the graph {owner:?}; the graph {graph:?} can get it only as an input";
        /// A constant would be changed.
        ChangesConstant { tensor: String } = "changes-constant", "the constant {tensor:?} cannot be changed";
        /// The main graph would get an input.
        InputOfMain = "input-of-main", "the main graph has no inputs; use a stream or a variable";
        /// Something of the main graph would be in another graph.
        OnlyInMain { what: &'static str } = "only-in-main",
            "{what} can be only in the main graph; other graphs get it as an input";
        /// A graph that is called would get another input or output.
        CalledAlready { graph: String } = "called-already",
            "the graph {graph:?} is called already, so its inputs and outputs cannot change";
        /// A tensor is not an input of a call.
        NotAnInput { tensor: String, graph: String } = "not-an-input",
            "the tensor {tensor:?} is not an input of the call of {graph:?}";
        /// An input of a graph is given twice.
        InputTwice { tensor: String, graph: String } = "input-twice",
            "the input {tensor:?} of the graph {graph:?} is given twice";
        /// A graph is called with too few or too many inputs.
        NumberOfInputs { graph: String, needed: usize, given: usize } = "number-of-inputs",
            "the graph {graph:?} needs {needed} inputs and was given {given}";
        /// A tensor has another shape or type than is needed.
        OtherSpec { what: String, needed: Spec, given: Spec } = "other-spec",
            "{what:?} needs {needed}, and was given {given}";
        /// Two operands do not fit each other.
        DoNotFit { op: &'static str, left: Spec, right: Spec } = "do-not-fit", "{op} cannot combine {left} and {right}";
        /// An op cannot calculate with a type.
        NotForType { op: &'static str, data_type: DataType } = "not-for-type", "{op} cannot calculate with {data_type}";
        /// Dimensions cannot be put into this order.
        NoPermutation { permutation: Vec<usize>, rank: usize } = "no-permutation",
            "{permutation:?} is not an order of {rank} dimensions";
        /// A condition is not one truth value.
        NoCondition { given: Spec } = "no-condition", "a condition is one BOOL, not {given}";
        /// The two branches of an `if` make different tensors.
        BranchesDiffer { left: String, right: String } = "branches-differ",
            "the branches {left:?} and {right:?} have outputs of different number, shape or type";
        /// A graph would be repeated 0 times.
        RepeatsNever = "repeats-never", "a graph cannot be repeated 0 times; the count must be at least 1";
        /// A graph with more outputs than inputs would be repeated.
        TooFewLoopInputs { graph: String, inputs: usize, outputs: usize } = "too-few-loop-inputs",
            "the graph {graph:?} cannot be repeated: it has {outputs} outputs, which become its inputs, and only {inputs} inputs";
        /// A graph would load its own code.
        LoadsItself { graph: String } = "loads-itself", "the graph {graph:?} cannot load its own code";
        /// There is no such destination of code.
        NoDestination { name: String } = "no-destination", "there is no code location {name:?}; use executable";
        /// PopXL cannot load code to this place.
        DestinationNotSupported { destination: Destination } = "destination-not-supported",
            "code cannot be loaded to {}; use executable", destination.name();
        /// A variable has not one value for each group of replicas.
        NoValueForEachGroup { groups: u32, shape: Shape } = "no-value-for-each-group",
            "values for {groups} groups of replicas have {groups} as their first dimension, not the shape {shape}";
        /// The interpreter cannot run an op.
        NotRunnable { op: String, op_type: String, why: &'static str } = "not-runnable",
            "cannot run {op} of type {op_type:?}: {why}";
        /// A stream from the host has no more data.
        NoData { stream: String } = "no-data", "the stream {stream:?} has no more data; feed it more tensors";
        /// The main graph is not known.
        NoMain = "no-main", "the main graph is not known, so there is nothing to run";
        /// The order in which ops run is not known.
        NoOrder = "no-order", "the order in which ops run is not known";
        /// An output of a graph has no value.
        NoValue { graph: String } = "no-value", "an output of the graph {graph:?} has no value when the graph ends";
        /// A run takes too many steps or too much memory.
        TooMuch { what: &'static str, limit: u64 } = "too-much",
            "the run takes more than {limit} {what}; raise the limit";
    }
}

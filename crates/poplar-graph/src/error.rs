use popef::DataType;
use popef::seam::errors;

use crate::{Destination, Shape, Spec};

errors! {
    /// Why graphs cannot be put together, or cannot be run.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Error {
        NoSuch { what: &'static str, index: u64, graph: String } = "no-such",
            "there is no {what} {index} in the graph {graph:?}";
        TooMany { what: &'static str } = "too-many", "there are too many {what}: at most {} are possible", u32::MAX;
        TooManyPlaces = "too-many-places", "the same programs are at too many places";
        BeforeItsNeeds { graph: String, op: u32 } = "before-its-needs",
            "op {op} of the graph {graph:?} needs one that comes after it";
        Replication { factor: u32, stride: u32, group_size: u32 } = "replication",
            "groups of {group_size} replicas with stride {stride} do not fit the replication factor {factor}";
        NumberOfElements { shape: Shape, given: usize } = "number-of-elements",
            "an array of shape {shape} was given {given} elements";
        TooLarge { shape: Shape } = "array-too-large", "an array of shape {shape} does not fit memory";
        OutOfRange { value: i128, data_type: DataType } = "value-out-of-range", "{value} does not fit {data_type}";
        NoArrayOf { data_type: DataType } = "no-array-of",
            "the interpreter calculates with F32, integers and BOOL, not with {data_type}";
        CallsItself { graph: String } = "calls-itself",
            "the graph {graph:?} cannot be called from here: it would call itself";
        OfAnotherGraph { tensor: String, owner: String, graph: String } = "of-another-graph",
            "the tensor {tensor:?} is of the graph {owner:?}; the graph {graph:?} can get it only as an input";
        ChangesConstant { tensor: String } = "changes-constant", "the constant {tensor:?} cannot be changed";
        InputOfMain = "input-of-main", "the main graph has no inputs; use a stream or a variable";
        OnlyInMain { what: &'static str } = "only-in-main",
            "{what} can be only in the main graph; other graphs get it as an input";
        CalledAlready { graph: String } = "called-already",
            "the graph {graph:?} is called already, so its inputs and outputs cannot change";
        NotAnInput { tensor: String, graph: String } = "not-an-input",
            "the tensor {tensor:?} is not an input of the call of {graph:?}";
        InputTwice { tensor: String, graph: String } = "input-twice",
            "the input {tensor:?} of the graph {graph:?} is given twice";
        NumberOfInputs { graph: String, needed: usize, given: usize } = "number-of-inputs",
            "the graph {graph:?} needs {needed} inputs and was given {given}";
        OtherSpec { what: String, needed: Spec, given: Spec } = "other-spec",
            "{what:?} needs {needed}, and was given {given}";
        DoNotFit { op: &'static str, left: Spec, right: Spec } = "do-not-fit", "{op} cannot combine {left} and {right}";
        NotForType { op: &'static str, data_type: DataType } = "not-for-type", "{op} cannot calculate with {data_type}";
        NoPermutation { permutation: Vec<usize>, rank: usize } = "no-permutation",
            "{permutation:?} is not an order of {rank} dimensions";
        NoCondition { given: Spec } = "no-condition", "a condition is one BOOL, not {given}";
        BranchesDiffer { left: String, right: String } = "branches-differ",
            "the branches {left:?} and {right:?} have outputs of different number, shape or type";
        RepeatsNever = "repeats-never", "a graph cannot be repeated 0 times; the count must be at least 1";
        TooFewLoopInputs { graph: String, inputs: usize, outputs: usize } = "too-few-loop-inputs",
            "the graph {graph:?} cannot be repeated: it has {outputs} outputs, which become its inputs, and only {inputs} inputs";
        LoadsItself { graph: String } = "loads-itself", "the graph {graph:?} cannot load its own code";
        NoDestination { name: String } = "no-destination", "there is no code location {name:?}; use executable";
        DestinationNotSupported { destination: Destination } = "destination-not-supported",
            "code cannot be loaded to {}; use executable", destination.name();
        NoValueForEachGroup { groups: u32, shape: Shape } = "no-value-for-each-group",
            "values for {groups} groups of replicas have {groups} as their first dimension, not the shape {shape}";
        NotRunnable { op: String, op_type: String, why: &'static str } = "not-runnable",
            "cannot run {op} of type {op_type:?}: {why}";
        NoData { stream: String } = "no-data", "the stream {stream:?} has no more data; feed it more tensors";
        NoMain = "no-main", "the main graph is not known, so there is nothing to run";
        NoOrder = "no-order", "the order in which ops run is not known";
        NoValue { graph: String } = "no-value", "an output of the graph {graph:?} has no value when the graph ends";
        TooMuch { what: &'static str, limit: u64 } = "too-much",
            "the run takes more than {limit} {what}; raise the limit";
    }
}

use std::fmt;

use popef::DataType;

use super::Shape;

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
}

impl Error {
    /// The name of the problem, which never changes.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Error::NoSuch { .. } => "no-such",
            Error::TooMany { .. } => "too-many",
            Error::BeforeItsNeeds { .. } => "before-its-needs",
            Error::Replication { .. } => "replication",
            Error::NumberOfElements { .. } => "number-of-elements",
            Error::TooLarge { .. } => "too-large",
            Error::OutOfRange { .. } => "out-of-range",
            Error::NoArrayOf { .. } => "no-array-of",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSuch { what, index, graph } => write!(f, "there is no {what} {index} in the graph {graph:?}"),
            Error::TooMany { what } => write!(f, "there are too many {what}: at most {} are possible", u32::MAX),
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
        }
    }
}

impl std::error::Error for Error {}

//! The memory of tiles.

use super::matrix::Matrix;

/// `memory`: the memory of all tiles. The compiler allocates all of it. For a replicated graph, it is that of one replica.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Memory {
    /// `byTile`: the memory of each tile.
    pub by_tile: Option<ByTile>,
    /// `byCategory`: what the memory is used for.
    pub by_category: Vec<Category>,
    /// `byComputeSet`: what belongs to each compute set. Compute sets share code, so that it cannot be summed up.
    pub by_compute_set: Option<Parts>,
    /// `byVertexType`: what belongs to each vertex type.
    pub by_vertex_type: Option<Parts>,
    /// `liveness`: when variables are needed. The document of the format only mentions it; this is what programs read from it.
    pub liveness: Option<Liveness>,
}

/// The memory of each tile. A list that the file does not have is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByTile {
    /// Bytes in interleaved memory.
    pub interleaved: Vec<u64>,
    /// From the start of interleaved memory to the last byte used there.
    pub interleaved_including_gaps: Vec<u64>,
    /// Bytes in memory that is not interleaved.
    pub non_interleaved: Vec<u64>,
    /// From the start of that memory to the last byte used there.
    pub non_interleaved_including_gaps: Vec<u64>,
    /// Bytes that do not fit.
    pub overflowed: Vec<u64>,
    /// Bytes that do not fit, with the gaps between them.
    pub overflowed_including_gaps: Vec<u64>,
    /// The sum of the bytes in all three.
    pub total: Vec<u64>,
    /// The memory that each tile needs. It is not a sum, because the gaps between the regions count too.
    pub total_including_gaps: Vec<u64>,
}

/// A category of memory.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Category {
    /// Its name, such as `vertexCode`. The document lists those of [`CATEGORIES`]; others are kept.
    pub name: Box<str>,
    /// What is in interleaved memory.
    pub interleaved: Overlap,
    /// What is in other memory.
    pub non_interleaved: Overlap,
    /// What does not fit.
    pub overflowed: Overlap,
    /// The bytes on each tile. If the file does not have them, they are the sums of the regions.
    pub total: Vec<u64>,
}

/// Bytes on all tiles of a category in a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Overlap {
    /// Bytes that one variable uses.
    pub non_overlapped: u64,
    /// Bytes that several variables use, which are not live at the same time.
    pub overlapped: u64,
}

/// The categories that the document of the format lists, and what each is.
pub const CATEGORIES: [(&str, &str); 25] = [
    ("constant", "constants that the user added"),
    ("controlCode", "code of programs, and for running compute sets"),
    ("controlId", "numbers of programs and synchronisations"),
    ("controlTable", "the table of vertices of each compute set, if the table scheduler is used"),
    ("copyDescriptor", "descriptors of copies, which vertices that copy have"),
    ("globalExchangeCode", "code of exchanges between IPUs"),
    ("globalExchangePacketHeader", "headers of packets between IPUs"),
    ("globalMessage", "messages between IPUs"),
    ("hostExchangeCode", "code of exchanges with the host"),
    ("hostExchangePacketHeader", "headers of packets to the host"),
    ("hostMessage", "messages to and from the host"),
    ("instrumentationResults", "what is measured for profiles"),
    ("internalExchangeCode", "code of exchanges between tiles"),
    ("message", "messages between tiles"),
    ("multiple", "bytes that variables of several categories share"),
    ("outputEdge", "output of vertices before an exchange"),
    ("rearrangement", "tensors whose data is rearranged"),
    ("sharedCodeStorage", "code that vertices share"),
    ("sharedDataStorage", "data that vertices share"),
    ("stack", "stacks of workers and the supervisor"),
    ("variable", "variables"),
    ("vectorListDescriptor", "the data of lists of vectors in vertices"),
    ("vertexCode", "code of vertices"),
    ("vertexFieldData", "fields of vertices whose size varies"),
    ("vertexInstanceState", "instances of vertex classes"),
];

/// What belongs to compute sets or vertex types, by these and tile.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Parts {
    /// Code.
    pub code_bytes: Option<Matrix>,
    /// Pointers for copies.
    pub copy_ptr_bytes: Option<Matrix>,
    /// Descriptors.
    pub descriptor_bytes: Option<Matrix>,
    /// Pointers to edges.
    pub edge_ptr_bytes: Option<Matrix>,
    /// Padding.
    pub padding_bytes: Option<Matrix>,
    /// The state of vertices.
    pub vertex_data_bytes: Option<Matrix>,
    /// The sum of all these.
    pub total_bytes: Option<Matrix>,
}

/// When variables are needed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Liveness {
    /// `alwaysLive.bytesByTile`: the bytes on each tile that are always needed.
    pub always_live_by_tile: Vec<u64>,
    /// `notAlwaysLive.maxBytesByTile`: the maximum of the other bytes on each tile, each tile at its own moment.
    pub max_not_always_live_by_tile: Vec<u64>,
    /// `notAlwaysLive.byProgram`: a tree for each control program. A node comes before its children.
    pub by_program: Vec<LiveNode>,
}

/// A program in the tree of liveness, with the bytes on all tiles that are live during it and not always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveNode {
    /// The bytes.
    pub bytes: u64,
    /// The number of the node that it is in.
    pub parent: Option<u32>,
    /// The number of this child in its parent, or of this tree.
    pub child: u32,
}

//! Poplar's profiling reports: why a model is slow, or does not fit.
//!
//! Poplar (SDK 2.1 and earlier) writes a graph profile once a graph is compiled, and an execution profile once it ran, as JSON or
//! CBOR. Newer versions write another format, which is not public.
//!
//! The work has stages, each of which knows only the one before it:
//!
//! ```text
//! document ──► Report::read ──► GraphProfile      ──► analysers ──► plain, serialisable results
//!                               ExecutionProfile                      │
//!                                                                     └──► propose ──► findings
//! ```
//!
//! - [`Report::read`] reads a document once from front to back. Most of a report are lists by compute set, exchange or vertex type and by
//!   tile. It keeps only their sums, or what [`ReadOptions`] ask for.
//!
//! # What is followed
//!
//! The format follows the chapter on profiling data in Poplar's user guide. `liveness` and a few other things follow public programs
//! that read reports. No whole report of Poplar is public, so this is tested with synthetic reports. Where the chapter leaves a
//! definition open, the documentation of a field or function says which reading it takes.
//!
//! # What is odd
//!
//! Unknown keys, types and categories, missing sections, and sums that do not agree are [`Remarks`]. Damage and contradictions
//! are an [`Error`], with the JSON path and the byte.

mod analyse;
mod check;
mod diff;
mod document;
mod execution;
mod graph;
mod lengths;
mod matrix;
mod memory;
mod order;
mod problem;
mod program;
mod propose;
mod read;
mod steps;
mod summary;

pub use analyse::compute_sets::{ComputeSetRow, compute_sets};
pub use analyse::consistency::{Compared, Consistency, Difference, Number, consistency};
pub use analyse::exchanges::{ExchangeBytes, ExchangeRow, ExchangeSums, ExchangeTotals, exchange_totals, exchanges};
pub use analyse::facts::{Facts, MemoryFacts, facts};
pub use analyse::liveness::{LivenessSums, PeakPath, PeakSteps, liveness};
pub use analyse::memory::{
    Bucket, CategoryBytes, CategoryRow, CategorySums, MemorySums, OverMemory, Regions, TileBytes, TileRow,
    TileStatistics, categories, histogram, memory, tiles,
};
pub use analyse::overlap::{CopyOverlap, copy_overlap};
pub use analyse::programs::{
    ProgramCounts, ProgramRow, TraceStyle, exchange_code, program_counts, program_tree, trace_style,
};
pub use analyse::select::{Row, Selection, Sort};
pub use analyse::steps::{
    BalanceSource, BusiestTile, ExecutionSums, HeavyStep, LayerRow, SimulationSums, StepBalance, StepBalances, StepRow,
    StepTypeSums, TopStep, execution, items_per_second, layers, seconds, steps,
};
pub use analyse::timeline::{Activity, Slice, TimelineEvent, TimelineSums, timeline};
pub use analyse::vertex_types::{VertexTypeRow, vertex_types};
pub use diff::{
    DiffSubject, DiffTolerance, DiffUnit, DiffValue, DifferentTiles, NotCompared, ProfileDiff, ProfileDifference,
    ProfileVerdict, profile_diff,
};
pub use execution::{ExecutionProfile, MODES, Simulation, VertexCycles};
pub use graph::{
    ComputeSets, CycleEstimates, Exchanges, GraphCounts, GraphProfile, Target, TypeCycles, VertexCount, VertexTypes,
};
pub use matrix::{Matrix, RowSums};
pub use memory::{ByTile, CATEGORIES, Category, LiveNode, Liveness, Memory, Overlap, Parts};
pub use problem::{Error, ErrorKind, Remark, Remarks};
pub use program::{ExchangeKind, Instructions, Program, ProgramKind, StepKind};
pub use propose::{Policy, parse_bytes, propose, rule, rules};
pub use read::{ReadOptions, Report};
pub use steps::{Step, Steps, StepsIter};
pub use summary::{Summary, summary};

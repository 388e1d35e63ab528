//! Programs for IPUs as graphs that call each other.
//!
//! A program has a main graph, which calls other graphs, which call others. An [`Ir`] is such a program as a plain value: graphs
//! with their tensors and ops. It does not say how the graphs were written. The crate depends on none of Graphcore's software.
//!
//! - [`Builder`] writes programs as PopXL does, and [`Interpreter`] runs them on the host.
//! - [`CallGraph`]: who calls whom and how often, recursion, graphs that are never called.
//! - [`OpCounts`] and [`Parameters`]: ops by type and place, variables by size.
//! - [`CodeLiveness`]: when the code of graphs must be on the tiles, if ops load it from Streaming Memory. [`Schedule`] shows the same step
//!   by step.
//! - [`IrDiff`]: how two programs differ.
//! - With the feature `json`, `IrDump` reads the graphs that PopART dumps. Its format follows PopART's public source; no dump of a
//!   real model is public.
//! - With the feature `profile`, `Ir::from_profile` makes graphs of the programs of a profiling report that the crate `poplar-inspect`
//!   read.
//!
//! # What is followed
//!
//! Meanings are those of Graphcore's PopXL and PopART, as its user guide describes them.
//!
//! No input makes the crate panic, loop forever, or take more memory than its documentation says.

#![forbid(unsafe_code, reason = "nothing here needs it")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic, and a length from a file is a claim"
    )
)]

mod arithmetic;
mod array;
mod builder;
mod call_graph;
mod compare;
mod counts;
mod error;
mod interpret;
mod ir;
#[cfg(feature = "json")]
mod ir_dump;
mod liveness;
#[cfg(feature = "profile")]
mod profile;
mod shape;
mod table;
mod validity;

pub use arithmetic::{Binary, Unary};
pub use array::{Array, Elements};
pub use builder::{Builder, CallSiteInfo, Destination, Inputs, Module, Outputs, Sequence, Stream, TensorRef};
pub use call_graph::{CallGraph, CallRow, CallSite, Called};
pub use compare::{GraphDiff, IrDiff, OpChange, OpDiff, OpName, OpTypeDiff, TensorDiff, TensorInfo};
pub use counts::{NumberCount, OpCounts, Parameter, Parameters, TypeCount};
pub use error::Error;
pub use interpret::{Interpreter, RunLimits};
pub use ir::{
    Callee, Calls, CodeLoad, CodeLocation, Graph, GraphId, Ir, Op, OpId, Order, ReplicaGrouping, Slot, Tensor,
    TensorId, TensorKind, Times, op_type,
};
#[cfg(feature = "json")]
pub use ir_dump::{DumpFacts, DumpParameter, IrDump, Note, NoteKind};
pub use liveness::{
    Border, Cell, CodeLiveness, CodeState, Finding, FindingId, GraphCode, Schedule, ScheduleRow, Span, Unknown,
};
pub use shape::{Shape, Spec};

//! How the graphs of a program call each other.
//!
//! A program for IPUs has a main graph, which calls other graphs, which call others. An [`Ir`] is such a program as a plain
//! value: graphs with their tensors and ops. It says nothing about how the graphs were written.
//!
//! # What is followed
//!
//! Meanings are those of Graphcore's PopXL and PopART, as its user guide describes them.

mod array;
mod error;
mod ir;
mod validity;

pub use array::{Array, Elements, Shape};
pub use error::Error;
pub use ir::{
    Callee, Calls, CodeLoad, CodeLocation, Graph, GraphId, Ir, Op, OpId, Order, ReplicaGrouping, Slot, Tensor,
    TensorId, TensorKind, Times, op_type,
};

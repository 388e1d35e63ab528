//! How tensors are spread over the tiles of IPUs.
//!
//! A tensor in the memory of IPUs is spread over tiles. Its [`Mapping`] says which elements are on which tile. Graphcore's
//! library poplibs has functions that make and judge mappings (its header `poputil/TileMapping.hpp`), and programs that were
//! compiled with it have its mappings. This module has the same functions, without the SDK or a device:
//!
//! - [`calc_linear_tile_mapping`] and its variants spread a tensor evenly, by grain, least number of elements, offset and
//!   direction. [`Target::linear`] has the defaults of a type. [`split_regions`] is underneath.
//! - [`tile_imbalance`], [`dim_is_split_over_tiles`] and [`dim_is_split_over_ipus`] judge a mapping.
//! - [`clone_to_ipu`], [`clone_to_graph`], [`clone_and_expand_aliasing`] and [`copy_to_ipu`] map a copy like its original.
//! - [`TensorUseTracker`] maps elements onto tiles that use them, and [`create_broadcast_operand`] does so for an operand.
//! - With the feature `json`, `TensorMap` reads the mappings that TensorFlow writes, and `LoweredVars` the memory of tiles that Poplar
//!   writes. No sample of such files is public as a whole: the readers follow the code and the documents that describe them.
//!
//! Mappings are lists of intervals, and all work is done by intervals: a tensor of 10⁹ elements costs no more than its mapping
//! has intervals.
//!
//! # What is followed
//!
//! Semantics are those of poplibs' code. Where its documentation says something else, the function's own documentation here says both.
//! Where poplibs depends on closed libraries (simplification of views, vector widths), functions have a parameter or say that the answer is
//! unknown. Sums have 64 bits, where poplibs has 32, and overflow is an [`Error`].

mod clone;
mod dimension;
mod error;
mod graph;
mod interval;
mod linear;
mod mapping;
#[cfg(feature = "json")]
mod read_error;
mod split;
#[cfg(feature = "json")]
mod tensor_map;
#[cfg(feature = "json")]
mod tile_memory;
mod tracker;
#[cfg(feature = "json")]
mod vars;

pub use clone::{IpuCopy, Transfer, clone_and_expand_aliasing, clone_to_graph, clone_to_ipu, copy_to_ipu};
pub use dimension::{create_broadcast_operand, dim_is_split_over_ipus, dim_is_split_over_tiles};
pub use error::Error;
pub use graph::{Graph, Target, Variable, element_type_of_poplar};
pub use interval::Interval;
pub use linear::{
    DEFAULT_SEED, Linear, Order, calc_linear_tile_mapping, calc_linear_tile_mapping_and_new_offset,
    choose_mapping_offset, fullest_of_linear, inv_transform_tile_index, linear_counts, number_of_elements,
    tile_imbalance, transform_tile_index,
};
pub use mapping::{Mapping, OnTile};
#[cfg(feature = "json")]
pub use read_error::{ReadError, ReadErrorKind};
pub use split::{Split, split_regions};
#[cfg(feature = "json")]
pub use tensor_map::{Balance, Computation, MappedTensor, TensorMap};
#[cfg(feature = "json")]
pub use tile_memory::TileMemory;
pub use tracker::{Method, Resolve, TensorUseTracker};
#[cfg(feature = "json")]
pub use vars::{LoweredVar, LoweredVars};

//! Read and write PopEF files: compiled models for Graphcore IPUs.
//!
//! PopEF, the Poplar Exchange Format, is the file format in which models compiled for IPUs are shipped. This crate
//! opens PopEF files of any size, walks their blobs, and gives every field and every element, without needless copies.
//! Damaged and hostile files give errors, never a panic. The crate also writes such files.
//!
//! # What a PopEF file is
//!
//! A PopEF file is a list of blobs, one after the other, with nothing before, between or after them:
//!
//! ```text
//! file   ┌──────────────────┬──────────────────┬────────────────────────────┬──────────────
//!        │ blob 0           │ blob 1           │ blob 2                     │ ...
//!        └──────────────────┴──────────────────┴────────────────────────────┴──────────────
//! blob   ┌────────┬──────┬──────┐
//!        │ header │ info │ data │    header: version, type, and the size of the whole blob
//!        └────────┴──────┴──────┘    info:   fields that depend on the type of the blob
//!                                    data:   the rest of the blob
//! ```
//!
//! | type | info says | data is |
//! |---|---|---|
//! | [executable](read::ExecutableBlob) | name, whether it is compressed, unpacked size | what the IPUs run |
//! | [metadata](read::MetadataBlob) | how to load and run an executable: IPUs, programs, options, and the *anchors*, its inputs and outputs | nothing |
//! | [tensor](read::TensorBlob) | name, shape, element type | one tensor: usually a weight |
//! | [feed](read::FeedBlob) | name, shape, element type, number of tensors | several tensors for one input |
//! | [opaque](read::OpaqueBlob) | name, executable | what only the framework that wrote it can read |
//!
//! Blobs refer to each other by name, also across files: a model's weights can be in a separate file. Header and info
//! are Cap'n Proto messages. The repository's `docs/FORMAT.md` describes every byte.
//!
//! # Opening a file
//!
//! [`File::open`] reads headers and infos at once, and data only on request. This is safe even if other programs change
//! the file meanwhile, and it takes little memory for files of any size.
//!
//! ```
//! use popef::File;
//!
//! let file = File::open("examples/data/executable.popef")?;
//! for blob in file.blobs() {
//!     let name = blob.name().unwrap_or_default();
//!     println!("{} {} {name}: {} bytes at {}", blob.index(), blob.blob_type(), blob.size(), blob.offset());
//! }
//! # Ok::<(), popef::Error>(())
//! ```
//!
//! Two other functions give the same results: [`File::map`] maps the file into memory, so that data is borrowed from it
//! (`unsafe`, because the file must not change while it is mapped), and [`File::from_bytes`] takes bytes in memory.
//! [`Blobs`](read::Blobs) walks over a borrowed slice without an index and without allocating. [`File::from_stream`]
//! lists the blobs that come through a pipe.
//!
//! Bytes that are elsewhere, in a bucket or in an archive, are read through the trait [`ReadAt`](read::ReadAt).
//! Programs with their own I/O, such as asynchronous ones, drive an [`Indexer`](read::Indexer), which reads nothing
//! itself. A [`File`] is cheap to clone, and a [`BlobHandle`](read::BlobHandle) keeps its file open, so both can be
//! stored and sent to threads.
//!
//! # Reading a tensor
//!
//! Tensors, feeds, executables and opaque blobs are found by name. A tensor's elements come as a slice of their Rust
//! type, which borrows from the file if possible:
//!
//! ```
//! # let file = popef::File::open("examples/data/executable.popef")?;
//! let weights = file.tensor("input_parameter").expect("the model has this weight");
//! assert_eq!(weights.shape().to_vec(), [2]);
//! assert_eq!(weights.data_type(), popef::DataType::F32);
//!
//! let elements = weights.elements()?.to_slice::<f32>()?;
//! assert_eq!(*elements, [1.5, -2.25]);
//! # Ok::<(), popef::Error>(())
//! ```
//!
//! For any type, [`Elements::values`](read::Elements::values) gives the elements one by one as numbers, for printing,
//! and [`Elements::convert_into`](read::Elements::convert_into) converts many at once to `f32`, for a device or for
//! statistics.
//!
//! # Reading how to run a model
//!
//! ```
//! # let file = popef::File::open("examples/data/executable.popef")?;
//! for blob in file.metadata() {
//!     let metadata = blob.read()?;
//!     println!("{} runs on {} IPUs", metadata.executable, metadata.num_ipus);
//!     for anchor in &metadata.anchors {
//!         println!("  {} {}: {:?}", anchor.tensor_type, anchor.name, anchor.tensor_info.shape);
//!     }
//! }
//! # Ok::<(), popef::Error>(())
//! ```
//!
//! # Writing
//!
//! A [`Writer`] takes the same values that reading gives. [`Writer::create`] makes a new file, which appears only when
//! it is complete, [`Writer::append`] adds to a file, and [`Writer::stream`] writes to a pipe. This is
//! `examples/build_model.rs`:
//!
//! ```no_run
#![doc = include_str!("../examples/build_model.rs")]
//! ```
//!
//! # Models
//!
//! [`Model::link`] links blobs that belong together, across any number of files:
//!
//! ```
//! use popef::{File, Model};
//!
//! let files = [
//!     File::open("examples/data/split-executable.popef")?,
//!     File::open("examples/data/split-tensors.popef")?,
//!     File::open("examples/data/split-feeds.popef")?,
//! ];
//! for model in Model::link(&files)? {
//!     for input in model.inputs_from_user() {
//!         println!("you have to feed {} {:?}", input.name, input.tensor_info);
//!     }
//! }
//! # Ok::<(), popef::Error>(())
//! ```
//!
//! The crate `popef-check` finds before a model is shipped what would fail: its rules were `popef::check` once. The crate
//! `popef-payload` reads what PopART, PopTorch and TensorFlow put into opaque blobs, and what a Python pickle would import.
//!
//! # Damaged files
//!
//! Every [`Error`] says what is wrong, in which file, blob and byte, what was needed and what was found. Programs
//! decide by its [code](error::ErrorCode). Opening a damaged file is an error by default, but the blobs before the
//! damage can still be read:
//!
//! ```
//! use popef::read::Blobs;
//! use popef::OpenOptions;
//!
//! let bytes = std::fs::read("examples/data/executable.popef")?;
//! let cut = &bytes[..3000];
//!
//! let file = OpenOptions::new().damaged(true).bytes(cut.to_vec())?;
//! assert_eq!(file.len(), 2);
//! let damage = file.damage().expect("the third blob is cut off");
//! assert!(damage.to_string().starts_with("blob 2, byte 2936: the blob is incomplete"));
//!
//! // A walk gives the same: two blobs, one error, and then nothing.
//! assert_eq!(Blobs::new(cut).filter(Result::is_ok).count(), 2);
//! assert_eq!(Blobs::new(cut).filter(Result::is_err).count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No input makes the crate panic, loop forever, or take more memory than a small multiple of the headers and infos
//! that it read. [`Limits`](read::Limits) has the figures, and a caller can change them.
//!
//! # Where things are
//!
//! The ten names that most programs need are here. The others are in modules:
//!
//! - [`types`]: the plain values that reading gives and writing takes.
//! - [`read`]: files, blobs, data and elements.
//! - [`write`](mod@write): writers and their destinations.
//! - [`model`]: blobs linked across files; shapes and calls.
//! - [`error`]: codes and kinds of errors.
//!
//! # Platforms
//!
//! | platform | how it is tested |
//! |---|---|
//! | Linux, x86-64 | all tests run in CI |
//! | Linux, 32-bit (i686) | tests run by hand |
//! | Linux, big-endian (s390x) | tests run by hand, in qemu |
//! | Windows, x86-64 (`windows-gnu`) | lints run in CI; tests run by hand, in Wine, but never on Windows itself |
//! | WebAssembly (`wasm32-unknown-unknown`) | lints run in CI; no test was run. There are no files: use bytes in memory, streams or [`ReadAt`](read::ReadAt) |
//! | macOS, other Unix systems, Arm | untried |
//!
//! Writing and replacing files differ on Windows in some points: see [`Writer::create`] and [`Writer::append`].
//!
//! # Features
//!
//! - `lz4`, `zstd` (on by default): unpack executables in these formats. zlib and gzip are always supported.
//! - `serde`: the plain values ([`Metadata`], [`Anchor`](types::Anchor), [`TensorInfo`], ...) serialise and deserialise
//!   with the schema's field names. A [`File`] and a [`Blob`] serialise their description directly from the file's
//!   bytes; it deserialises as [`FileInfo`](types::FileInfo) or [`BlobInfo`](types::BlobInfo).

#![deny(unsafe_code, reason = "only read/map.rs, which maps files, needs it")]
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
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod error;
mod len;
mod limits;
pub mod model;
mod names;
pub mod read;
#[doc(hidden)]
pub mod seam;
#[cfg(feature = "serde")]
mod serial;
pub mod types;
mod wire;
pub mod write;

pub use error::Error;
pub use model::Model;
pub use read::{Blob, Content, File, OpenOptions};
pub use types::{DataType, Metadata, TensorInfo};
pub use write::Writer;

/// The features that decide what the library can read, each with whether this build has it.
///
/// ```
/// let has = |name: &str| popef::FEATURES.iter().any(|(feature, is_on)| *feature == name && *is_on);
/// assert_eq!(has("zstd"), cfg!(feature = "zstd"));
/// ```
pub const FEATURES: [(&str, bool); 2] = [("lz4", cfg!(feature = "lz4")), ("zstd", cfg!(feature = "zstd"))];

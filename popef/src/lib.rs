//! Read, write and check PopEF files: compiled models for Graphcore IPUs.
//!
//! PopEF, the Poplar Exchange Format, is the file in which models compiled for IPUs are shipped. This crate opens any
//! PopEF file of any size, walks its blobs, and gives every field and every element in it, without copying what need
//! not be copied, and calmly on damaged or hostile files. It writes such files, and says what is wrong with them.
//!
//! # What a PopEF file is
//!
//! A list of blobs, one behind the other, with nothing before, between or after them:
//!
//! ```text
//! file   ┌──────────────────┬──────────────────┬────────────────────────────┬──────────────
//!        │ blob 0           │ blob 1           │ blob 2                     │ ...
//!        └──────────────────┴──────────────────┴────────────────────────────┴──────────────
//! blob   ┌────────┬──────┬──────┐
//!        │ header │ info │ data │    header: version, type, and the size of the whole blob
//!        └────────┴──────┴──────┘    info:   what there is to say about this type of blob
//!                                    data:   all that is left of the size
//! ```
//!
//! | type | info says | data is |
//! |---|---|---|
//! | [executable](read::ExecutableBlob) | name, whether and from what size compressed | what the IPUs run |
//! | [metadata](read::MetadataBlob) | how to load and run an executable: IPUs, programs, options, and the *anchors*, its inputs and outputs | nothing |
//! | [tensor](read::TensorBlob) | name, shape, element type | one tensor: usually a weight |
//! | [feed](read::FeedBlob) | name, shape, element type, number of tensors | several tensors for one input |
//! | [opaque](read::OpaqueBlob) | name, executable | what only the framework that wrote it can read |
//!
//! Blobs refer to each other by name, and so across files: a model's weights can lie in a file of their own. Header and
//! info are Cap'n Proto messages; the repository's `docs/FORMAT.md` tells every byte.
//!
//! # Opening a file
//!
//! [`File::open`] reads headers and infos, and data when it is asked for. It is safe whatever others do to the file
//! meanwhile, and memory stays small whatever its size.
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
//! Two other ways give the same results: [`File::map`] maps the file, so that data is borrowed from it (`unsafe`, since
//! nobody may change it meanwhile), and [`File::from_bytes`] takes bytes that are in memory. [`Blobs`](read::Blobs)
//! walks over a borrowed slice without an index and without allocating. [`File::from_stream`] lists what comes through
//! a pipe.
//!
//! Bytes that lie elsewhere, in a bucket or in an archive, are read through [`ReadAt`](read::ReadAt), a trait of two
//! methods. Programs that wait for their bytes in their own way, such as asynchronous ones, drive an
//! [`Indexer`](read::Indexer), which reads nothing itself. A [`File`] is cheap to clone, and a
//! [`BlobHandle`](read::BlobHandle) keeps it open, so both can be stored and sent to threads.
//!
//! # Reading a tensor
//!
//! Tensors, feeds, executables and opaque blobs are found by name. A tensor's elements come as a slice of their Rust
//! type, borrowed where that is possible:
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
//! Whatever the type, [`Elements::values`](read::Elements::values) gives the elements one by one as numbers, for
//! printing, and [`Elements::convert_into`](read::Elements::convert_into) many at once as `f32`, for a device or for
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
//! A [`Writer`] takes the same values that reading gives. [`Writer::create`] makes a new file, whole or not at all,
//! [`Writer::append`] adds to one, [`Writer::stream`] writes to a pipe. This is `examples/build_model.rs`:
//!
//! ```no_run
#![doc = include_str!("../examples/build_model.rs")]
//! ```
//!
//! # Models and checks
//!
//! [`Model::link`] brings together what belongs together, over any number of files, and [`check`](check::check) says
//! before a model is shipped what would fail:
//!
//! ```
//! use popef::check::{CheckOptions, Severity, check};
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
//!
//! let report = check(&files, &CheckOptions::new());
//! for finding in &report.findings {
//!     println!("{finding}\n  {}", finding.rule.mend);
//! }
//! if report.worst() == Some(Severity::Error) {
//!     return Err("not to be shipped".into());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Damaged files
//!
//! Every [`Error`] says what is wrong, in which file, blob and byte, what was needed and what was found. Programs go by
//! its [code](error::ErrorCode). Opening a damaged file is an error; what comes before the damage can be had all the
//! same:
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
//! // The same from a walk: two blobs, one error, and then nothing.
//! assert_eq!(Blobs::new(cut).filter(Result::is_ok).count(), 2);
//! assert_eq!(Blobs::new(cut).filter(Result::is_err).count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No input makes the crate panic, loop, or take more memory than a small multiple of the headers and infos that it
//! read; [`Limits`](read::Limits) has the figures, and a caller can change them.
//!
//! # Where things are
//!
//! The ten names that most programs need are here. The others are in modules:
//!
//! - [`types`]: the plain values that reading gives and writing takes.
//! - [`read`]: files, blobs, their data and its elements.
//! - [`write`](mod@write): writers, and where they write to.
//! - [`model`]: blobs linked over files; shapes and calls.
//! - [`check`](mod@check): rules, findings, policies.
//! - [`pickle`]: what a Python pickle would import.
//! - [`error`]: codes and kinds of errors.
//!
//! # Platforms
//!
//! | platform | what is done there |
//! |---|---|
//! | Linux, x86-64 | all tests run in CI |
//! | Linux, 32 bits (i686) | tests run by hand |
//! | Linux, big-endian (s390x) | tests run by hand, in qemu |
//! | Windows, x86-64 (`windows-gnu`) | lints run in CI; tests run by hand, in Wine, but never on Windows itself |
//! | WebAssembly (`wasm32-unknown-unknown`) | lints run in CI; nothing was run. Bytes in memory, streams and [`ReadAt`](read::ReadAt) are for it: there are no files |
//! | macOS, other Unix systems, Arm | untried |
//!
//! Opening, writing and replacing files differ on Windows in some points: see [`Writer::create`] and [`Writer::append`].
//!
//! # Features
//!
//! - `lz4`, `zstd` (on by default): unpack executables compressed so; zlib and gzip are always there.
//! - `serde`: the plain values ([`Metadata`], [`Anchor`](types::Anchor), [`TensorInfo`], ...) serialise with the schema's
//!   own names of fields, and come back. A [`File`] and a [`Blob`] serialise what they say of themselves, straight from
//!   the file's bytes; [`FileInfo`](types::FileInfo) and [`BlobInfo`](types::BlobInfo) are read back from that.

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

pub mod check;
pub mod error;
mod len;
mod limits;
pub mod model;
mod names;
pub mod pickle;
pub mod read;
pub mod types;
mod wire;
pub mod write;

pub use error::Error;
pub use model::Model;
pub use read::{Blob, Content, File, OpenOptions};
pub use types::{DataType, Metadata, TensorInfo};
pub use write::Writer;

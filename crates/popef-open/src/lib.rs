//! Opens the files that a user names on a command line.
//!
//! A user names files by path, in a list, or as `-` for standard input. They may be damaged, pipes, folders, or files of other formats.
//! [`open`] takes all of these, and [`Opened`] has the result. It never fails as a whole, so that a program can show what was read and go
//! on with the next file.
//!
//! ```
//! use std::path::Path;
//!
//! use popef_open::{StreamData, open};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("model.popef");
//! # std::fs::write(&path, "PK\x03\x04 and so on")?;
//! let opened = open(&path, StreamData::Skip);
//! if let Some(file) = opened.file() {
//!     println!("{}: {} blobs", opened.path.display(), file.len());
//! }
//! if let Some(foreign) = &opened.foreign {
//!     assert!(foreign.to_string().starts_with("this is not a PopEF file, it is a ZIP archive"));
//! } else if let Some(error) = opened.error() {
//!     eprintln!("{}: {error}", opened.path.display());
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! With the feature `remote`, names can be addresses of files in buckets and behind https. [`path_of`] makes paths from them.
//!
//! [`Inputs`] opens many files on all processors, works on them there, and gives the results in the order of the files.
//! [`in_order`] does that for any other work. [`listed`] reads a list of paths, and [`policy()`] a policy for checks.

#![forbid(unsafe_code, reason = "above all no mapping: a mapped file that is shortened kills the process")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic"
    )
)]

mod foreign;
mod how;
mod inputs;
mod like_address;
mod list;
#[cfg(not(feature = "remote"))]
mod local;
mod network;
mod open;
mod ordered;
mod policy;
mod provided;
#[cfg(feature = "remote")]
mod remote;
mod shell;

/// Whether this build opens addresses of other machines. A feature that another package of the same build asks for counts, too.
pub const READS_ADDRESSES: bool = cfg!(feature = "remote");

pub use foreign::{Code, Foreign};
pub use how::StreamData;
pub use inputs::Inputs;
pub use list::listed;
#[cfg(not(feature = "remote"))]
pub use local::{begin, expanded, file_name, is_elsewhere, network_cost, path_of};
pub use network::{Cost, Network};
pub use open::{
    Opened, is_named_pipe, is_of_process, is_stdin, is_stream, name_of, open, open_handle, open_plain, read,
};
pub use ordered::in_order;
pub use policy::{policy, policy_of};
pub use provided::{Presence, Provided};
#[cfg(feature = "remote")]
pub use remote::{
    begin, check_output_elsewhere, check_write_elsewhere, configure_remote, expanded, file_name, is_elsewhere,
    network_cost, path_of, write_elsewhere,
};
pub use shell::{shell_path, shell_word};

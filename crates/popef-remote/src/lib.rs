//! Reads remote PopEF files: in the buckets of S3, Google and Azure, and behind https.
//!
//! A file is listed by its headers, with a few range requests. So the overview of a model of many gigabytes costs some
//! kilobytes. Data is read on request, and ahead of sequential readers. [`Remote`] has the connections, and opens many
//! files at once without a thread for each:
//!
//! ```no_run
//! use popef::OpenOptions;
//! use popef_remote::{Location, Options, Remote};
//!
//! let remote = Remote::new(Options::default())?;
//! let names = ["s3://models/resnet50.popef", "https://example.com/bert.popef"];
//! let locations = names.iter().map(|name| Location::parse(name)).collect::<Result<Vec<_>, _>>()?;
//! let openings: Vec<_> = locations.iter().map(|location| remote.begin(location, OpenOptions::new())).collect();
//! for opening in openings {
//!     let opened = opening.wait(popef_remote::Need::Data)?;
//!     let (requests, bytes) = (opened.usage.requests(), opened.usage.bytes());
//!     println!("{} blobs, {requests} requests, {bytes} bytes", opened.file?.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An answer is checked before it is used: it must be the requested range of the opened object, have the length that it
//! states, and not be compressed. If an object changes while it is read, this is an error, never other data.
//!
//! Secrets are never shown: neither the headers of a caller, nor the query of an address, which can be a signature.

#![forbid(unsafe_code, reason = "nothing here needs it")]
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
        reason = "no answer of a server may panic"
    )
)]

mod client;
mod environment;
mod error;
mod forward;
mod gate;
mod growth;
mod host;
mod index;
mod list;
mod location;
mod object;
mod options;
mod profile;
mod remote;
mod source;
mod store;
mod stream;
mod usage;
mod write;

pub use error::{Code, RemoteError};
pub use location::{Location, is_remote};
pub use options::Options;
pub use remote::{Need, Opened, Opening, Remote};
pub use usage::Usage;
pub use write::Replace;

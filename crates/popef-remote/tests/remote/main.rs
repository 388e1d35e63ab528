//! Reading over a network, against servers on this machine: see `common`.

#[path = "../common/mod.rs"]
mod common;

mod cost;
mod faults;
mod random;
mod stores;
mod write;

use std::path::Path;

use common::process::START;
use popef::{File, OpenOptions};
use popef_remote::{Code, Location, Need, Opened, Options, Remote, RemoteError};

/// Options with which a failure comes soon. The times are for a busy machine: no test waits for one of them.
fn quick() -> Options {
    let mut options = Options::default();
    options.connect_timeout = START;
    options.read_timeout = START;
    options.retries = 2;
    options.retry_timeout = START;
    options
}

fn open(remote: &Remote, url: &str, need: Need) -> Result<Opened, RemoteError> {
    remote.begin(&Location::parse(url).expect("it is an address"), OpenOptions::new()).wait(need)
}

/// All that a file says: of each blob its place, its head, and its data.
fn facts(file: &File) -> Result<Vec<String>, popef::Error> {
    file.blobs()
        .map(|blob| {
            let (head, data) = (blob.head_bytes().read()?, blob.data().read()?);
            Ok(format!("{} at {}: {head:?} {data:?}", blob.blob_type(), blob.offset()))
        })
        .collect()
}

fn local(path: &Path) -> Vec<String> {
    facts(&File::open(path).expect("the file is there")).expect("the file can be read")
}

/// The code of an error of opening or of reading, wherever it comes from.
fn code_of(opened: Result<Opened, RemoteError>) -> Result<Vec<String>, (Code, String)> {
    let of_library = |error: popef::Error| match RemoteError::of(&error) {
        Some(remote) => (remote.code(), error.to_string()),
        None => panic!("not an error of the network: {error:?}"),
    };
    let opened = opened.map_err(|error| (error.code(), error.to_string()))?;
    facts(&opened.file.map_err(of_library)?).map_err(of_library)
}

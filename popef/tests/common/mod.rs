//! What the tests share, such as the files of testdata and the ways to open them.

#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

#[cfg(feature = "serde")]
pub mod coming_back;
pub mod everything;
pub mod metadata_json;
pub mod peers;
pub mod raw;
pub mod writing;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use popef::{Blob, Content, Error, File, OpenOptions};

pub fn testdata(path: &str) -> PathBuf {
    let of_crate = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = of_crate.ancestors().find(|folder| folder.join("testdata").is_dir());
    root.expect("the repository has testdata").join("testdata").join(path)
}

pub fn read(path: &str) -> Vec<u8> {
    let path = testdata(path);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All .popef files of a folder of testdata, sorted.
pub fn popef_files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(testdata(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "popef"));
    files.sort();
    assert!(!files.is_empty(), "no .popef file in {folder}");
    files
}

/// The ways to open a file that give its data, by name. Damaged files open too.
pub fn ways(path: &Path) -> [(&'static str, Result<File, Error>); 3] {
    let mut options = OpenOptions::new();
    options.damaged(true);
    let bytes = std::fs::read(path).unwrap();
    let mapped = match cfg!(miri) {
        // Miri maps no files.
        true => options.bytes(bytes.clone()),
        // SAFETY: nobody changes the file while a test reads it.
        false => unsafe { options.map(path) },
    };
    [("in parts", options.open(path)), ("mapped", mapped), ("in memory", options.bytes(bytes))]
}

/// Everything that a file says, without its data, as a text to compare.
pub fn description(file: &File) -> String {
    let mut text = String::new();
    for blob in file.blobs() {
        text += &describe(&blob);
    }
    if let Some(damage) = file.damage() {
        text += &format!("damage: {:?} {}\n", damage.kind(), without_path(damage));
    }
    text
}

/// The text of an error without its path, which depends on the way in.
pub fn without_path(error: &Error) -> String {
    let place = (error.blob(), error.offset());
    format!("{place:?}: {}", error.reason())
}

fn describe(blob: &Blob<'_>) -> String {
    let content = match blob.content() {
        Content::Executable(executable) => {
            format!("{:?} {:?}", executable.info(), executable.compression().map_err(|e| without_path(&e)))
        }
        Content::Metadata(metadata) => format!("{:?}", metadata.read().map_err(|e| without_path(&e))),
        Content::Tensor(tensor) => {
            let size = tensor.size_in_bytes().map_err(|e| without_path(&e));
            format!("{:?} {size:?} {}", tensor.info(), tensor.surplus())
        }
        Content::Feed(feed) => {
            let size = feed.size_in_bytes().map_err(|e| without_path(&e));
            format!("{:?} {size:?} {}", feed.info(), feed.surplus())
        }
        Content::Opaque(opaque) => format!("{:?}", opaque.info()),
        _ => "unknown".to_owned(),
    };
    let (header, info, data) = (blob.header_bytes().len(), blob.info_bytes().len(), blob.data().len());
    format!("{blob:?} {header} + {info} + {data} at {} {content}\n", blob.data_offset())
}

/// Counters of this thread from Linux, such as `syscr` for calls that read. None on other systems.
pub fn io_counters(names: [&str; 2]) -> Option<[u64; 2]> {
    let text = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let number = |name| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?.parse().ok();
    let [one, other] = names;
    Some([number(one)?, number(other)?])
}

/// A stream that gives its bytes in pieces of all sizes, with interruptions between them.
pub struct Pieces<'a> {
    rest: &'a [u8],
    calls: usize,
}

impl<'a> Pieces<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Pieces { rest: bytes, calls: 0 }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = buf.len().min(1 << (self.calls % 13));
        self.rest.read(&mut buf[..most])
    }
}

/// Replaces a number of `N` bytes, which must occur once.
pub fn patch<const N: usize>(bytes: &mut [u8], old: [u8; N], new: [u8; N]) {
    let places: Vec<usize> = bytes.windows(N).enumerate().filter(|(_, w)| *w == old).map(|(at, _)| at).collect();
    assert_eq!(places.len(), 1, "the number is at {places:?}");
    bytes[places[0]..][..N].copy_from_slice(&new);
}

//! Inputs that the fuzz targets found once, and those that they start from.

use crate::common;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use common::everything::{everything, walk};
use common::{description, testdata, ways, without_path};
use popef::OpenOptions;
use popef::error::ErrorCode;

/// All files below a folder of testdata.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    files.sort();
    files
}

/// Somebody may also try to open a text or a pickle, so all files of testdata are read here.
#[test]
fn every_file_of_testdata_reads_the_same_in_every_way_in() {
    let files = files(&testdata(""));
    assert!(files.len() > 100, "only {} files", files.len());
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        walk(&bytes);
        let mut told = Vec::new();
        for (_, file) in ways(&path) {
            let file = file.unwrap_or_else(|error| panic!("{error}"));
            everything(&file, bytes.len() as u64);
            told.push(description(&file));
        }
        assert!(told.iter().all(|other| *other == told[0]), "{}: the ways in disagree", path.display());
        let streamed = OpenOptions::new().damaged(true).stream(&*bytes).unwrap();
        everything(&streamed, bytes.len() as u64);
        let in_memory = OpenOptions::new().damaged(true).bytes(bytes.clone()).unwrap();
        let damages = [&streamed, &in_memory].map(|file| file.damage());
        // A stream cannot tell where a pickle before PopEF ends.
        let has_pickle =
            damages.iter().all(|damage| damage.is_some_and(|error| error.code() == ErrorCode::PickleFirst));
        let [streamed, in_memory] = damages.map(|damage| damage.map(without_path));
        assert!(has_pickle || streamed == in_memory, "{}: {streamed:?}, {in_memory:?}", path.display());
    }
}

/// Inputs of the target `decompress`, each as an executable that claims several sizes.
#[test]
fn compressed_data_never_unpacks_to_more_than_the_blob_says() {
    for path in files(&testdata("regressions/decompress")) {
        let data = std::fs::read(&path).unwrap();
        for size in [0, 1, 1000, 1 << 20, u64::MAX - 1] {
            let total = 40 + 32 + data.len() as u64;
            let header = [4 << 32, 2 << 32 | 1 << 48, 0, total, 0];
            let info = [3 << 32, 1 << 32 | 1 << 48, size, 0];
            let file = header.into_iter().chain(info).flat_map(u64::to_le_bytes).chain(data.iter().copied()).collect();
            let file: Vec<u8> = file;
            let blob = popef::read::Blobs::new(&file).next().unwrap().unwrap();
            let popef::Content::Executable(executable) = blob.content() else { panic!("an executable was made") };
            let Ok(unpack) = executable.unpack() else { continue };
            let given = std::io::copy(&mut unpack.take(1 << 22), &mut std::io::sink());
            assert!(given.is_err() || given.is_ok_and(|given| given <= size), "{}", path.display());
        }
    }
}

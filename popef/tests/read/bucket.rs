//! A source that counts how often it is read, and what the tests of sources, indexers and readers share.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use popef::error::Error;
use popef::read::{Indexer, ReadAt, Unpack};
use popef::types::TensorDataInfo;
use popef::{DataType, File, OpenOptions, TensorInfo, Writer};

use crate::common::{description, without_path};

/// What a bucket of an object store holds: bytes, how often they were read, and whether they were replaced.
#[derive(Default)]
pub(crate) struct Object {
    pub(crate) bytes: Vec<u8>,
    pub(crate) reads: AtomicUsize,
    pub(crate) replaced: AtomicBool,
}

impl Object {
    pub(crate) fn of(bytes: &[u8]) -> Arc<Self> {
        Arc::new(Object { bytes: bytes.to_vec(), ..Object::default() })
    }
}

pub(crate) struct Bucket(pub(crate) Arc<Object>);

impl ReadAt for Bucket {
    fn size(&self) -> u64 {
        self.0.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
        let start = usize::try_from(offset).unwrap();
        buf.copy_from_slice(self.0.bytes.get(start..start + buf.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        Ok(!self.0.replaced.load(Ordering::Relaxed))
    }

    fn name(&self) -> Option<&Path> {
        Some(Path::new("s3://models/a.popef"))
    }
}

/// Pseudo-random numbers, the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// Options that open damaged files too.
pub(crate) fn damaged() -> OpenOptions {
    *OpenOptions::new().damaged(true)
}

/// What a file says, or why it was not opened.
pub(crate) fn outcome(file: Result<File, Error>) -> String {
    file.map_or_else(|error| without_path(&error), |file| description(&file))
}

pub(crate) fn part(bytes: &[u8], range: Range<u64>) -> &[u8] {
    &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
}

/// Gives an indexer its bytes in pieces of random length, some of which are longer than it wants.
pub(crate) fn given_in_pieces(options: &OpenOptions, bytes: &[u8], random: &mut Random) -> Indexer {
    let mut indexer = options.indexer(bytes.len() as u64);
    while let Some(wanted) = indexer.wants() {
        assert!(wanted.start < wanted.end && wanted.end <= bytes.len() as u64, "{wanted:?}");
        let len = 1 + random.below(2 * part(bytes, wanted.clone()).len());
        let rest = &bytes[usize::try_from(wanted.start).unwrap()..];
        let taken = indexer.give(&rest[..len.min(rest.len())]);
        assert!(taken as u64 <= wanted.end - wanted.start);
    }
    assert_eq!(indexer.give(bytes), 0);
    indexer
}

/// The unpacked bytes, and the text of the error if one ended them.
pub(crate) fn unpacked(unpack: Result<Unpack<'_>, Error>) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let error = unpack.and_then(|mut unpack| {
        unpack.read_to_end(&mut bytes).map(drop).map_err(|e| e.downcast::<Error>().expect("an error of the library"))
    });
    (bytes, error.err().map(|error| error.reason()))
}

/// 1,000 tensors of 1 KiB, which consist of this byte.
pub(crate) fn many_small(byte: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    for index in 0..1000 {
        let tensor_info = TensorInfo::new(DataType::U8, [1024]);
        writer
            .write_tensor_bytes(&TensorDataInfo { name: format!("{index}").into(), tensor_info }, &[byte; 1024])
            .unwrap();
    }
    writer.finish().unwrap();
    bytes
}

//! The operations of the toolbox on any bytes: no panic, and their reports agree with what they do.

#![no_main]

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use libfuzzer_sys::fuzz_target;
use popef::types::BlobType;
use popef::{Blob, File, OpenOptions};
use popef_fuzz::cost::{Bound, Line, SLACK, assert_within};
use popef_fuzz::heap::Counting;
use popef_fuzz::ways::scratch_file;
use popef_ops::diff::{DiffOptions, Verdict};
use popef_ops::hash::{Algorithms, FileHash, HashOptions, Manifest, ManifestLine, VerifyOptions};
use popef_ops::pack::{PackInput, PackOptions, pack};
use popef_ops::recover::{RecoverOptions, recover};
use popef_ops::set::{Change, Changes, Plan};
use popef_ops::{
    CompressOptions, DecompressOptions, MergeOptions, Silent, StripOptions, Target, compress, decompress, formats,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A file with arrays has one header in memory at a time. In an archive, 100 bytes can be a header of 64 KiB.
const ARRAYS: Bound = Bound {
    decoder: "arrays",
    time: Line { fixed: 1_000_000, per_byte_in: 20_000, per_byte_out: 0, most: u64::MAX },
    heap: Line { fixed: 1 << 20, per_byte_in: 32, per_byte_out: 0, most: u64::MAX },
};

fuzz_target!(|input: &[u8]| {
    let Some((&how, input)) = input.split_first() else { return };
    match how % 6 {
        0 => compare(&popef_fuzz::file(input)),
        1 => rewrite(&popef_fuzz::file(input)),
        2 => change(input),
        3 => read_arrays(input),
        4 => read_manifest(input),
        _ => read_folder(input),
    }
});

fn open(bytes: Vec<u8>) -> File {
    OpenOptions::new().damaged(true).bytes(bytes).unwrap()
}

/// A file differs neither from itself nor from one with the same content, and hashes and differences agree about others.
fn compare(bytes: &[u8]) {
    let file = open(bytes.to_vec());
    let exact = DiffOptions { exact: true, ..DiffOptions::default() };
    for options in [DiffOptions::default(), exact] {
        assert_ne!(differ(&file, &open(bytes.to_vec()), &options), Verdict::Different);
    }
    let (hashes, lines) = hash(&file);
    let Manifest::Entries(entries) = Manifest::read(&mut &lines[..]).unwrap() else { panic!("it is JSON") };
    let verified =
        popef_ops::hash::verify(&file, &entries[0], &VerifyOptions::default(), &Silent, &mut |_| Ok(())).unwrap();
    assert!(verified.ok, "{verified:?}");

    let Some((&place, _)) = bytes.split_last() else { return };
    let mut changed = bytes.to_vec();
    let place = usize::from(place).wrapping_mul(31).checked_rem(bytes.len()).unwrap_or_default();
    changed[place] ^= 1;
    let changed = open(changed);
    let content = hash(&changed).0.content;
    let verdict = differ(&file, &changed, &DiffOptions::default());
    if !content.is_empty() && content == hashes.content {
        assert_eq!(verdict, Verdict::Same);
    }
    if file.damage().is_some() || changed.damage().is_some() {
        return;
    }
    assert_eq!(differ(&file, &changed, &exact), Verdict::Different, "one bit differs");
}

/// The digests of a file, and its manifest.
fn hash(file: &File) -> (FileHash, Vec<u8>) {
    let options =
        HashOptions { algorithms: Algorithms::BOTH, whole: file.damage().is_none(), ..HashOptions::default() };
    let (path, in_file) = (Path::new("file").into(), Path::new("file").into());
    let mut lines = Vec::new();
    let hashed = popef_ops::hash::hash(file, &options, &Silent, &mut |blob| {
        serde_json::to_writer(&mut lines, &ManifestLine::Blob { file: &in_file, blob: &blob }).unwrap();
        Ok(())
    });
    let hashed = hashed.unwrap();
    serde_json::to_writer(&mut lines, &ManifestLine::File { path: &path, hash: &hashed }).unwrap();
    (hashed, lines)
}

fn differ(a: &File, b: &File, options: &DiffOptions<'_>) -> Verdict {
    popef_ops::diff::diff(a, b, options, &Silent, &mut |_| Ok(())).unwrap().verdict
}

/// A pipe that keeps what is written.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    fn taken(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes that an operation writes into a pipe. `None` if it fails.
fn written<T>(work: impl FnOnce(Target<'_>) -> Result<T, popef_ops::Error>) -> Option<Vec<u8>> {
    let pipe = Pipe::default();
    let done = work(Target::Stream(Box::new(pipe.clone())));
    done.ok().map(|_| pipe.taken())
}

/// Copies keep all bytes, and compression changes only how executables are stored.
fn rewrite(bytes: &[u8]) {
    let file = open(bytes.to_vec());
    let whole = usize::try_from(file.end()).unwrap();
    if let Some(recovered) = written(|target| recover(&file, target, &RecoverOptions::default(), &Silent)) {
        // Whole blobs after a damaged info are kept too.
        assert!(recovered.starts_with(&bytes[..whole]), "what is whole was not kept");
        assert!(recovered.len() <= bytes.len() && open(recovered).damage().is_none(), "what was kept is not whole");
    }
    if file.damage().is_some() {
        return;
    }

    let drop = |blob: &Blob<'_>| blob.index() % 2 == 1;
    let options = StripOptions { drop: &drop, drop_prefix: false, only_changes: false };
    let prefix = usize::try_from(file.prefix().len()).unwrap();
    let mut expected = bytes[..prefix].to_vec();
    file.blobs().filter(|blob| !drop(blob)).for_each(|blob| expected.extend_from_slice(bytes_of(bytes, &blob)));
    if let Some(stripped) = written(|target| popef_ops::strip(&file, target, &options, &Silent)) {
        assert!(stripped == expected, "a kept blob was changed");
    }

    let content = hash(&file).0.content;
    let options = CompressOptions { again: true, threads: 1, ..CompressOptions::default() };
    let plain = DecompressOptions::default();
    let compressed = written(|target| compress(&file, target, &options, &Silent, &mut |_| Ok(())));
    let decompressed = written(|target| decompress(&file, target, &plain, &Silent, &mut |_| Ok(())));
    for bytes in compressed.into_iter().chain(decompressed) {
        let new = OpenOptions::new().start(prefix as u64).bytes(bytes).unwrap();
        assert_eq!(new.len(), file.len());
        let found = hash(&new).0.content;
        assert!(content.is_empty() || found == content, "compression changed the content");
    }

    let merged = |files: &[File]| {
        let options = MergeOptions { drop_prefixes: true, ..MergeOptions::default() };
        written(|target| popef_ops::merge(files, target, &options, &Silent))
    };
    // Unknown blobs may even need to be there twice.
    if file.blobs().any(|blob| matches!(blob.blob_type(), BlobType::Other(_))) {
        return;
    }
    let once = merged(&[open(bytes.to_vec())]);
    assert_eq!(merged(&[file, open(bytes.to_vec())]), once, "a file merged with itself is another one");
}

fn bytes_of<'b>(bytes: &'b [u8], blob: &Blob<'_>) -> &'b [u8] {
    let start = usize::try_from(blob.offset()).unwrap();
    &bytes[start..][..usize::try_from(blob.size()).unwrap()]
}

/// A patch for metadata, and the file after a zero byte.
fn change(input: &[u8]) {
    let Some(end) = input.iter().position(|byte| *byte == 0) else { return };
    let Ok(patch) = serde_json::from_slice(&input[..end]) else { return };
    let file = open(popef_fuzz::file(&input[end + 1..]));
    if file.damage().is_some() {
        return;
    }
    let changes = Changes { fields: vec![Change::Merge(patch, None)], ..Changes::default() };
    let Ok(plan) = Plan::of(&file, &changes, &|_| true, &Silent) else { return };
    let changed: Vec<usize> = plan.changes().map(|change| change.index).collect();
    let pipe = Pipe::default();
    if plan.write(Target::Stream(Box::new(pipe.clone())), false, &Silent).is_err() {
        return;
    }
    let new = OpenOptions::new().start(file.prefix().len()).bytes(pipe.taken()).unwrap();
    assert_eq!(new.len(), file.len());
    for (new, old) in new.blobs().zip(file.blobs()) {
        let same = new.head_bytes().read().unwrap() == old.head_bytes().read().unwrap();
        assert!(same || changed.contains(&old.index()), "{old:?} was changed");
        assert_eq!(new.data().read().unwrap(), old.data().read().unwrap());
    }
}

/// Bytes as a file with arrays. Arrays that can be read are as long as they say.
fn read_arrays(input: &[u8]) {
    let path = scratch_file();
    std::fs::write(&path, input).unwrap();
    assert_within(&ARRAYS, SLACK, input.len() as u64, || {
        let Ok(mut file) = formats::ArrayFile::open(&path) else { return 0 };
        (0..file.len()).for_each(|index| drop(file.get(index)));
        0
    });
    let Ok(arrays) = formats::read(&path) else { return };
    for array in arrays {
        let Ok(reader) = array.reader() else { continue };
        let size = array.info.size_in_bytes().unwrap();
        let read = io::copy(&mut io::Read::take(reader, 1 << 20), &mut io::sink());
        assert!(read.is_err() || read.is_ok_and(|read| read == size.min(1 << 20)), "{array:?}");
    }
    let _ = pack(&[PackInput::Tensors(path)], Target::Nowhere, &PackOptions::default(), &Silent, &mut |_| Ok(()));
}

/// Bytes as a manifest of an empty file.
fn read_manifest(mut input: &[u8]) {
    let empty = open(Vec::new());
    let Ok(Manifest::Entries(entries)) = Manifest::read(&mut input) else { return };
    for entry in entries {
        for only_content in [false, true] {
            let options = VerifyOptions { only_content, ..VerifyOptions::default() };
            let _ = popef_ops::hash::verify(&empty, &entry, &options, &Silent, &mut |_| Ok(()));
        }
    }
}

/// Bytes as `index.json` of a folder with two files. Each is in the new file once, and what the index says.
fn read_folder(input: &[u8]) {
    let folder = scratch_file().with_extension("folder");
    let array = |values: &[u8]| {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({},), }}\n", values.len());
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), values].concat()
    };
    if !folder.is_dir() {
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("a.npy"), array(b"four")).unwrap();
        std::fs::write(folder.join("b"), vec![b'b'; 2000]).unwrap();
    }
    std::fs::write(folder.join("index.json"), input).unwrap();
    let bytes = packed(&folder);
    assert!(bytes.as_ref().is_none_or(|bytes| bytes.len() <= 8192 + 8 * input.len()), "the folder grew");
    // Any bytes may come before the first blob, which then has an unknown place.
    if !input.windows(8).any(|window| window == b"\"prefix\"") && !input.contains(&b'\\') {
        let _ = bytes.map(|bytes| File::from_bytes(bytes).unwrap());
    }
}

fn packed(folder: &Path) -> Option<Vec<u8>> {
    let inputs = [PackInput::Folder(folder.to_owned())];
    written(|target| pack(&inputs, target, &PackOptions::default(), &Silent, &mut |_| Ok(())))
}

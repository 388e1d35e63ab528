//! What an operation says it will do is what it then says it has done.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use popef::types::{Anchor, FeedDataInfo, Metadata, OpaqueInfo, TensorDataInfo};
use popef::write::Packing;
use popef::{DataType, File, OpenOptions, TensorInfo, Writer};
use popef_ops::diff::{DiffOptions, diff};
use popef_ops::extract::{Arrays, ExtractOptions, extract};
use popef_ops::hash::{Algorithms, HashOptions, Manifest, ManifestLine, VerifyOptions, hash, hash_path, verify};
use popef_ops::pack::{PackInput, PackOptions, pack};
use popef_ops::recover::{RecoverOptions, recover};
use popef_ops::set::{Change, Changes, FieldPath, Plan, Weights};
use popef_ops::{
    CompressOptions, DecompressOptions, Error, Keep, MergeOptions, Overwrite, Progress, Silent, SplitBy, SplitOptions,
    StripOptions, Target, TargetFolder, compress, decompress, merge, split, strip,
};

/// Counts the announced and the reported bytes.
#[derive(Default)]
struct Count {
    expected: AtomicU64,
    told: AtomicU64,
    overshot: AtomicU64,
}

impl Progress for Count {
    fn expect(&self, bytes: u64) {
        self.expected.fetch_add(bytes, SeqCst);
    }

    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        let told = self.told.fetch_add(bytes, SeqCst) + bytes;
        self.overshot.fetch_max(told.saturating_sub(self.expected.load(SeqCst)), SeqCst);
        ControlFlow::Continue(())
    }
}

#[track_caller]
fn hold<R: std::fmt::Debug>(what: &str, operation: impl FnOnce(&dyn Progress) -> Result<R, Error>) {
    let count = Count::default();
    operation(&count).unwrap_or_else(|error| panic!("{what}: {error}"));
    let [expected, told, overshot] = [&count.expected, &count.told, &count.overshot].map(|count| count.load(SeqCst));
    assert!(expected > 0, "{what} expects nothing");
    assert_eq!((told, overshot), (expected, 0), "{what}: told and expected, and how much was told too early");
}

/// Bytes that zlib halves.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut four_bits = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(state >> 60).unwrap()
    };
    (0..len).map(|_| four_bits()).collect()
}

/// A pickle, two executables, one of which would not become smaller, and everything else that a model has.
fn make(path: &Path, start: u64) {
    let mut writer = Writer::seekable(io::Cursor::new(vec![b'.'; usize::try_from(start).unwrap()])).unwrap();
    let tensor_info = TensorInfo::new(DataType::U8, [300_000]);
    for model in ["large", "random"] {
        let anchors = vec![Anchor { name: "both".into(), ..Default::default() }];
        writer.write_metadata(&Metadata { executable: model.into(), anchors, ..Default::default() }).unwrap();
        let info = OpaqueInfo { name: "notes".into(), executable: model.into() };
        writer.write_opaque(&info, b"mine").unwrap();
    }
    writer.write_executable("large", &noise(5 << 18)).unwrap();
    // Compressed data does not become smaller.
    let packed = {
        let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
        writer.write_packed_executable("x", &noise(5 << 19), Packing::Zlib(6)).unwrap();
        writer.into_inner().unwrap().into_inner()
    };
    writer.write_executable("random", &packed).unwrap();
    for name in ["both", "rest"] {
        writer
            .write_tensor_bytes(
                &TensorDataInfo { name: name.into(), tensor_info: tensor_info.clone() },
                &noise(300_000),
            )
            .unwrap();
    }
    let info = FeedDataInfo { name: "feed".into(), tensor_info, num_tensors: 1 };
    writer.write_feed_bytes(&info, &noise(300_000)).unwrap();
    fs::write(path, writer.into_inner().unwrap().into_inner()).unwrap();
}

/// Files to work on.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        make(&place.at("plain"), 0);
        // A prefix, as if it were a pickle.
        let prefixed = [&b"something else"[..], &fs::read(place.at("plain")).unwrap()].concat();
        fs::write(place.at("prefixed"), prefixed).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn prefixed(&self) -> File {
        OpenOptions::new().start(14).open(self.at("prefixed")).unwrap()
    }

    /// The same with its executables compressed.
    fn small(&self) -> File {
        let path = self.at("small");
        let plain = File::open(self.at("plain")).unwrap();
        let target = Target::Path(&path, Overwrite::Others);
        compress(&plain, target, &CompressOptions::default(), &Silent, &mut |_| Ok(())).unwrap();
        File::open(path).unwrap()
    }
}

#[test]
fn operations_that_write_tell_what_they_expect() {
    let place = Place::new();
    let at = |name: &str| place.at(name);
    let mut last = fs::read(at("plain")).unwrap();
    let end = last.len() - 1;
    last[end] ^= 1;
    fs::write(at("last"), &last).unwrap();
    fs::write(at("cut"), &last[..end]).unwrap();
    let [plain, last, cut] =
        ["plain", "last", "cut"].map(|name| OpenOptions::new().damaged(true).open(at(name)).unwrap());
    let prefixed = place.prefixed();

    let new = at("new");
    for name in ["path", "stream", "nowhere"] {
        let target = || match name {
            "path" => Target::Path(&new, Overwrite::Others),
            "stream" => Target::Stream(Box::new(io::sink())),
            _ => Target::Nowhere,
        };
        for threads in [1, 2] {
            let options = CompressOptions { threads, ..CompressOptions::default() };
            for file in [&plain, &prefixed] {
                hold(&format!("compress, {threads}, {name}"), |progress| {
                    compress(file, target(), &options, progress, &mut |_| Ok(()))
                });
            }
        }
        let small = place.small();
        hold(&format!("decompress, {name}"), |progress| {
            decompress(&small, target(), &DecompressOptions::default(), progress, &mut |_| Ok(()))
        });
        for keep in [Keep::First, Keep::Last] {
            let options = MergeOptions { keep, unpacked: true, ..MergeOptions::default() };
            let files = [prefixed.clone(), plain.clone(), last.clone()];
            hold(&format!("merge, {keep:?}, {name}"), |progress| merge(&files, target(), &options, progress));
        }
        let odd = |blob: &popef::Blob<'_>| blob.index() % 2 == 1;
        for drop_prefix in [false, true] {
            let options = StripOptions { drop: &odd, drop_prefix, ..StripOptions::default() };
            hold(&format!("strip, {name}"), |progress| strip(&prefixed, target(), &options, progress));
        }
        for file in [&cut, &prefixed] {
            hold(&format!("recover, {name}"), |progress| recover(file, target(), &RecoverOptions::default(), progress));
        }
    }
    let [executable, random, tensor] = ["large.bin", "random.bin", "tensor.npy"].map(at);
    fs::write(&executable, noise(5 << 18)).unwrap();
    fs::write(&random, plain.executable("random").unwrap().data().read().unwrap()).unwrap();
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (300000,), }\n";
    fs::write(&tensor, [b"\x93NUMPY\x01\x00\x3f\x00", header.as_bytes(), &noise(300_000)].concat()).unwrap();
    let inputs =
        [PackInput::Executable(executable, None), PackInput::Executable(random, None), PackInput::Tensors(tensor)];
    let options = PackOptions { compress: Some(Packing::Zlib(6)), ..PackOptions::default() };
    for name in ["path", "stream", "nowhere"] {
        let target = match name {
            "path" => Target::Path(&new, Overwrite::Others),
            "stream" => Target::Stream(Box::new(io::sink())),
            _ => Target::Nowhere,
        };
        hold(&format!("pack, {name}"), |progress| pack(&inputs, target, &options, progress, &mut |_| Ok(())));
    }
    for by in [SplitBy::Kind, SplitBy::Model, SplitBy::Size(1 << 20)] {
        let options = SplitOptions { by, ..SplitOptions::default() };
        for target in [TargetFolder::At(&at("parts"), Overwrite::Others), TargetFolder::Nowhere] {
            hold(&format!("split, {by:?}"), |progress| split(&prefixed, target, &options, progress));
        }
    }
}

#[test]
fn operations_that_read_tell_what_they_expect() {
    let place = Place::new();
    let (prefixed, small) = (place.prefixed(), place.small());
    let odd = |blob: &popef::Blob<'_>| blob.index() % 2 == 1;
    for file in [&prefixed, &small] {
        for algorithms in [Algorithms::SHA256, Algorithms::BLAKE3, Algorithms::BOTH] {
            for (whole, content, all) in
                [(false, true, true), (true, true, false), (false, false, false), (true, false, true)]
            {
                let select: &(dyn Fn(&popef::Blob<'_>) -> bool + Sync) = if all { &|_| true } else { &odd };
                let options = HashOptions { algorithms, whole, data: true, content, headers: content, select };
                hold(&format!("hash, {options:?}"), |progress| hash(file, &options, progress, &mut |_| Ok(())));
            }
            hold("hash_path", |progress| hash_path(&place.at("prefixed"), algorithms, progress));
        }
    }
    for exact in [false, true] {
        let options = DiffOptions { exact, ..DiffOptions::default() };
        for other in [&small, &File::open(place.at("plain")).unwrap()] {
            hold(&format!("diff, {exact}"), |progress| diff(&prefixed, other, &options, progress, &mut |_| Ok(())));
        }
    }

    for whole in [false, true] {
        let mut lines = Vec::new();
        let (path, in_file) = (Path::new("small").into(), Path::new("small").into());
        let options = HashOptions { whole, ..HashOptions::default() };
        let hashed = hash(&small, &options, &Silent, &mut |blob| {
            lines.push(serde_json::to_string(&ManifestLine::Blob { file: &in_file, blob: &blob }).unwrap());
            Ok(())
        });
        lines.push(serde_json::to_string(&ManifestLine::File { path: &path, hash: &hashed.unwrap() }).unwrap());
        let Manifest::Entries(entries) = Manifest::read(&mut lines.join("\n").as_bytes()).unwrap() else { panic!() };
        for file in [&prefixed, &small] {
            hold(&format!("verify, {whole}"), |progress| {
                verify(file, &entries[0], &VerifyOptions::default(), progress, &mut |_| Ok(()))
            });
        }
    }
}

#[test]
fn operations_on_parts_tell_what_they_expect() {
    let place = Place::new();
    let (small, new) = (place.small(), place.at("new"));
    let plain = File::open(place.at("plain")).unwrap();
    let folders = [place.at("npy"), place.at("npz"), place.at("safetensors"), place.at("raw")];
    let forms = [Arrays::Npy, Arrays::Npz, Arrays::Safetensors, Arrays::Raw];
    for (folder, arrays) in folders.iter().zip(forms) {
        for (file, unpacked) in [(&small, true), (&plain, false)] {
            let options = ExtractOptions { arrays, unpacked, ..ExtractOptions::default() };
            let target = TargetFolder::At(folder, Overwrite::Others);
            hold(&format!("extract, {options:?}"), |progress| {
                extract(std::slice::from_ref(file), target, &options, progress, &mut |_| Ok(()))
            });
        }
        for compress in [None, Some(Packing::Zlib(6))] {
            let options = PackOptions { compress, unchecked: true, ..PackOptions::default() };
            for target in [Target::Nowhere, Target::Path(&new, Overwrite::Others)] {
                hold(&format!("pack, {arrays:?}, {compress:?}"), |progress| {
                    pack(&[PackInput::Folder(folder.clone())], target, &options, progress, &mut |_| Ok(()))
                });
            }
        }
    }

    // New data for one tensor.
    let tensors = folders[0].join("tensors");
    let rest = tensors.join("rest.npy");
    let mut changed = fs::read(&rest).unwrap();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&rest, changed).unwrap();
    let weights = vec![Weights::At(tensors)];
    let (path, value) = FieldPath::parse_assignment("anchors[both].repeats=2").unwrap();
    let fields = vec![Change::Set(path, value)];
    let changes = Changes { model: Some("large".into()), fields, weights, ..Changes::default() };
    for target in [Target::Nowhere, Target::Path(&new, Overwrite::Others)] {
        hold("set, compare", |progress| Plan::of(&plain, &changes, &|_| true, progress));
        let plan = Plan::of(&plain, &changes, &|_| true, &Silent).unwrap();
        hold("set", |progress| plan.write(target, false, progress));
    }
}

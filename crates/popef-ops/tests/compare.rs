//! Differences and digests: what must hold for any files.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use popef::types::{Anchor, BlobType, EngineOption, FeedDataInfo, OpaqueInfo, TensorDataInfo, TensorType, Text};
use popef::write::Packing;
use popef::{DataType, File, Metadata, OpenOptions, TensorInfo, Writer};
use popef_ops::Silent;
use popef_ops::diff::{BlobDiff, DiffOptions, DiffSummary, Status, Tolerance, Verdict, diff};
use popef_ops::hash::{Algorithms, FileHash, HashOptions, hash};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const EXACT: DiffOptions =
    DiffOptions { tolerance: Tolerance { atol: 0.0, rtol: 0.0, equal_nan: false }, exact: true, stop_early: false };

fn compare(a: &File, b: &File, options: &DiffOptions) -> (DiffSummary, Vec<BlobDiff>) {
    let mut blobs = Vec::new();
    let summary = diff(a, b, options, &|_| true, &Silent, &mut |blob| {
        blobs.push(blob);
        Ok(())
    });
    (summary.unwrap(), blobs)
}

fn verdict(a: &File, b: &File, options: &DiffOptions) -> Verdict {
    let (summary, blobs) = compare(a, b, options);
    let stopped = compare(a, b, &DiffOptions { stop_early: true, ..*options }).0;
    assert_eq!(stopped.verdict, summary.verdict, "stopping early changes the answer");
    let told = [Status::Close, Status::NotComparable, Status::Renamed, Status::Changed, Status::Removed, Status::Added]
        .map(|status| blobs.iter().filter(|blob| blob.status == status).count() as u64);
    let counts = summary.counts;
    let counted = [counts.close, counts.not_comparable, counts.renamed, counts.changed, counts.removed, counts.added];
    assert_eq!(told, counted);
    summary.verdict
}

fn digests(file: &File, algorithms: Algorithms, whole: bool) -> FileHash {
    let options = HashOptions { algorithms, whole, ..HashOptions::default() };
    hash(file, &options, &|_| true, &Silent).unwrap()
}

/// A model whose parts can be written in several ways.
#[derive(Clone, Debug)]
struct Model {
    executable: Vec<u8>,
    metadata: Metadata,
    opaque: Vec<u8>,
    tensors: Vec<(DataType, Vec<u8>)>,
    feed: Vec<u8>,
}

/// How a model is written, which does not change what it means.
#[derive(Clone, Debug)]
struct Style {
    packing: Option<Packing>,
    order: Vec<Index>,
    version: &'static str,
    reversed_lists: bool,
}

fn tensor_info(data_type: DataType, bytes: &[u8]) -> TensorInfo {
    TensorInfo::new(data_type, [(bytes.len() as u64 / data_type.size().unwrap()) as i64])
}

impl Model {
    fn write(&self, style: &Style) -> File {
        let mut parts: Vec<usize> = (0..self.tensors.len() + 4).collect();
        for (at, index) in style.order.iter().enumerate().take(parts.len()) {
            let other = index.index(parts.len());
            parts.swap(at, other);
        }
        let mut writer = Writer::seekable(Cursor::new(Vec::new())).unwrap();
        writer.version(Text::from(style.version));
        for part in parts {
            self.write_part(&mut writer, part, style);
        }
        File::from_bytes(writer.into_inner().unwrap().into_inner()).unwrap()
    }

    fn write_part(&self, writer: &mut Writer<popef::write::Seekable<Cursor<Vec<u8>>>>, part: usize, style: &Style) {
        match part {
            0 => match style.packing {
                Some(packing) => writer.write_packed_executable("model", &self.executable, packing),
                None => writer.write_executable("model", &self.executable),
            },
            1 => {
                let mut metadata = self.metadata.clone();
                if style.reversed_lists {
                    metadata.anchors.reverse();
                    metadata.engine_options.reverse();
                }
                writer.write_metadata(&metadata)
            }
            2 => {
                let info = OpaqueInfo { name: "opaque".into(), executable: "model".into() };
                writer.write_opaque(&info, &self.opaque)
            }
            3 => {
                let tensor_info = TensorInfo::new(DataType::U8, [1]);
                let num_tensors = self.feed.len() as u32;
                writer.write_feed_bytes(&FeedDataInfo { name: "feed".into(), tensor_info, num_tensors }, &self.feed)
            }
            tensor => {
                let number = tensor - 4;
                let (data_type, bytes) = &self.tensors[number];
                let tensor_info = tensor_info(*data_type, bytes);
                let info = TensorDataInfo { name: format!("tensor {number}").into(), tensor_info };
                writer.write_tensor_bytes(&info, bytes)
            }
        }
        .unwrap();
    }
}

fn data_type() -> impl Strategy<Value = DataType> {
    select(DataType::ALL)
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let anchor = |(name, output, shape, repeats): (u8, bool, Vec<i64>, u32)| Anchor {
        name: format!("anchor {name}").into(),
        tensor_type: if output { TensorType::Output } else { TensorType::Input },
        tensor_info: TensorInfo::new(DataType::F16, shape),
        repeats,
        ..Anchor::default()
    };
    let option = |(name, value): (u8, u8)| EngineOption {
        name: format!("option {name}").into(),
        value: value.to_string().into(),
    };
    // The names are unique: the order of items with the same name counts.
    let anchors = proptest::collection::btree_map((0..9u8, any::<bool>()), (vec(0..9i64, 0..3), 0..3u32), 0..5);
    let options = proptest::collection::btree_map(0..9u8, any::<u8>(), 0..5);
    (any::<u32>(), options, anchors).prop_map(move |(num_ipus, options, anchors)| Metadata {
        executable: "model".into(),
        num_ipus,
        engine_options: options.into_iter().map(option).collect(),
        anchors: anchors
            .into_iter()
            .map(|((name, output), (shape, repeats))| anchor((name, output, shape, repeats)))
            .collect(),
        ..Metadata::default()
    })
}

fn model() -> impl Strategy<Value = Model> {
    let tensor = (data_type(), vec(any::<[u8; 8]>(), 0..20)).prop_map(|(data_type, bytes)| {
        let bytes: Vec<u8> = bytes.concat();
        (data_type, if data_type == DataType::Bool { bytes.iter().map(|byte| byte & 1).collect() } else { bytes })
    });
    let bytes = || vec(any::<u8>(), 0..200);
    (bytes(), metadata(), bytes(), vec(tensor, 0..6), bytes())
        .prop_map(|(executable, metadata, opaque, tensors, feed)| Model { executable, metadata, opaque, tensors, feed })
}

fn style() -> impl Strategy<Value = Style> {
    let packing = select(vec![None, Some(Packing::Zlib(1)), Some(Packing::Zlib(9)), Some(Packing::Gzip(6))]);
    (packing, vec(any::<Index>(), 0..8), select(vec!["", "1.0"]), any::<bool>())
        .prop_map(|(packing, order, version, reversed_lists)| Style { packing, order, version, reversed_lists })
}

fn bytes_of(file: &File) -> Vec<u8> {
    let blobs =
        file.blobs().map(|blob| [blob.header_bytes(), blob.info_bytes(), &blob.data().read().unwrap()].concat());
    [file.prefix().read().unwrap().to_vec()].into_iter().chain(blobs).collect::<Vec<_>>().concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn how_a_model_is_written_does_not_change_what_it_means(model in model(), one in style(), other in style()) {
        let (a, b) = (model.write(&one), model.write(&other));
        prop_assert_eq!(verdict(&a, &b, &DiffOptions::default()), Verdict::Same);
        let [of_a, of_b] = [&a, &b].map(|file| digests(file, Algorithms::BOTH, false).content);
        prop_assert!(!of_a.is_empty());
        prop_assert_eq!(of_a, of_b);
        let same_bytes = bytes_of(&a) == bytes_of(&b);
        prop_assert_eq!(verdict(&a, &b, &EXACT) == Verdict::Same, same_bytes);
    }

    #[test]
    fn another_model_means_something_else(model in model(), other in model(), style in style()) {
        let (a, b) = (model.write(&style), other.write(&style));
        let same = verdict(&a, &b, &DiffOptions::default()) == Verdict::Same;
        let [of_a, of_b] = [&a, &b].map(|file| digests(file, Algorithms::SHA256, false).content);
        // Zeros of different sign are the same values, but not the same content.
        prop_assert!(same || of_a != of_b);
    }

    #[test]
    fn one_changed_element_is_found(
        model in model(), style in style(), tensor in any::<Index>(), element in any::<Index>(), bits in 1..=255u8,
    ) {
        let mut changed = model.clone();
        prop_assume!(!model.tensors.is_empty());
        let tensor = tensor.index(model.tensors.len());
        let (data_type, bytes) = &mut changed.tensors[tensor];
        prop_assume!(!bytes.is_empty());
        let size = data_type.size().unwrap() as usize;
        let element = element.index(bytes.len() / size);
        // The lowest byte of a number: what is not zero then stays so.
        let byte = &mut bytes[element * size];
        *byte ^= if *data_type == DataType::Bool { 1 } else { bits };
        let (_, blobs) = compare(&model.write(&style), &changed.write(&style), &DiffOptions::default());
        prop_assert_eq!(blobs.len(), 1);
        prop_assert_eq!((blobs[0].blob_type, blobs[0].name.to_string()), (BlobType::DataTensor, format!("tensor {tensor}")));
        let values = blobs[0].values.as_ref().unwrap();
        let first = values.first.as_ref().unwrap();
        prop_assert_eq!((values.different, &first.index), (1, &vec![element as u64]));
    }

    #[test]
    fn the_digest_of_the_whole_changes_nothing_else(model in model(), style in style()) {
        let file = model.write(&style);
        let alone = digests(&file, Algorithms::BOTH, false);
        let mut with_whole = digests(&file, Algorithms::BOTH, true);
        let whole = std::mem::take(&mut with_whole.whole);
        prop_assert_eq!(whole.blake3.unwrap().0, *blake3::hash(&bytes_of(&file)).as_bytes());
        prop_assert_eq!(with_whole, alone);
    }
}

/// A file on disk whose one tensor is large enough to be cut into pieces, and so is its one opaque blob.
fn large(folder: &Path, name: &str, elements: &[f32], opaque: &[u8]) -> File {
    let path = folder.join(name);
    let mut writer = Writer::create(&path).unwrap();
    let tensor_info = TensorInfo::new(DataType::F32, [(elements.len() / 1000) as i64, 10, 100]);
    writer.write_tensor(&TensorDataInfo { name: "large".into(), tensor_info }, elements).unwrap();
    writer.write_opaque(&OpaqueInfo { name: "large".into(), executable: "model".into() }, opaque).unwrap();
    writer.finish().unwrap();
    File::open(path).unwrap()
}

#[test]
fn differences_in_large_data_are_counted_over_all_pieces() {
    let folder = tempfile::tempdir().unwrap();
    // Eight pieces of 65,536 elements, less some.
    let elements: Vec<f32> = (0..500_000u32).map(|number| number as f32).collect();
    let opaque: Vec<u8> = (0..1_000_000u32).map(|number| (number.wrapping_mul(number) >> 7) as u8).collect();
    let a = large(folder.path(), "a", &elements, &opaque);
    let (mut changed, mut bytes) = (elements.clone(), opaque.clone());
    let places = [65_535, 65_536, 131_071, 300_007, 499_999];
    places.iter().for_each(|at| changed[*at] += 0.5);
    changed[300_007] = -1.0;
    changed[499_999] = f32::NAN;
    bytes[999_999] ^= 1;
    bytes.extend([0; 10]);
    let b = large(folder.path(), "b", &changed, &bytes);

    let (_, blobs) = compare(&a, &b, &DiffOptions::default());
    let values = blobs[0].values.as_ref().unwrap();
    let first = values.first.as_ref().unwrap();
    assert_eq!((values.elements, values.different, values.not_a_number), (500_000, 5, 1));
    assert_eq!(
        (first.index.as_slice(), first.a.to_string(), first.b.to_string()),
        (&[65, 5, 35][..], "65535.0".into(), "65535.5".into())
    );
    let most = [values.max_abs, values.max_rel].map(|most| most.unwrap().to_string());
    assert_eq!(most, ["300008.0", "300008.0"]);
    let found = blobs[1].bytes.as_ref().unwrap();
    assert_eq!((found.a, found.b, found.first, found.different), (1_000_000, 1_000_010, Some(999_999), Some(1)));

    let tolerance = Tolerance { atol: 0.5, rtol: 0.0, equal_nan: true };
    let (_, blobs) = compare(&a, &b, &DiffOptions { tolerance, ..DiffOptions::default() });
    let values = blobs[0].values.as_ref().unwrap();
    assert_eq!((values.different, values.first.as_ref().unwrap().index.as_slice()), (2, &[300, 0, 7][..]));

    for file in [&a, &b] {
        let hash = digests(file, Algorithms::BLAKE3, false);
        for (blob, found) in file.blobs().zip(hash.blobs) {
            assert_eq!(found.data.blake3.unwrap().0, *blake3::hash(&blob.data().read().unwrap()).as_bytes());
        }
        // Both at once are not computed in pieces.
        let content = |algorithms| digests(file, algorithms, false).content.blake3;
        assert_eq!(content(Algorithms::BLAKE3), content(Algorithms::BOTH));
    }
}

/// All files of testdata that can be opened, other than very large ones.
fn testdata() -> Vec<(PathBuf, File)> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "popef" || end == "poptorch") {
                let name = path.file_name().unwrap().to_string_lossy();
                // These take long to unpack without optimisation.
                if name.starts_with("bomb") || name.ends_with("settings.popef") {
                    continue;
                }
                let file = OpenOptions::new().after_pickle(true).open(&path);
                files.extend(file.ok().map(|file| (path, file)));
            }
        }
    }
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    files
}

/// For files of every kind, also odd ones: exactly the same are those with the same bytes, and the same are those with the same
/// content. No pair takes long or panics.
#[test]
fn verdicts_fit_bytes_and_content() {
    let files = testdata();
    assert!(files.len() > 150, "{}", files.len());
    let contents: Vec<_> = files.iter().map(|(_, file)| digests(file, Algorithms::SHA256, false).content).collect();
    let bytes: Vec<_> = files.iter().map(|(_, file)| bytes_of(file)).collect();
    let mut same = 0;
    for (at, (path, a)) in files.iter().enumerate() {
        let others = files.iter().zip(&bytes).enumerate().skip(at);
        for (other, ((path_of_b, _), of_b)) in others.filter(|(other, _)| other - at < 3 || (other - at) % 61 == 0) {
            // Opened once more, so that a file is not known to be the same as itself.
            let b = &OpenOptions::new().after_pickle(true).bytes(of_b.clone()).unwrap();
            let pair = format!("{} and {}", path.display(), path_of_b.display());
            let exactly = verdict(a, b, &EXACT);
            let by_meaning = verdict(a, b, &DiffOptions::default());
            assert_eq!(exactly == Verdict::Same, bytes[at] == bytes[other], "{pair}");
            if exactly == Verdict::Same {
                assert_eq!(by_meaning, Verdict::Same, "{pair}");
            }
            let same_content = !contents[at].is_empty() && contents[at] == contents[other];
            if same_content {
                assert_eq!(by_meaning, Verdict::Same, "{pair}");
            }
            if by_meaning == Verdict::Same && at != other {
                assert!(same_content || contents[at].is_empty(), "{pair}");
                same += 1;
            }
        }
    }
    assert!(same > 5, "{same}");
}

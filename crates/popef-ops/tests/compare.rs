//! Differences and digests: what must hold for any files.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use popef::types::{Anchor, BlobType, EngineOption, FeedDataInfo, OpaqueInfo, TensorDataInfo, TensorType, Text};
use popef::write::Packing;
use popef::{Blob, DataType, File, Metadata, OpenOptions, TensorInfo, Writer};
use popef_ops::Silent;
use popef_ops::diff::{BlobDiff, DiffOptions, DiffSummary, Status, Tolerance, Verdict, diff};
use popef_ops::hash::{
    Algorithms, BlobHash, BlobVerdict, FileHash, HashOptions, Manifest, ManifestEntry, ManifestLine, Verification,
    VerifyOptions, WrongBlob, hash, verify,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn exact() -> DiffOptions<'static> {
    DiffOptions { exact: true, ..DiffOptions::default() }
}

fn compare(a: &File, b: &File, options: &DiffOptions<'_>) -> (DiffSummary, Vec<BlobDiff>) {
    let mut blobs = Vec::new();
    let summary = diff(a, b, options, &Silent, &mut |blob| {
        blobs.push(blob);
        Ok(())
    });
    (summary.unwrap(), blobs)
}

fn verdict(a: &File, b: &File, options: &DiffOptions<'_>) -> Verdict {
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

fn hashes(file: &File, options: &HashOptions<'_>) -> (FileHash, Vec<BlobHash>) {
    let mut blobs = Vec::new();
    let hashed = hash(file, options, &Silent, &mut |blob| {
        blobs.push(blob);
        Ok(())
    });
    (hashed.unwrap(), blobs)
}

fn digests(file: &File, algorithms: Algorithms, whole: bool) -> (FileHash, Vec<BlobHash>) {
    hashes(file, &HashOptions { algorithms, whole, ..HashOptions::default() })
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
    let blobs = file.blobs().map(|blob| [blob.head_bytes(), blob.data()].map(|bytes| bytes.read().unwrap()).concat());
    [file.prefix().read().unwrap().to_vec()].into_iter().chain(blobs).collect::<Vec<_>>().concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn how_a_model_is_written_does_not_change_what_it_means(model in model(), one in style(), other in style()) {
        let (a, b) = (model.write(&one), model.write(&other));
        prop_assert_eq!(verdict(&a, &b, &DiffOptions::default()), Verdict::Same);
        let [of_a, of_b] = [&a, &b].map(|file| digests(file, Algorithms::BOTH, false).0.content);
        prop_assert!(!of_a.is_empty());
        prop_assert_eq!(of_a, of_b);
        let same_bytes = bytes_of(&a) == bytes_of(&b);
        prop_assert_eq!(verdict(&a, &b, &exact()) == Verdict::Same, same_bytes);
    }

    #[test]
    fn another_model_means_something_else(model in model(), other in model(), style in style()) {
        let (a, b) = (model.write(&style), other.write(&style));
        let same = verdict(&a, &b, &DiffOptions::default()) == Verdict::Same;
        let [of_a, of_b] = [&a, &b].map(|file| digests(file, Algorithms::SHA256, false).0.content);
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
        let mut alone = digests(&file, Algorithms::BOTH, false);
        // With that of the whole, nothing else is needed.
        prop_assert!(!std::mem::take(&mut alone.0.headers).is_empty());
        let mut with_whole = digests(&file, Algorithms::BOTH, true);
        let whole = std::mem::take(&mut with_whole.0.whole);
        prop_assert_eq!(whole.blake3.unwrap().0, *blake3::hash(&bytes_of(&file)).as_bytes());
        prop_assert_eq!(with_whole, alone);
    }
}

/// The manifest of a file, in lines, as a document, and as a document that another program wrote anew.
fn manifests(file: &File, options: &HashOptions<'_>) -> Vec<ManifestEntry> {
    let (hashed, blobs) = hashes(file, options);
    let path = Path::new("model.popef");
    let (in_file, path) = (path.into(), path.into());
    let mut lines: Vec<String> = Vec::new();
    for blob in &blobs {
        lines.push(serde_json::to_string(&ManifestLine::Blob { file: &in_file, blob }).unwrap());
    }
    let of_file = serde_json::to_value(ManifestLine::File { path: &path, hash: &hashed }).unwrap();
    lines.push(of_file.to_string());
    let mut of_file = of_file;
    of_file["blobs"] = serde_json::to_value(&blobs).unwrap();
    let document = serde_json::json!({ "schemaVersion": 1, "files": [of_file] });
    let texts = [lines.join("\n"), document.to_string(), format!("\n {document:#}")];
    let entry = |text: &String| match Manifest::read(&mut text.as_bytes()).unwrap() {
        Manifest::Entries(mut entries) => entries.pop().unwrap(),
        other => panic!("{other:?}"),
    };
    texts.iter().map(entry).collect()
}

fn verified(file: &File, entry: &ManifestEntry, only_content: bool) -> (Verification, Vec<WrongBlob>) {
    let mut blobs = Vec::new();
    let found =
        verify(file, entry, &VerifyOptions { only_content, ..VerifyOptions::default() }, &Silent, &mut |blob| {
            blobs.push(blob);
            Ok(())
        });
    (found.unwrap(), blobs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn a_manifest_fits_its_model_in_any_order(model in model(), one in style(), other in style(), whole in any::<bool>()) {
        let (a, b) = (model.write(&one), model.write(&other));
        let same_bytes = bytes_of(&a) == bytes_of(&b);
        let options = HashOptions { algorithms: Algorithms::BOTH, whole, ..HashOptions::default() };
        for entry in manifests(&a, &options) {
            prop_assert!(verified(&a, &entry, false).0.ok);
            let (found, blobs) = verified(&b, &entry, true);
            prop_assert!(found.ok && blobs.is_empty(), "{found:?} {blobs:?}");
            // Nothing but the packing of the executable can differ, apart from order and headers.
            let (found, blobs) = verified(&b, &entry, false);
            prop_assert!(blobs.len() <= 1, "{blobs:?}");
            prop_assert_eq!((found.ok, found.whole), (same_bytes, Some(same_bytes)));
        }
        let without = HashOptions { headers: false, whole: false, ..options };
        for entry in manifests(&a, &without) {
            let (found, _) = verified(&b, &entry, false);
            prop_assert!((found.ok || !same_bytes) && found.whole.is_none(), "{found:?}");
        }
    }
}

/// Tensors of these names, each with one byte.
fn tensors(tensors: &[(&str, u8)]) -> File {
    let mut writer = Writer::stream(Vec::new());
    for (name, byte) in tensors {
        let tensor_info = TensorInfo::new(DataType::U8, [1]);
        writer.write_tensor_bytes(&TensorDataInfo { name: (*name).to_owned().into(), tensor_info }, &[*byte]).unwrap();
    }
    File::from_bytes(writer.into_inner().unwrap()).unwrap()
}

/// Blobs of one name are paired in their order, by a manifest as by a comparison.
#[test]
fn blobs_that_are_not_as_in_the_manifest_are_told() {
    let kept = tensors(&[("a", 1), ("b", 2), ("a", 3), ("c", 4), ("a", 5)]);
    type Expected<'e> = &'e [(BlobVerdict, Option<usize>, &'e str)];
    use BlobVerdict::{Added, Changed, Missing};
    let cases: [(&[(&str, u8)], Expected<'_>); 5] = [
        (&[("a", 1), ("a", 3), ("a", 5), ("b", 2), ("c", 4)], &[]),
        (&[("a", 1), ("b", 9), ("a", 3), ("c", 4), ("a", 5)], &[(Changed, Some(1), "b")]),
        (
            &[("a", 3), ("c", 4), ("a", 1)],
            &[(Changed, Some(0), "a"), (Changed, Some(2), "a"), (Missing, None, "b"), (Missing, None, "a")],
        ),
        (
            &[("d", 1), ("a", 1), ("b", 2), ("a", 3), ("c", 4), ("a", 5), ("a", 6)],
            &[(Added, Some(0), "d"), (Added, Some(6), "a")],
        ),
        (
            &[],
            &[
                (Missing, None, "a"),
                (Missing, None, "b"),
                (Missing, None, "a"),
                (Missing, None, "c"),
                (Missing, None, "a"),
            ],
        ),
    ];
    let all = manifests(&kept, &HashOptions::default()).into_iter().map(|entry| (entry, true));
    let old = manifests(&kept, &HashOptions { headers: false, ..HashOptions::default() });
    for (entry, has_headers) in all.chain(old.into_iter().map(|entry| (entry, false))) {
        for (file, expected) in cases {
            let (found, blobs) = verified(&tensors(file), &entry, false);
            let told: Vec<_> = blobs.iter().map(|blob| (blob.verdict, blob.index, blob.name.to_string())).collect();
            let expected: Vec<_> =
                expected.iter().map(|(verdict, index, name)| (*verdict, *index, (*name).to_owned())).collect();
            assert_eq!(told, expected, "{file:?}");
            let count = |verdict| told.iter().filter(|(told, ..)| *told == verdict).count() as u64;
            assert_eq!((found.changed, found.missing, found.added), (count(Changed), count(Missing), count(Added)));
            // The order of the blobs is in the headers.
            assert_eq!((found.ok, found.whole), (expected.is_empty() && !has_headers, has_headers.then_some(false)));
        }
    }
}

/// A manifest of some blobs says nothing of the others.
#[test]
fn a_manifest_of_chosen_blobs_fits_a_file_with_others() {
    let file = tensors(&[("a", 1), ("b", 2), ("c", 3)]);
    let select = |blob: &Blob<'_>| blob.index() != 1;
    let options = HashOptions { select: &select, ..HashOptions::default() };
    let (hashed, blobs) = hashes(&file, &options);
    assert!(hashed.content.is_empty() && !hashed.complete);
    assert_eq!(blobs.iter().map(|blob| blob.index).collect::<Vec<_>>(), [0, 2]);
    for entry in manifests(&file, &options) {
        assert!(verified(&file, &entry, false).0.ok);
        assert!(verified(&tensors(&[("a", 1), ("b", 9), ("c", 3)]), &entry, false).0.ok);
        let (found, _) = verified(&tensors(&[("b", 2), ("c", 4)]), &entry, false);
        assert_eq!((found.ok, found.changed, found.missing, found.added), (false, 1, 1, 0));
    }
}

/// Headers alone allow no conclusion about the data.
#[test]
fn a_manifest_of_headers_says_nothing_of_the_data() {
    let options = HashOptions { data: false, content: false, ..HashOptions::default() };
    for entry in manifests(&tensors(&[("a", 1), ("b", 2)]), &options) {
        let of = |blobs: &[(&str, u8)]| verified(&tensors(blobs), &entry, false).0;
        let (same, other) = (of(&[("a", 9), ("b", 2)]), of(&[("b", 2), ("a", 1)]));
        assert_eq!((same.ok, same.whole, other.ok, other.whole), (true, None, false, Some(false)));
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
    // Tasks of 524,288 elements, in pieces of 65,536.
    let elements: Vec<f32> = (0..1_200_000u32).map(|number| number as f32).collect();
    let opaque: Vec<u8> = (0..5_000_000u32).map(|number| (number.wrapping_mul(number) >> 7) as u8).collect();
    let a = large(folder.path(), "a", &elements, &opaque);
    let (mut changed, mut bytes) = (elements.clone(), opaque.clone());
    let places = [65_535, 65_536, 524_287, 524_288, 700_007, 1_199_999];
    places.iter().for_each(|at| changed[*at] += 0.5);
    changed[700_007] = -1.0;
    changed[1_199_999] = f32::NAN;
    bytes[4_999_999] ^= 1;
    bytes.extend([0; 10]);
    let b = large(folder.path(), "b", &changed, &bytes);

    let (_, blobs) = compare(&a, &b, &DiffOptions::default());
    let values = blobs[0].values.as_ref().unwrap();
    let first = values.first.as_ref().unwrap();
    assert_eq!((values.elements, values.different, values.not_a_number), (1_200_000, 6, 1));
    assert_eq!(
        (first.index.as_slice(), first.a.to_string(), first.b.to_string()),
        (&[65, 5, 35][..], "65535.0".into(), "65535.5".into())
    );
    let most = [values.max_abs, values.max_rel].map(|most| most.unwrap().to_string());
    assert_eq!(most, ["700008.0", "700008.0"]);
    let found = blobs[1].bytes.as_ref().unwrap();
    assert_eq!((found.a, found.b, found.first, found.different), (5_000_000, 5_000_010, Some(4_999_999), Some(1)));

    let tolerance = Tolerance { atol: 0.5, rtol: 0.0, equal_nan: true };
    let (_, blobs) = compare(&a, &b, &DiffOptions { tolerance, ..DiffOptions::default() });
    let values = blobs[0].values.as_ref().unwrap();
    assert_eq!((values.different, values.first.as_ref().unwrap().index.as_slice()), (2, &[700, 0, 7][..]));

    for file in [&a, &b] {
        let (_, blobs) = digests(file, Algorithms::BLAKE3, false);
        for (blob, found) in file.blobs().zip(blobs) {
            assert_eq!(found.data.blake3.unwrap().0, *blake3::hash(&blob.data().read().unwrap()).as_bytes());
        }
        // Both at once are not computed in pieces.
        let content = |algorithms| digests(file, algorithms, false).0.content.blake3;
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
    let contents: Vec<_> = files.iter().map(|(_, file)| digests(file, Algorithms::SHA256, false).0.content).collect();
    let bytes: Vec<_> = files.iter().map(|(_, file)| bytes_of(file)).collect();
    let mut same = 0;
    for (at, (path, a)) in files.iter().enumerate() {
        let others = files.iter().zip(&bytes).enumerate().skip(at);
        for (other, ((path_of_b, _), of_b)) in others.filter(|(other, _)| other - at < 3 || (other - at) % 61 == 0) {
            // Opened once more, so that a file is not known to be the same as itself.
            let b = &OpenOptions::new().after_pickle(true).bytes(of_b.clone()).unwrap();
            let pair = format!("{} and {}", path.display(), path_of_b.display());
            let exactly = verdict(a, b, &exact());
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

//! Extracted files are packed again to the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use popef::{File, OpenOptions, Writer};
use popef_ops::extract::{Arrays, ExtractOptions, extract};
use popef_ops::pack::{PackInput, PackOptions, State, pack};
use popef_ops::{Overwrite, Silent, Target, TargetFolder};
use proptest::prelude::*;

#[allow(dead_code, unreachable_pub, reason = "only a part of it is used here")]
#[path = "../../../popef/tests/common/writing/models.rs"]
mod models;

const FORMS: [Arrays; 4] = [Arrays::Npy, Arrays::Npz, Arrays::Safetensors, Arrays::Raw];

thread_local! {
    static SCHEMA: Schema = Schema::load();
}

/// `docs/index.schema.json`.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn load() -> Self {
        let text = fs::read_to_string(testdata().join("../docs/index.schema.json")).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("index.schema.json", serde_json::from_str(&text).unwrap()).unwrap();
        let index = compiler.compile("index.schema.json", &mut schemas).unwrap();
        Schema { schemas, index }
    }

    #[track_caller]
    fn hold(&self, index: &[u8], what: &str) {
        let index = serde_json::from_slice(index).unwrap();
        self.schemas.validate(&index, self.index).unwrap_or_else(|error| panic!("{what}: {error:#}"));
    }
}

/// Extracts a file, packs the folder, and compares.
#[track_caller]
fn hold(file: &File, bytes: &[u8], arrays: Arrays, what: &str) {
    let place = tempfile::tempdir().unwrap();
    let (folder, packed) = (place.path().join("folder"), place.path().join("packed.popef"));
    let options = ExtractOptions { arrays, ..ExtractOptions::default() };
    let mut indices = Vec::new();
    let files = std::slice::from_ref(file);
    let extracted = extract(files, TargetFolder::At(&folder, Overwrite::Never), &options, &Silent, &mut |blob| {
        indices.push(blob.index);
        Ok(())
    });
    assert_eq!(extracted.unwrap().files[0].extracted, file.len() as u64, "{what}");
    assert!(indices.into_iter().eq(0..file.len()), "{what}");
    SCHEMA.with(|schema| schema.hold(&fs::read(folder.join("index.json")).unwrap(), what));
    let inputs = [PackInput::Folder(folder)];
    let target = Target::Path(&packed, Overwrite::Never);
    let mut states = Vec::new();
    let report = pack(&inputs, target, &PackOptions::default(), &Silent, &mut |blob| {
        states.push(blob.state);
        Ok(())
    });
    let report = report.unwrap_or_else(|error| panic!("{what} {arrays:?}: {error}"));
    assert!(fs::read(&packed).unwrap() == bytes, "{what} {arrays:?}");
    assert_eq!(states, vec![State::Same; file.len()], "{what} {arrays:?}");
    assert_eq!((report.blobs, report.same), (file.len() as u64, file.len() as u64));
    assert_eq!(report.size, bytes.len() as u64);
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_in(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "popef" || ending == "poptorch") {
            found.push(path);
        }
    }
}

#[test]
fn every_whole_file_of_testdata_is_made_again_byte_for_byte() {
    let mut paths = Vec::new();
    files_in(&testdata(), &mut paths);
    let mut whole = 0usize;
    for path in paths {
        let Ok(file) = OpenOptions::new().after_pickle(true).open(&path) else { continue };
        whole += 1;
        // Most files have no more than one tensor, so each is tried in some of the ways.
        for arrays in [FORMS[0], FORMS[whole % FORMS.len()]] {
            hold(&file, &fs::read(&path).unwrap(), arrays, &path.display().to_string());
        }
    }
    // Damaged files are not among them.
    assert!(whole > 200, "{whole}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn every_model_is_made_again_byte_for_byte(planned in models::blobs(true), form in 0..FORMS.len()) {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let mut writer = Writer::seekable(&mut bytes).unwrap();
        planned.iter().for_each(|blob| drop(blob.write(&mut writer)));
        writer.finish().unwrap();
        let bytes = bytes.into_inner();
        let file = File::from_bytes(bytes.clone()).unwrap();
        hold(&file, &bytes, FORMS[form], "a random model");
    }
}

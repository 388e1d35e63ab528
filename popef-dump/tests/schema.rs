//! All JSON that the tool prints meets `docs/dump.schema.json`.

mod common;

use std::fs;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use common::{files, golden, interop, run, run_with_input, testdata};
use popef::DataType;
use popef::error::{ErrorCode, ErrorKind};
use serde_json::Value;

struct Schema {
    schemas: Schemas,
    document: SchemaIndex,
    line: SchemaIndex,
}

impl Schema {
    fn load() -> Self {
        let text = fs::read_to_string(testdata().join("../docs/dump.schema.json")).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let errors = fs::read_to_string(testdata().join("../docs/error.schema.json")).unwrap();
        let url = "https://github.com/popef/popef/docs/error.schema.json";
        compiler.add_resource(url, serde_json::from_str(&errors).unwrap()).unwrap();
        compiler.add_resource("dump.schema.json", serde_json::from_str(&text).unwrap()).unwrap();
        let document = compiler.compile("dump.schema.json", &mut schemas).unwrap();
        let line = compiler.compile("dump.schema.json#/$defs/line", &mut schemas).unwrap();
        Schema { schemas, document, line }
    }

    fn accepts(&self, document: &Value) -> Result<(), String> {
        self.schemas.validate(document, self.document).map_err(|error| format!("{error:#}"))
    }

    fn hold(&self, folder: &Path, args: &[&str]) {
        let document = run(folder, &[&["--format", "json"], args].concat());
        self.accepts(&document.json()).unwrap_or_else(|error| panic!("{args:?}: {error}"));
        let lines = run(folder, &[&["--format", "ndjson"], args].concat());
        for line in lines.json_lines() {
            self.schemas.validate(&line, self.line).unwrap_or_else(|error| panic!("{args:?}: {error:#}"));
        }
        assert_eq!(document.status, lines.status, "{args:?}");
    }
}

#[test]
fn all_files_under_all_options() {
    let schema = Schema::load();
    for folder in
        [interop(), golden(), testdata().join("compressed"), testdata().join("executables"), testdata().join("opaque")]
    {
        for file in files(&folder, ".popef") {
            for options in
                [&[][..], &["-v", "--values=3"], &["-v", "-e"], &["-a"], &["-m", "-t"], &["-u", "--sort", "name"]]
            {
                schema.hold(&folder, &[options, &[&file]].concat());
            }
        }
    }
}

#[test]
fn what_is_no_popef_file() {
    let schema = Schema::load();
    schema.hold(&golden(), &["no-such-file", ".", "../float8/e4m3fnuz.txt", "damaged.popef", "../interop/empty.popef"]);
    schema.hold(&golden(), &["--files-from", "/dev/null", "damaged.popef"]);
}

/// Cuts and bytes turned over, on standard input: whatever comes, the output is JSON of this shape.
#[test]
fn damaged_files() {
    let schema = Schema::load();
    let bytes = fs::read(golden().join("hostile-names.popef")).unwrap();
    for at in (1..bytes.len()).step_by(61) {
        let mut turned = bytes.clone();
        turned[at] ^= 0xff;
        for input in [&bytes[..at], &turned] {
            let run = run_with_input(&golden(), &["--format", "json", "--values=1", "-"], input);
            schema.accepts(&run.json()).unwrap_or_else(|error| panic!("byte {at}: {error}"));
            let failed = run.out.contains("\"error\":{");
            assert_eq!((run.status, run.err.is_empty()), (if failed { 2 } else { 0 }, !failed), "byte {at}: {run:?}");
        }
    }
}

/// The schema allows all that the library can say: each kind by its name, and each code.
#[test]
fn kinds_and_codes_of_errors_are_those_of_the_library() {
    let schema = Schema::load();
    let document = run(&golden(), &["--format", "json", "damaged.popef"]).json();
    let accepts = |key: &str, name: &str| {
        let mut document = document.clone();
        document["files"][0]["error"][key] = name.into();
        schema.accepts(&document).is_ok()
    };
    assert!(ErrorKind::ALL.iter().all(|kind| accepts("kind", kind.as_str())));
    assert!(ErrorCode::ALL.iter().all(|code| accepts("code", code.as_str())) && accepts("code", "not-popef"));
    assert!(!accepts("kind", "usage") && !accepts("code", "Not a code"));
}

#[test]
fn the_schema_names_every_data_type() {
    let schema = Schema::load();
    let good = run(&interop(), &["--format", "json", "split-tensors.popef"]).json();
    let accepts = |name: &str| {
        let mut document = good.clone();
        *document.pointer_mut("/files/0/blobs/0/info/tensorInfo/dataType").unwrap() = name.into();
        schema.accepts(&document).is_ok()
    };
    assert!(DataType::ALL.iter().all(|data_type| accepts(&data_type.to_string())) && !accepts("F7"));
}

/// A schema that allows everything would pass the tests above.
#[test]
fn the_schema_says_no() {
    let schema = Schema::load();
    let good = run(&interop(), &["--format", "json", "split-feeds.popef"]).json();
    schema.accepts(&good).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut document = good.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        document
    };
    let wrong = [
        with("/schemaVersion", 2.into()),
        with("/files/0/size", "big".into()),
        with("/files/0/blobs/0/offset", (-1).into()),
        with("/files/0/blobs/0/type", "dataTensor".into()),
        with("/files/0/blobs/0/type", "other".into()),
        with("/files/0/blobs/0/info/name", Value::Null),
        with("/files/0/blobs/0/info/tensorInfo/dataType", "f32".into()),
        with("/files/0/blobs/0/info/tensorInfo/shape/0", 1.5.into()),
        with("/files/0/blobs/0/info/tensorInfo", serde_json::json!({})),
        with("/files/0/blobs/0", serde_json::json!({})),
    ];
    for document in wrong {
        assert!(schema.accepts(&document).is_err(), "{document}");
    }
    let lines = run(&golden(), &["--format", "ndjson", "damaged.popef"]).json_lines();
    let kinds: Vec<_> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"blob"), Some(&"error")));
    for (line, kind) in [(lines.first(), "error"), (lines.last(), "blob")] {
        let mut line = line.unwrap().clone();
        line["kind"] = kind.into();
        assert!(schema.schemas.validate(&line, schema.line).is_err(), "{line}");
    }
    let mut more = good.clone();
    more["files"][0]["blobs"][0]["extra"] = 1.into();
    assert!(schema.accepts(&more).is_err());
}

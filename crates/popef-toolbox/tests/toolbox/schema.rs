//! All JSON that the tool prints meets `docs/toolbox.schema.json`, also that of calls that fail.

use std::fs;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use crate::common::{Place, Run, testdata};
#[cfg(feature = "remote")]
use crate::remote::server::Server;

/// A command, what it does well, and what it cannot do. The files are those in `FILES`.
struct Case {
    command: &'static str,
    done: &'static [&'static str],
    failed: &'static [&'static str],
}

const FILES: &[&str] = &[
    "interop/executable.popef",
    "interop/split-executable.popef",
    "interop/split-feeds.popef",
    "interop/split-tensors.popef",
    "interop/add-clean.popef",
    "golden/damaged.popef",
    "golden/hostile-names.popef",
    "compressed/plain-poplar.popef",
    "compressed/zlib-poplar.popef",
    "interop/two-models.popef",
    "interop/replicated.popef",
    "opaque/poptorch/poptorch25.poptorch",
    "broken/gzip-without-trailer.popef",
    "tiles/model.tensor_map.json",
    "tiles/vars.json",
    "executables/tiles.a",
    "executables/thin.a",
    "executables/models.popef",
    "graph/train.json",
    "graph/train-changed.json",
    "graph/hostile.json",
    "graph/code-loading.json",
    "profile/tiny.graph.json",
    "profile/tiny.execution.json",
    "profile/hardware.graph.json",
    "profile/hardware.execution.json",
    "profile/odd/20-compute-set.graph.json",
    "profile/odd/36-control-names.graph.json",
];

/// Manifests, which fit none of the files.
const MANIFESTS: &[(&str, &str)] = &[
    ("SHA256SUMS", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  executable.popef\n"),
    (
        "manifest.ndjson",
        concat!(
            r#"{"kind":"blob","file":"executable.popef","type":"dataTensor","name":"input_parameter","#,
            r#""data":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}"#,
            "\n",
            r#"{"kind":"file","path":"executable.popef"}"#,
            "\n",
            r#"{"path":"no.popef","whole":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}"#,
        ),
    ),
    ("no-digests.json", r#"{"files":[{"path":"executable.popef"}]}"#),
];

const CASES: &[Case] = &[
    Case {
        command: "ls",
        done: &["executable.popef split-feeds.popef", "--values=2 hostile-names.popef"],
        failed: &["no.popef", "damaged.popef executable.popef", "--files-from no.txt", "--values 3 executable.popef"],
    },
    Case {
        command: "dump",
        done: &["executable.popef hostile-names.popef", "-e -v zlib-poplar.popef"],
        failed: &["damaged.popef", "-m --values executable.popef"],
    },
    Case {
        command: "check",
        done: &["executable.popef", "--each damaged.popef hostile-names.popef"],
        failed: &["no.popef", "--policy no.toml executable.popef", "-q executable.popef"],
    },
    Case { command: "explain", done: &["", "PE101 PE012", "blob-cut PE101"], failed: &["XYZ"] },
    Case {
        command: "extract",
        done: &[
            "executable.popef -o new",
            "hostile-names.popef split-feeds.popef --tensors-as npz -o new",
            "zlib-poplar.popef --unpacked --dry-run",
            "executable.popef -o new.npy",
            "hostile-names.popef -o new.npz",
        ],
        failed: &[
            "no.popef -o new",
            "executable.popef -o new.npy --type opaque",
            "executable.popef -o executable.popef",
            "executable.popef -o executable.popef/new --dry-run",
        ],
    },
    Case {
        command: "pack",
        done: &[
            "--executable plain-poplar.popef:a --opaque notes=executable.popef -o new.popef",
            "--executable executable.popef --compression zlib --dry-run",
        ],
        failed: &[
            "no -o new.popef",
            "--executable executable.popef -o executable.popef",
            "--tensors executable.popef -o new.popef",
        ],
    },
    Case {
        command: "set",
        done: &[
            "executable.popef --set numIpus=4 --rename input_parameter=w -o new.popef",
            "executable.popef --rename 3284579348837926701=m --keep-references --in-place",
            "executable.popef --set-version 2 --dry-run",
            "executable.popef --set numIpus=1 --in-place",
            "hostile-names.popef --set-version 2 -o new.popef",
        ],
        failed: &["no.popef --set numIpus=4 -o new.popef", "executable.popef --type feed --set numIpus=4 -o new.popef"],
    },
    Case {
        command: "compress",
        done: &["plain-poplar.popef -o new.popef", "--dry-run zlib-poplar.popef executable.popef split-feeds.popef"],
        failed: &["no.popef -o new.popef", "no.popef plain-poplar.popef --output-dir new"],
    },
    Case {
        command: "decompress",
        done: &["zlib-poplar.popef -o new.popef"],
        failed: &["no.popef -o new.popef", "zlib-poplar.popef damaged.popef --in-place"],
    },
    Case {
        command: "merge",
        done: &["executable.popef add-clean.popef --keep first -o new.popef", "hostile-names.popef --dry-run"],
        failed: &["damaged.popef executable.popef -o new.popef"],
    },
    Case {
        command: "split",
        done: &["executable.popef --by kind -o new", "hostile-names.popef --by model --dry-run"],
        failed: &["damaged.popef --by kind -o new.popef"],
    },
    Case {
        command: "strip",
        done: &["executable.popef --drop executable -o new.popef", "executable.popef --drop tensor --dry-run"],
        failed: &["executable.popef --drop tensor -o executable.popef", "executable.popef --drop feed --in-place"],
    },
    Case {
        command: "diff",
        done: &[
            "executable.popef executable.popef",
            "split-executable.popef executable.popef",
            "two-models.popef hostile-names.popef",
            "--exact --type metadata replicated.popef executable.popef",
            "poptorch25.poptorch split-feeds.popef",
        ],
        failed: &["damaged.popef executable.popef", "--type feed executable.popef executable.popef"],
    },
    Case {
        command: "hash",
        done: &[
            "executable.popef zlib-poplar.popef",
            "--whole --algorithm both hostile-names.popef poptorch25.poptorch",
            "--type tensor executable.popef",
        ],
        failed: &[
            "no.popef",
            "executable.popef damaged.popef",
            "gzip-without-trailer.popef",
            "--type feed executable.popef",
        ],
    },
    Case {
        command: "verify",
        done: &["SHA256SUMS", "manifest.ndjson", "manifest.ndjson --type tensor"],
        failed: &["no.manifest", "no-digests.json", "SHA256SUMS --type tensor"],
    },
    Case {
        command: "recover",
        done: &["damaged.popef -o new.popef", "executable.popef --dry-run"],
        failed: &["no.popef -o new.popef"],
    },
    Case {
        command: "tiles",
        done: &[
            "plan 784x10 F16",
            "plan scalar float --offset 3 --descending",
            "plan 0 U8 --ipus 2",
            "map model.tensor_map.json",
            "vars vars.json",
            "model executable.popef",
            "exec tiles.a --tile-memory 2KiB",
            "exec models.popef --filter whole",
        ],
        failed: &[
            "plan 784x10 F16 --grain 0",
            "plan 4294967296x4294967296 F16",
            "map vars.json",
            "vars no.json",
            "model damaged.popef",
            "exec models.popef",
            "exec thin.a",
            "exec vars.json",
        ],
    },
    Case {
        command: "graph",
        done: &[
            "train.json --scheduled",
            "hostile.json",
            "diff train.json train-changed.json",
            "diff train.json train.json",
        ],
        failed: &[
            "no.json",
            "vars.json",
            "hostile.json --graph again",
            "diff train.json vars.json",
            "diff no.json train.json",
        ],
    },
    Case {
        command: "profile",
        done: &[
            "tiny.graph.json tiny.execution.json --items 8",
            "36-control-names.graph.json",
            "hardware.graph.json hardware.execution.json",
            "hardware.graph.json hardware.execution.json --check",
            "tiny.graph.json --max-tile 1KiB",
            "hardware.graph.json executable.popef",
            "tiny.graph.json --by category",
            "tiny.graph.json --by tile",
            "tiny.graph.json --by vertex",
            "tiny.graph.json tiny.execution.json --by computeset",
            "tiny.graph.json tiny.execution.json --by program",
            "tiny.graph.json tiny.execution.json --by exchange",
            "tiny.graph.json tiny.execution.json --by step",
            "tiny.graph.json tiny.execution.json --by layer",
            "diff tiny.graph.json tiny.graph.json",
            "diff tiny.graph.json hardware.graph.json --executions tiny.execution.json hardware.execution.json",
        ],
        failed: &[
            "no.json",
            "20-compute-set.graph.json",
            "tiny.execution.json",
            "tiny.graph.json --by step",
            "tiny.graph.json tiny.graph.json",
            "diff no.json tiny.graph.json",
        ],
    },
];

/// Commands whose documents have no definition yet. Calls that fail without a document are held to theirs all the same.
const UNDEFINED: &[&str] = &[];

struct Schema {
    schemas: Schemas,
    compiler: Compiler,
}

impl Schema {
    fn load() -> Self {
        let mut compiler = Compiler::new();
        for name in ["toolbox", "dump", "error", "findings"] {
            let text = fs::read_to_string(testdata().join(format!("../docs/{name}.schema.json"))).unwrap();
            let schema: Value = serde_json::from_str(&text).unwrap();
            compiler.add_resource(&url(name), schema).unwrap();
        }
        Schema { schemas: Schemas::new(), compiler }
    }

    fn compiled(&mut self, definition: &str) -> Result<SchemaIndex, String> {
        let place = format!("{}#/$defs/{definition}", url("toolbox"));
        self.compiler.compile(&place, &mut self.schemas).map_err(|error| format!("{error:#}"))
    }

    /// Whether a document is one of the definitions.
    fn accepts(&mut self, document: &Value, definitions: &[&str]) -> Result<(), String> {
        let mut refusals = String::new();
        for definition in definitions {
            let index = self.compiled(definition)?;
            match self.schemas.validate(document, index) {
                Ok(()) => return Ok(()),
                Err(error) => refusals += &format!("{definition}: {error:#}\n"),
            }
        }
        Err(format!("{refusals}{document:#}"))
    }

    #[track_caller]
    fn hold(&mut self, document: &Value, definitions: &[&str], line: &str) {
        self.accepts(document, definitions).unwrap_or_else(|error| panic!("popef {line}\n{error}"));
    }
}

fn url(name: &str) -> String {
    format!("https://github.com/popef/popef/docs/{name}.schema.json")
}

/// What a command does in a folder of its own, as one document and as lines.
fn outputs(command: &str, arguments: &str) -> [Run; 2] {
    ["json", "ndjson"].map(|format| {
        let place = Place::with(FILES);
        MANIFESTS.iter().for_each(|(name, text)| place.write(name, text));
        let words = format!("{command} --format {format} {arguments}");
        place.run(&words.split_whitespace().collect::<Vec<_>>())
    })
}

fn lines(run: &Run) -> Vec<Value> {
    run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_is_done_has_the_shape_of_its_command() {
    let mut schema = Schema::load();
    for Case { command, done, .. } in CASES {
        assert!(!done.is_empty() || UNDEFINED.contains(command), "{command} has no case");
        for arguments in *done {
            let [document, in_lines] = outputs(command, arguments);
            assert!(document.status < 2 && document.status == in_lines.status, "{arguments}: {document:?}");
            schema.hold(&document.json(), &[command], &format!("{command} {arguments}"));
            for line in lines(&in_lines) {
                schema.hold(&line, &[&format!("{command}Line")], &format!("{command} {arguments}"));
            }
        }
    }
}

/// The same of files on other machines, with what they have cost.
#[cfg(feature = "remote")]
#[test]
fn what_files_on_other_machines_cost_is_in_json() {
    let calls = [
        "ls URL",
        "dump URL",
        "check URL",
        "extract URL --dry-run",
        "set URL --set-version 2 --dry-run",
        "compress URL --dry-run",
        "decompress URL --dry-run",
        "merge URL executable.popef --keep first --dry-run",
        "split URL --by kind --dry-run",
        "strip URL --drop tensor --dry-run",
        "diff executable.popef URL",
        "hash URL",
        "verify manifest",
        "recover URL --dry-run",
        "tiles model URL",
        "tiles exec URL",
        "profile hardware.graph.json URL",
        "merge URL no.popef --dry-run",
    ];
    let mut schema = Schema::load();
    let place = Place::with(FILES);
    for call in calls {
        let server = Server::of(place.read("executable.popef"));
        let sum = "c".repeat(64);
        place.write("manifest", format!("{sum}  {}\n", server.url()));
        let words = call.replace("URL", &server.url());
        let words: Vec<&str> = words.split_whitespace().collect();
        let command = words[0];
        let before = server.asked().len();
        // The -v of profile is for findings.
        let more: &[&str] = if command == "profile" { &[] } else { &["-v"] };
        let document = place.run(&[&words[..], &["--format", "json"], more].concat());
        let requests = server.asked().len() - before;
        let is_said = document.err.contains(&format!("bytes in {requests} request"));
        assert_eq!(is_said, !more.is_empty(), "{call}: {}", document.err);
        let json = document.json();
        schema.hold(&json, &[command, "failure"], call);
        let cost = if json["network"].is_null() { &json["files"][0]["network"] } else { &json["network"] };
        assert_eq!(cost["requests"], requests, "{call}: {json:#}");

        let run = place.run(&[&words[..], &["--format", "ndjson"]].concat());
        let of_lines = [format!("{command}Line"), "failureLine".to_owned(), "networkLine".to_owned()];
        let of_lines: Vec<&str> = of_lines.iter().map(String::as_str).collect();
        lines(&run).iter().for_each(|line| schema.hold(line, &of_lines, call));
        let of_cost = lines(&run).into_iter().filter(|line| line["kind"] == "network").collect::<Vec<_>>();
        assert!(of_cost.len() == 1 && of_cost[0]["network"]["bytes"].as_u64() > Some(0), "{call}: {run:?}");
    }
}

/// Whether an error is anywhere in a document.
fn has_error(document: &Value) -> bool {
    match document {
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| (key == "error" && !value.is_null()) || value == "incomplete" || has_error(value)),
        Value::Array(elements) => elements.iter().any(has_error),
        _ => false,
    }
}

#[test]
fn what_fails_says_so_in_json() {
    let mut schema = Schema::load();
    for Case { command, failed, .. } in CASES {
        for arguments in *failed {
            let [document, in_lines] = outputs(command, arguments);
            assert_eq!((document.status, in_lines.status), (2, 2), "{arguments}: {document:?}");
            assert_eq!(document.err, in_lines.err.replace("ndjson", "json"), "{arguments}");
            let (line, defined) = (format!("{command} {arguments}"), !UNDEFINED.contains(command));
            let mut definitions = vec!["failure"];
            definitions.extend(defined.then_some(*command));
            schema.hold(&document.json(), &definitions, &line);
            assert!(has_error(&document.json()), "{line}: {document:?}");
            let of_lines = ["failureLine".to_owned(), format!("{command}Line")];
            let of_lines: Vec<&str> = of_lines[..if defined { 2 } else { 1 }].iter().map(String::as_str).collect();
            for object in lines(&in_lines) {
                schema.hold(&object, &of_lines, &line);
            }
            assert!(lines(&in_lines).iter().any(has_error), "{line}: {in_lines:?}");
        }
    }
}

#[test]
fn an_error_is_the_same_in_words_and_in_json() {
    let place = Place::with(&["interop/executable.popef"]);
    let run = place.run(&["compress", "executable.popef", "-o", "executable.popef", "--format", "json"]);
    let error = &run.json()["error"];
    let words = |key: &str| error[key].as_str().unwrap().to_owned();
    let [said, advised] = run.err.lines().collect::<Vec<_>>()[..] else { panic!("{run:?}") };
    assert!(said.ends_with(&format!("{} [{}]", words("message"), words("code"))), "{run:?}");
    assert_eq!(advised, format!("popef compress: {}", words("advice")));
}

/// What is on standard output then is a file, or nothing.
#[test]
fn a_file_on_standard_output_gets_no_json() {
    let place = Place::with(&["golden/damaged.popef"]);
    for format in ["json", "ndjson"] {
        let run = place.run(&["merge", "damaged.popef", "-o", "-", "--format", format]);
        assert_eq!((run.text(), run.status), ("", 2));
        let run = place.run(&["merge", "damaged.popef", "-o", "-", "--dry-run", "--format", format]);
        assert!(run.text().contains("\"error\":") && run.status == 2, "{run:?}");
    }
}

/// Every command with `--format` has cases, and every definition of a command is used.
#[test]
fn no_command_is_left_out() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    let has_format = |name: &str| {
        let help = place.run(&[name, "--help"]).good();
        help.text().contains("--format <FORMAT") && help.text().contains("ndjson")
    };
    let commands = crate::help::commands(help.text()).into_iter().map(|(name, _)| name);
    let commands: Vec<_> = commands.filter(|name| has_format(name)).collect();
    assert_eq!(commands, CASES.iter().map(|case| case.command).collect::<Vec<_>>());
    let mut schema = Schema::load();
    for command in commands {
        for definition in [command.clone(), format!("{command}Line")] {
            let is_defined = schema.compiled(&definition).is_ok();
            assert_eq!(is_defined, !UNDEFINED.contains(&command.as_str()), "{definition}");
        }
    }
}

/// A schema that lets everything through would pass the tests above.
#[test]
fn the_schema_says_no() {
    let mut schema = Schema::load();
    for Case { command, done, failed } in CASES {
        for arguments in done.iter().chain(*failed) {
            let [document, in_lines] = outputs(command, arguments);
            let document = document.json();
            let line = lines(&in_lines).pop().unwrap();
            for (good, more) in [(document, ""), (line, "Line")] {
                let definitions = ["failure", command].map(|name| format!("{name}{more}"));
                let defined = if UNDEFINED.contains(command) { 1 } else { 2 };
                let definitions: Vec<&str> = definitions[..defined].iter().map(String::as_str).collect();
                for wrong in wrong(&good) {
                    assert!(schema.accepts(&wrong, &definitions).is_err(), "{command} {arguments}: {wrong:#}");
                }
            }
        }
    }
}

/// A document with one key more at its top, and with one key less.
fn wrong(good: &Value) -> Vec<Value> {
    let mut more = good.clone();
    more["extra"] = 1.into();
    let mut less = good.clone();
    let first = good.as_object().unwrap().keys().next().unwrap();
    less.as_object_mut().unwrap().remove(first);
    vec![more, less]
}

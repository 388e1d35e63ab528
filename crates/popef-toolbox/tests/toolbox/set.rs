//! `popef set`.

use popef::File;

use crate::common::{Place, finish, hold_golden, npy, testdata};
use crate::peers::python;

const MODEL: &str = "executable.popef";

fn place() -> Place {
    Place::with(&["interop/executable.popef"])
}

#[test]
fn what_is_shown() {
    hold_golden(
        "set",
        &["interop/executable.popef"],
        &[
            "set executable.popef --set numIpus=4 --set isPOD=true --engine-option target.x=1 --device-option y= --dry-run",
            "set executable.popef --set anchors[input_parameter].repeats=2 --set inputs[user_input].tensorInfo.shape=4,2 --dry-run",
            "set executable.popef --rename input_parameter=w --rename 3284579348837926701=model --dry-run",
            "set executable.popef --rename input_parameter=w --keep-references --dry-run",
            "set executable.popef --set-version 1.0 --type tensor,opaque -o new.popef",
            "set executable.popef --set numIpus=4 -o new.popef --force --format json",
            "set executable.popef --set numIpus=5 --set seedHandle=s -o new.popef --force --format ndjson",
            "set executable.popef --set numIpus=1 --in-place",
            "set executable.popef --set numIpus=3 --in-place --strict",
        ],
    );
}

#[test]
fn mistakes() {
    hold_golden(
        "set-mistakes",
        &["interop/executable.popef", "interop/two-models.popef"],
        &[
            "set executable.popef --set numIPU=4 --in-place",
            "set executable.popef --set numIpus --in-place",
            "set executable.popef --set engineOptions.debug.trace=true --in-place",
            "set executable.popef --set debug.trace=true --in-place",
            "set executable.popef --engine-option engineOptions.debug.trace=true --in-place",
            "set executable.popef --drop-device-option deviceOptions[x] --in-place",
            "set executable.popef --set numIpus=4000000000000 --in-place",
            "set executable.popef --set isPOD=yes --in-place",
            "set executable.popef --set anchors[input_parameter].tensorInfo.dataType=F33 --in-place",
            "set executable.popef --set anchors[inputparameter].repeats=2 --in-place",
            "set executable.popef --unset engineOptions[x] --in-place",
            "set executable.popef --unset numIpus --in-place",
            "set executable.popef --rename inputparameter=w --in-place",
            "set executable.popef --rename input_parameter --in-place",
            "set executable.popef --model x --set numIpus=4 --in-place",
            "set two-models.popef --set numIpus=4 --in-place",
            "set executable.popef --rename 3284579348837926701=m --keep-references --in-place --strict",
            "set executable.popef --rename 3284579348837926701=m --keep-references -o new.popef",
            "set executable.popef --set numIpus=4 -o executable.popef",
            "set executable.popef --set numIpus=4 -o executable.popef --force",
            "set executable.popef --in-place",
            "set executable.popef --merge nothing.json --in-place",
            "set executable.popef --tensors executable.popef --in-place",
            "set executable.popef --type tensor --set numIpus=3 --in-place",
            "set two-models.popef --type tensor --unset engineOptions --in-place",
            "set executable.popef --rename input_parameter=user_input --dry-run",
            "set executable.popef --rename input_parameter= --dry-run",
        ],
    );
}

/// The array may be called anything, and so may its file.
#[test]
fn an_array_is_for_the_tensor_that_is_named() {
    let place = place();
    let weights = |file: &str| {
        File::open(place.path(file)).unwrap().tensor("input_parameter").unwrap().data().read().unwrap().into_owned()
    };
    let values: Vec<u8> = [7f32, 8.0].map(f32::to_le_bytes).concat();
    let old = weights(MODEL);
    place.run(&["extract", MODEL, "-o", "old.npy"]).good();
    let header = place.read("old.npy").len() - values.len();
    place.write("a=b.npy", [&place.read("old.npy")[..header], &values].concat());
    for given in ["input_parameter=a=b.npy", "input_parameter=./a=b.npy"] {
        place.run(&["set", MODEL, "--tensors", given, "-o", "new.popef", "--force"]).good();
        assert_eq!(weights("new.popef"), [&values, &old[values.len()..]].concat());
    }
    place.run(&["pack", "--tensors", "input_parameter=a=b.npy", "w=old.npy", "-o", "packed.popef"]).good();
    let packed = File::open(place.path("packed.popef")).unwrap();
    let names: Vec<_> = packed.tensors().map(|tensor| tensor.name().to_string()).collect();
    assert_eq!((names, weights("packed.popef")), (vec!["input_parameter".to_owned(), "w".to_owned()], values));
    place.run(&["pack", "--tensors", "v=old.npy", "w=old.npy", "-o", "two.popef"]).good();
    place.run(&["extract", "two.popef", "-o", "two.npz"]).good();
    place.run(&["set", "two.popef", "--tensors", "w=two.npz", "--dry-run"]).good();
    for (given, words) in [
        ("input_parameter=two.npz", "two.npz: it has 2 arrays, and none is called \"input_parameter\" [no-such-name]"),
        ("input_parameter=no.npy", "no.npy: "),
        ("other=old.npy", "other"),
        ("=old.npy", "the NAME of NAME=FILE is empty"),
        ("input_parameter=-", "the FILE of NAME=FILE must be a file"),
    ] {
        let run = place.run(&["set", MODEL, "--tensors", given, "--in-place"]);
        assert!(run.status == 2 && run.err.contains(words), "{given} {run:?}");
    }
}

/// The blobs that differ between two files, by their number.
fn changed(old: &[u8], new: &[u8]) -> Vec<usize> {
    let [old, new] = [old, new].map(|bytes| File::from_bytes(bytes.to_vec()).unwrap());
    assert_eq!(old.len(), new.len());
    let bytes = |file: &File, index| {
        let blob = file.blob(index).unwrap();
        [blob.head_bytes(), blob.data()].map(|bytes| bytes.read().unwrap()).concat()
    };
    (0..old.len()).filter(|&index| bytes(&old, index) != bytes(&new, index)).collect()
}

#[test]
fn only_what_changes_is_written_anew() {
    let place = place();
    let old = place.read(MODEL);
    place.run(&["set", MODEL, "--set", "numIpus=4", "--in-place"]).good();
    assert_eq!(changed(&old, &place.read(MODEL)), [1]);
    place.run(&["set", MODEL, "--set", "numIpus=1", "--in-place"]).good();
    // The message was laid out anew, but says the same.
    let values = |bytes: Vec<u8>| File::from_bytes(bytes).unwrap().metadata().next().unwrap().read().unwrap();
    assert_eq!(values(place.read(MODEL)), values(old.clone()));
    place.run(&["set", MODEL, "--rename", "input_parameter=w", "-o", "renamed.popef"]).good();
    assert_eq!(changed(&place.read(MODEL), &place.read("renamed.popef")), [1, 3]);
}

#[test]
fn nothing_is_written_if_nothing_changes() {
    let place = place();
    let before = std::fs::metadata(place.path(MODEL)).unwrap().modified().unwrap();
    let run = place.run(&["set", MODEL, "--set", "numIpus=1", "--in-place", "--format", "json"]).good();
    assert_eq!(run.json()["written"], false);
    assert_eq!(std::fs::metadata(place.path(MODEL)).unwrap().modified().unwrap(), before);
    let copy = place.run(&["set", MODEL, "--set", "numIpus=1", "-o", "-"]).good();
    assert!(copy.out == place.read(MODEL));
    assert!(copy.err.contains("nothing changes"), "{copy:?}");
}

#[test]
fn a_patch_changes_lists_by_name_and_whole() {
    let place = place();
    place.write(
        "patch.json",
        r#"{"engineOptions": {"a": "1", "b": "2"}, "deviceOptions": [{"name": "d", "value": "3"}]}"#,
    );
    place.run(&["set", MODEL, "--merge", "patch.json", "--in-place"]).good();
    let patch = r#"{"engineOptions": {"a": null, "b": "20"}, "anchors": {"user_input": {"repeats": 7}},
                    "deviceOptions": null, "programFlow": {"load": [9]}}"#;
    place.run_with_input(&["set", MODEL, "--merge", "-", "--in-place"], patch.as_bytes()).good();
    let twice = place.run_with_input(&["set", MODEL, "--merge", "-", "--in-place"], patch.as_bytes()).good();
    assert!(twice.text().contains("nothing changes"), "{twice:?}");
    let metadata = File::open(place.path(MODEL)).unwrap().metadata().next().unwrap().read().unwrap();
    let options: Vec<_> = metadata.engine_options.iter().map(|option| (&option.name, &option.value)).collect();
    assert_eq!(options.last(), Some(&(&"b".into(), &"20".into())));
    assert!(options.len() == 5 && options[..4].iter().all(|(name, _)| **name != "a"), "{options:?}");
    assert!(metadata.device_options.is_empty());
    assert_eq!(metadata.program_flow.load, [9]);
    let repeats = metadata.anchors.iter().filter(|anchor| anchor.name == "user_input").map(|anchor| anchor.repeats);
    assert_eq!(repeats.collect::<Vec<_>>(), [7]);
}

#[test]
fn names_can_be_swapped_but_not_given_twice() {
    let place = Place::with(&[]);
    let mut writer = popef::Writer::create(place.path("model.popef")).unwrap();
    for (name, byte) in [("a=b", 1u8), ("a", 2), ("c", 3)] {
        let tensor_info = popef::TensorInfo::new(popef::DataType::U8, [1]);
        writer.write_tensor_bytes(&popef::types::TensorDataInfo { name: name.into(), tensor_info }, &[byte]).unwrap();
    }
    writer.finish().unwrap();
    let values = || {
        let file = File::open(place.path("model.popef")).unwrap();
        file.tensors().map(|tensor| (tensor.name().to_string(), tensor.data().read().unwrap()[0])).collect::<Vec<_>>()
    };
    let taken = place.run(&["set", "model.popef", "--rename", "c=a", "--in-place"]);
    assert!(taken.status == 2 && taken.err.contains("[name-taken]"), "{taken:?}");
    // Where the old name ends is known by the names in the file.
    let unclear = place.run(&["set", "model.popef", "--rename", "a=b=c", "--in-place"]);
    assert!(unclear.status == 2 && unclear.err.contains("more than one = are names"), "{unclear:?}");
    place.run(&["set", "model.popef", "--rename", "c=a", "--rename", "a=c", "--in-place"]).good();
    assert_eq!(values(), [("a=b".to_owned(), 1), ("c".to_owned(), 2), ("a".to_owned(), 3)]);
    place.run(&["set", "model.popef", "--rename", "c=d=e", "--in-place"]).good();
    assert_eq!(values()[1].0, "d=e");
}

#[test]
fn an_extracted_folder_goes_back_into_its_file() {
    let place = place();
    let old = place.read(MODEL);
    for arrays in ["npy", "npz", "safetensors"] {
        place.run(&["extract", MODEL, "-o", arrays, "--tensors-as", arrays]).good();
        let run = place.run(&["set", MODEL, "--tensors", arrays, "--in-place"]).good();
        assert!(run.text().contains("nothing changes"), "{run:?}");
    }
    // The name of the tensor is in the index, not in that of the file.
    place.run(&["set", MODEL, "--rename", "input_parameter=a/b", "-o", "renamed.popef"]).good();
    place.run(&["extract", "renamed.popef", "-o", "out"]).good();
    let array = std::fs::read_dir(place.path("out/tensors")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&array).unwrap();
    let at = bytes.len() - 8;
    bytes[at..].copy_from_slice([7.0f32, 8.0].map(f32::to_le_bytes).as_flattened());
    std::fs::write(&array, bytes).unwrap();
    place.run(&["set", "renamed.popef", "--tensors", "out", "--in-place"]).good();
    let new = File::open(place.path("renamed.popef")).unwrap();
    assert_eq!(*new.tensor("a/b").unwrap().elements().unwrap().to_slice::<f32>().unwrap(), [7.0, 8.0]);
    assert!(place.read(MODEL) == old);

    // What the index names must be in the folder.
    let index = std::fs::read_to_string(place.path("out/index.json")).unwrap();
    let name = array.file_name().unwrap().to_str().unwrap();
    place.write("out/index.json", index.replace(&format!("tensors/{name}"), "../npy/tensors/input_parameter.npy"));
    let outside = place.run(&["set", "renamed.popef", "--tensors", "out", "--in-place"]);
    assert!(outside.status == 2 && outside.err.contains("no path of a file in the folder"), "{outside:?}");
}

/// The script does the work: it changes files and reads them with libraries that share no code with this project.
#[test]
fn pycapnp_reads_only_what_was_to_change() {
    let place = Place::with(&[]);
    let library = testdata().join("../popef");
    let files = ["interop/executable.popef", "later/metadata.popef", "interop/split-feeds.popef"];
    let mut args = vec![env!("CARGO_BIN_EXE_popef").into(), library.join("schema/popef.capnp")];
    args.push(testdata().join("later/later.capnp"));
    args.extend(files.map(|file| testdata().join(file)));
    args.push(place.path(""));
    let packages = ["capnp", "numpy", "safetensors"];
    let Some(said) = python(include_str!("set.py"), &packages, &args) else { return };
    assert_eq!(said, "all as expected\n");
}

#[test]
fn an_error_in_a_patch_names_the_patch() {
    let place = place();
    place.write("patch.json", r#"{"numIpus": "two"}"#);
    let run = place.run(&["set", MODEL, "--merge", "patch.json", "--in-place", "--format", "json"]);
    assert!(run.err.contains("popef set: patch.json: numIpus: needed a whole number"), "{run:?}");
    assert_eq!(run.json()["error"]["file"], "patch.json");
    let run = place.run_with_input(&["set", MODEL, "--merge", "-", "--in-place"], br#"{"numIpu": 2}"#);
    assert!(run.status == 2 && run.err.contains("popef set: standard input: "), "{run:?}");
}

#[test]
fn inputs_without_a_tensor_get_one_if_asked() {
    let place = place();
    let args = ["--set", "inputs[user_input].tensorInfo={}", "--in-place"];
    assert_eq!(place.run(&[&["set", MODEL], args.as_slice()].concat()).status, 2);
    let patch = r#"{"inputs": {"user_input": {"tensorInfo": {"dataType": "F8143", "shape": [5]}}}}"#;
    place.run_with_input(&["set", MODEL, "--merge", "-", "--in-place"], patch.as_bytes()).good();
    place.write("user_input.npy", npy("|u1", "5,", &[7; 5]));
    let old = place.read(MODEL);
    let refused = place.run(&["set", MODEL, "--tensors", "user_input.npy", "--in-place"]);
    assert!(refused.status == 2 && refused.err.contains("an input has it"), "{refused:?}");
    place.run(&["set", MODEL, "--tensors", "user_input.npy", "--add-missing", "--in-place"]).good();
    let new = place.read(MODEL);
    assert!(new.starts_with(&old));
    let file = File::from_bytes(new).unwrap();
    let tensor = file.tensor("user_input").unwrap();
    assert_eq!((tensor.data_type(), &*tensor.data().read().unwrap()), (popef::DataType::F8143, &[7; 5][..]));
    // Now it is there, and has the same data.
    let again = place.run(&["set", MODEL, "--tensors", "user_input.npy", "--add-missing", "--in-place"]).good();
    assert!(again.text().contains("nothing changes"), "{again:?}");
}

#[test]
fn what_comes_before_popef_stays() {
    let place = Place::with(&["opaque/poptorch/poptorch25.poptorch"]);
    let old = place.read("poptorch25.poptorch");
    place.run(&["set", "poptorch25.poptorch", "--set", "deviceIterations=7", "--in-place"]).good();
    let new = place.read("poptorch25.poptorch");
    let file = |bytes: &[u8]| popef::OpenOptions::new().after_pickle(true).bytes(bytes.to_vec()).unwrap();
    let [old_file, new_file] = [&old, &new].map(|bytes| file(bytes));
    let start = usize::try_from(old_file.prefix().len()).unwrap();
    assert!(start > 0 && new[..start] == old[..start]);
    assert_eq!(new_file.metadata().next().unwrap().read().unwrap().device_iterations, 7);
}

/// A model that is large enough to be killed while it is written, and weights that fit.
#[cfg(unix)]
fn large(place: &Place) {
    place.write("w.npy", npy("|u1", &format!("{LARGE},"), &[2; LARGE]));
    let mut writer = popef::Writer::create(place.path("model.popef")).unwrap();
    let tensor_info = popef::TensorInfo::new(popef::DataType::U8, [LARGE as i64]);
    let info = popef::types::TensorDataInfo { name: "w".into(), tensor_info };
    writer.write_tensor_bytes(&info, &vec![1; LARGE]).unwrap();
    writer.finish().unwrap();
}

#[cfg(unix)]
const LARGE: usize = 4 << 20;

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_the_old_file_or_the_new_one() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let place = Place::with(&[]);
    large(&place);
    let old = place.read("model.popef");
    place.run(&["set", "model.popef", "--tensors", "w.npy", "-o", "new.popef"]).good();
    let new = place.read("new.popef");
    let mut killed = 0;
    for round in 0..40u64 {
        place.write("model.popef", &old);
        let mut command = place.command();
        command.args(["set", "model.popef", "--tensors", "w.npy", "--in-place"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_micros(round * 1500);
        while Instant::now() < until {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        let found = place.read("model.popef");
        assert!(found == old || found == new, "round {round}");
    }
    assert!(killed > 0);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_and_no_rubbish() {
    use std::process::Command;

    let place = Place::with(&[]);
    large(&place);
    let old = place.read("model.popef");
    let names = place.names();
    let script = "ulimit -f 1024; exec \"$0\" set model.popef --tensors w.npy \"$@\"";
    for args in [["--in-place"].as_slice(), &["-o", "new.popef"]] {
        let mut command = Command::new("bash");
        command.args(["-c", script, env!("CARGO_BIN_EXE_popef")]).args(args).current_dir(place.path(""));
        let run = finish(&mut command);
        assert_eq!((run.status, run.out.as_slice()), (2, b"".as_slice()), "{run:?}");
        assert!(run.err.contains("File too large"), "{run:?}");
        assert!(place.read("model.popef") == old);
        assert_eq!(place.names(), names);
    }
}

/// executable.popef has 8 bytes behind its tensor of 8.
#[test]
fn surplus_bytes_go_with_and_without_new_data() {
    let place = place();
    place.write("input_parameter.npy", npy("<f4", "2,", &[0, 0, 128, 63, 0, 0, 0, 64]));
    let old = place.read(MODEL).len();
    for more in [&[][..], &["--tensors", "input_parameter.npy"]] {
        let line = ["set", MODEL, "--drop-surplus", "--strict", "--force", "-o", "new.popef"];
        let run = place.run(&[&line[..], more].concat()).good();
        assert!(run.text().contains("dataSize: 16 -> 8"), "{run:?}");
        assert_eq!(place.read("new.popef").len(), old - 8);
        let data = |name: &str| {
            File::open(place.path(name)).unwrap().tensor("input_parameter").unwrap().data().read().unwrap().into_owned()
        };
        let expected = if more.is_empty() { data(MODEL)[..8].to_vec() } else { vec![0, 0, 128, 63, 0, 0, 0, 64] };
        assert_eq!(data("new.popef"), expected);
    }
    let run = place.run(&["set", "new.popef", "--drop-surplus", "--in-place"]).good();
    assert!(run.text().contains("nothing changes"), "{run:?}");
}

#[test]
fn a_name_of_a_tensor_can_be_given_as_it_is_shown() {
    let place = Place::with(&[]);
    let header = r#"{"nl\nx":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    place.write("one.safetensors", [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1; 4]].concat());
    place.run(&["pack", "--tensors", "one.safetensors", "-o", "names.popef"]).good();
    place.run(&["set", "names.popef", "--tensors", r"nl\nx=one.safetensors", "--dry-run"]).good();
    let run = place.run(&["set", "names.popef", "--tensors", r"other=one.safetensors", "--dry-run"]);
    assert!(run.status == 2 && run.err.contains("NAME=FILE gives the file to the tensor NAME"), "{run:?}");
}

#[test]
fn types_have_the_same_names_in_all_commands() {
    let place = Place::with(&["interop/executable.popef"]);
    for name in ["float", "int", "char", "half", "double", "quarter", "unsigned int", "fp16", "S32"] {
        let planned = place.run(&["tiles", "plan", "784x10", name]);
        assert_eq!(planned.status, 0, "{planned:?}");
        let assignment = format!("anchors[input_parameter].tensorInfo.dataType={name}");
        place.run(&["set", "executable.popef", "--set", &assignment, "--dry-run"]).good();
    }
}

/// An error is about the file that has the fault, and not about the new one.
#[test]
fn a_fault_of_the_old_file_is_told_of_it() {
    let place = Place::with(&["broken/anchor-cycle.popef"]);
    for output in [&["-o", "new.popef"][..], &["--dry-run"]] {
        let run = place.run(&[&["set", "anchor-cycle.popef", "--set", "numIpus=1"], output].concat());
        assert!(run.status == 2 && run.err.starts_with("popef set: anchor-cycle.popef: blob 1, "), "{run:?}");
    }
}

/// Names with letters that nobody sees, and with backslashes, are written as JSON does.
#[test]
fn a_path_that_is_shown_can_be_typed() {
    let names = ["a\n=b", "a\\n=b", "back\\", "\u{202e}turned", "\"quoted\"", "a]b["];
    let anchors = names.map(|name| popef::types::Anchor { name: name.into(), ..Default::default() }).to_vec();
    let place = Place::with(&[]);
    let mut writer = popef::Writer::create(place.path("m.popef")).unwrap();
    writer.write_metadata(&popef::Metadata { anchors, ..Default::default() }).unwrap();
    writer.finish().unwrap();
    let patch = names.map(|name| (name.to_owned(), serde_json::json!({ "repeats": 7 })));
    let patch: serde_json::Map<_, _> = patch.into_iter().collect();
    place.write("patch.json", serde_json::json!({ "anchors": patch }).to_string());
    let run = place.run(&["set", "m.popef", "--merge", "patch.json", "--dry-run"]).good();
    let shown = run.text().lines().filter_map(|line| line.trim().strip_suffix(": 1 -> 7")).collect::<Vec<_>>();
    assert_eq!(shown.len(), names.len(), "{run:?}");
    for (path, name) in shown.iter().zip(names) {
        place.run(&["set", "m.popef", "--set", &format!("{path}=9"), "-o", "n.popef", "--force"]).good();
        let file = File::open(place.path("n.popef")).unwrap();
        let anchors = file.metadata().next().unwrap().read().unwrap().anchors;
        let changed: Vec<_> =
            anchors.iter().filter(|anchor| anchor.repeats == 9).map(|anchor| anchor.name.to_string()).collect();
        assert_eq!(changed, [name], "{path}");
    }
}

#[test]
fn what_was_unset_is_no_name_that_is_meant() {
    let place = Place::with(&["interop/add-clean.popef"]);
    let file = File::open(place.path("add-clean.popef")).unwrap();
    let name = file.metadata().next().unwrap().read().unwrap().anchors[0].name.to_string();
    let path = format!("anchors[{name}]");
    let run =
        place.run(&["set", "add-clean.popef", "--unset", &path, "--set", &format!("{path}.repeats=2"), "-o", "n"]);
    assert!(run.status == 2 && run.err.contains("[no-such-name]") && run.err.matches(&name).count() == 1, "{run:?}");
}

/// The report and the JSON of a dry run are those of the real one.
#[test]
fn a_dry_run_knows_that_nothing_would_be_written() {
    let place = Place::with(&["interop/add-clean.popef"]);
    let file = File::open(place.path("add-clean.popef")).unwrap();
    let same = format!("numIpus={}", file.metadata().next().unwrap().read().unwrap().num_ipus);
    for (value, output, written) in [
        (same.as_str(), &["--in-place"][..], false),
        ("numIpus=9", &["--in-place"], true),
        (&same, &["-o", "new.popef"], true),
    ] {
        let line = [&["set", "add-clean.popef", "--set", value][..], output].concat();
        let dry = place.run(&[&line[..], &["--dry-run", "--format", "json"]].concat()).good();
        assert_eq!(dry.json()["written"], written, "{line:?}");
        let text = place.run(&[&line[..], &["--dry-run"]].concat()).good();
        assert!(text.text().contains(if written { "would be written" } else { "would not be written" }), "{text:?}");
        let real = place.run(&[&line[..], &["--format", "json"]].concat()).good();
        assert_eq!(real.json()["written"], written, "{line:?}");
    }
}

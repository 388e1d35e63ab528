//! Options and values by other names.

use crate::common::{Place, hold_golden};

#[test]
fn old_spellings_are_errors_that_name_the_new_ones() {
    let lines = [
        "ls -t tensor executable.popef",
        "cat -u executable.popef --blob 2",
        "hash -a blake3 executable.popef",
        "pack model --compress zlib -o new.popef",
        "compress --compress zlib executable.popef -o new.popef",
        "set executable.popef --compression zlib --in-place",
        "merge executable.popef --compress zlib -o new.popef",
        "strip executable.popef --filter input* -o new.popef",
        "strip executable.popef --type tensor -o new.popef",
    ];
    hold_golden("spellings", &["interop/executable.popef"], &lines);
}

#[test]
fn color_without_a_value_is_always() {
    let place = Place::with(&["interop/executable.popef"]);
    let always = place.run(&["ls", "--color=always", "executable.popef"]).good();
    assert!(always.text().contains("\u{1b}["));
    for args in [
        &["ls", "--color", "executable.popef"][..],
        &["ls", "executable.popef", "--color"],
        &["--color", "ls", "executable.popef"],
        &["ls", "--color", "always", "executable.popef"],
    ] {
        assert_eq!(place.run(args), always, "{args:?}");
    }
    // As in popef-dump, it has a letter there.
    let all = place.run(&["dump", "--color=always", "executable.popef"]).good();
    for args in [
        ["dump", "-c", "executable.popef"],
        ["dump", "executable.popef", "-vc"],
        ["--color", "dump", "executable.popef"],
    ] {
        let run = place.run(&args).good();
        assert!(run.text().contains("\u{1b}[") && (args.contains(&"-vc") || run == all), "{args:?}");
    }
    let never = place.run(&["ls", "--color", "never", "executable.popef"]).good();
    assert_eq!(never, place.run(&["ls", "executable.popef"]));
}

/// Shown names stay as they are.
#[test]
fn data_types_can_be_called_as_in_numpy_and_pytorch() {
    let place = Place::with(&["interop/executable.popef"]);
    for (name, shown) in [("float16", "F16"), ("fp16", "F16"), ("float32", "F32"), ("int8", "S8"), ("uint32", "U32")] {
        let plan = |name: &str| place.run(&["tiles", "plan", "784x10", name, "--format", "json"]).good();
        assert_eq!(plan(name), plan(shown));
        assert_eq!(plan(name).json()["type"], shown);
        let set = |name: &str| {
            let field = format!("anchors[user_input].tensorInfo.dataType={name}");
            place.run(&["set", "executable.popef", "--set", &field, "--dry-run", "--format", "json"]).good()
        };
        assert_eq!(set(name), set(shown));
        assert!(!set(name).text().contains(&format!("\"{name}\"")));
    }
    let run = place.run(&["tiles", "plan", "784x10", "bf16"]);
    assert!(run.status == 2 && run.err.contains("\"bf16\" is not a data type"), "{run:?}");
}

//! The values of tensors, and their figures.

use std::fs;

use crate::common::{golden, interop, run};

/// More values than fit into the buffers on the way, so that none is lost at their borders.
#[test]
fn all_values_of_a_tensor_can_be_shown() {
    let args = ["--values=1000000", "--filter", "ramp", "values.popef"];
    let values =
        run(&golden(), &[&["--format", "ndjson"], &args[..]].concat()).json_lines()[0]["info"]["values"]["first"]
            .clone();
    let values = values.as_array().unwrap();
    assert_eq!((values.len(), &values[0], &values[5]), (100_000, &(-5000.0).into(), &"NaN".into()));
    assert_eq!(values[99_999], 7499.875);
    let text = run(&golden(), &[&["-t"], &args[..]].concat()).out;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Values: [")).unwrap();
    assert_eq!(line.trim_end_matches(']').split(", ").count(), 100_000);
}

/// Held to NumPy's figures; the mean may differ by the rounding of a sum.
#[test]
fn figures_are_numpys() {
    let expected = fs::read_to_string(golden().join("values.json")).unwrap();
    let expected: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&expected).unwrap();
    let run = run(&golden(), &["--format", "ndjson", "--values", "values.popef"]);
    let mut compared = 0;
    for line in run.json_lines() {
        let name = line["info"]["name"].as_str().unwrap();
        let Some(expected) = expected.get(name) else { continue };
        for (key, value) in expected.as_object().unwrap() {
            let shown = &line["info"]["values"][key];
            match (key.as_str(), value.as_f64(), shown.as_f64()) {
                ("mean", Some(expected), Some(shown)) => {
                    assert!((shown - expected).abs() <= expected.abs() * 1e-14, "{name}: {shown} for {expected}");
                }
                _ => assert_eq!(shown, value, "{name} {key}"),
            }
        }
        compared += 1;
    }
    assert_eq!(compared, expected.len());
}

#[test]
fn values_that_became_files_are_recognized() {
    for (args, meant) in [
        (&["--values", "3"][..], "--values=3"),
        (&["--color", "never"], "--color=never"),
        (&["-c", "auto"], "--color=auto"),
        (&["--explain", "PE013", "--color", "never"], "--color=never"),
        (&["--explain", "PE013", "pe014"], "--explain pe014"),
    ] {
        let run = run(&interop(), &[args, &["executable.popef"]].concat());
        let word = meant.rsplit(['=', ' ']).next().unwrap();
        let said = format!("popef-dump: there is no file {word}; did you mean {meant}?\n");
        assert_eq!((run.status, run.out.as_str(), run.err), (2, "", said));
    }
    let header = run(&interop(), &["--header", "executable.popef"]).err;
    assert!(!header.contains("similar"), "{header}");
    // Such a file is read if there is one.
    let folder = tempfile::tempdir().unwrap();
    fs::copy(interop().join("empty.popef"), folder.path().join("3")).unwrap();
    assert_eq!(run(folder.path(), &["--values", "3"]).status, 0);
}

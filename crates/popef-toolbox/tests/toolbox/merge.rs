//! `popef merge`.

use crate::common::{Place, finish};

#[test]
fn a_pipe_is_read_like_a_file() {
    let place = Place::with(&["interop/executable.popef"]);
    let bytes = place.read("executable.popef");
    place.run_with_input(&["merge", "-", "-o", "copy.popef"], &bytes).good();
    assert_eq!(place.read("copy.popef"), bytes);
    // Standard input that is a file need not be copied. What was read of it before does not count.
    let line = "(head -c 8 >/dev/null; \"$0\" merge - -o late.popef) < executable.popef";
    let program = env!("CARGO_BIN_EXE_popef");
    let run =
        |line: &str| finish(std::process::Command::new("bash").args(["-c", line, program]).current_dir(place.path("")));
    let late = run(line);
    assert_eq!(late.status, 2, "{late:?}");
    assert!(late.err.contains("-: blob 0, byte 0: "), "{late:?}");
    assert_eq!(run("\"$0\" merge - -o same.popef < executable.popef").status, 0);
    assert_eq!(place.read("same.popef"), bytes);
}

#[test]
fn files_become_one() {
    let place = Place::with(&["interop/split-executable.popef", "interop/split-tensors.popef"]);
    place.run(&["merge", "split-executable.popef", "split-tensors.popef", "-o", "whole.popef"]).good();
    assert_eq!(
        place.read("whole.popef"),
        [place.read("split-executable.popef"), place.read("split-tensors.popef")].concat()
    );
}

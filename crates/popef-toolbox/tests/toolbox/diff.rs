//! `popef diff`.

use crate::common::{Place, hold_golden};

#[test]
fn what_differs_is_shown() {
    let files = [
        "interop/executable.popef",
        "interop/split-executable.popef",
        "interop/two-models.popef",
        "interop/replicated.popef",
        "golden/hostile-names.popef",
        "golden/damaged.popef",
        "compressed/zlib-1.popef",
        "compressed/lz4.popef",
        "compressed/plain-poplar.popef",
    ];
    let commands = [
        "diff executable.popef executable.popef",
        "diff split-executable.popef executable.popef",
        "diff --brief split-executable.popef executable.popef",
        "diff --type metadata replicated.popef executable.popef",
        "diff two-models.popef hostile-names.popef",
        "diff zlib-1.popef lz4.popef",
        "diff --exact zlib-1.popef lz4.popef",
        "diff lz4.popef plain-poplar.popef",
        "diff --format json split-executable.popef executable.popef",
        "diff --format ndjson split-executable.popef executable.popef",
        "diff damaged.popef executable.popef",
        "diff executable.popef no-such-file.popef",
        "diff - -",
        "diff -q two-models.popef executable.popef",
        "diff --atol -1 two-models.popef executable.popef",
    ];
    hold_golden("diff", &files, &commands);
}

#[test]
fn standard_input_is_one_of_the_two() {
    let place = Place::with(&["interop/executable.popef", "interop/two-models.popef"]);
    let bytes = place.read("executable.popef");
    for (args, status) in [(["diff", "-", "executable.popef"], 0), (["diff", "two-models.popef", "-"], 1)] {
        assert_eq!(place.run_with_input(&args, &bytes).status, status, "{args:?}");
    }
}

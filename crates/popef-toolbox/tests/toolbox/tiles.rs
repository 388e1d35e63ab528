//! `popef tiles`.

use crate::common::{Place, hold_golden};

#[test]
fn mappings_are_planned() {
    let commands = [
        "tiles plan 784x10 F16",
        "tiles plan [128] float --tiles 8 --offset 6 --list",
        "tiles plan 100x100 half --tiles 64 --grain 16 --min-elements 400 --descending",
        "tiles plan 50000x1024 F16 --ipus 4 --offset 5880",
        "tiles plan 0x7 S32",
        "tiles plan 10x10 F32 --tiles 4 --format json",
        "tiles plan scalar U8 --tiles 4 --offset 3 --format ndjson",
        "tiles plan 784x10 F16 --grain 0",
        "tiles plan 4294967296x4294967296 F16",
        "tiles plan 4294967295x4294967297 F64",
        "tiles plan 784by10 F16",
        "tiles plan 784x10 F17",
        "tiles plan --help",
    ];
    hold_golden("tiles-plan", &[], &commands);
}

/// 10^12 elements on the tiles of 128 IPUs: the work grows with intervals, and each element is mapped once.
#[test]
fn large_tensors_are_planned_by_intervals() {
    let run = Place::with(&[]).run(&["tiles", "plan", "1000000x1000000", "F16", "--ipus", "128", "--format", "json"]);
    let plan = run.good().json();
    let mapping = plan["mapping"].as_array().unwrap();
    assert_eq!(mapping.len(), 188_416);
    let mut end = 0;
    for (number, tile) in mapping.iter().enumerate() {
        assert_eq!(tile["tile"], number);
        let [interval] = &tile["intervals"].as_array().unwrap()[..] else { panic!("{tile}") };
        assert_eq!(interval[0], end);
        end = interval[1].as_u64().unwrap();
    }
    assert_eq!(end, 1_000_000_000_000);
}

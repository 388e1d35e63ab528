//! The overview.

use std::fs;

use crate::common::{interop, run, run_with_input};

/// The figures are the file's. The figures after filtering are shown beside them.
#[test]
fn the_overview_says_what_a_filter_leaves() {
    let of = |args: &[&str]| run(&interop(), &[args, &["executable.popef"]].concat()).out;
    assert!(!of(&[]).contains("shown:"));
    for (args, shown) in [
        (&["--filter", "*Add*"][..], "1 of 4 blobs"),
        (&["--exclude", "popart"], "3 of 4 blobs"),
        (&["--filter", "none"], "0 of 4 blobs"),
    ] {
        let overview = of(args);
        assert!(overview.contains(" in 4 blobs: "), "{overview}");
        assert!(overview.contains(&format!("\n  shown: {shown}\n")), "{overview}");
    }
}

#[test]
fn the_overview_of_a_file_without_readable_blobs_counts_none() {
    let folder = tempfile::tempdir().unwrap();
    let cut = fs::read(interop().join("executable.popef")).unwrap();
    for bytes in [&cut[..32], b"this is a text, and no PopEF file"] {
        fs::write(folder.path().join("f"), bytes).unwrap();
        let overview = run(folder.path(), &["f"]).out;
        assert_eq!(overview, format!("PopEF file: f\n  {} B, but no blob could be read\n", bytes.len()));
        // The length of a stream is not known.
        let overview = run_with_input(folder.path(), &["-"], bytes).out;
        assert_eq!(overview, "PopEF file: -\n  nothing could be read\n");
    }
    assert_eq!(run(&interop(), &["empty.popef"]).out, "PopEF file: empty.popef\n  0 B in 0 blobs\n");
}

/// A file with models for several targets names each target once, and only as many as fit.
#[test]
fn the_overview_says_what_models_run_on() {
    let bytes = |name: &str| fs::read(interop().join(name)).unwrap();
    let of = |models: &[Vec<u8>]| run_with_input(&interop(), &["-"], &models.concat()).out;
    let one = "  runs on 1 IPU, IPU version 2, 1 replica\n";
    assert_eq!(of(&[bytes("executable.popef"), bytes("executable.popef")]).matches("runs on").count(), 1);
    let several = of(&[bytes("replicated.popef"), bytes("executable.popef")]);
    assert!(several.contains(one) && several.matches("runs on").count() == 2, "{several}");
    assert!(!of(&[bytes("split-tensors.popef")]).contains("runs on"));
    let folder = tempfile::tempdir().unwrap();
    let many = folder.path().join("many.popef");
    let mut writer = popef::Writer::create(&many).unwrap();
    for num_ipus in 1..=10 {
        writer.write_metadata(&popef::Metadata { num_ipus, ..popef::Metadata::default() }).unwrap();
    }
    writer.finish().unwrap();
    let many = run(folder.path(), &["many.popef"]).out;
    assert!(
        many.contains("  runs on 3 IPUs, IPU version 2, 1 replica\n  and on 7 more targets, which -m shows\n"),
        "{many}"
    );
}

//! Files that are damaged, missing or not read as a whole. A report says what was not checked and draws no conclusion
//! from it.

use std::fs;
use std::ops::ControlFlow;

use popef::error::ErrorKind;
use popef::types::OpaqueInfo;
use popef::{DataType, File, OpenOptions, Writer};
use popef_check::{CheckOptions, Level, Policy, Severity, check, check_with_progress};

use crate::files::{FOLDER, INTEROP, all_loaders, open, options, tensor};

#[test]
fn a_check_that_is_not_deep_says_how_much_data_it_did_not_read() {
    let report = check(&[open(&format!("{INTEROP}/add-clean.popef"))], &CheckOptions::new());
    assert!(report.findings.is_empty());
    let shown: Vec<_> = report.skipped.iter().map(ToString::to_string).collect();
    let data = "not checked: 63690 bytes of executables, tensors and feeds: only a deep check reads them";
    // The file's PopART blob has random bytes.
    let why = match cfg!(feature = "popart") {
        true => "it cannot be read as PopART's",
        false => "this build leaves it out; build it with the feature popart",
    };
    let payload = format!("not checked: what PopART's blob says of the model: {why}");
    assert_eq!(shown, [data, payload.as_str()]);
    assert!(report.is_complete(), "what the caller chose not to read counts as checked");
}

#[test]
fn a_damaged_file_that_could_not_be_opened_is_a_finding() {
    let opened = [File::open(format!("{FOLDER}/PE607.popef")), File::open(format!("{FOLDER}/PE002.popef"))];
    let report = check(&opened, &CheckOptions::new());
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.file, finding.rule.id)).collect();
    assert_eq!(found, [(1, "PE002")]);
    assert!(report.is_complete());
}

#[test]
fn a_missing_file_makes_the_report_incomplete() {
    let opened = [File::open(format!("{FOLDER}/none.popef")), File::open(format!("{FOLDER}/PE607.popef"))];
    assert_eq!(opened[0].as_ref().unwrap_err().kind(), ErrorKind::Io);
    let report = check(&opened, &CheckOptions::new());
    assert!(report.findings.is_empty() && !report.is_complete());
    assert!(report.skipped.iter().any(|skipped| skipped.file == Some(0) && skipped.failed));
}

#[test]
fn what_the_lost_part_of_a_file_may_hold_is_not_reported_missing() {
    let bytes = fs::read(format!("{INTEROP}/executable.popef")).unwrap();
    // The opaque blob and the metadata are whole, the executable is cut off.
    let cut = OpenOptions::new().damaged(true).bytes(bytes[..10_000].to_vec()).unwrap();
    let report = check(&[cut], &CheckOptions::new());
    let found: Vec<_> = report.findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(found, ["PE002"]);
    assert!(report.skipped.iter().any(|skipped| skipped.what.contains("after byte 2936")), "{:?}", report.skipped);
}

/// Each of these files breaks its rule alone, but not beside a file that may have held what is missing.
#[test]
fn beside_a_damaged_file_nothing_is_reported_missing() {
    let cut = open(&format!("{FOLDER}/PE002.popef"));
    for number in [101, 102, 103, 108, 109, 113, 114, 602, 603, 607, 609, 612, 621, 622, 631, 632, 634] {
        let id = format!("PE{number}");
        let report = check(&[open(&format!("{FOLDER}/{id}.popef")), cut.clone()], &options(&id));
        let of_rule: Vec<_> = report.findings.iter().filter(|finding| finding.rule.id == id).collect();
        assert!(of_rule.is_empty(), "{of_rule:?}");
    }
    let nothing = OpenOptions::new().damaged(true).bytes(&[0; 5][..]).unwrap();
    let report = check(&[nothing], &all_loaders());
    assert_eq!(report.findings.iter().map(|finding| finding.rule.id).collect::<Vec<_>>(), ["PE001"]);
}

#[test]
fn data_that_a_stream_did_not_keep_is_reported_as_unread() {
    let bytes = fs::read(format!("{INTEROP}/executable.popef")).unwrap();
    let streamed = File::from_stream(bytes.as_slice()).unwrap();
    let report = check(&[streamed], CheckOptions::new().deep(true));
    assert!(!report.is_complete());
    assert_eq!(report.worst(), Some(Severity::Note));
    let failed = report.skipped.iter().filter(|skipped| skipped.failed && skipped.file == Some(0));
    let failed: Vec<_> = failed.map(|skipped| skipped.what.as_str()).collect();
    assert_eq!(failed, ["the data of opaque blob 0", "the data of blob 2", "the data of blob 3"]);
}

/// An executable, and an opaque blob with a pickle.
fn with_pickle(pickle: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_executable("m", b"GC_EXE_").unwrap();
    writer.write_opaque(&OpaqueInfo { name: "poptorch".into(), executable: "m".into() }, pickle).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn a_stream_with_a_pickle_that_nobody_saw_does_not_pass() {
    let bytes = with_pickle(b"cos\nsystem\n(S'id'\ntR.");
    let mut indexer = OpenOptions::new().indexer(bytes.len() as u64);
    while let Some(wanted) = indexer.wants() {
        indexer.give(&bytes[wanted.start as usize..wanted.end as usize]);
    }
    let files = [File::from_stream(bytes.as_slice()).unwrap(), indexer.finish().unwrap()];
    for file in &files {
        let policies = [Policy::default(), Policy { no_pickles: true, ..Policy::default() }];
        for options in policies.map(|policy| CheckOptions::new().policy(policy).clone()) {
            let report = check([file], &options);
            assert_eq!((report.passes(true), report.is_safety_checked(), report.is_complete()), (false, false, false));
            let causes = report.skipped.iter().map(|skipped| (&*skipped.what, skipped.not_kept, skipped.safety));
            let causes: Vec<_> = causes.filter(|(what, ..)| !what.contains("bytes of executables")).collect();
            assert_eq!(
                causes,
                [("the first bytes of executable \"m\"", true, false), ("the data of opaque blob 1", true, true)]
            );
        }
    }
    // With the data, the pickle is found, or passes if it is harmless.
    assert_eq!(check(&[File::from_bytes(bytes).unwrap()], &CheckOptions::new()).worst(), Some(Severity::Error));
    let harmless = File::from_bytes(with_pickle(b"K\x01.")).unwrap();
    assert!(check(&[harmless], &CheckOptions::new()).is_safety_checked());
}

/// If nobody asks for safety, or nothing in a stream can be dangerous, a stream passes.
#[test]
fn a_stream_passes_if_no_rule_of_safety_has_to_look() {
    let file = File::from_stream(&*with_pickle(b"K\x01.")).unwrap();
    let looking =
        ["PE501", "PE502", "PE503", "PE504", "PE505", "PE611", "PE613", "PE614", "PE703", "PE731", "PE732", "PE733"];
    let rules = looking.map(|id| (id.to_owned(), Level::Off)).into();
    let report = check(&[file], CheckOptions::new().policy(Policy { rules, ..Policy::default() }));
    assert_eq!((report.passes(true), report.is_complete()), (true, false), "{report:?}");
    let tensor_alone = fs::read("../../testdata/checks/PE108.popef").unwrap();
    let report = check([&File::from_stream(&*tensor_alone).unwrap()], &CheckOptions::new());
    assert!(report.passes(true) && report.is_complete(), "{report:?}");
}

#[test]
fn a_check_that_missed_a_file_does_not_pass() {
    let missing = OpenOptions::new().open("../../testdata/missing.popef");
    let report = check(&[missing], &CheckOptions::new());
    assert_eq!((report.passes(true), report.is_safety_checked()), (false, false));
    let files = [open(&format!("{INTEROP}/executable.popef"))];
    let stopped = check_with_progress(&files, CheckOptions::new().deep(true), &mut |_| ControlFlow::Break(()));
    assert_eq!((stopped.passes(true), stopped.is_safety_checked()), (false, false));
}

#[test]
fn after_100_unreadable_blobs_the_rest_is_only_counted() {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    for _ in 0..1000 {
        writer.write_tensor(&tensor("w", DataType::Bool, 1), &[true]).unwrap();
    }
    writer.finish().unwrap();
    let report = check([&File::from_stream(bytes.as_slice()).unwrap()], CheckOptions::new().deep(true));
    let failed: Vec<_> = report.skipped.iter().filter(|skipped| skipped.failed).map(|s| s.what.as_str()).collect();
    assert_eq!((failed.len(), failed.iter().filter(|what| what.starts_with("the data of blob")).count()), (101, 100));
    assert!(failed.contains(&"900 more"), "{failed:?}");
}

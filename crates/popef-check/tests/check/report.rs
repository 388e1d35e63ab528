//! Reports and the table of rules: order, counts, progress, ids.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use popef::read::ReadAt;
use popef::{File, OpenOptions};
use popef_check::{CheckOptions, Inspection, Origin, Report, Rule, Severity, check, check_with_progress, origin_of};

use crate::files::{FOLDER, INTEROP, all_loaders, open, options, policy};

#[test]
fn a_clean_model_has_no_findings() {
    let files = ["executable", "tensors", "feeds"].map(|part| open(&format!("{INTEROP}/split-{part}.popef")));
    let report = check(&files, CheckOptions::new().deep(true));
    // The library that made the file does not care what an executable is.
    let found: Vec<_> = report.findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!((found, report.skipped.len()), (vec!["PE410"], 0), "{report:?}");
    assert!(report.passes(false));
}

#[test]
fn an_error_never_passes_and_a_warning_passes_if_allowed() {
    let report = |id: &str| check(&[open(&format!("{FOLDER}/{id}.popef"))], &options(id));
    let passes = |id: &str| (report(id).passes(true), report(id).passes(false));
    assert_eq!(passes("PE008"), (true, true));
    assert_eq!(passes("PE108"), (true, false));
    assert_eq!(passes("PE101"), (false, false));
    let counts = |id| [Severity::Note, Severity::Warning, Severity::Error].map(|severity| report(id).count(severity));
    assert_eq!(counts("PE101"), [0, 0, 1]);
    assert_eq!(counts("PE611"), [2, 0, 1]);
}

#[test]
fn findings_number_the_files_as_the_caller_gave_them() {
    let opened = [File::open(format!("{FOLDER}/none.popef")), File::open(format!("{FOLDER}/PE201.popef"))];
    let report = check(&opened, &CheckOptions::new());
    assert_eq!(report.findings.iter().map(|finding| finding.file).collect::<Vec<_>>(), [1]);
    assert_eq!(report.of_file(1).count(), 1);
}

#[test]
fn after_100_findings_of_a_rule_the_rest_is_only_counted() {
    let one = fs::read(format!("{FOLDER}/PE006.popef")).unwrap();
    let whole = fs::read(format!("{FOLDER}/PE607.popef")).unwrap();
    let mut many = whole.clone();
    for _ in 0..1000 {
        many.extend_from_slice(&one[whole.len()..]);
    }
    let report = check(&[File::from_bytes(many).unwrap()], &CheckOptions::new());
    assert_eq!(report.findings.len(), 100);
    assert!(report.skipped.iter().any(|skipped| skipped.what == "900 more findings of PE006"), "{:?}", report.skipped);
    let [unlisted] = report.unlisted.as_slice() else { panic!("{:?}", report.unlisted) };
    assert_eq!((unlisted.rule.id, unlisted.file, unlisted.count), ("PE006", 0, 900));
    assert_eq!(report.count(unlisted.severity), 1000);
}

#[test]
fn progress_ends_at_the_total() {
    let mut seen = Vec::new();
    let files = [open(&format!("{INTEROP}/compressed-zlib.popef")), open(&format!("{INTEROP}/all-types.popef"))];
    let report = check_with_progress(&files, CheckOptions::new().deep(true), &mut |progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    });
    assert!(seen.is_sorted_by_key(|progress| progress.done));
    let last = seen.last().unwrap();
    assert_eq!(last.done, last.total);
    assert!(report.is_complete());
}

/// Stops after each number of steps: within tensors, compressed executables, archives and between them. A stop is no finding.
#[test]
fn a_stopped_check_says_so_and_concludes_nothing() {
    let files = ["compressed-zlib", "executable", "all-types"].map(|name| open(&format!("{INTEROP}/{name}.popef")));
    let inside = open(&format!("{FOLDER}/PE801.popef"));
    let mut options = CheckOptions::new();
    options.deep(true).inspect_archives(|archive| match io::copy(archive, &mut io::sink()) {
        Ok(bytes) => Inspection::Tiles { count: 1, fullest: 0, bytes },
        Err(error) => Inspection::NotRead(error.to_string()),
    });
    let files = [&files[0], &files[1], &files[2], &inside];
    let whole = check(files, &options);
    let mut steps = 0;
    loop {
        let mut step = 0;
        let report = check_with_progress(files, &options, &mut |_| {
            step += 1;
            if step > steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if step <= steps {
            assert_eq!(report, whole);
            break;
        }
        assert_eq!(step, steps + 1, "the check went on after it was stopped");
        assert!(report.findings.iter().all(|finding| whole.findings.contains(finding)), "{:?}", report.findings);
        let failed: Vec<_> = report.skipped.iter().filter(|skipped| skipped.failed).map(ToString::to_string).collect();
        assert_eq!(failed, ["not checked: the rest of the files: the check was stopped"]);
        steps += 1;
    }
    assert!(steps > 10, "{steps}");
}

/// A check that reads no data can be stopped too.
#[test]
fn a_check_of_headers_can_be_stopped() {
    let files = [open(&format!("{FOLDER}/PE108.popef"))];
    let report = check_with_progress(&files, &CheckOptions::new(), &mut |progress| {
        assert_eq!((progress.done, progress.total), (0, 0));
        ControlFlow::Break(())
    });
    assert_eq!((report.findings.len(), report.is_complete()), (0, false));
    assert_eq!(check(&files, &CheckOptions::new()).findings.len(), 1);
}

/// Changes one byte at a time and runs every check.
#[test]
fn a_changed_byte_leads_to_findings_and_never_to_a_panic() {
    let mut options = all_loaders();
    options.deep(true).policy(policy("PE709"));
    for id in ["PE308", "PE613"] {
        let bytes = fs::read(format!("{FOLDER}/{id}.popef")).unwrap();
        for at in 0..bytes.len() {
            for value in [bytes[at].wrapping_add(1), bytes[at] ^ 0x80] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let file = OpenOptions::new().damaged(true).bytes(changed).unwrap();
                let report = check(&[file], &options);
                assert!(report.findings.iter().all(|finding| !finding.message.contains(char::is_control)));
            }
        }
    }
}

#[test]
fn rule_ids_are_unique_and_sorted_and_found_in_any_case() {
    let ids: Vec<_> = popef_check::rules().map(|rule| rule.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    for rule in popef_check::rules() {
        assert!(rule.id.starts_with("PE") && rule.id.len() == 5, "{}", rule.id);
        assert!(rule.meaning.ends_with(['.', ')']) && rule.fix.ends_with('.'), "{}", rule.id);
        assert!(!rule.title.ends_with('.'), "{}", rule.id);
        assert_eq!(popef_check::rule_by_id(&rule.id.to_lowercase()), Some(rule));
        assert_eq!(format!("{rule:?}"), format!("Rule {{ id: {:?}, severity: {:?}, .. }}", rule.id, rule.severity));
    }
    assert_eq!(popef_check::rule_by_id("PE000"), None);
}

/// An unconfirmed rule must not fail a file that may be sound.
#[test]
fn rules_that_are_inferred_are_notes_and_each_rule_has_an_origin() {
    let mut inferred = 0;
    for rule in popef_check::rules() {
        let origin = origin_of(rule).unwrap();
        assert_eq!(
            origin == Origin::Required,
            rule.condition().is_some_and(|when| when.contains("policy")),
            "{}",
            rule.id
        );
        // What a rule says of its own basis, and the table, are the same.
        let doubts = ["unverified", "not known, so this is a note", "so it is a note", "so this is a note"];
        let is_doubted = doubts.iter().any(|doubt| rule.meaning.contains(doubt));
        assert!(!is_doubted || origin == Origin::Inferred, "{}", rule.id);
        if origin == Origin::Inferred {
            assert_eq!(rule.severity, Severity::Note, "{}", rule.id);
            inferred += 1;
        }
    }
    assert!(inferred >= 10, "{inferred}");
    let other = Rule::note("XY001", "a").meaning("b").fix("c");
    assert_eq!(origin_of(&other), None);
}

/// The table has no id that is mistyped or gone.
#[test]
fn origins_are_of_rules_that_exist() {
    let source = fs::read_to_string("src/origin.rs").unwrap();
    let ids = source.split('"').filter(|word| word.len() == 5 && word.starts_with("PE"));
    let ids: Vec<_> = ids.collect();
    assert!(ids.len() > 50 && ids.iter().all(|id| popef_check::rule_by_id(id).is_some()), "{ids:?}");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

#[cfg(feature = "serde")]
#[test]
fn a_report_serialises() {
    let report = check(&[open(&format!("{FOLDER}/PE201.popef"))], &CheckOptions::new());
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value["findings"][0]["rule"], "PE201");
    assert_eq!(value["findings"][0]["severity"], "error");
}

fn findings(report: &Report) -> Vec<(usize, &str)> {
    report.findings.iter().map(|finding| (finding.file, finding.rule.id)).collect()
}

/// Whichever path or link leads to it.
#[test]
fn a_file_given_again_is_checked_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(format!("{FOLDER}/PE101.popef"), at("model.popef")).unwrap();
    fs::copy(at("model.popef"), at("copy.popef")).unwrap();
    fs::hard_link(at("model.popef"), at("hard.popef")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("model.popef", at("link.popef")).unwrap();
    let link = cfg!(unix).then_some("link.popef");
    let names: Vec<_> =
        ["model.popef", "folder/../model.popef", "hard.popef", "copy.popef"].into_iter().chain(link).collect();
    let mut files: Vec<_> = names.iter().map(|name| OpenOptions::new().open(at(name))).collect();
    // What cannot be opened does not move the numbers of the others.
    files.insert(0, OpenOptions::new().open(at("missing.popef")));
    let report = check(&files, &CheckOptions::new());
    let again: &[usize] = if cfg!(unix) { &[2, 3, 5] } else { &[2, 3] };
    assert_eq!(report.repeated, again);
    // The copy is another file.
    assert_eq!(findings(&report), [(1, "PE019"), (4, "PE104"), (4, "PE106")]);
    let paths = again.iter().map(|&file| at(names[file - 1]).display().to_string()).collect::<BTreeSet<_>>();
    let paths = paths.into_iter().collect::<Vec<_>>().join(", ");
    let message = format!("the file was given {} times, also as {paths}; it is checked once", again.len() + 1);
    assert_eq!(report.findings[0].message, message);
    // Alone it is found to be broken.
    assert_eq!(findings(&check(&files[1..3], &CheckOptions::new())), [(0, "PE019"), (0, "PE101")]);
}

/// A file under another file's name.
struct Named(Vec<u8>, PathBuf);

impl ReadAt for Named {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        buf.copy_from_slice(&self.0[offset as usize..][..buf.len()]);
        Ok(())
    }

    fn name(&self) -> Option<&Path> {
        Some(&self.1)
    }
}

#[test]
fn files_that_are_only_alike_are_all_checked() {
    let path = format!("{FOLDER}/PE101.popef");
    let bytes = fs::read(&path).unwrap();
    let named = || OpenOptions::new().source(Named(bytes.clone(), path.clone().into())).unwrap();
    let copy = || File::from_bytes(bytes.clone()).unwrap();
    let files = [open(&path), named(), named(), copy(), copy()];
    let report = check(&files, &CheckOptions::new());
    assert!(report.repeated.is_empty());
    for file in 0..files.len() {
        assert!(findings(&report).contains(&(file, "PE101")), "{:?}", findings(&report));
    }
}

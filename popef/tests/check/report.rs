//! Reports and the table of rules: order, counts, progress, ids.

use std::fs;

use popef::check::{CheckOptions, Report, Rule, Severity, check, check_with_progress};
use popef::{File, OpenOptions};

use crate::files::{FOLDER, INTEROP, all_loaders, open, options, policy};

#[test]
fn a_clean_model_has_no_findings() {
    let report = check(&[open(&format!("{INTEROP}/add-clean.popef"))], CheckOptions::new().deep(true));
    assert_eq!(report, Report::default());
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
}

#[test]
fn progress_ends_at_the_total() {
    let mut seen = Vec::new();
    let files = [open(&format!("{INTEROP}/compressed-zlib.popef")), open(&format!("{INTEROP}/all-types.popef"))];
    check_with_progress(&files, CheckOptions::new().deep(true), &mut |progress| seen.push(progress));
    assert!(seen.is_sorted_by_key(|progress| progress.done));
    let last = seen.last().unwrap();
    assert_eq!(last.done, last.total);
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
    let ids: Vec<_> = Rule::all().map(|rule| rule.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    for rule in Rule::all() {
        assert!(rule.id.starts_with("PE") && rule.id.len() == 5, "{}", rule.id);
        assert!(rule.meaning.ends_with(['.', ')']) && rule.fix.ends_with('.'), "{}", rule.id);
        assert!(!rule.title.ends_with('.'), "{}", rule.id);
        assert_eq!(Rule::by_id(&rule.id.to_lowercase()), Some(rule));
        assert_eq!(format!("{rule:?}"), format!("Rule {{ id: {:?}, severity: {:?}, .. }}", rule.id, rule.severity));
    }
    assert_eq!(Rule::by_id("PE000"), None);
}

#[cfg(feature = "serde")]
#[test]
fn a_report_serialises() {
    let report = check(&[open(&format!("{FOLDER}/PE201.popef"))], &CheckOptions::new());
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value["findings"][0]["rule"], "PE201");
    assert_eq!(value["findings"][0]["severity"], "error");
}

/// By whatever path it was given. What is only like it counts.
#[test]
fn a_file_given_again_is_checked_once() {
    let path = format!("{FOLDER}/PE101.popef");
    let again = [path.clone(), format!("{FOLDER}/../checks/PE101.popef"), format!("{FOLDER}/PE007.popef")];
    let files: Vec<_> = again.iter().map(|path| open(path)).collect();
    let report = check(&files, &CheckOptions::new());
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.file, finding.rule.id)).collect();
    assert_eq!(found, [(0, "PE101"), (1, "PE019"), (2, "PE007")]);
    let copy = File::from_bytes(fs::read(&path).unwrap()).unwrap();
    let found = check([&files[0], &copy, &copy], &CheckOptions::new()).findings;
    assert!(found.iter().all(|finding| finding.rule.id != "PE019") && found.iter().any(|f| f.rule.id == "PE106"));
}

//! Recorded findings. Each rule has a file in `testdata/checks` that breaks it, with its findings in a text file beside
//! it. The findings in the files of the official library are recorded there, too, and `docs/CHECKS.md` is made from the
//! rules. `POPEF_RENEW=1 cargo test -p popef-check --all-features --test check golden::` writes all of them anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use popef_check::{CheckOptions, Loader, Report, Severity, check};

use crate::files::{FOLDER, INTEROP, open, options};

/// A rule, and the other rules that its file breaks as a consequence.
const IMPLIED: &[(&str, &[&str])] = &[
    ("PE222", &["PE219"]),
    // Most files have a short text in place of an executable.
    ("PE403", &["PE410"]),
    ("PE404", &["PE410"]),
    ("PE405", &["PE410"]),
    ("PE408", &["PE410"]),
    ("PE409", &["PE410"]),
    ("PE502", &["PE501"]),
    ("PE503", &["PE501"]),
    ("PE504", &["PE501"]),
    ("PE602", &["PE105"]),
    ("PE603", &["PE607"]),
    ("PE604", &["PE104"]),
    ("PE606", &["PE108"]),
    ("PE609", &["PE103"]),
    ("PE610", &["PE215"]),
    ("PE611", &["PE501", "PE613"]),
    ("PE613", &["PE501"]),
    ("PE622", &["PE102"]),
    ("PE631", &["PE103"]),
    ("PE632", &["PE101", "PE633"]),
    ("PE634", &["PE114", "PE633"]),
    ("PE635", &["PE633"]),
    ("PE636", &["PE633"]),
    ("PE637", &["PE633"]),
    ("PE703", &["PE501"]),
    ("PE731", &["PE501"]),
    ("PE732", &["PE501"]),
    ("PE733", &["PE501"]),
];

fn shown(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        writeln!(text, "file {}: {finding}", finding.file).unwrap();
        if !finding.names.is_empty() {
            let names: Vec<_> = finding.names.iter().map(|name| format!("{name:?}")).collect();
            writeln!(text, "    names: {}", names.join(" ")).unwrap();
        }
    }
    for skipped in &report.skipped {
        writeln!(text, "{skipped}").unwrap();
    }
    text
}

#[track_caller]
fn is_as_before(path: &str, text: &str) {
    if std::env::var_os("POPEF_RENEW").is_some() {
        fs::write(path, text).unwrap();
    }
    let before = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(before, text, "{path} is not as before; if this is meant, run the test with POPEF_RENEW=1");
}

#[test]
fn each_file_breaks_its_rule_and_only_what_that_implies() {
    let mut wrong = Vec::new();
    for rule in popef_check::rules() {
        let file = open(&format!("{FOLDER}/{}.popef", rule.id));
        // One rule is about what is given, not about what is in it.
        let times = if rule.id == "PE019" { 2 } else { 1 };
        let report = check(std::iter::repeat_n(&file, times), &options(rule.id));
        is_as_before(&format!("{FOLDER}/{}.txt", rule.id), &shown(&report));
        let found: BTreeSet<_> = report.findings.iter().map(|finding| finding.rule.id).collect();
        let implied = IMPLIED.iter().find(|(id, _)| *id == rule.id).map_or(&[][..], |(_, implied)| implied);
        let expected: BTreeSet<_> = implied.iter().copied().chain([rule.id]).collect();
        if found != expected {
            wrong.push((rule.id, found));
        }
        assert!(report.findings.iter().filter(|f| *f.rule == *rule).all(|f| f.severity == rule.severity));
    }
    assert!(wrong.is_empty(), "(file, rules that it breaks): {wrong:#?}");
}

#[test]
fn each_rule_has_its_files_and_there_are_no_others() {
    let there: BTreeSet<_> = fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("PE"))
        .collect();
    let expected = popef_check::rules().flat_map(|rule| [format!("{}.popef", rule.id), format!("{}.txt", rule.id)]);
    assert_eq!(there, expected.collect());
}

#[test]
fn findings_in_the_interop_files_are_as_recorded() {
    let mut names: Vec<_> = fs::read_dir(INTEROP)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".popef").map(str::to_owned))
        .collect();
    names.sort();
    let mut sets: Vec<_> = names.iter().map(|name| vec![name.as_str()]).collect();
    sets.push(vec!["split-executable", "split-tensors", "split-feeds"]);
    let mut text = String::new();
    for set in sets {
        let files: Vec<_> = set.iter().map(|name| open(&format!("{INTEROP}/{name}.popef"))).collect();
        let report = check(&files, CheckOptions::new().deep(true));
        writeln!(text, "== {}\n{}", set.join(" "), shown(&report)).unwrap();
        assert!(report.is_complete());
    }
    is_as_before(&format!("{FOLDER}/interop.txt"), &text);
}

#[test]
fn files_as_frameworks_write_them_have_no_errors() {
    let mut text = String::new();
    for (name, loaders) in [
        ("as-tensorflow", [Loader::Tensorflow].as_slice()),
        ("as-tensorflow-payload", &[Loader::Tensorflow]),
        ("as-popart", &[Loader::Popart]),
        ("as-popart-payload", &[Loader::Popart]),
        ("as-poptorch-payload", &[Loader::Poptorch]),
        ("as-poptorch", &[Loader::Poptorch, Loader::Popart]),
    ] {
        let mut options = CheckOptions::new();
        for &loader in loaders {
            options.loader(loader);
        }
        let report = check(&[open(&format!("{FOLDER}/{name}.popef"))], options.deep(true));
        let worse: Vec<_> = report.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
        assert!(worse.is_empty(), "{worse:#?}");
        writeln!(text, "== {name}\n{}", shown(&report)).unwrap();
    }
    is_as_before(&format!("{FOLDER}/frameworks.txt"), &text);
}

#[test]
fn docs_checks_md_is_made_from_the_table_of_rules() {
    let policy = fs::read_to_string("../../testdata/validate/policy.toml").unwrap();
    let mut text = format!("{CHECKS_HEAD}```toml\n{policy}```\n");
    for (title, rules) in popef_check::rule_groups() {
        write!(text, "\n## {title}\n").unwrap();
        for rule in rules {
            let condition = rule.condition().map(|condition| format!(", {condition}")).unwrap_or_default();
            let origin = popef_check::origin_of(rule).unwrap();
            write!(text, "\n### {}: {}\n\n*{}{condition}; {origin}.* ", rule.id, rule.title, capital(rule.severity))
                .unwrap();
            write!(text, "{}\n\n**To fix it:** {}\n", rule.meaning, rule.fix).unwrap();
        }
    }
    is_as_before("../../docs/CHECKS.md", &text);
}

fn capital(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "Note",
        Severity::Warning => "Warning",
        Severity::Error => "Error",
    }
}

const CHECKS_HEAD: &str = "\
# The checks

All rules of `popef_check`. This page is made from the table of rules in `crates/popef-check/src/`. After a change there,
`POPEF_RENEW=1 cargo test -p popef-check --all-features --test check golden::` writes it again.

An *error* means that loading will fail, or that its result is not known. A *warning* is most likely not intended. A *note* is
worth knowing, and normal in many files. A policy can change the severity of a rule, or turn it off. No id is used again for
another rule. For each rule, `testdata/checks/ID.popef` is a file that breaks it, with the findings beside it.

Beside the severity stands where the facts are from that the rule judges by, in the words of [FORMAT.md](FORMAT.md). *Documented*: the
vendor says so, or a public standard. *Recovered*: it was taken from public programs of the vendor. *Inferred*: it is a conclusion that
fits all that is known, and nobody has confirmed it; such a rule is a note. *Required*: a policy says so.

## A policy

A policy has what your team requires of the files that it ships: `popef check --policy FILE`. It is a text file in TOML. All in
it is optional; an unknown key or rule is an error. `popef explain policy` prints this example too, which has all keys:

";

//! What the findings about pickles say.

use std::fs;

use popef::types::OpaqueInfo;
use popef_check::{CheckOptions, Loader, Policy, Report, Severity, check};

use crate::files::written;

/// The findings of PE502 for a pickle of `testdata/pickles`.
fn dangers(pickle: &str) -> Vec<String> {
    let data = fs::read(format!("../../testdata/pickles/{pickle}.pickle")).unwrap();
    let file = written(|writer| {
        writer.write_opaque(&OpaqueInfo { name: "o".into(), executable: "e".into() }, &data).unwrap();
    });
    let findings = check([&file], &CheckOptions::new()).findings.into_iter();
    findings.filter(|finding| finding.rule.id == "PE502").map(|finding| finding.message).collect()
}

/// Also of those imports that have no name.
#[test]
fn a_finding_says_what_a_dangerous_pickle_does() {
    for (pickle, does) in [
        ("os-system-4", r#"imports "posix.system", which can run programs, use files or import by name"#),
        ("build-class", r#"changes "argparse.Namespace" itself, and so all objects of that class"#),
        ("endless-list", r#"reads all that "itertools.count" gives, which may never end"#),
        ("computed-name", "computes the name of an import while it is loaded"),
        ("extension-1", "imports by the extension code 200, which only the program that loads it can resolve"),
    ] {
        assert_eq!(dangers(pickle), [format!("opaque blob \"o\" is a pickle that {does}")]);
    }
}

/// What a check finds in an opaque blob with these bytes.
fn report(data: &[u8], options: &CheckOptions) -> Report {
    let file = written(|writer| {
        writer.write_opaque(&OpaqueInfo { name: "o".into(), executable: "e".into() }, data).unwrap();
    });
    check([&file], options)
}

fn severity(report: &Report, rule: &str) -> Option<Severity> {
    report.findings.iter().find(|finding| finding.rule.id == rule).map(|finding| finding.severity)
}

const UNKNOWN: &[u8] = b"\x80\x02cmymodels.bert\nHead\n.";

/// PopTorch unpickles the blob, and a policy can list what is known.
#[test]
fn an_unknown_import_is_an_error_for_poptorch_and_with_a_policy() {
    let known = |names: &[&str]| Policy {
        known_imports: names.iter().map(|&name| name.to_owned()).collect(),
        ..Policy::default()
    };
    let cases = [
        (CheckOptions::new(), Some(Severity::Warning)),
        (CheckOptions::new().loader(Loader::Triton).clone(), Some(Severity::Warning)),
        (CheckOptions::new().loader(Loader::Poptorch).clone(), Some(Severity::Error)),
        (CheckOptions::new().policy(Policy::default()).clone(), Some(Severity::Error)),
        (CheckOptions::new().policy(known(&["other.*"])).clone(), Some(Severity::Error)),
        (CheckOptions::new().policy(known(&["mymodels.*"])).clone(), None),
    ];
    for (options, expected) in cases {
        let report = report(UNKNOWN, &options);
        assert_eq!(severity(&report, "PE503"), expected, "{options:?}");
        assert_eq!(report.unsafe_pickles.is_empty(), expected.is_none(), "{options:?}");
    }
    // A policy that sets the rule has the last word on its severity, but not on what is safe.
    let mut policy = Policy::default();
    policy.rules.insert("PE503".to_owned(), popef_check::Level::Off);
    let report = report(UNKNOWN, CheckOptions::new().loader(Loader::Poptorch).policy(policy));
    assert_eq!((severity(&report, "PE503"), &report.unsafe_pickles[..]), (None, &[0][..]));
}

/// A policy that knows a function says nothing of what it returns, which a state can change.
#[test]
fn a_change_of_what_a_known_function_returned_is_not_safe() {
    let data = fs::read("../../testdata/pickles/shape-result-called.pickle").unwrap();
    let change = "(change of a result of mymodel.make)";
    for (names, is_safe) in [(&["mymodel.*"][..], false), (&["mymodel.*", change], true)] {
        let known_imports = names.iter().map(|&name| name.to_owned()).collect();
        let report = report(&data, CheckOptions::new().policy(Policy { known_imports, ..Policy::default() }));
        assert_eq!(report.unsafe_pickles.is_empty(), is_safe, "{names:?}");
        let found = report.findings.iter().find(|finding| finding.rule.id == "PE503");
        let says =
            r#"opaque blob "o" is a pickle that changes what "mymodel.make" returned, which other objects may share"#;
        assert_eq!(found.map(|finding| &*finding.message), (!is_safe).then_some(says));
    }
}

/// The report has the file's position among the given files.
#[test]
fn a_report_names_the_files_that_are_not_safe_to_unpickle() {
    let file = |data: &[u8]| {
        written(|writer| {
            writer.write_opaque(&OpaqueInfo { name: "o".into(), executable: "e".into() }, data).unwrap();
        })
    };
    let stored = fs::read("../../testdata/pickles/archive-stored.pickle").unwrap();
    let encrypted = fs::read("../../testdata/pickles/archive-encrypted.pickle").unwrap();
    let honest = fs::read("../../testdata/pickles-honest/torch-1.12.1-tensors.zip").unwrap();
    let files = [&b"\x80\x02N."[..], &stored, &honest, b"\x80\x02N", UNKNOWN, &encrypted].map(file);
    assert_eq!(check(&files, &CheckOptions::new()).unsafe_pickles, [1, 3, 4, 5]);
}

#[test]
fn a_finding_in_an_archive_names_the_member() {
    let of = |file: &str, rule: &str| {
        let data = fs::read(format!("../../testdata/pickles/{file}.pickle")).unwrap();
        let findings = report(&data, &CheckOptions::new()).findings.into_iter();
        findings.filter(|finding| finding.rule.id == rule).map(|finding| finding.message).collect::<Vec<_>>()
    };
    let can = "which can run programs, use files or import by name";
    let nested = r#""b.pt > c.pt > a/data.pkl" in opaque blob "o" is a pickle that imports "posix.system""#;
    assert_eq!(of("archive-nested", "PE502"), [format!("{nested}, {can}")]);
    assert_eq!(
        of("archive-encrypted", "PE505"),
        [r#""a/data.pkl" in opaque blob "o" was not looked at: it is encrypted"#]
    );
    assert_eq!(
        of("archive-gap", "PE504"),
        [
            r#"opaque blob "o" is a zip archive that cannot be followed beyond its byte 0: a zip archive has bytes that belong to no member"#
        ]
    );
    assert_eq!(
        of("archive-stored", "PE501"),
        [r#"opaque blob "o" is a zip archive with 1 Python pickle that imports 1 name"#]
    );
    assert_eq!(
        of("attack-logger", "PE502"),
        [
            r#"opaque blob "o" is a pickle that changes what "logging.getLogger" returned, which other objects may share"#
        ]
    );
    assert_eq!(
        of("shape-state-getattr", "PE502"),
        [r#"opaque blob "o" is a pickle that may set an attribute that Python looks up by itself"#]
    );
    assert_eq!(
        of("own-call-made", "PE502"),
        [
            r#"opaque blob "o" is a pickle that calls or fills "pandas.DataFrame" in a way that is not known to only build values"#
        ]
    );
    assert_eq!(
        of("attack-namespace", "PE502")[1],
        r#"opaque blob "o" is a pickle that imports "functools.update_wrapper", which is of Python's own library, and not known to only build values"#
    );
}

/// The member is too long to be tried, and nothing says that it is a pickle.
#[test]
fn members_that_were_passed_over_are_among_what_was_skipped() {
    let data = fs::read("../../testdata/pickles/archive-long-member.pickle").unwrap();
    let report = report(&data, &CheckOptions::new());
    assert!(report.findings.iter().all(|finding| !finding.rule.id.starts_with("PE50")), "{:?}", report.findings);
    let skipped: Vec<_> = report.skipped.iter().map(|skipped| (&*skipped.what, &*skipped.why)).collect();
    assert!(
        skipped
            .contains(&(r#"1 long member of opaque blob "o""#, "by their first bytes and names they are no pickles")),
        "{skipped:?}"
    );
}

/// Pickles can be in data that is compressed as a whole, and in arrays of NumPy.
#[test]
fn data_in_which_pickles_are_not_looked_for_is_among_what_was_skipped() {
    for (data, what) in [
        (&b"\x1f\x8b\x08\0\0\0\0\0"[..], "data compressed with gzip"),
        (b"BZh91AY&SY\0", "data compressed with bzip2"),
        (b"\xfd7zXZ\0\0\x04", "data compressed with xz"),
        (b"\x93NUMPY\x01\0", "an array of NumPy"),
        (b"\x28\xb5\x2f\xfd\x24", "data compressed with zstd"),
    ] {
        let skipped = report(data, &CheckOptions::new()).skipped;
        let skipped: Vec<_> = skipped.iter().map(|skipped| format!("{}: {}", skipped.what, skipped.why)).collect();
        let why = format!("it is {what}, which these checks do not unpack to look for pickles");
        assert_eq!(skipped, [format!("the content of opaque blob \"o\": {why}")]);
    }
    assert!(report(b"\x0a\x05hello", &CheckOptions::new()).skipped.is_empty());
}

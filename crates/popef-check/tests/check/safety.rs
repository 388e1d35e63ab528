//! What the findings about pickles say.

use std::fs;

use popef::types::OpaqueInfo;
use popef_check::{CheckOptions, check};

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
        ("computed-name", "computes the name of an import while it is loaded"),
        ("extension-1", "imports by the extension code 200, which only the program that loads it can resolve"),
    ] {
        assert_eq!(dangers(pickle), [format!("opaque blob \"o\" is a pickle that {does}")]);
    }
}

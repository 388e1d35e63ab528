//! What a policy demands of files, and how it changes rules.

use popef_check::{CheckOptions, Level, Policy, Severity, check};

#[cfg(feature = "tensorflow")]
use popef::types::OpaqueInfo;

#[cfg(feature = "tensorflow")]
use crate::files::written;
use crate::files::{FOLDER, INTEROP, open};

#[test]
fn a_policy_turns_rules_off_and_up() {
    let files = [open(&format!("{FOLDER}/PE108.popef"))];
    let with = |level| {
        let rules = [("pe108".to_owned(), level)].into();
        let policy = Policy { rules, ..Policy::default() };
        check(&files, CheckOptions::new().policy(policy)).worst()
    };
    assert_eq!(with(Level::Off), None);
    assert_eq!(with(Level::Note), Some(Severity::Note));
    assert_eq!(with(Level::Error), Some(Severity::Error));
    let slip = Policy { rules: [("PE999".to_owned(), Level::Off)].into(), ..Policy::default() };
    assert_eq!(slip.unknown_rules().collect::<Vec<_>>(), ["PE999"]);
}

#[test]
fn a_file_may_be_as_large_as_the_policy_says() {
    let files = [open(&format!("{INTEROP}/add-clean.popef"))];
    let passes = |max_file_size| {
        let policy = Policy { max_file_size: Some(max_file_size), ..Policy::default() };
        check(&files, CheckOptions::new().policy(policy)).passes(false)
    };
    assert_eq!((passes(files[0].size()), passes(files[0].size() - 1)), (true, false));
}

/// PE503.popef imports `mycode.Model`.
#[test]
fn a_policy_knows_imports() {
    let found = |id: &str, known: &str| {
        let policy = Policy { known_imports: vec!["other".to_owned(), known.to_owned()], ..Policy::default() };
        let report = check(&[open(&format!("{FOLDER}/{id}.popef"))], CheckOptions::new().policy(policy));
        report.findings.iter().any(|finding| finding.rule.id == id)
    };
    for known in ["mycode.Model", "mycode.*"] {
        assert!(!found("PE503", known), "{known}");
    }
    for known in ["mycode.Mode", "mycode.Model.*", "mycode", "myc.*", "*", ".*"] {
        assert!(found("PE503", known), "{known}");
    }
    for known in ["posix.system", "posix.*"] {
        assert!(found("PE502", known), "{known} can do harm");
    }
}

/// PE710.popef has TensorFlow's blob with a hash; here it is cut, and then empty.
#[cfg(feature = "tensorflow")]
#[test]
fn a_blob_that_does_not_state_what_the_policy_requires_does_not_pass() {
    let file = open(&format!("{FOLDER}/PE710.popef"));
    let whole = file.opaque("tensorflow").unwrap().data().read().unwrap();
    for len in [whole.len() - 1, 0] {
        let file = written(|writer| {
            let info = OpaqueInfo { name: "tensorflow".into(), executable: "model".into() };
            writer.write_opaque(&info, &whole[..len]).unwrap();
        });
        let policy =
            Policy { poplar_hash: Some("1".to_owned()), target_arch: Some("ipu2".to_owned()), ..Policy::default() };
        let report = check(&[file], CheckOptions::new().policy(policy));
        let found: Vec<_> = report.findings.iter().map(|finding| finding.rule.id).collect();
        assert!(found.contains(&"PE710") && found.contains(&"PE711"), "{len}: {found:?}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn a_policy_is_read_as_it_is_documented() {
    use popef_check::Extent;

    let text = r#"{
        "max-file-size": 1000, "compressed-executables": true, "num-ipus": 4,
        "known-imports": ["bert.*"], "rules": {"PE008": "off"},
        "inputs": [{"name": "images", "data-type": "f16", "shape": ["?", 3]}]
    }"#;
    let policy: Policy = serde_json::from_str(text).unwrap();
    assert_eq!(policy.rules["PE008"], Level::Off);
    assert_eq!(policy.inputs[0].shape.as_deref(), Some(&[Extent::Any, Extent::Exactly(3)][..]));
    assert_eq!(policy.known_imports, ["bert.*"]);
    let again = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&again).unwrap(), policy);
    assert!(serde_json::from_str::<Policy>(r#"{"max-size": 1}"#).is_err());
    for extent in ["-1", r#""x""#] {
        let text = format!(r#"{{"inputs": [{{"name": "x", "shape": [{extent}]}}]}}"#);
        let error = serde_json::from_str::<Policy>(&text).unwrap_err().to_string();
        assert!(error.contains("a number that is not negative, or \"?\""), "{error}");
    }
}

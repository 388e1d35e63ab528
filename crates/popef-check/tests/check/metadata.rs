//! Rules about models and their data: what is found, and the nearest that is not.

use popef::types::{Anchor, EngineOption, ProgramFlow, TensorType, Text};
use popef::{DataType, File, Metadata, TensorInfo};
use popef_check::{CheckOptions, check};

use crate::files::{tensor, written};

/// The findings of one rule in a model, as messages. The files have a tensor "w".
fn found(id: &str, metadata: &Metadata) -> Vec<String> {
    let file: File = written(|writer| {
        writer.write_metadata(metadata).unwrap();
        writer.write_tensor(&tensor("w", DataType::F32, 2), &[1f32, 2.0]).unwrap();
    });
    let report = check([&file], &CheckOptions::new());
    report.findings.into_iter().filter(|finding| finding.rule.id == id).map(|finding| finding.message).collect()
}

fn model(anchors: Vec<Anchor>) -> Metadata {
    let program_flow = ProgramFlow { load: vec![0, 1], main: vec![2], save: vec![3] };
    Metadata { executable: "e".into(), program_flow, anchors, ..Metadata::default() }
}

fn input(name: &'static str, programs: &[u32]) -> Anchor {
    let tensor_info = TensorInfo::new(DataType::F32, [2]);
    let (name, handle): (Text<'static>, Text<'static>) = (name.into(), format!("h2d_{name}").into());
    Anchor {
        name,
        handle,
        tensor_type: TensorType::Input,
        programs: programs.to_vec(),
        tensor_info,
        ..Anchor::default()
    }
}

#[test]
fn inputs_that_only_load_programs_use_are_weights() {
    let told = |programs: &[u32]| !found("PE114", &model(vec![input("v", programs)])).is_empty();
    assert!(told(&[0]) && told(&[0, 1, 3]));
    assert!(!told(&[]) && !told(&[2]) && !told(&[0, 2]) && !told(&[3]));
    // With the seed's handle it is none.
    let mut seeded = model(vec![input("v", &[0]), input("u", &[1])]);
    seeded.seed_handle = "h2d_v".into();
    assert_eq!(found("PE114", &seeded), [r#"the files have no data for 1 weight: "u""#]);
}

#[test]
fn weights_are_missing_beside_weights_that_have_data() {
    let with = |programs: &[u32]| model(vec![input("w", programs), input("u", &[0]), input("v", &[1])]);
    let message = r#"the files have data for other weights, but not for "u", "v""#;
    assert_eq!(found("PE113", &with(&[0])), [message]);
    assert!(found("PE114", &with(&[0])).is_empty());
    // What the main program reads is no weight.
    assert!(found("PE113", &with(&[2])).is_empty());
    // PopART lacks the state of its random numbers if it compiles without a device.
    let handle = "h2d_rngStateTensor".into();
    let state = Anchor { handle, ..input("rngStateTensor", &[0]) };
    assert!(found("PE113", &model(vec![input("w", &[0]), state])).is_empty());
    assert_eq!(found("PE114", &with(&[2])).len(), 1);
}

/// PopART writes the number of groups where groups of replicas share a weight, over several processes too.
#[test]
fn a_shape_may_begin_with_the_number_of_replica_groups() {
    let wrong = |id: &str, shape: &[i64], repeats: u32| {
        let tensor_info = TensorInfo::new(DataType::F32, shape);
        let mut grouped = Anchor { tensor_info, is_per_replica: true, repeats, ..input("v", &[0]) };
        grouped.use_remote_buffers = repeats > 1;
        let metadata = Metadata { replication_factor: 4, num_ipus: 4, num_processes: 12, ..model(vec![grouped]) };
        found(id, &metadata).pop()
    };
    for groups in [2, 4, 3, 6, 12] {
        assert_eq!(wrong("PE303", &[groups, 5], 1), None, "{groups}");
        assert_eq!(wrong("PE304", &[groups, 7, 5], 7), None, "{groups}");
        assert!(wrong("PE304", &[groups, 5], 7).unwrap().ends_with("has to be the 7 repeats, but is 5"), "{groups}");
        assert!(wrong("PE304", &[groups], 7).unwrap().ends_with("the shape has only 1 dimensions"), "{groups}");
    }
    for other in [0, 1, -2, 5, 8, 24, i64::MAX] {
        assert!(wrong("PE303", &[other, 5], 1).unwrap().contains("has to be the 4 replicas"), "{other}");
    }
    assert!(wrong("PE303", &[], 1).is_some());
}

/// Only weights have groups: an input or output of each call has data for every replica.
#[test]
fn an_input_of_each_call_begins_with_all_replicas() {
    let told = |shape: &[i64]| {
        let tensor_info = TensorInfo::new(DataType::F32, shape);
        let batch = Anchor { tensor_info, is_per_replica: true, ..input("x", &[2]) };
        !found("PE303", &Metadata { replication_factor: 4, num_ipus: 4, ..model(vec![batch]) }).is_empty()
    };
    assert!(told(&[2, 5]) && told(&[1, 5]) && told(&[5]));
    assert!(!told(&[4, 5]) && !told(&[4]));
}

#[test]
fn ipus_divide_over_replicas() {
    let told = |num_ipus, replication_factor| {
        !found("PE221", &Metadata { num_ipus, replication_factor, ..model(vec![]) }).is_empty()
    };
    assert!(told(3, 2));
    assert!(!told(1, 2) && !told(4, 2) && !told(2, 2) && !told(5, 1) && !told(0, 2) && !told(2, 0));
}

#[test]
fn each_replica_needs_an_ipu() {
    let told = |num_ipus, replication_factor, num_processes| {
        !found("PE226", &Metadata { num_ipus, replication_factor, num_processes, ..model(vec![]) }).is_empty()
    };
    assert!(told(1, 2, 1) && told(3, 4, 0) && told(2, 16, 4));
    assert!(!told(2, 2, 1) && !told(0, 2, 1) && !told(4, 16, 4) && !told(1, 0, 1));
}

/// The value is never shown.
#[test]
fn credentials_are_told_by_the_name_or_the_form_of_the_value() {
    let told = |name: &'static str, value: &'static str| {
        let option = EngineOption { name: name.into(), value: value.into() };
        let [engine, device] = [(vec![option.clone()], vec![]), (vec![], vec![option])].map(|(engine, device)| {
            found("PE506", &Metadata { engine_options: engine, device_options: device, ..model(vec![]) })
        });
        assert_eq!(engine.len(), device.len());
        let twice = [(name, value), (name, "another")];
        let engine_options =
            twice.map(|(name, value)| EngineOption { name: name.into(), value: value.into() }).to_vec();
        let doubled = found("PE220", &Metadata { engine_options, ..model(vec![]) });
        let shown = |message: &String| !engine.is_empty() && message.contains(value);
        assert!(
            doubled.len() == 1 && !engine.iter().chain(&device).chain(&doubled).any(shown),
            "{engine:?} {doubled:?}"
        );
        !engine.is_empty()
    };
    for (name, value) in [
        ("db.password", "hunter2"),
        ("API-Key", "0123456789abcdef"),
        ("auth_token", "abcdef"),
        ("x", "AKIAIOSFODNN7EXAMPLE"),
        ("x", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"),
        ("proxy", "http://me:pass@example.com/path"),
        ("x", "-----BEGIN RSA PRIVATE KEY-----"),
    ] {
        assert!(told(name, value), "{name} = {value}");
    }
    for (name, value) in [
        ("debug.retainDebugInformation", "true"),
        ("usesPassword", "false"),
        ("passwordLength", "123456"),
        ("maxTokens", "4096"),
        ("cachePath", "/home/me:and@you/cache"),
        ("url", "http://example.com:8080/me@home"),
        ("x", "sk-short"),
        ("password", ""),
    ] {
        assert!(!told(name, value), "{name} = {value}");
    }
}

#[test]
fn a_model_for_training_may_have_no_outputs_but_its_weights() {
    let saved = Anchor { tensor_type: TensorType::Output, ..input("v", &[3]) };
    let told = |is_inference, anchors| !found("PE223", &Metadata { is_inference, ..model(anchors) }).is_empty();
    assert!(told(true, vec![saved.clone()]) && told(true, vec![]) && told(false, vec![]));
    assert!(!told(false, vec![saved.clone()]));
    assert!(!told(true, vec![Anchor { programs: vec![2], ..saved }]));
}

/// The characters that differ are shown by their code points.
#[test]
fn names_that_were_not_found_are_told_with_those_that_look_alike() {
    let told = |anchor: &'static str| found("PE108", &model(vec![input(anchor, &[0])])).pop();
    let message = |hint: &str| Some(format!("tensor \"w\": no anchor has this name{hint}"));
    assert_eq!(told("v"), message(""));
    assert_eq!(told("W"), message("; did you mean anchor \"W\", which has U+0057 instead of U+0077?"));
    assert_eq!(told("w "), message("; did you mean anchor \"w \", which has an extra U+0020?"));
    let file = written(|writer| {
        writer.write_executable("MODEL", b"program").unwrap();
        writer.write_metadata(&Metadata { executable: "Model".into(), ..Metadata::default() }).unwrap();
    });
    let report = check([&file], &CheckOptions::new());
    let missing = report.findings.iter().find(|finding| finding.rule.id == "PE101").unwrap();
    assert!(
        missing.message.contains("did you mean executable \"MODEL\", which has U+004F U+0044"),
        "{}",
        missing.message
    );
}

#[test]
fn inputs_whose_names_look_alike_are_told_apart() {
    let told = |one, other| found("PE224", &model(vec![input(one, &[2]), input(other, &[2])]));
    assert_eq!(told("cafe\u{301}", "caf\u{e9}").len(), 1);
    assert_eq!(told("a", "a ").len(), 1);
    assert!(told("a", "A").is_empty() && told("a", "b").is_empty());
    assert!(told("caf\u{e9}", "caf\u{e9}").is_empty() && told(" ", "").is_empty());
}

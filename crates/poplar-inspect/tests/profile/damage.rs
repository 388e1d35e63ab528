//! Both encodings, whole and damaged.

use std::io::{self, Read};

use poplar_inspect::profile::{ErrorKind, ReadOptions, Report};

use crate::{bytes, case, read};

#[test]
fn cbor_is_the_same_as_json() {
    // One has the tag that says that it is CBOR, the other does not.
    for name in ["tiny", "model"] {
        let half = |half: &str| read(&bytes(&format!("{name}.{half}.cbor"))).unwrap();
        let (graph, execution) = (half("graph"), half("execution"));
        let both = execution.join(graph).unwrap();
        let json = case(name);
        let programs = |report: &Report| format!("{:?}", report.graph.as_ref().unwrap().memory);
        assert_eq!(programs(&both), programs(&json));
        let steps = |report: &Report| report.execution.as_ref().unwrap().simulation.as_ref().unwrap().steps.len();
        assert_eq!(steps(&both), steps(&json));
    }
}

#[test]
fn a_combined_report_is_its_halves() {
    let (report, halves) = (read(&bytes("tiny.report.json")).unwrap(), case("tiny"));
    let memory = |report: &Report| report.graph.as_ref().unwrap().memory.clone();
    assert_eq!(memory(&report), memory(&halves));
    let cycles = |report: &Report| report.execution.as_ref().unwrap().simulation.as_ref().unwrap().cycles;
    assert_eq!((cycles(&report), report.remarks.list.len()), (Some(258), 0));
}

/// Every beginning of a document is an error, at the byte where it ends.
#[test]
fn every_beginning_is_cut() {
    for name in ["tiny.graph.json", "tiny.execution.json", "tiny.graph.cbor", "tiny.execution.cbor"] {
        let whole = bytes(name);
        let len = whole.trim_ascii_end().len();
        for end in (0..len).rev().step_by(7) {
            let error = read(&whole[..end]).unwrap_err();
            assert_eq!((error.kind, error.byte), (ErrorKind::Cut, Some(end as u64)), "{name} at {end}: {error}");
        }
        let mut longer = whole.clone();
        longer.extend_from_slice(b"0");
        assert_eq!(read(&longer).unwrap_err().kind, ErrorKind::Malformed, "{name}");
    }
}

/// The result does not depend on how the bytes come.
#[test]
fn pieces_are_put_together() {
    struct OneByOne<'b>(&'b [u8]);

    impl Read for OneByOne<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(1);
            self.0.read(&mut buffer[..len])
        }
    }

    for name in ["tiny.report.json", "odd/36-control-names.graph.json", "model.graph.cbor"] {
        let bytes = bytes(name);
        assert_eq!(Report::read(OneByOne(&bytes), &ReadOptions::all()), read(&bytes), "{name}");
    }
}

/// What is wrong, and what is said of it.
#[rustfmt::skip]
const BROKEN: &[(&str, &str)] = &[
    (r#"{"a":1}"#, "$ (byte 7): this is no profile: it has none of the keys of one"),
    ("\u{7f}ELF", "$ (byte 0): expected a value"),
    ("\u{7ff}", "$ (byte 1): this is no item of CBOR"),
    (r#"{"target":{"numTiles":2,"numTiles":2}}"#, "$.target.numTiles (byte 36): the key is there twice"),
    (r#"{"target":[]}"#, "$.target (byte 11): expected an object, found a list"),
    (r#"{"target":{"type":"IPU"}}"#, r#"$.target (byte 24): the key "numTiles" is missing"#),
    (r#"{"target":{"numTiles":01}}"#, "$.target.numTiles (byte 24): this is no number"),
    (r#"{"target":{"numTiles":4294967296}}"#, "$.target.numTiles (byte 32): 4294967296 is no index: it is larger than 32 bits have"),
    (r#"{"vertexTypes":{"sizes":[1,2,-3]}}"#, "$.vertexTypes.sizes[2] (byte 31): expected an integer from 0 on, found a negative number"),
    (r#"{"vertexTypes":{"sizes":[1,2,03]}}"#, "$.vertexTypes.sizes[2] (byte 31): this is no number"),
    (r#"{"vertexTypes":{"sizes":[1,2,99999999999999999999]}}"#, "$.vertexTypes.sizes[2] (byte 49): the number is larger than any 64-bit integer"),
    (r#"{"vertexTypes":{"sizes":[1,2,1e-400]}}"#, "$.vertexTypes.sizes[2] (byte 35): expected an integer, found a fraction"),
    (r#"{"vertexTypes":{"sizes":[1,2,60.0000000000000000001]}}"#, "$.vertexTypes.sizes[2] (byte 51): expected an integer, found a fraction"),
    (r#"{"vertexTypes":{"sizes":[1,,2]}}"#, "$.vertexTypes.sizes[1] (byte 27): expected a value"),
    (r#"{"vertexTypes":{"sizes":[1 2]}}"#, "$.vertexTypes.sizes (byte 27): expected a comma or ]"),
    (r#"{"vertexTypes":{"names":["a","b\x"]}}"#, "$.vertexTypes.names[1] (byte 33): this is no escape of JSON"),
    ("{\"vertexTypes\":{\"names\":[\"a\nb\"]}}", "$.vertexTypes.names[0] (byte 27): a control character is in a text"),
    (r#"{"programs":[{"name":"x"}]}"#, r#"$.programs[0] (byte 25): the key "type" is missing"#),
    (r#"{"profilerMode":"CPU","a key":[}"#, r#"$["a key"] (byte 31): expected a value"#),
    (r#"{"memory":{"liveness":{"notAlwaysLive":{"byProgram":[{"children":[]}]}}}}"#,
     r#"$.memory.liveness.notAlwaysLive.byProgram[0] (byte 68): the key "bytes" is missing"#),
];

#[test]
fn damage_is_told_with_path_and_byte() {
    for (document, expected) in BROKEN {
        assert_eq!(read(document.as_bytes()).unwrap_err().to_string(), *expected, "{document}");
    }
}

/// Skipped values may have any length.
#[test]
fn long_texts_are_refused_if_they_are_kept() {
    let long = "x".repeat((1 << 20) + 1);
    let name = format!(r#"{{"vertexTypes":{{"names":["{long}"]}}}}"#);
    let error = read(name.as_bytes()).unwrap_err();
    assert_eq!((error.kind, error.path.as_str()), (ErrorKind::WrongForm, "$.vertexTypes.names[0]"), "{error}");
    let skipped = format!(r#"{{"profilerMode":"CPU","other":["{long}"]}}"#);
    assert_eq!(read(skipped.as_bytes()).unwrap().remarks.list.len(), 1);
}

/// Errors name the tag of a value, and an integer that is too long does not count as bytes.
#[test]
fn tags_of_cbor_are_told() {
    let cycles = |value: &[u8]| {
        let start = b"\xa2\x6cprofilerMode\x63CPU\x6asimulation\xa1\x66cycles";
        read(&[&start[..], value].concat())
    };
    let dated = cycles(b"\xc1\x07").unwrap();
    assert_eq!(dated.execution.unwrap().simulation.unwrap().cycles, Some(7));
    let told: Vec<_> = dated.remarks.list.iter().map(|remark| remark.message.as_str()).collect();
    assert_eq!(told, ["tag 1 of CBOR is not looked at"]);
    let message = cycles(b"\xc2\x49\x01\0\0\0\0\0\0\0\0").unwrap_err().message;
    assert_eq!(message, "the number is larger than any 64-bit integer");
}

/// A length in CBOR is a claim.
#[test]
fn claims_cost_nothing() {
    let with = |value: &[u8]| [&b"\xa1\x66target"[..], value].concat();
    for value in [
        &b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x7b\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        let error = read(&with(value)).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Cut | ErrorKind::WrongForm), "{error}");
    }
}

/// Deep nesting is refused, known or not, and does not need a deep stack.
#[test]
fn deep_nesting_is_refused() {
    let node = r#"{"bytes":1,"children":["#;
    let tree = format!(r#"{{"memory":{{"liveness":{{"notAlwaysLive":{{"byProgram":[{}"#, node.repeat(100_000));
    for document in [tree.as_bytes(), "[".repeat(100_000).as_bytes(), &[&b"\xa1\x61x"[..], &[0x81; 100_000]].concat()] {
        let error = read(document).unwrap_err();
        assert_eq!(error.kind, ErrorKind::WrongForm, "{error}");
        assert!(error.path.len() < 250, "{error}");
    }
}

#[test]
fn a_disk_that_fails_is_told() {
    struct Fails;

    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    let error = Report::read(br#"{"target":{"#.chain(Fails), &ReadOptions::default()).unwrap_err();
    assert_eq!((error.kind, error.path.as_str()), (ErrorKind::Unreadable(io::ErrorKind::PermissionDenied), "$.target"));
}

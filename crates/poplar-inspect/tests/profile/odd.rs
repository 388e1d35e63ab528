//! Variants of a small report, each with something odd. `expect.json` has the expected remark or error of each, and its
//! place.

use poplar_inspect::profile::{Error, Report, facts};

use crate::{CASES, bytes, case, json, read};

fn joined(file: &str, with: Option<&str>) -> Result<Report, Error> {
    let report = read(&bytes(&format!("odd/{file}")))?;
    match with {
        Some(with) => report.join(read(&bytes(&format!("odd/{with}")))?),
        None => Ok(report),
    }
}

/// An error or remark is at the place that is expected, or within it if the place is the whole document.
fn is_at(path: &str, expected: &str) -> bool {
    path == expected || expected == "$"
}

#[test]
fn each_oddity_is_told_where_it_is() {
    let expected = json("odd/expect.json");
    let expected = expected.as_array().unwrap();
    assert_eq!(expected.len(), 36);
    for case in expected {
        let text = |key: &str| case[key].as_str().unwrap();
        let (file, path) = (text("file"), text("path"));
        let result = joined(file, case["with"].as_str());
        match (text("verdict"), &result) {
            ("error", Err(error)) => {
                assert!(is_at(&error.path, path), "{file}: {error}");
                assert!(error.byte.is_some() || path == "$.target", "{file}: {error}");
            }
            ("remark", Ok(report)) => {
                let paths: Vec<_> = report.remarks.list.iter().map(|remark| remark.path.as_str()).collect();
                // Names have several kinds of odd characters, and what depends on the number of tiles is odd with it.
                assert!(paths.contains(&path), "{file}: {:?}", report.remarks);
                let most = if file.starts_with("36") { 6 } else { 1 };
                assert!(paths.len() <= most && report.remarks.more == 0, "{file}: {:?}", report.remarks);
            }
            ("none", Ok(report)) => assert!(report.remarks.list.is_empty(), "{file}: {:?}", report.remarks),
            (verdict, _) => panic!("{file}: not {verdict}: {result:?}"),
        }
    }
}

#[test]
fn sound_reports_have_nothing_odd() {
    for name in CASES {
        let report = case(name);
        // Some reports have a list that the chapter does not know, which is read.
        assert!(report.remarks.list.is_empty(), "{name}: {:?}", report.remarks);
    }
}

#[test]
fn names_have_no_surrogates_and_keep_the_rest() {
    let report = joined("36-control-names.graph.json", None).unwrap();
    let graph = report.graph.unwrap();
    assert!(graph.programs[0].name.as_deref().unwrap().starts_with("a\0b\u{1b}[31mred\u{7}\n"));
    assert_eq!(graph.compute_sets.name(0), Some("bad \u{FFFD} half"));
}

/// Odd parts of small reports, and parts that only look odd.
#[test]
fn numbers_that_cannot_be_are_odd() {
    let target = |bytes: &str, all: &str| {
        format!(
            r#"{{"target":{{"numTiles":2,"numIPUs":1,"tilesPerIPU":2,"bytesPerTile":{bytes},"totalMemory":{all}}}}}"#
        )
    };
    let last = |cycle: u64| {
        let step = format!(r#"{{"type":"OnTileExecute","cyclesFrom":0,"cyclesTo":{cycle}}}"#);
        format!(r#"{{"profilerMode":"CPU","programTrace":[],"simulation":{{"cycles":10,"steps":[{step}]}}}}"#)
    };
    let cases = [
        (target("10", "20"), ""),
        (target("18446744073709551615", "7"), "the memory is 7, and bytesPerTile * numTiles is 36893488147419103230"),
        (target("0", "0"), "bytesPerTile is 0, so that it is not known what a tile has"),
        (last(10), ""),
        (last(11), "a step lasts until cycle 11, and the execution has 10 cycles"),
        (target("18446744073709551615", "18446744073709551615"), "all numbers together are larger than 2^64 - 1"),
    ];
    for (document, expected) in cases {
        let remarks = read(document.as_bytes()).unwrap().remarks.list;
        let told: Vec<_> = remarks.iter().map(|remark| &*remark.message).filter(|it| !it.contains("missing")).collect();
        let is_told = told.iter().any(|message| !expected.is_empty() && message.starts_with(expected));
        assert_eq!((is_told, told.is_empty()), (!expected.is_empty(), expected.is_empty()), "{document}: {told:?}");
    }
}

/// A tile cannot need less than its data.
#[test]
fn what_contradicts_itself_is_not_said_to_fit() {
    let memory = |with_gaps: &str| {
        let target = r#""target":{"numTiles":2,"numIPUs":1,"tilesPerIPU":2,"bytesPerTile":900}"#;
        let by_tile = format!(r#"{{"total":[652,1012],"totalIncludingGaps":{with_gaps}}}"#);
        read(format!(r#"{{{target},"memory":{{"byTile":{by_tile}}}}}"#).as_bytes()).unwrap()
    };
    for (with_gaps, fits, remarks) in [("[10,10]", None, 2), ("[652,1012]", Some(false), 0)] {
        let report = memory(with_gaps);
        let facts = facts(report.graph.as_ref().unwrap(), None);
        assert_eq!(facts.memory.unwrap().sums.over_memory.fits, fits);
        let told = report.remarks.list.iter().filter(|remark| remark.path.contains("totalIncludingGaps["));
        assert_eq!(told.count(), remarks);
    }
}

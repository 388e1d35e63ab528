//! Figures that Poplar itself printed, in public documents (Graphcore's documentation of TensorFlow's logging, of Kubernetes and of its
//! tutorials). The reports themselves are not public, so these tests only check that the figures agree with each other.

use popef_findings::Finding;
use poplar_inspect::profile::{Policy, Report, Selection, facts, propose, tiles};
use serde_json::{Value, json};

use crate::read;

/// Tiles, the bytes of each, and the clock.
const MK1: [u64; 3] = [1_216, 256 << 10, 1_600_000_000];
const MK2: [u64; 3] = [1_472, 624 << 10, 1_850_000_000];

/// The bytes of a tile in its three regions, and those of gaps.
type Used = ([u64; 3], u64);

/// A report of a target whose first tiles use so much.
fn report([num_tiles, bytes_per_tile, clock]: [u64; 3], all_tiles: u64, used: &[Used]) -> Report {
    let by_tile = |bytes: &dyn Fn(&Used) -> u64| -> Vec<u64> {
        (0..num_tiles as usize).map(|tile| used.get(tile).map_or(0, bytes)).collect()
    };
    let region = |nth: usize| by_tile(&|(regions, _)| regions[nth]);
    let document = json!({
        "target": {
            "type": "IPU", "numIPUs": 1, "tilesPerIPU": num_tiles, "numTiles": num_tiles, "clockFrequency": clock,
            "bytesPerTile": bytes_per_tile, "bytesPerIPU": all_tiles, "totalMemory": all_tiles,
        },
        "memory": {"byTile": {
            "nonInterleaved": region(0), "interleaved": region(1), "overflowed": region(2),
            "total": by_tile(&|(regions, _)| regions.iter().sum()),
            "totalIncludingGaps": by_tile(&|(regions, gaps)| regions.iter().sum::<u64>() + gaps),
        }},
    });
    read(document.to_string().as_bytes()).unwrap()
}

fn sums(report: &Report) -> Value {
    serde_json::to_value(facts(report.graph.as_ref().unwrap(), None)).unwrap()["memory"].take()
}

/// "2 tile(s) out of memory", of which tile 0 has 834,339 bytes, and 834,416 with gaps. The others are made up: they were not printed.
#[test]
fn a_tile_that_does_not_fit_has_what_was_printed() {
    let used = [([122_880, 131_072, 580_387], 77), ([122_880, 131_072, 8_193], 0), ([1_024, 0, 0], 0)];
    let report = report(MK1, 304 << 20, &used);
    let memory = sums(&report);
    assert_eq!(memory["withoutGaps"]["max"], 834_339);
    assert_eq!((&memory["withGaps"]["max"], &memory["withGaps"]["maxTile"]), (&json!(834_416), &json!(0)));
    assert_eq!(memory["overMemory"]["withGaps"], json!([0, 1]));
    let regions =
        json!({"nonInterleaved": 2 * 122_880 + 1_024, "interleaved": 2 * 131_072, "overflowed": 580_387 + 8_193});
    assert_eq!(memory["byRegion"], regions);
    let fullest = &tiles(report.graph.as_ref().unwrap(), &Selection::largest(1), 1)[0];
    assert_eq!((fullest.tile, fullest.size, fullest.data_size, fullest.overflowed), (0, 834_416, 834_339, 580_387));
}

/// That tile 0 had 122,880 and 131,072 bytes in regions that were full, which together are less than the 262,144 of a tile.
#[test]
fn what_overflowed_does_not_fit_even_if_the_tile_has_so_much() {
    let found = |overflowed: u64| {
        let report = report(MK1, 304 << 20, &[([122_880, 131_072, overflowed], 0)]);
        assert_eq!(sums(&report)["overMemory"]["withGaps"], json!([]));
        let graph = report.graph.as_ref().unwrap();
        let proposed = propose(graph, None, &facts(graph, None), None, &Policy::default());
        let fits = |finding: &Finding| finding.rule.id == "PP101" && finding.message.contains("8.0 KiB did not fit");
        proposed.findings.iter().any(fits)
    };
    assert!(found(8_192) && !found(0));
}

/// "1,216 tiles, 256.0 kB, 304.0 MB" and "1,472 tiles, 624.0 kB, 897.0 MB": the units are those of 1,024, and the products are right.
#[test]
fn the_memory_of_all_tiles_is_what_was_printed() {
    let doubts = |target: [u64; 3], all_tiles: u64| {
        let remarks = report(target, all_tiles, &[([1, 0, 0], 0)]).remarks.list;
        remarks.iter().filter(|remark| remark.path.contains("target")).count()
    };
    assert_eq!((doubts(MK1, 304 << 20), doubts(MK2, 897 << 20)), (0, 0));
    assert!(doubts(MK1, 304_000_000) > 0 && doubts(MK2, 897_000_000) > 0);
}

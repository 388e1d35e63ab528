//! Timelines.

use std::collections::BTreeMap;
use std::convert::Infallible;

use poplar_inspect::profile::{Activity, Report, Slice, TimelineEvent, timeline};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{CASES, case, read};

fn slices(report: &Report, range: std::ops::Range<u32>) -> Vec<Slice<'_>> {
    let mut slices = Vec::new();
    let (graph, execution) = (report.graph.as_ref().unwrap(), report.execution.as_ref().unwrap());
    let each = |event| {
        if let TimelineEvent::Slice(slice) = event {
            slices.push(slice);
        }
        Ok::<(), Infallible>(())
    };
    let _ = timeline(graph, execution, range, each);
    slices
}

/// On each lane, steps follow each other, and each is there at its time.
fn hold(report: &Report) {
    let steps: Vec<_> = report.execution.as_ref().unwrap().simulation.as_ref().unwrap().steps.iter().collect();
    let mut lanes: BTreeMap<_, u64> = BTreeMap::new();
    let mut seen = vec![0_u32; steps.len()];
    for slice in slices(report, 0..u32::MAX) {
        let free = lanes.entry((slice.ipu, slice.activity, slice.lane)).or_default();
        assert!(slice.from >= *free && slice.to >= slice.from, "{slice:?} before {free}");
        *free = slice.to;
        let step = &steps[slice.number as usize];
        if slice.activity != Activity::Sync {
            assert_eq!((Some(slice.from), Some(slice.to - 1)), (step.cycles_from, step.cycles_to));
            seen[slice.number as usize] += 1;
        }
    }
    for (step, seen) in steps.iter().zip(seen) {
        assert_eq!(step.cycles_from.is_some(), seen > 0, "{step:?}");
    }
}

#[test]
fn timelines_of_the_samples_have_all_steps() {
    for name in CASES.iter().filter(|name| **name != "none") {
        let report = case(name);
        hold(&report);
        let all = slices(&report, 0..u32::MAX);
        let part = slices(&report, 10..20);
        assert!(part.iter().all(|slice| (10..20).contains(&slice.number)));
        let is_step = |slice: &&Slice<'_>| slice.activity != Activity::Sync && (10..20).contains(&slice.number);
        assert_eq!(part.iter().filter(is_step).count(), all.iter().filter(is_step).count(), "{name}");
    }
}

fn steps_of(steps: &[(u64, u64, u8)]) -> Value {
    let of = |(from, cycles, kind): &(u64, u64, u8)| match kind {
        0 => json!({"type": "Sync", "syncType": "Internal"}),
        1 => json!({"type": "OnTileExecute", "computeSet": 0, "program": 0, "cycles": cycles, "cyclesFrom": from,
            "cyclesTo": from + cycles - 1, "name": "c"}),
        _ => json!({"type": "DoExchange", "exchange": 0, "program": 1, "cycles": cycles, "cyclesFrom": from,
            "cyclesTo": from + cycles - 1, "name": "x"}),
    };
    steps.iter().map(of).collect()
}

fn report(bytes: u64, steps: &[(u64, u64, u8)]) -> Report {
    let document = json!({
        "graphProfile": {
            "target": {"numIPUs": 1, "numTiles": 2, "tilesPerIPU": 2, "type": "IPU_MODEL"},
            "computeSets": {"names": ["c"], "cycleEstimates": {"cyclesByTile": [[3, 4]]}},
            "exchanges": {"cyclesByTile": [[1, 2]], "bytesReceivedByTile": [[0, 0]], "bytesSentByTile": [[0, 0]]},
            "memory": {"byTile": {"total": [bytes, 7], "totalIncludingGaps": [bytes, 7]}},
            "programs": [{"type": "OnTileExecute", "computeSet": 0}, {"type": "DoExchange", "exchange": 0}],
            "controlPrograms": [0], "functionPrograms": [],
        },
        "executionProfile": {"profilerMode": "IPU_MODEL", "simulation": {"cycles": 1, "steps": steps_of(steps), "tileCycles": {}}},
    });
    read(document.to_string().as_bytes()).unwrap()
}

proptest! {
    #[test]
    fn lanes_hold_any_steps(steps in prop::collection::vec((0..60_u64, 1..30_u64, 0..3_u8), 0..60)) {
        hold(&report(1, &steps));
    }
}

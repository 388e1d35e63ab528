//! A profiling report: no panic, the same result however the bytes come, analysers that agree with each other, and reading costs
//! no more than is promised.

#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use popef_fuzz::cost::{Bound, Line, SLACK, assert_within};
use popef_fuzz::heap::Counting;
use poplar_graph::Ir;
use poplar_inspect::profile::{ReadOptions, Report, Selection, Sort};
use poplar_inspect::profile::{
    categories, compute_sets, consistency, exchanges, facts, histogram, layers, program_tree, steps, tiles,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The buffer of the reader, and the cost of the smallest programs, steps and lists by tile.
const BOUND: Bound = Bound {
    decoder: "profile",
    time: Line { fixed: 200_000, per_byte_in: 1500, per_byte_out: 0, most: u64::MAX },
    heap: Line { fixed: 256 << 10, per_byte_in: 100, per_byte_out: 0, most: u64::MAX },
};

/// Programs as graphs that call each other: programs at many places, and their names.
const GRAPHS: Bound = Bound {
    decoder: "programs as graphs",
    time: Line { fixed: 20_000_000, per_byte_in: 1500, per_byte_out: 0, most: u64::MAX },
    heap: Line { fixed: 64 << 20, per_byte_in: 200, per_byte_out: 0, most: u64::MAX },
};

const REPORTS: [&[u8]; 4] = [
    include_bytes!("../../../../testdata/profile/tiny.report.json"),
    include_bytes!("../../../../testdata/profile/tiny.graph.cbor"),
    include_bytes!("../../../../testdata/profile/tiny.execution.cbor"),
    include_bytes!("../../../../testdata/profile/tiny.graph.json"),
];

fuzz_target!(|input: &[u8]| {
    let Some((&how, rest)) = input.split_first() else { return };
    let bytes = match usize::from(how) % 8 {
        known @ 0..4 => patched(REPORTS[known], rest),
        _ => rest.to_vec(),
    };
    assert_within(&BOUND, SLACK, bytes.len() as u64, || {
        let _ = Report::read(&bytes[..], &ReadOptions::all());
        0
    });
    let report = Report::read(&bytes[..], &ReadOptions::all());
    assert_eq!(Report::read(Slow(&bytes), &ReadOptions::all()), report);
    let Ok(report) = report else {
        let error = report.unwrap_err();
        assert!(error.byte.is_none_or(|byte| byte <= bytes.len() as u64) && error.path.len() < 300, "{error}");
        return;
    };
    let Some(graph) = &report.graph else { return };
    assert_within(&GRAPHS, SLACK, bytes.len() as u64, || {
        drop(Ir::from_profile(graph));
        0
    });
    let execution = report.execution.as_ref();
    let all = Selection::default();
    let _ = facts(graph, execution);
    let _ = (compute_sets(graph, execution, &all), exchanges(graph, execution, &all), categories(graph, &all));
    assert!(program_tree(graph, execution, &Selection::largest(100)).count() <= 100);
    let tiles = tiles(graph, &all, 3);
    let bars: u64 = histogram(graph, 7).iter().map(|bucket| bucket.tiles).sum();
    assert!(bars <= tiles.len() as u64);
    if let Some(execution) = execution {
        let rows: Vec<_> = steps(execution, &Selection::default().sorted(Sort::Number)).collect();
        assert!(layers(execution, 1, &all).len() <= rows.len());
        // Steps are packed: a step read alone is the same as among all.
        let kept = execution.simulation.as_ref().map(|simulation| &simulation.steps);
        let alone = |number: usize| kept.and_then(|steps| steps.get(number)).map(|step| (step.cycles, step.name));
        assert!(rows.iter().enumerate().all(|(number, row)| alone(number) == Some((row.of.cycles, row.of.name))));
        let _ = consistency(graph, execution);
    }
});

/// A report with other bytes at some places, each patch being a place and two bytes. The first may cut it.
fn patched(report: &[u8], patches: &[u8]) -> Vec<u8> {
    let mut bytes = report.to_vec();
    for (nth, patch) in patches.chunks_exact(4).enumerate() {
        let at = usize::from(u16::from_le_bytes([patch[0], patch[1]])) % (bytes.len().max(1));
        if nth == 0 && patch[2] == 0 {
            bytes.truncate(at);
        } else {
            bytes.iter_mut().skip(at).zip(&patch[2..]).for_each(|(byte, new)| *byte = *new);
        }
    }
    bytes
}

/// Gives a byte at a time.
struct Slow<'b>(&'b [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(1);
        self.0.read(&mut buffer[..len])
    }
}

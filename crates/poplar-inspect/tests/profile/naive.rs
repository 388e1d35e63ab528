//! Random reports that are consistent, whose facts are computed a second time in the simplest way.

use std::cmp::Reverse;

use poplar_inspect::profile::{
    ExchangeKind, Selection, Sort, consistency, exchanges, facts, program_tree, vertex_types,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::read;

/// A random report, from which its documents are made.
#[derive(Clone, Debug)]
struct Made {
    tiles_per_ipu: usize,
    ipus: usize,
    /// Bytes of each tile: two categories, and a gap.
    bytes: Vec<[u64; 3]>,
    /// Cycles of each tile in each compute set, and how many of them are active.
    compute: Vec<Vec<(u64, u64)>>,
    /// Cycles, received and sent bytes of each tile in each exchange, of each kind.
    exchanges: [Vec<Vec<[u64; 3]>>; 3],
    delays: Vec<u64>,
    /// Steps: what kind, and which one.
    steps: Vec<(u8, usize)>,
    /// How often each of three functions is called.
    calls: Vec<usize>,
    /// The bytes of a tree of liveness, each with the number of its parent.
    live: Vec<(u64, usize)>,
    /// The bytes of code and of data of each vertex type on each tile.
    vertex_types: Vec<Vec<[u64; 2]>>,
}

fn made() -> impl Strategy<Value = Made> {
    (1_usize..4, 1_usize..3).prop_flat_map(|(tiles_per_ipu, ipus)| {
        let tiles = tiles_per_ipu * ipus;
        let row = prop::collection::vec(prop_oneof![Just([0; 3]), [0..50_u64, 0..99_u64, 0..99_u64]], tiles);
        let exchanges = prop::collection::vec(row, 1..4);
        let vertex_types = prop::collection::vec(prop::collection::vec([0..3_u64, 0..99_u64], tiles), 1..4);
        let active = (0..90_u64).prop_flat_map(|cycles| (Just(cycles), 0..=cycles));
        let compute = prop::collection::vec(prop::collection::vec(active, tiles), 1..4);
        (
            (
                Just(tiles_per_ipu),
                Just(ipus),
                prop::collection::vec([0..5000_u64, 0..5000_u64, 0..9000_u64], tiles),
                compute,
            ),
            [exchanges.clone(), exchanges.clone(), exchanges],
            prop::collection::vec(0..9_u64, tiles_per_ipu),
            prop::collection::vec((0..6_u8, 0..12_usize), 0..30),
            prop::collection::vec(0..3_usize, 0..5),
            prop::collection::vec((0..99_u64, 0..99_usize), 1..12),
            vertex_types,
        )
            .prop_map(
                |((tiles_per_ipu, ipus, bytes, compute), exchanges, delays, steps, calls, live, vertex_types)| Made {
                    tiles_per_ipu,
                    ipus,
                    bytes,
                    compute,
                    exchanges,
                    delays,
                    steps,
                    calls,
                    live,
                    vertex_types,
                },
            )
    })
}

const SECTIONS: [&str; 3] = ["exchanges", "externalExchanges", "hostExchanges"];
const KINDS: [&str; 3] = ["DoExchange", "GlobalExchange", "StreamCopy"];
const INDICES: [&str; 3] = ["exchange", "externalExchange", "hostExchange"];

/// A column of lists of lists.
fn column<const N: usize>(rows: &[Vec<[u64; N]>], nth: usize) -> Value {
    rows.iter().map(|row| row.iter().map(|tile| tile[nth]).collect::<Vec<_>>()).collect()
}

impl Made {
    fn tiles(&self) -> usize {
        self.tiles_per_ipu * self.ipus
    }

    fn graph(&self) -> Value {
        let totals: Vec<u64> = self.bytes.iter().map(|tile| tile[0] + tile[1]).collect();
        let with_gaps: Vec<u64> = self.bytes.iter().map(|tile| tile.iter().sum()).collect();
        let zeros = vec![0; self.tiles()];
        let of = |nth: usize| self.bytes.iter().map(|tile| tile[nth]).collect::<Vec<_>>();
        let region = |bytes: &[u64]| json!({"nonOverlapped": bytes, "overlapped": zeros});
        let names: Vec<String> = (0..self.compute.len()).map(|set| format!("set {set}")).collect();
        let cycles = |pick: fn(&(u64, u64)) -> u64| -> Value {
            self.compute.iter().map(|row| row.iter().map(pick).collect::<Vec<_>>()).collect()
        };
        let mut graph = json!({
            "target": {
                "type": "IPU_MODEL", "numTiles": self.tiles(), "tilesPerIPU": self.tiles_per_ipu, "numIPUs": self.ipus,
                "bytesPerTile": 9000, "clockFrequency": 1000, "minSyncDelay": 3, "relativeSyncDelayByTile": self.delays,
            },
            "computeSets": {"names": names, "cycleEstimates": {"cyclesByTile": cycles(|it| it.0), "activeCyclesByTile": cycles(|it| it.1)}},
            "memory": {
                "byTile": {
                    "interleaved": of(0), "nonInterleaved": of(1), "overflowed": zeros,
                    "total": totals, "totalIncludingGaps": with_gaps,
                },
                "byCategory": {
                    "stack": {"interleaved": region(&of(0)), "total": of(0)},
                    "variable": {"nonInterleaved": region(&of(1))},
                },
                "byVertexType": {"codeBytes": column(&self.vertex_types, 0), "vertexDataBytes": column(&self.vertex_types, 1)},
                "liveness": {"notAlwaysLive": {"byProgram": self.live_trees(), "maxBytesByTile": zeros}, "alwaysLive": {"bytesByTile": of(0)}},
            },
        });
        for (kind, section) in SECTIONS.iter().enumerate() {
            let cycles = if kind == 0 { "cyclesByTile" } else { "estimatedCyclesByTile" };
            let rows = &self.exchanges[kind];
            graph[*section] = json!({cycles: column(rows, 0), "bytesReceivedByTile": column(rows, 1), "bytesSentByTile": column(rows, 2)});
        }
        let (programs, functions) = self.programs();
        graph["programs"] = programs;
        graph["controlPrograms"] = json!([0]);
        graph["functionPrograms"] = functions;
        graph
    }

    /// Program 0 has all steps and calls in it. Function 0 is empty, and each other calls the one before it twice.
    fn programs(&self) -> (Value, Value) {
        let mut programs: Vec<Value> = self.steps.iter().map(|step| self.program(*step)).collect();
        for (nth, program) in programs.iter_mut().enumerate().filter(|(nth, _)| nth % 3 > 0) {
            program["name"] = format!("step {}", nth % 7).into();
            program["memoryByInstruction"] = json!({"send": nth, "total": nth});
        }
        programs.extend(self.calls.iter().map(|function| json!({"type": "Call", "target": function})));
        let children: Vec<usize> = (1..=programs.len()).collect();
        programs.insert(0, json!({"type": "Sequence", "children": children, "name": "all"}));
        let first = programs.len();
        programs.push(json!({"type": "WriteUndef"}));
        for function in 1..3 {
            let call = json!({"type": "Call", "target": function - 1});
            let at = programs.len();
            programs.push(json!({"type": "Sequence", "children": [at + 1, at + 2]}));
            programs.extend([call.clone(), call]);
        }
        (programs.into(), json!([first, first + 1, first + 4]))
    }

    fn program(&self, (kind, which): (u8, usize)) -> Value {
        match kind {
            0..3 => {
                let kind = usize::from(kind);
                json!({"type": KINDS[kind], "exchange": which % self.exchanges[kind].len()})
            }
            3 => json!({"type": "Sync", "syncType": "Internal"}),
            4 => json!({"type": "Sync", "syncType": "External"}),
            _ => json!({"type": "OnTileExecute", "computeSet": which % self.compute.len()}),
        }
    }

    fn live_trees(&self) -> Value {
        fn children(live: &[(u64, usize)], parent: usize) -> Vec<Value> {
            let of = |number: &usize| if *number == 0 { 0 } else { live[*number].1 % *number };
            let numbers = (1..live.len()).filter(|number| of(number) == parent);
            numbers.map(|number| json!({"children": children(live, number), "bytes": live[number].0})).collect()
        }
        json!([{"bytes": self.live[0].0, "children": children(&self.live, 0)}])
    }

    /// The cycles of each tile in a step that is not a synchronisation.
    fn cycles(&self, (kind, which): (u8, usize)) -> Vec<u64> {
        match kind {
            0..3 => {
                let rows = &self.exchanges[usize::from(kind)];
                rows[which % rows.len()].iter().map(|tile| tile[0]).collect()
            }
            _ => self.compute[which % self.compute.len()].iter().map(|tile| tile.0).collect(),
        }
    }

    /// Each tile has a clock. A step begins on a tile when the tile is free, and only synchronisation waits.
    fn execution(&self) -> Value {
        let mut clocks = vec![0_u64; self.tiles()];
        let mut steps = Vec::new();
        let mut sums = [0_u64; 6];
        let mut latest = 0;
        for (nth, step) in self.steps.iter().enumerate() {
            let (kind, which) = *step;
            if kind == 3 || kind == 4 {
                let sync = self.program(*step)["syncType"].clone();
                let group = if kind == 3 { self.tiles_per_ipu } else { self.tiles() };
                for first in (0..self.tiles()).step_by(group) {
                    let range = first..first + group;
                    let leave = range
                        .clone()
                        .map(|tile| clocks[tile] + 3 + self.delays[tile % self.tiles_per_ipu])
                        .max()
                        .unwrap();
                    for tile in range {
                        sums[5] += leave - clocks[tile];
                        clocks[tile] = leave;
                    }
                }
                steps.push(json!({"type": "sync", "syncType": sync}));
                continue;
            }
            let cycles = self.cycles(*step);
            let (sum, most) = (cycles.iter().sum::<u64>(), cycles.iter().copied().max().unwrap());
            let active: Vec<usize> = (0..self.tiles()).filter(|tile| cycles[*tile] > 0).collect();
            sums[usize::from(kind.min(3))] += sum;
            let mut made = json!({"type": self.program(*step)["type"], "program": nth + 1, "cycles": most, "activeTiles": active.len()});
            if most > 0 {
                let from = active.iter().map(|tile| clocks[*tile]).min().unwrap();
                active.iter().for_each(|tile| clocks[*tile] += cycles[*tile]);
                let end = active.iter().map(|tile| clocks[*tile]).max().unwrap();
                made["cyclesFrom"] = from.into();
                made["cyclesTo"] = (end - 1).into();
                made["cyclesOverlapped"] = (from..end).filter(|cycle| *cycle < latest).count().into();
                latest = latest.max(end);
                made["tileBalance"] = (sum as f64 / (most as f64 * self.tiles() as f64)).into();
                made["activeTileBalance"] = (sum as f64 / (most as f64 * active.len() as f64)).into();
            }
            if kind < 3 {
                let rows = &self.exchanges[usize::from(kind)];
                let which = which % rows.len();
                let received: u64 = rows[which].iter().map(|tile| tile[1]).sum();
                let sent: u64 = rows[which].iter().map(|tile| tile[2]).sum();
                let largest = rows[which].iter().map(|tile| tile[1] + tile[2]).max().unwrap();
                made[INDICES[usize::from(kind)]] = which.into();
                made["totalData"] = (if kind == 2 { received + sent } else { received }).into();
                if largest > 0 {
                    made["dataBalance"] = ((received + sent) as f64 / (largest as f64 * self.tiles() as f64)).into();
                }
            } else {
                let set = which % self.compute.len();
                let active: u64 = self.compute[set].iter().map(|tile| tile.1).sum();
                sums[4] += active;
                made["computeSet"] = set.into();
                if sum > 0 {
                    made["threadBalance"] = (active as f64 / sum as f64).into();
                }
            }
            steps.push(made);
        }
        let trace: Vec<usize> = (0..=self.steps.len()).collect();
        let [exchange, global, host, compute, active, sync] = sums;
        json!({
            "profilerMode": "IPU_MODEL",
            "programTrace": trace,
            "simulation": {
                "cycles": clocks.iter().max(),
                "tileCycles": {
                    "doExchange": exchange, "globalExchange": global, "streamCopy": host,
                    "compute": compute, "activeCompute": active, "sync": sync,
                },
                "steps": steps,
            },
        })
    }

    fn busiest(&self) -> (u64, usize) {
        let work = self.steps.iter().filter(|step| step.0 != 3 && step.0 != 4);
        let mut sums = vec![0; self.tiles()];
        work.for_each(|step| self.cycles(*step).iter().enumerate().for_each(|(tile, cycles)| sums[tile] += cycles));
        let most = sums.iter().copied().max().unwrap();
        (most, sums.iter().position(|sum| *sum == most).unwrap())
    }

    /// The numbers and the depths of programs in the tree: those with a part of a name, or all.
    fn tree(programs: &Value, functions: &Value, number: usize, depth: u32, part: &str, rows: &mut Vec<(u32, u32)>) {
        let program = &programs[number];
        if part.is_empty() || program["name"].as_str().is_some_and(|name| name.contains(part)) {
            rows.push((number as u32, depth));
        }
        let called = program.get("target").map(|target| functions[target.as_u64().unwrap() as usize].clone());
        let children = program["children"].as_array().into_iter().flatten().chain(&called);
        for child in children {
            Self::tree(programs, functions, child.as_u64().unwrap() as usize, depth + 1, part, rows);
        }
    }

    /// How many calls are in the tree: the function `nth` has two calls of the one before.
    fn calls_in_tree(&self) -> usize {
        self.calls.iter().map(|function| 1 + [0, 2, 6][*function]).sum()
    }
}

/// A tree as CBOR, with lengths that are said for some lists and not for others.
fn cbor(value: &Value, out: &mut Vec<u8>) {
    let head = |out: &mut Vec<u8>, major: u8, argument: u64| match argument {
        0..24 => out.push(major << 5 | argument as u8),
        24..256 => out.extend([major << 5 | 24, argument as u8]),
        _ => {
            out.push(major << 5 | 27);
            out.extend(argument.to_be_bytes());
        }
    };
    match value {
        Value::Null => out.push(0xF6),
        Value::Bool(value) => out.push(0xF4 + u8::from(*value)),
        Value::Number(number) => match number.as_u64() {
            Some(value) => head(out, 0, value),
            None => {
                out.push(0xFB);
                out.extend(number.as_f64().unwrap().to_be_bytes());
            }
        },
        Value::String(text) => {
            head(out, 3, text.len() as u64);
            out.extend(text.as_bytes());
        }
        Value::Array(list) if list.len() % 3 == 1 => {
            out.push(0x9F);
            list.iter().for_each(|value| cbor(value, out));
            out.push(0xFF);
        }
        Value::Array(list) => {
            head(out, 4, list.len() as u64);
            list.iter().for_each(|value| cbor(value, out));
        }
        Value::Object(members) => {
            out.extend([0xD9, 0xD9, 0xF7, 0xBF]);
            for (key, value) in members {
                cbor(&Value::from(key.as_str()), out);
                cbor(value, out);
            }
            out.push(0xFF);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_reports_have_the_facts_that_are_counted(made in made()) {
        let document = json!({"graphProfile": made.graph(), "executionProfile": made.execution()});
        let report = read(document.to_string().as_bytes()).unwrap();
        let (graph, execution) = (report.graph.as_ref().unwrap(), report.execution.as_ref().unwrap());

        let consistency = consistency(graph, execution).unwrap();
        prop_assert!(consistency.is_consistent(), "{:?}", consistency.differences);
        prop_assert_eq!(consistency.clocks_unknown_from, None);

        let facts = serde_json::to_value(facts(graph, Some(execution))).unwrap();
        let with_gaps: Vec<u64> = made.bytes.iter().map(|tile| tile.iter().sum()).collect();
        let mut sorted = with_gaps.clone();
        sorted.sort_unstable();
        let median = (sorted[sorted.len() / 2] + sorted[(sorted.len() - 1) / 2]) as f64 / 2.0;
        let over: Vec<usize> = (0..made.tiles()).filter(|tile| with_gaps[*tile] > 9000).collect();
        let memory = &facts["memory"];
        prop_assert_eq!(&memory["withGaps"]["sum"], &json!(with_gaps.iter().sum::<u64>()));
        prop_assert_eq!(&memory["withGaps"]["max"], &json!(sorted.last()));
        prop_assert_eq!(&memory["withGaps"]["median"], &json!(median));
        prop_assert_eq!(&memory["overMemory"]["withGaps"], &json!(over));
        let stack: u64 = made.bytes.iter().map(|tile| tile[0]).sum();
        let variable: u64 = made.bytes.iter().map(|tile| tile[1]).sum();
        prop_assert_eq!(&memory["byCategory"]["stack"]["interleaved"]["nonOverlapped"], &json!(stack));
        prop_assert_eq!(&memory["byCategory"]["variable"]["total"], &json!(variable));

        let peak = made.live.iter().map(|node| node.0).max();
        prop_assert_eq!(&memory["liveness"]["peakNotAlwaysLiveBytes"], &json!(peak));
        prop_assert_eq!(&memory["liveness"]["peakTotalBytes"], &json!(peak.unwrap() + stack));

        for (kind, section) in SECTIONS.iter().enumerate() {
            let rows = &made.exchanges[kind];
            let once: u64 = rows.iter().flatten().map(|tile| tile[1]).sum();
            let steps: Vec<usize> = made.steps.iter().filter(|step| usize::from(step.0) == kind).map(|step| step.1 % rows.len()).collect();
            let sent: u64 = steps.iter().flat_map(|which| &rows[*which]).map(|tile| tile[2]).sum();
            prop_assert_eq!(&facts["exchanges"]["once"][section]["received"], &json!(once));
            prop_assert_eq!(&facts["exchanges"]["inRun"][section]["sent"], &json!(sent));
            prop_assert_eq!(&facts["exchanges"]["inRun"][section]["steps"], &json!(steps.len()));
        }

        let calls = &facts["programs"]["inTreeCallsResolved"]["Call"];
        prop_assert_eq!(calls.as_u64().unwrap_or(0), made.calls_in_tree() as u64);
        if made.steps.iter().any(|step| step.0 != 3 && step.0 != 4) {
            let (cycles, tile) = made.busiest();
            prop_assert_eq!(&facts["execution"]["busiestTile"], &json!({"cycles": cycles, "tile": tile}));
        }

        let (programs, functions) = made.programs();
        for part in ["", "step 2", "all", "none"] {
            let mut expected = Vec::new();
            Made::tree(&programs, &functions, 0, 0, part, &mut expected);
            let named = Selection::default().named(Some(part).filter(|part| !part.is_empty()));
            let rows = program_tree(graph, Some(execution), &named).map(|row| (row.program, row.depth));
            prop_assert_eq!(rows.collect::<Vec<_>>(), expected);
        }

        for row in vertex_types(graph, Some(execution), &Selection::default()) {
            let tiles = &made.vertex_types[row.vertex_type as usize];
            let sum = |nth: usize| tiles.iter().map(|tile| tile[nth]).sum::<u64>();
            let with_code = tiles.iter().filter(|tile| tile[0] > 0).count();
            prop_assert_eq!((row.code_bytes, row.vertex_data_bytes, row.tiles as usize), (sum(0), sum(1), with_code));
        }

        let rows = exchanges(graph, Some(execution), &Selection::default().sorted(Sort::Code));
        prop_assert!(rows.is_sorted_by_key(|row| Reverse(row.code_bytes)));
        for row in rows {
            let kind = ExchangeKind::ALL.iter().position(|kind| *kind == row.exchange_kind).unwrap();
            let tiles = &made.exchanges[kind][row.exchange as usize];
            let is_this = |step: &(u8, usize)| usize::from(step.0) == kind && step.1 % made.exchanges[kind].len() == row.exchange as usize;
            let runs = made.steps.iter().filter(|step| is_this(step)).count() as u64;
            let most = tiles.iter().map(|tile| tile[0]).max().unwrap();
            prop_assert_eq!((row.runs, row.max_cycles_times_runs), (Some(runs), Some(most * runs)));
            let named = made.steps.iter().enumerate().find(|(nth, step)| nth % 3 > 0 && is_this(step)).map(|(nth, _)| nth);
            prop_assert_eq!(row.name.map(str::to_owned), named.map(|nth| format!("step {}", nth % 7)));
            prop_assert_eq!(row.code_bytes, named.map(|nth| nth as u64));
        }

        let mut encoded = Vec::new();
        cbor(&document, &mut encoded);
        let mut from_cbor = read(&encoded).unwrap();
        let facts_of_cbor = serde_json::to_value(poplar_inspect::profile::facts(
            from_cbor.graph.as_ref().unwrap(),
            from_cbor.execution.as_ref(),
        )).unwrap();
        prop_assert_eq!(facts_of_cbor, facts);
        // Only the bytes of places differ.
        from_cbor.remarks.list.iter_mut().for_each(|remark| remark.byte = None);
        let mut remarks = report.remarks.clone();
        remarks.list.iter_mut().for_each(|remark| remark.byte = None);
        prop_assert_eq!(from_cbor.remarks, remarks);
    }
}

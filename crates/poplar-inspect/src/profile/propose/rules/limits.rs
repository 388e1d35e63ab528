//! Limits that a team sets.

use popef_findings::{Rule, When};

use super::super::found::{Found, Missing};
use super::super::subject::Subject;
use super::super::words::bytes;
use super::{Check, Half};
use crate::profile::program::StepKind;

const CONDITION: When = When::Said("only with this limit");

pub(in super::super) const RULES: &[Check] = &[
    Rule::error("PP401", "a tile over the limit")
        .meaning("A tile needs more memory than allowed (max-tile), with the gaps between its data.")
        .fix("Find out what has grown: popef profile --by tile and --by category. Otherwise raise the limit.")
        .when(CONDITION)
        .run((Half::Graph, tile)),
    Rule::error("PP402", "total memory over the limit")
        .meaning(
            "All tiles together need more memory than allowed (max-total): what is always live, and the most of the \
             rest on each tile. Graphcore's own benchmarks count like this.",
        )
        .fix("Find out what has grown: popef profile --by category. Otherwise raise the limit.")
        .when(CONDITION)
        .run((Half::Graph, total)),
    Rule::error("PP403", "cycles over the limit")
        .meaning("The execution takes more cycles than allowed (max-cycles), from its start to its end.")
        .fix("Find out what takes longer: popef profile --by step. Otherwise raise the limit.")
        .when(CONDITION)
        .run((Half::Execution, cycles)),
    Rule::error("PP404", "a balance below the limit")
        .meaning(
            "A heavy step (policy: heavy-step) has a smaller balance than demanded (min-balance). Copies with the host \
             are not looked at.",
        )
        .fix("Spread the work of the step more evenly over tiles. Otherwise lower the limit.")
        .when(CONDITION)
        .run((Half::Execution, balance)),
];

fn tile(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let Some(most) = subject.policy.max_tile else { return Ok(()) };
    let tiles = subject.tiles()?;
    if tiles.max > most {
        found.add([], format!("tile {} needs {}; {} are allowed", tiles.max_tile, exact(tiles.max), exact(most)));
    }
    Ok(())
}

fn total(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let Some(most) = subject.policy.max_total else { return Ok(()) };
    let total = subject.liveness()?.always_live_plus_max_not_always_live;
    if total > most {
        found.add([], format!("all tiles need {}; {} are allowed", exact(total), exact(most)));
    }
    Ok(())
}

fn cycles(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let Some(most) = subject.policy.max_cycles else { return Ok(()) };
    let cycles = subject.cycles()?;
    if cycles > most {
        found.add([], format!("the execution takes {cycles} cycles; {most} are allowed"));
    }
    Ok(())
}

fn balance(subject: &Subject<'_>, found: &mut Found) -> Result<(), Missing> {
    let Some(least) = subject.policy.min_balance else { return Ok(()) };
    for work in subject.heavy()?.iter().filter(|work| *work.kind != StepKind::StreamCopy) {
        if let Some(balance) = work.tile_balance.filter(|balance| *balance < least) {
            found.add(
                work.name,
                format!("{} has a balance of {balance:.3}; at least {least} is demanded", work.described()),
            );
        }
    }
    Ok(())
}

/// Bytes with their exact number, because a limit may be missed by one.
fn exact(size: u64) -> String {
    if size < 1024 { bytes(size) } else { format!("{} ({size} B)", bytes(size)) }
}

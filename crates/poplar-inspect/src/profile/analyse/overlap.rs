//! Whether copies with the host overlap with compute.

use crate::profile::execution::{Simulation, Step};
use crate::profile::program::StepKind;

/// How long there are copies with the host, and how long there is compute meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CopyOverlap {
    /// The cycles from the start to the end of the execution in which at least one tile is at such a copy.
    pub copy_cycles: u64,
    /// Those of them in which another tile is at a compute step.
    pub overlapped_cycles: u64,
}

/// Whether copies with the host overlap with compute, by `cyclesFrom` and `cyclesTo` of the steps. `None` if these are not known of
/// all such steps.
pub fn copy_overlap(simulation: &Simulation) -> Option<CopyOverlap> {
    let copies = times(simulation, &StepKind::StreamCopy)?;
    let compute = times(simulation, &StepKind::OnTileExecute)?;
    let mut overlap = CopyOverlap::default();
    let mut computing = compute.iter().peekable();
    for (from, to) in copies {
        overlap.copy_cycles = overlap.copy_cycles.saturating_add(cycles(from, to));
        while let Some((first, last)) = computing.peek().copied().copied() {
            let (start, end) = (from.max(first), to.min(last));
            if start <= end {
                overlap.overlapped_cycles = overlap.overlapped_cycles.saturating_add(cycles(start, end));
            }
            if last > to {
                break;
            }
            computing.next();
        }
    }
    Some(overlap)
}

/// Both ends are in it.
fn cycles(from: u64, to: u64) -> u64 {
    to.saturating_sub(from).saturating_add(1)
}

/// When there are steps of a kind, without overlaps and in order.
fn times(simulation: &Simulation, kind: &StepKind) -> Option<Vec<(u64, u64)>> {
    let ends = |step: &Step| step.cycles_from.zip(step.cycles_to);
    // A step without cycles takes no time, and has no ends.
    let steps = simulation.steps.iter().filter(|step| step.kind == *kind && step.cycles != Some(0));
    let mut times: Vec<(u64, u64)> = steps.map(ends).collect::<Option<_>>()?;
    times.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in times {
        match merged.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => merged.push((from, to)),
        }
    }
    Some(merged)
}

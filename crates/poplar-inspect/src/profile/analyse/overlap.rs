//! Whether copies with the host overlap with compute.

use crate::profile::execution::Simulation;
use crate::profile::program::StepKind;

/// How long copies with the host take, and for how much of that time there is compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CopyOverlap {
    /// The cycles from the start to the end of the execution in which at least one tile copies.
    pub copy_cycles: u64,
    /// Those of them in which another tile is at a compute step.
    pub overlapped_cycles: u64,
}

/// Whether copies with the host overlap with compute, by `cyclesFrom` and `cyclesTo` of the steps. `None` if a copy or a compute step has
/// no such times.
pub fn copy_overlap(simulation: &Simulation) -> Option<CopyOverlap> {
    let copies = times(simulation, &StepKind::StreamCopy, |_, _| true)?;
    // Most reports have few copies: compute steps far from them need not be kept.
    let is_near = |from, to| {
        let next = copies.partition_point(|(_, last)| *last < from);
        copies.get(next).is_some_and(|(first, _)| *first <= to)
    };
    let compute = times(simulation, &StepKind::OnTileExecute, is_near)?;
    let mut overlap = CopyOverlap::default();
    let mut computing = compute.iter().peekable();
    for &(from, to) in &copies {
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

/// The number of cycles from `from` to `to`, both included.
fn cycles(from: u64, to: u64) -> u64 {
    to.saturating_sub(from).saturating_add(1)
}

/// The times of the wanted steps of a kind, in order and without overlaps. `None` if a step of the kind has no times, or ends before it
/// begins.
fn times(simulation: &Simulation, kind: &StepKind, is_wanted: impl Fn(u64, u64) -> bool) -> Option<Vec<(u64, u64)>> {
    let mut times: Vec<(u64, u64)> = Vec::new();
    // A step without cycles takes no time, and has no ends.
    for step in simulation.steps.iter().filter(|step| step.kind == kind && step.cycles != Some(0)) {
        let (from, to) = step.cycles_from.zip(step.cycles_to).filter(|(from, to)| from <= to)?;
        if is_wanted(from, to) {
            times.push((from, to));
        }
    }
    times.sort_unstable();
    times.dedup_by(|(from, to), (_, last)| {
        let goes_on = *from <= *last;
        *last = if goes_on { *to.max(last) } else { *last };
        goes_on
    });
    Some(times)
}

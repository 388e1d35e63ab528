//! The steps of an execution as lanes over time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use popef::seam::named;

use super::cycles::Cycles;
use super::liveness::live_by_program;
use crate::profile::execution::{ExecutionProfile, Simulation};
use crate::profile::graph::GraphProfile;
use crate::profile::program::{ExchangeKind, StepKind};
use crate::profile::steps::Step;

named! {
    /// What a lane shows, in words.
    #[derive(PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Activity {
        /// Compute sets.
        Compute = "compute",
        /// Exchanges between the tiles of an IPU.
        Exchange = "exchange between tiles",
        /// Exchanges between IPUs.
        ExternalExchange = "exchange between IPUs",
        /// Exchanges with the host.
        HostCopy = "host copy",
        /// Copies within structures that tiles share.
        SharedCopy = "copy of shared structures",
        /// Synchronisation.
        Sync = "sync",
        /// Steps of a kind that is not known.
        Other = "other",
    }
}

impl Activity {
    /// What a kind of step does.
    pub fn of(kind: &StepKind) -> Self {
        match (kind, kind.exchange()) {
            (_, Some(ExchangeKind::Internal)) => Activity::Exchange,
            (_, Some(ExchangeKind::External)) => Activity::ExternalExchange,
            (_, Some(ExchangeKind::Host)) => Activity::HostCopy,
            (StepKind::OnTileExecute, _) => Activity::Compute,
            (StepKind::CopySharedStructure, _) => Activity::SharedCopy,
            (StepKind::Sync, _) => Activity::Sync,
            _ => Activity::Other,
        }
    }
}

/// A step on an IPU.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slice<'r> {
    /// The number of the step.
    pub number: u32,
    /// The step.
    pub step: Step<'r>,
    /// The IPU, or `None` if the report does not say which IPUs take part.
    pub ipu: Option<u32>,
    /// What it does.
    pub activity: Activity,
    /// The lane. Steps of a kind may overlap without being nested, so each lane has only steps that follow each other.
    pub lane: u32,
    /// Its first cycle on any IPU. A synchronisation has no times of its own: it starts at the first cycle in which nothing else is done.
    pub from: u64,
    /// The cycle after its last one. A synchronisation ends at the first cycle of the next step.
    pub to: u64,
    /// The tiles of the IPU that take part.
    pub tiles: Option<u32>,
    /// The cycles of the slowest of these tiles.
    pub cycles: Option<u64>,
}

/// What is on a timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and nearly all are slices")]
pub enum TimelineEvent<'r> {
    /// A step.
    Slice(Slice<'r>),
    /// From now on, this number of bytes is live on all tiles, besides what is always live.
    Live {
        /// The cycle.
        at: u64,
        /// The bytes.
        bytes: u64,
    },
}

/// Sums over a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimelineSums {
    /// The steps in the range that were shown.
    pub steps: u64,
    /// The steps in the range that were not shown, because the report does not have their times. Synchronisation before the next step, or
    /// the end, is not among them.
    pub without_time: u64,
}

/// Goes through the steps of an execution in their order, those whose numbers are in `range`, and calls `each` with what is on the
/// timeline. It needs little memory: for each compute set and exchange, the IPUs that it runs on.
///
/// Which IPUs take part is known if the report was read with [`ReadOptions::each_tile`](crate::profile::ReadOptions::each_tile).
/// `bytes` of [`TimelineEvent::Live`] are those of the program in the tree of liveness. A program that is there in several places counts with
/// the most bytes of all.
pub fn timeline<'r, E>(
    graph: &'r GraphProfile,
    execution: &'r ExecutionProfile,
    range: Range<u32>,
    mut each: impl FnMut(TimelineEvent<'r>) -> Result<(), E>,
) -> Result<TimelineSums, E> {
    let Some(simulation) = &execution.simulation else { return Ok(TimelineSums::default()) };
    let mut walk = Walk::new(graph, execution);
    for (number, step) in simulation.steps.numbered() {
        walk.step(number, step, range.contains(&number), &mut each)?;
    }
    walk.end(simulation, &mut each)?;
    Ok(walk.sums)
}

/// An IPU that takes part in a step.
#[derive(Clone, Copy)]
struct Part {
    ipu: u32,
    tiles: u32,
    cycles: u64,
}

struct Walk<'r> {
    graph: &'r GraphProfile,
    cycles: Cycles<'r>,
    /// The IPUs of each compute set and exchange. `None` if they are not known.
    parts: HashMap<(Activity, u32), Option<Box<[Part]>>>,
    lanes: HashMap<(Option<u32>, Activity), Lanes>,
    live: HashMap<u32, u64>,
    live_now: Option<(u64, u64)>,
    /// A synchronisation, until it is known when the next step begins.
    sync: Option<(u32, Step<'r>)>,
    /// The cycle after the last one of all steps so far.
    end: u64,
    sums: TimelineSums,
}

impl<'r> Walk<'r> {
    fn new(graph: &'r GraphProfile, execution: &'r ExecutionProfile) -> Self {
        Walk {
            graph,
            cycles: Cycles::of(graph, Some(execution)),
            parts: HashMap::new(),
            lanes: HashMap::new(),
            live: live_by_program(graph),
            live_now: None,
            sync: None,
            end: 0,
            sums: TimelineSums::default(),
        }
    }

    fn step<E>(
        &mut self,
        number: u32,
        step: Step<'r>,
        is_shown: bool,
        each: &mut impl FnMut(TimelineEvent<'r>) -> Result<(), E>,
    ) -> Result<(), E> {
        if *step.kind == StepKind::Sync {
            if is_shown {
                // Several synchronisations before a step are one wait.
                self.sums.steps = self.sums.steps.saturating_add(1);
                self.sync.get_or_insert((number, step));
            }
            return Ok(());
        }
        let (Some(from), Some(last)) = (step.cycles_from, step.cycles_to) else {
            self.sums.without_time = self.sums.without_time.saturating_add(u64::from(is_shown));
            return Ok(());
        };
        self.wait_until(from, each)?;
        let to = last.saturating_add(1).max(from);
        self.end = self.end.max(to);
        if !is_shown {
            return Ok(());
        }
        self.sums.steps = self.sums.steps.saturating_add(1);
        self.count_live(&step, from, each)?;
        let activity = Activity::of(step.kind);
        let mut slice =
            Slice { number, step, ipu: None, activity, lane: 0, from, to, tiles: None, cycles: step.cycles };
        let Some(key) = (if activity == Activity::Compute { step.compute_set } else { step.exchange }) else {
            return self.show(slice, each);
        };
        let parts = self.parts.entry((activity, key)).or_insert_with(|| parts(self.graph, &self.cycles, &step));
        // Each part is given once in each step, and a step has at most one for each IPU.
        match parts.clone() {
            Some(parts) => parts.iter().try_for_each(|part| {
                (slice.ipu, slice.tiles, slice.cycles) = (Some(part.ipu), Some(part.tiles), Some(part.cycles));
                self.show(slice, each)
            }),
            None => self.show(slice, each),
        }
    }

    fn show<E>(
        &mut self,
        mut slice: Slice<'r>,
        each: &mut impl FnMut(TimelineEvent<'r>) -> Result<(), E>,
    ) -> Result<(), E> {
        // With one IPU, there is only this answer.
        slice.ipu = slice.ipu.or((self.graph.target.num_ipus == Some(1)).then_some(0));
        slice.lane = self.lanes.entry((slice.ipu, slice.activity)).or_default().free(slice.from, slice.to);
        each(TimelineEvent::Slice(slice))
    }

    /// Shows the synchronisation before a step.
    fn wait_until<E>(&mut self, next: u64, each: &mut impl FnMut(TimelineEvent<'r>) -> Result<(), E>) -> Result<(), E> {
        let Some((number, step)) = self.sync.take() else { return Ok(()) };
        let (from, to) = (self.end, next.max(self.end));
        let activity = Activity::Sync;
        self.show(Slice { number, step, ipu: None, activity, lane: 0, from, to, tiles: None, cycles: None }, each)
    }

    fn end<E>(
        &mut self,
        simulation: &Simulation,
        each: &mut impl FnMut(TimelineEvent<'r>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.wait_until(simulation.cycles.unwrap_or_default(), each)
    }

    fn count_live<E>(
        &mut self,
        step: &Step<'_>,
        from: u64,
        each: &mut impl FnMut(TimelineEvent<'r>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(bytes) = step.program.and_then(|program| self.live.get(&program)).copied() else { return Ok(()) };
        // Steps overlap: one that begins before the last one counts from that on.
        let at = self.live_now.map_or(from, |(at, _)| from.max(at));
        if self.live_now.is_none_or(|(_, before)| before != bytes) {
            self.live_now = Some((at, bytes));
            each(TimelineEvent::Live { at, bytes })?;
        }
        Ok(())
    }
}

/// The IPUs that take part in a step, if the cycles of each tile are known.
fn parts(graph: &GraphProfile, cycles: &Cycles<'_>, step: &Step<'_>) -> Option<Box<[Part]>> {
    let tiles_per_ipu = graph.target.tiles_per_ipu.filter(|tiles| *tiles > 0).unwrap_or(u64::MAX);
    let mut parts: Vec<Part> = Vec::new();
    let is_known = cycles.each(step, |tile, cycles| {
        let ipu = u32::try_from(tile as u64 / tiles_per_ipu).unwrap_or(u32::MAX);
        match parts.last_mut() {
            // Tiles come in their order.
            Some(part) if part.ipu == ipu => {
                part.tiles = part.tiles.saturating_add(1);
                part.cycles = part.cycles.max(cycles);
            }
            _ => parts.push(Part { ipu, tiles: 1, cycles }),
        }
    });
    is_known.then(|| parts.into())
}

/// The lanes of a kind of steps.
#[derive(Default)]
struct Lanes {
    /// When each of the first lanes is free.
    first: Vec<u64>,
    /// When each other lane is free, and its number. Many lanes are rare, and only the one that is free first is looked
    /// at.
    others: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Lanes {
    /// The number of lanes in `first`.
    const FIRST: usize = 8;

    /// Takes a lane that is free from `from` on, until `to`.
    fn free(&mut self, from: u64, to: u64) -> u32 {
        if let Some((lane, free)) = (0_u32..).zip(&mut self.first).find(|(_, free)| **free <= from) {
            *free = to;
            return lane;
        }
        if self.first.len() < Self::FIRST {
            self.first.push(to);
            return u32::try_from(self.first.len().saturating_sub(1)).unwrap_or(u32::MAX);
        }
        let next = self.first.len().saturating_add(self.others.len());
        let lane = match self.others.peek() {
            Some(Reverse((free, lane))) if *free <= from => {
                let lane = *lane;
                self.others.pop();
                lane
            }
            _ => u32::try_from(next).unwrap_or(u32::MAX),
        };
        self.others.push(Reverse((to, lane)));
        lane
    }
}

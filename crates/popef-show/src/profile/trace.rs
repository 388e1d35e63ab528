//! The timeline in the Trace Event Format, which chrome://tracing and Perfetto open.
//!
//! Events are written as they come, so that memory does not grow with them. Times are whole nanoseconds, rounded in the same way at
//! both ends of each step: steps that follow each other on a lane never overlap.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use poplar_inspect::profile::{
    Activity, ExecutionProfile, GraphProfile, Slice, TimelineEvent, TimelineSums, liveness, timeline,
};
use serde::Serialize;

use crate::output::json::{object, value};
use crate::{Out, Shown};

/// The steps of an execution as a timeline.
#[derive(Clone, Debug)]
pub struct Timeline<'t> {
    /// The graph profile.
    pub graph: &'t GraphProfile,
    /// The execution profile.
    pub execution: &'t ExecutionProfile,
    /// The steps that are on it.
    pub steps: Range<u32>,
    /// The program that makes it, and its version.
    pub made_by: &'t str,
    /// Whether the work is to stop. It is called between events.
    pub is_stopped: fn() -> bool,
}

#[derive(Serialize)]
struct Event<'e, A: Serialize> {
    ph: &'static str,
    name: &'e str,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<Micros>,
    /// For an event without an end: it belongs to its lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    args: A,
}

/// Nanoseconds, written as microseconds.
#[derive(Clone, Copy)]
struct Micros(u64);

impl Serialize for Micros {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The nearest fraction has these digits again, up to 2⁵³ nanoseconds, which are 104 days.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        serializer.serialize_f64(self.0 as f64 / 1000.0)
    }
}

/// The details of a step.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SliceArgs {
    step: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<u32>,
    /// The cycles of the step as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    /// The cycles of the slowest tile of this IPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles_on_ipu: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tiles: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tile_balance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_balance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<u64>,
    cycles_from: u64,
}

/// A name of a process or of a lane, or its place among others.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Meta<'m> {
    Name(&'m str),
    SortIndex(u32),
}

/// The bytes that are live.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LiveArgs {
    not_always_live: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    always_live: Option<u64>,
}

struct Writer<'w> {
    out: &'w mut Out,
    is_first: bool,
    ipus: u32,
    clock: Option<u64>,
    /// The lanes that already have names, with their numbers.
    lanes: HashMap<(u32, Activity, u32), u32>,
    processes: HashMap<u32, ()>,
}

impl Timeline<'_> {
    /// Writes the timeline as one object, and returns what is on it.
    pub fn write(self, out: &mut Out) -> io::Result<TimelineSums> {
        let Timeline { graph, execution, steps, made_by, is_stopped } = self;
        out.put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        let clock = graph.target.clock_frequency.filter(|clock| *clock > 0);
        let ipus = graph.target.num_ipus.and_then(|ipus| u32::try_from(ipus).ok()).unwrap_or(u32::MAX - 2);
        let mut writer = Writer { out, is_first: true, ipus, clock, lanes: HashMap::new(), processes: HashMap::new() };
        let always_live = liveness(graph).map(|live| live.always_live_sum);
        let sums = timeline(graph, execution, steps, |event| {
            if is_stopped() {
                return Err(io::Error::other("stopped"));
            }
            match event {
                TimelineEvent::Slice(slice) => writer.slice(&slice),
                TimelineEvent::Live { at, bytes } => writer.live(at, LiveArgs { not_always_live: bytes, always_live }),
                _ => Ok(()),
            }
        })?;
        let other = object! {
            made_by,
            clock_frequency: clock,
            unit: if clock.is_some() { "microseconds" } else { "the clock is unknown: a microsecond here is a cycle" },
            steps: sums.steps,
            steps_without_time: sums.without_time,
        };
        out.put("\n],\"otherData\":");
        value(out, &other)?;
        out.put("}").end_line()?;
        Ok(sums)
    }
}

impl Writer<'_> {
    fn event(&mut self, event: &Event<'_, impl Serialize>) -> io::Result<()> {
        self.out.put(if self.is_first { "\n" } else { ",\n" });
        self.is_first = false;
        value(self.out, event)?;
        self.out.flush_if_full()
    }

    /// Cycles as a time, which grows with them.
    fn time(&self, cycles: u64) -> Micros {
        let nanos = match self.clock {
            Some(clock) => u128::from(cycles) * 1_000_000_000 / u128::from(clock),
            None => u128::from(cycles) * 1000,
        };
        Micros(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The number of the process that shows an IPU, or all IPUs. It is never 0, which means something else to Perfetto.
    fn process(&mut self, ipu: Option<u32>) -> io::Result<u32> {
        let pid = ipu.unwrap_or(self.ipus).saturating_add(1);
        if self.processes.insert(pid, ()).is_none() {
            let name = ipu.map_or_else(|| "all IPUs".to_owned(), |ipu| format!("IPU {ipu}"));
            self.meta(["process_name", "process_sort_index"], pid, None, &name, pid)?;
        }
        Ok(pid)
    }

    fn meta(&mut self, names: [&str; 2], pid: u32, tid: Option<u32>, name: &str, place: u32) -> io::Result<()> {
        for (kind, args) in names.into_iter().zip([Meta::Name(name), Meta::SortIndex(place)]) {
            self.event(&Event { ph: "M", name: kind, pid, tid, ts: None, dur: None, s: None, cat: None, args })?;
        }
        Ok(())
    }

    /// The number of a lane, which no other lane of any IPU has.
    fn lane(&mut self, pid: u32, activity: Activity, lane: u32) -> io::Result<u32> {
        if let Some(tid) = self.lanes.get(&(pid, activity, lane)) {
            return Ok(*tid);
        }
        let tid = u32::try_from(self.lanes.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.lanes.insert((pid, activity, lane), tid);
        let words = activity.as_str();
        let name = if lane == 0 { words.to_owned() } else { format!("{words}, {}", lane.saturating_add(1)) };
        let nth = Activity::ALL.iter().position(|it| *it == activity).unwrap_or_default();
        let place = u32::try_from(nth).unwrap_or_default().saturating_mul(1 << 16).saturating_add(lane);
        self.meta(["thread_name", "thread_sort_index"], pid, Some(tid), &name, place)?;
        Ok(tid)
    }

    fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let pid = self.process(slice.ipu)?;
        let tid = Some(self.lane(pid, slice.activity, slice.lane)?);
        let step = slice.step;
        let (from, to) = (self.time(slice.from), self.time(slice.to));
        let name = match (&step.name, &step.sync_type) {
            (Some(name), _) => Shown::escaped(&**name),
            (None, Some(sync)) => shown!("{}, {}", Shown::escaped(step.kind.as_str()), Shown::escaped(&**sync)),
            (None, None) => Shown::escaped(step.kind.as_str()),
        };
        let args = SliceArgs {
            step: slice.number,
            program: step.program,
            cycles: step.cycles,
            cycles_on_ipu: slice.tiles.and(slice.cycles),
            tiles: slice.tiles,
            tile_balance: step.tile_balance,
            thread_balance: step.thread_balance,
            data: step.total_data,
            cycles_from: slice.from,
        };
        let (name, ts, cat) = (&*name, Some(from), Some(slice.activity.as_str()));
        // A synchronisation for which nothing waits takes no time.
        if slice.from == slice.to {
            return self.event(&Event { ph: "i", name, pid, tid, ts, dur: None, s: Some("t"), cat, args });
        }
        let dur = Some(Micros(to.0.saturating_sub(from.0)));
        self.event(&Event { ph: "X", name, pid, tid, ts, dur, s: None, cat, args })
    }

    fn live(&mut self, at: u64, args: LiveArgs) -> io::Result<()> {
        let (pid, ts) = (self.process(None)?, Some(self.time(at)));
        self.event(&Event { ph: "C", name: "live bytes", pid, tid: None, ts, dur: None, s: None, cat: None, args })
    }
}

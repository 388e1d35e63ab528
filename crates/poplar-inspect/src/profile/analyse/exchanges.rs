//! Exchanges.

use std::collections::HashMap;

use super::cycles::Cycles;
use super::programs::code_bytes;
use super::runs::Runs;
use super::select::{Row, Selection};
use crate::profile::execution::ExecutionProfile;
use crate::profile::graph::GraphProfile;
use crate::profile::matrix::Matrix;
use crate::profile::program::ExchangeKind;

/// An exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ExchangeRow<'g> {
    /// What it exchanges data between.
    pub exchange_kind: ExchangeKind,
    /// Its number among those of its kind.
    pub exchange: u32,
    /// The bytes that tiles receive.
    pub received: u64,
    /// The bytes that tiles send. A tile can send once to many tiles.
    pub sent: u64,
    /// The cycles of the slowest tile. Those of exchanges between IPUs and with the host are estimates.
    pub max_cycles: Option<u64>,
    /// The same, for all executions.
    pub max_cycles_times_runs: Option<u64>,
    /// The tiles that take part.
    pub tiles: Option<u32>,
    /// The bytes of its code, if the report has them: on all tiles, or of the first program that does it and has them.
    pub code_bytes: Option<u64>,
    /// How often it is done, if an execution says so.
    pub runs: Option<u64>,
    /// The number of the first program that does it.
    pub program: Option<u32>,
    /// The name of the first program with one that does it. Exchanges have no names of their own.
    pub name: Option<&'g str>,
}

impl Row for ExchangeRow<'_> {
    fn name(&self) -> Option<&str> {
        self.name
    }

    fn number(&self) -> Option<u32> {
        Some(self.exchange)
    }

    fn weight(&self) -> u64 {
        self.max_cycles_times_runs.or(self.max_cycles).unwrap_or_default()
    }

    fn code(&self) -> Option<u64> {
        self.code_bytes
    }
}

fn sum_of(matrix: Option<&Matrix>, exchange: u32) -> Option<u64> {
    matrix?.rows.get(exchange as usize).map(|row| row.sum)
}

/// The exchanges of a graph. The largest are those that take most cycles in the execution, or once each without one.
pub fn exchanges<'g>(
    graph: &'g GraphProfile,
    execution: Option<&ExecutionProfile>,
    selection: &Selection<'_>,
) -> Vec<ExchangeRow<'g>> {
    let (runs, programs) = (Runs::of(execution), programs(graph));
    let named = |row: ExchangeRow<'g>| {
        let of = programs.get(&(row.exchange_kind, row.exchange)).copied().unwrap_or_default();
        ExchangeRow { program: of.first, name: of.name, code_bytes: row.code_bytes.or(of.code_bytes), ..row }
    };
    selection.choose(rows(graph, execution, runs.as_ref()).map(named))
}

/// All exchanges, without what their programs say.
fn rows<'g: 'e, 'e>(
    graph: &'g GraphProfile,
    execution: Option<&'e ExecutionProfile>,
    runs: Option<&'e Runs>,
) -> impl Iterator<Item = ExchangeRow<'g>> + use<'g, 'e> {
    let cycles = Cycles::of(graph, execution);
    let of_kind = move |kind| {
        let of_kind = graph.exchanges_of(kind);
        (0_u32..).zip(0..of_kind.len()).map(move |(exchange, _)| {
            let sums = cycles.exchange(kind, exchange);
            let runs = runs.map(|runs| runs.exchange(kind, exchange));
            ExchangeRow {
                exchange_kind: kind,
                exchange,
                received: sum_of(of_kind.bytes_received_by_tile.as_ref(), exchange).unwrap_or_default(),
                sent: sum_of(of_kind.bytes_sent_by_tile.as_ref(), exchange).unwrap_or_default(),
                max_cycles: sums.map(|sums| sums.most),
                max_cycles_times_runs: sums.zip(runs).map(|(sums, runs)| sums.most.saturating_mul(runs)),
                tiles: sums.map(|sums| sums.tiles),
                code_bytes: sum_of(of_kind.code_bytes_by_tile.as_ref(), exchange),
                runs,
                program: None,
                name: None,
            }
        })
    };
    ExchangeKind::ALL.into_iter().flat_map(of_kind)
}

/// What programs say of the exchange that they do. Each field comes from the first program that has it.
#[derive(Clone, Copy, Default)]
struct OfPrograms<'g> {
    first: Option<u32>,
    name: Option<&'g str>,
    code_bytes: Option<u64>,
}

fn programs(graph: &GraphProfile) -> HashMap<(ExchangeKind, u32), OfPrograms<'_>> {
    let mut programs = HashMap::new();
    for (number, program) in (0..).zip(&graph.programs) {
        let kind = program.kind.step().and_then(|step| step.exchange());
        if let Some(exchange) = kind.zip(program.exchange) {
            let of: &mut OfPrograms<'_> = programs.entry(exchange).or_default();
            of.first = of.first.or(Some(number));
            of.name = of.name.or(program.name.as_deref());
            of.code_bytes = of.code_bytes.or_else(|| code_bytes(program));
        }
    }
    programs
}

/// Bytes that are exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExchangeBytes {
    /// The bytes that tiles receive.
    pub received: u64,
    /// The bytes that tiles send.
    pub sent: u64,
    /// The number of steps, in an execution.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub steps: Option<u64>,
}

/// Bytes of all kinds of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ExchangeSums {
    /// Between the tiles of IPUs.
    pub exchanges: ExchangeBytes,
    /// Between IPUs.
    pub external_exchanges: ExchangeBytes,
    /// With the host.
    pub host_exchanges: ExchangeBytes,
}

/// How much is exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ExchangeTotals {
    /// Sums over the steps of the execution, if there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub in_run: Option<ExchangeSums>,
    /// Sums if each exchange is done once.
    pub once: ExchangeSums,
}

/// How much is exchanged.
pub fn exchange_totals(graph: &GraphProfile, execution: Option<&ExecutionProfile>) -> ExchangeTotals {
    let runs = Runs::of(execution);
    let in_run = runs.as_ref().map(|runs| sums(graph, execution, Some(runs)));
    ExchangeTotals { in_run, once: sums(graph, execution, None) }
}

/// Sums of exchanges that are done as often as in the run, or once.
fn sums(graph: &GraphProfile, execution: Option<&ExecutionProfile>, runs: Option<&Runs>) -> ExchangeSums {
    let none = ExchangeBytes { steps: runs.map(|_| 0), ..ExchangeBytes::default() };
    let mut sums = ExchangeSums { exchanges: none, external_exchanges: none, host_exchanges: none };
    for row in rows(graph, execution, runs) {
        let bytes = match row.exchange_kind {
            ExchangeKind::Internal => &mut sums.exchanges,
            ExchangeKind::External => &mut sums.external_exchanges,
            ExchangeKind::Host => &mut sums.host_exchanges,
        };
        let times = row.runs.unwrap_or(1);
        bytes.received = bytes.received.saturating_add(row.received.saturating_mul(times));
        bytes.sent = bytes.sent.saturating_add(row.sent.saturating_mul(times));
        bytes.steps = bytes.steps.map(|steps| steps.saturating_add(times));
    }
    sums
}

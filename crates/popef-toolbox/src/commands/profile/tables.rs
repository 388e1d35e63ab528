//! The tables, and CSV.

use std::borrow::Borrow;
use std::io;

use popef_show::{Column, Kind, Out, Table, csv, size};
use poplar_inspect::profile::{
    CategoryRow, ComputeSetRow, ExchangeKind, ExchangeRow, LayerRow, ProgramRow, StepRow, TileRow, VertexTypeRow,
};
use serde::Serialize;

use super::bars::{bytes, fraction, number, percent};

/// A row of a table.
pub(super) trait TableRow: Serialize {
    /// The keys of its JSON, in the order of CSV.
    const KEYS: &'static [&'static str];

    /// Writes rows as text.
    fn write(rows: &[Self], out: &mut Out) -> io::Result<()>
    where
        Self: Sized;
}

impl TableRow for CategoryRow<'_> {
    const KEYS: &'static [&'static str] =
        &["category", "size", "share", "most", "mostTile", "tiles", "overlapped", "overflowed"];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::left("CATEGORY", Kind::Type),
            Column::right("SIZE"),
            Column::right("SHARE"),
            Column::right("MOST"),
            Column::right("ON TILE"),
            Column::right("TILES"),
            Column::right("OVERLAPPED"),
            Column::right("OVERFLOWED"),
        ]);
        for row in rows {
            table.row([
                row.category,
                &size(row.size),
                &percent(row.share),
                &size(row.most),
                &row.most_tile.to_string(),
                &row.tiles.to_string(),
                &size(row.overlapped),
                &size(row.overflowed),
            ]);
        }
        table.write(out)
    }
}

impl TableRow for TileRow<'_> {
    const KEYS: &'static [&'static str] =
        &["tile", "ipu", "size", "dataSize", "overflowed", "alwaysLive", "maxNotAlwaysLive", "largestCategories"];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::right("TILE"),
            Column::right("IPU"),
            Column::right("WITH GAPS"),
            Column::right("DATA"),
            Column::right("OVERFLOWED"),
            Column::right("ALWAYS LIVE"),
            Column::right("MOST OF THE REST"),
            Column::left("LARGEST CATEGORIES", Kind::Type),
        ]);
        for row in rows {
            let largest: Vec<_> =
                row.largest_categories.iter().map(|it| format!("{} {}", it.category, size(it.size))).collect();
            table.row([
                &row.tile.to_string(),
                &number(row.ipu),
                &size(row.size),
                &size(row.data_size),
                &size(row.overflowed),
                &bytes(row.always_live),
                &bytes(row.max_not_always_live),
                &largest.join(", "),
            ]);
        }
        table.write(out)
    }
}

impl TableRow for VertexTypeRow<'_> {
    const KEYS: &'static [&'static str] = &[
        "type",
        "name",
        "codeBytes",
        "tiles",
        "vertexDataBytes",
        "size",
        "vertices",
        "activeCycles",
        "activeCyclesInRun",
        "maxVertexCycles",
    ];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::right("CODE"),
            Column::right("TILES"),
            Column::right("VERTEX DATA"),
            Column::right("ALL"),
            Column::right("VERTICES"),
            Column::right("ACTIVE CYCLES"),
            Column::right("IN THE RUN"),
            Column::left("VERTEX TYPE", Kind::Name),
        ]);
        for row in rows {
            table.row([
                &size(row.code_bytes),
                &row.tiles.to_string(),
                &size(row.vertex_data_bytes),
                &size(row.size),
                &row.vertices.to_string(),
                &number(row.active_cycles),
                &number(row.active_cycles_in_run),
                row.name.unwrap_or_default(),
            ]);
        }
        table.write(out)
    }
}

impl TableRow for ComputeSetRow<'_> {
    const KEYS: &'static [&'static str] = &[
        "computeSet",
        "name",
        "runs",
        "maxCycles",
        "maxCyclesTimesRuns",
        "sumCycles",
        "tiles",
        "tileBalance",
        "vertices",
        "size",
    ];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::right("NUMBER"),
            Column::right("RUNS"),
            Column::right("CYCLES"),
            Column::right("IN ALL RUNS"),
            Column::right("TILES"),
            Column::right("BALANCE"),
            Column::right("VERTICES"),
            Column::right("SIZE"),
            Column::left("COMPUTE SET", Kind::Name),
        ]);
        for row in rows {
            table.row([
                &row.compute_set.to_string(),
                &number(row.runs),
                &number(row.max_cycles),
                &number(row.max_cycles_times_runs),
                &number(row.tiles),
                &fraction(row.tile_balance),
                &row.vertices.to_string(),
                &bytes(row.size),
                row.name.unwrap_or_default(),
            ]);
        }
        table.write(out)
    }
}

impl TableRow for ProgramRow<'_> {
    const KEYS: &'static [&'static str] = &["program", "depth", "type", "name", "computeSet", "exchange", "runs", "codeBytes", "codeByInstruction"];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        // Deeper programs are not moved further, so that lines stay short.
        const MOST: u32 = 30;
        let mut table = Table::new([
            Column::right("PROGRAM"),
            Column::right("RUNS"),
            Column::right("CODE"),
            Column::left("TYPE", Kind::Type),
            // Of the compute set or the exchange.
            Column::right("NUMBER"),
            Column::left("NAME", Kind::Name),
        ]);
        for row in rows {
            let indent = "  ".repeat(row.depth.min(MOST) as usize);
            table.row([
                &row.program.to_string(),
                &number(row.runs),
                &bytes(row.code_bytes),
                &format!("{indent}{}", row.kind),
                &number(row.compute_set.or(row.exchange)),
                row.name.unwrap_or_default(),
            ]);
        }
        table.write(out)
    }
}

impl TableRow for ExchangeRow<'_> {
    const KEYS: &'static [&'static str] =
        &["exchangeKind", "exchange", "received", "sent", "maxCycles", "maxCyclesTimesRuns", "tiles", "codeBytes", "runs", "program", "name"];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::left("EXCHANGE", Kind::Type),
            Column::right("NUMBER"),
            Column::right("RUNS"),
            Column::right("CYCLES"),
            Column::right("IN ALL RUNS"),
            Column::right("TILES"),
            Column::right("RECEIVED"),
            Column::right("SENT"),
            Column::right("CODE"),
            Column::right("PROGRAM"),
            Column::left("NAME", Kind::Name),
        ]);
        for row in rows {
            let kind = match row.exchange_kind {
                ExchangeKind::Internal => "between tiles",
                ExchangeKind::External => "between IPUs",
                ExchangeKind::Host => "with the host",
            };
            table.row([
                kind,
                &row.exchange.to_string(),
                &number(row.runs),
                &number(row.max_cycles),
                &number(row.max_cycles_times_runs),
                &number(row.tiles),
                &size(row.received),
                &size(row.sent),
                &bytes(row.code_bytes),
                &number(row.program),
                row.name.unwrap_or_default(),
            ]);
        }
        table.write(out)
    }
}

impl TableRow for StepRow<'_> {
    const KEYS: &'static [&'static str] = &[
        "step",
        "type",
        "name",
        "program",
        "computeSet",
        "exchange",
        "cycles",
        "cyclesFrom",
        "cyclesTo",
        "cyclesOverlapped",
        "activeTiles",
        "tileBalance",
        "activeTileBalance",
        "threadBalance",
        "dataBalance",
        "totalData",
    ];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::right("STEP"),
            Column::right("PROGRAM"),
            Column::right("CYCLES"),
            Column::right("FROM"),
            Column::right("OVERLAP"),
            Column::right("TILES"),
            Column::right("BALANCE"),
            Column::right("OF ACTIVE"),
            Column::right("THREADS"),
            Column::right("DATA"),
            Column::right("OF DATA"),
            Column::left("TYPE", Kind::Type),
            // Of the compute set or the exchange.
            Column::right("NUMBER"),
            Column::left("NAME", Kind::Name),
        ]);
        for row in rows {
            table.row([
                &row.step.to_string(),
                &number(row.program),
                &number(row.cycles),
                &number(row.cycles_from),
                &number(row.cycles_overlapped),
                &number(row.active_tiles),
                &fraction(row.tile_balance),
                &fraction(row.active_tile_balance),
                &fraction(row.thread_balance),
                &bytes(row.total_data),
                &fraction(row.data_balance),
                row.kind.as_str(),
                &number(row.compute_set.or(row.exchange)),
                row.name.unwrap_or_default(),
            ]);
        }
        table.write(out)
    }
}

impl TableRow for LayerRow<'_> {
    const KEYS: &'static [&'static str] = &["name", "steps", "cycles", "share"];

    fn write(rows: &[Self], out: &mut Out) -> io::Result<()> {
        let mut table = Table::new([
            Column::right("CYCLES"),
            Column::right("SHARE"),
            Column::right("STEPS"),
            Column::left("NAMES BEGIN WITH", Kind::Name),
        ]);
        for row in rows {
            let name = row.name.unwrap_or("(without a name)");
            table.row([&row.cycles.to_string(), &percent(row.share), &row.steps.to_string(), name]);
        }
        table.write(out)
    }
}

/// Writes rows as CSV (RFC 4180) with a heading. Lists are JSON.
pub(super) fn csv<R: TableRow>(out: &mut Out, rows: impl IntoIterator<Item: Borrow<R>>) -> io::Result<()> {
    csv::heading(out, R::KEYS)?;
    rows.into_iter().try_for_each(|row| csv::row(out, R::KEYS, row.borrow()))
}

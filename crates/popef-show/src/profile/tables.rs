//! The columns of each table, for text, CSV and pages.

use poplar_inspect::profile::{
    CategoryRow, ComputeSetRow, ExchangeKind, ExchangeRow, LayerRow, ProgramRow, StepRow, TileRow, VertexTypeRow,
};

use crate::Kind;
use crate::output::shown::Shown;
use crate::output::table::{Cell, Field, TableRow};

impl TableRow for CategoryRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::words("category", "Category", Kind::Type, |row| Cell::name(Some(row.category))),
            Field::number("size", "Size", |row| Cell::Bytes(row.size)),
            Field::number("share", "Share", |row| Cell::Share(row.share)),
            Field::number("most", "Most", |row| Cell::Bytes(row.most)),
            Field::number("mostTile", "On tile", |row| Cell::Number(row.most_tile.into())),
            Field::number("tiles", "Tiles", |row| Cell::Count(row.tiles.into())),
            Field::number("overlapped", "Overlapped", |row| Cell::Bytes(row.overlapped)),
            Field::number("overflowed", "Overflowed", |row| Cell::Bytes(row.overflowed)),
        ]
    }
}

impl TableRow for TileRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::number("tile", "Tile", |row| Cell::Number(row.tile.into())),
            Field::number("ipu", "IPU", |row| Cell::number(row.ipu)),
            Field::number("size", "With gaps", |row| Cell::Bytes(row.size)),
            Field::number("dataSize", "Data", |row| Cell::Bytes(row.data_size)),
            Field::number("overflowed", "Overflowed", |row| Cell::Bytes(row.overflowed)),
            Field::number("alwaysLive", "Always live", |row| Cell::bytes(row.always_live)),
            Field::number("maxNotAlwaysLive", "Most of the rest", |row| Cell::bytes(row.max_not_always_live)),
            Field::words("largestCategories", "Largest categories", Kind::Type, |row| {
                Cell::Parts(
                    row.largest_categories
                        .iter()
                        .map(|it| (Shown::escaped(it.category).into_owned(), it.size))
                        .collect(),
                )
            }),
        ]
    }
}

impl TableRow for VertexTypeRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::data("type"),
            Field::number("number", "Number", |row: &Self| Cell::Number(row.vertex_type.into())).of_page(),
            Field::words("name", "Vertex type", Kind::Name, |row: &Self| Cell::name(row.name)).turn(1),
            Field::number("codeBytes", "Code", |row| Cell::Bytes(row.code_bytes)),
            Field::number("tiles", "Tiles", |row| Cell::Count(row.tiles.into())),
            Field::number("vertexDataBytes", "Vertex data", |row| Cell::Bytes(row.vertex_data_bytes)),
            Field::number("state", "State", |row: &Self| Cell::Bytes(row.vertex_data_bytes)).of_page(),
            Field::number("size", "All", |row| Cell::Bytes(row.size)),
            Field::number("vertices", "Vertices", |row| Cell::Count(row.vertices)),
            Field::number("activeCycles", "Active cycles", |row| Cell::count(row.active_cycles)),
            Field::number("activeCyclesInRun", "In the run", |row| Cell::count(row.active_cycles_in_run)),
            Field::data("maxVertexCycles"),
        ]
    }
}

impl TableRow for ComputeSetRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::number("computeSet", "Number", |row| Cell::Number(row.compute_set.into())),
            Field::words("name", "Compute set", Kind::Name, |row: &Self| Cell::name(row.name)).turn(1),
            Field::number("runs", "Runs", |row| Cell::count(row.runs)),
            Field::number("maxCycles", "Cycles", |row| Cell::count(row.max_cycles)),
            Field::number("maxCyclesTimesRuns", "In all runs", |row| Cell::count(row.max_cycles_times_runs)),
            Field::data("sumCycles"),
            Field::number("tiles", "Tiles", |row| Cell::count(row.tiles)),
            Field::number("tileBalance", "Balance", |row| Cell::balance(row.tile_balance)),
            Field::number("vertices", "Vertices", |row| Cell::Count(row.vertices)),
            Field::number("size", "Size", |row| Cell::bytes(row.size)),
        ]
    }
}

impl TableRow for ProgramRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::number("program", "Program", |row| Cell::Number(row.program.into())),
            Field::data("depth"),
            Field::words("type", "Type", Kind::Type, |row: &Self| Cell::text(indented(row))).turn(1),
            // Of the compute set or the exchange.
            Field::number("", "Number", |row: &Self| Cell::number(row.compute_set.or(row.exchange))).turn(1),
            Field::words("name", "Name", Kind::Name, |row: &Self| Cell::name(row.name)).turn(1),
            Field::data("computeSet"),
            Field::data("exchange"),
            Field::number("runs", "Runs", |row| Cell::count(row.runs)),
            Field::number("codeBytes", "Code", |row| Cell::bytes(row.code_bytes)),
            Field::data("codeByInstruction"),
        ]
    }
}

/// The type of a program, indented by its depth up to a limit, so that lines stay short.
fn indented(row: &ProgramRow<'_>) -> Shown<'static> {
    const MOST: u32 = 30;
    let mut text = Shown::default();
    text.push_spaces(row.depth.min(MOST) as usize * 2).push(Shown::escaped(row.kind.as_str()));
    text
}

impl TableRow for ExchangeRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::words("exchangeKind", "Exchange", Kind::Type, |row| Cell::text(exchange_words(row.exchange_kind))),
            Field::words("section", "Exchange", Kind::Type, |row: &Self| Cell::text(row.exchange_kind.section()))
                .of_page(),
            Field::number("exchange", "Number", |row| Cell::Number(row.exchange.into())),
            Field::number("received", "Received", |row: &Self| Cell::Bytes(row.received)).turn(2),
            Field::number("sent", "Sent", |row: &Self| Cell::Bytes(row.sent)).turn(2),
            Field::number("maxCycles", "Cycles", |row: &Self| Cell::count(row.max_cycles)).turn(1),
            Field::number("maxCyclesTimesRuns", "In all runs", |row: &Self| Cell::count(row.max_cycles_times_runs))
                .turn(1),
            Field::number("tiles", "Tiles", |row: &Self| Cell::count(row.tiles)).turn(1),
            Field::number("codeBytes", "Code", |row: &Self| Cell::bytes(row.code_bytes)).turn(2),
            Field::number("runs", "Runs", |row| Cell::count(row.runs)),
            Field::number("program", "Program", |row: &Self| Cell::number(row.program)).turn(2),
            Field::words("name", "Name", Kind::Name, |row: &Self| Cell::name(row.name)).turn(2),
            Field::words("ofProgram", "Program", Kind::Name, |row: &Self| Cell::name(row.name)).of_page(),
        ]
    }
}

fn exchange_words(kind: ExchangeKind) -> &'static str {
    match kind {
        ExchangeKind::Internal => "between tiles",
        ExchangeKind::External => "between IPUs",
        ExchangeKind::Host => "with the host",
    }
}

impl TableRow for StepRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::number("step", "Step", |row| Cell::Number(row.step.into())),
            Field::words("type", "Type", Kind::Type, |row: &Self| Cell::text(row.of.kind.as_str())).turn(3),
            // Of the compute set or the exchange.
            Field::number("", "Number", |row: &Self| Cell::number(row.of.compute_set.or(row.of.exchange))).turn(3),
            Field::words("name", "Name", Kind::Name, |row: &Self| Cell::name(row.of.name)).turn(3),
            Field::number("program", "Program", |row| Cell::number(row.of.program)),
            Field::data("computeSet"),
            Field::data("exchange"),
            Field::number("cycles", "Cycles", |row| Cell::count(row.of.cycles)),
            Field::number("cyclesFrom", "From", |row| Cell::count(row.of.cycles_from)),
            Field::data("cyclesTo"),
            Field::number("cyclesOverlapped", "Overlap", |row| Cell::count(row.of.cycles_overlapped)),
            Field::number("activeTiles", "Tiles", |row| Cell::count(row.of.active_tiles)),
            Field::number("tileBalance", "Balance", |row| Cell::balance(row.of.tile_balance)),
            Field::number("activeTileBalance", "Of active", |row| Cell::balance(row.of.active_tile_balance)),
            Field::number("threadBalance", "Threads", |row| Cell::balance(row.of.thread_balance)),
            Field::number("dataBalance", "Of data", |row: &Self| Cell::balance(row.of.data_balance)).turn(2),
            Field::number("totalData", "Data", |row: &Self| Cell::bytes(row.of.total_data)).turn(1),
        ]
    }
}

impl TableRow for LayerRow<'_> {
    fn fields() -> Vec<Field<Self>> {
        vec![
            Field::words("name", "Names begin with", Kind::Name, |row: &Self| {
                Cell::text(row.name.unwrap_or("(without a name)"))
            })
            .turn(2),
            Field::number("steps", "Steps", |row: &Self| Cell::Count(row.steps)).turn(1),
            Field::number("cycles", "Cycles", |row| Cell::Count(row.cycles)),
            Field::number("share", "Share", |row| Cell::Share(row.share)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use poplar_inspect::profile::{
        ReadOptions, Report, Selection, categories, compute_sets, exchanges, layers, program_tree, steps, tiles,
        vertex_types,
    };

    use crate::output::table::{TableRow, keys};

    fn read(name: &str) -> Report {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/profile").join(name);
        Report::read(File::open(path).unwrap(), &ReadOptions::default()).unwrap()
    }

    /// A column of CSV whose key no row has would be empty. One that CSV leaves out would be lost.
    fn holds<R: TableRow>(rows: impl IntoIterator<Item = R>) {
        let row = rows.into_iter().next().unwrap();
        let row = serde_json::to_value(&row).unwrap();
        let mut of_json: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        let mut of_csv = keys::<R>();
        of_json.sort_unstable();
        of_csv.sort_unstable();
        assert_eq!(of_csv, of_json);
    }

    #[test]
    fn csv_has_what_the_json_of_a_row_has() {
        let report = read("model.graph.json").join(read("model.execution.json")).unwrap();
        let (graph, execution) = (report.graph.as_ref().unwrap(), report.execution.as_ref());
        let all = &Selection::default();
        holds(categories(graph, all));
        holds(tiles(graph, all, 3));
        holds(vertex_types(graph, execution, all));
        holds(compute_sets(graph, execution, all));
        holds(program_tree(graph, execution, all));
        holds(exchanges(graph, execution, all));
        holds(steps(execution.unwrap(), all));
        holds(layers(execution.unwrap(), 1, all));
    }
}

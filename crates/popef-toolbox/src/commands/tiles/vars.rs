//! `popef tiles vars`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use popef_ops::{Code, Error, ErrorReport, FilePath};
use popef_show::{Column, Kind, Out, Table, counted, size};
use popef_show::words::{fact, heading, more};
use poplar_inspect::tiles::{LoweredVar, LoweredVars, TileMemory};
use serde::Serialize;

use super::picture::MemoryPicture;
use crate::common::end::unwritten;
use crate::common::format::{Format, FormatArgs, json_document, json_line};
use crate::common::json_file::{Damage, open, refused};
use crate::common::tool::Tool;
use crate::common::values::path;
use crate::common::words::wrong;

/// Show the memory of tiles: variables, gaps, and what is always live
///
/// Reads Poplar's lowered variables: the vars.json that an engine up to SDK 2.1 writes if its option debug.loweredVarDumpFile names such
/// a file. The lower bound is what a tile needs whatever the allocation, because variables that interfere cannot share bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef tiles vars vars.json
  popef tiles vars vars.json --tile 3 --top 50
  popef tiles vars vars.json --format ndjson | jq -r 'select(.kind == \"tile\") | [.tile, .usedBytes] | @tsv'")]
pub(crate) struct Args {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// The tile to show; without it, the one with the most bytes in use
    #[arg(long, value_name = "N", help_heading = "Selection")]
    tile: Option<u32>,
    /// Show at most N tiles and variables
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    top: usize,
}

/// What is said of a file as a whole.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sums<'v> {
    #[serde(flatten)]
    path: FilePath,
    tiles: Option<u32>,
    tile_memory: Option<u64>,
    interleaved_start: Option<u64>,
    variables: usize,
    used_tiles: usize,
    full_tiles: usize,
    shown_tile: Option<Tile<'v>>,
    error: Option<ErrorReport>,
}

/// A tile with its variables.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tile<'v> {
    #[serde(flatten)]
    memory: &'v TileMemory,
    categories: Vec<Category<'v>>,
    largest_variables: Vec<Variable<'v>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Category<'v> {
    category: &'v str,
    variables: u64,
    size: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Variable<'v> {
    var: u64,
    name: &'v str,
    category: &'v str,
    offset: Option<u64>,
    size: u64,
    always_live: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'v> {
    #[serde(flatten)]
    sums: Sums<'v>,
    tile_memories: &'v [TileMemory],
}

#[derive(Serialize)]
struct InFileTile<'v> {
    #[serde(flatten)]
    file: &'v popef_ops::InFile,
    #[serde(flatten)]
    memory: &'v TileMemory,
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let vars = LoweredVars::read(open(&self.file)?).map_err(|error| refused(&error, Code::BadTileFile, &self.file))?;
        let memories = vars.tile_memories();
        let damage = Damage::of(vars.damage.as_ref(), Code::BadTileFile, &self.file);
        let shown = self.shown(&memories)?;
        let sums = self.sums(&vars, &memories, shown, &damage);
        let mut out = tool.out();
        match format.format {
            Format::Text => self.show(&mut out, &vars, &memories, &sums),
            Format::Json => json_document(&mut out, &Document { sums, tile_memories: &memories }),
            Format::Ndjson => self.write_lines(&mut out, &memories, &sums),
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        Ok(damage.told(tool))
    }

    fn shown<'v>(&self, memories: &'v [TileMemory]) -> Result<Option<&'v TileMemory>, Error> {
        match self.tile {
            None => Ok(memories.iter().max_by_key(|memory| (memory.used_bytes, Reverse(memory.tile)))),
            Some(tile) => match memories.iter().find(|memory| memory.tile == tile) {
                Some(memory) => Ok(Some(memory)),
                None => Err(wrong(no_tile(tile, memories)).in_file(&self.file)),
            },
        }
    }

    fn sums<'v>(
        &self,
        vars: &'v LoweredVars,
        memories: &'v [TileMemory],
        shown: Option<&'v TileMemory>,
        damage: &Damage,
    ) -> Sums<'v> {
        Sums {
            path: self.file.as_path().into(),
            tiles: vars.tiles,
            tile_memory: vars.tile_memory,
            interleaved_start: vars.interleaved_start,
            variables: vars.variables.len(),
            used_tiles: memories.len(),
            full_tiles: memories.iter().filter(|memory| memory.overflow_bytes > 0).count(),
            shown_tile: shown.map(|memory| self.tile(vars, memory)),
            error: damage.report(),
        }
    }

    fn tile<'v>(&self, vars: &'v LoweredVars, memory: &'v TileMemory) -> Tile<'v> {
        let mut variables = vars.on_tile(memory.tile);
        let categories = categories(vars, &variables);
        variables.sort_by_key(|it| (Reverse(it.size), it.var));
        let variable = |it: &'v LoweredVar| Variable {
            var: it.var,
            name: &it.name,
            category: vars.category(it),
            offset: it.offset,
            size: it.size,
            always_live: it.always_live,
        };
        Tile { memory, categories, largest_variables: variables.into_iter().take(self.top).map(variable).collect() }
    }

    fn write_lines(&self, out: &mut Out, memories: &[TileMemory], sums: &Sums<'_>) -> io::Result<()> {
        let file = popef_ops::InFile::from(self.file.as_path());
        for memory in memories {
            json_line(out, "tile", &InFileTile { file: &file, memory })?;
        }
        json_line(out, "file", sums)
    }

    fn show(&self, out: &mut Out, vars: &LoweredVars, memories: &[TileMemory], sums: &Sums<'_>) -> io::Result<()> {
        out.text(Kind::Group, sums.path.text());
        let variables = counted(sums.variables, "variable", "variables");
        out.put(&format!("  {variables} on {}", counted(sums.used_tiles, "tile", "tiles")));
        match sums.tile_memory {
            Some(bytes) => out.put(&format!(" of {} each", size(bytes))).end_line()?,
            None => out.end_line()?,
        }
        self.show_tiles(out, memories)?;
        match &sums.shown_tile {
            Some(tile) => show_tile(out, vars, tile),
            None => Ok(()),
        }
    }

    fn show_tiles(&self, out: &mut Out, memories: &[TileMemory]) -> io::Result<()> {
        let mut fullest: Vec<_> = memories.iter().collect();
        fullest.sort_by_key(|memory| (Reverse(memory.used_bytes), memory.tile));
        heading(out, "Fullest tiles")?;
        let mut table = Table::new([
            Column::right("TILE"),
            Column::right("USED"),
            Column::right("ALWAYS LIVE"),
            Column::right("LOWER BOUND"),
            Column::right("END"),
            Column::right("GAPS"),
            Column::right("LARGEST GAP"),
            Column::left("", Kind::Warning),
        ]);
        for memory in fullest.iter().take(self.top) {
            let over = match memory.overflow_bytes {
                0 => String::new(),
                bytes => format!("{} beyond its memory", size(bytes)),
            };
            table.row([
                &memory.tile.to_string(),
                &size(memory.used_bytes),
                &size(memory.always_live_bytes),
                &size(memory.lower_bound_bytes),
                &size(memory.end),
                &size(memory.gap_bytes),
                &size(memory.largest_gap),
                &over,
            ]);
        }
        table.write(out)?;
        more(out, fullest.len(), self.top)
    }
}

/// Why a tile cannot be shown.
fn no_tile(tile: u32, memories: &[TileMemory]) -> String {
    let tiles = || memories.iter().map(|memory| memory.tile);
    match (tiles().min(), tiles().max()) {
        (Some(first), Some(last)) if first < last => {
            let count = memories.len();
            format!("tile {tile} has no variables; {count} tiles from {first} to {last} have some")
        }
        (Some(only), _) => format!("tile {tile} has no variables; only tile {only} has some"),
        (None, _) => format!("tile {tile} has no variables; the file has none"),
    }
}

/// The categories of a tile's variables, the largest first.
fn categories<'v>(vars: &'v LoweredVars, variables: &[&'v LoweredVar]) -> Vec<Category<'v>> {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for variable in variables {
        let sum = sums.entry(vars.category(variable)).or_default();
        *sum = (sum.0.saturating_add(1), sum.1.saturating_add(variable.size));
    }
    let category = |(category, (variables, size))| Category { category, variables, size };
    let mut categories: Vec<_> = sums.into_iter().map(category).collect();
    categories.sort_by_key(|category| Reverse(category.size));
    categories
}

fn show_tile(out: &mut Out, vars: &LoweredVars, tile: &Tile<'_>) -> io::Result<()> {
    let memory = tile.memory;
    heading(out, &format!("Tile {}", memory.tile))?;
    let not_allocated = match memory.not_allocated {
        0 => String::new(),
        count => format!(", and {count} without a place"),
    };
    fact(out, "variables", &format!("{}, {}{not_allocated}", memory.variables, size(memory.variable_bytes)))?;
    fact(out, "used", &size(memory.used_bytes))?;
    fact(out, "always live", &size(memory.always_live_bytes))?;
    fact(out, "lower bound", &size(memory.lower_bound_bytes))?;
    fact(out, "gaps", &format!("{}, {}, the largest {}", memory.gaps, size(memory.gap_bytes), size(memory.largest_gap)))?;
    if let Some(permille) = memory.fragmentation_permille {
        let [whole, tenth] = [permille / 10, permille % 10];
        fact(out, "fragmentation", &format!("{whole}.{tenth} % of what is free is not in the largest free piece"))?;
    }
    out.end_line()?;
    let used = vars.used_on(memory.tile);
    let bytes = vars.tile_memory.unwrap_or(memory.end).max(memory.end);
    MemoryPicture { bytes, used: &used, interleaved_start: vars.interleaved_start, end: vars.tile_memory }.write(out)?;
    out.end_line()?;
    let mut table =
        Table::new([Column::left("CATEGORY", Kind::Type), Column::right("VARIABLES"), Column::right("SIZE")]);
    for category in &tile.categories {
        table.row([category.category, &category.variables.to_string(), &size(category.size)]);
    }
    table.write(out)?;
    out.end_line()?;
    let mut table = Table::new([
        Column::left("LARGEST VARIABLE", Kind::Name),
        Column::right("SIZE"),
        Column::right("FROM"),
        Column::left("CATEGORY", Kind::Type),
        Column::left("", Kind::Plain),
    ]);
    for variable in &tile.largest_variables {
        let offset = variable.offset.map_or(String::new(), |offset| format!("0x{offset:x}"));
        let live = if variable.always_live { "always live" } else { "" };
        table.row([variable.name, &size(variable.size), &offset, variable.category, live]);
    }
    table.write(out)?;
    more(out, usize::try_from(memory.variables).unwrap_or(usize::MAX), tile.largest_variables.len())
}

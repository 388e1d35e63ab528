//! The memory of tiles, from Poplar's lowered variables.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use popef::types::Diagnostic;
use popef_ops::{FilePath, InFile};
use poplar_inspect::tiles::{LoweredVar, LoweredVars, TileMemory};
use serde::Serialize;

use super::picture::MemoryPicture;
use crate::output::json::{item_in, object};
use crate::output::table::{Table, fact, heading, more};
use crate::{Kind, Out, ReportFormat, ReportOptions, Shown, counted, json_document, json_item, size};

/// A tile with its variables.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tile<'v> {
    #[serde(flatten)]
    memory: &'v TileMemory,
    categories: Vec<Category<'v>>,
    largest_variables: Vec<Variable<'v>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Category<'v> {
    category: &'v str,
    variables: u64,
    size: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Variable<'v> {
    var: u64,
    name: &'v str,
    category: &'v str,
    offset: Option<u64>,
    size: u64,
    always_live: bool,
}

/// The memory of tiles: variables, gaps, and what is always live.
#[derive(Debug)]
pub struct VarsReport<'v> {
    path: FilePath,
    file: InFile,
    vars: &'v LoweredVars,
    memories: &'v [TileMemory],
    shown: Option<Tile<'v>>,
    error: Option<Diagnostic>,
}

impl<'v> VarsReport<'v> {
    /// A report about a file's variables. `memories` has the memory of each tile, and `shown` is the tile that is shown in full.
    /// `error` says why the rest of the file could not be read.
    pub fn new(
        path: &Path,
        vars: &'v LoweredVars,
        memories: &'v [TileMemory],
        shown: Option<&'v TileMemory>,
        top: usize,
        error: Option<Diagnostic>,
    ) -> Self {
        let shown = shown.map(|memory| tile(vars, memory, top));
        VarsReport { path: path.into(), file: path.into(), vars, memories, shown, error }
    }

    /// The JSON about a file as a whole.
    fn sums(&self) -> impl Serialize {
        let VarsReport { path, vars, memories, shown, error, .. } = self;
        object! {
            #[serde(flatten)]
            path,
            tiles: vars.tiles,
            tile_memory: vars.tile_memory,
            interleaved_start: vars.interleaved_start,
            variables: vars.variables.len(),
            used_tiles: memories.len(),
            full_tiles: memories.iter().filter(|memory| memory.overflow_bytes > 0).count(),
            shown_tile: shown,
            error,
        }
    }

    /// Writes it.
    pub fn write(&self, out: &mut Out, options: &ReportOptions) -> io::Result<()> {
        match options.format {
            ReportFormat::Text => self.show(out, options.top),
            ReportFormat::Json => {
                let (sums, tile_memories) = (self.sums(), self.memories);
                json_document(out, &object! { #[serde(flatten)] sums, tile_memories }, options.network)
            }
            ReportFormat::Ndjson => self.write_lines(out),
        }
    }

    fn write_lines(&self, out: &mut Out) -> io::Result<()> {
        for memory in self.memories {
            item_in(out, "tile", &self.file, memory)?;
        }
        json_item(out, "file", &self.sums())
    }

    fn show(&self, out: &mut Out, top: usize) -> io::Result<()> {
        out.text(Kind::Group, self.path.text());
        let variables = counted(self.vars.variables.len(), "variable", "variables");
        out.put(shown!("  {} on {}", variables, counted(self.memories.len(), "tile", "tiles")));
        match self.vars.tile_memory {
            Some(bytes) => out.put(shown!(" of {} each", size(bytes))).end_line()?,
            None => out.end_line()?,
        }
        show_tiles(out, self.memories, top)?;
        match &self.shown {
            Some(tile) => show_tile(out, self.vars, tile),
            None => Ok(()),
        }
    }
}

fn show_tiles(out: &mut Out, memories: &[TileMemory], top: usize) -> io::Result<()> {
    let mut fullest: Vec<_> = memories.iter().collect();
    fullest.sort_by_key(|memory| (Reverse(memory.used_bytes), memory.tile));
    heading(out, "Fullest tiles")?;
    let over = |memory: &TileMemory| match memory.overflow_bytes {
        0 => Shown::default(),
        bytes => shown!("{} beyond its memory", size(bytes)),
    };
    Table::of(fullest)
        .number("Tile", |memory| memory.tile)
        .number("Used", |memory| size(memory.used_bytes))
        .number("Always live", |memory| size(memory.always_live_bytes))
        .number("Lower bound", |memory| size(memory.lower_bound_bytes))
        .number("End", |memory| size(memory.end))
        .number("Gaps", |memory| size(memory.gap_bytes))
        .number("Largest gap", |memory| size(memory.largest_gap))
        .column("", Kind::Warning, |memory| over(memory))
        .write_first(out, top)
}

/// A tile with its largest variables.
fn tile<'v>(vars: &'v LoweredVars, memory: &'v TileMemory, top: usize) -> Tile<'v> {
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
    Tile { memory, categories, largest_variables: variables.into_iter().take(top).map(variable).collect() }
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
    heading(out, shown!("Tile {}", memory.tile))?;
    let not_allocated = match memory.not_allocated {
        0 => Shown::default(),
        count => shown!(", and {} without a place", count),
    };
    fact(out, "variables", shown!("{}, {}{}", memory.variables, size(memory.variable_bytes), not_allocated))?;
    fact(out, "used", size(memory.used_bytes))?;
    fact(out, "always live", size(memory.always_live_bytes))?;
    fact(out, "lower bound", size(memory.lower_bound_bytes))?;
    fact(out, "gaps", shown!("{}, {}, the largest {}", memory.gaps, size(memory.gap_bytes), size(memory.largest_gap)))?;
    if let Some(permille) = memory.fragmentation_permille {
        let [whole, tenth] = [permille / 10, permille % 10];
        fact(out, "fragmentation", shown!("{}.{} % of what is free is not in the largest free piece", whole, tenth))?;
    }
    out.end_line()?;
    let used = vars.used_on(memory.tile);
    let bytes = vars.tile_memory.unwrap_or(memory.end).max(memory.end);
    MemoryPicture { bytes, used: &used, interleaved_start: vars.interleaved_start, end: vars.tile_memory }
        .write(out)?;
    out.end_line()?;
    Table::of(&tile.categories)
        .column("Category", Kind::Type, |category| category.category)
        .number("Variables", |category| category.variables)
        .number("Size", |category| size(category.size))
        .write(out)?;
    out.end_line()?;
    Table::of(&tile.largest_variables)
        .column("Largest variable", Kind::Name, |variable| variable.name)
        .number("Size", |variable| size(variable.size))
        .number("From", |variable| variable.offset.map_or(Shown::default(), |offset| shown!("0x{:x}", offset)))
        .column("Category", Kind::Type, |variable| variable.category)
        .column("", Kind::Plain, |variable| if variable.always_live { "always live" } else { "" })
        .write(out)?;
    more(out, usize::try_from(memory.variables).unwrap_or(usize::MAX), tile.largest_variables.len())
}

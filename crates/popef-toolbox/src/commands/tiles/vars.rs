//! `popef tiles vars`.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::process::ExitCode;

use popef_cli::end::{unwritten, wrong};
use popef_cli::format::FormatArgs;
use popef_cli::tool::Tool;
use popef_ops::{Code, Error};
use popef_show::tiles::VarsReport;
use poplar_inspect::tiles::{LoweredVars, TileMemory};

use crate::common::json_file::{Damage, open, refused};
use crate::common::values::path;

/// Show the memory of tiles: variables, gaps, and what is always live
///
/// Reads Poplar's lowered variables: the vars.json that an engine up to SDK 2.1 writes if its option debug.loweredVarDumpFile names such
/// a file. The lower bound is the memory that a tile needs for any allocation, because variables that interfere cannot share bytes.
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
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, help_heading = "Selection")]
    tile: Option<u32>,
    /// Show at most N tiles and variables
    #[arg(long, value_name = "N", value_parser = popef_cli::values::top, default_value_t = 10, help_heading = "Output")]
    top: usize,
    #[command(flatten)]
    format: super::Reported,
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let vars = LoweredVars::read(open(&self.file)?).map_err(|error| refused(&error, Code::BadTileFile, &self.file))?;
        let memories = vars.tile_memories();
        let damage = Damage::of(vars.damage.as_ref(), Code::BadTileFile, &self.file);
        let shown = self.shown(&memories)?;
        let report = VarsReport::new(&self.file, &vars, &memories, shown, self.top, damage.report());
        let mut out = tool.out();
        report.write(&mut out, &format.top(self.top)).and_then(|()| out.send()).map_err(unwritten)?;
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

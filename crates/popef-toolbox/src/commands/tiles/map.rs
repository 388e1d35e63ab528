//! `popef tiles map`.

use std::cmp::Reverse;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use popef_ops::{Code, Error, ErrorReport, FilePath};
use popef_show::{Column, Kind, Out, Table, counted, size};
use popef_show::words::{brief, heading, more, shape};
use poplar_inspect::tiles::{Balance, Computation, MappedTensor, Target, TensorMap};
use serde::{Serialize, Serializer};

use super::picture::Picture;
use super::words::{MOST_NAME, fullest_tiles};
use crate::common::end::unwritten;
use crate::common::format::{Format, FormatArgs, json_document, json_line};
use crate::common::json_file::{Damage, open, refused};
use crate::common::tool::Tool;
use crate::common::values::path;
use crate::common::words::wrong;

/// Show how TensorFlow spread each tensor, and what is uneven
///
/// Reads a NAME.tensor_map.json, which TensorFlow for IPUs writes if TF_POPLAR_FLAGS has --tensor_map_file_path=FOLDER. Each tensor is
/// compared with the default mapping of its type. The bytes of a tile are those of all tensors together, which is more than its
/// memory needs: not all are live at once, and some are others under another name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef tiles map model.tensor_map.json
  popef tiles map model.tensor_map.json --top 50 --ipus 4
  popef tiles map model.tensor_map.json --format ndjson | jq 'select(.balance.excessSize > 4096).instruction'")]
pub(crate) struct Args {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// The number of tiles of an IPU
    #[arg(long, value_name = "N", default_value_t = 1472, help_heading = "Device")]
    tiles: u32,
    /// The number of IPUs; without it, as many as the file uses
    #[arg(long, value_name = "N", help_heading = "Device")]
    ipus: Option<u32>,
    /// Show at most N tiles, tensors and computations
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    top: usize,
}

/// A tensor of the file.
struct Row<'m> {
    index: usize,
    computation: &'m Computation,
    tensor: &'m MappedTensor,
    balance: Option<Balance>,
}

/// All tensors of a file, and the tiles that they are compared on.
struct Report<'m> {
    map: &'m TensorMap,
    target: Target,
}

impl<'m> Report<'m> {
    fn rows(&self) -> impl Iterator<Item = Row<'m>> {
        let target = self.target;
        self.map.tensors().enumerate().map(move |(index, (computation, tensor))| Row {
            index,
            computation,
            tensor,
            balance: tensor.balance(&target),
        })
    }

    /// The numbers of tensors whose fullest tile has more than in the default mapping, the worst first.
    fn uneven(&self) -> Vec<usize> {
        let excess = |row: &Row<'_>| row.balance.map_or(0, |balance| balance.excess_size);
        let mut uneven: Vec<_> = self.rows().map(|row| (excess(&row), row.index)).filter(|row| row.0 > 0).collect();
        uneven.sort_by_key(|&(excess, index)| (Reverse(excess), index));
        uneven.into_iter().map(|row| row.1).collect()
    }

    fn size(&self) -> u64 {
        self.map.bytes_by_tile.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    fn amounts(&self) -> Vec<(u32, u64)> {
        self.map.bytes_by_tile.iter().map(|(tile, bytes)| (*tile, *bytes)).collect()
    }
}

/// What is said of a file as a whole.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sums {
    #[serde(flatten)]
    path: FilePath,
    tiles_per_ipu: u32,
    ipus: u32,
    tensors: usize,
    size: u64,
    used_tiles: usize,
    unknown_types: u64,
    computations: Vec<ComputationSums>,
    fullest_tiles: Vec<TileSize>,
    worth_remapping: Vec<usize>,
    error: Option<ErrorReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComputationSums {
    name: String,
    tensors: usize,
    uneven_tensors: usize,
    excess_size: u64,
}

#[derive(Serialize)]
struct TileSize {
    tile: u32,
    size: u64,
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let map = TensorMap::read(open(&self.file)?).map_err(|error| refused(&error, Code::BadTileFile, &self.file))?;
        let report = Report { map: &map, target: self.target(&map)? };
        let damage = Damage::of(map.damage.as_ref(), Code::BadTileFile, &self.file);
        let mut out = tool.out();
        match format.format {
            Format::Text => self.show(&mut out, &report),
            Format::Json => {
                json_document(&mut out, &Document { sums: self.sums(&report, &damage), mappings: Mappings(&report) })
            }
            Format::Ndjson => self.write_lines(&mut out, &report, &damage),
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        Ok(damage.told(tool))
    }

    fn target(&self, map: &TensorMap) -> Result<Target, Error> {
        let used = map.last_tile().map_or(1, |last| last.saturating_add(1));
        let ipus = self.ipus.unwrap_or(used.checked_div(self.tiles).unwrap_or_default().saturating_add(1));
        let ipus = if self.ipus.is_none() && used.checked_rem(self.tiles) == Some(0) { ipus.saturating_sub(1) } else { ipus };
        let target = Target::new(self.tiles, ipus).map_err(|error| wrong(error).in_file(&self.file))?;
        if used > target.tiles() {
            let message = format!("the file uses tile {}, and there are {} tiles", used.saturating_sub(1), target.tiles());
            return Err(wrong(message).in_file(&self.file));
        }
        Ok(target)
    }

    fn sums(&self, report: &Report<'_>, damage: &Damage) -> Sums {
        Sums {
            path: self.file.as_path().into(),
            tiles_per_ipu: report.target.tiles_per_ipu(),
            ipus: report.target.ipus(),
            tensors: report.map.tensors().count(),
            size: report.size(),
            used_tiles: report.map.bytes_by_tile.len(),
            unknown_types: report.map.unknown_types,
            computations: computations(report),
            fullest_tiles: fullest_tiles(report.amounts(), self.top)
                .into_iter()
                .map(|(tile, size)| TileSize { tile, size })
                .collect(),
            worth_remapping: report.uneven().into_iter().take(self.top).collect(),
            error: damage.report(),
        }
    }

    fn write_lines(&self, out: &mut Out, report: &Report<'_>, damage: &Damage) -> io::Result<()> {
        let file = popef_ops::InFile::from(self.file.as_path());
        for row in report.rows() {
            json_line(out, "tensor", &InFileRow { file: &file, row })?;
        }
        json_line(out, "file", &self.sums(report, damage))
    }

    fn show(&self, out: &mut Out, report: &Report<'_>) -> io::Result<()> {
        let sums = self.sums(report, &Damage::default());
        out.text(Kind::Group, sums.path.text());
        let counts = [
            counted(sums.computations.len(), "computation", "computations"),
            counted(sums.tensors, "tensor", "tensors"),
            size(sums.size),
        ];
        let tiles = counted(report.target.tiles(), "tile", "tiles");
        let ipus = if sums.ipus > 1 { format!(" of {} IPUs", sums.ipus) } else { String::new() };
        out.put(&format!("  {} on {} of {tiles}{ipus}", counts.join(", "), sums.used_tiles)).end_line()?;
        if sums.unknown_types > 0 {
            out.put(&format!("  without those of {} of unknown type", sums.unknown_types)).end_line()?;
        }
        heading(out, "Bytes of all tensors on each tile, more than are live at once")?;
        let amounts = report.amounts();
        let most = size(amounts.iter().map(|tile| tile.1).max().unwrap_or_default());
        let (tiles_per_ipu, ipus) = (sums.tiles_per_ipu, sums.ipus);
        Picture { tiles_per_ipu, ipus, amounts: &amounts, most: &most }.write(out)?;
        out.end_line()?;
        let mut table = Table::new([Column::right("FULLEST TILE"), Column::right("SIZE")]);
        for tile in &sums.fullest_tiles {
            table.row([&tile.tile.to_string(), &size(tile.size)]);
        }
        table.write(out)?;
        self.show_uneven(out, report)?;
        self.show_computations(out, &sums.computations)
    }

    fn show_uneven(&self, out: &mut Out, report: &Report<'_>) -> io::Result<()> {
        let uneven = report.uneven();
        let tiles = report.target.tiles();
        if uneven.is_empty() {
            return heading(out, &format!("No tensor is less even than a default mapping on {tiles} tiles"));
        }
        let title = format!("Worth remapping: the fullest tile has more than in a default mapping on {tiles} tiles");
        heading(out, &title)?;
        let mut table = Table::new([
            Column::right("EXCESS"),
            Column::right("FULLEST"),
            Column::right("IDEAL"),
            Column::right("USED TILES"),
            Column::left("TYPE", Kind::Type),
            Column::left("INSTRUCTION", Kind::Name),
            Column::left("COMPUTATION", Kind::Plain),
        ]);
        let rows: Vec<_> = report.rows().collect();
        for row in uneven.iter().take(self.top).filter_map(|index| rows.get(*index)) {
            let Some(balance) = row.balance else { continue };
            let bytes = |elements: u64| size(elements.saturating_mul(balance.element_size));
            table.row([
                &size(balance.excess_size),
                &bytes(row.tensor.most_elements),
                &bytes(balance.ideal_elements),
                &row.tensor.used_tiles.to_string(),
                &format!("{} {}", row.tensor.element_type, shape(&row.tensor.shape)),
                &format!("{}:{}", row.tensor.instruction, row.tensor.output),
                &row.computation.name,
            ]);
        }
        table.write(out)?;
        more(out, uneven.len(), self.top)
    }

    fn show_computations(&self, out: &mut Out, computations: &[ComputationSums]) -> io::Result<()> {
        out.end_line()?;
        let mut table = Table::new([
            Column::left("COMPUTATION", Kind::Name),
            Column::right("TENSORS"),
            Column::right("UNEVEN"),
            Column::right("EXCESS"),
        ]);
        for sums in computations.iter().take(self.top) {
            let [tensors, uneven] = [sums.tensors, sums.uneven_tensors].map(|count| count.to_string());
            table.row([&sums.name, &tensors, &uneven, &size(sums.excess_size)]);
        }
        table.write(out)?;
        more(out, computations.len(), self.top)
    }
}

/// The computations, those with the most excess first.
fn computations(report: &Report<'_>) -> Vec<ComputationSums> {
    let sums = |computation: &Computation| {
        let excess = |tensor: &MappedTensor| tensor.balance(&report.target).map_or(0, |balance| balance.excess_size);
        let excess = computation.tensors.iter().map(excess).filter(|excess| *excess > 0);
        let (uneven_tensors, excess_size) =
            excess.fold((0_usize, 0_u64), |(count, sum), excess| (count.saturating_add(1), sum.saturating_add(excess)));
        ComputationSums {
            name: computation.name.clone(),
            tensors: computation.tensors.len(),
            uneven_tensors,
            excess_size,
        }
    };
    let mut all: Vec<_> = report.map.computations.iter().map(sums).collect();
    all.sort_by_key(|sums| Reverse(sums.excess_size));
    all
}

#[derive(Serialize)]
struct Document<'m> {
    #[serde(flatten)]
    sums: Sums,
    mappings: Mappings<'m>,
}

/// All tensors, made while they are written.
struct Mappings<'m>(&'m Report<'m>);

impl Serialize for Mappings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.rows())
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'m> {
            index: usize,
            computation: &'m str,
            #[serde(flatten)]
            tensor: &'m MappedTensor,
            balance: Option<Balance>,
        }
        let (index, tensor, balance) = (self.index, self.tensor, self.balance);
        // All tensors of a computation repeat its name, which the sums have in full.
        let computation = &*brief(&self.computation.name, MOST_NAME);
        Fields { index, computation, tensor, balance }.serialize(serializer)
    }
}

#[derive(Serialize)]
struct InFileRow<'m> {
    #[serde(flatten)]
    file: &'m popef_ops::InFile,
    #[serde(flatten)]
    row: Row<'m>,
}

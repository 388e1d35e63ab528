//! How TensorFlow spread each tensor, and what is uneven.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use popef::seam::List;
use popef::types::Diagnostic;
use popef_ops::{FilePath, InFile};
use poplar_inspect::tiles::{Balance, Computation, MappedTensor, Target, TensorMap};
use serde::{Serialize, Serializer};

use super::picture::Picture;
use super::{MOST_NAME, fullest_tiles};
use crate::output::json::{item_in, object};
use crate::output::table::{Table, brief, heading, shape};
use crate::{Kind, Out, ReportFormat, ReportOptions, Shown, counted, json_document, json_item, size};

/// A tensor of the file.
struct Row<'m> {
    index: usize,
    computation: &'m Computation,
    tensor: &'m MappedTensor,
    balance: Option<Balance>,
}

/// How the tensors of a file are spread, and what is uneven.
#[derive(Debug)]
pub struct MapReport<'m> {
    path: FilePath,
    file: InFile,
    map: &'m TensorMap,
    target: Target,
    error: Option<Diagnostic>,
}

impl<'m> MapReport<'m> {
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

/// The tensors of a computation, and how uneven they are.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComputationSums {
    name: String,
    tensors: usize,
    uneven_tensors: usize,
    excess_size: u64,
}

impl<'m> MapReport<'m> {
    /// A report about a file's tensors, compared with a default mapping on the tiles of `target`. `error` says why the rest of the file
    /// could not be read.
    pub fn new(path: &Path, map: &'m TensorMap, target: Target, error: Option<Diagnostic>) -> Self {
        MapReport { path: path.into(), file: path.into(), map, target, error }
    }

    /// Writes it.
    pub fn write(&self, out: &mut Out, options: &ReportOptions) -> io::Result<()> {
        match options.format {
            ReportFormat::Text => self.show(out, options.top),
            ReportFormat::Json => {
                let (sums, mappings) = (self.sums(options.top), List(|| self.rows()));
                json_document(out, &object! { #[serde(flatten)] sums, mappings }, options.network)
            }
            ReportFormat::Ndjson => self.write_lines(out, options.top),
        }
    }

    /// The JSON about a file as a whole.
    fn sums(&self, top: usize) -> impl Serialize {
        let fullest = fullest_tiles(self.amounts(), top).into_iter().map(|(tile, size)| object! { tile, size });
        object! {
            #[serde(flatten)]
            path: &self.path,
            tiles_per_ipu: self.target.tiles_per_ipu(),
            ipus: self.target.ipus(),
            tensors: self.map.tensors().count(),
            size: self.size(),
            used_tiles: self.map.bytes_by_tile.len(),
            unknown_types: self.map.unknown_types,
            computations: computations(self),
            fullest_tiles: fullest.collect::<Vec<_>>(),
            worth_remapping: self.uneven().into_iter().take(top).collect::<Vec<_>>(),
            error: &self.error,
        }
    }

    fn write_lines(&self, out: &mut Out, top: usize) -> io::Result<()> {
        for row in self.rows() {
            item_in(out, "tensor", &self.file, &row)?;
        }
        json_item(out, "file", &self.sums(top))
    }

    fn show(&self, out: &mut Out, top: usize) -> io::Result<()> {
        let computations = computations(self);
        let (ipus, unknown) = (self.target.ipus(), self.map.unknown_types);
        out.text(Kind::Group, self.path.text());
        let counts = [
            counted(computations.len(), "computation", "computations"),
            counted(self.map.tensors().count(), "tensor", "tensors"),
            size(self.size()),
        ];
        let tiles = counted(self.target.tiles(), "tile", "tiles");
        let of_ipus = if ipus > 1 { shown!(" of {} IPUs", ipus) } else { Shown::default() };
        let used = self.map.bytes_by_tile.len();
        out.put(shown!("  {} on {} of {}{}", Shown::joined(counts, ", "), used, tiles, of_ipus)).end_line()?;
        if unknown > 0 {
            out.put(shown!("  without those of {} of unknown type", unknown)).end_line()?;
        }
        heading(out, "Bytes of all tensors on each tile, more than are live at once")?;
        let amounts = self.amounts();
        let most = size(amounts.iter().map(|tile| tile.1).max().unwrap_or_default());
        let tiles_per_ipu = self.target.tiles_per_ipu();
        Picture { tiles_per_ipu, ipus, amounts: &amounts, most: &most }.write(out)?;
        out.end_line()?;
        Table::of(fullest_tiles(amounts, top))
            .number("Fullest tile", |(tile, _)| *tile)
            .number("Size", |(_, bytes)| size(*bytes))
            .write(out)?;
        self.show_uneven(out, top)?;
        show_computations(out, &computations, top)
    }

    fn show_uneven(&self, out: &mut Out, top: usize) -> io::Result<()> {
        let uneven = self.uneven();
        let tiles = self.target.tiles();
        if uneven.is_empty() {
            return heading(out, shown!("No tensor is less even than a default mapping on {} tiles", tiles));
        }
        let title = shown!("Worth remapping: the fullest tile has more than in a default mapping on {} tiles", tiles);
        heading(out, &title)?;
        let rows: Vec<_> = self.rows().collect();
        let bytes = |balance: &Balance, elements: u64| size(elements.saturating_mul(balance.element_size));
        Table::of(uneven.iter().filter_map(|index| rows.get(*index)).filter_map(|row| Some((row, row.balance?))))
            .number("Excess", |(_, balance)| size(balance.excess_size))
            .number("Fullest", |(row, balance)| bytes(balance, row.tensor.most_elements))
            .number("Ideal", |(_, balance)| bytes(balance, balance.ideal_elements))
            .number("Used tiles", |(row, _)| row.tensor.used_tiles)
            .column("Type", Kind::Type, |(row, _)| {
                shown!("{} {}", Shown::escaped(&row.tensor.element_type), shape(&row.tensor.shape))
            })
            .column("Instruction", Kind::Name, |(row, _)| {
                shown!("{}:{}", Shown::escaped(&row.tensor.instruction), row.tensor.output)
            })
            .column("Computation", Kind::Plain, |(row, _)| &row.computation.name)
            .write_first(out, top)
    }
}

fn show_computations(out: &mut Out, computations: &[ComputationSums], top: usize) -> io::Result<()> {
    out.end_line()?;
    Table::of(computations)
        .column("Computation", Kind::Name, |sums| &sums.name)
        .number("Tensors", |sums| sums.tensors)
        .number("Uneven", |sums| sums.uneven_tensors)
        .number("Excess", |sums| size(sums.excess_size))
        .write_first(out, top)
}

/// The computations, those with the most excess first.
fn computations(report: &MapReport<'_>) -> Vec<ComputationSums> {
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

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { index, tensor, balance, .. } = self;
        // All tensors of a computation repeat its name, which the sums have in full.
        let computation = brief(&self.computation.name, MOST_NAME);
        object! { index, computation, #[serde(flatten)] tensor, balance }.serialize(serializer)
    }
}

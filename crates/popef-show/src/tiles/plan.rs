//! How a tensor is spread by default.

use std::io;

use popef::DataType;
use poplar_inspect::tiles::{Linear, Mapping, Target, tile_imbalance};
use serde::Serialize;

use super::elements;
use super::picture::Picture;
use crate::output::json::object;
use crate::output::table::{Table, fact, shape};
use crate::{Kind, Network, Out, ReportFormat, Shown, json_document, json_item, size};

/// How a tensor is spread by a mapping.
#[derive(Debug)]
pub struct PlanReport<'p> {
    shape: &'p [u64],
    element_type: DataType,
    elements: u64,
    size: u64,
    target: &'p Target,
    linear: &'p Linear,
    mapping: &'p Mapping,
}

impl<'p> PlanReport<'p> {
    /// A report about a mapping. `None` if the bytes of all elements are too many to count.
    pub fn new(
        shape: &'p [u64],
        element_type: DataType,
        elements: u64,
        target: &'p Target,
        linear: &'p Linear,
        mapping: &'p Mapping,
    ) -> Option<Self> {
        let size = elements.checked_mul(element_type.size().unwrap_or_default())?;
        Some(PlanReport { shape, element_type, elements, size, target, linear, mapping })
    }

    /// The tile at which the next tensor begins.
    fn new_offset(&self) -> u32 {
        let next = u64::from(self.linear.offset).saturating_add(u64::from(self.mapping.used_tiles()));
        let offset = next.checked_rem(u64::from(self.mapping.tiles()));
        offset.and_then(|tile| u32::try_from(tile).ok()).unwrap_or_default()
    }

    fn least_elements(&self) -> u64 {
        self.mapping.counts().map(|(_, count)| count).min().unwrap_or_default()
    }

    fn imbalance(&self) -> u64 {
        tile_imbalance(self.mapping, self.linear.min_elements, self.linear.grain)
    }

    /// The JSON of the plan.
    fn plan(&self) -> impl Serialize {
        let PlanReport { shape, element_type, elements, size, target, linear, mapping } = self;
        object! {
            shape,
            r#type: element_type,
            elements,
            size,
            tiles_per_ipu: target.tiles_per_ipu(),
            ipus: target.ipus(),
            grain: linear.grain,
            min_elements: linear.min_elements,
            offset: linear.offset,
            order: linear.order,
            used_tiles: mapping.used_tiles(),
            idle_tiles: mapping.idle_tiles(),
            least_elements: self.least_elements(),
            most_elements: mapping.most(),
            imbalance: self.imbalance(),
            new_offset: self.new_offset(),
        }
    }

    /// Writes it. Text has the elements of each tile if `list` asks for them.
    pub fn write(&self, out: &mut Out, format: ReportFormat, list: bool, network: Network) -> io::Result<()> {
        match format {
            ReportFormat::Text => self.show(out, list),
            ReportFormat::Json => {
                let report = object! { #[serde(flatten)] plan: self.plan(), mapping: self.mapping };
                json_document(out, &report, network)
            }
            ReportFormat::Ndjson => self.write_lines(out),
        }
    }

    /// A line for each tile that is used, and then the plan.
    fn write_lines(&self, out: &mut Out) -> io::Result<()> {
        for tile in self.mapping.by_tile() {
            json_item(out, "tile", &tile)?;
        }
        json_item(out, "report", &self.plan())
    }

    fn element_size(&self) -> u64 {
        self.element_type.size().unwrap_or_default()
    }

    fn show(&self, out: &mut Out, list: bool) -> io::Result<()> {
        let PlanReport { target, linear, mapping, .. } = self;
        let ipus = target.ipus();
        let each = self.element_size();
        out.put_as(Kind::Type, self.element_type).put(" ");
        out.put(shown!("{}: {}, on ", shape(self.shape), elements(self.elements, each)));
        let of_ipus = if ipus == 1 { Shown::default() } else { shown!(" of {} IPUs", ipus) };
        out.put(shown!("{} tiles{}", mapping.tiles(), of_ipus)).end_line()?;
        fact(out, "grain", elements(linear.grain, each))?;
        fact(out, "minimum", shown!("{} on a tile", elements(linear.min_elements, each)))?;
        fact(out, "used tiles", shown!("{}, and {} idle", mapping.used_tiles(), mapping.idle_tiles()))?;
        fact(out, "fullest tile", elements(mapping.most(), each))?;
        fact(out, "emptiest used", elements(self.least_elements(), each))?;
        fact(out, "imbalance", elements(self.imbalance(), each))?;
        fact(out, "new offset", self.new_offset())?;
        out.end_line()?;
        let amounts: Vec<_> = mapping.counts().collect();
        let most = elements(mapping.most(), each);
        Picture { tiles_per_ipu: target.tiles_per_ipu(), ipus, amounts: &amounts, most: &most }.write(out)?;
        if list { self.show_list(out) } else { Ok(()) }
    }

    fn show_list(&self, out: &mut Out) -> io::Result<()> {
        const MOST: usize = 1000;
        out.end_line()?;
        Table::of(self.mapping.pieces())
            .number("Tile", |(tile, _)| *tile)
            .number("From", |(_, at)| at.begin())
            .number("To", |(_, at)| at.end().saturating_sub(1))
            .number("Size", |(_, at)| size(at.len().saturating_mul(self.element_size())))
            .write_first(out, MOST)
    }
}

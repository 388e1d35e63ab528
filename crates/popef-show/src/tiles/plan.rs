//! How a tensor is spread by default.

use std::io;

use popef::DataType;
use poplar_inspect::tiles::{Linear, Mapping, Order, Target, tile_imbalance};
use serde::Serialize;

use super::picture::Picture;
use super::words::elements;
use crate::output::table::Table;
use crate::words::{fact, shape};
use crate::{Kind, Network, Out, ReportFormat, json_document, json_item, size};

/// What is planned.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Plan<'p> {
    shape: &'p [u64],
    #[serde(rename = "type")]
    element_type: DataType,
    elements: u64,
    size: u64,
    tiles_per_ipu: u32,
    ipus: u32,
    grain: u64,
    min_elements: u64,
    offset: u32,
    order: Order,
    used_tiles: u32,
    idle_tiles: u32,
    least_elements: u64,
    most_elements: u64,
    imbalance: u64,
    new_offset: u32,
}

/// How a tensor is spread by a mapping.
#[derive(Debug, Serialize)]
pub struct PlanReport<'p> {
    #[serde(flatten)]
    plan: Plan<'p>,
    mapping: &'p Mapping,
}

impl<'p> PlanReport<'p> {
    /// What is said of a mapping. `None` if the bytes of all elements are too many to count.
    pub fn new(
        shape: &'p [u64],
        element_type: DataType,
        elements: u64,
        target: &Target,
        linear: &Linear,
        mapping: &'p Mapping,
    ) -> Option<Self> {
        let size = elements.checked_mul(element_type.size().unwrap_or_default())?;
        let next = u64::from(linear.offset).saturating_add(u64::from(mapping.used_tiles()));
        let new_offset = next.checked_rem(u64::from(mapping.tiles())).and_then(|tile| u32::try_from(tile).ok());
        let plan = Plan {
            shape,
            element_type,
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
            least_elements: mapping.counts().map(|(_, count)| count).min().unwrap_or_default(),
            most_elements: mapping.most(),
            imbalance: tile_imbalance(mapping, linear.min_elements, linear.grain),
            new_offset: new_offset.unwrap_or_default(),
        };
        Some(PlanReport { plan, mapping })
    }

    /// Writes it. Text has the elements of each tile if `list` asks for them.
    pub fn write(&self, out: &mut Out, format: ReportFormat, list: bool, network: Network) -> io::Result<()> {
        match format {
            ReportFormat::Text => self.show(out, list),
            ReportFormat::Json => json_document(out, self, network),
            ReportFormat::Ndjson => self.write_lines(out),
        }
    }

    /// A line for each tile that is used, and then the plan.
    fn write_lines(&self, out: &mut Out) -> io::Result<()> {
        for tile in self.mapping.by_tile() {
            json_item(out, "tile", &tile)?;
        }
        json_item(out, "report", &self.plan)
    }

    fn element_size(&self) -> u64 {
        self.plan.element_type.size().unwrap_or_default()
    }

    fn show(&self, out: &mut Out, list: bool) -> io::Result<()> {
        let PlanReport { plan, mapping } = self;
        let each = self.element_size();
        out.put_as(Kind::Type, &plan.element_type.to_string()).put(" ");
        out.put(&format!("{}: {}, on ", shape(plan.shape), elements(plan.elements, each)));
        let ipus = if plan.ipus == 1 { String::new() } else { format!(" of {} IPUs", plan.ipus) };
        out.put(&format!("{} tiles{ipus}", mapping.tiles())).end_line()?;
        fact(out, "grain", &elements(plan.grain, each))?;
        fact(out, "minimum", &format!("{} on a tile", elements(plan.min_elements, each)))?;
        fact(out, "used tiles", &format!("{}, and {} idle", plan.used_tiles, plan.idle_tiles))?;
        fact(out, "fullest tile", &elements(plan.most_elements, each))?;
        fact(out, "emptiest used", &elements(plan.least_elements, each))?;
        fact(out, "imbalance", &elements(plan.imbalance, each))?;
        fact(out, "new offset", &plan.new_offset.to_string())?;
        out.end_line()?;
        let amounts: Vec<_> = mapping.counts().collect();
        let most = elements(plan.most_elements, each);
        Picture { tiles_per_ipu: plan.tiles_per_ipu, ipus: plan.ipus, amounts: &amounts, most: &most }.write(out)?;
        if list { self.show_list(out) } else { Ok(()) }
    }

    fn show_list(&self, out: &mut Out) -> io::Result<()> {
        const MOST: usize = 1000;
        out.end_line()?;
        Table::of(self.mapping.pieces())
            .number("Tile", |(tile, _)| tile)
            .number("From", |(_, at)| at.begin())
            .number("To", |(_, at)| at.end().saturating_sub(1))
            .number("Size", |(_, at)| size(at.len().saturating_mul(self.element_size())))
            .write_first(out, MOST)
    }
}

//! `popef tiles plan`.

use std::io;
use std::process::ExitCode;

use popef::DataType;
use popef_ops::Error;
use popef_show::{Column, Kind, Out, Table, size};
use popef_show::words::{fact, more, shape};
use poplar_inspect::tiles::{
    Linear, Mapping, Order, Target, calc_linear_tile_mapping, element_type_of_poplar, number_of_elements,
    tile_imbalance,
};
use serde::Serialize;

use super::picture::Picture;
use super::words::elements;
use crate::common::end::unwritten;
use crate::common::format::{Format, FormatArgs, json_document, json_line};
use crate::common::tool::Tool;
use crate::common::words::wrong;

/// Predict how a tensor is spread by default
///
/// This is poplibs' linear mapping: consecutive elements on consecutive tiles, in multiples of the grain, with at least the minimum
/// on each tile. The defaults of both are those of the type: the vector width, and 128 bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef tiles plan 784x10 F16
  popef tiles plan 784x10 half --grain 8 --min-elements 16 --list
  popef tiles plan 1024x1024 F32 --offset 116 --descending
  popef tiles plan 50000x1024 F16 --ipus 4 --format json > mapping.json")]
pub(crate) struct Args {
    /// The sizes of the dimensions, such as 784x10; scalar for none
    #[arg(value_name = "SHAPE", value_parser = parse_shape)]
    shape: Shape,
    /// The type of the elements: F16, F32, S32, ..., or as Poplar calls it: half, float, int
    #[arg(value_name = "TYPE", value_parser = parse_type)]
    element_type: DataType,
    /// The number of tiles of an IPU
    #[arg(long, value_name = "N", default_value_t = 1472, help_heading = "Device")]
    tiles: u32,
    /// The number of IPUs
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Device")]
    ipus: u32,
    /// The number of elements on a tile is a multiple of N
    #[arg(long, value_name = "N", conflicts_with = "vector_width", help_heading = "Mapping")]
    grain: Option<u64>,
    /// The vector width of the type; the grain follows from it
    #[arg(long, value_name = "N", help_heading = "Mapping")]
    vector_width: Option<u64>,
    /// A tile has at least N elements
    #[arg(long, value_name = "N", help_heading = "Mapping")]
    min_elements: Option<u64>,
    /// Begin N tiles after the first one, or before the last one with --descending
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "Mapping")]
    offset: u32,
    /// From high to low tile numbers
    #[arg(long, help_heading = "Mapping")]
    descending: bool,
    /// Show the elements of each tile, at most of a thousand
    #[arg(short, long, help_heading = "Output")]
    list: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Shape(Vec<u64>);

fn parse_shape(text: &str) -> Result<Shape, String> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if inner == "scalar" || (inner.is_empty() && inner != text) {
        return Ok(Shape(Vec::new()));
    }
    let sizes = inner.split(['x', ',']).map(|size| size.trim().parse());
    sizes.collect::<Result<_, _>>().map(Shape).map_err(|_| format!("{text} is no shape; write 784x10, or scalar"))
}

fn parse_type(text: &str) -> Result<DataType, String> {
    match element_type_of_poplar(text) {
        Some(element_type) => Ok(element_type),
        None => text.parse::<DataType>().map_err(|unknown| unknown.to_string()),
    }
}

/// What is planned.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Plan<'p> {
    shape: &'p Shape,
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

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let target = Target::new(self.tiles, self.ipus).map_err(wrong)?;
        let linear = self.linear(&target)?;
        let mapping = calc_linear_tile_mapping(target.tiles(), &self.shape.0, &linear).map_err(wrong)?;
        let plan = self.plan(&mapping, &linear)?;
        let mut out = tool.out();
        match format.format {
            Format::Text => self.show(&mut out, &plan, &mapping),
            Format::Json => json_document(&mut out, &WithMapping { plan: &plan, mapping: &mapping }),
            Format::Ndjson => write_lines(&mut out, &plan, &mapping),
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn linear(&self, target: &Target) -> Result<Linear, Error> {
        let mut linear = target.linear(self.element_type).map_err(wrong)?;
        linear.grain = self.grain.or(self.vector_width).unwrap_or(linear.grain);
        linear.min_elements = self.min_elements.unwrap_or(linear.min_elements);
        let order = if self.descending { Order::Descending } else { Order::Ascending };
        Ok(linear.from(self.offset, order))
    }

    fn plan(&self, mapping: &Mapping, linear: &Linear) -> Result<Plan<'_>, Error> {
        let elements = number_of_elements(&self.shape.0).map_err(wrong)?;
        let size = elements.checked_mul(self.element_size());
        let next = u64::from(self.offset).saturating_add(u64::from(mapping.used_tiles()));
        let new_offset = next.checked_rem(u64::from(mapping.tiles())).and_then(|tile| u32::try_from(tile).ok());
        Ok(Plan {
            shape: &self.shape,
            element_type: self.element_type,
            elements,
            size: size.ok_or_else(|| wrong("the number of bytes is too large"))?,
            tiles_per_ipu: self.tiles,
            ipus: self.ipus,
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
        })
    }

    fn element_size(&self) -> u64 {
        self.element_type.size().unwrap_or_default()
    }

    fn show(&self, out: &mut Out, plan: &Plan<'_>, mapping: &Mapping) -> io::Result<()> {
        let each = self.element_size();
        out.put_as(Kind::Type, &plan.element_type.to_string()).put(" ");
        out.put(&format!("{}: {}, on ", shape(&plan.shape.0), elements(plan.elements, each)));
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
        Picture { tiles_per_ipu: self.tiles, ipus: self.ipus, amounts: &amounts, most: &most }.write(out)?;
        if self.list { self.show_list(out, mapping) } else { Ok(()) }
    }

    fn show_list(&self, out: &mut Out, mapping: &Mapping) -> io::Result<()> {
        const MOST: usize = 1000;
        out.end_line()?;
        let mut table =
            Table::new([Column::right("TILE"), Column::right("FROM"), Column::right("TO"), Column::right("SIZE")]);
        for &(tile, at) in mapping.pieces().iter().take(MOST) {
            let last = at.end().saturating_sub(1);
            let bytes = size(at.len().saturating_mul(self.element_size()));
            table.row([&tile.to_string(), &at.begin().to_string(), &last.to_string(), &bytes]);
        }
        table.write(out)?;
        more(out, mapping.pieces().len(), MOST)
    }
}

#[derive(Serialize)]
struct WithMapping<'p> {
    #[serde(flatten)]
    plan: &'p Plan<'p>,
    mapping: &'p Mapping,
}

/// A line for each tile that is used, and then the plan.
fn write_lines(out: &mut Out, plan: &Plan<'_>, mapping: &Mapping) -> io::Result<()> {
    for tile in mapping.by_tile() {
        json_line(out, "tile", &tile)?;
    }
    json_line(out, "report", plan)
}

#[cfg(test)]
mod tests {
    use super::{parse_shape, parse_type};
    use popef::DataType;

    #[test]
    fn shapes_are_written_in_several_ways() {
        for (text, sizes) in [
            ("784x10", &[784, 10][..]),
            ("784,10", &[784, 10]),
            ("[784, 10]", &[784, 10]),
            ("7", &[7]),
            ("scalar", &[]),
            ("[]", &[]),
        ] {
            assert_eq!(parse_shape(text).unwrap().0, sizes, "{text}");
        }
        for wrong in ["", "x", "784x", "-1", "1.5", "ten", "99999999999999999999"] {
            assert!(parse_shape(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn types_have_the_names_of_popef_and_of_poplar() {
        for (text, element_type) in [("F16", DataType::F16), ("f16", DataType::F16), ("half", DataType::F16)] {
            assert_eq!(parse_type(text), Ok(element_type));
        }
        assert!(parse_type("double16").is_err());
    }
}

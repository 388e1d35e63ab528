//! `popef tiles plan`.

use std::process::ExitCode;

use popef::DataType;
use popef_cli::end::{unwritten, wrong};
use popef_cli::format::{FormatArgs, NETWORK};
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::tiles::PlanReport;
use poplar_inspect::tiles::{
    Linear, Order, Target, calc_linear_tile_mapping, number_of_elements,
};

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
    #[arg(value_name = "TYPE", value_parser = str::parse::<DataType>)]
    element_type: DataType,
    /// The number of tiles of an IPU
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, default_value_t = 1472, help_heading = "Device")]
    tiles_per_ipu: u32,
    /// The number of IPUs
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, default_value_t = 1, help_heading = "Device")]
    ipus: u32,
    /// The number of elements on a tile is a multiple of N
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u64>, conflicts_with = "vector_width", help_heading = "Mapping")]
    grain: Option<u64>,
    /// The vector width of the type; the grain follows from it
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u64>, help_heading = "Mapping")]
    vector_width: Option<u64>,
    /// A tile has at least N elements
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u64>, help_heading = "Mapping")]
    min_elements: Option<u64>,
    /// Begin N tiles after the first one, or before the last one with --descending
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, default_value_t = 0, hide_default_value = true, help_heading = "Mapping")]
    offset: u32,
    /// From high to low tile numbers
    #[arg(long, help_heading = "Mapping")]
    descending: bool,
    /// Show the elements of each tile, at most of a thousand
    #[arg(short, long, help_heading = "Output")]
    list: bool,
    #[command(flatten)]
    format: super::Reported,
}

#[derive(Clone, Debug)]
struct Shape(Vec<u64>);

fn parse_shape(text: &str) -> Result<Shape, String> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if inner == "scalar" || (inner.is_empty() && inner != text) {
        return Ok(Shape(Vec::new()));
    }
    let sizes = inner.split(['x', ',']).map(|size| size.trim().parse());
    sizes.collect::<Result<_, _>>().map(Shape).map_err(|_| format!("{text} is no shape; write 784x10, or scalar"))
}

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: &FormatArgs) -> Result<ExitCode, Error> {
        let target = Target::new(self.tiles_per_ipu, self.ipus).map_err(wrong)?;
        let linear = self.linear(&target)?;
        let Shape(shape) = &self.shape;
        let mapping = calc_linear_tile_mapping(target.tiles(), shape, &linear).map_err(wrong)?;
        let elements = number_of_elements(shape).map_err(wrong)?;
        let report = PlanReport::new(shape, self.element_type, elements, &target, &linear, &mapping)
            .ok_or_else(|| wrong("the number of bytes is too large"))?;
        let mut out = tool.out();
        report.write(&mut out, format.format, self.list, NETWORK).and_then(|()| out.send()).map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn linear(&self, target: &Target) -> Result<Linear, Error> {
        let mut linear = target.linear(self.element_type).map_err(wrong)?;
        linear.grain = self.grain.or(self.vector_width).unwrap_or(linear.grain);
        linear.min_elements = self.min_elements.unwrap_or(linear.min_elements);
        let order = if self.descending { Order::Descending } else { Order::Ascending };
        Ok(linear.from(self.offset, order))
    }
}

#[cfg(test)]
mod tests {
    use super::parse_shape;
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
            assert_eq!(text.parse(), Ok(element_type));
        }
        assert!("double16".parse::<DataType>().is_err());
    }
}

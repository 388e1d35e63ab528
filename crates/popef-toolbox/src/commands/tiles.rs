//! `popef tiles`.

mod exec;
mod map;
mod model;
mod plan;
mod vars;

use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::TypedValueParser;
use popef_cli::end::wrong;
use popef_cli::format::{Format, FormatArgs};
use popef_cli::common::{Common, Place};
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::tiles::TilesFormat;

use super::Command;
use crate::common::values::named;

/// Show what is on the tiles of IPUs
///
/// Nothing here needs the SDK or a device: mappings are calculated as Graphcore's library poplibs does it, or read from files.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  popef tiles plan 784x10 F16                          # how Poplar spreads a tensor by default
  popef tiles model model.popef                        # an estimate for all tensors of a model
  popef tiles map model.tensor_map.json                # how TensorFlow spread its tensors
  popef tiles vars vars.json                           # the memory of each tile
  popef tiles exec model.popef                         # how full tiles are, and whether the model fits
  popef tiles plan --help"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    /// Format of the report: text; json, one document; ndjson, lines of JSON; or, only of exec, csv, and svg, a picture
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_parser = form(),
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: Option<TilesFormat>,
}

/// The formats of reports without a picture.
#[derive(Debug, clap::Args)]
struct Reported {
    /// Format of the report: text; json, one document; ndjson, lines of JSON
    // This takes the place of the option of `popef tiles`, which gets the value.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = named([TilesFormat::Text, TilesFormat::Json, TilesFormat::Ndjson], |form| form.as_str()),
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: Option<TilesFormat>,
}

fn form() -> impl TypedValueParser<Value = TilesFormat> {
    named(TilesFormat::ALL.iter().copied(), |form| form.as_str())
}

#[derive(Debug, Subcommand)]
enum What {
    Plan(plan::Args),
    Map(map::Args),
    Vars(vars::Args),
    Model(model::Args),
    Exec(exec::Args),
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let format = match self.format.unwrap_or(TilesFormat::Text) {
            TilesFormat::Json => Format::Json,
            TilesFormat::Ndjson => Format::Ndjson,
            form @ (TilesFormat::Csv | TilesFormat::Svg) if !matches!(self.what, What::Exec(_)) => {
                return Err(wrong(format!("--format {} is only for popef tiles exec", form.as_str())));
            }
            _ => Format::Text,
        };
        let format = &FormatArgs { format };
        match &self.what {
            What::Plan(args) => args.run(tool, format),
            What::Map(args) => args.run(tool, format),
            What::Vars(args) => args.run(tool, format),
            What::Model(args) => args.run(tool, format),
            What::Exec(args) => args.run(tool, self.format),
        }
    }

    fn common(&self) -> Common<'_> {
        let place = match &self.what {
            What::Exec(args) => args.place(),
            // Only exec makes a file.
            _ => Place::NONE,
        };
        Common::of(place).format(self.format.and_then(|form| Format::named(form.as_str()))).text()
    }
}

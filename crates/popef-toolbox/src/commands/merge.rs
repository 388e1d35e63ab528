//! `popef merge`.

use std::process::ExitCode;

use clap::builder::TypedValueParser;
use popef_cli::end::unwritten;
use popef_cli::filter::Filter;
use popef_cli::format::FormatArgs;
use popef_cli::input::{Inputs, open_all};
use popef_cli::output::OutputArgs;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_ops::{Error, Keep, MergeOptions, merge};
use popef_show::operations::write_merged;

use super::Command;
use crate::common::findings::{check_strict, say_findings};
use crate::common::values::named;

/// Make one file of several
///
/// The new file has the blobs of all files, in order. Blobs of one file stay together. Blobs of different files with the same
/// type, name and content are written once. If only the content differs, that is an error, unless --keep says which ones to keep.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef merge [OPTIONS] -o <NEW> <FILE>...", after_help = "\
Examples:
  popef merge executable.popef weights.popef -o model.popef
  popef merge --keep last model.popef new-weights.popef -o newer.popef
  popef merge --type tensor,feed a.popef b.popef -o data.popef
  popef merge --keep all parts/*.popef -o model.popef      after popef split --max-size
  find parts -name '*.popef' -print0 | sort -z | popef merge --files-from - -o model.popef")]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    /// Which blobs to keep when several files have the same type and name: first, last or all
    ///
    /// first and last choose between blobs with different contents; identical blobs are written once. all writes every blob, so
    /// that the parts of `popef split --max-size` become the original file again. But executables of different files must have
    /// different names: identical ones are written once, and others are an error.
    #[arg(long, value_name = "WHICH", value_parser = keep(), hide_possible_values = true)]
    keep: Option<Keep>,
    /// Executables are the same if they unpack to the same bytes, however they are compressed
    #[arg(long)]
    unpacked: bool,
    /// Leave out the bytes before PopEF in a file, such as the pickle of a .poptorch file
    ///
    /// Otherwise it is kept if it is in the first file. In another one it is an error.
    #[arg(long)]
    drop_prefix: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    output: OutputArgs,
    /// Write nothing if the checks find errors in the new file, or warnings that no input has
    #[arg(long, help_heading = "Output")]
    strict: bool,
    #[command(flatten)]
    format: FormatArgs,
}

fn keep() -> impl TypedValueParser<Value = Keep> {
    named([Keep::First, Keep::Last, Keep::All], |keep| match keep {
        Keep::First => "first",
        Keep::Last => "last",
        _ => "all",
    })
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        check_strict(self.strict, self.output.place())?;
        let target = self.output.target();
        target.check_sources(self.inputs.lists())?;
        let paths = self.inputs.paths()?;
        let files = open_all(tool, &paths)?;
        self.filter.check(&files, &paths)?;
        let watch = tool.progress("merging");
        let options = MergeOptions {
            keep: self.keep.unwrap_or_default(),
            unpacked: self.unpacked,
            drop_prefixes: self.drop_prefix,
            strict: self.strict,
            select: &|blob| self.filter.takes(blob),
        };
        let merged = merge(&files, target, &options, &watch)?;
        drop(watch);
        let mut out = tool.report();
        self.format.report(&mut out, &merged, |out, merged| write_merged(out, merged, self.output.dry_run)).map_err(unwritten)?;
        say_findings(tool, merged.new_findings.as_deref());
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::of(self.output.place()).format(self.format.format).lists()
    }
}

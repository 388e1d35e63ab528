//! `popef strip`.

use std::path::PathBuf;
use std::process::ExitCode;

use popef::types::{BlobType, Text};
use popef::{Blob, File};
use popef_cli::end::{unwritten, wrong};
use popef_cli::filter::{name_of, type_named};
use popef_cli::format::FormatArgs;
use popef_cli::input::open_whole;
use popef_cli::output::ChangeArgs;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_ops::{Broken, Code, Error, StripOptions, strip};
use popef_show::operations::write_stripped;
use popef_show::{Glob, counted};

use super::Command;
use crate::common::values::path;

/// Drop blobs from a file
///
/// Blobs that --drop names are dropped, except those that --exclude names. All others stay, in their order. The report lists the
/// dropped blobs, and stderr says what can no longer be loaded. popef strip --dry-run shows it without a change.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef strip [OPTIONS] --drop <TYPE[:GLOB]> -o <NEW> <FILE>\n       popef strip [OPTIONS] --drop <TYPE[:GLOB]> --in-place <FILE>", after_help = "\
Examples:
  popef strip model.popef --drop feed -o small.popef
  popef strip model.popef --drop 'tensor:optimizer.*' --drop 'tensor:*.momentum' -o small.popef
  popef strip model.popef --drop 'tensor:optimizer.*' --exclude '*.step' -o small.popef
  popef strip --in-place model.popef --drop opaque:poptorch
  popef strip --dry-run model.popef --drop 'any:debug*'
  popef strip model.popef --drop 3 -o small.popef
      Blob 3, as popef ls numbers them
  popef strip model.poptorch --drop prefix -o model.popef
      Without the pickle that older files of PopTorch begin with")]
pub(crate) struct Args {
    /// The file to change; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// Drop blobs of TYPE, or only those whose name matches GLOB; can be given several times
    ///
    /// TYPE is executable, metadata, tensor, feed, opaque or any; several with commas. A blob is dropped if any --drop names it. `*`
    /// matches any characters, `?` one character, `[a-c]` one of these letters. Metadata goes by the name of its executable. `prefix`
    /// stands for the bytes before the first blob, such as a pickle. A number is one blob: its index, as `popef ls` shows it under `#`.
    #[arg(long, value_name = "TYPE[:GLOB]", value_parser = Drop::parse, required = true, help_heading = "Selection")]
    drop: Vec<Drop>,
    /// Do not drop blobs whose name matches GLOB; this counts more than --drop
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse, help_heading = "Selection")]
    exclude: Vec<Glob>,
    /// Ignore the case of ASCII letters in --drop and --exclude
    #[arg(short, long, help_heading = "Selection")]
    ignore_case: bool,
    #[command(flatten)]
    output: ChangeArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The blobs that one `--drop` names.
#[derive(Clone, Debug, Default)]
struct Drop {
    /// The bytes before the first blob.
    prefix: bool,
    /// The blob with this index.
    index: Option<usize>,
    types: Vec<BlobType>,
    /// Blobs of all types.
    any: bool,
    glob: Option<Glob>,
    /// The text as it was given.
    text: String,
}

impl Drop {
    fn parse(text: &str) -> Result<Drop, String> {
        let (words, glob) = match text.split_once(':') {
            Some((words, glob)) => (words, Some(Glob::parse(glob)?)),
            None => (text, None),
        };
        let mut drop = Drop { glob, text: text.to_owned(), ..Drop::default() };
        if let Some(index) = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit())) {
            return Ok(Drop { index: Some(index), ..drop });
        }
        for word in words.split(',') {
            match word {
                "prefix" if drop.glob.is_some() => return Err("prefix has no name, and so takes no pattern".to_owned()),
                "prefix" => drop.prefix = true,
                "any" if drop.glob.is_none() => {
                    return Err("any needs a pattern, such as any:debug*; without one, nothing would be left".to_owned());
                }
                "any" => drop.any = true,
                name => drop.types.push(type_named(name).ok_or_else(|| {
                    format!("{name} is not a type: write executable, metadata, tensor, feed, opaque, any or prefix; for names, tensor:GLOB")
                })?),
            }
        }
        Ok(drop)
    }

    fn names(&self, blob: &Blob<'_>, ignore_case: bool) -> bool {
        let is_named = |glob: &Glob| glob.matches(&name_of(blob).to_string_lossy(), ignore_case);
        let has_type = self.any || self.types.contains(&blob.blob_type());
        self.index == Some(blob.index()) || (has_type && self.glob.as_ref().is_none_or(is_named))
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.ignore_case && self.exclude.is_empty() && self.drop.iter().all(|drop| drop.glob.is_none()) {
            return Err(wrong("--ignore-case needs a GLOB in --drop, or --exclude"));
        }
        let file = open_whole(tool, &self.file)?;
        self.check_drops(tool, &file)?;
        let options = StripOptions {
            drop: &|blob| self.drops(blob),
            drop_prefix: self.drop.iter().any(|drop| drop.prefix),
            ..StripOptions::default()
        };
        let watch = tool.progress("stripping");
        let stripped = strip(&file, self.output.target(&self.file)?, &options, &watch)?;
        drop(watch);
        let mut out = tool.report();
        self.format.report(&mut out, &stripped, |out, stripped| write_stripped(out, stripped, self.output.dry_run)).map_err(unwritten)?;
        stripped.broken.iter().for_each(|broken| warn(tool, broken));
        let warned = u64::try_from(stripped.broken.len()).unwrap_or(u64::MAX);
        if stripped.broken_count > warned {
            tool.say(&format!("warning: ... and {} more executables", stripped.broken_count.saturating_sub(warned)));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::of(self.output.place()).format(self.format.format)
    }
}

impl Args {
    fn drops(&self, blob: &Blob<'_>) -> bool {
        self.drop.iter().any(|drop| self.drops_by(drop, blob))
    }

    /// Whether one `--drop` drops a blob.
    fn drops_by(&self, drop: &Drop, blob: &Blob<'_>) -> bool {
        drop.names(blob, self.ignore_case) && !self.keeps(&name_of(blob))
    }

    fn keeps(&self, name: &Text<'_>) -> bool {
        self.exclude.iter().any(|glob| glob.matches(&name.to_string_lossy(), self.ignore_case))
    }

    /// Whether one `--drop` drops anything.
    fn has_effect(&self, drop: &Drop, file: &File) -> bool {
        (drop.prefix && !file.prefix().is_empty()) || file.blobs().any(|blob| self.drops_by(drop, &blob))
    }

    /// Says which `--drop` names nothing. If none names anything, that is an error, because it is most likely a typing error.
    fn check_drops(&self, tool: &Tool, file: &File) -> Result<(), Error> {
        let in_vain = self.drop.iter().filter(|drop| !self.has_effect(drop, file));
        let in_vain: Vec<String> = in_vain.map(|drop| self.in_vain(drop)).collect();
        if in_vain.len() < self.drop.len() {
            in_vain.iter().for_each(|message| tool.say(message));
            return Ok(());
        }
        let message = in_vain.into_iter().next().unwrap_or_default();
        Err(Error::new(Code::NothingChosen, message).in_file(&self.file))
    }

    fn in_vain(&self, drop: &Drop) -> String {
        let but = if self.exclude.is_empty() { "" } else { " that --exclude does not keep" };
        format!("--drop {} matches nothing{but}", drop.text)
    }
}

/// Warns of parts that no longer work.
fn warn(tool: &Tool, broken: &Broken) {
    let name = popef_show::escape(&broken.executable.text().to_string_lossy()).into_owned();
    if broken.without_executable {
        tool.say(&format!("warning: executable \"{name}\" is dropped, but its metadata or opaque blobs stay; they cannot be loaded"));
    }
    if broken.without_metadata {
        tool.say(&format!("warning: the metadata of executable \"{name}\" is dropped; nothing can run it"));
    }
    if broken.inputs_without_data > 0 {
        let inputs = counted(broken.inputs_without_data, "input", "inputs");
        let names: Vec<_> = broken.inputs.iter().map(|name| popef_show::escape(&name.text().to_string_lossy()).into_owned()).collect();
        let more = if broken.inputs_without_data > 10 { ", ..." } else { "" };
        tool.say(&format!(
            "warning: {inputs} of executable \"{name}\" had data that is dropped; whoever runs it must provide it: {}{more}",
            names.join(", ")
        ));
    }
}

//! `popef hash`.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::TypedValueParser;
use popef_open::in_order;
use popef_ops::hash::{
    Algorithms, BlobHash, Digests, HashOptions, ManifestEntry, hash, hash_bytes, hash_path, sums_line,
};
use popef_ops::{Code, Error};
use popef_show::{Kind, Out, counted, size};

use super::Command;
use crate::common::end::{FAILED, unwritten};
use crate::common::filter::{Filter, type_name};
use crate::common::format::{Format, FormatArgs, json_line};
use crate::common::input::{Inputs, open_whole};
use crate::common::tool::{Tool, Watch};
use crate::common::values::named;

const AFTER: &str = "Examples:
  popef hash model.popef                   # what the model and each blob mean
  popef hash --format json --whole *.popef > models.manifest
  popef verify models.manifest             # whether they still are what they were
  popef hash --sums *.popef > SHA256SUMS   # exactly what sha256sum prints";

/// Compute digests of files, blobs and contents
///
/// The digest of a content does not depend on order, compression, versions, and bytes behind tensors: two files with the same
/// are the same for popef diff.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    filter: Filter,
    /// sha256, blake3 or both
    #[arg(short, long, value_name = "NAME", value_parser = algorithm(), default_value = "sha256", hide_possible_values = true, help_heading = "Digests")]
    algorithm: Algorithms,
    /// Also compute the digest of each whole file
    #[arg(long, help_heading = "Digests")]
    whole: bool,
    /// Show digests of data as it is stored, and not of what it means; the JSON has both
    #[arg(long, help_heading = "Digests")]
    data: bool,
    /// Print only lines as sha256sum or b3sum do, of any files
    #[arg(long, conflicts_with_all = ["whole", "data", "format", "types", "filter", "exclude"], help_heading = "Output")]
    sums: bool,
    #[command(flatten)]
    format: FormatArgs,
}

fn algorithm() -> impl TypedValueParser<Value = Algorithms> {
    named([Algorithms::SHA256, Algorithms::BLAKE3, Algorithms::BOTH], name_of_algorithm)
}

pub(super) fn one_algorithm() -> impl TypedValueParser<Value = Algorithms> {
    named([Algorithms::SHA256, Algorithms::BLAKE3], name_of_algorithm)
}

fn name_of_algorithm(algorithms: &Algorithms) -> &'static str {
    match *algorithms {
        Algorithms::SHA256 => "sha256",
        Algorithms::BLAKE3 => "blake3",
        _ => "both",
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.sums && self.algorithm == Algorithms::BOTH {
            return Err(Error::new(
                Code::WrongArguments,
                "lines of sums cannot say which algorithm is meant; choose one",
            ));
        }
        let watch = tool.progress("hashing");
        let mut out = tool.out();
        let status = if self.sums {
            self.write_sums(tool, &mut out, &watch)
        } else {
            self.write_hashes(tool, &mut out, &watch)
        }?;
        drop(watch);
        out.send().map_err(unwritten)?;
        Ok(status)
    }
}

impl Args {
    /// Several files at once, and each result in its turn. What cannot be read is complained of, and the others go on.
    fn each<T: Send>(
        &self,
        tool: &Tool,
        make: impl Fn(&Path) -> Result<T, Error> + Sync,
        mut take: impl FnMut(&Path, T) -> Result<bool, Error>,
    ) -> Result<ExitCode, Error> {
        let paths = self.inputs.paths()?;
        let mut paths_left = paths.iter();
        let (mut all_well, mut failure) = (true, None);
        let make = |index: usize| paths.get(index).map(|path| make(path));
        in_order(paths.len(), AHEAD, make, |made| {
            let (Some(path), Some(made)) = (paths_left.next(), made) else { return ControlFlow::Break(()) };
            match made.and_then(|made| take(path, made)) {
                Ok(well) => all_well &= well,
                Err(error) if is_of_input(&error) => {
                    tool.say(&format!("{error} [{}]", error.code()));
                    all_well = false;
                }
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        failure.map_or(Ok(ExitCode::from(if all_well { 0 } else { FAILED })), Err)
    }

    fn write_sums(&self, tool: &Tool, out: &mut Out, watch: &Watch) -> Result<ExitCode, Error> {
        let make = |path: &Path| match path.as_os_str() == "-" {
            true => hash_bytes(&mut io::stdin().lock(), self.algorithm, watch),
            false => hash_path(path, self.algorithm, watch),
        };
        self.each(tool, make, |path, digests| {
            for (_, digest) in digests.named() {
                out.write_all(&sums_line(digest, path.as_os_str().as_encoded_bytes())).map_err(unwritten)?;
            }
            Ok(true)
        })
    }

    fn write_hashes(&self, tool: &Tool, out: &mut Out, watch: &Watch) -> Result<ExitCode, Error> {
        let is_text = self.format.format == Format::Text;
        let options = HashOptions {
            algorithms: self.algorithm,
            whole: self.whole,
            data: self.data || !is_text,
            content: !self.data || !is_text,
        };
        let chosen = |blob: &popef::Blob<'_>| self.filter.takes(blob);
        let make = |path: &Path| {
            let file = open_whole(path)?;
            let entry = ManifestEntry::new(path, hash(&file, &options, &chosen, watch)?);
            // A file that was changed between two blobs has no digests.
            file.check_unchanged()?;
            Ok(entry)
        };
        let mut separator = "";
        if self.format.format == Format::Json {
            out.put("{\"schemaVersion\":1,\"files\":[\n");
        }
        let status = self.each(tool, make, |_, entry| {
            match self.format.format {
                Format::Text => self.write_text(out, &entry),
                Format::Json => {
                    out.put(separator);
                    separator = ",";
                    popef_show::json_line(out, &entry)
                }
                Format::Ndjson => json_line(out, "file", &entry),
            }
            .map_err(unwritten)?;
            let wrong = entry.hash.blobs.iter().filter_map(|blob| Some((blob, blob.error.as_ref()?)));
            let mut all_well = true;
            for (blob, error) in wrong {
                all_well = false;
                let what = format!("{} \"{}\" has no digest of its content", type_name(blob.blob_type), blob.name);
                tool.say(&format!("{}: {what}: {} [{}]", entry.path, error.message, error.code.as_str()));
            }
            Ok(all_well)
        })?;
        if self.format.format == Format::Json {
            out.put("]}").end_line().map_err(unwritten)?;
        }
        Ok(status)
    }

    fn write_text(&self, out: &mut Out, entry: &ManifestEntry) -> io::Result<()> {
        let hash = &entry.hash;
        out.text(Kind::Group, entry.path.text());
        out.put(&format!("  {}, {}", size(hash.size), counted(hash.blobs.len(), "blob", "blobs"))).end_line()?;
        self.line(out, &hash.whole, |out| _ = out.put("whole file"))?;
        if let Some(prefix) = &hash.prefix {
            self.line(out, &prefix.data, |out| _ = out.put("what comes before PopEF"))?;
        }
        self.line(out, &hash.content, |out| _ = out.put("content of all blobs"))?;
        for blob in &hash.blobs {
            let digests = if self.data { &blob.data } else { &blob.content };
            if digests.is_empty() {
                out.put(&format!("{:<64}  ", "none"));
                name_of(out, blob);
                out.end_line()?;
            }
            self.line(out, digests, |out| name_of(out, blob))?;
        }
        Ok(())
    }

    /// A line for each digest, if there are any.
    fn line(&self, out: &mut Out, digests: &Digests, name: impl Fn(&mut Out)) -> io::Result<()> {
        for (algorithm, digest) in digests.named() {
            if self.algorithm == Algorithms::BOTH {
                out.put(algorithm).put("  ");
            }
            out.put_as(Kind::Number, &digest.to_string()).put("  ");
            name(out);
            out.end_line()?;
        }
        Ok(())
    }
}

fn name_of(out: &mut Out, blob: &BlobHash) {
    out.put_as(Kind::Type, &format!("{:<10}", type_name(blob.blob_type))).put("  ");
    out.quoted(Kind::Name, blob.name.text());
}

/// How many files are hashed ahead of what is printed.
pub(super) const AHEAD: usize = 16;

/// Whether it is an error of one of the files, and not of writing or a stop.
fn is_of_input(error: &Error) -> bool {
    !error.is_stop() && error.path().is_some()
}

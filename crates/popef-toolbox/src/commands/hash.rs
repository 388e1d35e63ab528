//! `popef hash`.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::TypedValueParser;
use popef::error::ErrorCode;
use popef::File;
use popef_cli::end::{FAILED, unwritten};
use popef_cli::filter::{Filter, type_name};
use popef_cli::format::{Format, FormatArgs, end_of_files};
use popef_cli::input::{Inputs, open_whole};
use popef_cli::common::Common;
use popef_cli::signals::{UntilStopped, is_stopped};
use popef_cli::tool::{Tool, Watch, described};
use popef_cli::values::named;
use popef_open::is_elsewhere;
use popef_ops::hash::{
    Algorithms, BlobHash, Digests, HashOptions, hash, hash_bytes, hash_path, sums_line,
};
use popef_ops::{Code, Error, FilePath};
use popef_show::operations::HashRenderer;
use popef_show::{Out, Shown, counted, escape};

use super::Command;
use crate::common::in_turn::{Voice, in_turn};

const AFTER: &str = "Examples:
  popef hash model.popef                   # what the model and each blob mean
  popef hash --format json *.popef > models.manifest
  popef verify models.manifest             # whether they still are what they were
  popef hash --sums *.popef > SHA256SUMS   # exactly what sha256sum prints";

/// Compute digests of files, blobs and contents
///
/// A content digest does not depend on order, compression, versions, and bytes after tensors: files with the same content
/// digest are the same for popef diff.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef hash [OPTIONS] <FILE>...", after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    filter: Filter,
    /// sha256, blake3 or both
    #[arg(long, value_name = "NAME", value_parser = algorithm(), default_value = "sha256", hide_possible_values = true, help_heading = "Digests")]
    algorithm: Algorithms,
    /// Also compute the digest of each whole file
    #[arg(long, help_heading = "Digests")]
    whole: bool,
    /// Show digests of data as it is stored, and not of its content; the JSON has both
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
        let any_chosen = AtomicBool::new(self.sums || self.filter.is_everything());
        let paths = self.inputs.paths()?;
        let status = self.hash(tool, &paths, &mut out, &any_chosen, &watch)?;
        drop(watch);
        out.send().map_err(unwritten)?;
        if any_chosen.into_inner() { Ok(ExitCode::from(status)) } else { Err(self.filter.nothing_chosen(&paths)) }
    }

    fn common(&self) -> Common<'_> {
        Common::NONE.format(self.format.format).lists()
    }
}

/// The digests of all bytes on standard input.
fn hash_stdin(algorithms: Algorithms, watch: &Watch) -> Result<Digests, Error> {
    let hashed = hash_bytes(&mut UntilStopped(io::stdin().lock()), algorithms, watch);
    hashed.map_err(|error| if is_stopped() { Error::new(ErrorCode::Stopped, "the work was stopped") } else { error })
}

/// The digests of all bytes of a file. On another machine it must be a PopEF file. A folder is refused as in other commands.
pub(super) fn whole_digests(tool: &Tool, path: &Path, algorithms: Algorithms, watch: &Watch) -> Result<Digests, Error> {
    if !is_elsewhere(path) && !path.is_dir() {
        return hash_path(path, algorithms, watch);
    }
    let options = HashOptions { algorithms, whole: true, data: false, content: false, headers: false, select: &|_| false };
    let file = open_whole(tool, path)?;
    let hashed = hash(&file, &options, watch, &mut |_| Ok(())).map_err(|error| error.in_file(path))?;
    file.check_unchanged()?;
    Ok(hashed.whole)
}

impl Args {
    /// Hashes several files at once. Returns the exit status.
    fn hash(&self, tool: &Tool, paths: &[PathBuf], out: &mut Out, any_chosen: &AtomicBool, watch: &Watch) -> Result<u8, Error> {
        let work = |index: usize, voice: &mut Voice<'_>| {
            let Some(path) = paths.get(index) else { return Ok(0) };
            match self.sums {
                true => self.write_sums(path, voice, watch),
                false => self.write_hashes(index, path, voice, &|file| self.check_choice(file, paths, any_chosen), watch),
            }
        };
        let is_document = !self.sums && self.format.format == Format::Json;
        if is_document {
            out.put("{\"schemaVersion\":1,\"files\":[\n");
        }
        let status = in_turn(tool, out, paths.len(), work)?;
        if is_document {
            end_of_files(out).map_err(unwritten)?;
        }
        Ok(status)
    }

    fn write_sums(&self, path: &Path, voice: &mut Voice<'_>, watch: &Watch) -> Result<u8, Error> {
        let digests = match path.as_os_str() == "-" {
            true => hash_stdin(self.algorithm, watch).map_err(|error| error.in_file(path)),
            false => whole_digests(voice.tool, path, self.algorithm, watch),
        };
        match digests {
            Ok(digests) => {
                for (_, digest) in digests.named() {
                    let line = sums_line(digest, path.as_os_str().as_encoded_bytes());
                    match io::stdout().is_terminal() {
                        // Programs that check sums need unchanged names. People at a terminal need harmless ones.
                        true => voice.out.put(Shown::message(String::from_utf8_lossy(&line).trim_end_matches('\n'))).end_line(),
                        false => voice.out.pass_on(&line),
                    }
                    .map_err(unwritten)?;
                }
                Ok(0)
            }
            Err(error) if is_of_input(&error) => voice.complain(&error).map(|()| FAILED),
            Err(error) => Err(error),
        }
    }

    /// Writes the digests of a file and its blobs. A file that cannot be read is reported, and the others go on.
    fn write_hashes(
        &self,
        index: usize,
        path: &Path,
        voice: &mut Voice<'_>,
        check: &dyn Fn(&File) -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<u8, Error> {
        let mut report = HashRenderer::begin(voice.out, index, path, self.format.format).map_err(unwritten)?;
        report.shows_data = self.data;
        report.names_algorithms = self.algorithm == Algorithms::BOTH;
        let mut damaged = Damaged { count: 0 };
        let is_text = self.format.format == Format::Text;
        let options = HashOptions {
            algorithms: self.algorithm,
            whole: self.whole,
            data: self.data || !is_text,
            content: !self.data || !is_text,
            headers: !is_text,
            select: &|blob| self.filter.takes(blob),
        };
        let hashed = open_whole(voice.tool, path).and_then(|file| {
            check(&file)?;
            let blobs = file.blobs().filter(|blob| self.filter.takes(blob)).count();
            report.opened(voice.out, file.size(), blobs).map_err(unwritten)?;
            let hashed = hash(&file, &options, watch, &mut |blob| {
                report.blob(voice.out, &blob).map_err(unwritten)?;
                damaged.blob(voice, report.path(), &blob)
            })?;
            // A file that was changed between two blobs has no digests.
            file.check_unchanged()?;
            Ok(hashed)
        });
        match hashed {
            Ok(hashed) => {
                let status = damaged.end(voice, report.path())?;
                report.end(voice.out, &hashed).map_err(unwritten)?;
                Ok(status)
            }
            Err(error) if is_of_input(&error) => {
                report.failed(voice.out, described(&error)).map_err(unwritten)?;
                voice.complain(&error)?;
                Ok(FAILED)
            }
            Err(error) => Err(error),
        }
    }

    /// Fails if no blob of the only file is chosen. Among several files, one with chosen blobs is enough.
    fn check_choice(&self, file: &File, paths: &[PathBuf], any_chosen: &AtomicBool) -> Result<(), Error> {
        match self.filter.check([file], paths) {
            Ok(()) => any_chosen.store(true, Ordering::Relaxed),
            Err(error) if paths.len() == 1 => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }
}

/// Whether an error is about one of the inputs, and not about writing or a stop.
fn is_of_input(error: &Error) -> bool {
    let is_of_filter = error.code() == Code::NothingChosen.as_str();
    !error.is_stop() && !is_of_filter && error.path().is_some()
}

/// Reports damaged blobs of a file.
struct Damaged {
    count: usize,
}

/// The maximum number of damaged blobs of a file that are reported as text.
const MOST_DAMAGED: usize = 20;

impl Damaged {
    fn blob(&mut self, voice: &mut Voice<'_>, path: &FilePath, blob: &BlobHash) -> Result<(), Error> {
        let Some(error) = &blob.error else { return Ok(()) };
        self.count = self.count.saturating_add(1);
        if self.count > MOST_DAMAGED {
            return Ok(());
        }
        let what = format!("{} \"{}\" has no digest of its content", type_name(blob.blob_type), escape(&blob.name.to_string()));
        voice.say(format!("{path}: {what}: {} [{}]", error.message, error.code))
    }

    /// Returns the exit status, which is a failure if anything is damaged.
    fn end(self, voice: &mut Voice<'_>, path: &FilePath) -> Result<u8, Error> {
        if let Some(more @ 1..) = self.count.checked_sub(MOST_DAMAGED) {
            voice.say(format!("{path}: {} have no digest of their content either", counted(more, "blob", "blobs")))?;
        }
        Ok(if self.count == 0 { 0 } else { FAILED })
    }
}

//! `popef hash`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::TypedValueParser;
use popef::File;
use popef_open::is_elsewhere;
use popef_ops::hash::{
    Algorithms, BlobHash, Digests, FileHash, HashOptions, ManifestLine, PrefixHash, hash, hash_bytes, hash_path, sums_line,
};
use popef_ops::{Code, Error, ErrorReport, FilePath, InFile};
use popef_show::{Kind, Out, counted, escape, escape_rest, size};
use serde::Serialize;
use popef_cli::plain::Place;
use popef_cli::end::{FAILED, unwritten};
use popef_cli::filter::{Filter, type_name};
use popef_cli::format::{Format, FormatArgs, LongObject, end_of_files, json_line};
use popef_cli::input::{Inputs, open_whole};
use popef_cli::tool::{Tool, Watch, described};
use popef_cli::values::{named};

use super::Command;
use crate::common::in_turn::{Voice, in_turn};

const AFTER: &str = "Examples:
  popef hash model.popef                   # what the model and each blob mean
  popef hash --format json *.popef > models.manifest
  popef verify models.manifest             # whether they still are what they were
  popef hash --sums *.popef > SHA256SUMS   # exactly what sha256sum prints";

/// Compute digests of files, blobs and contents
///
/// The digest of a content does not depend on order, compression, versions, and bytes behind tensors: two files with the same
/// are the same for popef diff.
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
        let any_chosen = AtomicBool::new(self.sums || self.filter.is_everything());
        let paths = self.inputs.paths()?;
        let status = self.hash(tool, &paths, &mut out, &any_chosen, &watch)?;
        drop(watch);
        out.send().map_err(unwritten)?;
        match any_chosen.into_inner() {
            true => Ok(ExitCode::from(status)),
            false => Err(self.filter.nothing_chosen(&paths)),
        }
    }

    fn output(&self) -> Place<'_> {
        Place::NONE
    }

    fn format(&self) -> Option<Format> {
        Some(self.format.format)
    }

    fn takes_lists(&self) -> bool {
        true
    }
}

/// The digests of all bytes of a file. On another machine it must be a PopEF file.
pub(super) fn whole_digests(tool: &Tool, path: &Path, algorithms: Algorithms, watch: &Watch) -> Result<Digests, Error> {
    if !is_elsewhere(path) {
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
            true => hash_bytes(&mut io::stdin().lock(), self.algorithm, watch).map_err(|error| error.in_file(path)),
            false => whole_digests(voice.tool, path, self.algorithm, watch),
        };
        match digests {
            Ok(digests) => {
                for (_, digest) in digests.named() {
                    let line = sums_line(digest, path.as_os_str().as_encoded_bytes());
                    match io::stdout().is_terminal() {
                        // Programs that check sums need names as they are. People who look at them need names that do nothing.
                        true => voice.out.put(&escape_rest(String::from_utf8_lossy(&line).trim_end_matches('\n'))).end_line(),
                        false => voice.out.write_all(&line),
                    }
                    .map_err(unwritten)?;
                }
                Ok(0)
            }
            Err(error) if is_of_input(&error) => voice.complain(&error).map(|()| FAILED),
            Err(error) => Err(error),
        }
    }

    /// Writes the digests of a file and its blobs. If the file cannot be read, that is said, and the others go on.
    fn write_hashes(
        &self,
        index: usize,
        path: &Path,
        voice: &mut Voice<'_>,
        check: &dyn Fn(&File) -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<u8, Error> {
        let mut report = Report::begin(self, index, path, voice.out).map_err(unwritten)?;
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
            report.opened(voice.out, &file).map_err(unwritten)?;
            let hashed = hash(&file, &options, watch, &mut |blob| report.blob(voice, &blob))?;
            // A file that was changed between two blobs has no digests.
            file.check_unchanged()?;
            Ok(hashed)
        });
        match hashed {
            Ok(hashed) => report.end(voice, &hashed),
            Err(error) if is_of_input(&error) => {
                report.failed(voice.out, &error).map_err(unwritten)?;
                voice.complain(&error)?;
                Ok(FAILED)
            }
            Err(error) => Err(error),
        }
    }

    /// Fails if no blob of the only file is chosen. Of several files, only one must have such blobs.
    fn check_choice(&self, file: &File, paths: &[PathBuf], any_chosen: &AtomicBool) -> Result<(), Error> {
        match self.filter.check([file], paths) {
            Ok(()) => any_chosen.store(true, Ordering::Relaxed),
            Err(error) if paths.len() == 1 => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }
}

/// Whether it is an error of one of the files, and not of writing or a stop.
fn is_of_input(error: &Error) -> bool {
    let is_of_filter = error.code() == Code::NothingChosen.as_str();
    !error.is_stop() && !is_of_filter && error.path().is_some()
}

/// What is written about a file.
struct Report<'a> {
    args: &'a Args,
    path: FilePath,
    in_file: InFile,
    document: Option<LongObject>,
    damaged: usize,
}

/// How many damaged blobs of a file people are told of.
const MOST_DAMAGED: usize = 20;

impl<'a> Report<'a> {
    fn begin(args: &'a Args, index: usize, path: &Path, out: &mut Out) -> io::Result<Self> {
        let (path, in_file) = (FilePath::from(path), InFile::from(path));
        let document = match args.format.format {
            Format::Json => {
                out.put(if index == 0 { "" } else { "," });
                Some(LongObject::begin(out, &path, "blobs")?)
            }
            Format::Text | Format::Ndjson => None,
        };
        Ok(Report { args, path, in_file, document, damaged: 0 })
    }

    fn opened(&self, out: &mut Out, file: &File) -> io::Result<()> {
        if self.args.format.format != Format::Text {
            return Ok(());
        }
        let blobs = file.blobs().filter(|blob| self.args.filter.takes(blob)).count();
        out.text(Kind::Group, self.path.text());
        out.put(&format!("  {}, {}", size(file.size()), counted(blobs, "blob", "blobs"))).end_line()
    }

    fn blob(&mut self, voice: &mut Voice<'_>, blob: &BlobHash) -> Result<(), Error> {
        match (self.args.format.format, &mut self.document) {
            (Format::Text, _) => self.args.write_blob(voice.out, blob),
            (Format::Json, Some(document)) => document.element(voice.out, blob),
            _ => popef_show::json_line(voice.out, &ManifestLine::Blob { file: &self.in_file, blob }),
        }
        .map_err(unwritten)?;
        let Some(error) = &blob.error else { return Ok(()) };
        self.damaged = self.damaged.saturating_add(1);
        if self.damaged > MOST_DAMAGED {
            return Ok(());
        }
        let what = format!("{} \"{}\" has no digest of its content", type_name(blob.blob_type), escape(&blob.name.to_string()));
        voice.say(format!("{}: {what}: {} [{}]", self.path, error.message, error.code.as_str()))
    }

    /// Writes what is known of the whole file. Returns the exit status: it is a failure if anything is damaged.
    fn end(self, voice: &mut Voice<'_>, hash: &FileHash) -> Result<u8, Error> {
        if let Some(more @ 1..) = self.damaged.checked_sub(MOST_DAMAGED) {
            voice.say(format!("{}: {} have no digest of their content either", self.path, counted(more, "blob", "blobs")))?;
        }
        let status = if self.damaged == 0 { 0 } else { FAILED };
        match self.args.format.format {
            Format::Text => self.args.write_sums_of(voice.out, hash),
            _ => self.write_members(voice.out, FileMembers::of(hash)),
        }
        .map_err(unwritten)?;
        Ok(status)
    }

    fn failed(self, out: &mut Out, error: &Error) -> io::Result<()> {
        match self.args.format.format {
            Format::Text => Ok(()),
            _ => self.write_members(out, FileMembers { error: Some(described(error)), ..FileMembers::default() }),
        }
    }

    fn write_members(self, out: &mut Out, members: FileMembers) -> io::Result<()> {
        match self.document {
            // The list of blobs stands in the place of their number.
            Some(document) => document.end(out, &FileMembers { blobs: None, ..members }),
            None => json_line(out, "file", &FileLine { path: &self.path, members }),
        }
    }
}

#[derive(Serialize)]
struct FileLine<'f> {
    #[serde(flatten)]
    path: &'f FilePath,
    #[serde(flatten)]
    members: FileMembers,
}

/// What is known of a file as a whole.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileMembers {
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blobs: Option<u64>,
    damaged: u64,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<PrefixHash>,
    #[serde(skip_serializing_if = "Digests::is_empty")]
    content: Digests,
    #[serde(skip_serializing_if = "Digests::is_empty")]
    headers: Digests,
    #[serde(skip_serializing_if = "Digests::is_empty")]
    whole: Digests,
    error: Option<ErrorReport>,
}

impl FileMembers {
    fn of(hash: &FileHash) -> Self {
        let &FileHash { size, blobs, damaged, complete, prefix, content, headers, whole, .. } = hash;
        FileMembers { size: Some(size), blobs: Some(blobs), damaged, complete, prefix, content, headers, whole, error: None }
    }
}

/// The report for people.
impl Args {
    fn write_blob(&self, out: &mut Out, blob: &BlobHash) -> io::Result<()> {
        let digests = if self.data { &blob.data } else { &blob.content };
        if digests.is_empty() {
            out.put(&format!("{:<64}  ", "none"));
            name_of(out, blob);
            out.end_line()?;
        }
        self.line(out, digests, |out| name_of(out, blob))
    }

    fn write_sums_of(&self, out: &mut Out, hash: &FileHash) -> io::Result<()> {
        if let Some(prefix) = &hash.prefix {
            self.line(out, &prefix.data, |out| _ = out.put("what comes before PopEF"))?;
        }
        self.line(out, &hash.content, |out| _ = out.put("content of all blobs"))?;
        self.line(out, &hash.whole, |out| _ = out.put("whole file"))
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

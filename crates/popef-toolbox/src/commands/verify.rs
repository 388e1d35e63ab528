//! `popef verify`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use popef::error::ErrorCode;
use popef::types::Text;
use popef_cli::end::{FAILED, NO, unwritten};
use popef_cli::filter::Filter;
use popef_cli::format::{Format, FormatArgs, end_of_files};
use popef_cli::input::open_whole;
use popef_cli::common::Common;
use popef_cli::tool::{Tool, Watch, described};
use popef_cli::values::path;
use popef_open::{is_elsewhere, open_plain, path_of};
use popef_ops::hash::{
    Algorithms, Manifest, ManifestEntry, SelectNamed, SumsLine, Verification, VerifyOptions, WrongBlob, verify,
};
use popef_ops::{Code, Error, FilePath};
use popef_show::Out;
use popef_show::operations::{FileOutcome as Outcome, FileStatus as Status, VerifyRenderer};

use super::Command;
use super::hash::{one_algorithm, whole_digests};
use crate::common::in_turn::{Voice, in_turn};

const AFTER: &str = "Examples:
  popef hash --format json *.popef > models.manifest
  popef verify models.manifest
  popef verify models.manifest model.popef                   # only this one of them
  popef hash --format json model.popef > model.manifest
  popef verify --content model.manifest compressed.popef     # one entry, so under any name
  popef verify models.manifest --type tensor                 # only the tensors
  popef verify SHA256SUMS                                    # lines of sha256sum";

/// Compare files with their manifest
///
/// MANIFEST is the JSON of popef hash, or lines of sha256sum or b3sum. The paths in it are relative to the working folder, as for
/// sha256sum -c. If blobs are chosen with --type, --filter or --exclude, only these are compared, and nothing of a file as a whole.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The manifest; `-` is standard input
    #[arg(value_name = "MANIFEST", value_parser = path())]
    manifest: PathBuf,
    /// Only these files. If the manifest has one entry, FILE may have any name
    #[arg(value_name = "FILE", value_parser = path())]
    files: Vec<PathBuf>,
    /// Compare only contents: compression, order and versions may differ
    #[arg(long, help_heading = "Digests")]
    content: bool,
    /// sha256 or blake3: what the lines of MANIFEST are, if it is not JSON; without it, either fits
    #[arg(long, value_name = "NAME", value_parser = one_algorithm(), hide_possible_values = true, help_heading = "Digests")]
    algorithm: Option<Algorithms>,
    #[command(flatten)]
    filter: Filter,
    /// Print only what is wrong
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// A file, and the entry that it is compared with.
struct Job<'m> {
    path: PathBuf,
    shown: FilePath,
    kept: Kept<'m>,
}

#[derive(Clone, Copy)]
enum Kept<'m> {
    Entry(&'m ManifestEntry),
    Line(&'m SumsLine),
}

impl Job<'_> {
    /// The parts that were not compared, of a file whose compared parts are the same.
    fn uncompared(&self, found: &Verification) -> Option<&'static str> {
        let Kept::Entry(entry) = self.kept else { return None };
        match found.whole {
            // The report says which blobs were chosen.
            None if found.chosen.is_some() => None,
            Some(_) => None,
            None if !entry.complete => Some("only chosen blobs were compared: the manifest has no others"),
            None if !entry.headers.is_empty() => {
                Some("bytes after tensors and how executables are stored were not compared: the manifest has no digests of blobs")
            }
            None => Some("headers, versions and order were not compared: the manifest has no digest of them"),
        }
    }
}

fn exit(status: Status) -> u8 {
    match status {
        Status::Same | Status::NothingChosen => 0,
        Status::Different | Status::Missing | Status::Damaged => NO,
        Status::Unreadable => FAILED,
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.files.iter().chain([&self.manifest]).filter(|path| path.as_os_str() == "-").nth(1).is_some() {
            return Err(Error::new(Code::WrongArguments, "standard input (-) can be read only once"));
        }
        let manifest = self.read_manifest()?;
        let jobs = self.jobs(&manifest)?;
        let any_chosen = AtomicBool::new(false);
        let status = self.verify_all(tool, &jobs, &any_chosen)?;
        if !self.filter.is_everything() && !any_chosen.into_inner() {
            let paths: Vec<_> = jobs.iter().map(|job| &job.path).collect();
            return Err(self.filter.nothing_chosen(&paths));
        }
        Ok(ExitCode::from(status))
    }

    fn common(&self) -> Common<'_> {
        Common::NONE.format(self.format.format)
    }
}

impl Args {
    /// Compares all files, and writes the outcomes. Returns the worst of the exit statuses. `any_chosen` becomes true if a blob was
    /// chosen, or a file could not be compared and may have one.
    fn verify_all(&self, tool: &Tool, jobs: &[Job<'_>], any_chosen: &AtomicBool) -> Result<u8, Error> {
        let watch = tool.progress("verifying");
        let mut out = tool.out();
        if self.format.format == Format::Json {
            out.put("{\"schemaVersion\":1,\"files\":[\n");
        }
        let work = |index: usize, voice: &mut Voice<'_>| match jobs.get(index) {
            Some(job) => self.verify(tool, index, job, voice.out, &watch).map(|outcome| {
                any_chosen.fetch_or(outcome.status != Status::NothingChosen, Ordering::Relaxed);
                exit(outcome.status)
            }),
            None => Ok(0),
        };
        let worst = in_turn(tool, &mut out, jobs.len(), work)?;
        if self.format.format == Format::Json {
            end_of_files(&mut out).map_err(unwritten)?;
        }
        drop(watch);
        out.send().map_err(unwritten)?;
        Ok(worst)
    }

    /// Opens the manifest. A pipe is copied first.
    fn read_manifest(&self) -> Result<Manifest, Error> {
        let path = self.manifest.as_path();
        check_here(path)?;
        let is_pipe = fs::metadata(path).is_ok_and(|found| !found.is_file());
        match path.as_os_str() == "-" {
            true => Manifest::read(&mut io::stdin().lock()),
            false if is_pipe => open_plain(path)
                .map_err(|error| Error::io("open the manifest", error))
                .and_then(|mut pipe| Manifest::read(&mut pipe)),
            false => Manifest::open(path),
        }
        .map_err(|error| error.in_file(path))
    }

    /// The files to compare, each with its entry.
    fn jobs<'m>(&self, manifest: &'m Manifest) -> Result<Vec<Job<'m>>, Error> {
        let kept: Vec<(&FilePath, Kept<'m>)> = match manifest {
            Manifest::Entries(entries) => entries.iter().map(|entry| (&entry.path, Kept::Entry(entry))).collect(),
            Manifest::Sums(_) if !self.filter.is_everything() => {
                let message = "lines of sums have no digests of blobs, so none can be chosen; popef hash --format json makes a manifest that has them";
                return Err(Error::new(Code::WrongArguments, message).in_file(&self.manifest));
            }
            Manifest::Sums(lines) if self.content => {
                let message = format!(
                    "lines of sums have no digests of the content of {} files; popef hash --format json makes a manifest that has them",
                    lines.len()
                );
                return Err(Error::new(Code::WrongArguments, message).in_file(&self.manifest));
            }
            Manifest::Sums(lines) => lines.iter().map(|line| (&line.path, Kept::Line(line))).collect(),
            _ => Vec::new(),
        };
        match (self.files.as_slice(), kept.as_slice()) {
            (_, []) => Err(Error::new(Code::BadManifest, "the manifest names no files").in_file(&self.manifest)),
            ([], _) => kept.into_iter().map(|(path, kept)| job(path, kept)).collect(),
            ([file], [(_, kept)]) => Ok(vec![Job { path: file.clone(), shown: file.as_path().into(), kept: *kept }]),
            (files, _) => named(files, kept),
        }
    }

    /// Compares a file, and writes the outcome. Only a stop or a failure to write ends the work.
    fn verify(&self, tool: &Tool, index: usize, job: &Job<'_>, out: &mut Out, watch: &Watch) -> Result<Outcome, Error> {
        let (format, quiet) = (self.format.format, self.quiet);
        let mut report =
            VerifyRenderer::begin(out, index, &job.path, &job.shown, format, quiet).map_err(unwritten)?;
        let mut unwritable = None;
        let compared = self.compare(tool, job, watch, &mut |blob| {
            report.blob(out, blob).map_err(|error| {
                unwritable = Some(unwritten(error));
                Error::new(ErrorCode::Stopped, "the report cannot be written")
            })
        });
        if let Some(error) = unwritable {
            return Err(error);
        }
        let outcome = match compared {
            Ok((same, verification)) => {
                let has_chosen = verification.is_none_or(|found| found.chosen != Some(0));
                let same_status = if has_chosen { Status::Same } else { Status::NothingChosen };
                let status = if same { same_status } else { Status::Different };
                let is_asked = same && !self.content;
                let uncompared = verification.as_ref().filter(|_| is_asked).and_then(|found| job.uncompared(found));
                Outcome { status, verification, error: None, words: None, uncompared }
            }
            Err(error) if error.is_stop() => return Err(error),
            Err(error) => {
                let (status, error) = (status_of(&error), described(&error));
                // The path is shown already.
                let words = Some(error.to_string());
                Outcome { status, verification: None, error: Some(error), words, uncompared: None }
            }
        };
        report.end(out, &outcome).map_err(unwritten)?;
        Ok(outcome)
    }

    fn compare(
        &self,
        tool: &Tool,
        job: &Job<'_>,
        watch: &Watch,
        each: &mut dyn FnMut(WrongBlob) -> Result<(), Error>,
    ) -> Result<(bool, Option<Verification>), Error> {
        if self.files.is_empty() {
            check_regular(&job.path)?;
        }
        match job.kept {
            Kept::Line(line) => Ok((self.fits(tool, line, &job.path, watch)?, None)),
            Kept::Entry(entry) => {
                let file = open_whole(tool, &job.path)?;
                let select = |blob_type, name: &Text<'_>| self.filter.takes_named(blob_type, name);
                let select = if self.filter.is_everything() { None } else { Some(&select as SelectNamed<'_>) };
                let options = VerifyOptions { only_content: self.content, select };
                let verification = verify(&file, entry, &options, watch, each)?;
                file.check_unchanged()?;
                Ok((verification.ok, Some(verification)))
            }
        }
    }

    /// Whether a file has the digest of a line. The line does not name the algorithm, so both are tried: no other file has
    /// the same digest by either.
    fn fits(&self, tool: &Tool, line: &SumsLine, path: &Path, watch: &Watch) -> Result<bool, Error> {
        let fits_by = |algorithm| {
            let found = whole_digests(tool, path, algorithm, watch)?;
            Ok(found.named().any(|(_, digest)| digest == line.digest))
        };
        match self.algorithm {
            Some(algorithm) => fits_by(algorithm),
            None => Ok(fits_by(Algorithms::SHA256)? || fits_by(Algorithms::BLAKE3)?),
        }
    }
}

/// Fails if a file that is not PopEF is on another machine.
fn check_here(path: &Path) -> Result<(), Error> {
    if !is_elsewhere(path) {
        return Ok(());
    }
    let message = "only PopEF files are read from other machines; copy this file here first";
    Err(Error::new(Code::WrongArguments, message).in_file(path))
}

/// The named files, each with its entry in the manifest.
fn named<'m>(files: &[PathBuf], kept: Vec<(&FilePath, Kept<'m>)>) -> Result<Vec<Job<'m>>, Error> {
    let mut by_path = BTreeMap::new();
    for (path, kept) in kept {
        by_path.entry(FilePath::from(path_of_entry(path)?.as_path())).or_insert(kept);
    }
    let job = |file: &PathBuf| {
        let shown = FilePath::from(file.as_path());
        let Some(&kept) = by_path.get(&shown) else {
            let message = "the manifest does not name this file, and has not just one entry";
            return Err(Error::new(Code::WrongArguments, message).in_file(file));
        };
        Ok(Job { path: file.clone(), shown, kept })
    };
    files.iter().map(job).collect()
}

fn job<'m>(entry: &FilePath, kept: Kept<'m>) -> Result<Job<'m>, Error> {
    let path = path_of_entry(entry)?;
    Ok(Job { shown: path.as_path().into(), path, kept })
}

/// The path of an entry in a manifest. That of an address has no secrets.
fn path_of_entry(entry: &FilePath) -> Result<PathBuf, Error> {
    let unknown = || Error::new(Code::BadManifest, format!("this system has no paths like {entry}"));
    Ok(path_of(entry.to_path().ok_or_else(unknown)?.into()))
}

/// Fails if there is something else than a regular file. A manifest may come from anybody, and an endless device would fill the
/// memory.
fn check_regular(path: &Path) -> Result<(), Error> {
    if path.as_os_str() == "-" || fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let message = "it is not a regular file; name it on the command line to have it read";
        return Err(Error::new(Code::WrongArguments, message).in_file(path));
    }
    Ok(())
}

fn status_of(error: &Error) -> Status {
    use popef::error::ErrorKind;
    let is_missing = |error: &popef::Error| error.code() == ErrorCode::NotFound;
    // A changed byte may lead to any of these.
    let kinds = [ErrorKind::Damaged, ErrorKind::Unknown, ErrorKind::Limit];
    let is_damage = error.library().is_some_and(|error| kinds.contains(&error.kind()));
    match () {
        () if error.code() == ErrorCode::NotFound.as_str() || error.library().is_some_and(is_missing) => Status::Missing,
        () if error.kind() == ErrorKind::NotPopef || is_damage => Status::Damaged,
        () => Status::Unreadable,
    }
}

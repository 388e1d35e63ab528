//! `popef verify`.

use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef_open::in_order;
use popef_ops::hash::{
    Algorithms, BlobVerdict, Manifest, ManifestEntry, SumsLine, Verification, WrongBlob, hash_path, verify,
};
use popef_ops::{Code, Error, FilePath};
use popef_show::{Kind, Out};
use serde::Serialize;

use super::Command;
use super::hash::{AHEAD, one_algorithm};
use crate::common::end::{FAILED, NO, unwritten};
use crate::common::filter::type_name;
use crate::common::format::{Format, FormatArgs, json_line};
use crate::common::input::open_whole;
use crate::common::tool::{Tool, Watch};
use crate::common::values::path;

const AFTER: &str = "Examples:
  popef hash --format json --whole *.popef > models.manifest
  popef verify models.manifest
  popef verify --content models.manifest compressed.popef   # one file, whatever its name is
  popef verify SHA256SUMS                                    # lines of sha256sum

Exit status: 0 if all files are what they were, 1 if any is not or is missing, 2 if something could not be read.";

/// Compare files with a manifest of theirs
///
/// MANIFEST is the JSON of popef hash, or lines of sha256sum or b3sum. The paths in it are relative to the working folder, as for
/// sha256sum -c.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The manifest; `-` is standard input
    #[arg(value_name = "MANIFEST", value_parser = path())]
    manifest: PathBuf,
    /// Only these files. If the manifest has one entry, FILE may have any name
    #[arg(value_name = "FILE", value_parser = path())]
    files: Vec<PathBuf>,
    /// Compare only what files mean: compression, order and versions may differ
    #[arg(long, help_heading = "Digests")]
    content: bool,
    /// sha256 or blake3: what the lines of MANIFEST are, if it is not JSON
    #[arg(short, long, value_name = "NAME", value_parser = one_algorithm(), default_value = "sha256", hide_possible_values = true, help_heading = "Digests")]
    algorithm: Algorithms,
    /// Print only what is wrong
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// A file and what it is compared with.
struct Job<'m> {
    path: PathBuf,
    shown: FilePath,
    kept: Kept<'m>,
}

enum Kept<'m> {
    Entry(&'m ManifestEntry),
    Line(&'m SumsLine),
}

/// What became of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Verified {
    #[serde(flatten)]
    path: FilePath,
    status: Status,
    /// Why it could not be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(flatten)]
    verification: Option<Verification>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Status {
    Same,
    Different,
    Missing,
    /// It is no PopEF file any more, or only a part of one.
    Damaged,
    /// The system cannot read it, or the manifest does not fit.
    Unreadable,
}

impl Status {
    fn words(self) -> &'static str {
        match self {
            Status::Same => "OK",
            Status::Different => "FAILED",
            Status::Missing => "MISSING",
            Status::Damaged => "DAMAGED",
            Status::Unreadable => "UNREADABLE",
        }
    }

    fn exit(self) -> u8 {
        match self {
            Status::Same => 0,
            Status::Different | Status::Missing | Status::Damaged => NO,
            Status::Unreadable => FAILED,
        }
    }
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let manifest = self.read_manifest()?;
        let jobs = self.jobs(&manifest)?;
        let watch = tool.progress("verifying");
        let mut out = tool.out();
        if self.format.format == Format::Json {
            out.put("{\"schemaVersion\":1,\"files\":[\n");
        }
        let (mut worst, mut separator, mut failure) = (0, "", None);
        let make = |index: usize| jobs.get(index).map(|job| self.verified(job, &watch));
        in_order(jobs.len(), AHEAD, make, |made| {
            let written = made.map(|verified| {
                let verified = verified?;
                worst = worst.max(verified.status.exit());
                match self.format.format {
                    Format::Text => self.write_text(&mut out, &verified),
                    Format::Json => {
                        out.put(separator);
                        separator = ",";
                        popef_show::json_line(&mut out, &verified)
                    }
                    Format::Ndjson => json_line(&mut out, "file", &verified),
                }
                .map_err(unwritten)
            });
            match written {
                Some(Ok(())) => ControlFlow::Continue(()),
                other => {
                    failure = other.and_then(Result::err);
                    ControlFlow::Break(())
                }
            }
        });
        failure.map_or(Ok(()), Err)?;
        if self.format.format == Format::Json {
            out.put("]}").end_line().map_err(unwritten)?;
        }
        drop(watch);
        out.send().map_err(unwritten)?;
        Ok(ExitCode::from(worst))
    }
}

impl Args {
    fn read_manifest(&self) -> Result<Manifest, Error> {
        let cannot = |error| Error::io("open the manifest", error).in_file(&self.manifest);
        let mut from: Box<dyn Read> = match self.manifest.as_os_str() == "-" {
            true => Box::new(io::stdin().lock()),
            false => Box::new(fs::File::open(&self.manifest).map_err(cannot)?),
        };
        Manifest::read(&mut from).map_err(|error| error.in_file(&self.manifest))
    }

    /// What is to be compared with what.
    fn jobs<'m>(&self, manifest: &'m Manifest) -> Result<Vec<Job<'m>>, Error> {
        let kept: Vec<(&FilePath, Kept<'m>)> = match manifest {
            Manifest::Entries(entries) => entries.iter().map(|entry| (&entry.path, Kept::Entry(entry))).collect(),
            Manifest::Sums(lines) if self.content => {
                let message = format!("lines of sums have no digests of the content of {} files", lines.len());
                return Err(Error::new(Code::BadManifest, message).in_file(&self.manifest));
            }
            Manifest::Sums(lines) => lines.iter().map(|line| (&line.path, Kept::Line(line))).collect(),
            _ => Vec::new(),
        };
        if kept.is_empty() {
            return Err(Error::new(Code::BadManifest, "the manifest names no files").in_file(&self.manifest));
        }
        if self.files.is_empty() {
            return kept.into_iter().map(|(path, kept)| job(path, kept)).collect();
        }
        if let ([file], [_]) = (self.files.as_slice(), kept.as_slice()) {
            let renamed = |kept| Job { path: file.clone(), shown: file.as_path().into(), kept };
            return Ok(kept.into_iter().map(|(_, kept)| renamed(kept)).collect());
        }
        let mut jobs = Vec::new();
        for file in &self.files {
            let shown = FilePath::from(file.as_path());
            let Some((_, entry)) = kept.iter().find(|(path, _)| **path == shown) else {
                let message = "the manifest does not name this file, and has not just one entry";
                return Err(Error::new(Code::WrongArguments, message).in_file(file));
            };
            let kept = match entry {
                Kept::Entry(entry) => Kept::Entry(entry),
                Kept::Line(line) => Kept::Line(line),
            };
            jobs.push(Job { path: file.clone(), shown, kept });
        }
        Ok(jobs)
    }

    /// Compares a file. Only a stop ends the work.
    fn verified(&self, job: &Job<'_>, watch: &Watch) -> Result<Verified, Error> {
        let path = job.shown.clone();
        Ok(match self.compare(job, watch) {
            Ok((same, verification)) => {
                let status = if same { Status::Same } else { Status::Different };
                Verified { path, status, error: None, code: None, verification }
            }
            Err(error) if error.is_stop() => return Err(error),
            Err(error) => {
                let text = error.to_string();
                // The path is shown already.
                let reason = text.strip_prefix(&format!("{}: ", job.path.display())).unwrap_or(&text).to_owned();
                let status = status_of(&error);
                Verified { path, status, error: Some(reason), code: Some(error.code()), verification: None }
            }
        })
    }

    fn compare(&self, job: &Job<'_>, watch: &Watch) -> Result<(bool, Option<Verification>), Error> {
        match job.kept {
            Kept::Line(line) => {
                let found = hash_path(&job.path, self.algorithm, watch)?;
                Ok((found.named().all(|(_, digest)| digest == line.digest), None))
            }
            Kept::Entry(entry) => {
                let file = open_named(&job.path, self.files.is_empty())?;
                let verification = verify(&file, &entry.hash, self.content, watch)?;
                file.check_unchanged()?;
                Ok((verification.ok, Some(verification)))
            }
        }
    }

    fn write_text(&self, out: &mut Out, verified: &Verified) -> io::Result<()> {
        let is_same = verified.status == Status::Same;
        if is_same && self.quiet {
            return Ok(());
        }
        out.text(Kind::Group, verified.path.text()).put(": ");
        out.put_as(if is_same { Kind::Added } else { Kind::Error }, verified.status.words());
        if let Some(error) = &verified.error {
            out.put(": ").text(Kind::Plain, &error.as_str().into());
        }
        out.end_line()?;
        let Some(Verification { whole, prefix, blobs, .. }) = &verified.verification else { return Ok(()) };
        if *prefix == Some(false) {
            out.put("  ~ what comes before PopEF").end_line()?;
        }
        for blob in blobs.iter().take(MOST_BLOBS) {
            write_blob(out, blob)?;
        }
        if let Some(more @ 1..) = blobs.len().checked_sub(MOST_BLOBS) {
            out.put(&format!("  ... and {more} more blobs; the JSON has all of them")).end_line()?;
        }
        if *whole == Some(false) && blobs.is_empty() && *prefix != Some(false) {
            out.put("  ~ only order, versions, the encoding of messages or bytes behind tensors").end_line()?;
        }
        Ok(())
    }
}

const MOST_BLOBS: usize = 100;

fn write_blob(out: &mut Out, blob: &WrongBlob) -> io::Result<()> {
    let (mark, kind, words) = match (blob.verdict, blob.data, blob.content) {
        (BlobVerdict::Missing, ..) => ("- ", Kind::Removed, " is missing"),
        (BlobVerdict::Added, ..) => ("+ ", Kind::Added, " is new"),
        (_, Some(false), Some(true)) => ("~ ", Kind::Number, " is stored in another way, and means the same"),
        _ => ("~ ", Kind::Number, " differs"),
    };
    out.put("  ").put_as(kind, mark).put_as(Kind::Type, type_name(blob.blob_type)).put(" ");
    out.quoted(Kind::Name, blob.name.text()).put(words).end_line()
}

fn job<'m>(shown: &FilePath, kept: Kept<'m>) -> Result<Job<'m>, Error> {
    let unknown = || Error::new(Code::BadManifest, format!("this system has no paths like {shown}"));
    Ok(Job { path: shown.to_path().ok_or_else(unknown)?, shown: shown.clone(), kept })
}

/// Opens a file. One that the manifest names must be a regular file: a manifest may come from anybody, and a device that never
/// ends would fill the memory.
fn open_named(path: &Path, by_manifest: bool) -> Result<popef::File, Error> {
    let is_odd = by_manifest && fs::metadata(path).is_ok_and(|found| !found.is_file());
    if is_odd || (by_manifest && path.as_os_str() == "-") {
        let message = "it is not a regular file; name it on the command line to have it read";
        return Err(Error::new(Code::WrongArguments, message).in_file(path));
    }
    open_whole(path)
}

fn status_of(error: &Error) -> Status {
    use popef::error::{ErrorCode, ErrorKind};
    let code = error.code();
    // Any change of a byte may lead to any of these.
    let kinds = [ErrorKind::Damaged, ErrorKind::Unknown, ErrorKind::Limit];
    let is_damage = error.library().is_some_and(|error| kinds.contains(&error.kind()));
    match () {
        () if code == ErrorCode::NotFound.as_str() => Status::Missing,
        () if code == Code::NotPopef.as_str() || is_damage => Status::Damaged,
        () => Status::Unreadable,
    }
}

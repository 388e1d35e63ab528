//! `popef cat`: the data of one blob.

use std::io::{self, IsTerminal as _, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use popef::read::Data;
use popef::{Blob, File};
use popef_cli::end::unwritten;
use popef_cli::filter::{name_of, type_name};
use popef_cli::input::open_damaged;
use popef_cli::common::Common;
use popef_cli::stdout::no_terminal;
use popef_cli::tool::{Tool, raw_stdout};
use popef_cli::values::{named, path, size};
use popef_ops::extract::Npy;
use popef_ops::{Code, Error};
use popef_show::{HexView, Out, escape, json_lines};

use super::Command;
use crate::common::one_blob::OneBlob;

/// Write the data of one blob to standard output
///
/// The bytes are as they are in the file; for a tensor or feed, little-endian elements, row by row, or with --format npy a file for numpy,
/// of a feed with the runs in front. Metadata has no data: its fields are written as JSON. If the file is damaged, blobs before the damage
/// can be written.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef cat [OPTIONS] <FILE> <NAME>\n       popef cat [OPTIONS] --blob <N> <FILE>", after_help = "\
Examples:
  popef cat model.popef weights > weights.bin
  popef cat --format npy model.popef weights > weights.npy
  popef cat --hex model.popef weights
  popef cat --hex --skip 0x1000 --length 64 model.popef weights
  popef cat --unpacked --type executable model.popef model > model.poplar
  popef cat --type metadata model.popef model | jq .ipuVersion
  popef cat --blob 3 model.popef | sha256sum")]
pub(crate) struct Args {
    /// File to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    #[command(flatten)]
    one: OneBlob,
    /// Write a tensor or feed as npy, a file for numpy; or any blob as raw bytes, the default
    #[arg(long, value_name = "FORMAT", value_parser = named(Form::ALL.iter().copied(), |form| form.as_str()), default_value = "raw", hide_default_value = true, hide_possible_values = true, help_heading = "Output")]
    format: Form,
    /// Unpack an executable that is stored compressed
    #[arg(long, help_heading = "Output")]
    unpacked: bool,
    /// Show the bytes in hexadecimal; 256 of them, unless --length says how many
    #[arg(short = 'x', long, help_heading = "Output")]
    hex: bool,
    /// Leave out the first SIZE bytes, such as 256, 0x100 or 4KiB
    #[arg(short, long, value_name = "SIZE", value_parser = size, default_value_t, hide_default_value = true, help_heading = "Output")]
    skip: u64,
    /// Write only SIZE bytes; `all` writes all also with --hex
    #[arg(short = 'n', long, value_name = "SIZE", value_parser = length, help_heading = "Output")]
    length: Option<u64>,
}

popef::seam::named! {
    /// The format of the data.
    enum Form {
        Raw = "raw",
        Npy = "npy",
    }
}

/// The number of bytes that --hex shows by default, which fit a screen.
const HEX_LENGTH: u64 = 256;
/// The number of bytes that are read at once.
const PIECE: usize = 256 << 10;

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let file = open_damaged(tool, &self.file)?;
        let blob = self.one.of(&file)?;
        self.warn(tool, &file);
        if self.format == Form::Npy {
            self.write_npy(tool, &blob).map_err(|error| error.in_file(&self.file))?;
            return Ok(ExitCode::SUCCESS);
        }
        self.write(tool, &blob).map_err(|error| error.in_file(&self.file))?;
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::NONE
    }
}

/// The bytes to write.
enum Source<'f> {
    Stored(Data<'f>),
    /// The unpacked bytes, and their number as the file states it.
    Unpacked(popef::read::Unpack<'f>, u64),
    Json(Vec<u8>),
}

impl Source<'_> {
    fn len(&self) -> u64 {
        match self {
            Source::Stored(data) => data.len(),
            Source::Unpacked(_, len) => *len,
            Source::Json(text) => text.len() as u64,
        }
    }

    /// Whether a terminal can show the bytes. Long data is not read for this.
    fn is_text(&self) -> Result<bool, Error> {
        const LONGEST: u64 = 64 << 10;
        Ok(match self {
            Source::Json(_) => true,
            Source::Stored(data) if data.len() <= LONGEST => is_plain_text(&data.read()?),
            _ => false,
        })
    }
}

impl Args {
    fn warn(&self, tool: &Tool, file: &File) {
        if let Some(damage) = file.damage() {
            tool.complain(&Error::from(damage.clone()).in_file(&self.file));
        }
    }

    fn write_npy(&self, tool: &Tool, blob: &Blob<'_>) -> Result<(), Error> {
        let parts = [(self.hex, "--hex"), (self.unpacked, "--unpacked"), (self.skip > 0, "--skip"), (self.length.is_some(), "--length")];
        if let Some((_, option)) = parts.iter().find(|(is_given, _)| *is_given) {
            let message = format!("{option} is for bytes, and --format npy writes a whole file; leave one of them out");
            return Err(Error::new(Code::WrongArguments, message));
        }
        let Npy { header, data, notes } = Npy::of(blob)?;
        if io::stdout().is_terminal() {
            return Err(no_terminal("an .npy file", "add > FILE"));
        }
        notes.iter().for_each(|note| tool.say(&format!("note: {}", note.words())));
        let mut out = raw_stdout().map_err(unwritten)?;
        out.write_all(&header).map_err(unwritten)?;
        data.copy_to(&mut out).map(drop).map_err(|error| Error::of_copy(error).in_file("standard output"))
    }

    fn write(&self, tool: &Tool, blob: &Blob<'_>) -> Result<(), Error> {
        let source = self.source(blob)?;
        let left = source.len().checked_sub(self.skip).ok_or_else(|| nothing_left(self.skip, source.len()))?;
        let wanted = self.length.or(self.hex.then_some(HEX_LENGTH)).unwrap_or(u64::MAX).min(left);
        if self.hex {
            self.write_hex(tool, source, wanted)?;
            if self.length.is_none() && wanted < left {
                tool.say(&format!("{wanted} of {left} bytes were shown; --length all shows all"));
            }
            return Ok(());
        }
        if io::stdout().is_terminal() && !source.is_text()? {
            return Err(no_terminal(&self.what(blob), "add --hex, or > FILE"));
        }
        let mut out = raw_stdout().map_err(unwritten)?;
        match source {
            Source::Stored(data) => {
                let copied = part(&data, self.skip, wanted)?.copy_to(&mut out);
                copied.map_err(|error| Error::of_copy(error).in_file("standard output"))?;
            }
            source => pass_on(source, self.skip, wanted, |piece| out.write_all(piece))?,
        }
        Ok(())
    }

    fn source<'f>(&self, blob: &Blob<'f>) -> Result<Source<'f>, Error> {
        let wrong = |message: &str| Error::new(Code::WrongArguments, message);
        match (blob.as_executable(), blob.as_metadata()) {
            (Some(executable), _) if self.unpacked => {
                Ok(Source::Unpacked(executable.unpack()?, executable.uncompressed_size()))
            }
            (None, _) if self.unpacked => {
                let what = type_name(blob.blob_type());
                Err(wrong(&format!("--unpacked is for executables, and blob {} is of type {what}", blob.index())))
            }
            (_, Some(_)) if self.hex => Err(wrong("metadata has no data; without --hex, its fields are written as JSON")),
            (_, Some(metadata)) => {
                let mut json = Out::in_memory(false);
                json_lines(&mut json, &metadata.read()?).map_err(|error| Error::io("write the metadata as JSON", error))?;
                Ok(Source::Json(json.into_bytes()))
            }
            _ => Ok(Source::Stored(blob.data())),
        }
    }

    fn write_hex(&self, tool: &Tool, source: Source<'_>, wanted: u64) -> Result<(), Error> {
        let (mut out, mut view) = (tool.out_while_read(), HexView::new(self.skip));
        pass_on(source, self.skip, wanted, |piece| view.add(&mut out, piece))?;
        view.end(&mut out).and_then(|()| out.send()).map_err(unwritten)
    }

    fn what(&self, blob: &Blob<'_>) -> String {
        let what = if self.unpacked { "an unpacked executable" } else { type_name(blob.blob_type()) };
        format!("the data ({what} {:?})", name_of(blob))
    }
}

fn part<'f>(data: &Data<'f>, skip: u64, wanted: u64) -> Result<Data<'f>, Error> {
    Ok(data.range(skip..skip.saturating_add(wanted))?)
}

/// Passes on `wanted` bytes after the first `skip`, in pieces.
fn pass_on(
    source: Source<'_>,
    skip: u64,
    wanted: u64,
    mut put: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Error> {
    match source {
        Source::Stored(data) => in_pieces(part(&data, skip, wanted)?.reader(), wanted, put),
        Source::Unpacked(mut unpack, len) => {
            in_pieces(unpack.by_ref(), skip, |_| Ok(()))?;
            in_pieces(unpack.by_ref(), wanted, put)?;
            // The checksum comes last.
            let is_end = skip.saturating_add(wanted) == len;
            if is_end { in_pieces(unpack, 1, |_| Ok(())) } else { Ok(()) }
        }
        Source::Json(text) => {
            let from = usize::try_from(skip).unwrap_or(usize::MAX);
            let len = usize::try_from(wanted).unwrap_or(usize::MAX);
            let text = text.get(from..).unwrap_or_default();
            put(text.get(..len).unwrap_or(text)).map_err(unwritten)
        }
    }
}

fn in_pieces(from: impl Read, len: u64, mut put: impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), Error> {
    let mut from = from.take(len);
    let mut piece = vec![0; PIECE.min(usize::try_from(len).unwrap_or(PIECE))];
    loop {
        match from.read(&mut piece).map_err(|error| Error::io("read the data", error))? {
            0 => return Ok(()),
            len => put(piece.get(..len).unwrap_or_default()).map_err(unwritten)?,
        }
    }
}

fn nothing_left(skip: u64, len: u64) -> Error {
    Error::new(Code::WrongArguments, format!("--skip {skip} is past the end: there are {len} bytes"))
}

/// Whether the bytes are text without anything that could mislead the user of a terminal.
fn is_plain_text(bytes: &[u8]) -> bool {
    let is_plain = |line: &str| {
        let line = line.replace(['\\', '\t', '\r'], " ");
        escape(&line) == line
    };
    std::str::from_utf8(bytes).is_ok_and(|text| text.split('\n').all(is_plain))
}

/// A size, or `all`.
fn length(text: &str) -> Result<u64, &'static str> {
    if text == "all" { Ok(u64::MAX) } else { size(text).map_err(|_| "this is neither a size, such as 4096, 0x100 or 4KiB, nor `all`") }
}

//! `popef tiles exec`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use popef::File;
use popef::read::ExecutableBlob;
use popef::types::{Text, escape};
use popef_cli::end::{FAILED, unwritten, wrong};
use popef_cli::format::NETWORK;
use popef_cli::input::{open_any, open_stream, whatever_is_popef};
use popef_cli::common::Place;
use popef_cli::to_file::Forms;
use popef_cli::tool::{Tool, described};
use popef_open::{is_elsewhere, is_stream};
use popef_ops::{Code, Error};
use popef_show::tiles::{ExecutableTiles, ExecutablesRenderer, TilesFormat};
use popef_show::{Glob, Out};
use poplar_inspect::ErrorCode;
use poplar_inspect::executable::{Numbering, Options, TileFile, visit};

use crate::common::values::path;

/// Show how full the tiles of an executable are, and whether it fits
///
/// Reads the executables of a PopEF file, Poplar's archive.a, or a bare executable. Each tile has a program, an ELF file: its sections and
/// symbols are shown, the fullest tiles first. CODE, CONSTANTS, DATA and ZEROED follow from the flags of sections; Poplar may put
/// everything into .text. The memory of a tile comes from --tile-memory, the metadata's IPU version, or the number of tiles. Gaps between
/// sections do not count. The content of a PopEF file's executable is inferred: no sample is public.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef tiles exec model.popef
  popef tiles exec archive.a --tile 3 --top 50
  popef tiles exec archive.a --tile-memory 624KiB -o tiles.svg
  popef tiles exec model.popef --format csv > tiles.csv
  popef tiles exec model.popef --format json | jq -r '.executables[] | [.executable, .verdict] | @tsv'")]
pub(crate) struct Args {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    /// Only executables whose name matches GLOB. Can be given several times
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse, help_heading = "Selection")]
    filter: Vec<Glob>,
    /// The tile whose sections and symbols are shown; without it, the fullest
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<u32>, help_heading = "Selection")]
    tile: Option<u32>,
    /// The memory of a tile, such as 624KiB or 638976
    #[arg(long, value_name = "SIZE", value_parser = popef_cli::values::size_from_one, help_heading = "Device")]
    tile_memory: Option<u64>,
    /// Show at most N tiles, sections and symbols
    #[arg(long, value_name = "N", value_parser = popef_cli::values::top, default_value_t = 10, help_heading = "Output")]
    top: usize,
    /// Write to this file, above all a picture of all tiles; `-` is standard output
    ///
    /// Without --format, its name says the format: .svg, .json, .ndjson, .csv or .txt. Other names get the picture.
    #[arg(short, long, value_name = "NEW", value_parser = path(), help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,
}

/// The opened input.
enum Opened {
    /// An archive or a bare executable.
    Bare(Box<dyn Read + Send>),
    Popef(File),
}

/// An executable that was read, and why not all of it.
struct Exec {
    tiles: ExecutableTiles,
    damage: Option<Error>,
}

/// An executable that could not be read at all.
struct NotRead {
    name: Text<'static>,
    error: Error,
}

/// The formats of the output, and when each is the default.
const FORMS: Forms<'static, TilesFormat> = Forms {
    command: "popef tiles exec",
    all: TilesFormat::ALL,
    name: TilesFormat::as_str,
    of_file: TilesFormat::Svg,
    of_report: TilesFormat::Text,
};

impl Args {
    pub(super) fn run(&self, tool: &Tool, format: Option<TilesFormat>) -> Result<ExitCode, Error> {
        let form = FORMS.chosen(format, self.output.as_deref())?;
        if self.output.is_some() {
            // A file that must not be replaced is an error before the work.
            self.place().begin([&self.file], []).map(drop)?;
        }
        match self.opened(tool)? {
            Opened::Bare(_) if !self.filter.is_empty() => {
                Err(wrong("--filter chooses executables of a PopEF file, which this is not").in_file(&self.file))
            }
            Opened::Bare(reader) => {
                let exec = self.read(None, reader, None)?;
                self.write(tool, form, [Ok(exec)], None)
            }
            Opened::Popef(file) => self.run_popef(tool, form, &file),
        }
    }

    /// Opens the file, in any of its formats.
    fn opened(&self, tool: &Tool) -> Result<Opened, Error> {
        // A stream can be read only once.
        let is_folder = self.file.is_dir();
        let is_stream = is_stream(&self.file) && !is_elsewhere(&self.file) && !is_folder;
        let mut opened = if is_stream { None } else { Some(open_any(&self.file)?) };
        let is_popef =
            |opened: &mut popef_open::Opened| is_folder || opened.file().is_none_or(|file| !file.is_empty());
        if let Some(opened) = opened.take_if(is_popef) {
            return whatever_is_popef(tool, opened).map(Opened::Popef);
        }
        let unread = |error| Error::io("read the file", error).in_file(&self.file);
        let mut reader = popef_open::read(&self.file).map_err(unread)?;
        let mut start = Vec::new();
        reader.by_ref().take(8).read_to_end(&mut start).map_err(unread)?;
        let is_bare = [&b"!<arch>\n"[..], b"!<thin>\n", b"GC_EXE_"].iter().any(|mark| start.starts_with(mark));
        let whole = Box::new(io::Cursor::new(start).chain(reader));
        match opened {
            _ if is_bare => Ok(Opened::Bare(whole)),
            Some(opened) => whatever_is_popef(tool, opened).map(Opened::Popef),
            None => whatever_is_popef(tool, open_stream(whole, &self.file)?).map(Opened::Popef),
        }
    }

    fn run_popef(&self, tool: &Tool, form: TilesFormat, file: &File) -> Result<ExitCode, Error> {
        let takes = |executable: &ExecutableBlob<'_>| {
            let name = executable.name().to_string_lossy().into_owned();
            self.filter.is_empty() || self.filter.iter().any(|glob| glob.matches(&name, false))
        };
        let damage = file.damage().map(|damage| Error::from(damage.clone()).in_file(&self.file));
        let mut chosen = file.executables().filter(takes).peekable();
        if chosen.peek().is_none() && damage.is_none() {
            let has_none = file.executables().next().is_none();
            let filters = self.filter.iter().map(|glob| format!(" --filter {}", escape(glob.as_str()))).collect::<String>();
            let what = if has_none { "the file has no executables".to_owned() } else { format!("no executable matches{filters}") };
            return Err(Error::new(Code::NothingChosen, what).in_file(&self.file));
        }
        let mut versions = BTreeMap::new();
        for metadata in file.metadata() {
            let version = metadata.read().ok().map(|metadata| metadata.ipu_version);
            versions.entry(metadata.executable()).or_insert(version);
        }
        let read = |executable: ExecutableBlob<'_>| {
            let name = executable.name();
            let version = versions.get(&name).copied().flatten();
            let unpack = executable.unpack().map_err(|error| Error::from(error).in_file(&self.file));
            let exec = unpack.and_then(|unpack| self.read(Some(name.clone().into_owned()), unpack, version));
            exec.map_err(|error| NotRead { name: name.into_owned(), error })
        };
        self.write(tool, form, chosen.map(read), damage)
    }

    /// Reads an executable, tile by tile.
    fn read(&self, name: Option<Text<'static>>, reader: impl Read + Send, version: Option<u32>) -> Result<Exec, Error> {
        // Keeps a tile by the number in its name, one by its place, and the fullest. Only the end shows which one is
        // meant.
        let (mut by_name, mut by_place, mut fullest, mut index) = (None, None, None, 0_usize);
        let mut fullest_key = None;
        let each = |tile: &TileFile<'_>| {
            let place = u32::try_from(tile.position()).unwrap_or(u32::MAX);
            let number = tile.number_in_name();
            if self.tile.is_some() && number == self.tile {
                by_name = Some((index, tile.largest(self.top)));
            }
            if self.tile == Some(place) {
                by_place = Some((index, tile.largest(self.top)));
            }
            let key = Some((tile.sizes().memory(), Reverse(number.unwrap_or(place))));
            if self.tile.is_none() && key > fullest_key {
                fullest = Some((index, tile.largest(self.top)));
                fullest_key = key;
            }
            index = index.saturating_add(1);
        };
        let summary = visit(reader, &Options::default(), each).map_err(|error| self.unread(name.as_ref(), &error))?;
        let shown = match summary.numbering {
            _ if self.tile.is_none() => fullest,
            Numbering::Names => by_name,
            _ => by_place,
        };
        let shown = shown.and_then(|(index, largest)| Some((summary.tiles.get(index)?.clone(), largest)));
        let fit = summary.fit(self.tile_memory, version);
        let damage = summary.damage.as_ref().map(|error| self.unread(name.as_ref(), error));
        let tiles = ExecutableTiles { name, summary, fit, shown, damage: damage.as_ref().map(described) };
        Ok(Exec { tiles, damage })
    }

    /// Why an executable could not be read, or not to its end.
    fn unread(&self, name: Option<&Text<'_>>, error: &poplar_inspect::Error) -> Error {
        let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<popef::Error>());
        match source.filter(|_| error.code() == ErrorCode::Unreadable) {
            Some(source) => Error::from(source.clone()),
            None => {
                let of = name.map(|name| format!("executable {name:?}, ")).unwrap_or_default();
                Error::new(error.code(), format!("{of}{error}"))
            }
        }
        .in_file(&self.file)
    }

    /// The place of the output file.
    pub(super) fn place(&self) -> Place<'_> {
        Place { path: self.output.as_deref(), force: self.force, dry_run: false }
    }

    /// Writes executables to their destination.
    fn write(
        &self,
        tool: &Tool,
        form: TilesFormat,
        execs: impl IntoIterator<Item = Result<Exec, NotRead>>,
        damage: Option<Error>,
    ) -> Result<ExitCode, Error> {
        if self.output.is_none() {
            return self.write_to(tool, &mut tool.out(), form, execs, damage);
        }
        let noun = if form == TilesFormat::Svg { "a picture" } else { "a report" };
        self.place().write_report(tool, &[&self.file], noun, |out| self.write_to(tool, out, form, execs, damage))
    }

    /// Writes executables, one after the other.
    fn write_to(
        &self,
        tool: &Tool,
        out: &mut Out,
        form: TilesFormat,
        execs: impl IntoIterator<Item = Result<Exec, NotRead>>,
        damage: Option<Error>,
    ) -> Result<ExitCode, Error> {
        let mut renderer =
            ExecutablesRenderer::begin(out, &self.file, form, self.top, NETWORK).map_err(unwritten)?;
        // Complaints about damage come after the parts that were read.
        let mut complaints = Vec::new();
        let mut shows_tile = self.tile.is_none();
        for exec in execs {
            match exec {
                Ok(Exec { tiles, damage }) => {
                    shows_tile |= tiles.shown.is_some();
                    renderer.executable(out, &tiles).map_err(unwritten)?;
                    complaints.extend(damage);
                }
                Err(NotRead { name, error }) => {
                    renderer.not_read(out, &name, &described(&error)).map_err(unwritten)?;
                    complaints.push(error);
                }
            }
        }
        complaints.extend(damage);
        if let (false, Some(tile), true) = (shows_tile, self.tile, complaints.is_empty()) {
            complaints.push(wrong(format!("there is no program for tile {tile}")).in_file(&self.file));
        }
        renderer.end(out, complaints.first().map(described)).and_then(|()| out.send()).map_err(unwritten)?;
        complaints.iter().for_each(|error| tool.complain(error));
        Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

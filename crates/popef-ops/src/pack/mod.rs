//! Puts files together: from a folder that was [extracted](crate::extract), or from files of other programs.

mod check;
mod compose;
mod float8;
pub(crate) mod folder;
mod left_out;
mod metadata;
mod part;
mod report;
mod seal;
mod survey;
mod walk;

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use popef::File;
use popef::error::ErrorCode;
use popef::read::FileId;
use popef::types::Text;
use popef::write::Packing;

use crate::error::{Code, Error};
use crate::findings::{checked, findings_of_parts, refuse};
use crate::formats::Array;
use crate::output::{Output, Overwrite, Target};
use crate::progress::Progress;

use compose::{Composed, Piece};
use part::{Bytes, Part};
use survey::{Names, Survey};
use walk::Walk;

pub use report::{LeftBehind, Packed, PackedBlob, State};

/// What blobs are made of.
#[derive(Clone, Debug)]
pub enum PackInput {
    /// An extracted folder in its current state. The bytes before the first blob come from there too.
    ///
    /// Its `index.json` is not trusted: the files that it names must be in the folder, must not be reached through
    /// links, and must not be named twice. An index with keys that this version does not know is refused.
    Folder(PathBuf),
    /// An executable that is not compressed. Without a name, it gets the one in the metadata, or else the file's name
    /// without its ending.
    Executable(PathBuf, Option<String>),
    /// Metadata, as `extract` writes it.
    Metadata(PathBuf),
    /// The same, as a document that came from standard input.
    MetadataJson(Vec<u8>),
    /// An opaque blob and its name. It is for the executable if there is only one.
    Opaque(Text<'static>, PathBuf),
    /// All arrays of a file as tensors. The array of an `.npy` file has the name of the file. If the file was extracted, the array has the
    /// name that `index.json` in its folder or in the one around has for it, or that a `.safetensors` file itself has; and what was a
    /// feed becomes one again.
    ///
    /// Bytes (`U8`) become 8-bit floats if the packed metadata has an input anchor of that type with the same name and
    /// shape. This also applies to feeds and to arrays in memory.
    Tensors(PathBuf),
    /// The only array of a file as the tensor of this name, or the array with this name if the file has several.
    TensorOf(Text<'static>, PathBuf),
    /// The only array of a file as the feed of this name, or the array of the name if the file has several. Its first dimension is the
    /// runs.
    Feed(Text<'static>, PathBuf),
    /// An array as a tensor.
    Tensor(Array),
    /// An array as a feed. Its first dimension is the runs.
    Runs(Array),
}

impl PackInput {
    /// The file that is read, unless it is a folder, or an array.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            PackInput::Folder(_) | PackInput::MetadataJson(_) | PackInput::Tensor(_) | PackInput::Runs(_) => None,
            PackInput::Executable(path, _)
            | PackInput::Metadata(path)
            | PackInput::Opaque(_, path)
            | PackInput::Tensors(path)
            | PackInput::TensorOf(_, path)
            | PackInput::Feed(_, path) => Some(path),
        }
    }
}

/// How files are put together.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackOptions {
    /// How all executables are compressed. One that would not become smaller stays as it is.
    pub compress: Option<Packing>,
    /// Whether to write data that does not fit its anchor. The report then says so.
    pub unchecked: bool,
    /// Whether nothing is written if the library's checks find errors or warnings in the new file.
    pub strict: bool,
}

/// Makes a file of these inputs, in their order. First checks that everything fits together. Only users who could open
/// all files that a new file is made from can open it.
///
/// `each` is called for each blob in order, during the work. Blobs are visited several times instead of being kept; if
/// an input changes meanwhile, the work fails.
///
/// ```
/// use popef_ops::pack::{PackInput, PackOptions, pack};
/// use popef_ops::{Overwrite, Silent, Target};
///
/// # let folder = tempfile::tempdir()?;
/// # let (from, to) = (folder.path().join("weights.npy"), folder.path().join("weights.popef"));
/// # let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
/// # std::fs::write(&from, [b"\x93NUMPY\x01\x00\x3a\x00", header.as_bytes(), &[0, 0, 192, 63, 0, 0, 16, 192]].concat())?;
/// let inputs = [PackInput::Tensors(from)];
/// let target = Target::Path(&to, Overwrite::Never);
/// pack(&inputs, target, &PackOptions::default(), &Silent, &mut |_| Ok(()))?;
/// let file = popef::File::open(&to)?;
/// assert_eq!(*file.tensor("weights").unwrap().elements()?.to_slice::<f32>()?, [1.5, -2.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pack(
    inputs: &[PackInput],
    target: Target<'_>,
    options: &PackOptions,
    progress: &dyn Progress,
    each: &mut dyn FnMut(PackedBlob) -> Result<(), Error>,
) -> Result<Packed, Error> {
    let walk = Walk::new(inputs, forbidden(&target))?;
    // Before all blobs are visited.
    target.check([])?;
    let target = checked(options.strict, target, [])?;
    walk.check_files()?;
    let names = Names::of(&walk)?;
    let survey = Survey::of(&walk, &names, options.compress)?;
    if let (Some(first), false) = (survey.problems.first.first(), options.unchecked) {
        let more = match survey.problems.count {
            1 => String::new(),
            count => format!(" (and {} more)", count.saturating_sub(1)),
        };
        return Err(Error::new(Code::DoesNotFit, format!("{first}{more}")));
    }
    let left_out = walk.left_out()?;
    let is_trial = target.is_trial();
    progress.expect(survey.expected);
    let mut output = Output::begin_with(target, [], walk.rights()?, progress)?;
    output.prefix_of(&survey.prefix)?;
    let mut packed = Packed::default();
    (packed.problems, packed.problem_count) = (survey.problems.first, survey.problems.count);
    (packed.warnings, packed.warning_count) = (survey.warnings.first, survey.warnings.count);
    packed.left_out_count = left_out.count;
    packed.left_out = left_out.first;
    let (mut seal, mut written) = (survey.seal.same(), survey.seal.same());
    walk.parts(&mut |mut part| {
        names.link(&mut part)?;
        let head = part.head()?;
        seal.add_part(&part, &head);
        written.add_blob(part.blob_type(), &part.name(), &part.version, &head);
        let row = write(&part, head, packed.blobs, options, is_trial, &mut output, progress)?;
        written.add_number(row.size);
        packed.add(&row);
        each(row)
    })?;
    if seal != survey.seal {
        return Err(Error::new(ErrorCode::FileChanged, "a file that is packed was changed meanwhile"));
    }
    packed.size = output.len();
    output.finish_checked(|new| {
        check::is_whole(new, &written)?;
        let mut findings = refuse(options.strict, findings_of_parts(&[], new))?;
        let told: HashSet<&String> = packed.problems.iter().chain(&packed.warnings).collect();
        findings.retain(|finding| check::is_news(finding) && !told.contains(&finding.message));
        packed.new_findings = Some(findings);
        Ok(())
    })?;
    Ok(packed)
}

/// The file that must not be read, because it will be replaced.
fn forbidden(target: &Target<'_>) -> Option<(PathBuf, FileId)> {
    let place = target.place().filter(|place| place.overwrite != Overwrite::Inputs)?;
    // A missing file is not an input.
    FileId::of_path(&place.path).ok().map(|id| (place.path.into_owned(), id))
}

/// Data up to this length is read at once.
const SMALL: u64 = 128 << 10;

/// Writes a blob.
fn write(
    part: &Part,
    head: Vec<u8>,
    index: u64,
    options: &PackOptions,
    is_trial: bool,
    output: &mut Output<'_>,
    progress: &dyn Progress,
) -> Result<PackedBlob, Error> {
    let (len, blob_type, name) = (part.len(), part.blob_type(), part.name().into());
    let packing = part.packing(options.compress);
    let is_small = len <= SMALL && packing.is_none() && !is_trial;
    let data = match packing {
        Some(_) => part.data.iter().filter_map(Bytes::place).cloned().map(Piece::Place).collect(),
        None if is_small => vec![Piece::bytes(part.read()?)],
        None => vec![Piece::Zeros(len)],
    };
    let mut file = Composed::default();
    let mut pieces = std::iter::once(Piece::bytes(head)).chain(data);
    pieces.try_for_each(|piece| file.push(piece)).ok_or_else(too_large)?;
    let file = file.open(0)?;
    let blob = file.blob(0).filter(|_| file.len() == 1).ok_or_else(|| part.bad("what it says is no blob"))?;
    let row =
        |size, state| PackedBlob { index, blob_type, name, size, state, was: None, now: None, taken_as: part.taken_as };
    output.any_names(part.any_name);
    if let (Some(packing), Some(executable)) = (packing, blob.as_executable()) {
        // Keeps files open, so that they are not opened again for each piece.
        let _open: Vec<_> =
            part.data.iter().filter_map(Bytes::place).map(|place| place.source().open()).collect::<Result<_, _>>()?;
        progress.expect(output.told_of(&executable, Some(packing)));
        if let Some(written) = output.repacked(&executable, packing, len)? {
            let was = executable.compression().ok().flatten().or(part.was);
            return Ok(PackedBlob { was, now: Some(packing.format()), ..row(written.size, State::Compressed) });
        }
        progress.expect(blob.size());
        return Ok(row(output.copy(blob)?.size, State::WouldGrow));
    }
    let written = if is_small || is_trial { output.copy(blob)? } else { output.refilled(blob, &mut part.reader()?)? };
    Ok(row(written.size, part.state))
}

fn too_large() -> Error {
    Error::new(Code::WrongArguments, "the file would be too large")
}

/// The bytes of several readers after each other.
fn chained(readers: Vec<Box<dyn Read + Send>>) -> Box<dyn Read + Send> {
    readers.into_iter().reduce(|all, next| Box::new(all.chain(next))).unwrap_or_else(|| Box::new(io::empty()))
}

/// The bytes before the first blob, as a file without blobs.
fn prefix_file(prefix: Option<&crate::formats::Place>) -> Result<File, Error> {
    let mut file = Composed::default();
    let mut start = 0;
    if let Some(prefix) = prefix {
        start = prefix.len();
        file.push(Piece::Place(prefix.clone())).ok_or_else(too_large)?;
    }
    file.open(start)
}

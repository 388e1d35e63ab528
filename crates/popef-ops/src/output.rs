use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use popef::read::{ExecutableBlob, FileId, LocalFile};
use popef::types::TensorDataInfo;
use popef::write::{BlobCopy, BlobWriter, CreateOptions, Destination, Packing, Rewind, Written};
use popef::{Blob, File, OpenOptions, Writer};
use tempfile::TempDir;

use crate::error::{Code, Error};
use crate::folders::{Made, check_target_folder};
use crate::progress::{Progress, Silent};
use crate::read_back::{Arrived, Compare, Counted, reading_back, same_unpacked, write_unpacked};
use crate::rights::Most;
use crate::verify::wrong;
use crate::work::{copy, temporary, temporary_folder};

/// Where a new file goes.
pub enum Target<'t> {
    /// To a path. The file appears there when it is complete, and an old one stays until then. A link is followed, also if
    /// it leads to a file that is missing.
    Path(&'t Path, Overwrite),
    /// To a file of this name in a folder. Unlike for a path, a missing folder is made, and a link at the name is never
    /// followed: another user may have put it there. If a folder was made but no file is written, the folder is removed
    /// again.
    In(TargetFolder<'t>, &'t OsStr),
    /// Into a pipe. The bytes written before a failure stay there.
    Stream(Box<dyn Write + Send + 't>),
    /// Nowhere: only its size is wanted.
    Nowhere,
    /// Nowhere, but it fails as [`Target::Path`] would because of what is at the path, before anything is read: a file
    /// that must not be replaced, an input, something other than a file, or a missing folder.
    Trial(&'t Path, Overwrite),
    /// To a place that receives the file as a whole. Until then, it is a temporary file on this machine.
    Store(Box<dyn Store + 't>),
}

/// A place that receives a new file as a whole, such as a bucket.
///
/// The file is made and checked on this machine, like any other file. So the place never has an unchecked file.
pub trait Store: Send {
    /// Whether nothing is put there, because only the report is wanted.
    fn is_trial(&self) -> bool {
        false
    }

    /// Fails as [`put`](Self::put) would because of what is there, before anything is read. It also fails if it would
    /// replace one of the inputs, whose names it gets, unless the caller allowed that.
    fn check(&self, inputs: &[&Path]) -> Result<(), Error>;

    /// Puts the file there, completely or not at all.
    fn put(self: Box<Self>, file: fs::File) -> Result<(), Error>;
}

impl<'t> Target<'t> {
    /// Fails as [`Output::begin`] would because of what is at the path, before any work: an input, a file that must not
    /// be replaced, something other than a file, or a missing folder. Does not check whether the folder is writable.
    pub fn check<'f>(&self, inputs: impl IntoIterator<Item = &'f File>) -> Result<(), Error> {
        match self {
            Target::Store(store) if store.is_trial() => check_store(&**store, inputs),
            _ => self.place().map_or(Ok(()), |place| place.check(inputs)),
        }
    }

    /// Fails if the new file would replace one of these, and inputs may not be replaced. It is for inputs other than
    /// PopEF files, such as arrays and lists; the operations themselves check the PopEF files that they read.
    pub fn check_sources(&self, sources: impl IntoIterator<Item: AsRef<Path>>) -> Result<(), Error> {
        self.place().map_or(Ok(()), |place| place.overwrite.check_sources(&place.path, sources))
    }

    /// The path of the new file, if it has one.
    pub(crate) fn place(&self) -> Option<Place<'t>> {
        let at = |path: &'t Path, overwrite| Place { path: path.into(), overwrite, folder: None, is_trial: false };
        let within = |folder: &'t Path, name: &OsStr, overwrite| Place {
            path: folder.join(name).into(),
            folder: Some(folder),
            ..at(folder, overwrite)
        };
        match *self {
            Target::Path(path, overwrite) => Some(at(path, overwrite)),
            Target::Trial(path, overwrite) => Some(Place { is_trial: true, ..at(path, overwrite) }),
            Target::In(TargetFolder::At(folder, overwrite), name) => Some(within(folder, name, overwrite)),
            Target::In(TargetFolder::Trial(folder, overwrite), name) => {
                Some(Place { is_trial: true, ..within(folder, name, overwrite) })
            }
            Target::In(TargetFolder::Nowhere, _) | Target::Stream(_) | Target::Store(_) | Target::Nowhere => None,
        }
    }

    /// Whether nothing is written.
    pub(crate) fn is_trial(&self) -> bool {
        match self {
            Target::Stream(_) => false,
            Target::Store(store) => store.is_trial(),
            _ => self.place().is_none_or(|place| place.is_trial),
        }
    }

    /// Whether a file is written that can be read back.
    pub(crate) fn is_file(&self) -> bool {
        !self.is_trial() && !matches!(self, Target::Stream(_))
    }
}

/// Where a new file appears, or would appear.
pub(crate) struct Place<'t> {
    pub(crate) path: Cow<'t, Path>,
    pub(crate) overwrite: Overwrite,
    /// The folder that is made for it, if it is missing.
    folder: Option<&'t Path>,
    is_trial: bool,
}

impl Place<'_> {
    fn check<'f>(&self, inputs: impl IntoIterator<Item = &'f File>) -> Result<(), Error> {
        // A link in a folder is not followed, even to an input.
        if self.folder.is_none() || !self.path.is_symlink() {
            self.overwrite.check_inputs(&self.path, inputs)?;
        }
        if let Some(folder) = self.folder {
            if folder.join(self.path.file_name().unwrap_or_default()) != self.path {
                return Err(Error::new(Code::WrongArguments, "it is no name of a file in a folder").in_file(&self.path));
            }
            check_target_folder(folder)?;
            if !folder.is_dir() {
                return Ok(());
            }
        }
        self.options().check(&self.path)?;
        Ok(())
    }

    fn options(&self) -> CreateOptions {
        let mut options = self.overwrite.options();
        options.follow_links(self.folder.is_none());
        options
    }
}

/// Which files may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// None.
    Never,
    /// A file other than the inputs.
    Others,
    /// Any file, also an input.
    Inputs,
}

impl Overwrite {
    /// Fails if the path is one of the inputs, and these may not be replaced.
    pub(crate) fn check_inputs<'f>(self, path: &Path, inputs: impl IntoIterator<Item = &'f File>) -> Result<(), Error> {
        if self == Overwrite::Inputs { Ok(()) } else { refuse_inputs(path, inputs) }
    }

    /// Fails if the path leads to one of these files, under any name, and inputs may not be replaced.
    pub fn check_sources(self, path: &Path, sources: impl IntoIterator<Item: AsRef<Path>>) -> Result<(), Error> {
        // A missing file is not an input. Any other failure appears when it is replaced.
        let target = FileId::of_path(path).ok().filter(|_| self != Overwrite::Inputs);
        let Some(target) = target else { return Ok(()) };
        match sources.into_iter().find(|source| FileId::of_path(source).is_ok_and(|id| id == target)) {
            Some(source) => Err(is_input(path, Some(source.as_ref()))),
            None => Ok(()),
        }
    }

    pub(crate) fn options(self) -> CreateOptions {
        let mut options = CreateOptions::new();
        options.overwrite(self != Overwrite::Never);
        options
    }
}

/// Where an operation puts several files, or a folder with several.
///
/// | operation | what is in `At` | [`Overwrite::Never`] | otherwise |
/// |---|---|---|---|
/// | [`split`](fn@crate::split) | the folder of the parts, which is made if it is missing | no part has the name of a file there | files with the names of parts are replaced, an input only with [`Overwrite::Inputs`]; all others stay |
/// | [`extract`](mod@crate::extract) | the folder itself; those that it is in are made if they are missing | the folder is missing or empty | a folder that was extracted is replaced as a whole |
///
/// If the work fails or is stopped, folders made for it are removed again. Links are never followed, whatever may be
/// replaced: the folder and everything in it must not be links. [`Target::In`] puts one file into a folder in the same
/// way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetFolder<'t> {
    /// Into a folder, where the files appear when all of them are complete.
    At(&'t Path, Overwrite),
    /// Nowhere, but it fails as [`TargetFolder::At`] would because of what is there.
    Trial(&'t Path, Overwrite),
    /// Nowhere: only the report is wanted.
    Nowhere,
}

impl<'t> TargetFolder<'t> {
    /// Fails if the folder is a link, or is missing and cannot be made, because a file has its name or that of a folder
    /// above it.
    pub fn check(self) -> Result<(), Error> {
        match self {
            TargetFolder::At(folder, _) | TargetFolder::Trial(folder, _) => check_target_folder(folder),
            TargetFolder::Nowhere => Ok(()),
        }
    }

    /// The path of a file in the folder. Its name alone if there is no folder.
    pub(crate) fn path_of(self, name: &OsStr) -> PathBuf {
        match self {
            TargetFolder::At(folder, _) | TargetFolder::Trial(folder, _) => folder.join(name),
            TargetFolder::Nowhere => PathBuf::from(name),
        }
    }
}

/// A PopEF file that is being written.
///
/// Dropping it leaves everything as it was.
///
/// ```
/// use popef_ops::{Output, Overwrite, Silent, Target};
///
/// # let folder = tempfile::tempdir()?;
/// # let (from, to) = (folder.path().join("model.popef"), folder.path().join("copy.popef"));
/// # let mut writer = popef::Writer::create(&from)?;
/// # writer.write_executable("model", b"its bytes")?;
/// # writer.finish()?;
/// let file = popef::File::open(&from)?;
/// let mut output = Output::begin(Target::Path(&to, Overwrite::Never), [&file], &Silent)?;
/// output.copy_all(file.blobs())?;
/// output.finish()?;
/// assert_eq!(std::fs::read(&to)?, std::fs::read(&from)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Output<'t> {
    to: To<'t>,
    /// Where the first blob begins.
    start: u64,
    /// The number of threads that compress. 0 means one per processor.
    threads: usize,
    /// Whether it can be read back.
    is_file: bool,
    progress: &'t dyn Progress,
    /// Whether writing is not reported as progress for now, because reading is.
    quiet: Arc<AtomicBool>,
    goes: Option<Goes<'t>>,
    /// The folders that were made for it. Dropped after the new file.
    _made: Option<Made>,
}

fn check_store<'f>(store: &dyn Store, inputs: impl IntoIterator<Item = &'f File>) -> Result<(), Error> {
    store.check(&inputs.into_iter().filter_map(File::path).collect::<Vec<_>>())
}

/// Where a file goes when it is complete.
struct Goes<'t> {
    store: Box<dyn Store + 't>,
    /// Where it is until then.
    path: PathBuf,
    /// The folder of that, which is removed when this is dropped.
    _folder: TempDir,
}

impl<'t> Goes<'t> {
    fn begin(store: Box<dyn Store + 't>) -> Result<Self, Error> {
        let folder = temporary_folder()?;
        Ok(Goes { store, path: folder.path().join("new.popef"), _folder: folder })
    }

    fn finish(self) -> Result<(), Error> {
        let file = fs::File::open(&self.path).map_err(|error| Error::io("open", error).in_file(&self.path))?;
        self.store.put(file)
    }
}

enum To<'t> {
    /// A destination that can go back, so blobs of unknown length can be written.
    Back(Writer<Box<dyn Rewind + Send + 't>>),
    Forward(Writer<Box<dyn Destination + Send + 't>>),
}

/// Does the same with either writer.
macro_rules! with {
    ($output:expr, $writer:ident => $work:expr) => {
        match &mut $output.to {
            To::Back($writer) => $work,
            To::Forward($writer) => $work,
        }
    };
}

impl<'t> Output<'t> {
    /// Begins to write. `inputs` are the files that are read for it. An input is replaced only if [`Overwrite::Inputs`]
    /// allows it. `progress` receives everything that is written.
    ///
    /// Only users who could open all inputs on this machine can open a new file. Like `cp`, this compares modes: on
    /// Unix, the new mode has only the usual bits that all inputs have. A file that is replaced keeps its own
    /// permissions.
    pub fn begin<'f>(
        target: Target<'t>,
        inputs: impl IntoIterator<Item = &'f File>,
        progress: &'t dyn Progress,
    ) -> Result<Self, Error> {
        let inputs: Vec<&File> = inputs.into_iter().collect();
        let most = Most::of(inputs.iter().copied());
        Output::begin_with(target, inputs, most, progress)
    }

    /// Does the same for a file with at most the given permissions.
    pub(crate) fn begin_with<'f>(
        target: Target<'t>,
        inputs: impl IntoIterator<Item = &'f File>,
        most: Most,
        progress: &'t dyn Progress,
    ) -> Result<Self, Error> {
        let quiet = Arc::new(AtomicBool::new(false));
        let is_quiet = quiet.clone();
        let watch = move |bytes| progress.advance(if is_quiet.load(Relaxed) { 0 } else { bytes });
        let is_file = target.is_file();
        let (mut goes, mut made) = (None, None);
        let nowhere = || To::Back(Writer::nowhere().watched(watch.clone()).map_destination(|to| Box::new(to) as _));
        let to = match (target.place(), target) {
            (Some(place), _) => {
                place.check(inputs)?;
                if place.is_trial {
                    nowhere()
                } else {
                    made = place.folder.map(|folder| Made::make(folder, most)).transpose()?;
                    let writer = place.options().mode(most.mode()).create(&place.path)?;
                    To::Back(writer.watched(watch).map_destination(|to| Box::new(to) as _))
                }
            }
            (None, Target::Stream(stream)) => {
                let writer = Writer::stream(io::BufWriter::with_capacity(STREAM_BUFFER, stream));
                To::Forward(writer.watched(watch).map_destination(|to| Box::new(to) as _))
            }
            (None, Target::Store(store)) => {
                check_store(&*store, inputs)?;
                if store.is_trial() {
                    nowhere()
                } else {
                    let goes = goes.insert(Goes::begin(store)?);
                    let writer = Overwrite::Never.options().create(&goes.path)?;
                    To::Back(writer.watched(watch).map_destination(|to| Box::new(to) as _))
                }
            }
            (None, _) => nowhere(),
        };
        let mut output = Output { to, start: 0, threads: 0, is_file, progress, quiet, goes, _made: made };
        // A copy keeps the names of its file, also those that the format forbids. New names are checked by who gives them.
        output.any_names(true);
        Ok(output)
    }

    /// Writes the bytes before the first blob of a file, if there are any.
    pub fn prefix_of(&mut self, file: &File) -> Result<(), Error> {
        let prefix = file.prefix();
        with!(self, writer => writer.write_prefix(&prefix))?;
        self.start = prefix.len();
        Ok(())
    }

    /// Sets whether executables from now on may have no name, or the name of another, which the format forbids. At first they may.
    pub fn any_names(&mut self, allowed: bool) {
        with!(self, writer => _ = writer.any_names(allowed));
    }

    /// Copies a blob, perhaps with changes.
    pub fn copy<'b>(&mut self, blob: impl Into<BlobCopy<'b>>) -> Result<Written, Error> {
        Ok(with!(self, writer => writer.copy(blob))?)
    }

    /// Copies blobs, and returns one place for all of them. The system copies blobs that follow each other in their
    /// file in one go.
    pub fn copy_all<'b, B: Into<BlobCopy<'b>>>(
        &mut self,
        blobs: impl IntoIterator<Item = B>,
    ) -> Result<Written, Error> {
        Ok(with!(self, writer => writer.copy_together(blobs))?)
    }

    /// Copies a blob, perhaps with changes, but with the bytes of a reader as its data: exactly as many as it has.
    pub fn refilled<'b>(&mut self, blob: impl Into<BlobCopy<'b>>, data: &mut dyn Read) -> Result<Written, Error> {
        with!(self, writer => fill(writer.refilled(blob)?, data))
    }

    /// Does the same with the given number of bytes.
    pub fn resized<'b>(
        &mut self,
        blob: impl Into<BlobCopy<'b>>,
        len: u64,
        data: &mut dyn Read,
    ) -> Result<Written, Error> {
        with!(self, writer => fill(writer.resized(blob, len)?, data))
    }

    /// Writes a tensor with the bytes of a reader.
    pub fn tensor(&mut self, info: &TensorDataInfo, data: &mut dyn Read) -> Result<Written, Error> {
        with!(self, writer => fill(writer.tensor(info)?, data))
    }

    /// Compresses an executable of a file that was read, and writes it. Keeps the rest of its blob. Writes nothing, and
    /// returns `None`, if this takes `below` bytes or more.
    ///
    /// The output is read back, unpacked and compared with the old executable, while the rest is still being
    /// compressed. A difference is an error.
    ///
    /// The size of a blob comes before its data, and a pipe cannot go back. So for a pipe, the compressed bytes go into an
    /// unnamed temporary file first, and are compared there.
    pub fn repacked(
        &mut self,
        old: &ExecutableBlob<'_>,
        packing: Packing,
        below: u64,
    ) -> Result<Option<Written>, Error> {
        let counted = Counted::new(self.progress, self.told_of(old, Some(packing)));
        self.quiet.store(true, Relaxed);
        let written = match &mut self.to {
            To::Back(writer) => repack(writer, old, packing, below, self.threads, &counted),
            To::Forward(writer) => {
                let mut spool = Writer::seekable(temporary()?)?;
                spool.threads(self.threads).any_names(true);
                match repack(&mut spool, old, packing, below, self.threads, &counted)? {
                    None => Ok(None),
                    Some(_) => pass_spooled(spool.into_inner()?, writer, old, &counted).map(Some),
                }
            }
        }?;
        counted.tell_rest()?;
        self.quiet.store(false, Relaxed);
        Ok(written)
    }

    /// Writes the unpacked bytes of an executable of a file that was read. Keeps the rest of its blob. Reads the output
    /// back and compares it, unless it goes into a pipe.
    pub fn unpacked(&mut self, old: &ExecutableBlob<'_>) -> Result<Written, Error> {
        let counted = Counted::new(self.progress, self.told_of(old, None));
        self.quiet.store(true, Relaxed);
        let written = with!(self, writer => unpack(writer, old, self.threads, &counted))?;
        counted.tell_rest()?;
        self.quiet.store(false, Relaxed);
        Ok(written)
    }

    /// The number of bytes of progress for an executable that is [`repacked`](Self::repacked), or
    /// [`unpacked`](Self::unpacked) without a packing: all of its unpacked bytes, and once more if they are read back.
    pub fn told_of(&self, old: &ExecutableBlob<'_>, packing: Option<Packing>) -> u64 {
        let reads_back = match &self.to {
            To::Back(_) => self.is_file,
            To::Forward(_) => packing.is_some(),
        };
        old.uncompressed_size().saturating_mul(if reads_back { 2 } else { 1 })
    }

    /// Sets how many threads compress executables. 0 is one per processor.
    pub fn threads(&mut self, threads: usize) {
        self.threads = threads;
        with!(self, writer => _ = writer.threads(threads));
    }

    /// How many bytes were written until now.
    pub fn len(&self) -> u64 {
        match &self.to {
            To::Back(writer) => writer.written().size,
            To::Forward(writer) => writer.written().size,
        }
    }

    /// Whether nothing was written until now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts the file in its place, unless the progress stops that.
    pub fn finish(self) -> Result<Written, Error> {
        if self.is_file {
            self.progress.ask_to_place()?;
        }
        self.place()
    }

    /// Puts the file in its place, and does not ask the progress.
    pub(crate) fn place(self) -> Result<Written, Error> {
        let written = match self.to {
            To::Back(writer) => writer.finish(),
            To::Forward(writer) => writer.finish(),
        }?;
        self.goes.map_or(Ok(()), Goes::finish)?;
        Ok(written)
    }

    /// Puts the file in its place if `check` finds nothing wrong with it. `check` reads the new file before it appears.
    /// Output to a pipe or to nowhere cannot be read back, so `check` is not called for it.
    pub fn finish_checked(mut self, check: impl FnOnce(&File) -> Result<(), Error>) -> Result<Written, Error> {
        self.read_back(check)?;
        self.finish()
    }

    /// Fails if the output does not read back as exactly these blobs, or if `is_same` returns false for an old and a
    /// new one. Keeps no index of the new file. Output to a pipe or to nowhere cannot be read back, so it is not
    /// checked.
    pub(crate) fn check_blobs<'b>(
        &mut self,
        blobs: impl IntoIterator<Item = Blob<'b>>,
        mut is_same: impl FnMut(&Blob<'_>, &Blob<'_>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let Some(file) = with!(self, writer => writer.read_back_file())? else { return Ok(()) };
        let mut blobs = blobs.into_iter();
        OpenOptions::new().start(self.start).visit(LocalFile::of(file, None)?, |new| match blobs.next() {
            Some(old) => is_same(&old, new)?.then_some(()).ok_or_else(|| wrong(&old)),
            None => Err(wrong(new)),
        })?;
        blobs.next().map_or(Ok(()), |missing| Err(wrong(&missing)))
    }

    /// Writes the buffered bytes to the system, and frees the buffer.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        with!(self, writer => writer.flush())?;
        Ok(())
    }

    /// Flushes it to disk, so that [`finish`](Self::finish) is quick.
    pub(crate) fn prepare(&mut self) -> Result<(), Error> {
        Ok(with!(self, writer => writer.prepare())?)
    }

    /// Lets `check` read the output, if it can be read back.
    fn read_back(&mut self, check: impl FnOnce(&File) -> Result<(), Error>) -> Result<(), Error> {
        let mut options = OpenOptions::new();
        options.start(self.start);
        let written = with!(self, writer => writer.read_back(&options))?;
        written.as_ref().map_or(Ok(()), check)
    }
}

/// As much as a pipe holds.
const STREAM_BUFFER: usize = 64 << 10;

/// Fails if the path leads to one of the inputs, under any name.
fn refuse_inputs<'f>(path: &Path, inputs: impl IntoIterator<Item = &'f File>) -> Result<(), Error> {
    // A missing file is not an input. Any other failure appears when it is replaced.
    let Ok(target) = FileId::of_path(path) else { return Ok(()) };
    let Some(input) = inputs.into_iter().find(|input| input.id() == Some(target)) else { return Ok(()) };
    Err(is_input(path, input.path()))
}

fn is_input(path: &Path, input: Option<&Path>) -> Error {
    let named = input.filter(|input| *input != path).map(|input| format!(", {}", input.display()));
    let message = format!("the output is the same file as the input{}", named.unwrap_or_default());
    Error::new(Code::OutputIsInput, message).in_file(path)
}

fn repack<D: Rewind>(
    writer: &mut Writer<D>,
    old: &ExecutableBlob<'_>,
    packing: Packing,
    below: u64,
    threads: usize,
    progress: &Counted<'_>,
) -> Result<Option<Written>, Error> {
    let file = writer.read_back_file()?;
    let arrived = Arrived::default();
    let compare = |file| Compare { old: *old, file, packed: true, arrived: &arrived, progress };
    reading_back(file.as_ref().map(compare), threads, |read_back| {
        let mut blob = writer.repacked_executable(old, packing)?;
        arrived.begin(blob.flushed()?.start);
        write_unpacked(old, &mut blob, &arrived, progress)?;
        let Some(written) = blob.finish_below(below)? else { return Ok(None) };
        writer.flush()?;
        read_back.map_or(Ok(()), |read_back| read_back.finish(written.end()))?;
        Ok(Some(written))
    })
}

fn unpack<D: Destination>(
    writer: &mut Writer<D>,
    old: &ExecutableBlob<'_>,
    threads: usize,
    progress: &Counted<'_>,
) -> Result<Written, Error> {
    let file = writer.read_back_file()?;
    let arrived = Arrived::default();
    let compare = |file| Compare { old: *old, file, packed: false, arrived: &arrived, progress };
    reading_back(file.as_ref().map(compare), threads, |read_back| {
        let mut blob = writer.unpacked_executable(old)?;
        arrived.begin(blob.flushed()?.start);
        write_unpacked(old, &mut blob, &arrived, progress)?;
        let written = blob.finish()?;
        writer.flush()?;
        read_back.map_or(Ok(()), |read_back| read_back.finish(written.end()))?;
        Ok(written)
    })
}

/// Passes on an executable that was written to a temporary file, once it is read back.
fn pass_spooled<D: Destination>(
    spool: fs::File,
    writer: &mut Writer<D>,
    old: &ExecutableBlob<'_>,
    progress: &Counted<'_>,
) -> Result<Written, Error> {
    let spooled = OpenOptions::new().source(LocalFile::of(spool, None)?)?;
    let new = spooled.blob(0).ok_or_else(|| wrong(old.blob()))?;
    same_unpacked(old.blob(), &new, progress)?;
    Ok(writer.copy(new)?)
}

fn fill<D: Destination>(mut blob: BlobWriter<&mut Writer<D>>, data: &mut dyn Read) -> Result<Written, Error> {
    copy(data, &mut blob, &Silent)?;
    Ok(blob.finish()?)
}

impl fmt::Debug for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Path(path, overwrite) => f.debug_tuple("Path").field(path).field(overwrite).finish(),
            Target::In(folder, name) => f.debug_tuple("In").field(folder).field(name).finish(),
            Target::Stream(_) => f.debug_tuple("Stream").finish_non_exhaustive(),
            Target::Nowhere => f.write_str("Nowhere"),
            Target::Trial(path, overwrite) => f.debug_tuple("Trial").field(path).field(overwrite).finish(),
            Target::Store(_) => f.debug_tuple("Store").finish_non_exhaustive(),
        }
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            To::Back(writer) => writer.fmt(f),
            To::Forward(writer) => writer.fmt(f),
        }
    }
}

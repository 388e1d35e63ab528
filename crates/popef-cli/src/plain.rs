//! Files that are not PopEF: pages and timelines.

use std::io::{self, Write};
use std::path::Path;

use popef::File;
use popef_open::is_stdin;
use popef_ops::{Code, Error, Overwrite, PlainFile};
use popef_show::{Kind, UntilClosed, size};

use crate::common::Place;
use crate::end::unwritten;
use crate::tool::Tool;

/// A file that is written, or only counted.
#[derive(Debug)]
pub enum Plain {
    /// Standard output, until nobody reads there.
    Stdout(UntilClosed<io::Stdout>),
    /// A file, which appears once it is complete.
    File(PlainFile),
    /// A dry run, with the number of bytes so far.
    Counted(u64),
}

impl Place<'_> {
    /// Fails if the file would replace one of these further sources.
    pub fn check_sources(self, sources: impl IntoIterator<Item: AsRef<Path>>) -> Result<(), Error> {
        match self.path.filter(|path| !is_stdin(path) && !popef_open::is_elsewhere(path)) {
            Some(path) => Overwrite::Others.check_sources(path, sources),
            None => Ok(()),
        }
    }

    /// Begins the file. A dry run fails as the real run would. The file never replaces `sources` and `files`, which the command reads.
    pub fn begin<'f>(
        self,
        sources: impl IntoIterator<Item: AsRef<Path>>,
        files: impl IntoIterator<Item = &'f File>,
    ) -> Result<Plain, Error> {
        let overwrite = if self.force { Overwrite::Others } else { Overwrite::Never };
        refuse_elsewhere(self.path)?;
        match self.path.filter(|path| !is_stdin(path)) {
            Some(path) if self.dry_run => PlainFile::check(path, overwrite, sources, files).map(|_| Plain::Counted(0)),
            Some(path) => PlainFile::of_sources(path, overwrite, sources, files).map(Plain::File),
            None if self.dry_run => Ok(Plain::Counted(0)),
            None => Ok(Plain::Stdout(UntilClosed::new(io::stdout()))),
        }
    }

    /// Adds the path of the file, if it has one, to an error of writing.
    pub fn of_file(self, error: Error) -> Error {
        match self.path.filter(|path| !is_stdin(path)) {
            Some(path) => error.in_file(path),
            None => error,
        }
    }

    /// Puts the file in its place. After a dry run, says how large it would be. `noun` says what the file is.
    pub fn finish(self, tool: &Tool, plain: Plain, noun: &'static str) -> Result<(), Error> {
        match plain {
            Plain::Stdout(_) => Ok(()),
            Plain::File(file) => file.finish(),
            Plain::Counted(len) => {
                let mut out = tool.out();
                out.put("would write ").put(noun).put(" of ").put(size(len));
                if let Some(path) = self.path.filter(|path| !is_stdin(path)) {
                    out.put(" to ").text(Kind::Plain, &path.as_os_str().as_encoded_bytes().into());
                }
                out.end_line().and_then(|()| out.send()).map_err(unwritten)
            }
        }
    }
}

/// Fails if a file that is not PopEF would be written to another machine.
pub fn refuse_elsewhere(path: Option<&Path>) -> Result<(), Error> {
    let Some(path) = path.filter(|path| popef_open::is_elsewhere(path)) else { return Ok(()) };
    let message =
        "only PopEF files are written to other machines; write it here, and copy it with the store's own tool";
    Err(Error::new(Code::WrongArguments, message).in_file(path))
}

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Plain::Stdout(stdout) => stdout.write(bytes),
            Plain::File(file) => file.write(bytes),
            Plain::Counted(len) => {
                *len = len.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Plain::Stdout(stdout) => stdout.flush(),
            Plain::File(file) => file.flush(),
            Plain::Counted(_) => Ok(()),
        }
    }
}

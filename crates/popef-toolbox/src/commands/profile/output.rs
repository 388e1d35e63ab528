//! Files that are written: the timeline and the page.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use popef_open::is_stdin;
use popef_ops::{Code, Error, Overwrite, PlainFile};

use super::Args;
use crate::common::signals::{hear_signals, is_stopped};
use crate::common::tool::Tool;

impl Args {
    /// The new file; none for standard output. It never replaces what is read.
    fn place(&self, path: &Path) -> Result<Option<PlainFile>, Error> {
        if is_stdin(path) {
            return Ok(None);
        }
        let overwrite = if self.force { Overwrite::Others } else { Overwrite::Never };
        overwrite.check_sources(path, self.inputs())?;
        PlainFile::create(path, overwrite, []).map(Some)
    }

    /// Fails early if a file must not be replaced: reading may take long.
    pub(super) fn check_place(&self) -> Result<(), Error> {
        self.trace.iter().chain(&self.output).try_for_each(|path| self.place(path).map(drop))
    }

    /// Writes a file, which is there only if it is complete. `write` asks from time to time whether it is to stop.
    pub(super) fn write_file<T>(
        &self,
        tool: &Tool,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> Result<T, Error> {
        if let Err(error) = hear_signals() {
            tool.say(&format!("cannot listen for Ctrl-C: {error}"));
        }
        let written = match self.place(path)? {
            Some(mut file) => match buffered(&mut file, write) {
                Ok(written) => file.finish().map(|()| Ok(written))?,
                Err(error) => Err(error),
            },
            None => buffered(&mut io::stdout().lock(), write),
        };
        match written {
            Err(_) if is_stopped() => Err(Error::new(Code::Stopped, "the work was stopped")),
            written => written.map_err(|error| Error::io("write the file", error).in_file(path)),
        }
    }
}

fn buffered<T>(to: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
    let mut buffer = BufWriter::with_capacity(64 << 10, to);
    let written = write(&mut buffer)?;
    buffer.flush()?;
    Ok(written)
}

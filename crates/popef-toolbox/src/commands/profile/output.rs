//! Files that are written: the timeline and the page.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use popef_cli::common::Place;
use popef_cli::plain::Plain;
use popef_cli::signals::{hear_signals, is_stopped};
use popef_cli::tool::Tool;
use popef_ops::{Code, Error};

use super::Args;

impl Args {
    pub(super) fn place<'p>(&self, path: &'p Path) -> Place<'p> {
        Place { path: Some(path), force: self.force, dry_run: self.dry_run }
    }

    fn begin(&self, path: &Path) -> Result<Plain, Error> {
        self.place(path).begin(self.inputs(), [])
    }

    /// Fails early if a file must not be replaced: reading may take long.
    pub(super) fn check_place(&self) -> Result<(), Error> {
        self.trace.iter().chain(&self.output).try_for_each(|path| self.begin(path).map(drop))
    }

    /// Writes a file, which is there only if it is complete. `write` asks from time to time whether it is to stop. `noun` is what the
    /// file is.
    pub(super) fn write_file<T>(
        &self,
        tool: &Tool,
        path: &Path,
        noun: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> Result<T, Error> {
        if let Err(error) = hear_signals() {
            tool.say(&format!("cannot listen for Ctrl-C: {error}"));
        }
        let mut plain = self.begin(path)?;
        match buffered(&mut plain, write) {
            Err(_) if is_stopped() => Err(Error::new(Code::Stopped, "the work was stopped")),
            Err(error) => Err(self.place(path).of_file(Error::io("write the file", error))),
            Ok(written) => self.place(path).finish(tool, plain, noun).map(|()| written),
        }
    }
}

fn buffered<T>(to: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
    let mut buffer = BufWriter::with_capacity(64 << 10, to);
    let written = write(&mut buffer)?;
    buffer.flush()?;
    Ok(written)
}

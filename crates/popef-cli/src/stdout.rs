//! Standard output: what goes there, and how it tells programs that a call failed.

use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use popef::types::Diagnostic;
use popef_ops::{Code, Error};
use popef_show::{Out, UntilClosed};
use serde::Serialize;

use crate::common::Common;
#[cfg(feature = "remote")]
use crate::format::NETWORK;
use crate::format::{Format, json_document, json_line};

/// What a command does with standard output, from its options.
#[derive(Clone, Debug)]
pub struct Stdout {
    /// Whether the file that the command makes goes there. If so, reports go elsewhere.
    takes_file: bool,
    /// The kind of JSON that a program expects there.
    json: Option<Format>,
    /// Whether something was written there.
    begun: Arc<AtomicBool>,
}

impl Stdout {
    /// Takes the options of any command.
    pub fn of(common: &Common<'_>) -> Self {
        let takes_file = common.fills_stdout();
        let json = common.format.filter(|format| *format != Format::Text && !takes_file);
        Stdout { takes_file, json, begun: Arc::default() }
    }

    /// Whether the command's own file goes there.
    pub(crate) fn takes_file(&self) -> bool {
        self.takes_file
    }

    /// Fails if a file would go to a terminal, which would obey its bytes.
    pub fn check(&self) -> Result<(), Error> {
        let message = "the file is not written to a terminal; add > FILE";
        if self.takes_file && io::stdout().is_terminal() {
            Err(Error::new(Code::WrongArguments, message))
        } else {
            Ok(())
        }
    }

    /// A writer to standard output. A missing reader is not an error: the exit status is that of the work.
    pub fn writer(&self) -> Box<dyn Write> {
        self.writer_to(UntilClosed::new(io::stdout()))
    }

    /// A writer to standard output that fails once nobody reads there.
    pub fn read_writer(&self) -> Box<dyn Write> {
        self.writer_to(io::stdout())
    }

    fn writer_to(&self, to: impl Write + 'static) -> Box<dyn Write> {
        let stdout = Watched { to, begun: self.begun.clone() };
        match self.json {
            Some(Format::Ndjson) => Box::new(WholeLines { to: stdout, rest: Vec::new() }),
            _ => Box::new(stdout),
        }
    }

    /// Writes the error that ended the call. A document that was begun has no place for it.
    pub fn tell(&self, error: Diagnostic) -> io::Result<()> {
        let failed = Failed { error };
        let mut out = Out::new(Box::new(io::stdout()), false);
        match self.json {
            Some(Format::Json) if !self.begun.load(Ordering::Relaxed) => json_document(&mut out, &failed)?,
            Some(Format::Ndjson) => json_line(&mut out, "error", &failed)?,
            _ => {}
        }
        out.send()
    }

    /// Writes the cost of files on other machines as a line. Documents have it as a member.
    #[cfg(feature = "remote")]
    pub fn tell_cost(&self) -> io::Result<()> {
        if self.json != Some(Format::Ndjson) {
            return Ok(());
        }
        let mut out = Out::new(Box::new(io::stdout()), false);
        json_line(&mut out, "network", &NETWORK)?;
        out.send()
    }
}

/// The error if data that is not text would go to a terminal.
pub fn no_terminal(what: &str, instead: &str) -> Error {
    Error::new(Code::WrongArguments, format!("{what} is binary, and is not written to a terminal; {instead}"))
}

#[derive(Serialize)]
struct Failed {
    error: Diagnostic,
}

/// Standard output, and whether anything was written there.
struct Watched<W> {
    to: W,
    begun: Arc<AtomicBool>,
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            self.begun.store(true, Ordering::Relaxed);
        }
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Passes on only whole lines. A line that an error cuts is not written, so that the error can be the next line.
struct WholeLines<W> {
    to: W,
    rest: Vec<u8>,
}

impl<W: Write> Write for WholeLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (whole, rest) = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => bytes.split_at(end.saturating_add(1)),
            None => (&[][..], bytes),
        };
        if !whole.is_empty() {
            self.to.write_all(&self.rest)?;
            self.rest.clear();
            self.to.write_all(whole)?;
        }
        self.rest.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

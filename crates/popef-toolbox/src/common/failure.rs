//! How a call that fails tells programs: as JSON, on standard output.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ArgMatches;
use popef_ops::{Error, ErrorReport, InFile};
use popef_show::Out;
use serde::Serialize;

use super::format::{Format, json_document, json_line};

/// What a program expects on standard output.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// `None` if the command writes no JSON there, because it has no `--format` or its file goes there.
    json: Option<Format>,
    /// Whether something was written there.
    begun: Arc<AtomicBool>,
}

impl Expected {
    /// What the options of a command say, whatever the command is.
    pub(crate) fn by(tool: &ArgMatches) -> Self {
        let json = tool.subcommand().and_then(|(_, options)| {
            let format =
                last(options, "format").and_then(|name| Format::ALL.into_iter().find(|format| name == format.name()));
            format.filter(|format| *format != Format::Text && !writes_file_to_stdout(options))
        });
        Expected { json, begun: Arc::default() }
    }

    /// A writer to standard output.
    pub(crate) fn stdout(&self) -> Box<dyn Write> {
        let stdout = Watched { to: io::stdout(), begun: self.begun.clone() };
        match self.json {
            Some(Format::Ndjson) => Box::new(WholeLines { to: stdout, rest: Vec::new() }),
            _ => Box::new(stdout),
        }
    }

    /// Tells of the error that ended the call. A document that was begun cannot take it.
    pub(crate) fn tell(&self, error: &Error, report: ErrorReport) -> io::Result<()> {
        let failed = Failed { file: error.path().map(InFile::from), error: report };
        let mut out = Out::new(Box::new(io::stdout()), false);
        match self.json {
            Some(Format::Json) if !self.begun.load(Ordering::Relaxed) => json_document(&mut out, &failed)?,
            Some(Format::Ndjson) => json_line(&mut out, "error", &failed)?,
            _ => {}
        }
        out.send()
    }
}

fn last<'m>(options: &'m ArgMatches, name: &str) -> Option<&'m OsStr> {
    options.try_get_raw(name).ok().flatten().and_then(Iterator::last)
}

fn writes_file_to_stdout(options: &ArgMatches) -> bool {
    let is_trial = options.try_get_one("dry_run").ok().flatten().is_some_and(|is_given: &bool| *is_given);
    last(options, "output").is_some_and(|path| path == "-") && !is_trial
}

#[derive(Serialize)]
struct Failed {
    #[serde(flatten)]
    file: Option<InFile>,
    error: ErrorReport,
}

/// Standard output, and whether anything was written there.
struct Watched {
    to: io::Stdout,
    begun: Arc<AtomicBool>,
}

impl Write for Watched {
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

/// Passes on only whole lines. Of a line that an error ends, nothing is written, and the error can be the next line.
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

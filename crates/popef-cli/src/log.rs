//! The log of reading, which `-v` or the variables of the vendor's library turn on.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use popef::types::redact;
use popef_open::{Network, Opened};
use popef_show::escape;

use crate::program::Program;

/// The levels, from the one that logs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    Trace,
    Debug,
    Info,
    Warn,
    Err,
    Off,
}

pub(crate) struct Log {
    program: Program,
    level: Verbosity,
    to: Mutex<Box<dyn Write + Send>>,
}

impl Log {
    /// The log that `-v` and the environment ask for. Says what is wrong with the environment.
    pub(crate) fn from_environment(program: Program, verbose: bool) -> Log {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let (level, to) = (variable("POPEF_LOG_LEVEL"), variable("POPEF_LOG_DEST"));
        let (log, complaints) = Log::new(program, verbose, level.as_deref(), to.as_deref());
        complaints.iter().for_each(|complaint| program.complain(complaint));
        log
    }

    /// The log, and complaints about the environment. Of `-v` and `level`, the one that logs more counts.
    fn new(program: Program, verbose: bool, level: Option<&str>, to: Option<&str>) -> (Log, Vec<String>) {
        let mut complaints = Vec::new();
        let asked = level.map_or(Verbosity::Off, |name| {
            let known = Verbosity::named(name);
            if known.is_none() {
                complaints.push(format!(
                    "POPEF_LOG_LEVEL is {name:?}, which is not a level (TRACE, DEBUG, INFO, WARN, ERR or OFF), and is ignored"
                ));
            }
            known.unwrap_or(Verbosity::Off)
        });
        let level = if verbose { asked.min(Verbosity::Debug) } else { asked };
        let to = if level == Verbosity::Off { Ok(stderr()) } else { destination(to.unwrap_or_default()) };
        let to = to.unwrap_or_else(|error| {
            complaints.push(format!("cannot write the log to POPEF_LOG_DEST: {error}; it is written to stderr"));
            stderr()
        });
        (Log { program, level, to: Mutex::new(to) }, complaints)
    }

    pub(crate) fn logs(&self, level: Verbosity) -> bool {
        level >= self.level && self.level != Verbosity::Off
    }

    /// Logs that a file is about to be read.
    pub(crate) fn opening(&self, path: &Path) {
        self.line(Verbosity::Debug, || format!("{}: reading", escape(&path.to_string_lossy())));
    }

    /// Logs the cost of a file on another machine so far.
    pub(crate) fn cost(&self, opened: &Opened) {
        let Some(cost) = opened.network.as_ref().map(Network::cost) else { return };
        let path = opened.path.to_string_lossy();
        self.line(Verbosity::Debug, || format!("{}: {cost}", escape(&path)));
    }

    /// Writes a line, in which addresses lose their secrets. Its text is made only if it is logged.
    pub(crate) fn line(&self, level: Verbosity, text: impl FnOnce() -> String) {
        if self.logs(level) {
            let line = format!("[{}] [{}] {}\n", self.program, level.name(), redact(&text()));
            // The tool goes on without a log.
            let _ = self.to.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        }
    }
}

fn stderr() -> Box<dyn Write + Send> {
    Box::new(io::stderr())
}

fn destination(name: &str) -> io::Result<Box<dyn Write + Send>> {
    Ok(match name {
        "" | "stderr" => stderr(),
        "stdout" => Box::new(io::stdout()),
        path => Box::new(File::create(path)?),
    })
}

impl Verbosity {
    const NAMES: [(&str, Verbosity); 6] = [
        ("TRACE", Verbosity::Trace),
        ("DEBUG", Verbosity::Debug),
        ("INFO", Verbosity::Info),
        ("WARN", Verbosity::Warn),
        ("ERR", Verbosity::Err),
        ("OFF", Verbosity::Off),
    ];

    fn named(name: &str) -> Option<Verbosity> {
        Verbosity::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, level)| level)
    }

    fn name(self) -> String {
        let named = Verbosity::NAMES.iter().find(|&&(_, level)| level == self);
        named.map_or("", |(name, _)| name).to_ascii_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, Verbosity};
    use crate::program::Program;

    const TOOL: Program = Program { name: "tool", explain: "tool explain", tells_unread: false };

    #[test]
    fn levels_add_up() {
        let log = |verbose, level| Log::new(TOOL, verbose, level, None).0;
        assert!(!log(false, None).logs(Verbosity::Err));
        assert!(!log(false, Some("OFF")).logs(Verbosity::Err));
        assert!(log(true, None).logs(Verbosity::Debug) && !log(true, None).logs(Verbosity::Trace));
        assert!(log(true, Some("TRACE")).logs(Verbosity::Trace) && log(true, Some("ERR")).logs(Verbosity::Debug));
        assert!(log(false, Some("warn")).logs(Verbosity::Err) && !log(false, Some("warn")).logs(Verbosity::Info));
        assert_eq!(Log::new(TOOL, false, Some("LOUD"), None).1.len(), 1);
    }
}

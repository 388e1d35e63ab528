//! What is being read, for those who want to know: by `-v`, or by the variables of the vendor's library.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// From the most said to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Err,
    Off,
}

pub(crate) struct Log {
    level: Level,
    to: Mutex<Box<dyn Write + Send>>,
}

impl Log {
    /// By `-v` and the two variables' values: the level that says more counts. With the log come complaints about the
    /// variables, to be shown.
    pub(crate) fn new(verbose: bool, level: Option<&str>, to: Option<&str>) -> (Log, Vec<String>) {
        let mut complaints = Vec::new();
        let asked = level.map_or(Level::Off, |name| {
            let known = Level::named(name);
            if known.is_none() {
                complaints.push(format!(
                    "POPEF_LOG_LEVEL is {name:?}, which is none of TRACE, DEBUG, INFO, WARN, ERR, OFF; nothing is logged by it"
                ));
            }
            known.unwrap_or(Level::Off)
        });
        let level = if verbose { asked.min(Level::Debug) } else { asked };
        let to = if level == Level::Off { Ok(stderr()) } else { destination(to.unwrap_or_default()) };
        let to = to.unwrap_or_else(|error| {
            complaints.push(format!("cannot write the log to POPEF_LOG_DEST: {error}; it goes to stderr"));
            stderr()
        });
        (Log { level, to: Mutex::new(to) }, complaints)
    }

    pub(crate) fn logs(&self, level: Level) -> bool {
        level >= self.level && self.level != Level::Off
    }

    /// Writes a line; its text is made only if it is wanted.
    pub(crate) fn line(&self, level: Level, text: impl FnOnce() -> String) {
        if self.logs(level) {
            let line = format!("[popef-dump] [{}] {}\n", level.name(), text());
            // Who cannot log goes on without.
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

impl Level {
    const NAMES: [(&str, Level); 6] = [
        ("TRACE", Level::Trace),
        ("DEBUG", Level::Debug),
        ("INFO", Level::Info),
        ("WARN", Level::Warn),
        ("ERR", Level::Err),
        ("OFF", Level::Off),
    ];

    fn named(name: &str) -> Option<Level> {
        Level::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, level)| level)
    }

    fn name(self) -> String {
        let named = Level::NAMES.iter().find(|&&(_, level)| level == self);
        named.map_or("", |(name, _)| name).to_ascii_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Log};

    #[test]
    fn levels_add_up() {
        let log = |verbose, level| Log::new(verbose, level, None).0;
        assert!(!log(false, None).logs(Level::Err));
        assert!(!log(false, Some("OFF")).logs(Level::Err));
        assert!(log(true, None).logs(Level::Debug) && !log(true, None).logs(Level::Trace));
        assert!(log(true, Some("TRACE")).logs(Level::Trace) && log(true, Some("ERR")).logs(Level::Debug));
        assert!(log(false, Some("warn")).logs(Level::Err) && !log(false, Some("warn")).logs(Level::Info));
        assert_eq!(Log::new(false, Some("LOUD"), None).1.len(), 1);
    }
}

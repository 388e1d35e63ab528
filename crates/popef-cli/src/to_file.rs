//! Chooses the format of a file that a command writes with --output: one rule for all commands.
//!
//! `--format` counts first, then the ending of the file's name. A file with any other name, and standard output as a file, get the
//! command's own format for files: a page or a picture. Without --output, a report is text.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use popef::error::ErrorCode;
use popef_open::is_stdin;
use popef_ops::Error;
use popef_show::Out;

use crate::common::Place;
use crate::end::{unwritten, wrong};
use crate::plain::Plain;
use crate::signals::is_stopped;
use crate::tool::Tool;

/// Endings of names, and their formats. The first one that fits counts.
const ENDS: [(&str, &str); 14] = [
    ("sarif", "sarif"),
    ("sarif.json", "sarif"),
    ("xml", "junit"),
    ("html", "html"),
    ("htm", "html"),
    ("svg", "svg"),
    ("json", "json"),
    ("ndjson", "ndjson"),
    ("jsonl", "ndjson"),
    ("csv", "csv"),
    ("txt", "text"),
    ("dot", "dot"),
    ("gv", "dot"),
    ("mmd", "mermaid"),
];

/// Endings of names for formats that no command writes.
const OTHERS: [&str; 26] = [
    "bmp", "cbor", "doc", "docx", "eps", "gif", "jpeg", "jpg", "md", "npy", "npz", "ods", "parquet", "pdf", "png",
    "ps", "sqlite", "tif", "tiff", "toml", "tsv", "webp", "xls", "xlsx", "yaml", "yml",
];

/// The formats that a command can write into a file.
#[derive(Debug)]
pub struct Forms<'f, F> {
    /// The command, for the error: `popef graph`.
    pub command: &'static str,
    /// All formats of the command.
    pub all: &'f [F],
    /// Returns the name of a format.
    pub name: fn(F) -> &'static str,
    /// The format of a file whose name says nothing.
    pub of_file: F,
    /// The format of a report without a file.
    pub of_report: F,
}

impl<F: Copy> Forms<'_, F> {
    /// The format that the options choose.
    pub fn chosen(&self, given: Option<F>, output: Option<&Path>) -> Result<F, Error> {
        match (given, output) {
            (Some(given), _) => Ok(given),
            (None, None) => Ok(self.of_report),
            (None, Some(output)) => self.by_name(output),
        }
    }

    fn by_name(&self, output: &Path) -> Result<F, Error> {
        let Some(name) = output.file_name().filter(|_| !is_stdin(output)).and_then(OsStr::to_str) else {
            return Ok(self.of_file);
        };
        let name = name.to_ascii_lowercase();
        let ends_with = |end: &str| name.strip_suffix(end).is_some_and(|name| name.len() > 1 && name.ends_with('.'));
        let form = match ENDS.into_iter().find(|(end, _)| ends_with(end)) {
            Some((_, form)) => form,
            None => match OTHERS.into_iter().find(|end| ends_with(end)) {
                Some(end) => return Err(self.has_no(end, output)),
                None => return Ok(self.of_file),
            },
        };
        self.all.iter().copied().find(|known| (self.name)(*known) == form).ok_or_else(|| self.has_no(form, output))
    }

    fn has_no(&self, form: &str, output: &Path) -> Error {
        let names: Vec<_> = self.all.iter().map(|form| (self.name)(*form)).collect();
        let message =
            format!("{} does not write {form}, which the name asks for, but {}", self.command, names.join(", "));
        wrong(message).in_file(output)
    }
}

impl Place<'_> {
    /// Writes a report into the file, which appears only if it is complete, and never replaces one of `inputs`. `noun` says what the file
    /// is.
    pub fn write_report<T>(
        self,
        tool: &Tool,
        inputs: &[&Path],
        noun: &'static str,
        write: impl FnOnce(&mut Out) -> Result<T, Error>,
    ) -> Result<T, Error> {
        tool.hear_signals();
        let shared = Shared(Rc::new(RefCell::new(Some(self.begin(inputs, [])?))));
        let mut out = Out::new(Box::new(shared.clone()), false);
        let written = write(&mut out).and_then(|written| out.send().map_err(unwritten).map(|()| written));
        if is_stopped() {
            return Err(Error::new(ErrorCode::Stopped, "the work was stopped"));
        }
        let written = written.map_err(|error| if error.path().is_none() { self.of_file(error) } else { error })?;
        if let Some(plain) = shared.0.take() {
            self.finish(tool, plain, noun)?;
        }
        Ok(written)
    }
}

/// The file while it is written, shared between the writer and its owner.
#[derive(Clone)]
struct Shared(Rc<RefCell<Option<Plain>>>);

impl Shared {
    fn with<T>(&self, work: impl FnOnce(&mut Plain) -> io::Result<T>) -> io::Result<T> {
        match self.0.borrow_mut().as_mut() {
            Some(plain) if !is_stopped() => work(plain),
            _ => Err(io::Error::other("stopped")),
        }
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|plain| plain.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Forms;

    const FORMS: Forms<'_, &str> = Forms {
        command: "popef graph",
        all: &["text", "json", "html"],
        name: |form| form,
        of_file: "html",
        of_report: "text",
    };

    #[test]
    fn the_name_says_the_format_unless_format_does() {
        let chosen = |given, output: Option<&'static str>| FORMS.chosen(given, output.map(Path::new)).unwrap();
        assert_eq!(chosen(None, None), "text");
        assert_eq!(chosen(None, Some("a.HTML")), "html");
        assert_eq!(chosen(None, Some("a.htm")), "html");
        assert_eq!(chosen(None, Some("a.json")), "json");
        assert_eq!(chosen(None, Some("a.html.txt")), "text");
        assert_eq!(chosen(None, Some("page")), "html");
        assert_eq!(chosen(None, Some("-")), "html");
        assert_eq!(chosen(None, Some(".json")), "html");
        assert_eq!(chosen(Some("json"), Some("a.html")), "json");
        assert_eq!(chosen(Some("html"), Some("a.png")), "html");
        let error = FORMS.chosen(None, Some(Path::new("a.PNG"))).unwrap_err();
        assert!(error.to_string().starts_with("a.PNG: popef graph does not write png"), "{error}");
        let error = FORMS.chosen(None, Some(Path::new("a.svg"))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.svg: popef graph does not write svg, which the name asks for, but text, json, html"
        );
    }
}

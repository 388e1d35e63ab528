//! Files of other formats, recognised by their first bytes.

use std::fmt;
use std::path::Path;

use popef::seam::is_pickle;
use popef::types::escape;

use crate::shell::shell_path;

/// What is said of a folder in the place of a single file.
pub const FOLDER: &str = "this is a folder; give a file in it";

/// The words that a command gets in place of a folder.
const LIST: &str = "--files-from -";

/// The kind of a file that is clearly not PopEF, and what to do about it.
///
/// It displays as one sentence: `this is not a PopEF file, it is a ZIP archive; ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    said: String,
    pipe: Option<Pipe>,
}

/// A pipe through which a command can read the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pipe {
    /// The words between the sentence and the pipe.
    lead: &'static str,
    /// The command before the pipe.
    from: String,
    /// The words that the command after the pipe gets in place of the file.
    instead: &'static str,
}

impl Foreign {
    /// The kind of this error, beside the library's [`ErrorKind`](popef::error::ErrorKind)s. To the library, a foreign
    /// file is a damaged one.
    pub const KIND: &str = "notPopef";
    /// The code of this error, beside the library's [`ErrorCode`](popef::error::ErrorCode)s.
    pub const CODE: &str = "not-popef";

    /// The sentence, with `command` as the command after the pipe, if there is a pipe. `Display` has `popef-dump`
    /// there.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// let opened = popef_open::open(Path::new("."), popef_open::StreamData::Skip);
    /// let sentence = opened.foreign.unwrap().advising("popef ls");
    /// assert!(sentence.starts_with("this is a folder; give the files in it, or a list of them: find -H . "), "{sentence}");
    /// ```
    pub fn advising(&self, command: &str) -> String {
        self.advising_line(|instead| Some(format!("{command} {instead}")))
    }

    /// The sentence with the line that `line` makes of the words in place of the file. If it makes none, the pipe is
    /// left out.
    ///
    /// ```
    /// let opened = popef_open::open(std::path::Path::new("."), popef_open::StreamData::Skip);
    /// let foreign = opened.foreign.unwrap();
    /// let sentence = foreign.advising_line(|instead| Some(format!("popef check --each {instead}")));
    /// assert!(sentence.ends_with("| popef check --each --files-from -"), "{sentence}");
    /// assert_eq!(foreign.advising_line(|_| None), "this is a folder; give the files in it");
    /// ```
    pub fn advising_line(&self, line: impl FnOnce(&str) -> Option<String>) -> String {
        let Foreign { said, pipe } = self;
        let line = pipe.as_ref().and_then(|pipe| Some((pipe, line(pipe.instead)?)));
        line.map_or_else(|| said.clone(), |(Pipe { lead, from, .. }, line)| format!("{said}{lead}{from} | {line}"))
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| pipe.instead == LIST)
    }

    pub(crate) fn folder(path: &Path) -> Self {
        let path = typed(path, "FOLDER");
        let from = format!("find -H {path} '(' -name '*.popef' -o -name '*.poptorch' ')' -print0 | sort -z");
        let pipe = Pipe { lead: ", or a list of them: ", from, instead: LIST };
        Foreign { said: "this is a folder; give the files in it".to_owned(), pipe: Some(pipe) }
    }

    /// For a pipe on disk, which is not opened: its writer may never come.
    pub(crate) fn named_pipe(path: &Path) -> Self {
        let pipe = Pipe { lead: ": ", from: format!("cat {}", typed(path, "PIPE")), instead: "-" };
        Foreign { said: "this is a named pipe; give its bytes on standard input".to_owned(), pipe: Some(pipe) }
    }

    fn plain(said: String) -> Self {
        Foreign { said, pipe: None }
    }

    /// Says if the path of a missing file looks like an address. Addresses that can be read never come this far.
    pub(crate) fn address(path: &Path) -> Option<Self> {
        let (scheme, _) = path.to_str()?.split_once("://")?;
        let is_scheme =
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let why = if cfg!(feature = "remote") {
            "its scheme is not one of s3, gs, az, abfs, https, hf and file"
        } else {
            "this program was built without the network; popef reads addresses (docs/REMOTE.md)"
        };
        is_scheme
            .then(|| Foreign::plain(format!("this looks like an address, and there is no file with that name; {why}")))
    }
}

/// A path as a user can type it. A path that must be escaped to be shown cannot be copied.
fn typed(path: &Path, otherwise: &str) -> String {
    shell_path(path).filter(|path| escape(path) == *path).unwrap_or_else(|| otherwise.to_owned())
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.advising("popef-dump"))
    }
}

/// The number of a file's first bytes that are needed: up to the mark of a tar archive.
pub(crate) const LEN: u64 = 512;

/// The bytes that all files of a format have at one position, the name of the format, and advice: a sentence, or the command that unpacks
/// the file into a pipe.
struct Mark {
    at: usize,
    bytes: &'static [u8],
    what: &'static str,
    advice: &'static str,
}

const fn mark(at: usize, bytes: &'static [u8], what: &'static str, advice: &'static str) -> Mark {
    Mark { at, bytes, what, advice }
}

const MARKS: &[Mark] = &[
    mark(
        0,
        b"PK\x03\x04",
        "a ZIP archive",
        "PyTorch's .pt and NumPy's .npz files are ZIP archives; to read a PopEF file in it, unpack it first",
    ),
    mark(0, b"PK\x05\x06", "an empty ZIP archive", ""),
    mark(0, b"\x7fELF", "an ELF file, a program or library of Linux", ""),
    mark(0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", "Keras saves weights in this format"),
    mark(0, b"\x1f\x8b", "compressed with gzip", "gzip -dc FILE |"),
    mark(0, b"\x28\xb5\x2f\xfd", "compressed with zstd", "zstd -dc FILE |"),
    mark(0, b"\xfd7zXZ\0", "compressed with xz", "xz -dc FILE |"),
    mark(0, b"BZh", "compressed with bzip2", "bzip2 -dc FILE |"),
    mark(0, b"\x04\x22\x4d\x18", "compressed with LZ4", "lz4 -dc FILE |"),
    mark(257, b"ustar", "a tar archive", "list what is in it with tar -tf"),
    mark(0, b"\x93NUMPY", "a NumPy array", ""),
    mark(0, b"GGUF", "a GGUF model", ""),
    mark(4, b"TFL3", "a TensorFlow Lite model", ""),
    mark(
        0,
        b"GC_EXE_",
        "a bare Poplar executable",
        "popef tiles exec shows its tiles; an executable blob of a PopEF file holds such data",
    ),
    mark(0, b"!<arch>\n", "a Unix archive", "if it is Poplar's archive.a, popef tiles exec shows its tiles"),
    mark(0, b"version https://git-lfs", "a Git LFS pointer", "get the file itself with git lfs pull"),
    mark(0, b"SQLite format 3\0", "an SQLite database", ""),
    mark(0, b"%PDF-", "a PDF document", ""),
    mark(0, b"\x89PNG\r\n\x1a\n", "a PNG image", ""),
    mark(0, b"MZ", "a program of Windows", ""),
    mark(0, b"\xcf\xfa\xed\xfe", "a program of macOS", ""),
];

/// Recognises a file by its first bytes.
pub(crate) fn recognize(first: &[u8]) -> Option<Foreign> {
    let (what, advice) = by_mark(first).or_else(|| by_look(first))?;
    let said = format!("this is not a PopEF file, it is {what}");
    Some(match advice.strip_suffix(" |") {
        Some(from) => {
            let pipe = Pipe { lead: "; for a PopEF file in it: ", from: from.to_owned(), instead: "-" };
            Foreign { said, pipe: Some(pipe) }
        }
        None if advice.is_empty() => Foreign::plain(said),
        None => Foreign::plain(format!("{said}; {advice}")),
    })
}

/// Recognises a file by its mark.
pub(crate) fn by_mark(first: &[u8]) -> Option<(&'static str, &'static str)> {
    if is_pickle(first) {
        return Some(("a Python pickle", "loading it runs code that it names, so load it only if you trust it"));
    }
    let has = |mark: &&Mark| first.get(mark.at..).is_some_and(|rest| rest.starts_with(mark.bytes));
    MARKS.iter().find(has).map(|mark| (mark.what, mark.advice))
}

/// Formats without a fixed mark.
fn by_look(first: &[u8]) -> Option<(&'static str, &'static str)> {
    if first.get(8) == Some(&b'{') && first.get(6..8) == Some(&[0, 0]) {
        return Some(("a safetensors file", ""));
    }
    if first.len() >= 64 && first.iter().all(|&byte| byte == 0) {
        return Some(("nothing but zeros at its start", "a download or copy that did not finish can look like this"));
    }
    // Field 1, a small number (the IR version), then field 2, a text (the producer).
    if let &[0x08, 1..=32, 0x12, len, ..] = first
        && let Some(producer) = first.get(4..).and_then(|rest| rest.get(..usize::from(len)))
        && producer.iter().all(u8::is_ascii_graphic)
    {
        return Some(("probably an ONNX model", "compile it for the IPU to get a PopEF file"));
    }
    is_text(first).then_some(("a text file", ""))
}

/// Whether the bytes are printable text. The last letter may be incomplete.
pub(crate) fn is_text(first: &[u8]) -> bool {
    let text = match std::str::from_utf8(first) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            first.get(..error.valid_up_to()).and_then(|whole| std::str::from_utf8(whole).ok()).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && text.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\r' | '\t'))
}

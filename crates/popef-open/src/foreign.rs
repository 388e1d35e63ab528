//! Files of other formats, recognised by their first bytes.

use std::fmt;
use std::path::Path;

use popef::error::{CodeInfo, ErrorCode};
use popef::seam::{codes, is_pickle};
use popef::types::{Diagnostic, escape};

use crate::shell::shell_path;

codes! {
    /// What is wrong with a file before the library can say it.
    pub enum Code;

    NotPopef = "not-popef", NotPopef,
        "The file is of another format, which the message names if it is known.",
        "Give a PopEF file.";
}

/// The words that a command gets in place of a folder.
const LIST: &str = "--files-from -";

/// The kind of a file that is clearly not PopEF, and what to do about it.
///
/// It displays as `this is not a PopEF file, it is a ZIP archive`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    info: CodeInfo,
    said: String,
    /// What to do, without a full stop. Empty if there is only the advice of the code.
    advice: &'static str,
    pipe: Option<Pipe>,
}

/// A pipe through which a command can read the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pipe {
    /// The words between the advice and the pipe.
    lead: &'static str,
    /// The command before the pipe.
    from: String,
    /// The words that the command after the pipe gets in place of the file.
    instead: &'static str,
}

impl Foreign {
    /// The file as an error. `line` makes the user's own line of the words in place of the file, and the advice has it after
    /// a pipe. If it makes none, the pipe is left out.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// let folder = Path::new(".");
    /// let foreign = popef_open::open(folder, popef_open::StreamData::Skip).foreign.unwrap();
    /// let error = foreign.describe(folder, |instead| Some(format!("popef check --each {instead}")));
    /// assert_eq!((&*error.code, &*error.message), ("is-folder", "this is a folder"));
    /// assert!(error.advice.ends_with("| popef check --each --files-from -"), "{}", error.advice);
    /// assert_eq!(foreign.describe(folder, |_| None).advice, "Give the files in it.");
    /// ```
    pub fn describe(&self, path: &Path, line: impl FnOnce(&str) -> Option<String>) -> Diagnostic {
        let mut described = Diagnostic::new(self.info, &*self.said).in_file(path);
        let line = self.pipe.as_ref().and_then(|pipe| Some((pipe, line(pipe.instead)?)));
        match line {
            Some((Pipe { lead, from, .. }, line)) => {
                described.advice = format!("{}{lead}{from} | {line}", self.advice).into();
            }
            None if self.advice.is_empty() => {}
            None => described.advice = format!("{}.", self.advice).into(),
        }
        described
    }

    /// What is known of the code.
    pub fn info(&self) -> CodeInfo {
        self.info
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.info == ErrorCode::IsFolder.info()
    }

    pub(crate) fn folder(path: &Path) -> Self {
        let path = typed(path, "FOLDER");
        let from = format!("find -H {path} '(' -name '*.popef' -o -name '*.poptorch' ')' -print0 | sort -z");
        let pipe = Pipe { lead: ", or a list of them: ", from, instead: LIST };
        let (info, advice) = (ErrorCode::IsFolder.info(), "Give the files in it");
        Foreign { info, said: "this is a folder".to_owned(), advice, pipe: Some(pipe) }
    }

    /// For a pipe on disk, which is not opened: its writer may never come.
    pub(crate) fn named_pipe(path: &Path) -> Self {
        let pipe = Pipe { lead: ": ", from: format!("cat {}", typed(path, "PIPE")), instead: "-" };
        let (info, advice) = (ErrorCode::NotRegularFile.info(), "Give its bytes on standard input");
        Foreign { info, said: NAMED_PIPE.to_owned(), advice, pipe: Some(pipe) }
    }

    /// Says if the path of a missing file looks like an address. Addresses that can be read never come this far.
    pub(crate) fn address(path: &Path) -> Option<Self> {
        let (scheme, _) = path.to_str()?.split_once("://")?;
        let is_scheme =
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let advice = if cfg!(feature = "remote") {
            "Give an address whose scheme is s3, gs, az, abfs, https, hf or file"
        } else {
            "This program was built without the network; popef reads addresses (docs/REMOTE.md)"
        };
        let said = "this looks like an address, and there is no file with that name".to_owned();
        is_scheme.then(|| Foreign { info: ErrorCode::NotFound.info(), said, advice, pipe: None })
    }
}

/// What is said of a pipe on disk.
pub(crate) const NAMED_PIPE: &str = "this is a named pipe";

/// A path as a user can type it. A path that must be escaped to be shown cannot be copied.
fn typed(path: &Path, otherwise: &str) -> String {
    shell_path(path).filter(|path| escape(path) == *path).unwrap_or_else(|| otherwise.to_owned())
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

/// The number of a file's first bytes that are needed: up to the mark of a tar archive.
pub(crate) const LEN: u64 = 512;

/// The bytes that all files of a format have at one position, the name of the format, and what to do.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    at: usize,
    bytes: &'static [u8],
    pub(crate) what: &'static str,
    advice: &'static str,
    /// The command that unpacks the file into a pipe.
    unpack: &'static str,
}

const fn mark(at: usize, bytes: &'static [u8], what: &'static str, advice: &'static str) -> Mark {
    Mark { at, bytes, what, advice, unpack: "" }
}

/// A format of compression.
const fn packed(bytes: &'static [u8], what: &'static str, unpack: &'static str) -> Mark {
    Mark { at: 0, bytes, what, advice: "", unpack }
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
    packed(b"\x1f\x8b", "compressed with gzip", "gzip -dc FILE"),
    packed(b"\x28\xb5\x2f\xfd", "compressed with zstd", "zstd -dc FILE"),
    packed(b"\xfd7zXZ\0", "compressed with xz", "xz -dc FILE"),
    packed(b"BZh", "compressed with bzip2", "bzip2 -dc FILE"),
    packed(b"\x04\x22\x4d\x18", "compressed with LZ4", "lz4 -dc FILE"),
    mark(257, b"ustar", "a tar archive", "List what is in it with tar -tf"),
    mark(0, b"\x93NUMPY", "a NumPy array", ""),
    mark(0, b"GGUF", "a GGUF model", ""),
    mark(4, b"TFL3", "a TensorFlow Lite model", ""),
    mark(
        0,
        b"GC_EXE_",
        "a bare Poplar executable",
        "popef tiles exec shows its tiles; an executable blob of a PopEF file holds such data",
    ),
    mark(0, b"!<arch>\n", "a Unix archive", "If it is Poplar's archive.a, popef tiles exec shows its tiles"),
    mark(0, b"version https://git-lfs", "a Git LFS pointer", "Get the file itself with git lfs pull"),
    mark(0, b"SQLite format 3\0", "an SQLite database", ""),
    mark(0, b"%PDF-", "a PDF document", ""),
    mark(0, b"\x89PNG\r\n\x1a\n", "a PNG image", ""),
    mark(0, b"MZ", "a program of Windows", ""),
    mark(0, b"\xcf\xfa\xed\xfe", "a program of macOS", ""),
];

/// Recognises a file by its first bytes.
pub(crate) fn recognize(first: &[u8]) -> Option<Foreign> {
    let Mark { what, advice, unpack, .. } = by_mark(first).or_else(|| by_look(first))?;
    let pipe = || Pipe { lead: "For a PopEF file in it: ", from: unpack.to_owned(), instead: "-" };
    let pipe = (!unpack.is_empty()).then(pipe);
    let said = format!("this is not a PopEF file, it is {what}");
    Some(Foreign { info: Code::NotPopef.info(), said, advice, pipe })
}

/// Recognises a file by its mark.
pub(crate) fn by_mark(first: &[u8]) -> Option<Mark> {
    if is_pickle(first) {
        return Some(mark(
            0,
            b"",
            "a Python pickle",
            "Loading it runs code that it names, so load it only if you trust it",
        ));
    }
    let has = |mark: &&Mark| first.get(mark.at..).is_some_and(|rest| rest.starts_with(mark.bytes));
    MARKS.iter().copied().find(|mark| has(&mark))
}

/// Formats without a fixed mark.
fn by_look(first: &[u8]) -> Option<Mark> {
    let looks = |what, advice| Some(mark(0, b"", what, advice));
    if first.get(8) == Some(&b'{') && first.get(6..8) == Some(&[0, 0]) {
        return looks("a safetensors file", "");
    }
    if first.len() >= 64 && first.iter().all(|&byte| byte == 0) {
        return looks("nothing but zeros at its start", "A download or copy that did not finish can look like this");
    }
    // Field 1, a small number (the IR version), then field 2, a text (the producer).
    if let &[0x08, 1..=32, 0x12, len, ..] = first
        && let Some(producer) = first.get(4..).and_then(|rest| rest.get(..usize::from(len)))
        && producer.iter().all(u8::is_ascii_graphic)
    {
        return looks("probably an ONNX model", "Compile it for the IPU to get a PopEF file");
    }
    if is_text(first) { looks("a text file", "") } else { None }
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

//! Answers completion scripts of shells: the names of the blobs in the files on the command line.
//!
//! The answer must come at once and do no harm. Only files on this machine are opened, only their headers are read, and a file that takes
//! too long gives no names. Names that a shell or a screen could misread are left out.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use popef::{Blob, File, OpenOptions};
use popef_show::{blob_name, escape, type_word};

/// The first argument of a request. After it come the kind of words, the typed part of the word, and the words of the line.
const ASKS: &str = "--__names";

/// The maximum number of names that are offered. If there are more, only those that begin with the typed part are
/// offered.
const MOST: usize = 1000;
/// The maximum number of words of a line that are tried as files.
const MOST_WORDS: usize = 64;
/// The maximum number of bytes that are read of a file.
const MOST_BYTES: u64 = 64 << 20;
/// The maximum time for a file.
const MOST_TIME: Duration = Duration::from_secs(2);

popef::seam::named! {
    /// The kind of names that an option or argument takes, with its word in a request.
    pub(crate) enum Names {
        /// The name of a blob.
        Blob = "blob",
        /// A pattern of names.
        Glob = "glob",
        /// The name of an executable.
        Executable = "executable",
        /// A type and a pattern: `tensor:weights`.
        Drop = "drop",
        /// A name and `=`, after which a new name is typed.
        Rename = "rename",
    }
}

impl Names {
    /// The word that is offered for a blob, if any.
    fn offer(self, blob: &Blob<'_>) -> Option<String> {
        let name = blob_name(blob);
        let name = name.to_str().ok().filter(|name| is_sound(name))?;
        Some(match self {
            Names::Blob => name.to_owned(),
            Names::Glob => pattern(name),
            Names::Executable => blob.as_metadata().map(|_| name.to_owned())?,
            Names::Drop => format!("{}:{}", type_word(blob.blob_type())?, pattern(name)),
            Names::Rename => format!("{name}="),
        })
    }
}

/// Whether a name means the same to a shell, a screen and the tool. One that begins with a dash would be an option.
fn is_sound(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && !name.contains('\\') && escape(name) == name
}

/// The pattern that only this name matches.
fn pattern(name: &str) -> String {
    let letter = |letter: char| if "*?[".contains(letter) { format!("[{letter}]") } else { letter.to_string() };
    name.chars().map(letter).collect()
}

/// Answers a completion script: prints one name per line. `None` if the command line is not such a request.
pub fn answer(line: &[OsString], to: &mut dyn Write) -> Option<ExitCode> {
    let [_, asks, kind, typed, words @ ..] = line else { return None };
    if asks != ASKS {
        return None;
    }
    let kind = Names::ALL.iter().copied().find(|known| kind == known.as_str())?;
    let names = offered(kind, &typed.to_string_lossy(), words);
    // A shell that stops reading has enough names.
    let _ = names.iter().try_for_each(|name| writeln!(to, "{name}")).and_then(|()| to.flush());
    Some(ExitCode::SUCCESS)
}

fn offered(kind: Names, typed: &str, words: &[OsString]) -> Vec<String> {
    let files = words.iter().take(MOST_WORDS).filter_map(|word| file_of(word)).filter_map(|path| read(&path).ok());
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for file in files {
        names.extend(file.blobs().filter_map(|blob| kind.offer(&blob)).filter(|name| seen.insert(name.clone())));
    }
    if names.len() > MOST {
        let typed = [typed.to_owned(), unquoted(typed)];
        names.retain(|name| typed.iter().any(|typed| name.starts_with(typed)));
        names.truncate(MOST);
    }
    names
}

/// The file that a word of a line names, as it is or as a shell would read it. An address is the name of no file here.
fn file_of(word: &OsStr) -> Option<PathBuf> {
    let is_file = |path: &PathBuf| fs::metadata(path).is_ok_and(|about| about.is_file());
    let whole = PathBuf::from(word);
    let read = || word.to_str().map(unquoted).map(|word| PathBuf::from(from_home(word)));
    Some(whole).filter(is_file).or_else(|| read().filter(is_file))
}

/// A word without the quotes and backslashes that a shell takes away. Variables and other expansions stay as they are.
fn unquoted(word: &str) -> String {
    let mut text = String::new();
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            '"' | '\'' => {}
            letter => text.push(letter),
        }
    }
    text
}

fn from_home(word: String) -> OsString {
    match (word.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest).into_os_string(),
        _ => word.into(),
    }
}

/// Reads the headers of a file, and those that can be read of a damaged one.
fn read(path: &Path) -> io::Result<File> {
    let start = Instant::now();
    let mut bytes = fs::File::open(path)?;
    let mut options = OpenOptions::new();
    let mut indexer =
        options.damaged(true).after_pickle(true).read_ahead(4 << 10, 64 << 10).indexer(bytes.metadata()?.len());
    let mut left = MOST_BYTES;
    let mut piece = Vec::new();
    while let Some(range) = indexer.wants() {
        let len = range.end.saturating_sub(range.start);
        left = left.checked_sub(len).filter(|_| start.elapsed() < MOST_TIME).ok_or(io::ErrorKind::TimedOut)?;
        piece.clear();
        bytes.seek(SeekFrom::Start(range.start))?;
        if (&bytes).take(len).read_to_end(&mut piece)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        indexer.give(&piece);
    }
    indexer.finish().map_err(io::Error::other)
}

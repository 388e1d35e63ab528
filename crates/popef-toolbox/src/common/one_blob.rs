//! The blob of a file that a command works on.

use std::ffi::{OsStr, OsString};

use clap::Args;
use popef::types::{BlobType, Text};
use popef::{Blob, File};
use popef_cli::filter::{blob_type, name_of, type_name};
use popef_ops::{Code, Error, did_you_mean};
use popef_show::escape;

/// A blob by its name, by name and type, or by its index.
#[derive(Clone, Debug, Args)]
pub(crate) struct OneBlob {
    /// Name of the blob, as `popef ls` shows it; that of metadata is its executable's
    #[arg(value_name = "NAME", required_unless_present = "blob")]
    name: Option<OsString>,
    /// Type of the blob: executable, metadata, tensor, feed or opaque
    #[arg(long = "type", value_name = "TYPE", value_parser = blob_type(), hide_possible_values = true, help_heading = "Selection")]
    blob_type: Option<BlobType>,
    /// Index of the blob, as `popef ls` shows it under `#`
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<usize>, conflicts_with_all = ["name", "blob_type"], help_heading = "Selection")]
    blob: Option<usize>,
}

impl OneBlob {
    /// Returns the blob. Fails if there is none, or if there are several.
    pub(crate) fn of<'f>(&self, file: &'f File) -> Result<Blob<'f>, Error> {
        let found = match (&self.name, self.blob) {
            (_, Some(index)) => file.blob(index).ok_or_else(|| no_such_index(file, index)),
            (Some(name), None) => self.named(file, name),
            (None, None) => Err(Error::new(Code::WrongArguments, "no blob was chosen")),
        };
        found.map_err(|error| match file.path() {
            Some(path) => error.in_file(path),
            None => error,
        })
    }

    fn named<'f>(&self, file: &'f File, name: &OsStr) -> Result<Blob<'f>, Error> {
        let name = name.as_encoded_bytes();
        let candidates = || file.blobs().filter(|blob| self.blob_type.is_none_or(|wanted| blob.blob_type() == wanted));
        let mut found: Vec<_> = candidates().filter(|blob| name_of(blob).as_bytes() == name).collect();
        // A name with odd letters is shown with escapes, and people copy it from there.
        if found.is_empty() && name.contains(&b'\\') {
            found = candidates().filter(|blob| as_shown(&name_of(blob)).as_bytes() == name).collect();
        }
        match found.as_slice() {
            [blob] => Ok(*blob),
            [] => Err(self.no_such_name(file, &Text::from(name), candidates())),
            several => Err(ambiguous(&Text::from(name), several)),
        }
    }

    fn no_such_name<'f>(&self, file: &File, name: &Text<'_>, candidates: impl Iterator<Item = Blob<'f>>) -> Error {
        let what = self.blob_type.map_or("blob", type_name);
        let mut message = format!("no {what} has the name {name:?}");
        let near = did_you_mean(&name.to_string_lossy(), candidates.map(|blob| name_of(&blob).to_string()));
        message += &near;
        let other = file.blobs().find(|blob| name_of(blob) == *name).filter(|_| near.is_empty());
        if let Some(other) = other {
            message += &format!("; blob {} has it, which is of type {}", other.index(), type_name(other.blob_type()));
        }
        if file.damage().is_some() {
            message += "; the file is damaged, and what comes after the damage is unknown";
        }
        Error::new(Code::NoSuchBlob, message)
    }
}

fn as_shown(name: &Text<'_>) -> String {
    escape(&name.to_string_lossy()).into_owned()
}

fn no_such_index(file: &File, index: usize) -> Error {
    let readable = if file.damage().is_some() { " that can be read" } else { "" };
    let has = match file.len() {
        0 => format!("the file has no blobs{readable}"),
        1 => format!("the file has one blob{readable}, 0"),
        len => format!("the file has blobs 0 to {}{readable}", len.saturating_sub(1)),
    };
    Error::new(Code::NoSuchBlob, format!("there is no blob {index}: {has}"))
}

fn ambiguous(name: &Text<'_>, several: &[Blob<'_>]) -> Error {
    /// The maximum number of blobs in the error. More are only counted.
    const MOST: usize = 5;
    let one = |blob: &Blob<'_>| format!("blob {} ({})", blob.index(), type_name(blob.blob_type()));
    let mut list: Vec<String> = several.iter().take(MOST).map(one).collect();
    if several.len() > MOST {
        list.push(format!("and {} more", several.len().saturating_sub(MOST)));
    }
    let of_one_type = several.iter().all(|blob| several.first().map(Blob::blob_type) == Some(blob.blob_type()));
    let choose = if of_one_type { "--blob" } else { "--type or --blob" };
    let message =
        format!("{} blobs have the name {name:?}: {}; choose one by {choose}", several.len(), list.join(", "));
    Error::new(Code::AmbiguousBlob, message)
}

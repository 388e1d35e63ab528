//! Changes metadata, names, versions and the data of tensors.

mod arrays;
mod compare;
mod edit;
mod edited;
mod elements;
mod files;
mod path;
mod place;
mod plan;
mod renames;
mod value;
mod verify;
mod write;

use std::path::PathBuf;

use popef::File;
use popef::types::{BlobType, Text};
use serde::Serialize;
use serde_json::Value;

pub use compare::FieldChange;
pub use plan::Plan;
pub use value::Given;

use crate::error::{Code, Error};
pub use crate::findings::NewFinding;
use crate::formats::Array;
use crate::name::Name;
use path::Path;

/// Changes to a file. Names are those in the file before anything is renamed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The executable whose metadata is changed. Not needed if the file has only one metadata.
    pub model: Option<Text<'static>>,
    /// Changes to fields of metadata, in order.
    pub fields: Vec<Change>,
    /// Blobs that get another name.
    pub renames: Vec<Rename>,
    /// Keeps references to a renamed blob as they are: anchors, and the names of executables in metadata and opaque
    /// blobs.
    pub keep_references: bool,
    /// New data for tensors and feeds of the same name. It must have their type and shape; for a feed, the number of
    /// tensors comes first. Surplus bytes after the old data stay.
    pub weights: Vec<Weights>,
    /// Adds tensors for input anchors without data, after all other blobs.
    pub add_missing: bool,
    /// The version that all chosen blobs get.
    pub version: Option<Text<'static>>,
    /// Drops the surplus bytes of chosen tensors and feeds, and the data of metadata.
    pub drop_surplus: bool,
}

impl Changes {
    /// Whether no change is requested.
    pub fn is_empty(&self) -> bool {
        let Changes { fields, renames, weights, version, drop_surplus, .. } = self;
        fields.is_empty() && renames.is_empty() && weights.is_empty() && version.is_none() && !drop_surplus
    }
}

/// Where new data is.
#[derive(Clone, Debug)]
pub enum Weights {
    /// In a file, `.npy`, `.npz` or `.safetensors`, or in the `.npy` files of a folder. If a folder, or its parent, has
    /// the `index.json` of an extracted file, that says which arrays belong to which tensors. Other arrays in files
    /// with several have their own names.
    At(PathBuf),
    /// In a file with one array, for the tensor or feed of this name, or in the array of the name if it has several.
    For(Text<'static>, PathBuf),
    /// In an array, whose name is that of the tensor.
    Array(Array),
}

/// A change to fields of metadata.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Sets what a path leads to.
    Set(FieldPath, Given),
    /// Removes an element of a list, or empties a text or a list.
    Unset(FieldPath),
    /// Merges a patch like RFC 7396, an object like the JSON of metadata. Null unsets a field. A list replaces the
    /// whole list; an object in its place changes only the elements that it names. The path is that of the patch, for
    /// errors.
    Merge(Value, Option<PathBuf>),
}

/// A place in metadata: `numIpus`, `engineOptions[NAME]`, `anchors[NAME].tensorInfo.shape`.
///
/// A name with brackets that do not match is written in quotes, as a string in JSON is. `inputs[NAME]` and
/// `outputs[NAME]` are the anchors of that direction, `programsMap[INDEX]` is the name of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(Path);

impl FieldPath {
    /// Reads a path. Names in it need not be UTF-8.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(text: &T) -> Result<Self, Error> {
        let text = text.as_ref();
        match Path::read(text)? {
            (path, []) => Ok(FieldPath(path)),
            (path, rest) => {
                let [text, rest] = [text, rest].map(String::from_utf8_lossy);
                Err(Error::new(Code::WrongArguments, format!("{text}: there is {rest} after {path}")))
            }
        }
    }

    /// An element of a list of metadata: `engineOptions`, `deviceOptions`, `programsMap`, `anchors`, `inputs` or `outputs`.
    pub fn element(list: &str, name: impl Into<Text<'static>>) -> Result<Self, Error> {
        let list = path::List::named(list)?;
        Ok(FieldPath(Path::Element(list, name.into(), None)))
    }

    /// Reads a path and a value with `=` between them.
    ///
    /// ```
    /// use popef_ops::set::{FieldPath, Given};
    ///
    /// let (path, value) = FieldPath::parse_assignment("engineOptions[a=b]=c=d")?;
    /// assert_eq!(path, FieldPath::parse("engineOptions[a=b]")?);
    /// assert_eq!(value, Given::Word("c=d".to_owned()));
    /// # Ok::<(), popef_ops::Error>(())
    /// ```
    pub fn parse_assignment(text: &str) -> Result<(Self, Given), Error> {
        let (path, rest) = Path::read(text.as_bytes())?;
        match rest.strip_prefix(b"=") {
            Some(value) => Ok((FieldPath(path), Given::Word(String::from_utf8_lossy(value).into_owned()))),
            None => {
                Err(Error::new(Code::WrongArguments, format!("{text}: needed PATH=VALUE; there is no = after {path}")))
            }
        }
    }
}

/// Another name for a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The name that it has.
    pub from: Text<'static>,
    /// The name that it gets.
    pub to: Text<'static>,
}

impl Rename {
    /// Reads an old name and a new one with `=` between them. If there is more than one `=`, the split is at one where
    /// the old name is a name in the file. An old name with unusual characters can also be given as it is shown, with
    /// escapes.
    pub fn parse(text: &str, file: &File) -> Result<Self, Error> {
        let wrong = |message: &str| Error::new(Code::WrongArguments, format!("{text}: {message}"));
        let splits: Vec<_> = text.match_indices('=').map(|(at, _)| text.split_at(at)).collect();
        let mut known = splits.iter().filter(|(old, _)| renames::name_in(file, old).is_some());
        let (old, new) = match (splits.as_slice(), known.next(), known.next()) {
            ([], ..) => return Err(wrong("needed OLD=NEW; there is no =")),
            ([only], ..) | (_, Some(only), None) => only,
            (_, None, _) => return Err(wrong("no text before a = is a name in the file")),
            _ => return Err(wrong("the texts before more than one = are names in the file")),
        };
        let new = new.strip_prefix('=').unwrap_or_default();
        let from = renames::name_in(file, old).unwrap_or_else(|| (*old).to_owned().into());
        Ok(Rename { from, to: new.to_owned().into() })
    }
}

/// A blob that changes, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlobChange {
    /// The blob's number in the file, from 0.
    pub index: usize,
    /// Its type.
    #[serde(rename = "type")]
    pub blob_type: BlobType,
    /// Its old name; metadata has the name of its executable.
    #[serde(flatten)]
    pub name: Name,
    /// The fields that change.
    pub changes: Vec<FieldChange>,
}

/// What was written.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The size of the file in bytes.
    pub size: u64,
    /// The findings of the library's checks in the new file that the old one does not have. `None` if the file could
    /// not be read back.
    pub new_findings: Option<Vec<NewFinding>>,
}

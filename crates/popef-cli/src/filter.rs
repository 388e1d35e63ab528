//! Which blobs a command works on.

use std::path::Path;

use clap::Args;
use clap::builder::TypedValueParser;
use popef::types::{BlobType, Text};
use popef::{Blob, File};
use popef_ops::{Code, Error};
use popef_show::{Glob, escape};

pub use popef_show::type_name;

use crate::values::named;

/// The option that chooses blobs by their types.
#[derive(Clone, Debug, Default, Args)]
pub struct Types {
    /// Only blobs of TYPE: executable, metadata, tensor, feed or opaque
    ///
    /// Separate several with commas.
    #[arg(long = "type", value_name = "TYPE", value_parser = blob_type(), value_delimiter = ',', hide_possible_values = true)]
    pub types: Vec<BlobType>,
}

/// Options that choose blobs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct Filter {
    #[command(flatten)]
    types: Types,
    #[command(flatten)]
    names: Names,
    /// Ignore the case of ASCII letters in --filter and --exclude
    #[arg(short, long, requires = "Names")]
    ignore_case: bool,
}

/// Options that choose blobs by their names.
#[derive(Clone, Debug, Default, Args)]
struct Names {
    /// Only blobs whose name matches GLOB
    ///
    /// `*` matches any characters, `?` one character, `[a-c]` one of these letters. Metadata matches by the name of its
    /// executable. Can be given several times.
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    filter: Vec<Glob>,
    /// Leave out blobs whose name matches GLOB; this counts more than --filter
    #[arg(long, value_name = "GLOB", value_parser = Glob::parse)]
    exclude: Vec<Glob>,
}

/// The type with a name that users type.
pub fn type_named(name: &str) -> Option<BlobType> {
    BlobType::ALL.iter().copied().find(|blob_type| type_name(*blob_type) == name)
}

/// Parses a type of blobs.
pub fn blob_type() -> impl TypedValueParser<Value = BlobType> {
    named(BlobType::ALL.iter().copied(), |blob_type| type_name(*blob_type))
}

impl Types {
    /// Whether blobs of all types are chosen.
    pub fn is_all(&self) -> bool {
        self.types.is_empty()
    }

    /// Whether blobs of a type are chosen.
    pub fn take(&self, blob_type: BlobType) -> bool {
        self.is_all() || self.types.contains(&blob_type)
    }
}

impl Filter {
    /// Whether every blob is chosen.
    pub fn is_everything(&self) -> bool {
        self.types.is_all() && self.takes_all_names()
    }

    /// Fails if no blob of any file is chosen, which is most likely a typing error. `paths` are those of the files.
    pub fn check<'f>(
        &self,
        files: impl IntoIterator<Item = &'f File>,
        paths: &[impl AsRef<Path>],
    ) -> Result<(), Error> {
        let chosen = self.is_everything() || files.into_iter().any(|file| file.blobs().any(|blob| self.takes(&blob)));
        if chosen { Ok(()) } else { Err(self.nothing_chosen(paths)) }
    }

    /// The error if no blob of any of these files is chosen.
    pub fn nothing_chosen(&self, paths: &[impl AsRef<Path>]) -> Error {
        let message = self.matches_nothing();
        match paths {
            [path] => Error::new(Code::NothingChosen, message).in_file(path.as_ref()),
            paths => Error::new(Code::NothingChosen, format!("{message} in any of the {} files", paths.len())),
        }
    }

    fn matches_nothing(&self) -> String {
        format!("nothing matches {}", escape(&given(&self.types.types, &self.names.filter, &self.names.exclude)))
    }

    /// Whether a blob is chosen.
    pub fn takes(&self, blob: &Blob<'_>) -> bool {
        self.types.take(blob.blob_type()) && (self.takes_all_names() || self.takes_name(&name_of(blob)))
    }

    /// Whether a blob with this type and name is chosen. Metadata has the name of its executable.
    pub fn takes_named(&self, blob_type: BlobType, name: &Text<'_>) -> bool {
        self.types.take(blob_type) && (self.takes_all_names() || self.takes_name(name))
    }

    fn takes_all_names(&self) -> bool {
        self.names.filter.is_empty() && self.names.exclude.is_empty()
    }

    fn takes_name(&self, name: &Text<'_>) -> bool {
        let name = name.to_string_lossy();
        let any = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(&name, self.ignore_case));
        let Names { filter, exclude } = &self.names;
        (filter.is_empty() || any(filter)) && !any(exclude)
    }
}

/// The name by which a blob is chosen and shown. Metadata has the name of its executable.
pub fn name_of<'b>(blob: &Blob<'b>) -> Text<'b> {
    let of_metadata = || blob.as_metadata().map(|metadata| metadata.executable());
    blob.name().or_else(of_metadata).unwrap_or_default()
}

/// The filters as they are given: `--type feed --filter a --exclude b`.
pub(crate) fn given(types: &[BlobType], filter: &[Glob], exclude: &[Glob]) -> String {
    let types = types.iter().map(|blob_type| ("--type", type_name(*blob_type)));
    let filter = filter.iter().map(|glob| ("--filter", glob.as_str()));
    let exclude = exclude.iter().map(|glob| ("--exclude", glob.as_str()));
    let given = types.chain(filter).chain(exclude).map(|(option, value)| format!("{option} {value}"));
    given.collect::<Vec<_>>().join(" ")
}

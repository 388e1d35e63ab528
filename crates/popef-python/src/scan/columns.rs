//! The columns of records: their names and types, and how each follows from a file or a blob.

use std::borrow::Cow;
use std::cell::OnceCell;

use popef::read::DataBlob;
use popef::types::{BlobType, Text};
use popef::{Blob, Error, Metadata};
use popef_check::{Finding, Severity};
use popef_ops::hash::Digest;

use super::scanned::{BlobHashes, Counts, Fault, Hashes, Scanned};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// 64 bits, signed in Arrow.
    Int,
    Bool,
    Text,
    Bytes,
    Ints,
    Texts,
}

impl Kind {
    /// As Python code names it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::Int => "int",
            Kind::Bool => "bool",
            Kind::Text => "str",
            Kind::Bytes => "bytes",
            Kind::Ints => "list[int]",
            Kind::Texts => "list[str]",
        }
    }
}

/// A value of a column.
pub(super) enum Cell<'a> {
    None,
    Int(u64),
    Bool(bool),
    Text(Text<'a>),
    Bytes(Text<'a>),
    Ints(popef::read::Shape<'a>),
    Texts(Vec<Cow<'a, str>>),
}

impl<'a> Cell<'a> {
    fn of<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell<'a>) -> Self {
        value.map_or(Cell::None, cell)
    }

    fn int(value: Option<impl Into<u64>>) -> Self {
        Cell::of(value, |value| Cell::Int(value.into()))
    }

    fn count(value: Option<usize>) -> Self {
        Cell::int(value.and_then(|value| u64::try_from(value).ok()))
    }

    fn text(value: Option<impl Into<Text<'a>>>) -> Self {
        Cell::of(value, |value| Cell::Text(value.into()))
    }

    /// The bytes of a text that is not UTF-8.
    fn bytes(value: Option<Text<'a>>) -> Self {
        Cell::of(value.filter(|text| text.to_str().is_err()), Cell::Bytes)
    }
}

/// What a column needs beyond headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Headers,
    /// The first bytes of executables. These columns are included only if they are named.
    FirstBytes,
    Check,
    HashOfFile,
    HashOfData,
    HashOfContent,
}

/// A column. Each cell has its kind, or is null.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) needs: Needs,
    pub(super) cell: for<'r> fn(&'r Row<'_>) -> Cell<'r>,
}

/// What a record is about: a file, or one of its blobs.
pub(super) struct Row<'a> {
    pub(super) scanned: &'a Scanned,
    pub(super) blob: Option<Blob<'a>>,
    per_file: bool,
    metadata: OnceCell<Option<Result<Metadata, Error>>>,
    fault: OnceCell<Option<Fault>>,
}

impl<'a> Row<'a> {
    pub(super) fn new(scanned: &'a Scanned, blob: Option<Blob<'a>>, per_file: bool) -> Self {
        Row { scanned, blob, per_file, metadata: OnceCell::new(), fault: OnceCell::new() }
    }

    fn file(&self) -> Text<'a> {
        Text::from(self.scanned.path.as_os_str().as_encoded_bytes())
    }

    fn blob_with<T>(&self, of: impl FnOnce(&Blob<'a>) -> T) -> Option<T> {
        self.blob.as_ref().map(of)
    }

    fn data(&self) -> Option<DataBlob<'a>> {
        self.blob.as_ref()?.as_data()
    }

    fn executable(&self) -> Option<popef::read::ExecutableBlob<'a>> {
        self.blob.as_ref()?.as_executable()
    }

    /// The name of the executable that a blob belongs to.
    fn executable_name(&self) -> Option<Text<'a>> {
        let blob = self.blob.as_ref()?;
        let metadata = || blob.as_metadata().map(|metadata| metadata.executable());
        blob.as_opaque().map(|opaque| opaque.executable()).or_else(metadata)
    }

    fn read_metadata(&self) -> Option<&Result<Metadata, Error>> {
        self.metadata.get_or_init(|| Some(self.blob.as_ref()?.as_metadata()?.read())).as_ref()
    }

    fn metadata<T>(&self, of: impl FnOnce(&Metadata) -> T) -> Option<T> {
        self.read_metadata()?.as_ref().ok().map(of)
    }

    fn counts<T>(&self, of: impl FnOnce(&Counts) -> T) -> Option<T> {
        self.scanned.counts.as_ref().map(of)
    }

    /// What is wrong with the blob, or with the file.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.fault.get_or_init(|| self.find_fault()).as_ref()
    }

    fn find_fault(&self) -> Option<Fault> {
        let Some(blob) = &self.blob else { return self.scanned.fault.clone() };
        let of_tensor = || blob.as_data().filter(|data| data.data_type().size().is_some())?.check_size().err();
        let of_metadata = || self.read_metadata()?.as_ref().err().cloned();
        let of_compression = || match self.scanned.compressions.get(&blob.index())? {
            Err(error) if error.kind() != popef::error::ErrorKind::Unknown => Some(error.clone()),
            _ => None,
        };
        let error = of_tensor().or_else(of_metadata).or_else(of_compression);
        let path = &self.scanned.path;
        let of_hash = || self.hashes_of_blob()?.error.as_deref();
        let described = || of_hash().map(|error| Fault::described(error.clone(), path));
        error.map(|error| Fault::of(&error, path)).or_else(described)
    }

    fn findings(&self) -> Option<&'a [Finding]> {
        let checked = self.scanned.checked.as_ref()?;
        let blob = self.blob.as_ref().map(Blob::index);
        Some(if self.per_file { checked.all() } else { checked.about(blob) })
    }

    fn findings_as<T: Into<Cow<'a, str>>>(&self, of: impl Fn(&'a Finding) -> T) -> Cell<'a> {
        Cell::of(self.findings(), |findings| Cell::Texts(findings.iter().map(|finding| of(finding).into()).collect()))
    }

    fn worst(&self) -> Option<&'static str> {
        let found = self.findings()?;
        let severities = [Severity::Error, Severity::Warning, Severity::Note];
        let has = |wanted: &Severity| found.iter().any(|finding| finding.severity == *wanted);
        severities.into_iter().find(has).map(Severity::as_str)
    }

    fn hashes_of_file(&self) -> Option<&'a Hashes> {
        self.scanned.hashes.as_ref().filter(|_| self.per_file)
    }

    fn hashes_of_blob(&self) -> Option<&'a BlobHashes> {
        self.scanned.hashes.as_ref()?.blobs.get(self.blob.as_ref()?.index())
    }
}

fn hex<'a>(digest: Option<Digest>) -> Cell<'a> {
    Cell::text(digest.map(|digest| digest.to_string()))
}

fn type_name(blob_type: BlobType) -> Text<'static> {
    name_or_number(blob_type.schema_name(), blob_type.number())
}

/// The name of an enumeration's value, or its number if this version knows no name.
fn name_or_number(name: Option<&'static str>, number: u16) -> Text<'static> {
    name.map_or_else(|| Text::from(number.to_string()), Text::from)
}

fn data_type_name(data: &DataBlob<'_>) -> Text<'static> {
    let data_type = data.data_type();
    match data_type.schema_name() {
        Some(_) => Text::from(data_type.to_string()),
        None => Text::from(data_type.number().to_string()),
    }
}

fn elements(data: &DataBlob<'_>) -> Option<u64> {
    let mut extents = data.shape().iter().map(|extent| u64::try_from(extent).ok());
    extents.try_fold(u64::from(data.num_tensors()), |product, extent| product.checked_mul(extent?))
}

fn compression(row: &Row<'_>) -> Option<Text<'static>> {
    let index = row.executable()?.blob().index();
    match row.scanned.compressions.get(&index)? {
        Ok(compression) => compression.map(|compression| Text::from(compression.as_str())),
        Err(error) if error.kind() == popef::error::ErrorKind::Unknown => Some(Text::from("other")),
        Err(_) => None,
    }
}

const fn column(name: &'static str, kind: Kind, cell: for<'r> fn(&'r Row<'_>) -> Cell<'r>) -> Column {
    Column { name, kind, needs: Needs::Headers, cell }
}

impl Column {
    const fn needing(self, needs: Needs) -> Self {
        Column { needs, ..self }
    }
}

const FILE: Column = column("file", Kind::Text, |row| Cell::Text(row.file()));
const FILE_BYTES: Column = column("file_bytes", Kind::Bytes, |row| Cell::bytes(Some(row.file())));
const FILE_SIZE: Column = column("file_size", Kind::Int, |row| Cell::int(row.scanned.size));

const ERROR_CODE: Column =
    column("error_code", Kind::Text, |row| Cell::text(row.fault().map(|fault| &*fault.described.code)));
const ERROR_KIND: Column =
    column("error_kind", Kind::Text, |row| Cell::text(row.fault().map(|fault| fault.described.kind.as_str())));
const ERROR_MESSAGE: Column =
    column("error_message", Kind::Text, |row| Cell::text(row.fault().map(|fault| fault.described.message.as_str())));
const ERROR_BLOB: Column =
    column("error_blob", Kind::Int, |row| Cell::count(row.fault().and_then(|fault| fault.described.blob)));
const ERROR_OFFSET: Column =
    column("error_offset", Kind::Int, |row| Cell::int(row.fault().and_then(|fault| fault.described.offset)));

const CHECK_SEVERITY: Column =
    column("check_severity", Kind::Text, |row| Cell::text(row.worst())).needing(Needs::Check);
const CHECK_RULES: Column =
    column("check_rules", Kind::Texts, |row| row.findings_as(|finding| finding.rule.id)).needing(Needs::Check);
const CHECK_MESSAGES: Column =
    column("check_messages", Kind::Texts, |row| row.findings_as(|finding| finding.message.as_str()))
        .needing(Needs::Check);
const CHECK_COMPLETE: Column = column("check_complete", Kind::Bool, |row| {
    Cell::of(row.scanned.checked.as_ref(), |checked| Cell::Bool(checked.is_complete))
})
.needing(Needs::Check);

/// The columns of records about blobs.
const OF_BLOBS: &[Column] = &[
    FILE,
    FILE_BYTES,
    FILE_SIZE,
    column("index", Kind::Int, |row| Cell::count(row.blob_with(Blob::index))),
    column("type", Kind::Text, |row| Cell::text(row.blob_with(|blob| type_name(blob.blob_type())))),
    column("name", Kind::Text, |row| Cell::text(row.blob_with(Blob::name).flatten())),
    column("name_bytes", Kind::Bytes, |row| Cell::bytes(row.blob_with(Blob::name).flatten())),
    column("executable", Kind::Text, |row| Cell::text(row.executable_name())),
    column("executable_bytes", Kind::Bytes, |row| Cell::bytes(row.executable_name())),
    column("data_type", Kind::Text, |row| Cell::text(row.data().as_ref().map(data_type_name))),
    column("shape", Kind::Ints, |row| Cell::of(row.data(), |data| Cell::Ints(data.shape()))),
    column("num_tensors", Kind::Int, |row| {
        Cell::int(row.data().filter(DataBlob::is_feed).map(|feed| feed.num_tensors()))
    }),
    column("elements", Kind::Int, |row| Cell::int(row.data().as_ref().and_then(elements))),
    column("size_in_bytes", Kind::Int, |row| Cell::int(row.data().and_then(|data| data.size_in_bytes().ok()))),
    column("offset", Kind::Int, |row| Cell::int(row.blob_with(Blob::offset))),
    column("size", Kind::Int, |row| Cell::int(row.blob_with(Blob::size))),
    column("data_offset", Kind::Int, |row| Cell::int(row.blob_with(Blob::data_offset))),
    column("data_size", Kind::Int, |row| Cell::int(row.blob_with(|blob| blob.data().len()))),
    column("version", Kind::Text, |row| Cell::text(row.blob_with(Blob::version))),
    column("is_compressed", Kind::Bool, |row| {
        Cell::of(row.executable(), |executable| Cell::Bool(executable.is_compressed()))
    }),
    column("uncompressed_size", Kind::Int, |row| {
        Cell::int(row.executable().map(|executable| executable.uncompressed_size()))
    }),
    column("compression", Kind::Text, |row| Cell::text(compression(row))).needing(Needs::FirstBytes),
    column("replication_factor", Kind::Int, |row| Cell::int(row.metadata(|metadata| metadata.replication_factor))),
    column("num_ipus", Kind::Int, |row| Cell::int(row.metadata(|metadata| metadata.num_ipus))),
    column("num_processes", Kind::Int, |row| Cell::int(row.metadata(|metadata| metadata.num_processes))),
    column("ipu_version", Kind::Int, |row| Cell::int(row.metadata(|metadata| metadata.ipu_version))),
    column("is_pod", Kind::Bool, |row| Cell::of(row.metadata(|metadata| metadata.is_pod), Cell::Bool)),
    column("is_inference", Kind::Bool, |row| Cell::of(row.metadata(|metadata| metadata.is_inference), Cell::Bool)),
    column("device_iterations", Kind::Int, |row| Cell::int(row.metadata(|metadata| metadata.device_iterations))),
    column("anchors", Kind::Int, |row| Cell::count(row.metadata(|metadata| metadata.anchors.len()))),
    column("data_hash", Kind::Text, |row| hex(row.hashes_of_blob().and_then(|blob| blob.data)))
        .needing(Needs::HashOfData),
    column("content_hash", Kind::Text, |row| hex(row.hashes_of_blob().and_then(|blob| blob.content)))
        .needing(Needs::HashOfContent),
    CHECK_SEVERITY,
    CHECK_RULES,
    CHECK_MESSAGES,
    CHECK_COMPLETE,
    ERROR_CODE,
    ERROR_KIND,
    ERROR_MESSAGE,
    ERROR_BLOB,
    ERROR_OFFSET,
];

/// The columns of records about files.
const OF_FILES: &[Column] = &[
    FILE,
    FILE_BYTES,
    FILE_SIZE,
    column("prefix_size", Kind::Int, |row| Cell::int(row.scanned.prefix_size)),
    column("blobs", Kind::Int, |row| Cell::int(row.counts(|counts| counts.blobs))),
    column("executables", Kind::Int, |row| Cell::int(row.counts(|counts| counts.executables))),
    column("metadata", Kind::Int, |row| Cell::int(row.counts(|counts| counts.metadata))),
    column("tensors", Kind::Int, |row| Cell::int(row.counts(|counts| counts.tensors))),
    column("feeds", Kind::Int, |row| Cell::int(row.counts(|counts| counts.feeds))),
    column("opaques", Kind::Int, |row| Cell::int(row.counts(|counts| counts.opaques))),
    column("data_size", Kind::Int, |row| Cell::int(row.counts(|counts| counts.data_size))),
    column("file_hash", Kind::Text, |row| hex(row.hashes_of_file().and_then(|file| file.whole)))
        .needing(Needs::HashOfFile),
    column("content_hash", Kind::Text, |row| hex(row.hashes_of_file().and_then(|file| file.content)))
        .needing(Needs::HashOfContent),
    CHECK_SEVERITY,
    CHECK_RULES,
    CHECK_MESSAGES,
    CHECK_COMPLETE,
    ERROR_CODE,
    ERROR_KIND,
    ERROR_MESSAGE,
    ERROR_BLOB,
    ERROR_OFFSET,
];

/// All columns of records about files or blobs.
pub(super) fn all(per_file: bool) -> &'static [Column] {
    if per_file { OF_FILES } else { OF_BLOBS }
}

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::fmt;
use std::path::Path;

use popef::read::{ExecutableBlob, OpaqueBlob};
use popef::types::{BlobType, Diagnostic, ExecutableInside, Text};
use popef::{Blob, Content, File};

use super::metadata::{MetadataView, Provider};
use super::natural;
use super::options::{Options, Sort};
use super::payload::PayloadView;
use super::tiles::TilesView;

/// A file to show.
#[derive(Clone, Copy)]
pub struct FileToShow<'f> {
    /// Its number among the files that are shown, from 0.
    pub index: usize,
    /// Its path as the user gave it.
    pub path: &'f Path,
    /// `None` if it could not be opened.
    pub file: Option<&'f File>,
    /// Why it could not be read to its end.
    pub failure: Option<&'f Diagnostic>,
    /// Says who provides the data of an anchor with a name.
    pub provider: &'f dyn Fn(&Text<'_>) -> Provider,
}

/// A file to show, and the facts computed from it. A [`ListRenderer`](crate::ListRenderer) shows it.
pub struct FileReport<'f> {
    pub(crate) input: FileToShow<'f>,
    pub(crate) options: &'f Options,
    /// All Metadata of the file, in file order. It is read once, when it is first needed.
    metadata: OnceCell<Vec<MetadataView<'f>>>,
    /// The requests and bytes that reading the file over the network has cost so far.
    network: Option<&'f dyn Fn() -> (u64, u64)>,
}

type Iter<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

impl<'f> FileReport<'f> {
    /// A report with everything that `options` request.
    pub fn new(input: FileToShow<'f>, options: &'f Options) -> Self {
        let report = FileReport { input, options, metadata: OnceCell::new(), network: None };
        report.expect_values();
        report
    }

    /// Adds the requests and bytes that reading the file over the network has cost so far, for JSON.
    pub fn with_network(&mut self, network: &'f dyn Fn() -> (u64, u64)) -> &mut Self {
        self.network = Some(network);
        self
    }

    /// What reading the file over the network has cost so far.
    pub(crate) fn network(&self) -> Option<(u64, u64)> {
        self.network.map(|network| network())
    }

    /// The path as a text of bytes.
    pub(crate) fn path(&self) -> Text<'f> {
        Text::from(self.input.path.as_os_str().as_encoded_bytes())
    }

    /// All blobs that pass the filter, in the requested order.
    pub(crate) fn blobs(&self) -> Iter<'_, Blob<'f>> {
        let Some(file) = self.input.file else { return Box::new(std::iter::empty()) };
        self.narrowed(Box::new(file.blobs()))
    }

    /// The blobs of the selected parts that pass the filter, in the requested order.
    pub(crate) fn selected(&self) -> impl Iterator<Item = Blob<'f>> {
        let select = self.options.selected();
        self.blobs().filter(move |blob| match blob.blob_type() {
            BlobType::PoplarExecutable => select.executables,
            BlobType::Metadata => select.metadata || select.anchors || select.user_anchors,
            BlobType::DataTensor => select.tensors,
            BlobType::DataFeed => select.feeds,
            BlobType::Opaque => select.opaques,
            _ => select.unknown,
        })
    }

    /// Whether nothing of the file is shown, because nothing was selected or passes the filter.
    pub fn is_empty(&self) -> bool {
        let only_anchors = !self.options.selected().metadata;
        let shows = |view: &MetadataView<'_>| !only_anchors || view.value.is_err() || view.anchors().next().is_some();
        !self.selected().any(|blob| self.metadata_of(&blob).is_none_or(shows))
    }

    /// The blobs of one type that pass the filter, in the requested order.
    pub(crate) fn of_type(&self, blob_type: BlobType) -> Iter<'_, Blob<'f>> {
        let Some(file) = self.input.file else { return Box::new(std::iter::empty()) };
        self.narrowed(match blob_type {
            BlobType::PoplarExecutable => Box::new(file.executables().map(|executable| *executable.blob())),
            BlobType::Metadata => Box::new(file.metadata().map(|metadata| *metadata.blob())),
            BlobType::DataTensor => Box::new(file.tensors().map(|tensor| *tensor.blob())),
            BlobType::DataFeed => Box::new(file.feeds().map(|feed| *feed.blob())),
            BlobType::Opaque => Box::new(file.opaques().map(|opaque| *opaque.blob())),
            _ => Box::new(file.blobs().filter(move |blob| blob.blob_type() == blob_type)),
        })
    }

    /// The blobs of unknown types that pass the filter, in the requested order.
    pub(crate) fn unknown(&self) -> Iter<'_, Blob<'f>> {
        let Some(file) = self.input.file else { return Box::new(std::iter::empty()) };
        self.narrowed(Box::new(file.blobs().filter(|blob| matches!(blob.content(), Content::Unknown))))
    }

    /// The Metadata that passes the filter, in the requested order.
    pub(crate) fn metadata(&self) -> impl Iterator<Item = &MetadataView<'f>> {
        self.of_type(BlobType::Metadata).filter_map(|blob| self.metadata_of(&blob))
    }

    /// All Metadata of the file.
    pub(crate) fn all_metadata(&self) -> &[MetadataView<'f>] {
        self.metadata.get_or_init(|| {
            let all = self.input.file.into_iter().flat_map(File::metadata);
            all.map(|metadata| MetadataView::of(metadata, self.options, self.input.provider)).collect()
        })
    }

    /// The Metadata of a blob, if it is of that type.
    pub(crate) fn metadata_of(&self, blob: &Blob<'_>) -> Option<&MetadataView<'f>> {
        if blob.blob_type() != BlobType::Metadata {
            return None;
        }
        let all = self.all_metadata();
        let found = all.binary_search_by_key(&blob.index(), |view| view.blob.blob().index());
        all.get(found.ok()?)
    }

    /// The facts in an executable's own bytes, which are read only on request.
    #[allow(
        clippy::result_large_err,
        reason = "hardly any executable has a failure; how large it is differs by system"
    )]
    pub(crate) fn inside(&self, executable: &ExecutableBlob<'_>) -> Option<Result<ExecutableInside, Diagnostic>> {
        self.options.inside.then(|| executable.inside().map_err(Diagnostic::from))
    }

    /// The tiles of an executable, which are read only on request.
    pub(crate) fn tiles(&self, executable: &ExecutableBlob<'_>) -> Option<TilesView> {
        self.options.tiles.then(|| TilesView::of(executable))
    }

    /// The payload of an opaque blob. `None` if it is not read.
    pub(crate) fn payload(&self, opaque: &OpaqueBlob<'f>) -> Option<PayloadView<'f>> {
        PayloadView::of(opaque, self.options)
    }

    /// The pickle before the first blob. `None` if there is none, or if it is not read.
    pub(crate) fn before(&self) -> Option<PayloadView<'f>> {
        PayloadView::before(self.input.file?, self.options)
    }

    /// The size of the file. `None` if it could not be opened.
    pub(crate) fn size(&self) -> Option<u64> {
        self.input.file.map(File::size)
    }

    /// Tells the progress line how much will be read.
    fn expect_values(&self) {
        if self.options.values.is_some() {
            let sizes = self.blobs().map(|blob| self.values_size(&blob));
            self.options.progress.expect(sizes.fold(0, u64::saturating_add));
        }
    }

    /// The number of bytes of a blob that are read to show its values.
    fn values_size(&self, blob: &Blob<'_>) -> u64 {
        let select = self.options.selected();
        match blob.content() {
            Content::Tensor(tensor) if select.tensors => tensor.size_in_bytes().unwrap_or(0),
            Content::Feed(feed) if select.feeds => feed.size_in_bytes().unwrap_or(0),
            _ => 0,
        }
    }

    fn narrowed<'a>(&'a self, blobs: Iter<'a, Blob<'f>>) -> Iter<'a, Blob<'f>> {
        let passing: Iter<'a, Blob<'f>> =
            if self.options.pass_all() { blobs } else { Box::new(blobs.filter(|blob| self.passes(blob))) };
        let Some(file) = self.input.file else { return passing };
        match self.options.sort {
            Sort::Offset => passing,
            Sort::Name => {
                sorted(file, passing, &|a, b| natural::compare(blob_name(a).as_bytes(), blob_name(b).as_bytes()))
            }
            Sort::Size => sorted(file, passing, &|a, b| b.size().cmp(&a.size())),
        }
    }

    fn passes(&self, blob: &Blob<'_>) -> bool {
        self.options.passes_type(blob.blob_type()) && self.passes_by_name(blob)
    }

    fn passes_by_name(&self, blob: &Blob<'_>) -> bool {
        let anchor_passes = |view: &MetadataView<'_>| view.anchor_names().any(|name| self.options.passes(name));
        let name = blob_name(blob);
        self.options.passes(&name)
            || !self.options.is_excluded(&name) && self.metadata_of(blob).is_some_and(anchor_passes)
    }
}

/// Sorts numbers of blobs, which take less memory than blobs. Not generic, because a sort takes much code.
fn sorted<'f>(
    file: &'f File,
    blobs: Iter<'_, Blob<'f>>,
    order: &dyn Fn(&Blob<'f>, &Blob<'f>) -> Ordering,
) -> Iter<'f, Blob<'f>> {
    // Behind a pointer, because a sort inlines its comparison in many places.
    let of_numbers: &dyn Fn(usize, usize) -> Ordering = &|a, b| match (file.blob(a), file.blob(b)) {
        (Some(a), Some(b)) => order(&a, &b),
        _ => Ordering::Equal,
    };
    let mut numbers: Vec<usize> = blobs.map(|blob| blob.index()).collect();
    numbers.sort_by(|&a, &b| of_numbers(a, b));
    Box::new(numbers.into_iter().filter_map(|number| file.blob(number)))
}

/// The name of a blob: its own, or that of the executable that it describes.
pub fn blob_name<'f>(blob: &Blob<'f>) -> Text<'f> {
    match blob.content() {
        Content::Metadata(metadata) => metadata.executable(),
        _ => blob.name().unwrap_or_default(),
    }
}

impl fmt::Debug for FileToShow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileToShow { index, path, file, failure, provider: _ } = self;
        f.debug_struct("FileToShow")
            .field("index", index)
            .field("path", path)
            .field("file", file)
            .field("failure", failure)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FileReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileReport").field("input", &self.input).finish_non_exhaustive()
    }
}

/// The types of blobs, each with its word for people.
const WORDS: [(BlobType, &str); 5] = [
    (BlobType::PoplarExecutable, "executable"),
    (BlobType::Metadata, "metadata"),
    (BlobType::DataTensor, "tensor"),
    (BlobType::DataFeed, "feed"),
    (BlobType::Opaque, "opaque"),
];

/// The word for a type of blobs, in listings and on command lines. Unknown types have none.
///
/// ```
/// use popef::types::BlobType;
///
/// assert_eq!(popef_show::type_word(BlobType::DataTensor), Some("tensor"));
/// assert_eq!(popef_show::type_word(BlobType::Other(9)), None);
/// ```
pub fn type_word(blob_type: BlobType) -> Option<&'static str> {
    WORDS.iter().find(|(known, _)| *known == blob_type).map(|&(_, word)| word)
}

/// The word for a type of blobs, or `unknown`.
pub fn type_name(blob_type: BlobType) -> &'static str {
    type_word(blob_type).unwrap_or("unknown")
}

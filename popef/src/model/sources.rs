use std::borrow::Borrow;
use std::ops::Deref;

use super::links::Links;
use crate::error::Error;
use crate::read::{BlobId, Content, FeedBlob, File, TensorBlob};
use crate::types::Anchor;

/// A blob, and which of the linked files contains it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Linked<B> {
    /// The position of the file in the list of files, counted from 0.
    pub file: usize,
    /// The blob.
    pub blob: B,
}

impl<B> Linked<B> {
    /// A blob of the file at a position.
    #[doc(hidden)]
    pub fn new(file: usize, blob: B) -> Self {
        Linked { file, blob }
    }
}

impl<B> Deref for Linked<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.blob
    }
}

/// The source of an anchor's data.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Source<'f> {
    /// A tensor blob with the anchor's name.
    Tensor(Linked<TensorBlob<'f>>),
    /// A feed blob with the anchor's name.
    Feed(Linked<FeedBlob<'f>>),
    /// No file has the data. The user provides it for an input, and receives it for an output.
    User,
    /// No data was found, but a file is damaged, and the data may be in the part that could not be read.
    Unknown,
}

impl Source<'_> {
    /// Returns whether it is known that no file has the data.
    pub fn is_user(&self) -> bool {
        matches!(self, Source::User)
    }
}

/// Finds the data of anchors in some files, by name. No data is read.
///
/// ```
/// use popef::model::Sources;
/// use popef::File;
///
/// let model = File::open("examples/data/split-executable.popef")?;
/// let weights = File::open("examples/data/split-tensors.popef")?;
/// let sources = Sources::of([&model, &weights])?;
/// for anchor in &model.metadata().next().expect("the file has one").read()?.anchors {
///     println!("{}: {}", anchor.name, if sources.provide(anchor) { "in the files" } else { "from the user" });
/// }
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sources(Links);

impl Sources {
    /// Indexes the data in these files. Fails if there is no memory for the index, or if there are too many files.
    pub fn of(files: impl IntoIterator<Item: Borrow<File>>) -> Result<Self, Error> {
        Links::of(shared(files)).map(Sources)
    }

    /// Returns whether any file has data for this anchor. Such an anchor is *popef provided*, otherwise *user
    /// provided*. If a file is damaged, the part that could not be read may have the data: [`of_anchor`](Self::of_anchor)
    /// tells the difference.
    pub fn provide(&self, anchor: &Anchor) -> bool {
        self.0.data_of(0, anchor.name.as_bytes()).is_some()
    }

    /// Finds the data of an anchor. `home` is the position of the file with the anchor.
    ///
    /// If several blobs have the name, the anchor's own file comes before others, then tensors before feeds, then the
    /// first blob.
    pub fn of_anchor(&self, anchor: &Anchor, home: usize) -> Source<'_> {
        let home = u32::try_from(home).unwrap_or(u32::MAX);
        resolve(&self.0, self.0.data_of(home, anchor.name.as_bytes()))
    }
}

/// Cheap clones of the files.
pub(super) fn shared(files: impl IntoIterator<Item: Borrow<File>>) -> std::sync::Arc<[File]> {
    files.into_iter().map(|file| file.borrow().clone()).collect()
}

/// The blob of an id as its type.
pub(super) fn linked<'l, B>(
    links: &'l Links,
    id: BlobId,
    view: impl FnOnce(Content<'l>) -> Option<B>,
) -> Option<Linked<B>> {
    let blob = view(links.blob(id)?.content())?;
    Some(Linked { file: usize::try_from(id.file).ok()?, blob })
}

/// The source for a blob with data. `None` is the user, unless a file is damaged.
pub(super) fn resolve(links: &Links, data: Option<BlobId>) -> Source<'_> {
    let source = data.and_then(|id| {
        let tensor = linked(links, id, Content::into_tensor).map(Source::Tensor);
        tensor.or_else(|| linked(links, id, Content::into_feed).map(Source::Feed))
    });
    source.unwrap_or(if links.is_complete() { Source::User } else { Source::Unknown })
}

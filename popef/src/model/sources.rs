use std::borrow::Borrow;
use std::ops::Deref;

use super::links::Links;
use crate::error::Error;
use crate::read::{BlobId, Content, FeedBlob, File, TensorBlob};
use crate::types::Anchor;

/// A blob and which of the files given together it is in.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Linked<B> {
    /// The file's place among those given, counted from 0.
    pub file: usize,
    /// The blob.
    pub blob: B,
}

impl<B> Deref for Linked<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.blob
    }
}

/// Where the data of an anchor comes from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Source<'f> {
    /// A tensor blob of its name.
    Tensor(Linked<TensorBlob<'f>>),
    /// A feed blob of its name.
    Feed(Linked<FeedBlob<'f>>),
    /// None of the files: who runs the model provides it, or takes it.
    User,
}

impl Source<'_> {
    /// Whether none of the files has it.
    pub fn is_user(&self) -> bool {
        matches!(self, Source::User)
    }
}

/// The data that files have, by the names of the anchors it is for. No data is read.
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
    /// The data of all these files. An error if there is not enough memory for an index of the names.
    pub fn of(files: impl IntoIterator<Item: Borrow<File>>) -> Result<Self, Error> {
        Links::of(shared(files)).map(Sources)
    }

    /// Whether any of the files has data for an anchor of this name: it is *popef provided*, else *user provided*.
    pub fn provide(&self, anchor: &Anchor) -> bool {
        self.0.data_of(0, anchor.name.as_bytes()).is_some()
    }

    /// Where the data of an anchor is; `home` is the file that has the anchor.
    ///
    /// Of several blobs of its name, one in the anchor's own file comes first, then a tensor before a feed, then the
    /// first of the files.
    pub fn of_anchor(&self, anchor: &Anchor, home: usize) -> Source<'_> {
        let home = u32::try_from(home).unwrap_or(u32::MAX);
        resolve(&self.0, self.0.data_of(home, anchor.name.as_bytes()))
    }
}

/// Files that are kept, as cheap clones.
pub(super) fn shared(files: impl IntoIterator<Item: Borrow<File>>) -> std::sync::Arc<[File]> {
    files.into_iter().map(|file| file.borrow().clone()).collect()
}

/// A blob by its place, as what its type makes of it.
pub(super) fn linked<'l, B>(
    links: &'l Links,
    id: BlobId,
    view: impl FnOnce(Content<'l>) -> Option<B>,
) -> Option<Linked<B>> {
    let blob = view(links.blob(id)?.content())?;
    Some(Linked { file: usize::try_from(id.file).ok()?, blob })
}

/// Where data is; none is the user's.
pub(super) fn resolve(links: &Links, data: Option<BlobId>) -> Source<'_> {
    let source = data.and_then(|id| {
        let tensor = linked(links, id, Content::into_tensor).map(Source::Tensor);
        tensor.or_else(|| linked(links, id, Content::into_feed).map(Source::Feed))
    });
    source.unwrap_or(Source::User)
}

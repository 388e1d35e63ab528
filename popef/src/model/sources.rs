use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::Arc;

use crate::read::{FeedBlob, File, TensorBlob};
use crate::types::{Anchor, Text};

/// A blob and which of the files given together it is in.
#[derive(Clone, Copy, Debug)]
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
/// use popef::{File, Sources};
///
/// let model = File::open("../testdata/interop/split-executable.popef")?;
/// let weights = File::open("../testdata/interop/split-tensors.popef")?;
/// let sources = Sources::of([&model, &weights]);
/// for anchor in &model.metadata().next().expect("the file has one").read()?.anchors {
///     println!("{}: {}", anchor.name, if sources.provide(anchor) { "in the files" } else { "from the user" });
/// }
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sources<'f> {
    files: Arc<[&'f File]>,
    first: HashMap<Text<'f>, Provided>,
}

/// Which blob of which file has an anchor's data: small, as there is one for each anchor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Provided {
    Tensor { file: usize, blob: usize },
    Feed { file: usize, blob: usize },
    User,
}

impl<'f> Sources<'f> {
    /// The data of all these files.
    pub fn of(files: impl IntoIterator<Item = &'f File>) -> Self {
        Sources::of_files(files.into_iter().collect())
    }

    pub(crate) fn of_files(files: Arc<[&'f File]>) -> Self {
        let mut first = HashMap::new();
        for (file, opened) in files.iter().enumerate() {
            // A name's first tensor wins, else its first feed.
            for feed in opened.feeds() {
                first.entry(feed.name()).or_insert(Provided::Feed { file, blob: feed.blob().index() });
            }
            for tensor in opened.tensors() {
                let provided = Provided::Tensor { file, blob: tensor.blob().index() };
                match first.entry(tensor.name()) {
                    Entry::Vacant(entry) => drop(entry.insert(provided)),
                    Entry::Occupied(mut entry) if matches!(entry.get(), Provided::Feed { .. }) => {
                        entry.insert(provided);
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
        Sources { files, first }
    }

    /// Whether any of the files has data for an anchor of this name: it is *popef provided*, else *user provided*.
    pub fn provide(&self, anchor: &Anchor) -> bool {
        self.first.contains_key(&anchor.name)
    }

    /// Where the data of an anchor is; `home` is the file that has the anchor.
    ///
    /// Of several blobs of its name, one in the anchor's own file comes first, then a tensor before a feed, then the
    /// first of the files.
    pub fn of_anchor(&self, anchor: &Anchor, home: usize) -> Source<'f> {
        resolve(&self.files, self.find(&anchor.name, home))
    }

    pub(crate) fn find(&self, name: &Text<'_>, home: usize) -> Provided {
        match self.first.get(name) {
            None => Provided::User,
            Some(&first) => self.at_home(name, home).unwrap_or(first),
        }
    }

    fn at_home(&self, name: &Text<'_>, home: usize) -> Option<Provided> {
        let file = self.files.get(home)?;
        let name = name.as_bytes();
        let tensor = file.tensor(name).map(|tensor| Provided::Tensor { file: home, blob: tensor.blob().index() });
        tensor.or_else(|| file.feed(name).map(|feed| Provided::Feed { file: home, blob: feed.blob().index() }))
    }
}

/// The blob itself.
pub(crate) fn resolve<'f>(files: &[&'f File], provided: Provided) -> Source<'f> {
    let content = |file: usize, blob: usize| Some(files.get(file)?.blob(blob)?.content());
    match provided {
        Provided::Tensor { file, blob } => content(file, blob)
            .and_then(crate::read::Content::into_tensor)
            .map_or(Source::User, |blob| Source::Tensor(Linked { file, blob })),
        Provided::Feed { file, blob } => content(file, blob)
            .and_then(crate::read::Content::into_feed)
            .map_or(Source::User, |blob| Source::Feed(Linked { file, blob })),
        Provided::User => Source::User,
    }
}

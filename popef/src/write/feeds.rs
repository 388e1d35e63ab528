use std::fmt;
use std::mem;

use super::destination::{Destination, Rewind};
use super::held::{HeldWriter, Refused};
use super::label::Label;
use super::problem::{WriteProblem, impossible};
use super::writer::{Writer, Written};
use crate::error::Error;
use crate::len::len_of;
use crate::read::Element;
use crate::types::{DataType, FeedDataInfo, ShapeProblem};
use crate::wire::NewHead;

/// Several feeds that are written at once. Data sets are made sample by sample, with all inputs of a sample together,
/// but in the file the tensors of each feed are contiguous.
///
/// The position of every tensor is known in advance, so the feeds can be written in any order. The tensors of one feed
/// must come in order. Small tensors are buffered. If a `FeedsWriter` is dropped before it is [finished](Self::finish),
/// all its feeds are undone.
///
/// ```
/// use popef::types::FeedDataInfo;
/// use popef::{DataType, File, TensorInfo, Writer};
///
/// let mut bytes = std::io::Cursor::new(Vec::new());
/// let mut writer = Writer::seekable(&mut bytes)?;
/// let image = FeedDataInfo { name: "image".into(), tensor_info: TensorInfo::new(DataType::F32, [4]), num_tensors: 3 };
/// let label = FeedDataInfo { name: "label".into(), tensor_info: TensorInfo::new(DataType::S32, []), num_tensors: 3 };
/// let mut feeds = writer.feeds(&[image, label])?;
/// for sample in 0..3 {
///     feeds.push(0, &[sample as f32; 4])?;
///     feeds.push(1, &[sample])?;
/// }
/// feeds.finish()?;
/// writer.finish()?;
///
/// let file = File::from_bytes(bytes.into_inner())?;
/// assert_eq!(*file.feed("label").expect("it was written").item(2)?.to_slice::<i32>()?, [2]);
/// # Ok::<(), popef::Error>(())
/// ```
pub struct FeedsWriter<W: HeldWriter> {
    held: W,
    open: OpenFeeds,
    /// Whether the feeds were finished or moved elsewhere, so that a drop must not undo them.
    finished: bool,
}

#[derive(Default)]
struct OpenFeeds {
    feeds: Vec<Feed>,
    /// How many bytes of each feed are buffered before they are written.
    gathered: usize,
}

/// The most bytes that are buffered for one feed, and for all.
const GATHERED: usize = 64 << 10;
const GATHERED_OF_ALL: usize = 4 << 20;

struct Feed {
    label: Label<'static>,
    head: NewHead,
    offset: u64,
    data_type: DataType,
    /// The size of one tensor in bytes.
    tensor_size: u64,
    tensors: u32,
    given: u32,
    /// The last given tensors, which are not written yet.
    gathered: Vec<u8>,
}

impl Feed {
    /// This and the offsets below cannot wrap: the size was checked when the header was made, and the end in `new`.
    fn size(&self) -> u64 {
        self.head.len().saturating_add(self.tensor_size.saturating_mul(self.tensors.into()))
    }

    fn next_offset(&self) -> u64 {
        let given = self.tensor_size.saturating_mul(self.given.into());
        self.offset.saturating_add(self.head.len()).saturating_add(given)
    }

    fn gathered_offset(&self) -> u64 {
        self.next_offset().saturating_sub(len_of(&self.gathered))
    }

    fn missing(&self) -> u32 {
        self.tensors.saturating_sub(self.given)
    }
}

impl<'w, D: Rewind> FeedsWriter<&'w mut Writer<D>> {
    pub(super) fn new(writer: &'w mut Writer<D>, infos: &[FeedDataInfo]) -> Result<Self, Error> {
        writer.check_fault()?;
        let mut offset = writer.end();
        let mut feeds = Vec::new();
        for info in infos {
            let feed = lay_out(writer, info, offset)?;
            let end = offset.checked_add(feed.size());
            offset = end.ok_or_else(|| writer.refusal(impossible(ShapeProblem::TooLarge)))?;
            feeds.push(feed);
        }
        let gathered = GATHERED_OF_ALL.checked_div(feeds.len()).unwrap_or_default().min(GATHERED);
        let mut open = FeedsWriter { held: writer, open: OpenFeeds { feeds, gathered }, finished: false };
        open.clear_heads()?;
        Ok(open)
    }

    /// Ends all feeds, and returns their places in the order in which they were given. Fails if tensors are missing,
    /// and then undoes all feeds. The error names a feed and the number of its missing tensors.
    pub fn finish(mut self) -> Result<Vec<Written>, Error> {
        self.end()
    }
}

/// Feeds that own their writer. [`owning`](Self::owning) opens them.
#[allow(clippy::result_large_err, reason = "the writer comes back by value; how large it is differs by system")]
impl<D: Rewind> FeedsWriter<Writer<D>> {
    /// Opens feeds that own their writer. `open` calls [`Writer::feeds`].
    pub fn owning(
        mut writer: Writer<D>,
        open: impl FnOnce(&mut Writer<D>) -> Result<FeedsWriter<&mut Writer<D>>, Error>,
    ) -> Result<Self, Refused<D>> {
        let opened = open(&mut writer).map(|mut feeds| {
            feeds.finished = true;
            mem::take(&mut feeds.open)
        });
        let (held, open) = Refused::unless(opened, writer)?;
        Ok(FeedsWriter { held, open, finished: false })
    }

    /// Ends all feeds, and returns the writer and the places of the feeds. Fails if tensors are missing, and then
    /// undoes all feeds. The error names a feed and the number of its missing tensors.
    pub fn finish(mut self) -> Result<(Writer<D>, Vec<Written>), Refused<D>> {
        let ended = self.end();
        Refused::unless(ended, self.discard())
    }

    /// Undoes all feeds, and returns the writer. If that fails, the writer's next call returns the error.
    pub fn discard(mut self) -> Writer<D> {
        self.undo();
        self.held.take()
    }
}

impl<W: HeldWriter> FeedsWriter<W> {
    fn undo(&mut self) {
        if !mem::replace(&mut self.finished, true) {
            self.held.get_mut().undo();
        }
    }

    /// Writes zeros in place of the heads. They stay until all data is written, so that no reader takes the feeds for
    /// complete.
    fn clear_heads(&mut self) -> Result<(), Error> {
        let writer = self.held.get_mut();
        self.open.feeds.iter().try_for_each(|feed| writer.put(feed.offset, &vec![0; feed.head.bytes().len()]))
    }

    /// Writes the next tensor of a feed. `feed` is the feed's index in the list that was given. Fails if the type or
    /// the number of elements is wrong, or if the feed has all its tensors.
    pub fn push<T: Element>(&mut self, feed: usize, elements: &[T]) -> Result<(), Error> {
        let to = self.feed(feed)?;
        let (needed, found) = (to.data_type, T::DATA_TYPE);
        if needed != found {
            let blob = to.label.to_string();
            return Err(self.held.get().refusal(WriteProblem::WrongType { blob, needed, found }));
        }
        self.push_bytes(feed, &T::to_file(elements))
    }

    /// Writes the next tensor of a feed from the bytes of its elements, little-endian.
    pub fn push_bytes(&mut self, feed: usize, tensor: &[u8]) -> Result<(), Error> {
        self.held.get_mut().check_fault()?;
        let to = self.feed(feed)?;
        let (needed, found, held) = (to.tensor_size, len_of(tensor), to.tensors);
        if needed != found {
            let blob = format!("each tensor of {}", to.label);
            return Err(self.held.get().refusal(WriteProblem::WrongLength { blob, needed, found }));
        }
        if to.missing() == 0 {
            let feed = to.label.to_string();
            return Err(self.held.get().refusal(WriteProblem::FeedFull { feed, held }));
        }
        self.put(feed, tensor)
    }

    /// Writes or buffers the next tensor.
    fn put(&mut self, feed: usize, tensor: &[u8]) -> Result<(), Error> {
        let FeedsWriter { held, open: OpenFeeds { feeds, gathered }, .. } = self;
        let writer = held.get_mut();
        let Some(feed) = feeds.get_mut(feed) else { return Ok(()) };
        if feed.gathered.len().saturating_add(tensor.len()) > *gathered {
            writer.put(feed.gathered_offset(), &feed.gathered)?;
            feed.gathered.clear();
        }
        if tensor.len() > *gathered {
            writer.put(feed.next_offset(), tensor)?;
        } else {
            feed.gathered.extend_from_slice(tensor);
        }
        feed.given = feed.given.saturating_add(1);
        Ok(())
    }

    fn end(&mut self) -> Result<Vec<Written>, Error> {
        self.held.get_mut().check_fault()?;
        self.check_complete()?;
        let (writer, feeds) = (self.held.get_mut(), &self.open.feeds);
        feeds.iter().try_for_each(|feed| writer.put(feed.gathered_offset(), &feed.gathered))?;
        // Write the first head last: until then, a reader finds none of the feeds.
        feeds.iter().rev().try_for_each(|feed| writer.put_head(feed.offset, feed.head.bytes()))?;
        self.finished = true;
        Ok(feeds.iter().map(|feed| writer.finished(&feed.label, feed.size())).collect())
    }

    fn check_complete(&self) -> Result<(), Error> {
        let mut short = self.open.feeds.iter().filter(|feed| feed.missing() > 0);
        let Some(first) = short.next() else { return Ok(()) };
        let (feed, missing, needed) = (first.label.to_string(), first.missing(), first.tensors);
        Err(self.held.get().refusal(WriteProblem::FeedsUnfinished { feed, missing, needed, others: short.count() }))
    }

    fn feed(&self, feed: usize) -> Result<&Feed, Error> {
        let held = self.open.feeds.len();
        self.open.feeds.get(feed).ok_or_else(|| self.held.get().refusal(WriteProblem::NoSuchFeed { asked: feed, held }))
    }
}

fn lay_out<D: Destination>(writer: &Writer<D>, info: &FeedDataInfo, offset: u64) -> Result<Feed, Error> {
    let mut head = writer.head(info.into())?;
    writer.set_data_len(&mut head, writer.needed(info.into())?)?;
    let label = Label::of(info.into()).try_to_own().map_err(|problem| writer.refusal(problem))?;
    // This cannot fail, because the size of all tensors was computed above.
    let tensor_size = info.tensor_info.size_in_bytes()?;
    let (data_type, tensors) = (info.tensor_info.data_type, info.num_tensors);
    Ok(Feed { label, head, offset, data_type, tensor_size, tensors, given: 0, gathered: Vec::new() })
}

impl<W: HeldWriter> Drop for FeedsWriter<W> {
    fn drop(&mut self) {
        self.undo();
    }
}

impl<W: HeldWriter> fmt::Debug for FeedsWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let feeds = self.open.feeds.iter().map(|feed| (feed.label.to_string(), feed.given));
        f.debug_map().entries(feeds).finish()
    }
}

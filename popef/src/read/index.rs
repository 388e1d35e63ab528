//! The index of an opened file: its blobs by position, by type and by name.

use std::ops::Range;
use std::sync::OnceLock;

use super::arena::{Arena, Slot};
use super::brief::Brief;
use super::chunks::Chunks;
use super::names::{BlobId, Key, Names};
use super::problem::ReadProblem;
use super::source::Backing;
use super::walk::Place;
use crate::error::{Problem, push};
use crate::types::BlobType;
use crate::wire::{Head, InfoFields, Span};

/// The blobs of a file in file order, and by type.
#[derive(Default)]
pub(super) struct Index {
    blobs: Chunks<Entry>,
    /// The texts of short heads, and copies of the messages of long ones.
    texts: Arena,
    long: Chunks<Head>,
    messages: Messages,
    /// Where the last blob ends.
    end: u64,
    /// The blobs after which bytes were left out, and where those bytes end. They are sorted.
    gaps: Vec<(usize, u64)>,
    by_type: [Vec<u32>; BlobType::ALL.len()],
    /// Built when the first name is looked up, because many programs never look up a name. `None` if there was not
    /// enough memory.
    names: OnceLock<Option<Names>>,
}

/// Where the messages of heads without a short form are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Messages {
    /// In the bytes of the file, which are in memory.
    InMemory,
    /// In a source that is [near](super::source::ReadAt::is_near). Long Metadata messages are read again, which takes
    /// less time than to make a value of them.
    Near,
    /// Nowhere else, or far away.
    #[default]
    Kept,
}

impl Messages {
    /// Returns where the messages of a file with this source are.
    pub(super) fn of(source: &Backing) -> Self {
        if source.is_near() { Messages::Near } else { Messages::Kept }
    }
}

/// Messages that could be read again are kept up to this length.
const LONGEST_KEPT: usize = 64 << 10;

/// A blob's offset and head. The size follows from the offset of the next blob, or from the gap before that. An entry must be
/// small, because the smallest blobs have only 32 bytes.
struct Entry {
    offset: u64,
    kept: KeptHead,
}

const _: () = assert!(size_of::<Entry>() == 24);

/// What is kept of a head, and where its texts are.
#[derive(Clone, Copy)]
pub(super) struct KeptHead {
    form: Form,
    texts: Slot,
}

#[derive(Clone, Copy)]
enum Form {
    Brief(Brief),
    /// The number of a head that has no short form.
    Long(u32),
    /// The number of a head that has only its texts kept.
    TextsOf(u32),
}

/// A blob of the index.
#[derive(Clone, Copy)]
pub(super) struct Indexed {
    pub(super) place: Place,
    pub(super) head: Head,
    pub(super) texts: TextsIn,
}

/// Where the texts of a head are.
#[derive(Clone, Copy)]
pub(super) enum TextsIn {
    /// In the index, without the messages.
    Alone(Slot),
    /// In a copy of the messages that the index keeps.
    Copy(Slot),
    /// In the bytes of the file, which are in memory.
    File,
}

impl Index {
    /// An index of a file whose first blob is at an offset.
    pub(super) fn from(offset: u64, messages: Messages) -> Self {
        Index { end: offset, messages, ..Index::default() }
    }

    /// Keeps what [`push`](Self::push) needs of a head. `None` if that is its messages, header and info: the caller
    /// must then [give](Self::keep_long) them to the index.
    pub(super) fn keep(&mut self, head: &Head, messages: &[u8]) -> Result<Option<KeptHead>, Problem> {
        if let Some((brief, texts)) = Brief::keep(head, messages, &mut self.texts)? {
            return Ok(Some(KeptHead { form: Form::Brief(brief), texts }));
        }
        match (self.messages, head.info) {
            (Messages::InMemory, _) => self.keep_long(head, Vec::new()).map(Some),
            (Messages::Near, InfoFields::Metadata { executable, value_bytes }) if messages.len() > LONGEST_KEPT => {
                let [version, name] = [head.version, executable].map(|text| text.of_head(messages));
                let (texts, kept) = self.texts.next(version.len().saturating_add(name.len()))?;
                kept.extend_from_slice(version);
                kept.extend_from_slice(name);
                let version = Span::at(0, head.version.len());
                let executable = Span::at(version.len(), executable.len());
                let info = InfoFields::Metadata { executable, value_bytes };
                let number = self.add_long(Head { version, info, ..*head })?;
                Ok(Some(KeptHead { form: Form::TextsOf(number), texts }))
            }
            _ => Ok(None),
        }
    }

    /// Keeps the messages of a head that has no short form. They are empty if they stay in memory anyway.
    pub(super) fn keep_long(&mut self, head: &Head, messages: Vec<u8>) -> Result<KeptHead, Problem> {
        Ok(KeptHead { form: Form::Long(self.add_long(*head)?), texts: self.texts.keep(messages)? })
    }

    fn add_long(&mut self, head: Head) -> Result<u32, Problem> {
        let number = u32::try_from(self.long.len()).map_err(|_| ReadProblem::TooManyBlobs)?;
        Problem::in_memory(size_of::<Head>(), self.long.push(head))?;
        Ok(number)
    }

    /// Adds the blob of a head that was [kept](Self::keep).
    pub(super) fn push(&mut self, offset: u64, head: &Head, kept: KeptHead) -> Result<(), Problem> {
        let index = u32::try_from(self.blobs.len()).map_err(|_| ReadProblem::TooManyBlobs)?;
        let entry = Entry { offset, kept };
        let mut of_type = self.by_type.get_mut(usize::from(head.blob_type().number()));
        let reserved = of_type.as_mut().map_or(Ok(()), |list| list.try_reserve(1));
        Problem::in_memory(size_of::<Entry>(), reserved.and_then(|()| self.blobs.push(entry)))?;
        of_type.into_iter().for_each(|list| list.push(index));
        self.end = offset.saturating_add(head.size);
        Ok(())
    }

    /// Records that the next blob may not begin where the last one ends.
    pub(super) fn leave_gap(&mut self) -> Result<(), Problem> {
        let Some(last) = self.blobs.len().checked_sub(1) else { return Ok(()) };
        match self.gaps.last() {
            Some((before, _)) if *before == last => Ok(()),
            _ => push(&mut self.gaps, (last, self.end)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.blobs.len()
    }

    /// Where the last blob ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn get(&self, index: usize) -> Option<Indexed> {
        let (&Entry { offset, kept: KeptHead { form, texts } }, next) = self.blobs.get_with_next(index)?;
        let end = self.gap_behind(index).unwrap_or_else(|| next.map_or(self.end, |next| next.offset));
        let size = end.saturating_sub(offset);
        let (head, texts) = match form {
            Form::Brief(brief) => (brief.head(self.texts.get(texts), size), TextsIn::Alone(texts)),
            Form::TextsOf(number) => (self.long_head(number)?, TextsIn::Alone(texts)),
            Form::Long(number) => match self.messages {
                Messages::InMemory => (self.long_head(number)?, TextsIn::File),
                Messages::Near | Messages::Kept => (self.long_head(number)?, TextsIn::Copy(texts)),
            },
        };
        Some(Indexed { place: Place { index, offset }, head, texts })
    }

    fn long_head(&self, number: u32) -> Option<Head> {
        self.long.get(usize::try_from(number).ok()?).copied()
    }

    /// Where the bytes that were left out after a blob end.
    fn gap_behind(&self, index: usize) -> Option<u64> {
        let gap = self.gaps.binary_search_by_key(&index, |(before, _)| *before).ok()?;
        self.gaps.get(gap).map(|(_, end)| *end)
    }

    /// The bytes at a slot, followed by others.
    pub(super) fn texts(&self, slot: Slot) -> &[u8] {
        self.texts.get(slot)
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { index: self, range: 0..self.len() }
    }

    /// The indices of the blobs of a known type, in file order.
    pub(super) fn of_type(&self, blob_type: BlobType) -> &[u32] {
        self.by_type.get(usize::from(blob_type.number())).map_or(&[], Vec::as_slice)
    }

    /// Finds the first blob with a type and a name. `name_of` returns the name of the blob at an index.
    pub(super) fn named<'a>(&self, blob_type: BlobType, name: &[u8], name_of: impl Fn(u32) -> &'a [u8]) -> Option<u32> {
        let is_it = |&index: &u32| self.type_of(index) == Some(blob_type) && name_of(index) == name;
        match self.names.get_or_init(|| self.names(&name_of).ok()) {
            Some(names) => names.candidates((Key::Name(blob_type), name)).map(|id| id.blob).find(is_it),
            None => self.of_type(blob_type).iter().copied().find(is_it),
        }
    }

    fn names<'a>(&self, name_of: impl Fn(u32) -> &'a [u8]) -> Result<Names, Problem> {
        let of_key = |key: Key| self.of_type(key.blob_type()).iter().map(move |&blob| (key, blob));
        let count =
            Key::OF_NAMES.into_iter().map(|key| self.of_type(key.blob_type()).len()).fold(0, usize::saturating_add);
        let mut names = Names::with_capacity(count)?;
        for (key, blob) in Key::OF_NAMES.into_iter().flat_map(of_key) {
            names.push((key, name_of(blob)), BlobId { file: 0, blob });
        }
        names.sort();
        Ok(names)
    }

    fn type_of(&self, index: u32) -> Option<BlobType> {
        Some(self.get(usize::try_from(index).ok()?)?.head.blob_type())
    }
}

/// The blobs of a file in file order.
#[derive(Clone)]
pub(super) struct Iter<'i> {
    index: &'i Index,
    range: Range<usize>,
}

impl Iterator for Iter<'_> {
    type Item = Indexed;

    fn next(&mut self) -> Option<Self::Item> {
        self.index.get(self.range.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }

    fn nth(&mut self, skipped: usize) -> Option<Self::Item> {
        self.index.get(self.range.nth(skipped)?)
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.index.get(self.range.next_back()?)
    }
}

impl ExactSizeIterator for Iter<'_> {}

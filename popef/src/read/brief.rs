//! The short form in which an index keeps heads.

use super::arena::{Arena, Slot};
use crate::error::Problem;
use crate::types::DataType;
use crate::wire::{Head, InfoFields, Span};

/// The numbers of a head whose texts are short, as nearly all are. The texts are in an [`Arena`].
///
/// The messages themselves are three times as long. They stay in the file and are hardly ever needed again.
#[derive(Clone, Copy)]
pub(super) struct Brief {
    kind: Kind,
    data_type: u8,
    /// The lengths of header and info, in words.
    header: u8,
    info: u8,
    /// The lengths of the texts: the version, the name, and the shape or the name of the executable.
    version: u8,
    second: u8,
    name: u16,
}

/// What a head is about. In the arena, a number precedes the texts of some.
#[derive(Clone, Copy)]
enum Kind {
    Executable,
    Tensor,
    Feed,
    Opaque,
    Unknown,
}

const WORD: u32 = 8;
/// The length of the number before the texts.
const NUMBER: u8 = 8;

impl Brief {
    /// Returns the short form of a head, if it has one, and where its texts are kept. `messages` are the header and info.
    pub(super) fn keep(head: &Head, messages: &[u8], arena: &mut Arena) -> Result<Option<(Brief, Slot)>, Problem> {
        let none = Span::default();
        let (kind, data_type, name, second, number) = match head.info {
            InfoFields::Tensor { name, shape, data_type } => (Kind::Tensor, data_type.number(), name, shape, None),
            InfoFields::Feed { name, shape, data_type, num_tensors } => {
                (Kind::Feed, data_type.number(), name, shape, Some(num_tensors.into()))
            }
            InfoFields::Executable { name, uncompressed_size } => {
                (Kind::Executable, 0, name, none, Some(InfoFields::stored_size(uncompressed_size)))
            }
            InfoFields::Opaque { name, executable } => (Kind::Opaque, 0, name, executable, None),
            InfoFields::Unknown { number } => (Kind::Unknown, 0, none, none, Some(number.into())),
            // Its message is needed to read it.
            InfoFields::Metadata { .. } => return Ok(None),
        };
        let texts = [head.version, name, second];
        let Some(brief) = Brief::of(head, kind, data_type, texts) else { return Ok(None) };
        let [version, name, second] = texts.map(|text| text.of_head(messages));
        let number = number.map(u64::to_le_bytes);
        let (slot, kept) = arena.next(brief.kept_len())?;
        if let Some(number) = number {
            kept.extend_from_slice(&number);
        }
        if !version.is_empty() {
            kept.extend_from_slice(version);
        }
        kept.extend_from_slice(name);
        kept.extend_from_slice(second);
        Ok(Some((brief, slot)))
    }

    /// The length of what is kept in the arena.
    fn kept_len(self) -> usize {
        let texts = usize::from(self.version).wrapping_add(self.name.into()).wrapping_add(self.second.into());
        texts.wrapping_add(if self.has_number() { NUMBER.into() } else { 0 })
    }

    fn of(head: &Head, kind: Kind, data_type: u16, [version, name, second]: [Span; 3]) -> Option<Brief> {
        let in_words = |len: u32| u8::try_from(len / WORD).ok().filter(|_| len.is_multiple_of(WORD));
        Some(Brief {
            kind,
            data_type: u8::try_from(data_type).ok()?,
            header: in_words(head.header_len)?,
            info: in_words(head.len.checked_sub(head.header_len)?)?,
            version: u8::try_from(version.len()).ok()?,
            second: u8::try_from(second.len()).ok()?,
            name: u16::try_from(name.len()).ok()?,
        })
    }

    /// Returns the head of a blob of `size` bytes. Its spans are places in `kept`. No sum of these lengths can wrap.
    pub(super) fn head(self, kept: &[u8], size: u64) -> Head {
        let header_len = u32::from(self.header).wrapping_mul(WORD);
        let len = u32::from(self.info).wrapping_mul(WORD).wrapping_add(header_len);
        let [version, name, second] = [self.version.into(), self.name.into(), self.second.into()];
        let version_at = if self.has_number() { NUMBER.into() } else { 0_u32 };
        let name_at = version_at.wrapping_add(version);
        let second_at = name_at.wrapping_add(name);
        let version = Span::at(version_at, version);
        let (name, second) = (Span::at(name_at, name), Span::at(second_at, second));
        let number = || kept.first_chunk().map_or(0, |number| u64::from_le_bytes(*number));
        let data_type = DataType::from_number(self.data_type.into());
        let info = match self.kind {
            Kind::Tensor => InfoFields::Tensor { name, shape: second, data_type },
            Kind::Feed => {
                let num_tensors = u32::try_from(number()).unwrap_or(u32::MAX);
                InfoFields::Feed { name, shape: second, data_type, num_tensors }
            }
            Kind::Executable => InfoFields::executable(name, number()),
            Kind::Opaque => InfoFields::Opaque { name, executable: second },
            Kind::Unknown => InfoFields::Unknown { number: u16::try_from(number()).unwrap_or(u16::MAX) },
        };
        Head { size, header_len, len, version, info }
    }

    /// Whether a number precedes the texts.
    fn has_number(self) -> bool {
        matches!(self.kind, Kind::Executable | Kind::Feed | Kind::Unknown)
    }
}

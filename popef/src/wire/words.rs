//! Computes the length of a message before it is built. So a message that is longer than readers accept is refused
//! early, and any other is built as one segment.

use super::lists::{Elements, Lists};
use super::problem::{Message, WireProblem};
use crate::error::Problem;
use crate::limits::{HEADER_BYTES, Limits};
use crate::types::{Anchor, EngineOption, Metadata, ProgramInfo, TensorInfo, Text};

pub(super) const WORD: usize = 8;

/// The length of a message in words, without its segment table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words(pub(super) usize);

impl Words {
    /// The length of the root pointer and a root struct of `words` words.
    pub(super) fn of_root(words: usize) -> Self {
        Words(1).and(words)
    }

    pub(super) fn of_metadata<A, O, P>(plain: &Metadata, lists: &Lists<'_, A, O, P>) -> Result<Self, Problem>
    where
        A: Elements<Anchor>,
        O: Elements<EngineOption>,
        P: Elements<ProgramInfo>,
    {
        let flow = &plain.program_flow;
        let flow = [&flow.load, &flow.main, &flow.save];
        // The root struct, the tags of the four lists of structs, and the struct ProgramFlow.
        let words = Words::of_root(10 + 4 + 3).and_text(&plain.executable).and_text(&plain.seed_handle);
        let mut words = flow.iter().fold(words, |words, list| words.and_numbers::<u32>(list));
        for options in [lists.engine_options, lists.device_options] {
            words =
                words.and_each(options, |words, option| words.and(2).and_text(&option.name).and_text(&option.value))?;
        }
        words = words.and_each(lists.programs_map, |words, program| words.and(2).and_text(&program.name))?;
        words.and_each(lists.anchors, |words, anchor| {
            let words = words.and(5).and_text(&anchor.name).and_text(&anchor.handle);
            words.and_numbers::<u32>(&anchor.programs).and_tensor_info(&anchor.tensor_info)
        })
    }

    fn and_each<T>(mut self, elements: &impl Elements<T>, and: fn(Self, &T) -> Self) -> Result<Self, Problem> {
        elements.each(|element| {
            self = and(self, element);
            Ok(())
        })?;
        Ok(self)
    }

    fn and(self, words: usize) -> Self {
        Words(self.0.saturating_add(words))
    }

    pub(super) fn and_text(self, text: &Text<'_>) -> Self {
        self.and((text.as_bytes().len() / WORD).saturating_add(1))
    }

    fn and_numbers<T>(self, list: &[T]) -> Self {
        self.and(size_of_val(list).div_ceil(WORD))
    }

    pub(super) fn and_tensor_info(self, info: &TensorInfo) -> Self {
        self.and(2).and_numbers::<i64>(&info.shape)
    }

    /// The length in bytes of a message of one segment, whose table is one word.
    fn message_len(self) -> usize {
        self.0.saturating_add(1).saturating_mul(WORD)
    }

    /// Returns the length of the message in words and bytes. Fails if it is longer than readers accept.
    pub(super) fn accepted(self, message: Message) -> Result<(u32, usize), Problem> {
        let len = self.message_len();
        let needed = u64::try_from(len).unwrap_or(u64::MAX);
        let limit = match message {
            Message::Header => HEADER_BYTES,
            Message::Info => Limits::default().info_bytes,
        };
        match u32::try_from(self.0) {
            Ok(words) if needed <= limit => Ok((words, len)),
            _ => Err(WireProblem::TooLongToWrite { message, needed, limit }.into()),
        }
    }
}

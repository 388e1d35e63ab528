//! Writes the info message of Metadata, as `encode.rs` writes the others. The counterpart of `metadata.rs`.

use super::layout::{list, put, put_tensor_info, put_text, start, structure, text};
use super::lists::{Elements, Lists};
use super::metadata::with_refs;
use super::problem::Message;
use super::words::{WORD, Words};
use crate::error::Problem;
use crate::len::as_u64;
use crate::limits::Limits;
use crate::types::{Anchor, EngineOption, Metadata, ProgramFlow, ProgramInfo, Text};

/// Appends the message to `to`.
pub(super) fn metadata(to: &mut Vec<u8>, metadata: &Metadata) -> Result<(), Problem> {
    let lists = Lists::of(metadata);
    Segment::begin(to, Words::of_metadata(metadata, &lists)?)?.metadata(metadata, &lists)
}

/// Returns whether a message is the one that [`metadata`] makes of its values. Keeps no values.
pub(crate) fn is_encoded(info: &[u8], limits: &Limits) -> Result<bool, Problem> {
    let words = with_refs(info, limits, |refs| Words::of_metadata(&refs.read_plain()?, &Lists::of_message(&refs)))?;
    match words.accepted(Message::Info) {
        Ok((_, len)) if len == info.len() => {
            let mut encoded = Vec::new();
            let segment = Segment::begin(&mut encoded, words)?;
            with_refs(info, limits, |refs| segment.metadata(&refs.read_plain()?, &Lists::of_message(&refs)))?;
            Ok(encoded == info)
        }
        _ => Ok(false),
    }
}

/// The only segment of a message that is being made.
///
/// What a pointer points to is appended when the pointer is set, in the order in which `set.rs` sets fields. Then the bytes are
/// those that `capnp` makes.
struct Segment<'t> {
    to: &'t mut Vec<u8>,
}

/// Where a word is in the bytes of a segment.
type At = usize;

impl<'t> Segment<'t> {
    /// Begins a message of this length.
    fn begin(to: &'t mut Vec<u8>, words: Words) -> Result<Self, Problem> {
        let table = start(to, Message::Info, words)?;
        put(to, [table]);
        Ok(Segment { to })
    }

    fn metadata<A, O, P>(mut self, plain: &Metadata, lists: &Lists<'_, A, O, P>) -> Result<(), Problem>
    where
        A: Elements<Anchor>,
        O: Elements<EngineOption>,
        P: Elements<ProgramInfo>,
    {
        let numbers = [
            halves(plain.replication_factor, plain.num_ipus),
            halves(plain.num_processes, plain.ipu_version),
            halves(bits(plain.is_pod, plain.is_inference), plain.device_iterations),
        ];
        put(self.to, [structure(0, 3, 7)]);
        put(self.to, numbers);
        let [seed_handle, anchors, executable, engine_options, device_options, flow, programs_map] = self.pointers();
        self.text(seed_handle, &plain.seed_handle);
        self.text(executable, &plain.executable);
        self.structs(anchors, [1, 4], lists.anchors, Self::anchor)?;
        self.structs(engine_options, [0, 2], lists.engine_options, Self::option)?;
        self.structs(device_options, [0, 2], lists.device_options, Self::option)?;
        self.program_flow(flow, &plain.program_flow);
        self.structs(programs_map, [1, 1], lists.programs_map, Self::program)
    }

    fn anchor(&mut self, [numbers, name, programs, handle, tensor_info]: [At; 5], anchor: &Anchor) {
        let flags = bits(anchor.is_per_replica, anchor.use_remote_buffers) << 16;
        self.set(numbers, halves(u32::from(anchor.tensor_type.number()) | flags, anchor.repeats));
        self.text(name, &anchor.name);
        self.text(handle, &anchor.handle);
        self.numbers(programs, &anchor.programs);
        self.set(tensor_info, structure(self.offset(tensor_info), 1, 1));
        put_tensor_info(self.to, &anchor.tensor_info);
    }

    fn option(&mut self, [name, value]: [At; 2], option: &EngineOption) {
        self.text(name, &option.name);
        self.text(value, &option.value);
    }

    fn program(&mut self, [index, name]: [At; 2], program: &ProgramInfo) {
        self.set(index, program.index.into());
        self.text(name, &program.name);
    }

    fn program_flow(&mut self, at: At, flow: &ProgramFlow) {
        self.set(at, structure(self.offset(at), 0, 3));
        let [load, main, save] = self.pointers();
        self.numbers(load, &flow.load);
        self.numbers(main, &flow.main);
        self.numbers(save, &flow.save);
    }

    /// Appends a list of structs with the given numbers of data words and pointers. `fill` gets the place of each word
    /// of a struct.
    fn structs<T, const WORDS: usize>(
        &mut self,
        at: At,
        [data, pointers]: [u64; 2],
        elements: &impl Elements<T>,
        fill: fn(&mut Self, [At; WORDS], &T),
    ) -> Result<(), Problem> {
        const STRUCTS: u64 = 7;
        let words = elements.count().saturating_mul(WORDS);
        self.set(at, list(self.offset(at), STRUCTS, words));
        put(self.to, [structure(as_u64(elements.count()), data, pointers)]);
        let mut next = self.to.len();
        self.to.resize(next.saturating_add(words.saturating_mul(WORD)), 0);
        elements.each(|element| {
            fill(self, places(&mut next), element);
            Ok(())
        })
    }

    /// Appends pointers, which are not set yet, and returns their places.
    fn pointers<const COUNT: usize>(&mut self) -> [At; COUNT] {
        let mut at = self.to.len();
        put(self.to, [0; COUNT]);
        places(&mut at)
    }

    fn text(&mut self, at: At, value: &Text<'_>) {
        self.set(at, text(self.offset(at), value));
        put_text(self.to, value);
    }

    fn numbers(&mut self, at: At, numbers: &[u32]) {
        const FOUR_BYTES: u64 = 4;
        self.set(at, list(self.offset(at), FOUR_BYTES, numbers.len()));
        numbers.iter().for_each(|number| self.to.extend_from_slice(&number.to_le_bytes()));
        if numbers.len() % 2 == 1 {
            self.to.extend_from_slice(&[0; WORD / 2]);
        }
    }

    /// The number of words between a pointer and what is appended next.
    fn offset(&self, pointer: At) -> u64 {
        as_u64((self.to.len().saturating_sub(pointer) / WORD).saturating_sub(1))
    }

    fn set(&mut self, at: At, word: u64) {
        if let Some(bytes) = self.to.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *bytes = word.to_le_bytes();
        }
    }
}

/// The places of words that follow each other.
fn places<const COUNT: usize>(next: &mut At) -> [At; COUNT] {
    std::array::from_fn(|_| {
        let at = *next;
        *next = at.saturating_add(WORD);
        at
    })
}

fn halves(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn bits(first: bool, second: bool) -> u32 {
    u32::from(first) | u32::from(second) << 1
}

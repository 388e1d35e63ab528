//! Values to header and info messages: the mirror of `head.rs` and `metadata.rs`.
//!
//! Each message is one segment, whatever its length. Texts are written as the bytes they are, numbers of
//! enumerations as the numbers they are, so that what was read from any file can be written again.

use capnp::dynamic_struct;
use capnp::dynamic_value::{self, Enum};
use capnp::introspect::{Introspect, TypeVariant};
use capnp::message::{Builder, HeapAllocator};
use capnp::{serialize, struct_list, text};

use super::head::NOT_COMPRESSED;
use super::popef_capnp as schema;
use super::problem::{Message, WireProblem};
use crate::error::Problem;
use crate::limits::{HEADER_BYTES, Limits};
use crate::types::{
    Anchor, BlobType, EngineOption, FeedDataInfo, Metadata, OpaqueInfo, ProgramFlow, ProgramInfo, TensorDataInfo,
    TensorInfo, TensorType, Text,
};

type Root = Builder<HeapAllocator>;

/// The length of the header message, which depends on the version alone: so that a size can be filled in later.
pub(crate) fn header_len(version: &Text<'_>) -> u64 {
    header_words(version).message_len()
}

fn header_words(version: &Text<'_>) -> Words {
    Words(4).and_text(version)
}

/// The header message.
pub(crate) fn header(version: &Text<'_>, blob_type: BlobType, size: u64) -> Result<Vec<u8>, Problem> {
    let mut message = header_words(version).start(Message::Header)?;
    let mut root = message.init_root::<schema::blob_header::Builder<'_>>();
    root.set_version(bytes_of(version));
    root.set_size(size);
    match schema::BlobType::try_from(blob_type.number()) {
        Ok(known) => root.set_type(known),
        Err(_) => set_number::<schema::BlobType>(root, "type", blob_type.number())?,
    }
    Ok(serialize::write_message_to_words(&message))
}

/// The info message of an executable. Its length does not depend on the size.
pub(crate) fn executable(name: &Text<'_>, uncompressed_size: Option<u64>) -> Result<Vec<u8>, Problem> {
    let mut message = Words(3).and_text(name).start(Message::Info)?;
    let mut root = message.init_root::<schema::poplar_executable::Builder<'_>>();
    root.set_name(bytes_of(name));
    root.set_uncompressed_size(uncompressed_size.unwrap_or(NOT_COMPRESSED));
    Ok(serialize::write_message_to_words(&message))
}

pub(crate) fn tensor(info: &TensorDataInfo) -> Result<Vec<u8>, Problem> {
    let words = Words(3).and_text(&info.name).and_tensor_info(&info.tensor_info);
    let mut message = words.start(Message::Info)?;
    let mut root = message.init_root::<schema::tensor_data_info::Builder<'_>>();
    root.set_name(bytes_of(&info.name));
    set_tensor_info(root.init_tensor_info(), &info.tensor_info)?;
    Ok(serialize::write_message_to_words(&message))
}

pub(crate) fn feed(info: &FeedDataInfo) -> Result<Vec<u8>, Problem> {
    let words = Words(4).and_text(&info.name).and_tensor_info(&info.tensor_info);
    let mut message = words.start(Message::Info)?;
    let mut root = message.init_root::<schema::feed_data_info::Builder<'_>>();
    root.set_name(bytes_of(&info.name));
    set_tensor_info(root.reborrow().init_tensor_info(), &info.tensor_info)?;
    root.set_num_tensors(info.num_tensors);
    Ok(serialize::write_message_to_words(&message))
}

pub(crate) fn opaque(info: &OpaqueInfo) -> Result<Vec<u8>, Problem> {
    let mut message = Words(3).and_text(&info.name).and_text(&info.executable).start(Message::Info)?;
    let mut root = message.init_root::<schema::opaque::Builder<'_>>();
    root.set_name(bytes_of(&info.name));
    root.set_executable(bytes_of(&info.executable));
    Ok(serialize::write_message_to_words(&message))
}

pub(crate) fn metadata(metadata: &Metadata) -> Result<Vec<u8>, Problem> {
    let mut message = Words::of_metadata(metadata).start(Message::Info)?;
    let mut root = message.init_root::<schema::metadata::Builder<'_>>();
    root.set_replication_factor(metadata.replication_factor);
    root.set_num_ipus(metadata.num_ipus);
    root.set_num_processes(metadata.num_processes);
    root.set_ipu_version(metadata.ipu_version);
    root.set_is_p_o_d(metadata.is_pod);
    root.set_is_inference(metadata.is_inference);
    root.set_device_iterations(metadata.device_iterations);
    root.set_seed_handle(bytes_of(&metadata.seed_handle));
    root.set_executable(bytes_of(&metadata.executable));
    set_anchors(root.reborrow().init_anchors(count(&metadata.anchors)), &metadata.anchors)?;
    set_options(root.reborrow().init_engine_options(count(&metadata.engine_options)), &metadata.engine_options);
    set_options(root.reborrow().init_device_options(count(&metadata.device_options)), &metadata.device_options);
    set_program_flow(root.reborrow().init_program_flow(), &metadata.program_flow)?;
    set_programs(root.init_programs_map(count(&metadata.programs_map)), &metadata.programs_map);
    Ok(serialize::write_message_to_words(&message))
}

fn set_options(mut list: struct_list::Builder<'_, schema::option::Owned>, options: &[EngineOption]) {
    for (index, option) in (0..).zip(options) {
        let mut to = list.reborrow().get(index);
        to.set_name(bytes_of(&option.name));
        to.set_value(bytes_of(&option.value));
    }
}

fn set_program_flow(mut to: schema::program_flow::Builder<'_>, flow: &ProgramFlow) -> Result<(), Problem> {
    to.set_load(flow.load.as_slice()).map_err(refused("programFlow.load"))?;
    to.set_main(flow.main.as_slice()).map_err(refused("programFlow.main"))?;
    to.set_save(flow.save.as_slice()).map_err(refused("programFlow.save"))
}

fn set_programs(mut list: struct_list::Builder<'_, schema::program_info::Owned>, programs: &[ProgramInfo]) {
    for (index, program) in (0..).zip(programs) {
        let mut to = list.reborrow().get(index);
        to.set_index(program.index);
        to.set_name(bytes_of(&program.name));
    }
}

fn set_anchors(mut list: struct_list::Builder<'_, schema::anchor::Owned>, anchors: &[Anchor]) -> Result<(), Problem> {
    (0..).zip(anchors).try_for_each(|(index, anchor)| set_anchor(list.reborrow().get(index), anchor))
}

fn set_anchor(mut to: schema::anchor::Builder<'_>, anchor: &Anchor) -> Result<(), Problem> {
    to.set_name(bytes_of(&anchor.name));
    to.set_handle(bytes_of(&anchor.handle));
    to.set_programs(anchor.programs.as_slice()).map_err(refused("an anchor's programs"))?;
    set_tensor_info(to.reborrow().init_tensor_info(), &anchor.tensor_info)?;
    to.set_is_per_replica(anchor.is_per_replica);
    to.set_use_remote_buffers(anchor.use_remote_buffers);
    to.set_repeats(anchor.repeats);
    set_tensor_type(to, anchor.tensor_type)
}

fn set_tensor_type(mut to: schema::anchor::Builder<'_>, tensor_type: TensorType) -> Result<(), Problem> {
    match schema::TensorType::try_from(tensor_type.number()) {
        Ok(known) => to.set_type(known),
        Err(_) => set_number::<schema::TensorType>(to, "type", tensor_type.number())?,
    }
    Ok(())
}

fn set_tensor_info(mut to: schema::tensor_info::Builder<'_>, info: &TensorInfo) -> Result<(), Problem> {
    to.set_shape(info.shape.as_slice()).map_err(refused("shape"))?;
    match schema::DataType::try_from(info.data_type.number()) {
        Ok(known) => to.set_data_type(known),
        Err(_) => set_number::<schema::DataType>(to, "dataType", info.data_type.number())?,
    }
    Ok(())
}

/// Sets a field of enumeration `E` to a number that the schema does not name. The generated setters take only
/// those that it does.
fn set_number<'m, E: Introspect>(
    to: impl Into<dynamic_value::Builder<'m>>,
    field: &'static str,
    number: u16,
) -> Result<(), Problem> {
    let TypeVariant::Enum(schema) = E::introspect().which() else { return Ok(()) };
    let mut to = to.into().downcast::<dynamic_struct::Builder<'_>>();
    to.set_named(field, Enum::new(number, schema.into()).into()).map_err(refused(field))
}

fn refused(field: &'static str) -> impl Fn(capnp::Error) -> Problem {
    move |source| WireProblem::Malformed { message: Message::Info, field, source }.into()
}

fn bytes_of<'t>(text: &'t Text<'_>) -> text::Reader<'t> {
    text::Reader(text.as_bytes())
}

/// The length of a list in a message whose length was found to be within the limit.
fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

/// How many words a message needs, counted beforehand: so it is refused before anything is built if it is longer
/// than readers accept, and becomes one segment if it is not.
#[derive(Clone, Copy)]
struct Words(usize);

impl Words {
    fn of_metadata(metadata: &Metadata) -> Self {
        let flow = &metadata.program_flow;
        let flow = [&flow.load, &flow.main, &flow.save];
        // The root pointer, the struct, three tags of lists, the struct of the program flow.
        let mut words = Words(1 + 10 + 4 + 3).and_text(&metadata.executable).and_text(&metadata.seed_handle);
        words = flow.iter().fold(words, |words, list| words.and_numbers::<u32>(list));
        for option in metadata.engine_options.iter().chain(&metadata.device_options) {
            words = words.and(2).and_text(&option.name).and_text(&option.value);
        }
        for program in &metadata.programs_map {
            words = words.and(2).and_text(&program.name);
        }
        for anchor in &metadata.anchors {
            words = words.and(5).and_text(&anchor.name).and_text(&anchor.handle);
            words = words.and_numbers::<u32>(&anchor.programs).and_tensor_info(&anchor.tensor_info);
        }
        words
    }

    fn and(self, words: usize) -> Self {
        Words(self.0.saturating_add(words))
    }

    fn and_text(self, text: &Text<'_>) -> Self {
        self.and((text.as_bytes().len() / 8).saturating_add(1))
    }

    fn and_numbers<T>(self, list: &[T]) -> Self {
        self.and(size_of_val(list).div_ceil(8))
    }

    fn and_tensor_info(self, info: &TensorInfo) -> Self {
        self.and(2).and_numbers::<i64>(&info.shape)
    }

    /// The bytes of a message of one segment: one word is its table.
    fn message_len(self) -> u64 {
        u64::try_from(self.0).unwrap_or(u64::MAX).saturating_add(1).saturating_mul(8)
    }

    /// A message with room for so many words; an error if no reader would take it.
    fn start(self, message: Message) -> Result<Root, Problem> {
        let limits = Limits::default();
        let limit = match message {
            Message::Header => HEADER_BYTES,
            Message::Info => limits.info_bytes,
        };
        let needed = self.message_len();
        let too_long = || WireProblem::TooLongToWrite { message, needed, limit };
        if needed > limit {
            return Err(too_long().into());
        }
        let words = u32::try_from(self.0).map_err(|_| too_long())?;
        Ok(Builder::new(HeapAllocator::new().first_segment_words(words)))
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;
    use crate::types::DataType;

    /// A message that is counted too short would become two segments, one that is counted too long waste memory.
    #[test]
    fn words_are_counted_exactly() {
        let info = TensorDataInfo { name: "12345678".into(), tensor_info: TensorInfo::new(DataType::F32, [1, 2]) };
        let anchor = Anchor { name: "1234567".into(), programs: vec![1, 2, 3], ..Anchor::default() };
        let options = vec![EngineOption { name: "a".into(), value: "".into() }; 5];
        let program = ProgramInfo { index: 1, name: "main".into() };
        let metadata = Metadata {
            program_flow: ProgramFlow { load: vec![1], main: vec![1, 2], save: vec![] },
            anchors: vec![anchor; 300],
            engine_options: options,
            programs_map: vec![program; 2],
            ..Metadata::default()
        };
        let feed_info = FeedDataInfo { name: info.name.clone(), tensor_info: info.tensor_info.clone(), num_tensors: 2 };
        let words = Words(3).and_text(&info.name).and_tensor_info(&info.tensor_info);
        assert_eq!(tensor(&info).unwrap().len() / 8 - 1, words.0);
        assert_eq!(feed(&feed_info).unwrap().len() / 8 - 1, words.0 + 1);
        assert_eq!(super::metadata(&metadata).unwrap().len() / 8 - 1, Words::of_metadata(&metadata).0);
        assert_eq!(super::metadata(&Metadata::default()).unwrap().len() / 8 - 1, 18 + 2);
        let version = "1234567".into();
        assert_eq!(header(&version, BlobType::Metadata, 9).unwrap().len(), header_len(&version) as usize);
    }
}

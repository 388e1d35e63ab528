//! Every message equals the one that Cap'n Proto's own builder makes, byte for byte.

use capnp::dynamic_struct;
use capnp::dynamic_value::{self, Enum};
use capnp::introspect::{Introspect, TypeVariant};
use capnp::message::{Builder, HeapAllocator};
use capnp::{serialize, text};
use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{popef_capnp as schema, set};
use super::*;
use crate::types::{
    Anchor, DataType, EngineOption, ExecutableInfo, FeedDataInfo, Metadata, OpaqueInfo, ProgramFlow, ProgramInfo,
    TensorDataInfo, TensorInfo, TensorType,
};

type Root = Builder<HeapAllocator>;

/// Builds a message with `capnp`, in one segment of exactly the needed length.
fn built(fill: impl Fn(&mut Root)) -> Vec<u8> {
    let mut counted = Builder::new_default();
    fill(&mut counted);
    let words = serialize::compute_serialized_size_in_words(&counted);
    let mut message = Builder::new(HeapAllocator::new().first_segment_words(u32::try_from(words).unwrap()));
    fill(&mut message);
    assert_eq!(message.get_segments_for_output().len(), 1);
    serialize::write_message_to_words(&message)
}

fn bytes_of<'t>(text: &'t Text<'_>) -> text::Reader<'t> {
    text::Reader(text.as_bytes())
}

/// Sets a field of enumeration `E` to any number, also one that the schema does not name.
fn set_number<'m, E: Introspect>(to: impl Into<dynamic_value::Builder<'m>>, field: &str, number: u16) {
    let TypeVariant::Enum(schema) = E::introspect().which() else { panic!("{field} is no enumeration") };
    let mut to = to.into().downcast::<dynamic_struct::Builder<'_>>();
    to.set_named(field, Enum::new(number, schema.into()).into()).unwrap();
}

fn built_header(version: &Text<'_>, blob_type: BlobType, size: u64) -> Vec<u8> {
    built(|message| {
        let mut root = message.init_root::<schema::blob_header::Builder<'_>>();
        root.set_version(bytes_of(version));
        root.set_size(size);
        set_number::<schema::BlobType>(root, "type", blob_type.number());
    })
}

fn built_info(info: InfoRef<'_>) -> Vec<u8> {
    built(|message| match info {
        InfoRef::Executable(info) => {
            let mut root = message.init_root::<schema::poplar_executable::Builder<'_>>();
            root.set_name(bytes_of(&info.name));
            root.set_uncompressed_size(info.uncompressed_size.unwrap_or(u64::MAX));
        }
        InfoRef::Metadata(info) => {
            let mut root = message.init_root::<schema::metadata::Builder<'_>>();
            set::set_plain_fields(root.reborrow(), info);
            let mut anchors = root.reborrow().init_anchors(set::count(&info.anchors));
            (0..)
                .zip(&info.anchors)
                .for_each(|(i, anchor)| set::set_anchor(anchors.reborrow().get(i), anchor).unwrap());
            let mut options = root.reborrow().init_engine_options(set::count(&info.engine_options));
            (0..).zip(&info.engine_options).for_each(|(i, o)| set::set_option(options.reborrow().get(i), o).unwrap());
            let mut options = root.reborrow().init_device_options(set::count(&info.device_options));
            (0..).zip(&info.device_options).for_each(|(i, o)| set::set_option(options.reborrow().get(i), o).unwrap());
            set::set_program_flow(root.reborrow(), &info.program_flow).unwrap();
            let mut programs = root.init_programs_map(set::count(&info.programs_map));
            (0..).zip(&info.programs_map).for_each(|(i, p)| set::set_program(programs.reborrow().get(i), p).unwrap());
        }
        InfoRef::Tensor(info) => {
            let mut root = message.init_root::<schema::tensor_data_info::Builder<'_>>();
            root.set_name(bytes_of(&info.name));
            set_tensor_info(root.init_tensor_info(), &info.tensor_info);
        }
        InfoRef::Feed(info) => {
            let mut root = message.init_root::<schema::feed_data_info::Builder<'_>>();
            root.set_name(bytes_of(&info.name));
            set_tensor_info(root.reborrow().init_tensor_info(), &info.tensor_info);
            root.set_num_tensors(info.num_tensors);
        }
        InfoRef::Opaque(info) => {
            let mut root = message.init_root::<schema::opaque::Builder<'_>>();
            root.set_name(bytes_of(&info.name));
            root.set_executable(bytes_of(&info.executable));
        }
    })
}

fn set_tensor_info(mut to: schema::tensor_info::Builder<'_>, info: &TensorInfo) {
    to.set_shape(info.shape.as_slice()).unwrap();
    set_number::<schema::DataType>(to, "dataType", info.data_type.number());
}

/// Lays out a head in used memory, and compares it with what `capnp` builds.
fn check(head: &mut NewHead, version: &Text<'_>, info: InfoRef<'_>, data_len: u64) {
    head.lay_out(version, info).unwrap();
    head.set_data_len(data_len).unwrap();
    let (header, message) = head.bytes().split_at(head.header_len);
    assert_eq!(header, built_header(version, info.blob_type(), head.len() + data_len));
    assert_eq!(message, built_info(info));
}

fn any_text() -> impl Strategy<Value = Text<'static>> {
    prop_oneof![3 => vec(any::<u8>(), 0..40), 1 => vec(any::<u8>(), 200..5000)].prop_map(Text::from)
}

fn any_tensor_info() -> impl Strategy<Value = TensorInfo> {
    let shapes = prop_oneof![3 => vec(any::<i64>(), 0..6), 1 => vec(any::<i64>(), 100..2000)];
    (any::<u16>(), shapes).prop_map(|(number, shape)| TensorInfo::new(DataType::from_number(number), shape))
}

fn any_numbers() -> impl Strategy<Value = Vec<u32>> {
    vec(any::<u32>(), 0..6)
}

fn any_options() -> impl Strategy<Value = Vec<EngineOption>> {
    vec((any_text(), any_text()).prop_map(|(name, value)| EngineOption { name, value }), 0..4)
}

fn any_anchor() -> impl Strategy<Value = Anchor> {
    let numbers = (any::<u16>(), any::<bool>(), any::<bool>(), any::<u32>());
    (any_text(), any_text(), any_tensor_info(), any_numbers(), numbers).prop_map(
        |(name, handle, tensor_info, programs, (tensor_type, is_per_replica, use_remote_buffers, repeats))| Anchor {
            name,
            handle,
            tensor_info,
            tensor_type: TensorType::from_number(tensor_type),
            programs,
            is_per_replica,
            use_remote_buffers,
            repeats,
        },
    )
}

fn any_metadata() -> impl Strategy<Value = Metadata> {
    let program = (any::<u32>(), any_text()).prop_map(|(index, name)| ProgramInfo { index, name });
    let flow =
        (any_numbers(), any_numbers(), any_numbers()).prop_map(|(load, main, save)| ProgramFlow { load, main, save });
    let lists = (any_options(), any_options(), vec(program, 0..4), vec(any_anchor(), 0..4));
    (any::<[u32; 5]>(), any::<[bool; 2]>(), any_text(), any_text(), flow, lists).prop_map(
        |(numbers, bools, executable, seed_handle, program_flow, lists)| {
            let [replication_factor, num_ipus, num_processes, ipu_version, device_iterations] = numbers;
            let [is_pod, is_inference] = bools;
            let (engine_options, device_options, programs_map, anchors) = lists;
            Metadata {
                replication_factor,
                num_ipus,
                num_processes,
                ipu_version,
                is_pod,
                is_inference,
                device_iterations,
                executable,
                seed_handle,
                engine_options,
                device_options,
                program_flow,
                programs_map,
                anchors,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_values_become_the_bytes_that_the_library_makes(
        (version, name, executable) in (any_text(), any_text(), any_text()),
        tensor_info in any_tensor_info(),
        (num_tensors, uncompressed_size, data_len) in (any::<u32>(), any::<Option<u64>>(), any::<u32>()),
    ) {
        let head = &mut NewHead::default();
        let executable_info = ExecutableInfo { name: name.clone(), uncompressed_size };
        let tensor = TensorDataInfo { name: name.clone(), tensor_info: tensor_info.clone() };
        let feed = FeedDataInfo { name: name.clone(), tensor_info, num_tensors };
        let opaque = OpaqueInfo { name, executable };
        let infos = [(&executable_info).into(), (&tensor).into(), (&feed).into(), (&opaque).into()];
        infos.into_iter().for_each(|info| check(head, &version, info, data_len.into()));
    }

    #[test]
    fn any_metadata_becomes_the_bytes_that_the_library_makes(metadata in any_metadata(), version in any_text()) {
        let head = &mut NewHead::default();
        check(head, &version, (&metadata).into(), 0);
        let info = head.info().to_vec();
        prop_assert!(encode_metadata::is_encoded(&info, &Limits::default()).unwrap());
        // The last byte is that of a text or a number, or fills the last word.
        let mut other = info;
        let last = other.len() - 1;
        other[last] ^= 1;
        prop_assert!(!encode_metadata::is_encoded(&other, &Limits::default()).unwrap_or(false));
    }
}

#[test]
fn texts_and_shapes_around_the_borders_of_words_become_the_same_bytes() {
    let text = |len: usize| Text::from(vec![b'x'; len]);
    let head = &mut NewHead::default();
    for len in 0..=33 {
        for &data_type in DataType::ALL {
            let tensor_info = TensorInfo::new(data_type, vec![-1; len % 5]);
            let tensor = TensorDataInfo { name: text(len), tensor_info: tensor_info.clone() };
            check(head, &text(33 - len), (&tensor).into(), 1);
            let feed = FeedDataInfo { name: text(len), tensor_info, num_tensors: u32::MAX };
            check(head, &text(len), (&feed).into(), u64::from(u32::MAX));
        }
        for other in 0..=17 {
            let opaque = OpaqueInfo { name: text(len), executable: text(other) };
            check(head, &text(other), (&opaque).into(), 0);
        }
        for uncompressed_size in [None, Some(0), Some(u64::MAX - 1)] {
            let executable = ExecutableInfo { name: text(len), uncompressed_size };
            check(head, &text(0), (&executable).into(), 0);
        }
    }
}

#[test]
fn sizes_are_filled_in_where_the_library_puts_them() {
    let version = Text::from("1.0");
    let mut head = NewHead::default();
    let mut executable = ExecutableInfo { name: "model".into(), uncompressed_size: Some(0) };
    head.lay_out(&version, (&executable).into()).unwrap();
    for size in [0, 1, 1 << 40, u64::MAX - 1] {
        head.set_uncompressed_size(Some(size));
        executable.uncompressed_size = Some(size);
        assert_eq!(head.bytes()[head.header_len..], built_info((&executable).into()));
    }
    let most = u64::MAX - head.len();
    head.set_data_len(most).unwrap();
    assert_eq!(head.bytes()[..head.header_len], built_header(&version, BlobType::PoplarExecutable, u64::MAX));
    assert!(head.set_data_len(most + 1).is_err());
}

#[test]
fn metadata_gets_a_header_like_any_other() {
    let metadata = Metadata { executable: "model".into(), ..Metadata::default() };
    let mut head = NewHead::default();
    head.lay_out(&Text::default(), (&metadata).into()).unwrap();
    head.set_data_len(0).unwrap();
    assert_eq!(head.bytes()[..head.header_len], built_header(&Text::default(), BlobType::Metadata, head.len()));
}

#[test]
fn messages_longer_than_readers_accept_are_refused() {
    let long = |len: u64| Text::from(vec![b'x'; usize::try_from(len).unwrap()]);
    let mut head = NewHead::default();
    let opaque = OpaqueInfo::default();
    // The table, the root pointer and the struct take 5 words, and the text has a terminating NUL.
    let fits = crate::limits::HEADER_BYTES - 5 * 8 - 1;
    head.lay_out(&long(fits), (&opaque).into()).unwrap();
    assert_eq!(u64::try_from(head.header_len).unwrap(), crate::limits::HEADER_BYTES);
    assert!(head.lay_out(&long(fits + 1), (&opaque).into()).is_err());
    let limit = Limits::default().info_bytes;
    let shape = vec![1; usize::try_from(limit / 8).unwrap()];
    let tensor = TensorDataInfo { name: Text::default(), tensor_info: TensorInfo::new(DataType::U8, shape) };
    assert!(head.lay_out(&Text::default(), (&tensor).into()).is_err());
}

//! Generated blobs: any that the format allows, each with a way to write it.

use std::io::Write;

use popef::types::*;
use popef::write::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;

/// A blob's values, its version, and the way to write it.
#[derive(Clone, Debug)]
pub struct Planned {
    pub version: Text<'static>,
    pub what: What,
    pub way: Way,
}

#[derive(Clone, Debug)]
pub enum What {
    Executable {
        name: Text<'static>,
        data: Vec<u8>,
        packing: Option<Packing>,
    },
    Metadata(Box<Metadata>),
    Tensor(TensorDataInfo, Vec<u8>),
    /// Feeds that are written at once, if there are several.
    Feeds(Vec<(FeedDataInfo, Vec<u8>)>),
    Opaque(OpaqueInfo, Vec<u8>),
}

#[derive(Clone, Copy, Debug)]
pub enum Way {
    Whole,
    /// In pieces of this many bytes, with the size given at the start.
    Sized(usize),
    /// In pieces of this many bytes, with the size filled in at the end.
    Open(usize),
}

impl Planned {
    /// Writes the blob to a destination that can go back.
    pub fn write<D: Rewind>(&self, writer: &mut Writer<D>) -> Vec<Written> {
        writer.version(self.version.clone());
        match (&self.what, self.way) {
            (What::Executable { name, data, packing: None }, Way::Open(piece)) => {
                vec![in_pieces(writer.executable(name.clone()).unwrap(), data, piece)]
            }
            (What::Executable { name, data, packing: Some(packing) }, Way::Open(piece)) => {
                let mut blob = writer.packed_executable(name.clone(), *packing).unwrap();
                data.chunks(piece).for_each(|part| blob.write_all(part).unwrap());
                vec![blob.finish().unwrap()]
            }
            (What::Opaque(info, data), Way::Open(piece)) => vec![in_pieces(writer.opaque(info).unwrap(), data, piece)],
            (What::Feeds(feeds), _) if feeds.len() > 1 => write_feeds(writer, feeds),
            _ => self.write_forward(writer),
        }
    }

    /// Writes the blob to any destination.
    pub fn write_forward<D: Destination>(&self, writer: &mut Writer<D>) -> Vec<Written> {
        writer.version(self.version.clone());
        match (&self.what, self.way) {
            (What::Executable { name, data, packing: None }, Way::Whole) => {
                vec![writer.write_executable(name.clone(), data).unwrap()]
            }
            (What::Executable { name, data, packing: None }, Way::Sized(piece) | Way::Open(piece)) => {
                vec![in_pieces(writer.sized_executable(name.clone(), len(data)).unwrap(), data, piece)]
            }
            (What::Executable { name, data, packing: Some(packing) }, _) => {
                vec![writer.write_packed_executable(name.clone(), data, *packing).unwrap()]
            }
            (What::Metadata(metadata), _) => vec![writer.write_metadata(metadata).unwrap()],
            (What::Tensor(info, data), Way::Whole) => vec![writer.write_tensor_bytes(info, data).unwrap()],
            (What::Tensor(info, data), Way::Sized(piece) | Way::Open(piece)) => {
                vec![in_pieces(writer.tensor(info).unwrap(), data, piece)]
            }
            (What::Feeds(feeds), Way::Whole) => {
                feeds.iter().map(|(info, data)| writer.write_feed_bytes(info, data).unwrap()).collect()
            }
            (What::Feeds(feeds), Way::Sized(piece) | Way::Open(piece)) => {
                feeds.iter().map(|(info, data)| in_pieces(writer.feed(info).unwrap(), data, piece)).collect()
            }
            (What::Opaque(info, data), Way::Whole) => vec![writer.write_opaque(info, data).unwrap()],
            (What::Opaque(info, data), Way::Sized(piece) | Way::Open(piece)) => {
                vec![in_pieces(writer.sized_opaque(info, len(data)).unwrap(), data, piece)]
            }
        }
    }
}

fn in_pieces<D: Destination>(mut blob: BlobWriter<&mut Writer<D>>, data: &[u8], piece: usize) -> Written {
    data.chunks(piece).for_each(|part| blob.write_all(part).unwrap());
    assert_eq!(blob.len(), len(data));
    blob.finish().unwrap()
}

/// Writes sample by sample. The tensor of the last feed comes first.
fn write_feeds<D: Rewind>(writer: &mut Writer<D>, feeds: &[(FeedDataInfo, Vec<u8>)]) -> Vec<Written> {
    let infos: Vec<_> = feeds.iter().map(|(info, _)| info.clone()).collect();
    let mut open = writer.feeds(&infos).unwrap();
    for sample in 0..infos.iter().map(|info| info.num_tensors).max().unwrap_or_default() {
        for (index, (info, data)) in feeds.iter().enumerate().rev() {
            let size = usize::try_from(info.tensor_info.size_in_bytes().unwrap()).unwrap();
            let start = size * usize::try_from(sample).unwrap();
            if sample < info.num_tensors {
                open.push_bytes(index, &data[start..start + size]).unwrap();
            }
        }
    }
    open.finish().unwrap()
}

fn len(data: &[u8]) -> u64 {
    u64::try_from(data.len()).unwrap()
}

/// Text of exporters, in all scripts, and empty. With `raw` also bytes that are not UTF-8.
pub fn text(raw: bool) -> Union<BoxedStrategy<Text<'static>>> {
    let utf8 = |pattern: &'static str| pattern.prop_map(Text::from).boxed();
    let mut texts =
        vec![Just(Text::default()).boxed(), utf8("[a-z/._0-9]{1,20}"), utf8("\\PC{1,12}"), utf8("(?s).{1,9}")];
    if raw {
        texts.push(vec(any::<u8>(), 0..9).prop_map(Text::from).boxed());
    }
    Union::new(texts)
}

/// A type of elements. With `raw` also types of later versions of the format.
fn data_type(raw: bool) -> BoxedStrategy<DataType> {
    let known = proptest::sample::select(DataType::ALL);
    if raw { prop_oneof![9 => known, 1 => (15u16..).prop_map(DataType::from_number)].boxed() } else { known.boxed() }
}

fn tensor_type(raw: bool) -> BoxedStrategy<TensorType> {
    let known = proptest::sample::select(TensorType::ALL);
    if raw { prop_oneof![9 => known, 1 => (3u16..).prop_map(TensorType::from_number)].boxed() } else { known.boxed() }
}

/// The shape and type of an anchor that has no data here.
fn any_tensor_info(raw: bool) -> impl Strategy<Value = TensorInfo> {
    (data_type(raw), vec(any::<i64>(), 0..5)).prop_map(|(data_type, shape)| TensorInfo::new(data_type, shape))
}

fn small_tensor_info() -> impl Strategy<Value = TensorInfo> {
    (data_type(false), vec(0i64..5, 0..4)).prop_map(|(data_type, shape)| TensorInfo::new(data_type, shape))
}

prop_compose! {
    pub fn anchor(raw: bool)(
        (name, handle) in (text(raw), text(raw)),
        tensor_info in any_tensor_info(raw),
        tensor_type in tensor_type(raw),
        programs in vec(any::<u32>(), 0..4),
        (is_per_replica, use_remote_buffers) in any::<(bool, bool)>(),
        repeats in any::<u32>(),
    ) -> Anchor {
        Anchor { name, handle, tensor_info, tensor_type, programs, is_per_replica, use_remote_buffers, repeats }
    }
}

pub fn options(raw: bool, most: usize) -> impl Strategy<Value = Vec<EngineOption>> {
    vec((text(raw), text(raw)).prop_map(|(name, value)| EngineOption { name, value }), 0..=most)
}

prop_compose! {
    pub fn metadata(raw: bool)(
        (executable, seed_handle) in (text(raw), text(raw)),
        numbers in any::<[u32; 5]>(),
        (is_pod, is_inference) in any::<(bool, bool)>(),
        (engine_options, device_options) in (options(raw, 4), options(raw, 4)),
        (load, main, save) in (vec(any::<u32>(), 0..4), vec(any::<u32>(), 0..4), vec(any::<u32>(), 0..4)),
        programs_map in vec((any::<u32>(), text(raw)).prop_map(|(index, name)| ProgramInfo { index, name }), 0..4),
        anchors in vec(anchor(raw), 0..6),
    ) -> Metadata {
        let [replication_factor, num_ipus, num_processes, ipu_version, device_iterations] = numbers;
        let program_flow = ProgramFlow { load, main, save };
        Metadata {
            replication_factor, num_ipus, num_processes, ipu_version, is_pod, is_inference, device_iterations,
            executable, seed_handle, engine_options, device_options, program_flow, programs_map, anchors,
        }
    }
}

fn bytes_for(size: u64) -> impl Strategy<Value = Vec<u8>> {
    // 0 and 1 are valid bytes of every type.
    vec(0u8..2, usize::try_from(size).unwrap())
}

fn tensor(raw: bool) -> impl Strategy<Value = What> {
    (text(raw), small_tensor_info()).prop_flat_map(|(name, tensor_info)| {
        let size = tensor_info.size_in_bytes().unwrap();
        let info = TensorDataInfo { name, tensor_info };
        bytes_for(size).prop_map(move |data| What::Tensor(info.clone(), data))
    })
}

fn feed(raw: bool) -> impl Strategy<Value = (FeedDataInfo, Vec<u8>)> {
    (text(raw), small_tensor_info(), 0u32..4).prop_flat_map(|(name, tensor_info, num_tensors)| {
        let size = tensor_info.size_in_bytes().unwrap() * u64::from(num_tensors);
        let info = FeedDataInfo { name, tensor_info, num_tensors };
        bytes_for(size).prop_map(move |data| (info.clone(), data))
    })
}

fn executable(raw: bool) -> impl Strategy<Value = What> {
    let levels = 0u32..=9;
    let packing = prop_oneof![
        Just(None),
        levels.clone().prop_map(|level| Some(Packing::Zlib(level))),
        levels.prop_map(|level| Some(Packing::Gzip(level))),
    ];
    let name = text(raw).prop_filter("executables have names", |name| !name.is_empty());
    (name, vec(any::<u8>(), 0..300), packing).prop_map(|(name, data, packing)| What::Executable { name, data, packing })
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![Just(Way::Whole), (1usize..99).prop_map(Way::Sized), (1usize..99).prop_map(Way::Open)]
}

fn what(raw: bool) -> impl Strategy<Value = What> {
    let opaque = (text(raw), text(raw), vec(any::<u8>(), 0..300));
    prop_oneof![
        executable(raw),
        metadata(raw).prop_map(|metadata| What::Metadata(metadata.into())),
        tensor(raw),
        vec(feed(raw), 1..4).prop_map(What::Feeds),
        opaque.prop_map(|(name, executable, data)| What::Opaque(OpaqueInfo { name, executable }, data)),
    ]
}

/// The blobs of a file. Of several executables with one name only the first is there.
pub fn blobs(raw: bool) -> impl Strategy<Value = Vec<Planned>> {
    let version = prop_oneof![3 => Just(Text::default()), 1 => text(raw)];
    let blob = (version, what(raw), way()).prop_map(|(version, what, way)| Planned { version, what, way });
    vec(blob, 0..8).prop_map(|mut blobs| {
        let mut names = Vec::new();
        blobs.retain(|blob| match &blob.what {
            What::Executable { name, .. } => {
                let is_new = !names.contains(name);
                names.push(name.clone());
                is_new
            }
            _ => true,
        });
        blobs
    })
}

//! Reads the info message of Metadata. [`check`] keeps nothing, and [`read_metadata`] copies everything. Both find
//! errors in the same place, in `Part::of`.

use capnp::traits::OwnedStruct;
use capnp::{primitive_list, struct_list};

use super::Stop;
use super::fields::{Fields, TensorInfoRef, number};
use super::message::Frame;
use super::popef_capnp as schema;
use super::problem::{Message, WireProblem};
use crate::error::{Problem, with_room_for};
use crate::len::{as_u64, len_of};
use crate::limits::Limits;
use crate::types::{Anchor, EngineOption, Metadata, ProgramFlow, ProgramInfo, TensorInfo, TensorType, Text};

/// Maximum size in bytes of a message's value, as a multiple of the message's length. The smallest anchor that a Cap'n
/// Proto writer makes takes 40 bytes in the message and 128 as a value. Only a forged message needs more: one with
/// lists of elements without bytes, or with many pointers to one text.
const VALUE_BYTES_PER_BYTE: u64 = 4;
const VALUE_BYTES_FREE: u64 = 4096;

/// Checks that every part of the message can be read, and counts the memory that its value takes.
pub(super) fn check<'m>(root: schema::metadata::Reader<'m>, frame: Frame, fields: Fields<'m>) -> Result<u64, Problem> {
    MetadataRef::of(root, frame, fields)?.value_bytes()
}

/// Refuses a message whose value takes more memory than its length can account for.
pub(crate) fn check_value_bytes(info_len: u64, value_bytes: u64) -> Result<(), WireProblem> {
    let limit = info_len.saturating_mul(VALUE_BYTES_PER_BYTE).saturating_add(VALUE_BYTES_FREE);
    if value_bytes > limit {
        return Err(WireProblem::MetadataTooLarge { needed: value_bytes, limit });
    }
    Ok(())
}

/// Reads the whole message as a value, which [`check_value_bytes`] has found to be small enough. `info` is exactly the
/// message.
pub(crate) fn read_metadata(info: &[u8], limits: &Limits) -> Result<Metadata, Problem> {
    with_refs(info, limits, |refs| refs.read())
}

/// Whether the message is of this value. Only one element of a list is in memory at a time.
pub(crate) fn is_metadata(info: &[u8], limits: &Limits, value: &Metadata) -> Result<bool, Problem> {
    with_refs(info, limits, |refs| refs.is(value))
}

/// Serialises the message in the same way as [`Metadata`], without making that value.
#[cfg(feature = "serde")]
pub(crate) fn serialize_metadata<S: serde::Serializer>(
    info: &[u8],
    limits: &Limits,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let serialized = with_refs(info, limits, |refs| Ok(serde::Serialize::serialize(&refs, serializer)));
    serialized.unwrap_or_else(|problem| Err(serde::ser::Error::custom(problem)))
}

pub(super) fn with_refs<T>(
    info: &[u8],
    limits: &Limits,
    work: impl FnOnce(MetadataRef<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let fields = Fields { message: Message::Info, limits };
    let frame = Frame::parse(info, Message::Info).map_err(Stop::into_problem)?;
    let reader = frame.reader(info, limits);
    let root = fields.root::<schema::metadata::Owned, _>(&reader)?;
    work(MetadataRef::of(root, frame, fields)?)
}

/// An element of one of the lists, borrowed from the message. Its fields are named as in the owned value.
pub(crate) trait Part<'m>: Sized {
    type Owned: OwnedStruct;
    type Value;

    fn of(reader: <Self::Owned as OwnedStruct>::Reader<'m>, fields: Fields<'m>) -> Result<Self, Problem>;

    /// The bytes that the value takes on the heap.
    fn heap_bytes(&self) -> u64;

    /// Makes the owned value.
    fn read(&self) -> Result<Self::Value, Problem>;
}

/// A list of parts, borrowed from the message.
pub(crate) struct Parts<'m, P: Part<'m>> {
    list: struct_list::Reader<'m, P::Owned>,
    fields: Fields<'m>,
}

impl<'m, P: Part<'m>> Parts<'m, P> {
    fn len(&self) -> u32 {
        self.list.len()
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Result<P, Problem>> + use<'m, P> {
        let fields = self.fields;
        self.list.iter().map(move |reader| P::of(reader, fields))
    }

    /// Checks each part, and counts the bytes that all take on the heap.
    fn heap_bytes(&self) -> Result<u64, Problem> {
        let list = bytes_of::<P::Value>(self.len());
        self.iter().try_fold(list, |bytes, part| Ok(bytes.saturating_add(part?.heap_bytes())))
    }

    fn is(&self, values: &[P::Value]) -> Result<bool, Problem>
    where
        P::Value: PartialEq,
    {
        let parts = self.iter();
        if parts.len() != values.len() {
            return Ok(false);
        }
        for (part, value) in parts.zip(values) {
            if part?.read()? != *value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read(&self) -> Result<Vec<P::Value>, Problem> {
        let parts = self.iter();
        let mut values = with_room_for(parts.len())?;
        for part in parts {
            values.push(part?.read()?);
        }
        Ok(values)
    }
}

#[cfg(feature = "serde")]
impl<'m, P: Part<'m> + serde::Serialize> serde::Serialize for Parts<'m, P> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error as _, SerializeSeq as _};

        let parts = self.iter();
        let mut list = serializer.serialize_seq(Some(parts.len()))?;
        for part in parts {
            list.serialize_element(&part.map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

/// A list of numbers, borrowed from the message.
pub(crate) struct Numbers<'m>(primitive_list::Reader<'m, u32>);

impl Numbers<'_> {
    fn heap_bytes(&self) -> u64 {
        bytes_of::<u32>(self.0.len())
    }

    fn read(&self) -> Result<Vec<u32>, Problem> {
        collected(self.0.iter())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Numbers<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// Metadata, borrowed from the message. Its fields are named as in [`Metadata`].
pub(crate) struct MetadataRef<'m> {
    pub(crate) replication_factor: u32,
    pub(crate) num_ipus: u32,
    pub(crate) num_processes: u32,
    pub(crate) ipu_version: u32,
    pub(crate) is_pod: bool,
    pub(crate) is_inference: bool,
    pub(crate) device_iterations: u32,
    pub(crate) executable: Text<'m>,
    pub(crate) seed_handle: Text<'m>,
    pub(crate) engine_options: Parts<'m, OptionRef<'m>>,
    pub(crate) device_options: Parts<'m, OptionRef<'m>>,
    pub(crate) program_flow: FlowRef<'m>,
    pub(crate) programs_map: Parts<'m, ProgramRef<'m>>,
    pub(crate) anchors: Parts<'m, AnchorRef<'m>>,
}

impl<'m> MetadataRef<'m> {
    fn of(root: schema::metadata::Reader<'m>, frame: Frame, fields: Fields<'m>) -> Result<Self, Problem> {
        let flow = fields.get(root.get_program_flow(), "programFlow")?;
        let refs = MetadataRef {
            replication_factor: root.get_replication_factor(),
            num_ipus: root.get_num_ipus(),
            num_processes: root.get_num_processes(),
            ipu_version: root.get_ipu_version(),
            is_pod: root.get_is_p_o_d(),
            is_inference: root.get_is_inference(),
            device_iterations: root.get_device_iterations(),
            executable: fields.text(root.get_executable(), "executable")?.into(),
            seed_handle: fields.text(root.get_seed_handle(), "seedHandle")?.into(),
            engine_options: Parts { list: fields.get(root.get_engine_options(), "engineOptions")?, fields },
            device_options: Parts { list: fields.get(root.get_device_options(), "deviceOptions")?, fields },
            program_flow: FlowRef {
                load: Numbers(fields.get(flow.get_load(), "programFlow.load")?),
                main: Numbers(fields.get(flow.get_main(), "programFlow.main")?),
                save: Numbers(fields.get(flow.get_save(), "programFlow.save")?),
            },
            programs_map: Parts { list: fields.get(root.get_programs_map(), "programsMap")?, fields },
            anchors: Parts { list: fields.get(root.get_anchors(), "anchors")?, fields },
        };
        // Cap'n Proto allows a list of bytes, or of elements without bytes, in the place of a list of structs. Each
        // element takes time, however short it is. The elements that writers make have a word or more.
        let lists = [refs.engine_options.len(), refs.device_options.len(), refs.programs_map.len(), refs.anchors.len()];
        let found = lists.into_iter().map(u64::from).fold(0, u64::saturating_add);
        let limit = frame.words();
        if found > limit {
            return Err(WireProblem::TooManyElements { found, limit }.into());
        }
        Ok(refs)
    }

    fn read(&self) -> Result<Metadata, Problem> {
        Ok(Metadata {
            engine_options: self.engine_options.read()?,
            device_options: self.device_options.read()?,
            programs_map: self.programs_map.read()?,
            anchors: self.anchors.read()?,
            ..self.read_plain()?
        })
    }

    fn is(&self, value: &Metadata) -> Result<bool, Problem> {
        Ok(self.read_plain()? == value.without_lists()
            && self.engine_options.is(&value.engine_options)?
            && self.device_options.is(&value.device_options)?
            && self.programs_map.is(&value.programs_map)?
            && self.anchors.is(&value.anchors)?)
    }

    /// Reads everything but the lists of structs.
    pub(super) fn read_plain(&self) -> Result<Metadata, Problem> {
        Ok(Metadata {
            replication_factor: self.replication_factor,
            num_ipus: self.num_ipus,
            num_processes: self.num_processes,
            ipu_version: self.ipu_version,
            is_pod: self.is_pod,
            is_inference: self.is_inference,
            device_iterations: self.device_iterations,
            executable: self.executable.by_ref().try_to_own()?,
            seed_handle: self.seed_handle.by_ref().try_to_own()?,
            program_flow: ProgramFlow {
                load: self.program_flow.load.read()?,
                main: self.program_flow.main.read()?,
                save: self.program_flow.save.read()?,
            },
            ..Metadata::default()
        })
    }

    /// Checks each part, and counts the bytes that the value takes on the heap.
    fn value_bytes(&self) -> Result<u64, Problem> {
        let flow = &self.program_flow;
        let bytes = [
            heap_bytes(&self.executable),
            heap_bytes(&self.seed_handle),
            self.engine_options.heap_bytes()?,
            self.device_options.heap_bytes()?,
            flow.load.heap_bytes(),
            flow.main.heap_bytes(),
            flow.save.heap_bytes(),
            self.programs_map.heap_bytes()?,
            self.anchors.heap_bytes()?,
        ];
        Ok(bytes.into_iter().fold(0, u64::saturating_add))
    }
}

#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename = "ProgramFlow"))]
pub(crate) struct FlowRef<'m> {
    pub(crate) load: Numbers<'m>,
    pub(crate) main: Numbers<'m>,
    pub(crate) save: Numbers<'m>,
}

pub(crate) struct OptionRef<'m> {
    pub(crate) name: Text<'m>,
    pub(crate) value: Text<'m>,
}

impl<'m> Part<'m> for OptionRef<'m> {
    type Owned = schema::option::Owned;
    type Value = EngineOption;

    fn of(option: schema::option::Reader<'m>, fields: Fields<'m>) -> Result<Self, Problem> {
        Ok(OptionRef {
            name: fields.text(option.get_name(), "an option's name")?.into(),
            value: fields.text(option.get_value(), "an option's value")?.into(),
        })
    }

    fn read(&self) -> Result<EngineOption, Problem> {
        Ok(EngineOption { name: self.name.by_ref().try_to_own()?, value: self.value.by_ref().try_to_own()? })
    }

    fn heap_bytes(&self) -> u64 {
        heap_bytes(&self.name).saturating_add(heap_bytes(&self.value))
    }
}

pub(crate) struct ProgramRef<'m> {
    pub(crate) index: u32,
    pub(crate) name: Text<'m>,
}

impl<'m> Part<'m> for ProgramRef<'m> {
    type Owned = schema::program_info::Owned;
    type Value = ProgramInfo;

    fn of(program: schema::program_info::Reader<'m>, fields: Fields<'m>) -> Result<Self, Problem> {
        let name = fields.text(program.get_name(), "programsMap.name")?.into();
        Ok(ProgramRef { index: program.get_index(), name })
    }

    fn read(&self) -> Result<ProgramInfo, Problem> {
        Ok(ProgramInfo { index: self.index, name: self.name.by_ref().try_to_own()? })
    }

    fn heap_bytes(&self) -> u64 {
        heap_bytes(&self.name)
    }
}

pub(crate) struct AnchorRef<'m> {
    pub(crate) name: Text<'m>,
    pub(crate) handle: Text<'m>,
    pub(crate) tensor_info: TensorInfoRef<'m>,
    pub(crate) tensor_type: TensorType,
    pub(crate) programs: Numbers<'m>,
    pub(crate) is_per_replica: bool,
    pub(crate) use_remote_buffers: bool,
    pub(crate) repeats: u32,
}

impl<'m> Part<'m> for AnchorRef<'m> {
    type Owned = schema::anchor::Owned;
    type Value = Anchor;

    // If this is inlined, the compiler leaves out the fields that the caller does not use, which are most when a file
    // is opened.
    #[inline(always)]
    fn of(anchor: schema::anchor::Reader<'m>, fields: Fields<'m>) -> Result<Self, Problem> {
        Ok(AnchorRef {
            name: fields.text(anchor.get_name(), "an anchor's name")?.into(),
            handle: fields.text(anchor.get_handle(), "an anchor's handle")?.into(),
            tensor_info: fields.tensor_info(anchor.get_tensor_info())?,
            tensor_type: TensorType::from_number(number(anchor.get_type())),
            programs: Numbers(fields.get(anchor.get_programs(), "an anchor's programs")?),
            is_per_replica: anchor.get_is_per_replica(),
            use_remote_buffers: anchor.get_use_remote_buffers(),
            repeats: anchor.get_repeats(),
        })
    }

    fn read(&self) -> Result<Anchor, Problem> {
        Ok(Anchor {
            name: self.name.by_ref().try_to_own()?,
            handle: self.handle.by_ref().try_to_own()?,
            tensor_info: TensorInfo {
                shape: collected(self.tensor_info.shape.iter())?,
                data_type: self.tensor_info.data_type,
            },
            tensor_type: self.tensor_type,
            programs: self.programs.read()?,
            is_per_replica: self.is_per_replica,
            use_remote_buffers: self.use_remote_buffers,
            repeats: self.repeats,
        })
    }

    fn heap_bytes(&self) -> u64 {
        let shape = bytes_of::<i64>(self.tensor_info.shape.len());
        let texts = heap_bytes(&self.name).saturating_add(heap_bytes(&self.handle));
        texts.saturating_add(shape).saturating_add(self.programs.heap_bytes())
    }
}

/// Copies numbers. `collect` would make room for at least four, and most shapes are shorter.
fn collected<T>(numbers: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, Problem> {
    let mut collected = with_room_for(numbers.len())?;
    collected.extend(numbers);
    Ok(collected)
}

/// The bytes that a text takes once it is owned.
fn heap_bytes(text: &Text<'_>) -> u64 {
    len_of(text.as_bytes())
}

/// The bytes that a list of `count` values takes.
fn bytes_of<T>(count: u32) -> u64 {
    u64::from(count).saturating_mul(as_u64(size_of::<T>()))
}

#[cfg(test)]
mod tests {
    use super::super::encode_metadata;
    use super::*;

    fn assert_read(metadata: &Metadata) {
        let mut info = Vec::new();
        encode_metadata::metadata(&mut info, metadata).unwrap();
        assert!(encode_metadata::is_encoded(&info, &Limits::default()).unwrap());
        assert_eq!(read_metadata(&info, &Limits::default()).unwrap(), *metadata);
        // No pointers share a target, so visiting each word once is enough.
        let limits = Limits { visits: 1, ..Limits::default() };
        assert_eq!(read_metadata(&info, &limits).unwrap(), *metadata);
    }

    #[test]
    #[cfg_attr(miri, ignore = "its 50,000 anchors take an hour there")]
    fn no_limit_refuses_what_is_large_or_next_to_nothing() {
        let name = |index: u32| Text::from(format!("layer/{index}"));
        let anchor = |index: u32| Anchor { name: name(index), programs: vec![index], ..Anchor::default() };
        assert_read(&Metadata { anchors: (0..50_000).map(anchor).collect(), ..Metadata::default() });
        let program = |index: u32| ProgramInfo { index, name: Text::default() };
        assert_read(&Metadata {
            anchors: vec![Anchor::default(); 50_000],
            programs_map: (0..50_000).map(program).collect(),
            engine_options: vec![EngineOption { name: Text::default(), value: Text::default() }; 50_000],
            ..Metadata::default()
        });
    }
}

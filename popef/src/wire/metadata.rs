//! Reads the info message of Metadata. [`check`] keeps nothing, and [`read_metadata`] copies everything. Both find
//! errors in the same place: where `Part::of` looks at a part.

use capnp::traits::OwnedStruct;
use capnp::{primitive_list, struct_list};

use super::Stop;
use super::fields::{Fields, TensorInfoRef, number};
use super::message::Frame;
use super::popef_capnp as schema;
use super::problem::{Message, WireProblem};
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::{Anchor, EngineOption, Metadata, ProgramFlow, ProgramInfo, TensorInfo, TensorType, Text};

/// How many bytes the values of a message may take, as a multiple of the message's length. The smallest anchor that a
/// Cap'n Proto writer makes takes 40 bytes in the message and 128 as a value, so only a forged message needs more.
const OWNED_BYTES_PER_BYTE: usize = 4;
const OWNED_BYTES_FREE: usize = 4096;

/// Checks that every part of the message can be read.
pub(super) fn check<'m>(root: schema::metadata::Reader<'m>, frame: Frame, fields: Fields<'m>) -> Result<(), Problem> {
    let refs = MetadataRef::of(root, frame, fields)?;
    refs.engine_options.iter().chain(refs.device_options.iter()).try_for_each(|option| option.map(drop))?;
    refs.programs_map.iter().try_for_each(|program| program.map(drop))?;
    refs.anchors.iter().try_for_each(|anchor| anchor.map(drop))
}

/// Reads the whole message as a value. `info` is exactly the message.
pub(crate) fn read_metadata(info: &[u8], limits: &Limits) -> Result<Metadata, Problem> {
    with_refs(info, limits, |refs| refs.read(&mut Budget::of(info)))
}

/// Checks that [`read_metadata`] would succeed, provided there is memory for the value.
#[cfg(feature = "serde")]
pub(crate) fn can_be_read(info: &[u8], limits: &Limits) -> Result<(), Problem> {
    with_refs(info, limits, |refs| refs.spend(&mut Budget::of(info)))
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

fn with_refs<T>(
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

    /// Makes the owned value, if the budget has room for it.
    fn read(&self, budget: &mut Budget) -> Result<Self::Value, Problem>;

    /// Takes the same amount from the budget as `read`.
    #[cfg(feature = "serde")]
    fn spend(&self, budget: &mut Budget) -> Result<(), Problem>;
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

    fn iter(&self) -> impl ExactSizeIterator<Item = Result<P, Problem>> + use<'m, P> {
        let fields = self.fields;
        self.list.iter().map(move |reader| P::of(reader, fields))
    }

    fn read(&self, budget: &mut Budget) -> Result<Vec<P::Value>, Problem> {
        let mut values = budget.list(self.len())?;
        for part in self.iter() {
            values.push(part?.read(budget)?);
        }
        Ok(values)
    }

    #[cfg(feature = "serde")]
    fn spend(&self, budget: &mut Budget) -> Result<(), Problem> {
        budget.spend(bytes_of::<P::Value>(self.len()))?;
        self.iter().try_for_each(|part| part?.spend(budget))
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
    #[cfg(feature = "serde")]
    fn spend(&self, budget: &mut Budget) -> Result<(), Problem> {
        budget.spend(bytes_of::<u32>(self.0.len()))
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

    fn read(&self, budget: &mut Budget) -> Result<Metadata, Problem> {
        Ok(Metadata {
            replication_factor: self.replication_factor,
            num_ipus: self.num_ipus,
            num_processes: self.num_processes,
            ipu_version: self.ipu_version,
            is_pod: self.is_pod,
            is_inference: self.is_inference,
            device_iterations: self.device_iterations,
            executable: budget.text(&self.executable)?,
            seed_handle: budget.text(&self.seed_handle)?,
            engine_options: self.engine_options.read(budget)?,
            device_options: self.device_options.read(budget)?,
            program_flow: ProgramFlow {
                load: budget.numbers(self.program_flow.load.0.iter())?,
                main: budget.numbers(self.program_flow.main.0.iter())?,
                save: budget.numbers(self.program_flow.save.0.iter())?,
            },
            programs_map: self.programs_map.read(budget)?,
            anchors: self.anchors.read(budget)?,
        })
    }

    #[cfg(feature = "serde")]
    fn spend(&self, budget: &mut Budget) -> Result<(), Problem> {
        budget.spend_text(&self.executable)?;
        budget.spend_text(&self.seed_handle)?;
        self.engine_options.spend(budget)?;
        self.device_options.spend(budget)?;
        self.program_flow.load.spend(budget)?;
        self.program_flow.main.spend(budget)?;
        self.program_flow.save.spend(budget)?;
        self.programs_map.spend(budget)?;
        self.anchors.spend(budget)
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

    fn read(&self, budget: &mut Budget) -> Result<EngineOption, Problem> {
        Ok(EngineOption { name: budget.text(&self.name)?, value: budget.text(&self.value)? })
    }

    #[cfg(feature = "serde")]
    fn spend(&self, budget: &mut Budget) -> Result<(), Problem> {
        budget.spend_text(&self.name)?;
        budget.spend_text(&self.value)
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

    fn read(&self, budget: &mut Budget) -> Result<ProgramInfo, Problem> {
        Ok(ProgramInfo { index: self.index, name: budget.text(&self.name)? })
    }

    #[cfg(feature = "serde")]
    fn spend(&self, budget: &mut Budget) -> Result<(), Problem> {
        budget.spend_text(&self.name)
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

    fn read(&self, budget: &mut Budget) -> Result<Anchor, Problem> {
        Ok(Anchor {
            name: budget.text(&self.name)?,
            handle: budget.text(&self.handle)?,
            tensor_info: TensorInfo {
                shape: budget.numbers(self.tensor_info.shape.iter())?,
                data_type: self.tensor_info.data_type,
            },
            tensor_type: self.tensor_type,
            programs: budget.numbers(self.programs.0.iter())?,
            is_per_replica: self.is_per_replica,
            use_remote_buffers: self.use_remote_buffers,
            repeats: self.repeats,
        })
    }

    #[cfg(feature = "serde")]
    fn spend(&self, budget: &mut Budget) -> Result<(), Problem> {
        budget.spend_text(&self.name)?;
        budget.spend_text(&self.handle)?;
        budget.spend(bytes_of::<i64>(self.tensor_info.shape.len()))?;
        self.programs.spend(budget)
    }
}

/// How much memory the values of a message may still take. A small message can claim many values by lists of elements
/// without bytes, and by pointers that share a text.
pub(crate) struct Budget {
    limit: usize,
    left: usize,
}

impl Budget {
    fn of(message: &[u8]) -> Self {
        let limit = message.len().saturating_mul(OWNED_BYTES_PER_BYTE).saturating_add(OWNED_BYTES_FREE);
        Budget { limit, left: limit }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Problem> {
        let limit = u64::try_from(self.limit).unwrap_or(u64::MAX);
        let needed = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(bytes).ok_or(WireProblem::MetadataTooLarge { needed, limit })?;
        Ok(())
    }

    /// Returns an empty list with room for `len` elements.
    fn list<T>(&mut self, len: u32) -> Result<Vec<T>, Problem> {
        let bytes = bytes_of::<T>(len);
        self.spend(bytes)?;
        let mut list = Vec::new();
        Problem::in_memory(bytes, list.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX)))?;
        Ok(list)
    }

    fn text(&mut self, text: &Text<'_>) -> Result<Text<'static>, Problem> {
        self.spend_text(text)?;
        text.by_ref().try_to_own()
    }

    fn spend_text(&mut self, text: &Text<'_>) -> Result<(), Problem> {
        self.spend(text.as_bytes().len())
    }

    fn numbers<T>(&mut self, list: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, Problem> {
        let bytes = list.len().saturating_mul(size_of::<T>());
        self.spend(bytes)?;
        // `collect` would make room for at least four elements, and most shapes are shorter.
        let mut numbers = Vec::new();
        Problem::in_memory(bytes, numbers.try_reserve_exact(list.len()))?;
        numbers.extend(list);
        Ok(numbers)
    }
}

/// The size of `count` values in bytes.
fn bytes_of<T>(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<T>())
}

#[cfg(test)]
mod tests {
    use super::super::encode_metadata;
    use super::*;

    fn assert_read(metadata: &Metadata) {
        let info = encode_metadata::metadata(metadata).unwrap();
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

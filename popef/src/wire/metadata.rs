//! The Metadata message. What can be wrong with a part is found where the part is looked at, once for both of
//! [`check`], which keeps nothing, and [`read_metadata`], which copies everything.

use capnp::{primitive_list, struct_list};

use super::Stop;
use super::fields::{Fields, TensorInfoRef, number};
use super::message::Frame;
use super::popef_capnp as schema;
use super::problem::{Message, WireProblem};
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::{Anchor, EngineOption, Metadata, ProgramFlow, ProgramInfo, TensorInfo, TensorType, Text};

/// How many bytes of values a message may become, in message lengths. The least anchor that a Cap'n Proto writer
/// makes takes 40 bytes there and 128 here; what goes beyond this comes from a message that lies.
const OWNED_BYTES_PER_BYTE: usize = 4;
const OWNED_BYTES_FREE: usize = 4096;

/// Whether every part of the message can be read.
pub(super) fn check(root: schema::metadata::Reader<'_>, frame: Frame, fields: Fields<'_>) -> Result<(), Problem> {
    let refs = MetadataRef::of(root, frame, fields)?;
    refs.engine_options.iter().chain(refs.device_options).try_for_each(|o| OptionRef::of(o, fields).map(drop))?;
    refs.programs_map.iter().try_for_each(|p| fields.text(p.get_name(), "programsMap.name").map(drop))?;
    refs.anchors.iter().try_for_each(|a| AnchorRef::of(a, fields).map(drop))
}

/// The whole message as a value.
///
/// `info` holds the message and no more.
pub(crate) fn read_metadata(info: &[u8], limits: &Limits) -> Result<Metadata, Problem> {
    let fields = Fields { message: Message::Info, limits };
    let frame = Frame::parse(info, Message::Info).map_err(Stop::into_problem)?;
    let reader = frame.reader(info, limits);
    let root = fields.root::<schema::metadata::Owned, _>(&reader)?;
    let refs = MetadataRef::of(root, frame, fields)?;
    let mut budget = Budget::of(info);
    Ok(Metadata {
        replication_factor: root.get_replication_factor(),
        num_ipus: root.get_num_ipus(),
        num_processes: root.get_num_processes(),
        ipu_version: root.get_ipu_version(),
        is_pod: root.get_is_p_o_d(),
        is_inference: root.get_is_inference(),
        device_iterations: root.get_device_iterations(),
        executable: budget.text(refs.executable)?,
        seed_handle: budget.text(refs.seed_handle)?,
        engine_options: options(refs.engine_options, fields, &mut budget)?,
        device_options: options(refs.device_options, fields, &mut budget)?,
        program_flow: ProgramFlow {
            load: budget.numbers(refs.load.iter())?,
            main: budget.numbers(refs.main.iter())?,
            save: budget.numbers(refs.save.iter())?,
        },
        programs_map: programs(refs.programs_map, fields, &mut budget)?,
        anchors: anchors(refs.anchors, fields, &mut budget)?,
    })
}

type Structs<'m, T> = struct_list::Reader<'m, T>;

struct MetadataRef<'m> {
    executable: &'m [u8],
    seed_handle: &'m [u8],
    engine_options: Structs<'m, schema::option::Owned>,
    device_options: Structs<'m, schema::option::Owned>,
    load: primitive_list::Reader<'m, u32>,
    main: primitive_list::Reader<'m, u32>,
    save: primitive_list::Reader<'m, u32>,
    programs_map: Structs<'m, schema::program_info::Owned>,
    anchors: Structs<'m, schema::anchor::Owned>,
}

impl<'m> MetadataRef<'m> {
    fn of(root: schema::metadata::Reader<'m>, frame: Frame, fields: Fields<'_>) -> Result<Self, Problem> {
        let flow = fields.get(root.get_program_flow(), "programFlow")?;
        let refs = MetadataRef {
            executable: fields.text(root.get_executable(), "executable")?,
            seed_handle: fields.text(root.get_seed_handle(), "seedHandle")?,
            engine_options: fields.get(root.get_engine_options(), "engineOptions")?,
            device_options: fields.get(root.get_device_options(), "deviceOptions")?,
            load: fields.get(flow.get_load(), "programFlow.load")?,
            main: fields.get(flow.get_main(), "programFlow.main")?,
            save: fields.get(flow.get_save(), "programFlow.save")?,
            programs_map: fields.get(root.get_programs_map(), "programsMap")?,
            anchors: fields.get(root.get_anchors(), "anchors")?,
        };
        // By Cap'n Proto's rules a list of bytes, or of nothing, can stand where one of structs belongs. An element
        // takes time whatever its length; those that writers make have a word or more.
        let lists = [refs.engine_options.len(), refs.device_options.len(), refs.programs_map.len(), refs.anchors.len()];
        let found = lists.into_iter().map(u64::from).fold(0, u64::saturating_add);
        let limit = frame.words();
        if found > limit {
            return Err(WireProblem::TooManyElements { found, limit }.into());
        }
        Ok(refs)
    }
}

struct OptionRef<'m> {
    name: &'m [u8],
    value: &'m [u8],
}

impl<'m> OptionRef<'m> {
    fn of(option: schema::option::Reader<'m>, fields: Fields<'_>) -> Result<Self, Problem> {
        Ok(OptionRef {
            name: fields.text(option.get_name(), "an option's name")?,
            value: fields.text(option.get_value(), "an option's value")?,
        })
    }
}

struct AnchorRef<'m> {
    name: &'m [u8],
    handle: &'m [u8],
    tensor_info: TensorInfoRef<'m>,
    programs: primitive_list::Reader<'m, u32>,
}

impl<'m> AnchorRef<'m> {
    fn of(anchor: schema::anchor::Reader<'m>, fields: Fields<'_>) -> Result<Self, Problem> {
        Ok(AnchorRef {
            name: fields.text(anchor.get_name(), "an anchor's name")?,
            handle: fields.text(anchor.get_handle(), "an anchor's handle")?,
            tensor_info: fields.tensor_info(anchor.get_tensor_info())?,
            programs: fields.get(anchor.get_programs(), "an anchor's programs")?,
        })
    }
}

fn options(
    list: Structs<'_, schema::option::Owned>,
    fields: Fields<'_>,
    budget: &mut Budget,
) -> Result<Vec<EngineOption>, Problem> {
    let mut options = budget.list(list.len())?;
    for option in list {
        let refs = OptionRef::of(option, fields)?;
        options.push(EngineOption { name: budget.text(refs.name)?, value: budget.text(refs.value)? });
    }
    Ok(options)
}

fn programs(
    list: Structs<'_, schema::program_info::Owned>,
    fields: Fields<'_>,
    budget: &mut Budget,
) -> Result<Vec<ProgramInfo>, Problem> {
    let mut programs = budget.list(list.len())?;
    for program in list {
        let name = fields.text(program.get_name(), "a program's name")?;
        programs.push(ProgramInfo { index: program.get_index(), name: budget.text(name)? });
    }
    Ok(programs)
}

fn anchors(
    list: Structs<'_, schema::anchor::Owned>,
    fields: Fields<'_>,
    budget: &mut Budget,
) -> Result<Vec<Anchor>, Problem> {
    let mut anchors = budget.list(list.len())?;
    for anchor in list {
        let refs = AnchorRef::of(anchor, fields)?;
        anchors.push(Anchor {
            name: budget.text(refs.name)?,
            handle: budget.text(refs.handle)?,
            tensor_info: TensorInfo {
                shape: budget.numbers(refs.tensor_info.shape.iter())?,
                data_type: refs.tensor_info.data_type,
            },
            tensor_type: TensorType::from_number(number(anchor.get_type())),
            programs: budget.numbers(refs.programs.iter())?,
            is_per_replica: anchor.get_is_per_replica(),
            use_remote_buffers: anchor.get_use_remote_buffers(),
            repeats: anchor.get_repeats(),
        });
    }
    Ok(anchors)
}

/// How much memory the values of a message may still take. Lists of elements without bytes, and pointers that
/// share a text, make a small message claim many values.
struct Budget {
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

    /// An empty list with room for `len` elements.
    fn list<T>(&mut self, len: u32) -> Result<Vec<T>, Problem> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = len.saturating_mul(size_of::<T>());
        self.spend(bytes)?;
        let mut list = Vec::new();
        Problem::in_memory(bytes, list.try_reserve_exact(len))?;
        Ok(list)
    }

    fn text(&mut self, bytes: &[u8]) -> Result<Text<'static>, Problem> {
        self.spend(bytes.len())?;
        Text::from(bytes).try_to_own()
    }

    fn numbers<T>(&mut self, list: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, Problem> {
        let bytes = list.len().saturating_mul(size_of::<T>());
        self.spend(bytes)?;
        // `collect` makes room for four at least, and most shapes are shorter.
        let mut numbers = Vec::new();
        Problem::in_memory(bytes, numbers.try_reserve_exact(list.len()))?;
        numbers.extend(list);
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode_metadata;
    use super::*;

    fn assert_read(metadata: &Metadata) {
        let info = encode_metadata::metadata(metadata).unwrap();
        assert_eq!(read_metadata(&info, &Limits::default()).unwrap(), *metadata);
        // Nothing of it is shared, so visiting each word once is enough.
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

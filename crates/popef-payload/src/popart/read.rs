//! Reads PopART's message into plain values, and keeps account of what they cost.

use std::cell::Cell;

use capnp::traits::OwnedStruct;
use capnp::{any_pointer, data, struct_list, text, text_list};

use super::super::problem::OpaqueProblem;
use super::executable::*;
use super::kinds::{AnchorReturnKind, CommGroupKind, DataType, ExecutionMode, Layout, RetrievalMode, TensorKind};
use super::popart_capnp as schema;
use crate::Framework;
use popef::read::Limits;
use popef::seam::{Frame, FrameFault, Refusal, number};
use popef::seam::{Problem, with_room_for};
use popef::seam::{as_u64, len_of};
use popef::types::Text;

/// How deep pointers may nest. The schema needs 8.
const NESTING: u16 = 64;

/// Maximum size in bytes of the values, as a multiple of the message's length. The smallest tensor that a Cap'n Proto
/// writer makes, an empty one of SDK 2.6, takes 48 bytes in the message and 184 as a value. Only a forged message needs
/// more: one with lists of elements without bytes, or with many pointers to one text.
const VALUE_BYTES_PER_BYTE: u64 = 8;
const VALUE_BYTES_FREE: u64 = 64 << 10;

const FRAMEWORK: Framework = Framework::Popart;

/// Reads a blob's data.
pub(super) fn executable(bytes: &[u8], limits: &Limits) -> Result<Executable, Problem> {
    let frame = Frame::of_table(bytes).map_err(|fault| match fault {
        FrameFault::Cut { needed } => cut(needed, bytes),
        FrameFault::TooManySegments { found } => OpaqueProblem::TooManySegments { framework: FRAMEWORK, found },
    })?;
    let message = usize::try_from(frame.len).ok().and_then(|len| bytes.get(..len));
    let message = message.ok_or_else(|| cut(frame.len, bytes))?;

    let mut limits = *limits;
    limits.nesting = NESTING;
    let reader = frame.reader(message, &limits);
    let account = Account::of(message, frame);
    let root = get(reader.get_root::<schema::executable_any::Reader<'_>>(), "its root")?;
    let executable = account.executable(root)?;
    Ok(Executable {
        bytes: frame.len,
        segments: frame.segments,
        surplus: len_of(bytes).saturating_sub(frame.len),
        ..executable
    })
}

fn cut(needed: u64, bytes: &[u8]) -> OpaqueProblem {
    OpaqueProblem::Cut { framework: FRAMEWORK, needed, found: len_of(bytes) }
}

fn get<T>(value: capnp::Result<T>, field: &'static str) -> Result<T, Problem> {
    value.map_err(|error| {
        let problem = match Refusal::from(error) {
            Refusal::Visits => OpaqueProblem::TooManyVisits { framework: FRAMEWORK },
            Refusal::Nesting => OpaqueProblem::TooDeep { framework: FRAMEWORK, limit: NESTING.into() },
            Refusal::Malformed(source) => OpaqueProblem::Malformed { framework: FRAMEWORK, field, source },
        };
        problem.into()
    })
}

/// Reads parts of a message, and counts what their values cost.
struct Account<'m> {
    message: &'m [u8],
    /// The number of elements that lists may still have. Each takes time, however short it is, and those that writers
    /// make have a word or more.
    elements: Cell<u64>,
    /// The memory that values may still take.
    bytes: Cell<u64>,
}

impl<'m> Account<'m> {
    fn of(message: &'m [u8], frame: Frame) -> Self {
        let bytes = frame.len.saturating_mul(VALUE_BYTES_PER_BYTE).saturating_add(VALUE_BYTES_FREE);
        Account { message, elements: Cell::new(frame.words()), bytes: Cell::new(bytes) }
    }

    /// Takes an amount from what is left of an account.
    fn charge(left: &Cell<u64>, amount: u64) -> Result<(), Problem> {
        let rest = left.get().checked_sub(amount);
        left.set(rest.ok_or(OpaqueProblem::TooLarge { framework: FRAMEWORK })?);
        Ok(())
    }

    /// Makes room for a list of values.
    fn room<T>(&self, count: u32) -> Result<Vec<T>, Problem> {
        let count = u64::from(count);
        Self::charge(&self.elements, count)?;
        Self::charge(&self.bytes, count.saturating_mul(as_u64(size_of::<T>())))?;
        with_room_for(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn text(&self, text: capnp::Result<text::Reader<'_>>, field: &'static str) -> Result<Text<'static>, Problem> {
        let text = get(text, field)?.as_bytes();
        Self::charge(&self.bytes, len_of(text))?;
        Text::from(text).try_to_own()
    }

    fn texts(
        &self,
        list: capnp::Result<text_list::Reader<'_>>,
        field: &'static str,
    ) -> Result<Vec<Text<'static>>, Problem> {
        let list = get(list, field)?;
        let mut texts = self.room(list.len())?;
        for text in list.iter() {
            texts.push(self.text(text, field)?);
        }
        Ok(texts)
    }

    fn list<'r, S: OwnedStruct, T>(
        &self,
        list: capnp::Result<struct_list::Reader<'r, S>>,
        field: &'static str,
        read: impl Fn(S::Reader<'r>) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        let list = get(list, field)?;
        let mut values = self.room(list.len())?;
        for value in list.iter() {
            values.push(read(value)?);
        }
        Ok(values)
    }

    fn executable(&self, root: schema::executable_any::Reader<'_>) -> Result<Executable, Problem> {
        let lowering = get(root.get_lowering(), "lowering")?;
        let ir = get(lowering.get_ir(), "ir")?;
        let programs = get(lowering.get_custom_programs(), "customPrograms")?;
        let ids = get(root.get_rearrange_ids(), "rearrangeIds")?;
        let rearrangements = get(root.get_rearrangements(), "rearrangements")?;
        let tensors = get(root.get_tensors(), "tensors")?;
        // A list of elements without bytes must not take time before it is counted.
        Self::charge(&self.elements, tensors.len().into())?;
        let form = Form::of(tensors);
        Ok(Executable {
            layout: form.layout(),
            bytes: 0,
            segments: 0,
            surplus: 0,
            execution_mode: ExecutionMode::from_number(number(ir.get_execution_mode())),
            requires_random_seed: ir.get_requires_random_seed(),
            additional_proto_tensors: self.texts(ir.get_additional_proto_tensors(), "additionalProtoTensors")?,
            data_flow: if ir.has_data_flow() { Some(self.data_flow(ir.get_data_flow())?) } else { None },
            linearly_created: self.texts(lowering.get_linearly_created_inputs(), "linearlyCreatedInputs")?,
            efficiently_created: self.texts(lowering.get_efficiently_created_inputs(), "efficientlyCreatedInputs")?,
            cycle_count_ids: self.texts(lowering.get_cycle_count_ids(), "cycleCountIds")?,
            custom_programs: self.list(programs.get_pairs(), "customPrograms", |pair| {
                let handle = self.text(pair.get_handle(), "a custom program's handle")?;
                Ok(CustomProgram { index: pair.get_index(), handle })
            })?,
            tensors: self.list(Ok(tensors), "tensors", |tensor| self.tensor(tensor, form))?,
            rearrange_ids: self.list(ids.get_pairs(), "rearrangeIds", |pair| {
                let id = self.text(pair.get_id(), "a rearranged tensor's id")?;
                Ok(RearrangementId { id, number: pair.get_number() })
            })?,
            rearrangements: self.list(rearrangements.get_items(), "rearrangements", |item| self.rearrangement(item))?,
        })
    }

    fn data_flow(&self, flow: capnp::Result<schema::data_flow::Reader<'_>>) -> Result<DataFlow, Problem> {
        let flow = get(flow, "dataFlow")?;
        let map = get(flow.get_anchor_map(), "dataFlow.anchorMap")?;
        let anchors = self.list(map.get_anchors(), "dataFlow.anchorMap", |entry| {
            let returned = get(entry.get_return_type(), "an anchor's return type")?;
            Ok(AnchorReturnType {
                id: self.text(entry.get_id(), "an anchor's id")?,
                kind: AnchorReturnKind::from_number(number(returned.get_kind())),
                return_period: returned.get_return_period(),
            })
        })?;
        Ok(DataFlow { batches_per_step: flow.get_batches_per_step(), anchors })
    }

    fn tensor(&self, tensor: schema::tensor_any::Reader<'_>, form: Form) -> Result<Tensor, Problem> {
        let info = get(tensor.get_info(), "a tensor's info")?;
        let kind = get(info.get_type(), "a tensor's type")?;
        let location = get(tensor.get_location(), "a tensor's location")?;
        let shape = get(info.get_shape(), "a tensor's shape")?;
        let mut extents = self.room(shape.len())?;
        extents.extend(shape.iter());
        Ok(Tensor {
            id: self.text(tensor.get_id(), "a tensor's id")?,
            kind: TensorKind::from_number(number(tensor.get_kind())),
            data_type: DataType::from_number(number(kind.get_data_type())),
            type_name: self.text(kind.get_name(), "the name of a tensor's type")?,
            lower_name: self.text(kind.get_lower_name(), "the name of a tensor's type")?,
            is_fixed_point: kind.get_is_fixed_point(),
            shape: extents,
            stored_bytes: kind.get_tensor_bytes(),
            remote: if location.get_remote() { Some(remote_buffer(location)?) } else { None },
            sharded: location.get_sharded(),
            variable_settings: form.variable_settings(tensor)?,
            data: self.held_data(form.data(tensor)?),
        })
    }

    /// The place of data that capnp borrowed from the message.
    fn held_data(&self, data: Option<&[u8]>) -> Option<HeldData> {
        let data = data?;
        let offset = data.as_ptr().addr().saturating_sub(self.message.as_ptr().addr());
        Some(HeldData { offset: as_u64(offset), len: len_of(data) })
    }

    fn rearrangement(&self, item: schema::rearrangements::item::Reader<'_>) -> Result<Rearrangement, Problem> {
        let what = get(item.get_rearrangement(), "a rearrangement")?;
        let intervals = what.get_gathered_to_reference();
        Ok(Rearrangement {
            number: item.get_number(),
            replication_factor: what.get_replication_factor(),
            elements_per_replica: what.get_elements_per_replica(),
            gathered_to_reference: self.list(intervals, "a rearrangement's intervals", |interval| {
                Ok((interval.get_begin(), interval.get_end()))
            })?,
        })
    }
}

fn remote_buffer(location: schema::location::Reader<'_>) -> Result<RemoteBuffer, Problem> {
    let buffer = get(location.get_buffer(), "a tensor's remote buffer")?;
    Ok(RemoteBuffer { id: buffer.get_id(), index: buffer.get_index() })
}

/// The form of the tensors. Pointers 3 and 4 differ between the layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    NoTensors,
    Known(Layout),
    /// Pointers 3 and 4 both have no known meaning.
    Unknown,
}

impl Form {
    /// Pointer 3 is a struct in layout L30, and data or null in the others. All elements of a list have the same number
    /// of pointers.
    fn of(tensors: struct_list::Reader<'_, schema::tensor_any::Owned>) -> Form {
        let Some(first) = tensors.iter().next() else { return Form::NoTensors };
        let mut pointers = tensors.iter().map(schema::tensor_any::Reader::get_pointer3);
        match pointers.find_map(settings_of) {
            // No release writes settings that have pointers of their own here.
            Some(settings) if capnp::raw::get_struct_pointer_section(settings).is_empty() => Form::Known(Layout::L30),
            Some(_) => Form::Unknown,
            None => match capnp::raw::get_struct_pointer_section(first).len() {
                4 => Form::Known(Layout::L25),
                5 => Form::Known(Layout::L26),
                _ => Form::Unknown,
            },
        }
    }

    fn layout(self) -> Option<Layout> {
        match self {
            Form::Known(layout) => Some(layout),
            Form::NoTensors | Form::Unknown => None,
        }
    }

    fn data<'r>(self, tensor: schema::tensor_any::Reader<'r>) -> Result<Option<data::Reader<'r>>, Problem> {
        let pointer = tensor.get_pointer3();
        match self.layout() {
            Some(Layout::L25 | Layout::L26) if !pointer.is_null() => {
                get(pointer.get_as::<data::Reader<'_>>(), "a tensor's data").map(Some)
            }
            _ => Ok(None),
        }
    }

    fn variable_settings(self, tensor: schema::tensor_any::Reader<'_>) -> Result<Option<VariableSettings>, Problem> {
        let pointer = match self.layout() {
            Some(Layout::L30) => tensor.get_pointer3(),
            Some(Layout::L26) => tensor.get_pointer4(),
            Some(Layout::L25) | None => return Ok(None),
        };
        if pointer.is_null() {
            return Ok(None);
        }
        let field = "a tensor's variable settings";
        if self.layout() == Some(Layout::L26) {
            return settings_of_26(get(pointer.get_as(), field)?).map(Some);
        }
        let settings: schema::variable_settings::Reader<'_> = get(pointer.get_as(), field)?;
        Ok(Some(VariableSettings {
            use_comm_group: settings.get_use_comm_group(),
            comm_group: CommGroupKind::from_number(number(settings.get_comm_group_kind())),
            stride: settings.get_stride(),
            group_size: settings.get_group_size(),
            retrieval: RetrievalMode::from_number(number(settings.get_retrieval_mode())),
        }))
    }
}

fn settings_of(pointer: any_pointer::Reader<'_>) -> Option<schema::variable_settings::Reader<'_>> {
    if pointer.is_null() { None } else { pointer.get_as().ok() }
}

fn settings_of_26(settings: schema::variable_settings_l26::Reader<'_>) -> Result<VariableSettings, Problem> {
    let group = get(settings.get_shared_domain(), "a tensor's replica group")?;
    Ok(VariableSettings {
        use_comm_group: true,
        comm_group: CommGroupKind::from_number(number(group.get_kind())),
        stride: 0,
        group_size: group.get_replica_group_size(),
        retrieval: RetrievalMode::from_number(number(settings.get_retrieval_mode())),
    })
}

//! Sets the fields of messages that the crate `capnp` builds. Texts are set as bytes and enumerations as numbers, so
//! everything that was read from a file can be set again.

use capnp::dynamic_struct;
use capnp::dynamic_value::{self, Enum};
use capnp::introspect::{Introspect, TypeVariant};
use capnp::text;

use super::popef_capnp as schema;
use super::problem::{Message, WireProblem};
use crate::error::Problem;
use crate::types::{Anchor, EngineOption, Metadata, ProgramFlow, ProgramInfo, TensorInfo, TensorType, Text};

/// Sets the numbers and texts.
pub(super) fn set_plain_fields(mut root: schema::metadata::Builder<'_>, metadata: &Metadata) {
    root.set_replication_factor(metadata.replication_factor);
    root.set_num_ipus(metadata.num_ipus);
    root.set_num_processes(metadata.num_processes);
    root.set_ipu_version(metadata.ipu_version);
    root.set_is_p_o_d(metadata.is_pod);
    root.set_is_inference(metadata.is_inference);
    root.set_device_iterations(metadata.device_iterations);
    root.set_seed_handle(bytes_of(&metadata.seed_handle));
    root.set_executable(bytes_of(&metadata.executable));
}

pub(super) fn set_option(mut to: schema::option::Builder<'_>, option: &EngineOption) -> Result<(), Problem> {
    to.set_name(bytes_of(&option.name));
    to.set_value(bytes_of(&option.value));
    Ok(())
}

pub(super) fn set_program(mut to: schema::program_info::Builder<'_>, program: &ProgramInfo) -> Result<(), Problem> {
    to.set_index(program.index);
    to.set_name(bytes_of(&program.name));
    Ok(())
}

pub(super) fn set_program_flow(root: schema::metadata::Builder<'_>, flow: &ProgramFlow) -> Result<(), Problem> {
    let mut to = root.get_program_flow().map_err(refused("programFlow"))?;
    to.set_load(flow.load.as_slice()).map_err(refused("programFlow.load"))?;
    to.set_main(flow.main.as_slice()).map_err(refused("programFlow.main"))?;
    to.set_save(flow.save.as_slice()).map_err(refused("programFlow.save"))
}

pub(super) fn set_anchor(mut to: schema::anchor::Builder<'_>, anchor: &Anchor) -> Result<(), Problem> {
    to.set_name(bytes_of(&anchor.name));
    to.set_handle(bytes_of(&anchor.handle));
    to.set_programs(anchor.programs.as_slice()).map_err(refused("an anchor's programs"))?;
    let info = to.reborrow().get_tensor_info().map_err(refused("tensorInfo"))?;
    set_tensor_info(info, &anchor.tensor_info)?;
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

pub(super) fn set_tensor_info(mut to: schema::tensor_info::Builder<'_>, info: &TensorInfo) -> Result<(), Problem> {
    to.set_shape(info.shape.as_slice()).map_err(refused("shape"))?;
    match schema::DataType::try_from(info.data_type.number()) {
        Ok(known) => to.set_data_type(known),
        Err(_) => set_number::<schema::DataType>(to, "dataType", info.data_type.number())?,
    }
    Ok(())
}

/// Sets a field of enumeration `E` to a number that the schema does not name, which the generated setters cannot do.
fn set_number<'m, E: Introspect>(
    to: impl Into<dynamic_value::Builder<'m>>,
    field: &'static str,
    number: u16,
) -> Result<(), Problem> {
    let TypeVariant::Enum(schema) = E::introspect().which() else { return Ok(()) };
    let mut to = to.into().downcast::<dynamic_struct::Builder<'_>>();
    to.set_named(field, Enum::new(number, schema.into()).into()).map_err(refused(field))
}

pub(super) fn refused(field: &'static str) -> impl Fn(capnp::Error) -> Problem {
    move |source| WireProblem::Malformed { message: Message::Info, field, source }.into()
}

pub(super) fn bytes_of<'t>(text: &'t Text<'_>) -> text::Reader<'t> {
    text::Reader(text.as_bytes())
}

/// The length of a list, in a message whose length is within the limit.
pub(super) fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

//! The message as JSON, under the schema's own names where these are known to be clear.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::executable::*;
use super::kinds::{DataType, TensorKind};
use popef::seam::object;
use popef::types::Text;

impl Serialize for Executable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Popart", 16)?;
        object.serialize_field("kind", "popart")?;
        object.serialize_field("bytes", &self.bytes)?;
        object.serialize_field("segments", &self.segments)?;
        object.serialize_field("surplusBytes", &self.surplus)?;
        object.serialize_field("layout", &self.layout)?;
        object.serialize_field("executionMode", &self.execution_mode)?;
        object.serialize_field("requiresRandomSeed", &self.requires_random_seed)?;
        object.serialize_field("additionalProtoTensors", &self.additional_proto_tensors)?;
        object.serialize_field("dataFlow", &self.data_flow)?;
        object.serialize_field("linearlyCreated", &self.linearly_created)?;
        object.serialize_field("efficientlyCreated", &self.efficiently_created)?;
        object.serialize_field("cycleCountIds", &self.cycle_count_ids)?;
        object.serialize_field("customPrograms", &self.custom_programs)?;
        object.serialize_field("tensors", &self.tensors)?;
        object.serialize_field("rearrangeIds", &self.rearrange_ids)?;
        object.serialize_field("rearrangements", &self.rearrangements)?;
        object.end()
    }
}

object!(@serialize "CustomProgram", CustomProgram, {
    index: u32 = "index";
    handle / handle_bytes: Text = "handle" / "handleBytes";
});

object!(@serialize "AnchorReturnType", AnchorReturnType, {
    id / id_bytes: Text = "id" / "idBytes";
    kind: AnchorReturnKind = "kind";
    return_period: i32 = "returnPeriod";
});

object!(@serialize "RearrangementId", RearrangementId, {
    id / id_bytes: Text = "id" / "idBytes";
    number: u32 = "number";
});

/// A tensor with what follows from its fields.
struct TensorRef<'t> {
    id: &'t Text<'static>,
    kind: TensorKind,
    data_type: DataType,
    type_name: &'t Text<'static>,
    lower_name: &'t Text<'static>,
    is_fixed_point: bool,
    shape: &'t [i64],
    stored_bytes: i32,
    true_bytes: Option<u64>,
    remote: Option<(i64, i64)>,
    sharded: bool,
    variable_settings: Option<VariableSettings>,
    data_bytes: Option<u64>,
    data_offset: Option<u64>,
}

object!(@serialize "Tensor", TensorRef<'_>, {
    id / id_bytes: Text = "id" / "idBytes";
    kind: TensorKind = "kind";
    data_type: DataType = "dataType";
    type_name / type_name_bytes: Text = "typeName" / "typeNameBytes";
    lower_name / lower_name_bytes: Text = "lowerName" / "lowerNameBytes";
    is_fixed_point: bool = "isFixedPoint";
    shape: Vec<i64> = "shape";
    stored_bytes: i32 = "storedBytes";
    true_bytes: Option<u64> = "trueBytes";
    remote: Option<(i64, i64)> = "remote";
    sharded: bool = "sharded";
    variable_settings: Option<VariableSettings> = "variableSettings";
    data_bytes: Option<u64> = "dataBytes";
    data_offset: Option<u64> = "dataOffset";
});

impl Serialize for Tensor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tensor = TensorRef {
            id: &self.id,
            kind: self.kind,
            data_type: self.data_type,
            type_name: &self.type_name,
            lower_name: &self.lower_name,
            is_fixed_point: self.is_fixed_point,
            shape: &self.shape,
            stored_bytes: self.stored_bytes,
            true_bytes: self.byte_len(),
            remote: self.remote.map(|buffer| (buffer.id, buffer.index)),
            sharded: self.sharded,
            variable_settings: self.variable_settings,
            data_bytes: self.data.map(|data| data.len),
            data_offset: self.data.map(|data| data.offset),
        };
        tensor.serialize(serializer)
    }
}

//! The header of `.safetensors` files: its length, and JSON that says type, shape and place of each tensor.

use popef::{DataType, TensorInfo};
use safetensors::tensor::Metadata;

use super::place::Place;
use super::types::{of_safetensors, to_safetensors};
use super::{Array, Stored, bad, unsupported};
use crate::error::Error;

/// The bytes before the JSON: its length.
const LEN: u64 = 8;
/// The most bytes of JSON, as the format has it.
const LONGEST: u64 = 100_000_000;

/// The tensors of a file, in the order of their data.
pub(super) fn arrays(file: &Place) -> Result<Vec<Array>, Error> {
    let mut len = [0; 8];
    let found = file.read_up_to(0, &mut len)?.len();
    let len = u64::from_le_bytes(len);
    let data = len.checked_add(LEN).and_then(|start| file.from(start)).filter(|_| found == 8 && len <= LONGEST);
    let data = data.ok_or_else(|| bad(format!("the header claims {len} bytes, and the file has {}", file.len())))?;
    let mut json = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    file.read_up_to(LEN, &mut json)?;
    let metadata: Metadata =
        serde_json::from_slice(&json).map_err(|error| bad(format!("the header is damaged: {error}")))?;
    drop(json);
    let needed = u64::try_from(metadata.data_len()).unwrap_or(u64::MAX);
    if needed != data.len() {
        let message = format!("the header needs {needed} bytes of data, and the file has {}", data.len());
        return Err(bad(message));
    }
    metadata.offset_keys().into_iter().map(|name| array(name, &metadata, &data)).collect()
}

fn array(name: String, metadata: &Metadata, data: &Place) -> Result<Array, Error> {
    let damaged = || bad(format!("the header is damaged: tensor {name:?} is not in the file"));
    let tensor = metadata.info(&name).ok_or_else(damaged)?;
    let data_type = of_safetensors(tensor.dtype).ok_or_else(|| {
        unsupported(format!("tensor {name:?} is of type {}, which PopEF does not have", tensor.dtype))
    })?;
    let shape = tensor.shape.iter().map(|extent| i64::try_from(*extent)).collect::<Result<Vec<_>, _>>();
    let (start, end) = tensor.data_offsets;
    let place = end.checked_sub(start).and_then(|len| data.part(u64::try_from(start).ok()?, u64::try_from(len).ok()?));
    let info = TensorInfo::new(said(metadata, &name).unwrap_or(data_type), shape.map_err(|_| damaged())?);
    Ok(Array { stored: Stored::Plain(place.ok_or_else(damaged)?), name: name.into(), info })
}

/// The key in `__metadata__` under which the type of a tensor is said that has no name in this format.
fn type_key(name: &str) -> String {
    format!("popef.dataType.{name}")
}

/// The type that `__metadata__` gives for a tensor of bytes.
fn said(metadata: &Metadata, name: &str) -> Option<DataType> {
    let data_type = metadata.metadata().as_ref()?.get(&type_key(name))?.parse().ok()?;
    let of_bytes = metadata.info(name)?.dtype == safetensors::Dtype::U8 && super::types::is_float8(data_type);
    of_bytes.then_some(data_type)
}

/// A header that is being made. The tensors' data follows in the same order.
#[derive(Debug, Default)]
pub(crate) struct Header {
    tensors: String,
    /// The types that the format does not have.
    types: String,
    /// Where the next tensor begins.
    end: u64,
}

impl Header {
    /// Adds a tensor. None if the format cannot have it.
    pub(crate) fn push(&mut self, name: &str, info: &TensorInfo) -> Option<()> {
        let dtype = to_safetensors(info.data_type)?;
        let start = self.end;
        self.end = start.checked_add(info.size_in_bytes().ok()?)?;
        let value =
            serde_json::json!({"dtype": dtype.to_string(), "shape": info.shape, "data_offsets": [start, self.end]});
        member(&mut self.tensors, name, &value);
        if of_safetensors(dtype) != Some(info.data_type) {
            member(&mut self.types, &type_key(name), &info.data_type.to_string().into());
        }
        Some(())
    }

    /// The bytes before the data. None if there are too many for the format.
    pub(crate) fn into_bytes(self) -> Option<Vec<u8>> {
        let mut members = String::new();
        if !self.types.is_empty() {
            members = format!("\"__metadata__\":{{{}}}", self.types);
        }
        if !self.tensors.is_empty() {
            members.push_str(if members.is_empty() { "" } else { "," });
            members.push_str(&self.tensors);
        }
        let mut json = format!("{{{members}}}").into_bytes();
        // So that the data is aligned in a file that is mapped.
        json.resize(json.len().next_multiple_of(8), b' ');
        let len = u64::try_from(json.len()).ok().filter(|len| *len <= LONGEST)?;
        Some([&len.to_le_bytes()[..], &json].concat())
    }
}

/// Adds a member to the text of a JSON object.
fn member(object: &mut String, key: &str, value: &serde_json::Value) {
    let comma = if object.is_empty() { "" } else { "," };
    // A string always has a text in JSON.
    let key = serde_json::Value::from(key);
    object.push_str(&format!("{comma}{key}:{value}"));
}

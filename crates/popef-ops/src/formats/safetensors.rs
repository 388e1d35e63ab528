//! The header of `.safetensors` files: its length, and JSON that says type, shape and place of each tensor.

use std::io::{self, Read as _, Write};

use popef::{DataType, TensorInfo};
use safetensors::tensor::Metadata;
use serde::Serialize;

use super::place::Place;
use super::types::{of_safetensors, to_safetensors};
use super::{Array, Stored, bad, has_own_name_in_safetensors as has_own_name, unsupported};
use crate::error::{Code, Error};
use crate::work::len_of;

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

/// Writes what comes before the data of these tensors, which `tensors` gives twice with their names in the order of their data.
/// Nothing of them is kept.
pub(crate) fn write_header<N: AsRef<str>, I: Iterator<Item = (N, TensorInfo)>>(
    tensors: &dyn Fn() -> I,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut len = Counter(0);
    write_json(tensors, &mut len)?;
    // So that the data is aligned in a file that is mapped.
    let padded = len.0.checked_next_multiple_of(8).filter(|len| *len <= LONGEST);
    let padded = padded.ok_or_else(|| {
        let message = format!("the header of a .safetensors file has at most {LONGEST} bytes, and this needs more");
        Error::new(Code::WrongArguments, format!("{message}; choose fewer tensors or another form"))
    })?;
    out.write_all(&padded.to_le_bytes())?;
    write_json(tensors, out)?;
    Ok(io::copy(&mut io::repeat(b' ').take(padded.saturating_sub(len.0)), out).map(drop)?)
}

fn write_json<N: AsRef<str>, I: Iterator<Item = (N, TensorInfo)>>(
    tensors: &dyn Fn() -> I,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut before = "{";
    for (name, info) in tensors().filter(|(_, info)| !has_own_name(info.data_type)) {
        out.write_all(if before == "{" { b"{\"__metadata__\":{" } else { b"," })?;
        before = "},";
        serde_json::to_writer(&mut *out, &type_key(name.as_ref()))?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, &info.data_type.to_string())?;
    }
    let mut start = 0u64;
    for (name, info) in tensors() {
        let unsupported = || io::Error::other(format!("{} is no type of .safetensors files", info.data_type));
        let dtype = to_safetensors(info.data_type).ok_or_else(unsupported)?.to_string();
        let len = info.size_in_bytes().map_err(io::Error::other)?;
        let end = start.checked_add(len).ok_or(io::ErrorKind::FileTooLarge)?;
        out.write_all(before.as_bytes())?;
        before = ",";
        serde_json::to_writer(&mut *out, name.as_ref())?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, &Tensor { dtype, shape: info.shape, data_offsets: [start, end] })?;
        start = end;
    }
    out.write_all(match before {
        "{" => b"{}",
        "}," => b"}}",
        _ => b"}",
    })
}

/// What the header says of a tensor.
#[derive(Serialize)]
struct Tensor {
    dtype: String,
    shape: Vec<i64>,
    data_offsets: [u64; 2],
}

/// Counts what is written.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(len_of(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Converts each tensor of a model to a file that NumPy loads. A file has the index of the blob: 0.npy, 1.npy and so on.
//!
//! ```sh
//! cargo run --example to_npy -- MODEL.popef FOLDER
//! ```

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

use popef::read::TensorBlob;
use popef::{DataType, File};

/// NumPy's code for a data type; none if NumPy lacks the type.
fn descr(data_type: DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Bool => "|b1",
        DataType::S8 => "|i1",
        DataType::U8 => "|u1",
        DataType::S16 => "<i2",
        DataType::U16 => "<u2",
        DataType::S32 => "<i4",
        DataType::U32 => "<u4",
        DataType::S64 => "<i8",
        DataType::U64 => "<u8",
        DataType::F16 => "<f2",
        DataType::F32 => "<f4",
        DataType::F64 => "<f8",
        _ => return None,
    })
}

fn write(tensor: &TensorBlob<'_>, descr: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let shape: String = tensor.shape().iter().map(|extent| format!("{extent},")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The format wants the data to begin at a multiple of 64 bytes.
    let padding = 63 - (10 + header.len()) % 64;
    header += &format!("{}\n", " ".repeat(padding));
    let mut file = fs::File::create(path)?;
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    // Both formats hold the elements in the same order.
    tensor.elements()?.data().copy_to(&mut file)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [model, folder] = arguments.as_slice() else {
        return Err("usage: to_npy MODEL.popef FOLDER".into());
    };
    for tensor in File::open(model)?.tensors() {
        let (index, data_type) = (tensor.blob().index(), tensor.data_type());
        match descr(data_type) {
            Some(descr) => {
                write(&tensor, descr, &Path::new(folder).join(format!("{index}.npy")))?;
                println!("{index}.npy: {:?} {data_type} {}", tensor.name(), tensor.shape());
            }
            None => println!("left out: {:?}: NumPy has no {data_type}", tensor.name()),
        }
    }
    Ok(())
}

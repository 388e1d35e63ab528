//! Builds a model file from scratch: an executable, its metadata, weights, inputs for three calls, and data of a
//! framework.
//!
//! ```sh
//! cargo run --example build_model -- EXECUTABLE MODEL.popef
//! ```

use std::error::Error;
use std::fs::File;
use std::io;

use popef::types::{Anchor, FeedDataInfo, OpaqueInfo, ProgramFlow, ProgramInfo, TensorDataInfo, TensorType};
use popef::write::{NewFile, Packing};
use popef::{DataType, Metadata, TensorInfo, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [executable, model] = arguments.as_slice() else {
        return Err("usage: build_model EXECUTABLE MODEL.popef".into());
    };
    let mut writer = Writer::create(model)?;

    // The executable is streamed and compressed, so it can be larger than memory.
    let mut blob = writer.packed_executable("my-model", Packing::default())?;
    io::copy(&mut File::open(executable)?, &mut blob)?;
    blob.finish()?;

    writer.write_metadata(&metadata())?;
    let weights = TensorDataInfo { name: "weights".into(), tensor_info: TensorInfo::new(DataType::F32, [2, 2]) };
    writer.write_tensor(&weights, &[0.5f32, -1.0, 2.0, 0.25])?;
    write_inputs(&mut writer)?;
    let framework = OpaqueInfo { name: "my-framework".into(), executable: "my-model".into() };
    writer.write_opaque(&framework, b"what only my framework understands")?;

    let written = writer.finish()?;
    println!("{} bytes", written.size);
    Ok(())
}

fn metadata() -> Metadata {
    Metadata {
        executable: "my-model".into(),
        program_flow: ProgramFlow { load: vec![0], main: vec![1], save: vec![] },
        programs_map: vec![
            ProgramInfo { index: 0, name: "WeightsFromHost".into() },
            ProgramInfo { index: 1, name: "Program".into() },
        ],
        anchors: vec![
            anchor("weights", TensorType::Input, DataType::F32, &[2, 2], 0),
            anchor("image", TensorType::Input, DataType::F32, &[2], 1),
            anchor("label", TensorType::Input, DataType::S32, &[], 1),
            anchor("answer", TensorType::Output, DataType::F32, &[2], 1),
        ],
        ..Metadata::default()
    }
}

fn anchor(name: &str, tensor_type: TensorType, data_type: DataType, shape: &[i64], program: u32) -> Anchor {
    Anchor {
        name: name.to_owned().into(),
        handle: format!("h2d_{name}").into(),
        tensor_info: TensorInfo::new(data_type, shape),
        tensor_type,
        programs: vec![program],
        ..Anchor::default()
    }
}

/// Each sample has an image and a label. In the file, all images lie together, and so do all labels.
fn write_inputs(writer: &mut Writer<NewFile>) -> Result<(), popef::Error> {
    let image = FeedDataInfo { name: "image".into(), tensor_info: TensorInfo::new(DataType::F32, [2]), num_tensors: 3 };
    let label = FeedDataInfo { name: "label".into(), tensor_info: TensorInfo::new(DataType::S32, []), num_tensors: 3 };
    let samples = [([0.0f32, 0.5], 7i32), ([1.0, 1.5], 8), ([2.0, 2.5], 9)];
    let mut feeds = writer.feeds(&[image, label])?;
    for (image, label) in samples {
        feeds.push(0, &image)?;
        feeds.push(1, &[label])?;
    }
    feeds.finish()?;
    Ok(())
}

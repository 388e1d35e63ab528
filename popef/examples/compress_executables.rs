//! Compresses the executables of a file with zlib and copies everything else unchanged. The new file may replace the
//! old one, which stays as it is until the new one is complete.
//!
//! ```sh
//! cargo run --example compress_executables -- MODEL.popef COMPRESSED.popef
//! ```

use std::error::Error;
use std::io;

use popef::write::Packing;
use popef::{Content, File, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [model, compressed] = arguments.as_slice() else {
        return Err("usage: compress_executables MODEL.popef COMPRESSED.popef".into());
    };
    let model = File::open(model)?;
    let mut writer = Writer::create(compressed)?;
    for blob in model.blobs() {
        writer.version(blob.version().into_owned());
        match blob.content() {
            Content::Executable(executable) if !executable.is_compressed() => {
                let mut packed = writer.packed_executable(executable.name(), Packing::Zlib(6))?;
                io::copy(&mut executable.unpack()?, &mut packed)?;
                let written = packed.finish()?;
                println!("{}: {} bytes, were {}", executable.name(), written.size, blob.size());
            }
            _ => {
                writer.copy(blob)?;
            }
        }
    }
    // On Windows a file cannot be replaced while it is open.
    drop(model);
    writer.finish()?;
    Ok(())
}

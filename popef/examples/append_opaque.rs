//! Appends an opaque blob to a file, with the bytes of another file or of the standard input.
//!
//! ```sh
//! cargo run --example append_opaque -- MODEL.popef NAME EXECUTABLE < DATA
//! ```

use std::error::Error;
use std::io;

use popef::Writer;
use popef::types::{OpaqueInfo, Text};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [model, name, executable] = arguments.as_slice() else {
        return Err("usage: append_opaque MODEL.popef NAME EXECUTABLE < DATA".into());
    };
    let text = |argument: &std::ffi::OsString| Text::from(argument.as_encoded_bytes().to_vec());
    let mut writer = Writer::append(model)?;
    // How many bytes will come is not known: the size is filled in at the end.
    let mut blob = writer.opaque(&OpaqueInfo { name: text(name), executable: text(executable) })?;
    io::copy(&mut io::stdin().lock(), &mut blob)?;
    let written = blob.finish()?;
    // Until now no reader can find it, and the file can still be had back as it was.
    writer.finish()?;
    println!("{} bytes at {}", written.size, written.offset);
    Ok(())
}

//! Appends an opaque blob to a file. Its bytes come from standard input.
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
    // The number of bytes is not known yet, so the size in the header is filled in at the end.
    let mut blob = writer.opaque(&OpaqueInfo { name: text(name), executable: text(executable) })?;
    io::copy(&mut io::stdin().lock(), &mut blob)?;
    let written = blob.finish()?;
    // Readers find the blob from here on. If the writer were dropped instead, the file would be as it was.
    writer.finish()?;
    println!("{} bytes at {}", written.size, written.offset);
    Ok(())
}

//! Merges files into one, for example an executable and its weights.
//!
//! ```sh
//! cargo run --example merge -- MODEL.popef PART.popef...
//! ```

use std::error::Error;

use popef::{File, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [model, parts @ ..] = arguments.as_slice() else {
        return Err("usage: merge MODEL.popef PART.popef...".into());
    };
    let mut writer = Writer::create(model)?;
    for part in parts {
        // Blobs are copied byte for byte. Two executables of one name are an error, and MODEL.popef stays as it was.
        writer.copy_all(File::open(part)?.blobs())?;
    }
    println!("{} bytes", writer.finish()?.size);
    Ok(())
}

//! Edits a model: renames a tensor, in place or in a copy. Everything else stays the same, byte for byte.
//!
//! ```sh
//! cargo run --example rename_tensor -- MODEL.popef OLD NEW RENAMED.popef
//! ```

use std::error::Error;

use popef::write::BlobCopy;
use popef::{File, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [model, old, new, renamed] = arguments.as_slice() else {
        return Err("usage: rename_tensor MODEL.popef OLD NEW RENAMED.popef".into());
    };
    let file = File::open(model)?;
    let tensor = file.tensor(old).ok_or("there is no such tensor")?.blob().index();
    let mut writer = Writer::create(renamed)?;
    writer.copy_all(file.blobs().map(|blob| match blob.index() == tensor {
        true => BlobCopy::of(&blob).name(new.as_str()),
        false => BlobCopy::of(&blob),
    }))?;
    // On Windows a file cannot be replaced while it is open.
    drop(file);
    println!("{} bytes", writer.finish()?.size);
    Ok(())
}

//! Splits a model's weights into a file of their own, so that several models, or versions of one, can share them.
//! Both files together are the model again: links between blobs cross files.
//!
//! ```sh
//! cargo run --example split_weights -- MODEL.popef REST.popef WEIGHTS.popef
//! ```

use std::error::Error;

use popef::types::BlobType;
use popef::{File, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [model, rest, weights] = arguments.as_slice() else {
        return Err("usage: split_weights MODEL.popef REST.popef WEIGHTS.popef".into());
    };
    let model = File::open(model)?;
    let mut rest = Writer::create(rest)?;
    let mut weights = Writer::create(weights)?;
    for blob in model.blobs() {
        // Byte for byte, without taking the data through memory where the system can copy it.
        match blob.blob_type() {
            BlobType::DataTensor => weights.copy(blob)?,
            _ => rest.copy(blob)?,
        };
    }
    // The weights first: if that fails, there is no model without them.
    let weights = weights.finish()?;
    let rest = rest.finish()?;
    println!("{} bytes of weights, {} bytes of the rest", weights.size, rest.size);
    Ok(())
}

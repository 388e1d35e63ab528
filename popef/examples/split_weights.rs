//! Splits a model into its weights and the rest, so that several models or versions can share the weights. The two
//! files together are the model, because blobs are linked by name across files.
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
        // Blobs are copied byte for byte, by the system where it can.
        match blob.blob_type() {
            BlobType::DataTensor => weights.copy(blob)?,
            _ => rest.copy(blob)?,
        };
    }
    // The weights come first, so that a failure leaves no model without weights.
    let weights = weights.finish()?;
    let rest = rest.finish()?;
    println!("{} bytes of weights, {} bytes of the rest", weights.size, rest.size);
    Ok(())
}

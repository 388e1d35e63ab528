//! Edits a model: renames a tensor, and the anchors that take their data from it, in place or in a copy. Everything else
//! stays the same, byte for byte.
//!
//! ```sh
//! cargo run --example rename_tensor -- MODEL.popef OLD NEW RENAMED.popef
//! ```

use std::error::Error;

use popef::types::ElementSources;
use popef::write::BlobCopy;
use popef::{Blob, Content, File, Metadata, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [model, old, new, renamed] = arguments.as_slice() else {
        return Err("usage: rename_tensor MODEL.popef OLD NEW RENAMED.popef".into());
    };
    let file = File::open(model)?;
    file.tensor(old).ok_or("there is no such tensor")?;
    let metadata = file.blobs().map(|blob| with_renamed_anchors(&blob, old, new)).collect::<Result<Vec<_>, _>>()?;
    // The anchors stay where they are.
    let same = |metadata: &Option<Metadata>| metadata.as_ref().map(ElementSources::unchanged).unwrap_or_default();
    let sources: Vec<_> = metadata.iter().map(same).collect();
    let mut writer = Writer::create(renamed)?;
    writer.copy_all(file.blobs().zip(&metadata).zip(&sources).map(|((blob, metadata), sources)| {
        match (blob.content(), metadata) {
            (Content::Metadata(_), Some(metadata)) => BlobCopy::of(&blob).info(metadata).sources(sources),
            (Content::Tensor(tensor), _) if tensor.name() == *old => BlobCopy::of(&blob).name(new.as_str()),
            _ => BlobCopy::of(&blob),
        }
    }))?;
    // On Windows a file cannot be replaced while it is open.
    drop(file);
    println!("{} bytes", writer.finish()?.size);
    Ok(())
}

/// The metadata of a blob with other names of its anchors, if that changes any.
fn with_renamed_anchors(blob: &Blob<'_>, old: &str, new: &str) -> Result<Option<Metadata>, popef::Error> {
    let Some(metadata) = blob.as_metadata() else { return Ok(None) };
    let mut metadata = metadata.read()?;
    let mut renamed = false;
    for anchor in metadata.anchors.iter_mut().filter(|anchor| anchor.name == *old) {
        anchor.name = new.to_owned().into();
        renamed = true;
    }
    Ok(renamed.then_some(metadata))
}

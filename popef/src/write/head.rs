//! The head of a blob alone.

use super::problem::impossible;
use crate::error::Error;
use crate::types::{InfoRef, Text};
use crate::wire::NewHead;

/// Returns the header and the info of a blob with `data_len` bytes of data, as a [`Writer`](crate::Writer) writes them.
///
/// Together with the data, these are a whole blob. This is for programs that put files together themselves, or that want to
/// know whether the head of a blob that they read has anything else in it. Nothing is checked except that it can be written.
///
/// ```
/// use popef::write::head;
///
/// let file = popef::File::open("examples/data/split-tensors.popef")?;
/// let tensor = file.tensor("input_parameter").expect("the file has it");
/// let blob = tensor.blob();
/// let written = head(&blob.version(), &tensor.info(), blob.data().len())?;
/// assert_eq!(written, *blob.head_bytes().read()?);
/// # Ok::<(), popef::Error>(())
/// ```
pub fn head<'i>(version: &Text<'_>, info: impl Into<InfoRef<'i>>, data_len: u64) -> Result<Vec<u8>, Error> {
    let mut head = NewHead::default();
    head.lay_out(version, info.into())?;
    head.set_data_len(data_len).map_err(impossible)?;
    Ok(head.bytes().to_vec())
}

//! The head of a blob alone.

use super::problem::impossible;
use crate::error::Error;
use crate::read::{Blob, Content};
use crate::types::{InfoRef, Text};
use crate::wire::NewHead;

/// Returns the header and the info of a blob with `data_len` bytes of data, as a [`Writer`](crate::Writer) writes them.
///
/// Together with the data, these form a whole blob. This is for programs that put files together themselves. It checks
/// only that the values can be written. [`Blob::has_usual_head`] says whether a blob that was read has the head that
/// this would write.
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
    Ok(head.into_bytes())
}

impl Blob<'_> {
    /// Returns whether header and info are the bytes that [`head`] makes of their values.
    ///
    /// They differ if another program laid them out otherwise, if they have fields of a later version of the format, or
    /// if their values cannot be written or read, as for an unknown blob type.
    ///
    /// ```
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// for blob in &file {
    ///     assert!(blob.has_usual_head()?);
    /// }
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn has_usual_head(&self) -> Result<bool, Error> {
        let (version, len) = (self.version(), self.data().len());
        let usual = match self.content() {
            // Its values may take more memory than the message.
            Content::Metadata(metadata) => {
                let own = self.header_bytes().read()?;
                let header = NewHead::header_alone(&version, self.blob_type(), self.size());
                return Ok(header.is_ok_and(|header| *own == *header) && metadata.is_encoded()?);
            }
            Content::Executable(executable) => head(&version, &executable.info(), len),
            Content::Tensor(tensor) => head(&version, &tensor.info(), len),
            Content::Feed(feed) => head(&version, &feed.info(), len),
            Content::Opaque(opaque) => head(&version, &opaque.info(), len),
            Content::Unknown => return Ok(false),
        };
        let own = self.head_bytes().read()?;
        Ok(usual.is_ok_and(|usual| *own == *usual))
    }
}

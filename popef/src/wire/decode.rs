//! The general reader of header and info messages: any form that Cap'n Proto allows, and errors for all others.

use super::fields::{Fields, number};
use super::message::Frame;
use super::metadata;
use super::parts::{HeaderFields, InfoFields, InfoMessage, Span};
use super::popef_capnp as schema;
use super::problem::Message;
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::BlobType;

/// Reads a header message. `bytes` are exactly the message.
pub(super) fn header(bytes: &[u8], frame: Frame, limits: &Limits) -> Result<HeaderFields, Problem> {
    let fields = Fields { message: Message::Header, limits };
    let reader = frame.reader(bytes, limits);
    let root = fields.root::<schema::blob_header::Owned, _>(&reader)?;
    Ok(HeaderFields {
        size: root.get_size(),
        blob_type: BlobType::from_number(number(root.get_type())),
        version: Span::of(fields.text(root.get_version(), "version")?, bytes),
    })
}

/// Reads an info message.
pub(super) fn info(message: InfoMessage<'_>, limits: &Limits) -> Result<InfoFields, Problem> {
    let fields = Fields { message: Message::Info, limits };
    let reader = message.frame.reader(message.bytes, limits);
    let text = |text, field| Ok::<_, Problem>(Span::of(fields.text(text, field)?, message.blob));
    Ok(match message.blob_type {
        BlobType::PoplarExecutable => {
            let root = fields.root::<schema::poplar_executable::Owned, _>(&reader)?;
            InfoFields::executable(text(root.get_name(), "name")?, root.get_uncompressed_size())
        }
        BlobType::Metadata => {
            let root = fields.root::<schema::metadata::Owned, _>(&reader)?;
            let value_bytes = metadata::check(root, message.frame, fields)?;
            InfoFields::Metadata { executable: text(root.get_executable(), "executable")?, value_bytes }
        }
        BlobType::DataTensor => {
            let root = fields.root::<schema::tensor_data_info::Owned, _>(&reader)?;
            let info = fields.tensor_info(root.get_tensor_info())?;
            InfoFields::Tensor {
                name: text(root.get_name(), "name")?,
                shape: Span::of(fields.numbers(info.shape)?, message.blob),
                data_type: info.data_type,
            }
        }
        BlobType::DataFeed => {
            let root = fields.root::<schema::feed_data_info::Owned, _>(&reader)?;
            let info = fields.tensor_info(root.get_tensor_info())?;
            InfoFields::Feed {
                name: text(root.get_name(), "name")?,
                shape: Span::of(fields.numbers(info.shape)?, message.blob),
                data_type: info.data_type,
                num_tensors: root.get_num_tensors(),
            }
        }
        BlobType::Opaque => {
            let root = fields.root::<schema::opaque::Owned, _>(&reader)?;
            InfoFields::Opaque {
                name: text(root.get_name(), "name")?,
                executable: text(root.get_executable(), "executable")?,
            }
        }
        BlobType::Other(number) => InfoFields::Unknown { number },
    })
}

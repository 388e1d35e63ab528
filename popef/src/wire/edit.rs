//! Changes fields of a message that was read. All other fields stay, also those of a later version of the format.

use capnp::message::{Builder, HeapAllocator};
use capnp::{serialize, text};

use super::Stop;
use super::edit_lists::set_lists;
use super::fields::Fields;
use super::lists::Lists;
use super::message::Frame;
use super::metadata::read_metadata;
use super::parts::NOT_COMPRESSED;
use super::popef_capnp as schema;
use super::problem::Message;
use super::set::{bytes_of, refused, set_plain_fields, set_program_flow, set_tensor_info};
use super::words::Words;
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::{
    BlobType, ElementSources, ExecutableInfo, FeedDataInfo, InfoRef, Metadata, OpaqueInfo, TensorDataInfo, Text,
};

/// The memory reserved before an edit, as a multiple of the message's length.
const MOST_GROWTH: usize = 8;

/// Changes the root of a message. The message is copied twice, because a field that is set again leaves a hole. The lists of
/// Metadata are copied once more.
macro_rules! edited {
    ($message:expr, $bytes:expr, $limits:expr, $root:ident, |$to:ident| $change:expr) => {{
        let fields = Fields { message: $message, limits: $limits };
        let frame = Frame::parse($bytes, $message).map_err(Stop::into_problem)?;
        let reader = frame.reader($bytes, $limits);
        // The builders of `capnp` abort if there is no memory.
        let needed = $bytes.len().saturating_mul(MOST_GROWTH);
        Problem::in_memory(needed, Vec::<u8>::new().try_reserve_exact(needed))?;
        let mut changed = Builder::new_default();
        fields.get(changed.set_root(fields.root::<schema::$root::Owned, _>(&reader)?), "its root")?;
        let mut $to = fields.get(changed.get_root::<schema::$root::Builder<'_>>(), "its root")?;
        $change;
        let root = fields.get(changed.get_root_as_reader::<schema::$root::Reader<'_>>(), "its root")?;
        let words = fields.get(root.total_size(), "its root")?.word_count;
        let words = usize::try_from(words).unwrap_or(usize::MAX).saturating_add(1);
        let mut whole = Builder::new(HeapAllocator::new().first_segment_words(Words(words).accepted($message)?.0));
        fields.get(whole.set_root(root), "its root")?;
        drop(changed);
        Ok(serialize::write_message_to_words(&whole))
    }};
}

/// Returns a header message in the form in which its size can be filled in, and with another version if one is given.
pub(super) fn header(bytes: &[u8], version: Option<&Text<'_>>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Header, bytes, limits, blob_header, |to| {
        // This also makes room for the size if the message did not contain it.
        to.set_size(0);
        if let Some(version) = version {
            to.set_version(text::Reader(version.as_bytes()));
        }
    })
}

/// Returns an info message with another name. If blobs of its type have no name, the message stays as it is.
pub(super) fn name(bytes: &[u8], blob_type: BlobType, name: &Text<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    let name = text::Reader(name.as_bytes());
    match blob_type {
        BlobType::PoplarExecutable => executable_name(bytes, name, limits),
        BlobType::DataTensor => tensor_name(bytes, name, limits),
        BlobType::DataFeed => feed_name(bytes, name, limits),
        BlobType::Opaque => opaque_name(bytes, name, limits),
        BlobType::Metadata | BlobType::Other(_) => Ok(bytes.to_vec()),
    }
}

/// Returns the info message of an executable in the form in which its uncompressed size can be filled in.
pub(super) fn executable_size(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, poplar_executable, |to| to.set_uncompressed_size(0))
}

fn executable_name(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, poplar_executable, |to| to.set_name(name))
}

fn tensor_name(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, tensor_data_info, |to| to.set_name(name))
}

fn feed_name(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, feed_data_info, |to| to.set_name(name))
}

fn opaque_name(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, opaque, |to| to.set_name(name))
}

/// Returns an info message with the fields of another info. Each element of Metadata's lists keeps the unknown fields
/// of the element that it was made from, by default the one of the same name.
pub(super) fn info(
    bytes: &[u8],
    info: InfoRef<'_>,
    sources: Option<&ElementSources>,
    limits: &Limits,
) -> Result<Vec<u8>, Problem> {
    match info {
        InfoRef::Executable(info) => executable(bytes, info, limits),
        InfoRef::Tensor(info) => tensor(bytes, info, limits),
        InfoRef::Feed(info) => feed(bytes, info, limits),
        InfoRef::Opaque(info) => opaque(bytes, info, limits),
        InfoRef::Metadata(info) => match sources {
            Some(sources) => metadata(bytes, info, sources, limits),
            None => {
                let old = read_metadata(bytes, limits)?;
                metadata(bytes, info, &ElementSources::by_name(&old, info), limits)
            }
        },
    }
}

fn executable(bytes: &[u8], info: &ExecutableInfo, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, poplar_executable, |to| {
        to.set_name(bytes_of(&info.name));
        to.set_uncompressed_size(info.uncompressed_size.unwrap_or(NOT_COMPRESSED));
    })
}

fn tensor(bytes: &[u8], info: &TensorDataInfo, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, tensor_data_info, |to| {
        to.set_name(bytes_of(&info.name));
        set_tensor_info(to.get_tensor_info().map_err(refused("tensorInfo"))?, &info.tensor_info)?;
    })
}

fn feed(bytes: &[u8], info: &FeedDataInfo, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, feed_data_info, |to| {
        to.set_name(bytes_of(&info.name));
        set_tensor_info(to.reborrow().get_tensor_info().map_err(refused("tensorInfo"))?, &info.tensor_info)?;
        to.set_num_tensors(info.num_tensors);
    })
}

fn opaque(bytes: &[u8], info: &OpaqueInfo, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, opaque, |to| {
        to.set_name(bytes_of(&info.name));
        to.set_executable(bytes_of(&info.executable));
    })
}

fn metadata(bytes: &[u8], info: &Metadata, sources: &ElementSources, limits: &Limits) -> Result<Vec<u8>, Problem> {
    Words::of_metadata(info, &Lists::of(info))?.accepted(Message::Info)?;
    // Reading the elements again must not count towards the limit of the first time.
    let frame = Frame::parse(bytes, Message::Info).map_err(Stop::into_problem)?;
    let reader = frame.reader(bytes, limits);
    let fields = Fields { message: Message::Info, limits };
    let old = fields.root::<schema::metadata::Owned, _>(&reader)?;
    edited!(Message::Info, bytes, limits, metadata, |to| {
        set_plain_fields(to.reborrow(), info);
        set_program_flow(to.reborrow(), &info.program_flow)?;
        set_lists(to, old, info, sources, fields)?;
    })
}

//! Messages that were read, with one field changed. Whatever else is in them stays, also what a later version of the
//! format put there.

use capnp::message::{Builder, HeapAllocator};
use capnp::{serialize, text};

use super::Stop;
use super::fields::Fields;
use super::message::Frame;
use super::popef_capnp as schema;
use super::problem::Message;
use super::words::Words;
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::{BlobType, Text};

/// How many times as much memory as the message has bytes is made sure of.
const MOST_GROWTH: usize = 4;

/// The message with a change made to its root. It is copied twice: a field that is set anew leaves a hole where it was.
macro_rules! edited {
    ($message:expr, $bytes:expr, $limits:expr, $root:ident, |$to:ident| $change:expr) => {{
        let fields = Fields { message: $message, limits: $limits };
        let frame = Frame::parse($bytes, $message).map_err(Stop::into_problem)?;
        let reader = frame.reader($bytes, $limits);
        // The library's builders do not ask whether there is so much memory.
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
        Ok(serialize::write_message_to_words(&whole))
    }};
}

/// A header message, with another version if one is given, in the form in which its size can be filled in.
pub(super) fn header(bytes: &[u8], version: Option<&Text<'_>>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Header, bytes, limits, blob_header, |to| {
        // Also makes room for it, where it was left out.
        to.set_size(0);
        if let Some(version) = version {
            to.set_version(text::Reader(version.as_bytes()));
        }
    })
}

/// An info message, with another name. Blobs without a name keep theirs.
pub(super) fn info(bytes: &[u8], blob_type: BlobType, name: &Text<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    let name = text::Reader(name.as_bytes());
    match blob_type {
        BlobType::PoplarExecutable => executable(bytes, name, limits),
        BlobType::DataTensor => tensor(bytes, name, limits),
        BlobType::DataFeed => feed(bytes, name, limits),
        BlobType::Opaque => opaque(bytes, name, limits),
        BlobType::Metadata | BlobType::Other(_) => Ok(bytes.to_vec()),
    }
}

fn executable(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, poplar_executable, |to| to.set_name(name))
}

fn tensor(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, tensor_data_info, |to| to.set_name(name))
}

fn feed(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, feed_data_info, |to| to.set_name(name))
}

fn opaque(bytes: &[u8], name: text::Reader<'_>, limits: &Limits) -> Result<Vec<u8>, Problem> {
    edited!(Message::Info, bytes, limits, opaque, |to| to.set_name(name))
}

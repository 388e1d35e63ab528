//! The payloads of opaque blobs.

use popef::error::ErrorCode;
use popef::read::OpaqueBlob;
use popef::types::{Diagnostic, Text};
use popef::{Error, File};
use popef_payload::poptorch::PoptorchData;
use popef_payload::{Framework, Payload};
use serde::de::IgnoredAny;

use super::options::Options;

/// An opaque blob's data, read.
pub(crate) struct PayloadView<'f> {
    /// The framework that the blob belongs to.
    pub(crate) framework: Option<Framework>,
    pub(crate) value: Result<Payload<'f>, Diagnostic>,
    /// Whether the file itself cannot be read. Data in an unknown form is not a failure, because a blob belongs to a framework
    /// only by its name.
    is_failure: bool,
}

/// The maximum length of a payload that is read by default. Most have some kilobytes; those with weights inside can have
/// gigabytes.
const MODERATE: u64 = 1 << 20;

impl<'f> PayloadView<'f> {
    /// Reads the data. If it was not requested, it is read only if that is cheap, and a failure gives `None`.
    pub(crate) fn of(opaque: &OpaqueBlob<'f>, options: &Options) -> Option<Self> {
        let (framework, asked_for) = (Framework::of_blob(opaque), options.inside);
        if !asked_for && (framework.is_none() || opaque.data().len() > MODERATE) {
            return None;
        }
        let value = Payload::read(opaque);
        if value.is_err() && !asked_for {
            return None;
        }
        let is_failure = value.as_ref().is_err_and(|error| !is_of_payload(error));
        Some(PayloadView { framework, value: value.map_err(Diagnostic::from), is_failure })
    }

    /// Reads the bytes before the first blob, if they were requested: a `.poptorch` file of SDK 2.5 begins with PopTorch's
    /// pickle.
    pub(crate) fn before(file: &'f File, options: &Options) -> Option<Self> {
        if !options.inside || file.prefix().is_empty() {
            return None;
        }
        let value = PoptorchData::read(&file.prefix());
        let is_failure = value.as_ref().is_err_and(|error| !is_of_payload(error));
        let value = value.map(|data| Payload::Poptorch(Box::new(data))).map_err(Diagnostic::from);
        Some(PayloadView { framework: Some(Framework::Poptorch), value, is_failure })
    }

    /// Why the data could not be read.
    pub(crate) fn failure(&self) -> Option<&Diagnostic> {
        self.value.as_ref().err().filter(|_| self.is_failure)
    }
}

fn is_of_payload(error: &Error) -> bool {
    use ErrorCode::{PayloadCut, PayloadMalformed, PayloadNotBuilt, PayloadTooLarge};

    matches!(error.code(), PayloadCut | PayloadMalformed | PayloadNotBuilt | PayloadTooLarge)
}

/// Whether a text is JSON: an object or an array. A number is JSON too, but nobody means it as such.
pub(crate) fn is_json(text: &Text<'_>) -> bool {
    let bytes = text.as_bytes().trim_ascii_start();
    matches!(bytes.first(), Some(b'{' | b'[')) && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

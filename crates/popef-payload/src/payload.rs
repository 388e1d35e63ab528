//! Reads the data of an opaque blob. Its name or its first bytes say what it is.

use super::Framework;
use super::problem::OpaqueProblem;
use popef::error::Error;
use popef::read::OpaqueBlob;
use popef::types::Text;

/// The data of an opaque blob.
///
/// With the feature `serde`, it serialises as an object. The key `kind` says what it is, and `bytes` how long the data
/// is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// PopART's message.
    #[cfg(feature = "popart")]
    Popart(Box<super::popart::Executable>),
    /// TensorFlow's message.
    #[cfg(feature = "tensorflow")]
    Tensorflow(super::tensorflow::Executable<'a>),
    /// PopTorch's data. [`fault`](super::poptorch::PoptorchData::fault) has its damage.
    #[cfg(feature = "poptorch")]
    Poptorch(Box<super::poptorch::PoptorchData>),
    /// Text in UTF-8, without control characters other than tabs and line ends. It can be JSON. It does not belong to a
    /// framework: PopRT lets its users write any text into opaque blobs.
    Text(Text<'a>),
    /// Bytes of unknown meaning. The number is their length.
    Unknown(u64),
}

impl<'a> Payload<'a> {
    /// Reads the data of a blob as what the framework writes that the blob belongs to. The data of other blobs is recognised as
    /// text.
    ///
    /// Reads all data of the blob into memory, unless it is there already or its first bytes show that it is unknown.
    /// Fails if the data is damaged, or if this build leaves out the reader for the framework
    /// ([`PayloadNotBuilt`](popef::error::ErrorCode::PayloadNotBuilt)).
    ///
    /// ```
    /// use popef_payload::Payload;
    /// use popef::types::OpaqueInfo;
    ///
    /// let info = OpaqueInfo { name: "config".into(), executable: "model".into() };
    /// let mut writer = popef::Writer::stream(Vec::new());
    /// writer.write_opaque(&info, br#"{"batch": 4}"#)?;
    ///
    /// let file = popef::File::from_bytes(writer.into_inner()?)?;
    /// let opaque = file.opaque("config").expect("it was just written");
    /// assert!(matches!(Payload::read(&opaque)?, Payload::Text(text) if text == r#"{"batch": 4}"#));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn read(opaque: &OpaqueBlob<'a>) -> Result<Payload<'a>, Error> {
        match Framework::of_name(&opaque.name()) {
            #[cfg(feature = "popart")]
            Some(Framework::Popart) => Ok(Payload::Popart(Box::new(super::popart::Executable::read(opaque)?))),
            #[cfg(feature = "tensorflow")]
            Some(Framework::Tensorflow) => Ok(Payload::Tensorflow(super::tensorflow::Executable::read(opaque)?)),
            #[cfg(feature = "poptorch")]
            Some(Framework::Poptorch) => {
                Ok(Payload::Poptorch(Box::new(super::poptorch::PoptorchData::read_blob(opaque)?)))
            }
            #[allow(unreachable_patterns, reason = "with all features, no framework is left")]
            Some(framework) => {
                Err(opaque.blob().error(OpaqueProblem::NotBuilt { framework }, opaque.blob().data_offset()))
            }
            None => unowned(opaque),
        }
    }
}

/// Recognises data that belongs to no framework.
fn unowned<'a>(opaque: &OpaqueBlob<'a>) -> Result<Payload<'a>, Error> {
    let unknown = Payload::Unknown(opaque.data().len());
    let mut start = [0; 4096];
    if !may_begin_text(opaque.data().read_up_to(0, &mut start)?) {
        return Ok(unknown);
    }
    let bytes = opaque.data().read()?;
    Ok(match std::str::from_utf8(&bytes) {
        Ok(text) if is_text(text) => Payload::Text(Text::from(bytes)),
        _ => unknown,
    })
}

/// Whether the bytes are text, up to a character that may be cut off at their end.
fn may_begin_text(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default()
        }
        Err(_) => return false,
    };
    is_text(valid)
}

fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|letter| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r'))
}

#[cfg(feature = "serde")]
impl serde::Serialize for Payload<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;

        match self {
            #[cfg(feature = "popart")]
            Payload::Popart(executable) => executable.serialize(serializer),
            #[cfg(feature = "tensorflow")]
            Payload::Tensorflow(executable) => executable.serialize(serializer),
            #[cfg(feature = "poptorch")]
            Payload::Poptorch(data) => data.serialize(serializer),
            Payload::Text(text) => {
                let mut object = serializer.serialize_struct("Payload", 3)?;
                object.serialize_field("kind", "text")?;
                object.serialize_field("bytes", &text.as_bytes().len())?;
                object.serialize_field("text", text)?;
                object.end()
            }
            Payload::Unknown(len) => {
                let mut object = serializer.serialize_struct("Payload", 2)?;
                object.serialize_field("kind", "unknown")?;
                object.serialize_field("bytes", len)?;
                object.end()
            }
        }
    }
}

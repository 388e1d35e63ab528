use std::fmt;

use popef::types::Text;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A name from a file, in a report.
///
/// It serialises as an object to be flattened into another: `name`, and if that is not UTF-8, `nameBytes` with all of it in
/// hex.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct Item {
///     #[serde(flatten)]
///     name: popef_ops::Name,
/// }
/// let item = Item { name: b"caf\xe9".as_slice().into() };
/// assert_eq!(serde_json::to_string(&item)?, r#"{"name":"caf�","nameBytes":"636166e9"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Text<'static>);

impl Name {
    /// The name as it is in the file.
    pub fn text(&self) -> &Text<'static> {
        &self.0
    }
}

impl<'a, T: Into<Text<'a>>> From<T> for Name {
    fn from(name: T) -> Self {
        Name(name.into().into_owned())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.0.to_str().is_err().then(|| Hex(self.0.as_bytes()));
        let mut object = serializer.serialize_struct("Name", if bytes.is_some() { 2 } else { 1 })?;
        object.serialize_field("name", &self.0.to_string_lossy())?;
        if let Some(bytes) = bytes {
            object.serialize_field("nameBytes", &bytes)?;
        }
        object.end()
    }
}

struct Hex<'b>(&'b [u8]);

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

use std::fmt;
use std::path::{Path, PathBuf};

use popef::types::Text;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::hex::{Hex, unhex};

/// A text in a report under one key, and under another one in hex if it is not UTF-8.
macro_rules! keyed_text {
    ($(#[$meta:meta])* $name:ident = $key:literal, $bytes_key:literal) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Text<'static>);

        impl $name {
            /// The text, with all of its bytes.
            pub fn text(&self) -> &Text<'static> {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let bytes = self.0.to_str().is_err().then(|| Hex(self.0.as_bytes()));
                let mut object = serializer.serialize_struct(stringify!($name), if bytes.is_some() { 2 } else { 1 })?;
                object.serialize_field($key, &self.0.to_string_lossy())?;
                if let Some(bytes) = bytes {
                    object.serialize_field($bytes_key, &bytes)?;
                }
                object.end()
            }
        }
    };
}

keyed_text! {
    /// A name from a file, in a report.
    ///
    /// It serialises as an object to be flattened into another: `name`, and if that is not UTF-8, `nameBytes` with all of
    /// it in hex.
    ///
    /// ```
    /// #[derive(serde::Serialize)]
    /// struct Item {
    ///     #[serde(flatten)]
    ///     name: popef_ops::Name,
    /// }
    /// let item = Item { name: b"caf\xe9".as_slice().into() };
    /// assert_eq!(serde_json::to_string(&item)?, "{\"name\":\"caf\u{fffd}\",\"nameBytes\":\"636166e9\"}");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    Name = "name", "nameBytes"
}

keyed_text! {
    /// The path of a file, in a report. It serialises as `path`, and `pathBytes` where needed, like a [`Name`].
    FilePath = "path", "pathBytes"
}

keyed_text! {
    /// The path of a containing file, in a report. It serialises as `file`, and `fileBytes` where needed, like a
    /// [`Name`].
    InFile = "file", "fileBytes"
}

keyed_text! {
    /// The path of a file or folder made from another one, in a report. It serialises as `output`, and `outputBytes`
    /// where needed, like a [`Name`].
    OutputPath = "output", "outputBytes"
}

/// A text from what it serialises as. `None` if its bytes are not hex.
fn text_of_keys(text: String, bytes: Option<&str>) -> Option<Text<'static>> {
    Some(match bytes {
        None => text.into(),
        Some(hex) => unhex(hex)?.into(),
    })
}

impl Name {
    pub(crate) fn of_keys(text: String, bytes: Option<&str>) -> Option<Self> {
        text_of_keys(text, bytes).map(Name)
    }
}

impl<'a, T: Into<Text<'a>>> From<T> for Name {
    fn from(name: T) -> Self {
        Name(name.into().into_owned())
    }
}

impl From<&Path> for FilePath {
    fn from(path: &Path) -> Self {
        FilePath(path_text(path))
    }
}

impl From<&Path> for InFile {
    fn from(path: &Path) -> Self {
        InFile(path_text(path))
    }
}

impl From<&Path> for OutputPath {
    fn from(path: &Path) -> Self {
        OutputPath(path_text(path))
    }
}

fn path_text(path: &Path) -> Text<'static> {
    path.as_os_str().as_encoded_bytes().to_owned().into()
}

impl FilePath {
    pub(crate) fn of_keys(text: String, bytes: Option<&str>) -> Option<Self> {
        text_of_keys(text, bytes).map(FilePath)
    }

    /// The path. `None` if this system has no such paths.
    pub fn to_path(&self) -> Option<PathBuf> {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            Some(PathBuf::from(std::ffi::OsStr::from_bytes(self.0.as_bytes())))
        }
        #[cfg(not(unix))]
        self.0.to_str().ok().map(PathBuf::from)
    }
}

impl From<&[u8]> for FilePath {
    fn from(path: &[u8]) -> Self {
        FilePath(path.to_owned().into())
    }
}

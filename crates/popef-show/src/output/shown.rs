//! Text that may be shown: the program's own words, numbers, and what the escaper made of text from files.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use std::ops::Deref;

use popef::types::Text;
use serde::{Serialize, Serializer};

use super::escape::{escape, escape_rest};
use super::width::{shorten, width};

/// Makes a [`Shown`] like `format!`, of pieces that may be shown. The pieces follow the format.
// `concat!` leaves the format without names of variables, which would go around the check.
#[macro_export]
macro_rules! shown {
    ($format:literal $(, $piece:expr)* $(,)?) => {
        $crate::Shown::of_checked(format_args!(concat!($format) $(, $crate::Checked(&$piece))*))
    };
}

/// Text that may be shown. It has the program's own words, numbers, and escaped text, and nothing makes it of a `String` without
/// escaping it.
///
/// ```
/// use popef_show::{Shown, shown};
///
/// let name = Shown::escaped("a\u{1b}b");
/// assert_eq!(&*shown!("{} of {}", 2, name), "2 of a\\u{1b}b");
/// ```
///
/// Text from elsewhere does not compile:
///
/// ```compile_fail,E0277
/// popef_show::shown!("{}", String::from("a\u{1b}b"));
/// ```
///
/// ```compile_fail
/// let name = String::from("a\u{1b}b");
/// popef_show::shown!("{name}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shown<'t>(Cow<'t, str>);

impl<'t> Shown<'t> {
    /// The program's own words.
    pub const fn own(words: &'static str) -> Self {
        Shown(Cow::Borrowed(words))
    }

    /// Text from a file, or from anywhere else.
    pub fn escaped(text: &'t (impl AsRef<[u8]> + ?Sized)) -> Self {
        match std::str::from_utf8(text.as_ref()) {
            Ok(text) => Shown(escape(text)),
            Err(_) => Shown(escape(&String::from_utf8_lossy(text.as_ref())).into_owned().into()),
        }
    }

    /// A message in which names are escaped already: its backslashes stay as they are.
    pub fn message(text: &str) -> Shown<'static> {
        Shown(escape_rest(text).into())
    }

    /// The text in quotes. Quotes inside it are escaped.
    #[cfg(feature = "reports")]
    pub(crate) fn quoted(self) -> Shown<'static> {
        shown!("\"{}\"", self.with_quotes_escaped())
    }

    /// The text for a place between quotes.
    pub(super) fn with_quotes_escaped(self) -> Shown<'static> {
        Shown(self.0.replace('"', "\\\"").into())
    }

    /// The text, no wider than `most`.
    pub fn shortened(&self, most: usize) -> Shown<'_> {
        Shown(shorten(self, most))
    }

    /// The same text, borrowed.
    pub(crate) fn by_ref(&self) -> Shown<'_> {
        Shown(Cow::Borrowed(&self.0))
    }

    /// The first letters of the text, and then `more`, if there are others.
    #[cfg(feature = "reports")]
    pub(crate) fn cut(&self, most: usize, more: &'static str) -> Shown<'static> {
        match self.0.char_indices().nth(most) {
            Some((end, _)) => Shown(format!("{}{more}", self.0.get(..end).unwrap_or_default()).into()),
            None => self.clone().into_owned(),
        }
    }

    /// The pieces between spaces.
    pub(super) fn split_words(&self) -> Vec<Shown<'static>> {
        self.0.split(' ').map(|word| Shown(word.to_owned().into())).collect()
    }

    /// The text, without what it was made of.
    pub fn into_owned(self) -> Shown<'static> {
        Shown(self.0.into_owned().into())
    }

    /// Pieces with words between them.
    pub(crate) fn joined(pieces: impl IntoIterator<Item: Show>, between: &'static str) -> Shown<'static> {
        let mut text = Shown::default();
        for (nth, piece) in pieces.into_iter().enumerate() {
            text.push(if nth == 0 { "" } else { between }).push(piece);
        }
        text
    }

    /// Adds a piece.
    #[inline]
    pub(crate) fn push(&mut self, piece: impl Show) -> &mut Self {
        let text = self.0.to_mut();
        match piece.words() {
            Some(words) => text.push_str(words),
            // Writing to a string cannot fail.
            None => _ = write!(text, "{piece}"),
        }
        self
    }

    pub(crate) fn push_number(&mut self, number: impl itoa::Integer) -> &mut Self {
        self.0.to_mut().push_str(itoa::Buffer::new().format(number));
        self
    }

    pub(crate) fn push_spaces(&mut self, count: usize) -> &mut Self {
        self.0.to_mut().extend(std::iter::repeat_n(' ', count));
        self
    }

    /// Ends a line that began after so many bytes. Returns how wide it is.
    pub(crate) fn end_line(&mut self, start: usize) -> usize {
        let width = width(self.0.get(start..).unwrap_or_default());
        self.0.to_mut().push('\n');
        width
    }

    /// The lines, each of which was ended.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Shown<'_>> {
        self.0.split_terminator('\n').map(|line| Shown(line.into()))
    }

    #[doc(hidden)]
    pub fn of_checked(pieces: fmt::Arguments<'_>) -> Shown<'static> {
        Shown(pieces.as_str().map_or_else(|| pieces.to_string().into(), Cow::Borrowed))
    }
}

impl Deref for Shown<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Escapes text from files.
macro_rules! escapes {
    ($($type:ty $(, $as:ident)?;)+) => {
        $(
            /// Escapes the text.
            impl<'t> From<&'t $type> for Shown<'t> {
                fn from(text: &'t $type) -> Self {
                    Shown::escaped(text$(.$as())?)
                }
            }
        )+
    };
}

escapes!(str; String; Text<'_>;);
#[cfg(feature = "reports")]
escapes!(popef_ops::Name, text; popef_ops::FilePath, text;);

/// Escapes the text.
impl From<String> for Shown<'static> {
    fn from(text: String) -> Self {
        let escaped = match escape(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(escaped) => Some(escaped),
        };
        Shown(escaped.unwrap_or(text).into())
    }
}

/// Escapes the text.
impl<'t> From<Cow<'t, str>> for Shown<'t> {
    fn from(text: Cow<'t, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Shown::escaped(text),
            Cow::Owned(text) => text.into(),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What may be shown as it is: words that were written in the program, numbers, values with names of the program, and [`Shown`].
pub trait Show: sealed::Sealed + Display {
    /// The words. `None` if it has no letter with a meaning in any language.
    #[doc(hidden)]
    fn words(&self) -> Option<&str> {
        None
    }
}

impl sealed::Sealed for &'static str {}
impl Show for &'static str {
    #[inline]
    fn words(&self) -> Option<&str> {
        Some(self)
    }
}

impl sealed::Sealed for Shown<'_> {}
impl Show for Shown<'_> {
    #[inline]
    fn words(&self) -> Option<&str> {
        Some(self)
    }
}

impl<T: Show> sealed::Sealed for &T {}
impl<T: Show> Show for &T {
    #[inline]
    fn words(&self) -> Option<&str> {
        (**self).words()
    }
}

/// Types that display themselves with numbers and names of the program alone.
macro_rules! shows {
    ($($type:ty;)+) => {
        $(
            impl sealed::Sealed for $type {}
            impl Show for $type {}

            impl From<$type> for Shown<'static> {
                fn from(value: $type) -> Self {
                    shown!("{}", value)
                }
            }
        )+
    };
}

shows!(u8; u16; u32; u64; u128; usize; i8; i16; i32; i64; isize; f32; f64; popef::DataType; popef::error::Location;);
shows!(popef::error::ErrorKind; popef::read::Value; popef::types::TensorType; popef_check::Severity;);
#[cfg(feature = "reports")]
shows!(popef::types::Compression; popef::write::Packing; popef_ops::diff::Amount; popef_ops::diff::Element;);
#[cfg(feature = "reports")]
shows!(popef_ops::hash::Digest; poplar_inspect::profile::Number;);
#[cfg(feature = "graphs")]
shows!(poplar_graph::Span;);

/// A piece of [`shown!`](crate::shown), which may be shown.
#[doc(hidden)]
#[derive(Debug)]
pub struct Checked<'p, P>(pub &'p P);

impl<P: Show> Display for Checked<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self.0, f)
    }
}

impl<P: Show + fmt::LowerHex> fmt::LowerHex for Checked<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(self.0, f)
    }
}

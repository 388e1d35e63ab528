//! The code that all JSON shares: objects, documents, lines, and lists that are written element by element, so that they may be
//! long.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use popef::types::{Text, is_hidden};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::ser::Formatter;

use super::escape::is_plain;
use super::out::Out;

/// An object of these members. They have the attributes of serde's derive, so that `#[serde(flatten)]` adds the members of another
/// object, or of an `Option` of one. Keys are in camel case.
macro_rules! object {
    ($($(#[$attribute:meta])* $key:ident $(: $value:expr)?),+ $(,)?) => {{
        #[allow(non_camel_case_types, reason = "each member has a type parameter of its name")]
        mod object {
            #[derive(serde::Serialize)]
            #[serde(rename_all = "camelCase")]
            pub(super) struct Object<$($key),+> { $($(#[$attribute])* pub(super) $key: $key),+ }
        }

        object::Object { $($key $(: $value)?),+ }
    }};
}

pub(crate) use object;

/// A text under its key, to be flattened into an object. One that is not UTF-8 has replacement characters there, and its bytes in hex
/// beside it.
pub(crate) struct Keyed<'t>(pub(crate) &'static str, pub(crate) Text<'t>);

impl<'t> Keyed<'t> {
    pub(crate) fn path(key: &'static str, path: &'t Path) -> Self {
        Keyed(key, Text::from(path.as_os_str().as_encoded_bytes()))
    }
}

impl Serialize for Keyed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Keyed(key, text) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(key, &text.to_string_lossy())?;
        if text.to_str().is_err() {
            map.serialize_entry(&format!("{key}Bytes"), &hex(text.as_bytes()))?;
        }
        map.end()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A value that is made while it is written.
pub(crate) struct Lazy<F>(pub(crate) F);

impl<F: Fn() -> T, T: Serialize> Serialize for Lazy<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0)().serialize(serializer)
    }
}

/// The requests and bytes that reading over the network has cost, to be flattened into an object.
pub(crate) fn network(cost: Option<(u64, u64)>) -> Option<impl Serialize> {
    cost.map(|(requests, bytes)| object! { network: object! { requests, bytes } })
}

/// The cost of files on other machines for the whole program, computed when it is written.
///
/// It serialises as an object to be flattened into another: `network`, if there were such files.
#[derive(Clone, Copy, Debug)]
pub struct Network(fn() -> Option<(u64, u64)>);

impl Network {
    /// For a program that reads no files from other machines.
    pub const NONE: Network = Network(|| None);

    /// `cost` says how many requests were sent and how many bytes were received up to now.
    pub const fn new(cost: fn() -> Option<(u64, u64)>) -> Self {
        Network(cost)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object! { #[serde(flatten)] network: network((self.0)()) }.serialize(serializer)
    }
}

/// Compact JSON that is safe to show on a terminal. JSON itself allows most control characters and all direction overrides in a
/// text; here they are escaped, as is a `#` after another one, which may begin a command to a runner of CI. A parser gets the same
/// text.
struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_safe(writer, fragment)
    }
}

/// Writes a part of a text in JSON, or a whole line of JSON.
fn write_safe<W: ?Sized + Write>(writer: &mut W, text: &str) -> io::Result<()> {
    // Keys and most names are short and plain.
    if is_plain(text.as_bytes()) {
        return writer.write_all(text.as_bytes());
    }
    let mut before = ' ';
    let mut is_odd = |letter| {
        let last = std::mem::replace(&mut before, letter);
        is_hidden(letter) || (letter == '#' && last == '#')
    };
    let mut rest = text;
    while let Some((at, letter)) = rest.char_indices().find(|&(_, letter)| is_odd(letter)) {
        let (before, from) = rest.split_at(at);
        writer.write_all(before.as_bytes())?;
        for unit in letter.encode_utf16(&mut [0; 2]) {
            write!(writer, "\\u{unit:04x}")?;
        }
        rest = from.get(letter.len_utf8()..).unwrap_or_default();
    }
    writer.write_all(rest.as_bytes())
}

/// Writes a value.
pub(crate) fn value(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut serde_json::Serializer::with_formatter(out.raw(), Safe))?)
}

/// Writes a value as JSON on a line of its own.
pub fn line(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    self::value(out, value)?;
    out.end_line()
}

/// Writes a value as JSON on several lines, with a member or an element on each.
pub fn lines(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    // Line feeds in texts are escaped, so each one is between tokens.
    for line in serde_json::to_string_pretty(value)?.lines() {
        write_safe(&mut out.raw(), line)?;
        out.end_line()?;
    }
    Ok(())
}

/// Writes a report as a JSON document. Its `schemaVersion` grows if something in it is renamed or removed.
pub fn document(out: &mut Out, report: &impl Serialize, network: Network) -> io::Result<()> {
    line(out, &object! { schema_version: 1, #[serde(flatten)] report, #[serde(flatten)] network })
}

/// Writes an item as a line of JSON, with what kind of item it is.
pub fn item(out: &mut Out, kind: &str, item: &impl Serialize) -> io::Result<()> {
    line(out, &object! { kind, #[serde(flatten)] item })
}

/// Writes an item of something, such as a file, whose members come first.
pub fn item_in(out: &mut Out, kind: &str, within: &impl Serialize, item: &impl Serialize) -> io::Result<()> {
    line(out, &object! { kind, #[serde(flatten)] within, #[serde(flatten)] item })
}

/// Writes a list with an element on each line.
pub(crate) fn list(out: &mut Out, elements: impl Iterator<Item: Serialize>) -> io::Result<()> {
    const FIRST: &str = "[\n";
    let mut before = FIRST;
    for element in elements {
        out.put(before);
        before = ",\n";
        value(out, &element)?;
        out.flush_if_full()?;
    }
    out.put(if before == FIRST { "[]" } else { "\n]" });
    Ok(())
}

/// Writes a further member of an object: a list with an element on each line.
pub(crate) fn member_list(
    out: &mut Out,
    key: &'static str,
    elements: impl Iterator<Item: Serialize>,
) -> io::Result<()> {
    out.put(",\n\"").put(key).put("\":");
    list(out, elements)
}

/// An object in JSON with a list that is written one by one, as its elements come.
#[cfg(feature = "reports")]
#[derive(Debug)]
pub(crate) struct LongObject {
    is_empty: bool,
}

#[cfg(feature = "reports")]
impl LongObject {
    /// Writes the first members, and the start of the list.
    pub(crate) fn begin(out: &mut Out, head: &impl Serialize, list: &'static str) -> io::Result<Self> {
        open(out, head, list)?;
        out.end_line()?;
        Ok(LongObject { is_empty: true })
    }

    /// The same of one of several objects.
    pub(crate) fn begin_nth(
        out: &mut Out,
        index: usize,
        head: &impl Serialize,
        list: &'static str,
    ) -> io::Result<Self> {
        out.put(if index == 0 { "" } else { "," });
        LongObject::begin(out, head, list)
    }

    /// Writes an element of the list, on a line of its own.
    pub(crate) fn element(&mut self, out: &mut Out, element: &impl Serialize) -> io::Result<()> {
        out.put(if self.is_empty { "" } else { "," });
        self.is_empty = false;
        line(out, element)
    }

    /// Ends the list, and writes the last members, if there are any.
    pub(crate) fn end(self, out: &mut Out, tail: &impl Serialize) -> io::Result<()> {
        close(out, tail)?;
        out.end_line()
    }
}

/// Ends a document whose list of files was written.
pub fn end_of_files(out: &mut Out, network: Network) -> io::Result<()> {
    close(out, &network)?;
    out.end_line()
}

/// Begins an object whose last member is a list, up to its elements.
pub(crate) fn open(out: &mut Out, head: &impl Serialize, list: &'static str) -> io::Result<()> {
    let head = members(head)?;
    out.put("{");
    out.pass_on(&head)?;
    out.put(if head.is_empty() { "\"" } else { ",\"" }).put(list).put("\":[");
    Ok(())
}

/// Ends a list and the object that it is in, which may have more members.
fn close(out: &mut Out, tail: &impl Serialize) -> io::Result<()> {
    let tail = members(tail)?;
    out.put(if tail.is_empty() { "]" } else { "]," });
    out.pass_on(&tail)?;
    out.put("}");
    Ok(())
}

/// The members of an object, without its braces.
fn members(object: &impl Serialize) -> io::Result<Vec<u8>> {
    let line = in_one_line(object)?;
    let inside = line.strip_prefix(b"{").and_then(|line| line.strip_suffix(b"}"));
    inside.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// A value as JSON without a line feed.
fn in_one_line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut out = Out::in_memory(false);
    self::value(&mut out, value)?;
    Ok(out.into_bytes())
}

/// The rows of one list after the other. They may be millions, so they are kept outside memory until the document is complete, for
/// example in an unnamed temporary file of the program.
///
/// ```
/// use popef_show::{JsonRows, Out};
///
/// let mut rows = JsonRows::new(std::io::Cursor::new(Vec::new()));
/// rows.push(0, &1)?;
/// rows.push(0, &2)?;
/// let mut out = Out::in_memory(false);
/// rows.write_objects(&mut out, &[serde_json::json!({"path": "a"})], "blobs")?;
/// assert_eq!(out.into_bytes(), b"{\"path\":\"a\",\"blobs\":[1,2]}");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonRows<S: Write> {
    spool: BufWriter<S>,
    /// The number of bytes of each list.
    lists: Vec<u64>,
}

impl<S: Read + Write + Seek> JsonRows<S> {
    /// A list of no rows, which are kept in `spool`. It must be empty.
    pub fn new(spool: S) -> Self {
        JsonRows { spool: BufWriter::new(spool), lists: Vec::new() }
    }

    /// Adds a row to a list: the list of the row before, or a later one.
    pub fn push(&mut self, list: usize, row: &impl Serialize) -> io::Result<()> {
        let row = in_one_line(row)?;
        self.lists.resize(self.lists.len().max(list.saturating_add(1)), 0);
        let Some(len) = self.lists.get_mut(list) else { return Ok(()) };
        let comma: &[u8] = if *len == 0 { b"" } else { b"," };
        *len = len.saturating_add(u64::try_from(row.len().saturating_add(comma.len())).unwrap_or(u64::MAX));
        self.spool.write_all(comma)?;
        self.spool.write_all(&row)
    }

    /// Writes objects, each with the rows of its list as the last member, which has the name `key`. Commas are between them.
    pub fn write_objects<T: Serialize>(mut self, out: &mut Out, objects: &[T], key: &'static str) -> io::Result<()> {
        self.spool.seek(SeekFrom::Start(0))?;
        for (nth, object) in objects.iter().enumerate() {
            out.put(if nth == 0 { "" } else { "," });
            open(out, object, key)?;
            let len = self.lists.get(nth).copied().unwrap_or(0);
            io::copy(&mut self.spool.get_mut().take(len), &mut out.raw())?;
            out.put("]}");
        }
        Ok(())
    }
}

//! JSON of reports: documents, lines, and objects with long lists that are written element by element.

use std::io::{self, Write as _};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::network::NetworkObject;
use super::write;
use crate::output::out::Out;

/// What files on other machines have cost the program, asked for when it is written.
///
/// It serialises as an object to be flattened into another: `network`, if there were such files.
#[derive(Clone, Copy, Debug)]
pub struct Network(fn() -> Option<(u64, u64)>);

impl Network {
    /// Of a program that reads no such files.
    pub const NONE: Network = Network(|| None);

    /// `cost` says how many requests were sent and how many bytes were received up to now.
    pub const fn new(cost: fn() -> Option<(u64, u64)>) -> Self {
        Network(cost)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(cost) = (self.0)() {
            map.serialize_entry("network", &NetworkObject(cost))?;
        }
        map.end()
    }
}

/// Writes a report as a JSON document. Its `schemaVersion` grows if something in it is renamed or removed.
pub fn document(out: &mut Out, report: &impl Serialize, network: Network) -> io::Result<()> {
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Document<'r, T: Serialize> {
        schema_version: u32,
        #[serde(flatten)]
        report: &'r T,
        #[serde(flatten)]
        network: Network,
    }
    write::line(out, &Document { schema_version: 1, report, network })
}

/// Writes an item as a line of JSON, with what kind of item it is.
pub fn item(out: &mut Out, kind: &str, item: &impl Serialize) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'i, T: Serialize> {
        kind: &'i str,
        #[serde(flatten)]
        item: &'i T,
    }
    write::line(out, &Line { kind, item })
}

/// The same of an item in something, such as a file, whose members come first.
#[cfg(feature = "reports")]
pub(crate) fn item_in(out: &mut Out, kind: &str, within: &impl Serialize, item: &impl Serialize) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Within<'i, W: Serialize, T: Serialize> {
        #[serde(flatten)]
        within: &'i W,
        #[serde(flatten)]
        item: &'i T,
    }
    self::item(out, kind, &Within { within, item })
}

/// Ends a document whose list of files was written.
pub fn end_of_files(out: &mut Out, network: Network) -> io::Result<()> {
    end_of_list(out, &network)
}

fn end_of_list(out: &mut Out, tail: &impl Serialize) -> io::Result<()> {
    let tail = members(tail)?;
    out.put(if tail.is_empty() { "]" } else { "]," });
    out.write_all(&tail)?;
    out.put("}").end_line()
}

/// An object in JSON with a list whose elements are written one by one, so that it may be long.
///
/// ```
/// use popef_show::{LongObject, Out};
///
/// let mut out = Out::in_memory(false);
/// let mut object = LongObject::begin(&mut out, &serde_json::json!({"path": "a"}), "tiles")?;
/// object.element(&mut out, &1)?;
/// object.element(&mut out, &2)?;
/// object.end(&mut out, &serde_json::json!({"error": null}))?;
/// assert_eq!(out.into_bytes(), b"{\"path\":\"a\",\"tiles\":[\n1\n,2\n],\"error\":null}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LongObject {
    is_empty: bool,
}

impl LongObject {
    /// Writes the first members, and the start of the list.
    pub fn begin(out: &mut Out, head: &impl Serialize, list: &str) -> io::Result<Self> {
        out.put("{");
        out.write_all(&members(head)?)?;
        out.put(",\"").put(list).put("\":[").end_line()?;
        Ok(LongObject { is_empty: true })
    }

    /// Writes an element of the list, on a line of its own.
    pub fn element(&mut self, out: &mut Out, element: &impl Serialize) -> io::Result<()> {
        out.put(if self.is_empty { "" } else { "," });
        self.is_empty = false;
        write::line(out, element)
    }

    /// Ends the list, and writes the last members, if there are any.
    pub fn end(self, out: &mut Out, tail: &impl Serialize) -> io::Result<()> {
        end_of_list(out, tail)
    }
}

/// The members of an object, without its braces.
fn members(object: &impl Serialize) -> io::Result<Vec<u8>> {
    let line = in_one_line(object)?;
    let inside = line.strip_prefix(b"{").and_then(|line| line.strip_suffix(b"}"));
    inside.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// A value as JSON without a line feed.
pub(super) fn in_one_line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut out = Out::in_memory(false);
    write::object(&mut out, value)?;
    Ok(out.into_bytes())
}

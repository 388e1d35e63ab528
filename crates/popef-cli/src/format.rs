//! What a report looks like.

use std::io::{self, Write as _};

use clap::Args;
use clap::builder::TypedValueParser;
use popef_open::{Cost, network_cost};
use popef_show::Out;
use serde::Serialize;

use crate::values::named;

/// The option that says what a report looks like.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct FormatArgs {
    /// Format of the report: text; json, one document; or ndjson, lines of JSON
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = "text", hide_default_value = true, hide_possible_values = true)]
    pub format: Format,
}

impl FormatArgs {
    /// Writes a report that is one document, or as `text` shows it.
    pub fn report<T: Serialize>(
        &self,
        out: &mut Out,
        report: &T,
        text: impl FnOnce(&mut Out, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.format {
            Format::Text => text(out, report)?,
            Format::Json => json_document(out, report)?,
            Format::Ndjson => json_line(out, "report", report)?,
        }
        out.send()
    }
}

/// The formats that reports of all commands have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One document.
    Json,
    /// A document on each line.
    Ndjson,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Format::Text, Format::Json, Format::Ndjson];

    /// The one with this name, if it is one of these.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Ndjson => "ndjson",
        }
    }
}

fn format() -> impl TypedValueParser<Value = Format> {
    named(Format::ALL, |format| format.name())
}

/// Writes a report as a JSON document. Its `schemaVersion` grows if something in it is renamed or removed.
pub fn json_document(out: &mut Out, report: &impl Serialize) -> io::Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Document<'r, T: Serialize> {
        schema_version: u32,
        #[serde(flatten)]
        report: &'r T,
        #[serde(flatten)]
        network: Network,
    }
    popef_show::json_line(out, &Document { schema_version: 1, report, network: Network::now() })
}

/// What files on other machines have cost the whole call. Without such files, it has no member.
#[derive(Debug, Serialize)]
pub struct Network {
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Cost>,
}

impl Network {
    /// Up to now.
    pub fn now() -> Self {
        Network { network: network_cost() }
    }
}

/// Ends a document whose list of files was written.
pub fn end_of_files(out: &mut Out) -> io::Result<()> {
    out.put("]");
    let members = members(&Network::now())?;
    out.put(if members.is_empty() { "" } else { "," });
    out.write_all(&members)?;
    out.put("}").end_line()
}

/// Writes an item as a line of JSON, with what kind of item it is.
pub fn json_line(out: &mut Out, kind: &str, item: &impl Serialize) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'i, T: Serialize> {
        kind: &'i str,
        #[serde(flatten)]
        item: &'i T,
    }
    popef_show::json_line(out, &Line { kind, item })
}

/// An object in JSON with a list whose elements are written one by one, so that it may be long.
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
        popef_show::json_line(out, element)
    }

    /// Ends the list, and writes the last members, if there are any.
    pub fn end(self, out: &mut Out, tail: &impl Serialize) -> io::Result<()> {
        let tail = members(tail)?;
        out.put(if tail.is_empty() { "]" } else { "]," });
        out.write_all(&tail)?;
        out.put("}").end_line()
    }
}

/// The members of an object, without its braces.
fn members(object: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut out = Out::in_memory(false);
    popef_show::json_line(&mut out, object)?;
    let line = out.into_bytes();
    let inside = line.strip_prefix(b"{").and_then(|line| line.strip_suffix(b"}\n"));
    inside.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

//! What a report looks like.

use std::io;

use clap::Args;
use clap::builder::TypedValueParser;
use popef_show::Out;
use serde::Serialize;

use super::values::named;

/// The option that says what a report looks like.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormatArgs {
    /// Format of the report: text; json, one document; or ndjson, lines of JSON
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = "text", hide_default_value = true, hide_possible_values = true)]
    pub(crate) format: Format,
}

impl FormatArgs {
    /// Writes a report that is one document, or as `text` shows it.
    pub(crate) fn report<T: Serialize>(
        &self,
        out: &mut Out,
        report: &T,
        text: impl FnOnce(&mut Out, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.format {
            Format::Text => text(out, report)?,
            Format::Json | Format::Ndjson => json_line(out, report)?,
        }
        out.send()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
    Ndjson,
}

impl Format {
    const ALL: [Format; 3] = [Format::Text, Format::Json, Format::Ndjson];

    fn name(self) -> &'static str {
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

/// Writes a value as JSON on a line of its own.
pub(crate) fn json_line(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    popef_show::json_line(out, value)
}

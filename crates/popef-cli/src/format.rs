//! What a report looks like.

use std::io;

use clap::Args;
use clap::builder::TypedValueParser;
use popef_open::network_cost;
use popef_show::{Network, Out, ReportOptions};
use serde::Serialize;

use crate::values::named;

pub use popef_show::{ReportFormat as Format, json_item as json_line, json_item_in as json_line_in};

/// What files on other machines have cost the whole call, up to when it is written.
pub const NETWORK: Network = Network::new(|| network_cost().map(|cost| (cost.requests, cost.bytes)));

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
        self.format.write(out, report, NETWORK, text)?;
        out.send()
    }

    /// The same, with at most so many rows of each table.
    pub fn top(&self, top: usize) -> ReportOptions {
        ReportOptions { format: self.format, top, network: NETWORK }
    }
}

fn format() -> impl TypedValueParser<Value = Format> {
    named(Format::ALL.iter().copied(), |format| format.as_str())
}

/// Writes a report as a JSON document.
pub fn json_document(out: &mut Out, report: &impl Serialize) -> io::Result<()> {
    popef_show::json_document(out, report, NETWORK)
}

/// Ends a document whose list of files was written.
pub fn end_of_files(out: &mut Out) -> io::Result<()> {
    popef_show::end_of_files(out, NETWORK)
}

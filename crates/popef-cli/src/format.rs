//! Formats of reports.

use std::io;

use clap::Args;
use clap::builder::TypedValueParser;
use popef_open::network_cost;
use popef_show::{Network, Out, ReportOptions};
use serde::Serialize;

use crate::values::named;

pub use popef_show::{ReportFormat as Format, json_item as json_line, json_item_in as json_line_in};

/// The cost of files on other machines so far, for the whole call.
pub const NETWORK: Network = Network::new(|| network_cost().map(|cost| (cost.requests, cost.bytes)));

/// The option with the format of a report.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct FormatArgs {
    /// Format of the report: text; json, one document; or ndjson, lines of JSON
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = "text", hide_default_value = true, hide_possible_values = true)]
    pub format: Format,
}

impl FormatArgs {
    /// Writes a report as JSON, or as text with `text`.
    pub fn report<T: Serialize>(
        &self,
        out: &mut Out,
        report: &T,
        text: impl FnOnce(&mut Out, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.format.write(out, report, NETWORK, text)?;
        out.send()
    }

    /// The options of a report with at most `top` rows in each table.
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

/// Ends a document after its list of files.
pub fn end_of_files(out: &mut Out) -> io::Result<()> {
    popef_show::end_of_files(out, NETWORK)
}

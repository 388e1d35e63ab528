//! Programs of graphs: who calls whom, ops, parameters, when code is live, and how two programs differ.

mod code;
mod diff;
mod html;
mod ops;
mod picture;
mod report;
mod schedule;
mod text;

use std::io;

use popef::DataType;
use poplar_graph::{Op, Tensor, Times};

use crate::Out;
use crate::output::json::Network;
use crate::output::shown::Shown;
use crate::output::table::shape;
use crate::output::units::thousands;
use popef::seam::named;

pub use diff::GraphDiffReport;
pub use ops::OpsReport;
pub use report::GraphReport;

named! {
    /// The formats of a program.
    pub enum GraphFormat {
        /// For people.
        Text = "text",
        /// One JSON document.
        Json = "json",
        /// Lines of JSON.
        Ndjson = "ndjson",
        /// A picture of the calls, in the language of Graphviz.
        Dot = "dot",
        /// A picture of the calls, in the language of Mermaid.
        Mermaid = "mermaid",
        /// One page without scripts.
        Html = "html",
    }
}

impl GraphFormat {
    /// The noun for a file of this format.
    pub fn noun(self) -> &'static str {
        match self {
            GraphFormat::Text | GraphFormat::Json | GraphFormat::Ndjson => "a report",
            GraphFormat::Dot | GraphFormat::Mermaid => "a picture",
            GraphFormat::Html => "a page",
        }
    }
}

/// The parts of the text and of the page. Without any of them, all are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphSections {
    /// Which graph calls which, and how often.
    pub calls: bool,
    /// The ops by type, IPU, pipeline stage and phase.
    pub ops: bool,
    /// The parameters by size.
    pub parameters: bool,
    /// When the code of graphs is on the tiles.
    pub code: bool,
}

impl GraphSections {
    pub(super) fn has(self, section: fn(GraphSections) -> bool) -> bool {
        let GraphSections { calls, ops, parameters, code } = self;
        section(self) || !(calls || ops || parameters || code)
    }
}

/// How a program is shown.
#[derive(Clone, Copy, Debug)]
pub struct GraphOptions<'a> {
    /// The parts of the text and of the page.
    pub sections: GraphSections,
    /// The maximum number of rows of each table in text and pages.
    pub top: usize,
    /// The cost that is written at the end of documents.
    pub network: Network,
    /// The kind of file, which is above the heading of a page.
    pub kind: &'static str,
    /// The heading of a page.
    pub title: &'a Shown<'a>,
    /// The program that makes a page, and its version.
    pub made_by: &'static str,
}

impl GraphReport<'_> {
    /// Writes it.
    pub fn write(&self, out: &mut Out, format: GraphFormat, options: &GraphOptions<'_>) -> io::Result<()> {
        match format {
            GraphFormat::Text => text::write(out, self, options.sections, options.top),
            GraphFormat::Json => self.write_document(out, options.network),
            GraphFormat::Ndjson => self.write_lines(out),
            GraphFormat::Dot => picture::write_dot(out, &picture::of_calls(self, number)),
            GraphFormat::Mermaid => picture::write_mermaid(out, &picture::of_calls(self, number)),
            GraphFormat::Html => html::write(out, self, options),
        }
    }
}

/// The maximum number of bytes of a name that text and pages show if it is in many rows.
pub(super) const MOST_NAME: usize = 400;

/// A number of runs: `8`, `0 to 1`, `any number`.
pub(super) fn times(times: Times) -> Shown<'static> {
    times_as(times, number)
}

/// A number of runs with commas between thousands, for pages.
pub(super) fn grouped_times(times: Times) -> Shown<'static> {
    times_as(times, grouped)
}

/// A number with commas between thousands.
pub(super) fn grouped(count: u64) -> Shown<'static> {
    if count == u64::MAX { number(count) } else { thousands(count) }
}

pub(super) fn times_as(times: Times, number: impl Fn(u64) -> Shown<'static>) -> Shown<'static> {
    match (times.least, times.most) {
        (least, Some(most)) if least == most => number(most),
        (least, Some(most)) => shown!("{} to {}", number(least), number(most)),
        (0, None) => Shown::own("any number"),
        (u64::MAX, None) => number(u64::MAX),
        (least, None) => shown!("{} or more", number(least)),
    }
}

/// A number, which may be too large to be counted.
pub(super) fn number(number: u64) -> Shown<'static> {
    if number == u64::MAX { Shown::own("over 10^19") } else { number.into() }
}

/// The type and shape of a tensor, as far as they are known: `F16 16x256`.
pub(super) fn info(tensor: &Tensor) -> Shown<'static> {
    type_and_shape(tensor.data_type, tensor.shape.as_deref())
}

/// A type and a shape, as far as they are known.
pub(super) fn type_and_shape(data_type: Option<DataType>, sizes: Option<&[u64]>) -> Shown<'static> {
    let data_type = data_type.map_or_else(|| Shown::own("?"), Shown::from);
    sizes.map_or_else(|| data_type.clone(), |sizes| shown!("{} {}", data_type, shape(sizes)))
}

/// Where an op runs: `IPU 0, stage 1, phase 2`.
pub(super) fn place(op: &Op) -> Shown<'static> {
    let places = [("IPU", op.ipu), ("stage", op.stage), ("phase", op.phase)];
    let places = places.into_iter().filter_map(|(what, number)| Some(shown!("{} {}", what, number?)));
    Shown::joined(places, ", ")
}

/// A number of things that are in memory.
pub(super) fn many(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

//! What a report of a program looks like, and how much of it is shown.

use crate::json::stream::Network;
use crate::output::named::named;

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
        /// The same in the language of Mermaid.
        Mermaid = "mermaid",
        /// One page without scripts.
        Html = "html",
    }
}

impl GraphFormat {
    /// What a file of it is.
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
    /// Text and pages have at most so many rows of each table.
    pub top: usize,
    /// What is said at the end of documents.
    pub network: Network,
    /// What kind of file it is of, over the heading of a page.
    pub kind: &'a str,
    /// The heading of a page, escaped.
    pub title: &'a str,
    /// The program that makes a page, and its version.
    pub made_by: &'a str,
}

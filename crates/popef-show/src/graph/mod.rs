//! Programs of graphs: who calls whom, ops, parameters, when code is live, and how two programs differ.

mod code;
mod diff;
mod dot;
mod format;
mod html;
mod mermaid;
mod ops;
mod picture;
mod report;
mod schedule;
mod text;
mod words;

pub use diff::GraphDiffReport;
pub use format::{GraphFormat, GraphOptions, GraphSections};
pub use ops::{OpsFormat, OpsReport};
pub use report::GraphReport;
pub use schedule::SchedulePicture;

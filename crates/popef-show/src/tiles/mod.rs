//! What is on the tiles of IPUs: planned, estimated, and read from files.
//!
//! Each report is a value that says itself in every [`ReportFormat`](crate::ReportFormat).

mod exec;
mod map;
mod model;
mod picture;
mod plan;
mod vars;
mod words;

pub use exec::{ExecutableTiles, ExecutablesRenderer, TilesFormat};
pub use map::MapReport;
pub use model::{EstimatesRenderer, ModelEstimate, TensorEstimate};
pub use plan::PlanReport;
pub use vars::VarsReport;

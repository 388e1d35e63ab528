//! Common types for judging models, profiles and graphs: a [`Rule`] finds something, a [`Report`] has what all rules
//! found. The rules themselves are in other crates, such as `popef-check`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod finding;
mod inspection;
mod level;
mod loader;
mod rule;
mod severity;

pub use finding::{Finding, Report, Skipped, Unlisted};
pub use inspection::{InspectArchive, Inspection};
pub use level::Level;
pub use loader::Loader;
pub use rule::{Check, Rule, When};
pub use severity::Severity;

//! Common types for judging models, profiles and graphs: a [`Rule`] finds something, a [`Report`] has what all rules
//! found. The rules themselves are in other crates, such as `popef-check`. What all of them know of IPUs is here too: [`Generation`].

#![cfg_attr(docsrs, feature(doc_cfg))]

mod chips;
mod finding;
mod inspection;
mod level;
mod loader;
mod rule;
mod severity;

pub use chips::{Chips, Generation, chips, tile_memory};
pub use finding::{Finding, Report, Skipped, Unlisted};
pub use inspection::{InspectArchive, Inspection};
pub use level::Level;
pub use loader::Loader;
pub use rule::{Check, Rule, When};
pub use severity::Severity;

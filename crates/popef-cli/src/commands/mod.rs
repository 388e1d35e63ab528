//! Commands that any tool can have.

mod check;
mod explain;
mod files;
mod list;
mod mend;
mod policy;

pub use check::{Checking, Ended, Shown, check_telling};
pub use explain::Explanation;
pub use files::{meant, values_meant};
pub use list::Listing;
pub use policy::read_policy;

//! Rules and codes of errors, explained: the rules of the library's checks, and others of the same shape.

mod code;
pub(crate) mod json;
pub(crate) mod kind;
mod nearest;
mod text;

use popef_check::Rule;

/// Rules in groups by subject, each with its title.
pub type Groups = Vec<(&'static str, Vec<&'static Rule>)>;

/// The rules of the library.
pub fn of_library() -> Groups {
    popef_check::rule_groups().map(|(title, rules)| (title, rules.collect())).collect()
}

pub use code::{CodeEntry, explain_code, nearest_code};
pub use json::{document, lines};
pub use nearest::did_you_mean;
pub use text::{explain, list};

//! From the command line to opened files, in order.

mod files;
mod open;
mod ordered;
mod sniff;

pub(crate) use files::{Inputs, listed};
pub(crate) use open::{Opened, open_any};
pub(crate) use ordered::in_order;

//! Values of options. They are those of popef-dump.

pub(crate) use popef_dump_tool::values::{named, path, rule_id, when};

//! The analysers: functions from parsed reports to plain results. Each file is a subject.

pub(super) mod compute_sets;
pub(super) mod consistency;
pub(super) mod cycles;
pub(super) mod exchanges;
pub(super) mod facts;
pub(super) mod liveness;
pub(super) mod memory;
pub(super) mod overlap;
pub(super) mod programs;
pub(super) mod runs;
pub(super) mod select;
pub(super) mod steps;
pub(super) mod timeline;
pub(super) mod vertex_types;

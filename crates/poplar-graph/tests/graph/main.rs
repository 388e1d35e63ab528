//! Graphs: the listings and statements of PopXL's user guide, and random graphs against naive versions.

mod calls;
mod listings;
mod liveness;
mod paths;
mod random;
mod rules;

//! Work on several threads, with results in the order of the tasks.
//!
//! [`in_order`] works until all results are taken, and [`Ahead`] for a caller that asks for one result after the other. [`beside`] is for
//! work that passes on its results by itself, and [`aside`] for one piece of work beside the caller's own. All share one budget of threads
//! for the process, one for each processor. So work that a task begins may find no free thread. The thread that wants the results then
//! works by itself, until others have ended. No work waits for a free thread, so nothing can wait for ever. If the system starts no thread,
//! the work goes on with the existing ones.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic"
    )
)]

mod ahead;
mod aside;
mod budget;
mod crew;
mod line;
mod ordered;

pub use ahead::{Ahead, Threads};
pub use aside::{Aside, Thread, Turn, aside};
pub use budget::processors;
pub use crew::beside;
pub use line::{Room, Waited};
pub use ordered::in_order;

//! Work on several threads whose results come in the order of the tasks.
//!
//! [`in_order`] works on tasks until all results were taken, [`Ahead`] for a caller who asks for one result after the other, and
//! [`beside`] is for work that passes its results on by itself, and [`aside`] for one piece of work beside the caller's own. All of
//! them share one budget of threads for the process: those
//! that work together are as many as there are processors. So work that a task begins may find no thread free. Then the thread
//! that wants the results works by itself, until others have ended. Nobody waits for a thread, so nothing can wait for ever;
//! and if the system starts no thread, the work goes on with those that there are.

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

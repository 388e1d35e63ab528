use popef::error::ErrorCode;
use std::ops::ControlFlow;

use crate::error::Error;

/// Receives the progress of an operation, and can stop it. Threads may call it at the same time.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// /// Stops after a gigabyte.
/// #[derive(Default)]
/// struct Budget(AtomicU64);
///
/// impl popef_ops::Progress for Budget {
///     fn advance(&self, bytes: u64) -> ControlFlow<()> {
///         match self.0.fetch_add(bytes, Ordering::Relaxed) < 1 << 30 {
///             true => ControlFlow::Continue(()),
///             false => ControlFlow::Break(()),
///         }
///     }
/// }
/// ```
pub trait Progress: Sync {
    /// Adds to the number of bytes still to be read or written.
    fn expect(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Reports that `bytes` more bytes were read or written. [`Break`](ControlFlow::Break) stops the operation, which
    /// then fails with [`ErrorCode::Stopped`].
    fn advance(&self, bytes: u64) -> ControlFlow<()>;

    /// The new files are complete and checked, and are put in their places next. [`Break`](ControlFlow::Break) leaves everything as
    /// it was. Nothing can stop the operation after this. An operation that writes no file does not ask.
    fn can_place(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl dyn Progress + '_ {
    /// Calls [`advance`](Progress::advance), and turns a stop into an error.
    pub fn add(&self, bytes: u64) -> Result<(), Error> {
        or_stopped(self.advance(bytes))
    }

    /// Calls [`can_place`](Progress::can_place), and makes an error of a stop.
    pub fn ask_to_place(&self) -> Result<(), Error> {
        or_stopped(self.can_place())
    }
}

fn or_stopped(flow: ControlFlow<()>) -> Result<(), Error> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::new(ErrorCode::Stopped, "the work was stopped")),
    }
}

/// A [`Progress`] that ignores its calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn advance(&self, _bytes: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

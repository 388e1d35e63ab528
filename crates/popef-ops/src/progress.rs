use std::ops::ControlFlow;

use crate::error::{Code, Error};

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
    /// then fails with [`Code::Stopped`].
    fn advance(&self, bytes: u64) -> ControlFlow<()>;
}

impl dyn Progress + '_ {
    /// Calls [`advance`](Progress::advance), and turns a stop into an error.
    pub fn add(&self, bytes: u64) -> Result<(), Error> {
        match self.advance(bytes) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::new(Code::Stopped, "the work was stopped")),
        }
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

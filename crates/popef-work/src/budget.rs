//! The budget of threads of this process.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

static BUSY: AtomicUsize = AtomicUsize::new(0);

/// The number of threads that may work together: one for each processor. Asks the system once, because that takes long.
pub fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// The number of threads that may work besides those that work now.
pub(crate) fn free() -> usize {
    processors().saturating_sub(BUSY.load(Relaxed))
}

/// The right of some threads to work, until it is dropped.
pub(crate) struct Permits(usize);

impl Permits {
    /// Permits for the free threads, from `least` to `most`. None if fewer are free.
    pub(crate) fn of(least: usize, most: usize) -> Permits {
        let granted = |busy| Some(processors().saturating_sub(busy).min(most)).filter(|&granted| granted >= least);
        let more = |busy: usize| granted(busy).map(|granted| busy.saturating_add(granted));
        Permits(BUSY.fetch_update(Relaxed, Relaxed, more).ok().and_then(granted).unwrap_or(0))
    }

    /// A permit for a thread that works in any case.
    pub(crate) fn one() -> Permits {
        BUSY.fetch_add(1, Relaxed);
        Permits(1)
    }

    /// Takes the permit for one thread out of these.
    pub(crate) fn split(&mut self) -> Option<Permits> {
        self.0 = self.0.checked_sub(1)?;
        Some(Permits(1))
    }
}

impl Drop for Permits {
    fn drop(&mut self) {
        BUSY.fetch_sub(self.0, Relaxed);
    }
}

//! One piece of work beside the caller's own.

use std::fmt;
use std::io;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, ScopedJoinHandle};

use crate::budget::Permits;

/// When work beside the caller's own gets a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// Never. The caller does the work when it wants the result.
    Never,
    /// If a processor is free. Otherwise the caller does the work when it wants the result.
    IfFree,
    /// Always, because the work and the caller wait for each other.
    Always,
    /// Always, in place of the caller, which only waits. So it takes nothing from the budget.
    Instead,
}

/// Work that may be done while the caller goes on. Dropping it waits for its end.
pub struct Aside<'s, T> {
    begun: io::Result<Option<ScopedJoinHandle<'s, Option<T>>>>,
    work: &'s (dyn Fn() -> Option<T> + Sync),
}

/// The place that a thread has in the budget.
pub struct Turn(Mutex<Option<Permits>>);

/// Does `work` on another thread of this name, if it gets one, while `then` runs on this thread.
///
/// ```
/// use popef_work::{Thread, aside};
///
/// let sum = aside(Thread::IfFree, "sum", |_| (0..100).sum::<u32>(), |sum| sum.join().unwrap());
/// assert_eq!(sum, 4950);
/// ```
pub fn aside<T: Send, R>(
    thread: Thread,
    name: &str,
    work: impl FnOnce(&Turn) -> T + Send,
    then: impl FnOnce(Aside<'_, T>) -> R,
) -> R {
    // The work stays here until a thread has begun, because the system may start none.
    let work = Mutex::new(Some(work));
    let take = |turn| {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map(|work| work(&Turn(Mutex::new(turn))))
    };
    let here = || take(None);
    let permits = match thread {
        Thread::Never => None,
        Thread::IfFree => Permits::of(1, 1).split().map(Some),
        Thread::Always => Some(Some(Permits::one())),
        Thread::Instead => Some(None),
    };
    thread::scope(|scope| {
        let take = &take;
        let begin = |turn| Builder::new().name(name.to_owned()).spawn_scoped(scope, move || take(turn));
        then(Aside { begun: permits.map(begin).transpose(), work: &here })
    })
}

impl<T> Aside<'_, T> {
    /// Fails if the system started no thread for the work.
    pub fn begun(&mut self) -> io::Result<()> {
        match mem::replace(&mut self.begun, Ok(None)) {
            Ok(begun) => {
                self.begun = Ok(begun);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// The result of the work. Does the work now if no thread does it. The error is the panic of the work on its thread.
    pub fn join(mut self) -> thread::Result<T> {
        let done = match mem::replace(&mut self.begun, Ok(None)) {
            Ok(Some(begun)) => begun.join()?,
            _ => (self.work)(),
        };
        // Only this function takes the work, or the thread that has begun it.
        done.ok_or_else(|| Box::new("the work was lost") as _)
    }
}

impl<T> Drop for Aside<'_, T> {
    fn drop(&mut self) {
        if let Ok(Some(begun)) = mem::replace(&mut self.begun, Ok(None)) {
            // Nobody wants the result, so a panic does not matter.
            let _ = begun.join();
        }
    }
}

impl<T> fmt::Debug for Aside<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aside").field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl Turn {
    /// Calls `wait`, while another thread may work.
    pub fn wait<R>(&self, wait: impl FnOnce() -> R) -> R {
        let held = self.lock().take().map(drop);
        let waited = wait();
        *self.lock() = held.map(|()| Permits::one());
        waited
    }

    fn lock(&self) -> MutexGuard<'_, Option<Permits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turn").field(&self.lock().is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::budget::processors;

    /// The thread that does the work.
    fn worker(thread: Thread) -> thread::ThreadId {
        aside(thread, "test", |_| thread::current().id(), |work| work.join().unwrap())
    }

    #[test]
    fn work_without_a_free_processor_is_the_callers() {
        let _all: Vec<_> = (0..processors()).map(|_| Permits::one()).collect();
        let here = thread::current().id();
        assert_eq!([Thread::Never, Thread::IfFree].map(worker), [here; 2]);
        assert!([Thread::Always, Thread::Instead].map(worker).iter().all(|worker| *worker != here));
    }

    #[test]
    fn who_waits_gives_its_place_to_others() {
        let holds = |turn: &Turn| turn.lock().is_some();
        let (to, from) = channel();
        let work = move |turn: &Turn| (holds(turn), turn.wait(|| (holds(turn), from.recv())), holds(turn));
        let held = aside(Thread::Always, "test", work, |work| {
            to.send(7).unwrap();
            work.join().unwrap()
        });
        assert_eq!(held, (true, (false, Ok(7)), true));
        let held = aside(Thread::Instead, "test", |turn| turn.wait(|| holds(turn)), |work| work.join().unwrap());
        assert!(!held);
    }

    #[test]
    fn a_panic_is_the_callers_only_if_it_wants_the_result() {
        let panic = |_: &Turn| -> u8 { panic!("on purpose") };
        assert!(aside(Thread::Always, "test", panic, |work| work.join().is_err()));
        aside(Thread::Always, "test", panic, |work| drop(work));
    }
}

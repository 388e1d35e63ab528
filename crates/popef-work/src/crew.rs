//! Threads that end before the thread that hired them goes on.

use std::thread::{self, Builder, Scope};

use crate::budget::{Permits, processors};

/// Threads that all do the same work.
pub(crate) struct Crew<'s, 'e, W> {
    scope: &'s Scope<'s, 'e>,
    work: &'s W,
    most: usize,
    started: usize,
}

impl<'s, W: Fn() + Sync> Crew<'s, '_, W> {
    pub(crate) fn new<'e>(scope: &'s Scope<'s, 'e>, most: usize, work: &'s W) -> Crew<'s, 'e, W> {
        Crew { scope, work, most: most.min(processors()), started: 0 }
    }

    /// Whether the crew can get more threads.
    pub(crate) fn can_grow(&self) -> bool {
        self.started < self.most
    }

    /// Starts the threads that the budget has. Returns their number. It starts with two: one alone would only replace the thread that waits
    /// for it.
    pub(crate) fn hire(&mut self) -> usize {
        let least = if self.started == 0 { 2 } else { 1 };
        let mut permits = Permits::of(least, self.most.saturating_sub(self.started));
        while let Some(permit) = permits.split() {
            let work = self.work;
            let begin = move || {
                let _permit = permit;
                work();
            };
            if Builder::new().name("popef".to_owned()).spawn_scoped(self.scope, begin).is_err() {
                // The system has no thread left.
                self.most = self.started;
                break;
            }
            self.started = self.started.saturating_add(1);
        }
        self.started
    }
}

/// Does `work` on at most `most` threads, while `then` runs on this one. `then` gets their number, which is 0 if the budget has fewer than
/// two.
pub fn beside<R>(most: usize, work: impl Fn() + Sync, then: impl FnOnce(usize) -> R) -> R {
    thread::scope(|scope| {
        let mut crew = Crew::new(scope, most, &work);
        then(crew.hire())
    })
}

//! Work on several threads whose results are wanted in order.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Makes the values for 0 to `count` on all processors, and hands them to `take` in order.
///
/// About `ahead` values at most are made and not yet taken. `take` runs on the calling thread and can stop the work.
///
/// ```
/// use std::ops::ControlFlow;
///
/// let mut squares = Vec::new();
/// popef_open::in_order(4, 2, |index| index * index, |square| {
///     squares.push(square);
///     ControlFlow::Continue(())
/// });
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub fn in_order<T: Send>(
    count: usize,
    ahead: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(count);
    if workers <= 1 {
        let _ = (0..count).try_for_each(|index| take(make(index)));
        return;
    }
    // With one value at a time, threads would spend more time on waking each other than on small work.
    let size = count.div_euclid(workers).div_euclid(8).clamp(1, LARGEST_BATCH);
    let batch = |nth: usize| {
        let start = nth.saturating_mul(size);
        (start..start.saturating_add(size).min(count)).map(&make).collect::<Vec<T>>()
    };
    batches(count.div_ceil(size), ahead.div_ceil(size).max(2), workers, batch, |values| {
        values.into_iter().try_for_each(&mut take)
    });
}

const LARGEST_BATCH: usize = 8;

fn batches<T: Send>(
    count: usize,
    ahead: usize,
    workers: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) {
    let shared = Shared::new(workers, ahead);
    thread::scope(|scope| {
        let mut alone = true;
        for _ in 0..workers {
            match thread::Builder::new().spawn_scoped(scope, || shared.work(count, &make)) {
                Ok(_) => alone = false,
                // The system has no thread left, so there is one worker less.
                Err(_) => drop(Leaving(&shared)),
            }
        }
        if alone {
            let _ = (0..count).try_for_each(|index| take(make(index)));
            return;
        }
        for index in 0..count {
            let Some(value) = shared.wait_for(index) else { break };
            if take(value).is_break() {
                break;
            }
        }
        shared.stop();
    });
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    ahead: usize,
}

struct State<T> {
    next: usize,
    taken: usize,
    ready: BTreeMap<usize, T>,
    workers: usize,
    stopped: bool,
}

impl<T> Shared<T> {
    fn new(workers: usize, ahead: usize) -> Self {
        let state = State { next: 0, taken: 0, ready: BTreeMap::new(), workers, stopped: false };
        Shared { state: Mutex::new(state), changed: Condvar::new(), ahead: ahead.max(1) }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, count: usize, make: &impl Fn(usize) -> T) {
        let _leaving = Leaving(self);
        while let Some(index) = self.claim(count) {
            let value = make(index);
            self.lock().ready.insert(index, value);
            self.changed.notify_all();
        }
    }

    /// The next index to work on, once there is room for its value.
    fn claim(&self, count: usize) -> Option<usize> {
        let full = |state: &mut State<T>| state.next >= state.taken.saturating_add(self.ahead) && !state.stopped;
        let mut state = self.changed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        let index = state.next;
        if state.stopped || index >= count {
            return None;
        }
        state.next = index.saturating_add(1);
        Some(index)
    }

    /// The value of an index; none if no worker is left to make it.
    fn wait_for(&self, index: usize) -> Option<T> {
        let missing = |state: &mut State<T>| !state.ready.contains_key(&index) && state.workers > 0;
        let mut state = self.changed.wait_while(self.lock(), missing).unwrap_or_else(PoisonError::into_inner);
        state.taken = index.saturating_add(1);
        self.changed.notify_all();
        state.ready.remove(&index)
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// Reports the end of a worker, even by a panic, so that nobody waits for its value for ever.
struct Leaving<'s, T>(&'s Shared<T>);

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.workers = state.workers.saturating_sub(1);
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    #[test]
    fn values_come_in_order() {
        let slow_first = |index: usize| {
            thread::sleep(std::time::Duration::from_millis(if index == 0 { 20 } else { 0 }));
            index
        };
        let mut taken = Vec::new();
        in_order(100, 7, slow_first, |index| {
            taken.push(index);
            ControlFlow::Continue(())
        });
        assert_eq!(taken, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn never_many_more_than_wanted_wait() {
        let (made, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let make = |_| made.fetch_add(1, SeqCst) + 1;
        in_order(2000, 5, make, |_| {
            let waiting = made.load(SeqCst) - taken.fetch_add(1, SeqCst);
            assert!(waiting <= 4 * LARGEST_BATCH, "{waiting} were made and not taken");
            ControlFlow::Continue(())
        });
        assert_eq!(taken.into_inner(), 2000);
    }

    #[test]
    fn a_stop_stops() {
        let mut taken = 0;
        in_order(
            1_000_000,
            4,
            |index| index,
            |index| {
                taken += 1;
                if index == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert_eq!(taken, 11);
    }
}

//! Work on several threads, for a caller who asks for one result after the other.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Makes a result of each task, on threads of its own, and gives the results in the order of the tasks.
///
/// The work goes on between two calls, so it fits where [`in_order`](crate::in_order) does not: the results are taken by someone
/// who decides each time whether there is a next one. Tasks can be added at any time. When it is dropped, no further task is
/// begun, and the work on those that were begun is told to stop by the second argument of the function that does it.
///
/// ```
/// use std::time::Duration;
/// use popef_open::{Ahead, Waited};
///
/// let mut squares = Ahead::new(2, 1000, |number: u64, _| (number * number, 1));
/// for number in 0..4 {
///     squares.add(number);
/// }
/// let mut taken = Vec::new();
/// while let Waited::Made(square) = squares.take(Duration::MAX) {
///     taken.push(square);
/// }
/// assert_eq!(taken, [0, 1, 4, 9]);
/// ```
pub struct Ahead<T, R> {
    shared: Arc<Shared<T, R>>,
    /// How many threads there may be, and how many were started.
    most: usize,
    started: usize,
}

/// What came of waiting for a result.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited<R> {
    /// The next result.
    Made(R),
    /// The work on the next task has panicked.
    Lost,
    /// The next result is not there yet.
    NotYet,
    /// All results were taken.
    Nothing,
}

/// The work: makes a result and says how much memory it holds, in a unit of the caller's. It looks at the flag now and then, and
/// ends early if it is set, because nobody wants the result then.
type Work<T, R> = dyn Fn(T, &AtomicBool) -> (R, usize) + Send + Sync;

struct Shared<T, R> {
    state: Mutex<State<T, R>>,
    /// The next result to be taken was made.
    made: Condvar,
    /// There is a task, and room for its result; or nothing more shall be begun.
    wanted: Condvar,
    work: Box<Work<T, R>>,
    stopped: AtomicBool,
    room: usize,
}

struct State<T, R> {
    tasks: VecDeque<T>,
    /// How many tasks were begun, and how many results were taken.
    begun: usize,
    taken: usize,
    /// Results with what they hold, by their task. None if the work panicked.
    ready: BTreeMap<usize, (Option<R>, usize)>,
    /// What the ready results hold together.
    held: usize,
}

impl<T: Send + 'static, R: Send + 'static> Ahead<T, R> {
    /// Prepares work on so many threads. With one thread, the work is done by the caller, when a result is wanted. No task is
    /// begun while the results that wait hold `room` or more.
    pub fn new(
        threads: usize,
        room: usize,
        work: impl Fn(T, &AtomicBool) -> (R, usize) + Send + Sync + 'static,
    ) -> Self {
        let state = State { tasks: VecDeque::new(), begun: 0, taken: 0, ready: BTreeMap::new(), held: 0 };
        let shared = Shared {
            state: Mutex::new(state),
            made: Condvar::new(),
            wanted: Condvar::new(),
            work: Box::new(work),
            stopped: AtomicBool::new(false),
            room: room.max(1),
        };
        Ahead { shared: Arc::new(shared), most: if threads > 1 { threads } else { 0 }, started: 0 }
    }

    /// How many results were not taken yet.
    pub fn waiting(&self) -> usize {
        let state = self.shared.lock();
        state.begun.saturating_add(state.tasks.len()).saturating_sub(state.taken)
    }

    /// Adds a task after all others.
    pub fn add(&mut self, task: T) {
        self.shared.lock().tasks.push_back(task);
        self.shared.wanted.notify_one();
        if self.started < self.most {
            let shared = Arc::clone(&self.shared);
            match thread::Builder::new().name("popef".to_owned()).spawn(move || shared.run()) {
                Ok(_) => self.started = self.started.saturating_add(1),
                // The system has no thread left. Those that there are do the work, or else the caller.
                Err(_) => self.most = self.started,
            }
        }
    }

    /// Takes the next result, and waits for it for so long at most.
    pub fn take(&mut self, at_most: Duration) -> Waited<R> {
        let mut state = self.shared.lock();
        let index = state.taken;
        if index >= state.begun && state.tasks.is_empty() {
            return Waited::Nothing;
        }
        if self.started == 0 {
            let Some(task) = state.begin() else { return Waited::Nothing };
            drop(state);
            self.shared.make(index, task);
            state = self.shared.lock();
        }
        let missing = |state: &mut State<T, R>| !state.ready.contains_key(&index);
        let (mut state, _) =
            self.shared.made.wait_timeout_while(state, at_most, missing).unwrap_or_else(PoisonError::into_inner);
        let Some((result, held)) = state.ready.remove(&index) else { return Waited::NotYet };
        state.taken = index.saturating_add(1);
        let was_full = state.held >= self.shared.room;
        state.held = state.held.saturating_sub(held);
        let has_room = was_full && state.held < self.shared.room;
        drop(state);
        if has_room {
            self.shared.wanted.notify_all();
        }
        result.map_or(Waited::Lost, Waited::Made)
    }
}

impl<T, R> Drop for Ahead<T, R> {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Whoever is about to wait has the lock until it waits.
        drop(self.shared.lock());
        self.shared.wanted.notify_all();
    }
}

impl<T, R> fmt::Debug for Ahead<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("threads", &self.started).finish_non_exhaustive()
    }
}

impl<T, R> State<T, R> {
    fn begin(&mut self) -> Option<T> {
        let task = self.tasks.pop_front()?;
        self.begun = self.begun.saturating_add(1);
        Some(task)
    }
}

impl<T, R> Shared<T, R> {
    fn lock(&self) -> MutexGuard<'_, State<T, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does.
    fn run(&self) {
        loop {
            // If the next result to be taken were not begun, none would be ready, and there would be room.
            let idle = |state: &mut State<T, R>| {
                (state.tasks.is_empty() || state.held >= self.room) && !self.stopped.load(Ordering::Relaxed)
            };
            let mut state = self.wanted.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let index = state.begun;
            let Some(task) = state.begin() else { continue };
            drop(state);
            self.make(index, task);
        }
    }

    /// Makes the result of a task that was begun. There is one even if the work panics, so that nobody waits for it for ever.
    fn make(&self, index: usize, task: T) {
        let made = catch_unwind(AssertUnwindSafe(|| (self.work)(task, &self.stopped)));
        let (result, held) = made.map_or((None, 0), |(result, held)| (Some(result), held));
        let mut state = self.lock();
        state.held = state.held.saturating_add(held);
        state.ready.insert(index, (result, held));
        let is_next = index == state.taken;
        drop(state);
        if is_next {
            self.made.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;

    use super::*;

    fn all<R: Send + 'static>(ahead: &mut Ahead<usize, R>) -> Vec<Waited<R>> {
        std::iter::from_fn(|| Some(ahead.take(Duration::MAX)).filter(|waited| !matches!(waited, Waited::Nothing)))
            .collect()
    }

    #[test]
    fn results_come_in_order_however_long_each_takes() {
        for threads in [0, 1, 2, 5] {
            let mut ahead = Ahead::new(threads, 7, |index: usize, _| {
                let turns = if index.is_multiple_of(3) { 100_000 } else { 1 };
                ((0..turns).fold(index, |sum, _| std::hint::black_box(sum)), 1)
            });
            (0..200).for_each(|index| ahead.add(index));
            assert_eq!(ahead.waiting(), 200);
            assert!(all(&mut ahead).into_iter().eq((0..200).map(Waited::Made)), "{threads} threads");
            ahead.add(7);
            assert_eq!(ahead.take(Duration::MAX), Waited::Made(7));
        }
    }

    #[test]
    fn results_that_wait_hold_little_more_than_the_room() {
        let (count, made) = (2000, Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&made);
        let mut ahead = Ahead::new(3, 10, move |_: usize, _| (counter.fetch_add(1, Ordering::SeqCst), 2));
        (0..count).for_each(|index| ahead.add(index));
        for taken in 0..count {
            assert!(matches!(ahead.take(Duration::MAX), Waited::Made(_)));
            // Five results fill the room, and each of three threads can have begun one more before it was full.
            let waiting = made.load(Ordering::SeqCst) - taken;
            assert!(waiting <= 5 + 3 + 1, "{waiting} were made and not taken");
        }
    }

    #[test]
    fn work_that_panics_is_lost_and_the_rest_goes_on() {
        for threads in [1, 2] {
            let mut ahead = Ahead::new(threads, 10, |index: usize, _| {
                assert_eq!(index % 2, 0, "on purpose");
                (index, 1)
            });
            (0..6).for_each(|index| ahead.add(index));
            let made = |index| if index % 2 == 0 { Waited::Made(index) } else { Waited::Lost };
            assert!(all(&mut ahead).into_iter().eq((0..6).map(made)));
        }
    }

    #[test]
    fn dropping_it_stops_the_work() {
        let (started, is_started) = channel();
        let (stopped, is_stopped) = channel();
        let mut ahead = Ahead::new(2, 10, move |_: usize, stop| {
            started.send(()).unwrap();
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            stopped.send(()).unwrap();
            ((), 0)
        });
        ahead.add(0);
        is_started.recv().unwrap();
        assert_eq!(ahead.take(Duration::ZERO), Waited::NotYet);
        drop(ahead);
        is_stopped.recv().unwrap();
        // The function, and with it the sender, is gone when the last thread has ended.
        assert!(is_stopped.recv().is_err());
    }
}

//! Tasks, and results that wait until it is their turn.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How much may wait until it is taken. While as much waits, no task is begun.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// How many tasks may be begun whose results were not taken.
    pub results: usize,
    /// What the results that wait may hold together, in a unit of the caller's.
    pub held: usize,
}

impl Room {
    /// Room for any results, because the caller bounds the tasks.
    pub const ANY: Room = Room { results: usize::MAX, held: usize::MAX };
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

/// A result, or what a panic left.
pub(crate) type Made<R> = Result<R, Box<dyn Any + Send>>;

pub(crate) struct Line<I, R> {
    state: Mutex<State<I, R>>,
    /// The next result to be taken was made, or nothing more will be.
    made: Condvar,
    /// There is a task, and room for its result; or nothing more shall be begun.
    wanted: Condvar,
    stopped: AtomicBool,
    room: Room,
    /// Whether tasks can be added.
    open: bool,
}

pub(crate) struct State<I, R> {
    pub(crate) tasks: I,
    /// Whether there are no more tasks.
    done: bool,
    begun: usize,
    taken: usize,
    /// Results with what they hold, by their task.
    ready: BTreeMap<usize, (Made<R>, usize)>,
    /// What the ready results hold together.
    held: usize,
}

impl<I: Iterator, R> State<I, R> {
    /// Begins the next task. If there is a panic, it stands for the task's result, and for the end.
    fn begin(&mut self) -> Option<(usize, I::Item)> {
        let index = self.begun;
        let next = if self.done { Ok(None) } else { catch_unwind(AssertUnwindSafe(|| self.tasks.next())) };
        let begun = match next {
            Ok(None) => return None,
            Ok(Some(task)) => Some((index, task)),
            Err(panic) => {
                self.done = true;
                self.ready.insert(index, (Err(panic), 0));
                None
            }
        };
        self.begun = index.saturating_add(1);
        begun
    }

    fn is_over(&self) -> bool {
        self.taken == self.begun && (self.done || self.tasks.size_hint().1 == Some(0))
    }

    fn is_full(&self, room: Room) -> bool {
        // If the next result to be taken were not begun, none would be ready, and there would be room.
        self.begun >= self.taken.saturating_add(room.results.max(1)) || self.held >= room.held.max(1)
    }

    /// How many results were not taken yet, of the tasks that are known.
    pub(crate) fn waiting(&self) -> usize {
        self.begun.saturating_add(self.tasks.size_hint().0).saturating_sub(self.taken)
    }
}

impl<I: Iterator, R> Line<I, R> {
    pub(crate) fn new(tasks: I, room: Room, open: bool) -> Self {
        let state = State { tasks, done: false, begun: 0, taken: 0, ready: BTreeMap::new(), held: 0 };
        let (made, wanted, stopped) = (Condvar::new(), Condvar::new(), AtomicBool::new(false));
        Line { state: Mutex::new(state), made, wanted, stopped, room, open }
    }

    /// Adds a task in the way that `add` does it.
    pub(crate) fn add(&self, add: impl FnOnce(&mut I)) {
        add(&mut self.lock().tasks);
        self.wanted.notify_one();
    }

    /// Whether no task is left to begin.
    pub(crate) fn is_done(&self) -> bool {
        self.lock().done
    }

    /// Works on tasks until none is left, or all shall stop.
    pub(crate) fn work(&self, mut make: impl FnMut(I::Item) -> (R, usize)) {
        while let Some((index, task)) = self.claim() {
            self.put(index, catch_unwind(AssertUnwindSafe(|| make(task))));
        }
    }

    /// Works on the next task, if there is one, on the thread that takes the results.
    pub(crate) fn work_once(&self, make: impl FnOnce(I::Item) -> (R, usize)) {
        let begun = self.lock().begin();
        match begun {
            Some((index, task)) => self.put(index, catch_unwind(AssertUnwindSafe(|| make(task)))),
            None => self.close(&mut self.lock()),
        }
    }

    /// The next task, once there is room for its result.
    fn claim(&self) -> Option<(usize, I::Item)> {
        let mut state = self.lock();
        while !self.is_stopped() {
            if !state.is_full(self.room) {
                if let Some(begun) = state.begin() {
                    return Some(begun);
                }
                self.close(&mut state);
            }
            if state.done {
                return None;
            }
            state = self.wanted.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Marks that no task is left, unless there can be more. Whoever waits then has nothing to wait for.
    fn close(&self, state: &mut State<I, R>) {
        if !self.open || state.done {
            state.done = true;
            self.wanted.notify_all();
            self.made.notify_all();
        }
    }

    fn put(&self, index: usize, made: Made<(R, usize)>) {
        let (made, held) = made.map_or_else(|panic| (Err(panic), 0), |(result, held)| (Ok(result), held));
        let mut state = self.lock();
        state.held = state.held.saturating_add(held);
        state.ready.insert(index, (made, held));
        let is_next = index == state.taken;
        drop(state);
        if is_next {
            self.made.notify_one();
        }
    }

    /// Takes the next result, and waits for it for so long at most.
    pub(crate) fn take(&self, at_most: Duration) -> Waited<Made<R>> {
        let missing = |state: &mut State<I, R>| !state.ready.contains_key(&state.taken) && !state.is_over();
        let waited = self.made.wait_timeout_while(self.lock(), at_most, missing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (taken, was_full) = (state.taken, state.is_full(self.room));
        let Some((result, held)) = state.ready.remove(&taken) else {
            return if state.is_over() { Waited::Nothing } else { Waited::NotYet };
        };
        state.taken = taken.saturating_add(1);
        state.held = state.held.saturating_sub(held);
        let has_room = was_full && !state.is_full(self.room);
        drop(state);
        if has_room {
            self.wanted.notify_all();
        }
        Waited::Made(result)
    }
}

impl<I, R> Line<I, R> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<I, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Set when no further task is begun, and nobody wants the results of those that were.
    pub(crate) fn stopped(&self) -> &AtomicBool {
        &self.stopped
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Relaxed);
        // Whoever is about to wait has the lock until it waits.
        drop(self.lock());
        self.wanted.notify_all();
    }
}

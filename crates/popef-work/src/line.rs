//! Tasks, and results that wait for their turn.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The limits of results that wait to be taken. While they are reached, no task begins.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The maximum number of tasks that have begun and whose results are not taken.
    pub results: usize,
    /// The maximum of what waiting results hold together, in a unit of the caller's.
    pub held: usize,
}

impl Room {
    /// Room for any results, because the caller bounds the tasks.
    pub const ANY: Room = Room { results: usize::MAX, held: usize::MAX };
}

/// The outcome of waiting for a result.
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

/// A result, or the panic in its place.
pub(crate) type Made<R> = Result<R, Box<dyn Any + Send>>;

pub(crate) struct Line<I, R> {
    state: Mutex<State<I, R>>,
    /// Signals that the next result was made, or that no more results come.
    made: Condvar,
    /// Signals that there is a task and room for its result, or that no more tasks begin.
    wanted: Condvar,
    stopped: AtomicBool,
    room: Room,
    /// Whether tasks can be added.
    open: bool,
}

pub(crate) struct State<I, R> {
    pub(crate) tasks: I,
    /// Whether no tasks are left.
    done: bool,
    begun: usize,
    taken: usize,
    /// Results, with how much they hold, by the number of their task.
    ready: BTreeMap<usize, (Made<R>, usize)>,
    /// How much the ready results hold together.
    held: usize,
}

impl<I: Iterator, R> State<I, R> {
    /// Begins the next task. A panic takes the place of the task's result, and ends the tasks.
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
        // If the next result were not begun, none would be ready, and there would be room.
        self.begun >= self.taken.saturating_add(room.results.max(1)) || self.held >= room.held.max(1)
    }

    /// The number of results that are not taken yet, of the tasks so far.
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

    /// Calls `add` to add a task.
    pub(crate) fn add(&self, add: impl FnOnce(&mut I)) {
        add(&mut self.lock().tasks);
        self.wanted.notify_one();
    }

    /// Whether no task is left to begin.
    pub(crate) fn is_done(&self) -> bool {
        self.lock().done
    }

    /// Works on tasks until none is left, or all work stops.
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

    /// Marks that no task is left, unless more can be added, and wakes all that wait.
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

    /// The flag that says that no further task begins, and that nobody wants the results of running ones.
    pub(crate) fn stopped(&self) -> &AtomicBool {
        &self.stopped
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Relaxed);
        // A thread that is about to wait has the lock until it waits.
        drop(self.lock());
        self.wanted.notify_all();
    }
}

//! Work for a caller who asks for one result after the other.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::budget::{Permits, free, processors};
use crate::line::{Line, Room, Waited};

/// Makes a result from each task, on its own threads, and returns the results in the order of the tasks.
///
/// The work goes on between two calls, so it fits where [`in_order`](crate::in_order) does not: the caller decides each time whether to
/// take another result. Tasks can be added at any time. When it is dropped, no further task begins, and the second argument of the function
/// tells running work to stop.
///
/// ```
/// use std::time::Duration;
/// use popef_work::{Ahead, Room, Threads, Waited};
///
/// let room = Room { results: usize::MAX, held: 1000 };
/// let mut squares = Ahead::new("squares", Threads::These(2), room, |number: u64, _| (number * number, 1));
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
    name: &'static str,
    /// The maximum number of threads, and whether they start only while the budget has some left.
    most: usize,
    if_free: bool,
    started: Vec<JoinHandle<()>>,
}

/// The number of threads that work. One thread means the caller's own, when it wants a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// This number, whatever else works.
    These(usize),
    /// One for each free processor, but at most this number.
    Free(usize),
}

/// The work: makes a result, and says how much it holds. It checks the flag now and then, and ends early if the flag is set, because nobody
/// wants the result any more.
type Work<T, R> = dyn Fn(T, &AtomicBool) -> (R, usize) + Send + Sync;

struct Shared<T, R> {
    line: Line<Added<T>, R>,
    work: Box<Work<T, R>>,
}

/// Tasks that were added.
struct Added<T>(VecDeque<T>);

impl<T> Iterator for Added<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<T: Send + 'static, R: Send + 'static> Ahead<T, R> {
    /// Prepares work on threads with this name.
    pub fn new(
        name: &'static str,
        threads: Threads,
        room: Room,
        work: impl Fn(T, &AtomicBool) -> (R, usize) + Send + Sync + 'static,
    ) -> Self {
        let shared = Shared { line: Line::new(Added(VecDeque::new()), room, true), work: Box::new(work) };
        let (most, if_free) = match threads {
            Threads::These(most) => (most, false),
            Threads::Free(most) => (most.min(processors()), true),
        };
        Ahead { shared: Arc::new(shared), name, most: if most > 1 { most } else { 0 }, if_free, started: Vec::new() }
    }

    /// The maximum number of threads, if the system and the budget have them.
    pub fn most(&self) -> usize {
        self.most.max(1)
    }

    /// Whether the caller does the work itself when it wants a result.
    pub fn is_alone(&self) -> bool {
        self.started.is_empty()
    }

    /// The number of results that are not taken yet.
    pub fn waiting(&self) -> usize {
        self.shared.line.lock().waiting()
    }

    /// Adds a task after all others.
    pub fn add(&mut self, task: T) {
        self.shared.line.add(|tasks| tasks.0.push_back(task));
        if self.started.len() < self.most && !(self.if_free && free() == 0) {
            let shared = Arc::clone(&self.shared);
            match Builder::new().name(self.name.to_owned()).spawn(move || shared.run()) {
                Ok(thread) => self.started.push(thread),
                // The system has no thread left. The existing threads do the work, or else the caller.
                Err(_) => self.most = self.started.len(),
            }
        }
    }

    /// Takes the next result, and waits for it at most this long.
    pub fn take(&mut self, at_most: Duration) -> Waited<R> {
        let Shared { line, work } = &*self.shared;
        if self.is_alone() {
            line.work_once(|task| work(task, line.stopped()));
        }
        match line.take(at_most) {
            Waited::Made(made) => made.map_or(Waited::Lost, Waited::Made),
            Waited::Lost => Waited::Lost,
            Waited::NotYet => Waited::NotYet,
            Waited::Nothing => Waited::Nothing,
        }
    }

    /// Waits until all threads have ended. They finish what was begun.
    pub fn end(mut self) {
        self.shared.line.stop();
        for thread in mem::take(&mut self.started) {
            // A panic loses a result, which `take` has reported.
            let _ = thread.join();
        }
    }
}

impl<T, R> Shared<T, R> {
    /// The loop of each thread. A thread counts only while it works.
    fn run(&self) {
        self.line.work(|task| {
            let _permit = Permits::one();
            (self.work)(task, self.line.stopped())
        });
    }
}

impl<T, R> Drop for Ahead<T, R> {
    fn drop(&mut self) {
        self.shared.line.stop();
    }
}

impl<T, R> fmt::Debug for Ahead<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("threads", &self.started.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    fn room(held: usize) -> Room {
        Room { results: usize::MAX, held }
    }

    fn all<R: Send + 'static>(ahead: &mut Ahead<usize, R>) -> Vec<Waited<R>> {
        std::iter::from_fn(|| Some(ahead.take(Duration::MAX)).filter(|waited| !matches!(waited, Waited::Nothing)))
            .collect()
    }

    #[test]
    fn results_come_in_order_however_long_each_takes() {
        for threads in [0, 1, 2, 5] {
            let mut ahead = Ahead::new("test", Threads::These(threads), room(7), |index: usize, _| {
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
    fn the_first_result_comes_first_also_if_it_is_made_last() {
        let (second, is_second) = channel();
        let is_second = Mutex::new(is_second);
        let mut ahead = Ahead::new("test", Threads::These(2), room(7), move |index: usize, _| {
            match index {
                0 => is_second.lock().unwrap().recv().unwrap(),
                _ => second.send(()).unwrap(),
            }
            (index, 1)
        });
        (0..2).for_each(|index| ahead.add(index));
        assert_eq!(all(&mut ahead), [Waited::Made(0), Waited::Made(1)]);
    }

    #[test]
    fn results_that_wait_hold_little_more_than_the_room() {
        let (count, made) = (2000, Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&made);
        let mut ahead = Ahead::new("test", Threads::These(3), room(10), move |_: usize, _| {
            (counter.fetch_add(1, Ordering::SeqCst), 2)
        });
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
            let mut ahead = Ahead::new("test", Threads::These(threads), room(10), |index: usize, _| {
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
        let mut ahead = Ahead::new("test", Threads::These(2), room(10), move |_: usize, stop| {
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
        // The function, and with it the sender, is dropped when the last thread has ended.
        assert!(is_stopped.recv().is_err());
    }
}

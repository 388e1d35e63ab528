//! Tasks whose results the caller takes before it goes on.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use crate::crew::Crew;
use crate::line::{Line, Room, Waited};

/// Works on tasks on all free processors, and passes the results to `take` in the order of the tasks, on the calling thread. `take` can
/// stop the work.
///
/// `make` also says how much its result holds, for [`Room::held`], and gets a value that each thread has for itself. Tasks come from the
/// iterator when there is room for their results, so any number of them takes little memory. A panic of `make` reaches the caller when it
/// is that result's turn.
///
/// ```
/// use std::ops::ControlFlow;
/// use popef_work::{Room, in_order};
///
/// let mut squares = Vec::new();
/// let work = |_: &mut (), number| (number * number, 1);
/// let done: ControlFlow<()> = in_order(0..4, Room { results: 2, held: 100 }, work, |square| {
///     squares.push(square);
///     ControlFlow::Continue(())
/// });
/// assert!(done.is_continue());
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub fn in_order<T: Send, R: Send, S: Default, B>(
    tasks: impl IntoIterator<Item = T, IntoIter: Send>,
    room: Room,
    make: impl Fn(&mut S, T) -> (R, usize) + Sync,
    mut take: impl FnMut(R) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut tasks = tasks.into_iter();
    let first: Vec<T> = tasks.by_ref().take(2).collect();
    let tasks = first.into_iter().chain(tasks);
    let most = match tasks.size_hint() {
        // For one task, a thread is not worth its cost.
        (0 | 1, Some(0 | 1)) => 0,
        (_, most) => most.unwrap_or(usize::MAX),
    };
    let line = Line::new(tasks, room, false);
    let work = || {
        let mut own = S::default();
        line.work(|task| make(&mut own, task));
    };
    thread::scope(|scope| {
        let _stop = Stop(&line);
        let (mut crew, mut own, mut hired) = (Crew::new(scope, most, &work), S::default(), 0);
        loop {
            // Threads elsewhere may have ended in the meantime.
            if crew.can_grow() && !line.is_done() {
                hired = crew.hire();
            }
            if hired == 0 {
                line.work_once(|task| make(&mut own, task));
            }
            match line.take(Duration::MAX) {
                Waited::Made(made) => take(made.unwrap_or_else(|panic| resume_unwind(panic)))?,
                _ => return ControlFlow::Continue(()),
            }
        }
    })
}

/// Stops the work however taking ends, so that no thread waits for room for ever.
struct Stop<'l, I, R>(&'l Line<I, R>);

impl<I, R> Drop for Stop<'_, I, R> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;
    use crate::budget::processors;

    const ROOM: Room = Room { results: 7, held: usize::MAX };

    fn all(count: usize, make: impl Fn(usize) -> usize + Sync) -> Vec<usize> {
        let mut taken = Vec::new();
        let _: ControlFlow<()> = in_order(
            0..count,
            ROOM,
            |_: &mut (), task| (make(task), 1),
            |result| {
                taken.push(result);
                ControlFlow::Continue(())
            },
        );
        taken
    }

    #[test]
    fn results_come_in_order() {
        for count in [0, 1, 2, 10_000] {
            assert_eq!(all(count, |task| task), (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn little_more_than_the_room_waits() {
        let (made, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let room = Room { results: 1000, held: 10 };
        let make = |_: &mut (), _| (made.fetch_add(1, SeqCst) + 1, 2);
        let done: ControlFlow<()> = in_order(0..2000, room, make, |_| {
            let waiting = made.load(SeqCst) - taken.fetch_add(1, SeqCst);
            // Five results fill the room, and each thread can have begun one more before it was full.
            assert!(waiting <= 5 + processors() + 1, "{waiting} were made and not taken");
            ControlFlow::Continue(())
        });
        assert!(done.is_continue());
        assert_eq!(taken.into_inner(), 2000);
    }

    #[test]
    fn a_stop_stops() {
        let stop = |task| if task == 10 { ControlFlow::Break(task) } else { ControlFlow::Continue(()) };
        assert_eq!(in_order(0..usize::MAX, ROOM, |_: &mut (), task| (task, 1), stop), ControlFlow::Break(10));
    }

    /// Tasks that begin work themselves use the threads that are left, and wait for none.
    #[test]
    fn work_within_work_ends_and_starts_no_more_threads() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let inner = |task| {
            most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::yield_now();
            now.fetch_sub(1, SeqCst);
            task
        };
        let outer = |task| all(50, |nested| inner(nested) + task).len();
        assert_eq!(all(20, outer), vec![50; 20]);
        // The threads of the budget, and the one that each set of them works for.
        assert!(most.into_inner() <= 2 * processors(), "too many worked together");
    }

    #[test]
    fn panics_reach_the_caller_and_nobody_waits() {
        let in_make = || all(100, |task| if task == 9 { panic!("in make") } else { task }).len();
        let in_tasks = || {
            let tasks = (0..100).inspect(|&task| assert_ne!(task, 9, "in tasks"));
            let _: ControlFlow<()> = in_order(tasks, ROOM, |_: &mut (), task| (task, 1), |_| ControlFlow::Continue(()));
            0
        };
        let in_take = || {
            let take = |task| if task == 9 { panic!("in take") } else { ControlFlow::<()>::Continue(()) };
            let _ = in_order(0..100, ROOM, |_: &mut (), task| (task, 1), take);
            0
        };
        for work in [&in_make as &dyn Fn() -> usize, &in_tasks, &in_take] {
            assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
        }
    }
}

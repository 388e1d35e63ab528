//! Numbered tasks whose results come in order.

use std::ops::ControlFlow;

use popef_work::{Room, processors};

/// Makes the values for 0 to `count` on all free processors, and passes them to `take` in order.
///
/// At most about `ahead` values are made ahead of being taken. `take` runs on the calling thread and can stop the work.
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
    // Values go in groups, because threads would spend more time on waking each other than on small work.
    let size = match processors() {
        0 | 1 => 1,
        workers => count.div_euclid(workers).div_euclid(8).clamp(1, LARGEST_BATCH),
    };
    let batch = |_: &mut (), nth: usize| {
        let start = nth.saturating_mul(size);
        ((start..start.saturating_add(size).min(count)).map(&make).collect::<Vec<T>>(), 0)
    };
    let room = Room { results: ahead.div_ceil(size).max(2), held: usize::MAX };
    let _ =
        popef_work::in_order(0..count.div_ceil(size), room, batch, |values| values.into_iter().try_for_each(&mut take));
}

const LARGEST_BATCH: usize = 8;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    #[test]
    fn values_come_in_order() {
        let mut taken = Vec::new();
        in_order(
            100,
            7,
            |index| index,
            |index| {
                taken.push(index);
                ControlFlow::Continue(())
            },
        );
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

use std::fmt;

use super::Error;

/// The elements from `begin` up to, but not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    // Invariant: begin <= end.
    begin: u64,
    end: u64,
}

impl Interval {
    /// An interval, which may be empty.
    pub const fn new(begin: u64, end: u64) -> Result<Self, Error> {
        if begin <= end { Ok(Interval { begin, end }) } else { Err(Error::Backwards { begin, end }) }
    }

    /// The interval of the first `count` elements.
    pub const fn first(count: u64) -> Self {
        Interval { begin: 0, end: count }
    }

    /// The interval between two bounds, or an empty one if they are the wrong way round.
    pub(super) const fn between(begin: u64, end: u64) -> Self {
        if begin <= end { Interval { begin, end } } else { Interval { begin, end: begin } }
    }

    /// The first element.
    pub const fn begin(self) -> u64 {
        self.begin
    }

    /// The element after the last one.
    pub const fn end(self) -> u64 {
        self.end
    }

    /// The number of elements.
    pub const fn len(self) -> u64 {
        self.end - self.begin
    }

    /// Whether it has no elements.
    pub const fn is_empty(self) -> bool {
        self.begin == self.end
    }

    /// The elements that both intervals have.
    pub(super) fn common(self, other: Interval) -> Interval {
        Interval::between(self.begin.max(other.begin), self.end.min(other.end))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.begin, self.end)
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.begin, self.end)
    }
}

/// Serialises as the list `[begin, end]`.
#[cfg(feature = "serde")]
impl serde::Serialize for Interval {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.begin, self.end].serialize(serializer)
    }
}

/// Sorts intervals, drops empty ones and joins those that overlap or touch.
pub(super) fn joined(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.retain(|interval| !interval.is_empty());
    intervals.sort_unstable();
    intervals.dedup_by(|next, last| {
        let joins = next.begin <= last.end;
        if joins {
            last.end = last.end.max(next.end);
        }
        joins
    });
    intervals
}

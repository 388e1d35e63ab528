//! Filter, sort and limit.

use std::cmp::Reverse;
use std::ops::Range;

/// Which rows of an analysis are wanted, and in which order.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection<'s> {
    /// Only rows whose name contains this.
    pub name: Option<&'s str>,
    /// Only rows with numbers in these ranges. Categories and layers have no numbers.
    pub numbers: Option<&'s [Range<u32>]>,
    /// The order of the rows.
    pub sort: Sort,
    /// The maximum number of rows, after sorting.
    pub limit: Option<usize>,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sort {
    /// Those with the most bytes or cycles first. Among equal ones, the lower number is first.
    #[default]
    Largest,
    /// In the order of the report.
    Number,
    /// By name, and then by number.
    Name,
    /// Those with the most code first. Rows that say nothing of code are in the order of the report.
    Code,
}

/// A row of an analysis.
pub trait Row {
    /// What it is called, if it has a name.
    fn name(&self) -> Option<&str>;

    /// Its number among its kind, if it has one.
    fn number(&self) -> Option<u32>;

    /// Its bytes or cycles.
    fn weight(&self) -> u64;

    /// The bytes of its code, if that is known.
    fn code(&self) -> Option<u64> {
        None
    }
}

impl<'s> Selection<'s> {
    /// The largest `limit` rows.
    pub fn largest(limit: usize) -> Self {
        Selection { limit: Some(limit), ..Selection::default() }
    }

    /// Only rows whose name contains `name`.
    pub fn named(self, name: Option<&'s str>) -> Self {
        Selection { name, ..self }
    }

    /// Only rows with numbers in these ranges.
    pub fn numbered(self, numbers: Option<&'s [Range<u32>]>) -> Self {
        Selection { numbers, ..self }
    }

    /// Rows in another order.
    pub fn sorted(self, sort: Sort) -> Self {
        Selection { sort, ..self }
    }

    /// Whether a row with this name and number is wanted.
    pub(super) fn has(&self, name: Option<&str>, number: Option<u32>) -> bool {
        self.name.is_none_or(|part| name.is_some_and(|name| name.contains(part)))
            && self
                .numbers
                .is_none_or(|ranges| number.is_some_and(|number| ranges.iter().any(|range| range.contains(&number))))
    }

    /// Chooses from rows in the order of the report. No more than twice the limit are in memory at a time.
    pub fn choose<R: Row>(&self, rows: impl IntoIterator<Item = R>) -> Vec<R> {
        let wanted = rows.into_iter().filter(|row| self.has(row.name(), row.number()));
        first(wanted, self.limit, |rows| self.arrange(rows))
    }

    /// Sorts rows. Equal ones stay in the order of the report.
    fn arrange<R: Row>(&self, rows: &mut [R]) {
        match self.sort {
            Sort::Largest => rows.sort_by_key(|row| Reverse(row.weight())),
            Sort::Number => {}
            Sort::Code => rows.sort_by_key(|row| Reverse(row.code())),
            Sort::Name => rows.sort_by(|one, other| one.name().cmp(&other.name())),
        }
    }
}

/// The first `limit` items after sorting. No more than twice the limit are in memory at a time.
pub(super) fn first<T>(all: impl IntoIterator<Item = T>, limit: Option<usize>, sort: impl Fn(&mut [T])) -> Vec<T> {
    let limit = limit.unwrap_or(usize::MAX);
    let mut kept = Vec::new();
    for item in all {
        kept.push(item);
        if kept.len() >= limit.saturating_mul(2) {
            sort(&mut kept);
            kept.truncate(limit);
        }
    }
    sort(&mut kept);
    kept.truncate(limit);
    kept
}

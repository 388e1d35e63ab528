//! Filter, sort and limit.

/// Which rows of an analysis are wanted, and in which order.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection<'s> {
    /// Only rows whose name contains this.
    pub name: Option<&'s str>,
    /// In which order.
    pub sort: Sort,
    /// At most so many, after sorting.
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
}

/// A row of an analysis.
pub trait Row {
    /// What it is called, if it has a name.
    fn name(&self) -> Option<&str>;

    /// Its bytes or cycles.
    fn weight(&self) -> u64;
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

    /// In another order.
    pub fn sorted(self, sort: Sort) -> Self {
        Selection { sort, ..self }
    }

    /// The rows that are wanted. They come in the order of the report.
    pub fn of<R: Row>(&self, mut rows: Vec<R>) -> Vec<R> {
        if let Some(part) = self.name {
            rows.retain(|row| row.name().is_some_and(|name| name.contains(part)));
        }
        match self.sort {
            Sort::Largest => rows.sort_by_key(|row| std::cmp::Reverse(row.weight())),
            Sort::Number => {}
            Sort::Name => rows.sort_by(|one, other| one.name().cmp(&other.name())),
        }
        rows.truncate(self.limit.unwrap_or(usize::MAX));
        rows
    }

    /// The same as [`of`](Self::of), if few of many rows are wanted: no more than twice the limit are in memory at a time.
    pub(super) fn of_many<R: Row>(&self, rows: impl Iterator<Item = R>) -> Vec<R> {
        let Some(limit) = self.limit else { return self.of(rows.collect()) };
        let most = limit.saturating_mul(2).max(1);
        let mut kept: Vec<R> = Vec::new();
        for row in rows {
            if kept.len() >= most {
                // Sorting is stable, and what comes later has a higher number: equal rows stay in the order of the report.
                kept = self.of(kept);
            }
            kept.push(row);
        }
        self.of(kept)
    }
}

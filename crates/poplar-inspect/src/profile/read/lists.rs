//! Lists.

use crate::profile::document::{Doc, Result};
use crate::profile::lengths::Lengths;
use crate::profile::matrix::{Matrix, Row, RowSums};

/// A list with one integer for each tile.
pub(super) fn by_tile(doc: &mut Doc<'_>, lengths: &mut Lengths) -> Result<Vec<u64>> {
    let list = uints(doc)?;
    lengths.note(list.len(), doc.path(), doc.position());
    Ok(list)
}

/// The list by tile in an object that has nothing else.
pub(super) fn only_list(doc: &mut Doc<'_>, lengths: &mut Lengths, name: &str) -> Result<Vec<u64>> {
    let mut list = None;
    doc.object(|doc, key| if key == name { doc.fill(&mut list, |doc| by_tile(doc, lengths)) } else { Ok(false) })?;
    Ok(list.unwrap_or_default())
}

/// A list of integers.
pub(super) fn uints(doc: &mut Doc<'_>) -> Result<Vec<u64>> {
    let mut list = Vec::new();
    doc.uints(|_, value| list.push(value))?;
    list.shrink_to_fit();
    Ok(list)
}

/// What is kept of a matrix.
#[derive(Clone, Copy)]
pub(super) enum Lists {
    /// Every integer, if all together take at most `most` bytes.
    EachTile { most: u64 },
    /// The sums.
    TileSums,
}

/// A list of lists of integers.
pub(super) fn matrix(doc: &mut Doc<'_>, lengths: &mut Lengths, lists: Lists) -> Result<Matrix> {
    let mut rows = Vec::new();
    // The values, and the number of bytes that are left for more.
    let mut values = match lists {
        Lists::EachTile { most } => Some((Vec::new(), most)),
        Lists::TileSums => None,
    };
    let mut row = Vec::new();
    doc.array(|doc, _| {
        let mut sums = RowSums::default();
        row.clear();
        let len = if values.is_some() {
            doc.uints(|tile, value| {
                sums.add(tile, value);
                row.push(value);
            })?
        } else {
            doc.uints(|tile, value| sums.add(tile, value))?
        };
        lengths.note(len, doc.path(), doc.position());
        rows.push(sums);
        if let Some((mut kept, room)) = values.take() {
            let row = Row::of(&row);
            values = room.checked_sub(row.bytes()).map(|room| {
                kept.push(row);
                (kept, room)
            });
        }
        Ok(())
    })?;
    Ok(Matrix { rows, values: values.map(|(kept, _)| kept) })
}

/// Calls `each` for all integers in lists that are not 0, with the number of the list, the place in it, and the
/// integer.
pub(super) fn not_zero(doc: &mut Doc<'_>, mut each: impl FnMut(u32, u32, u64)) -> Result<()> {
    let index = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    doc.array(|doc, row| {
        doc.uints(|place, value| {
            if value > 0 {
                each(index(row), index(place), value);
            }
        })?;
        Ok(())
    })
}

/// A list of indices.
pub(super) fn indices(doc: &mut Doc<'_>) -> Result<Vec<u32>> {
    doc.list(Doc::index)
}

/// A list of texts.
pub(super) fn texts(doc: &mut Doc<'_>) -> Result<Vec<Box<str>>> {
    doc.list(Doc::text)
}

use popef::{DataType, Elements, Error, Value};

use super::stats::Stats;
use crate::progress::Progress;

/// The first elements of a tensor and its figures.
pub(crate) struct Values {
    pub(crate) first: Vec<Shown>,
    /// Whether there are more elements than those.
    pub(crate) more: bool,
    pub(crate) count: u64,
    /// None where the type's bits have no known meaning.
    pub(crate) stats: Option<Stats>,
}

/// An element as it can be shown.
#[derive(Clone, Copy)]
pub(crate) enum Shown {
    Value(Value),
    /// The byte of an `f8`, whose meaning the file does not tell.
    Bits(u8),
}

impl Values {
    pub(crate) fn of(elements: &Elements<'_>, first: u64, progress: &Progress) -> Result<Values, Error> {
        let shown = match elements.data_type() {
            DataType::F8 => bits(elements, first)?,
            _ => {
                let first = usize::try_from(first).unwrap_or(usize::MAX);
                elements.values()?.take(first).map(|value| Ok(Shown::Value(value?))).collect::<Result<_, Error>>()?
            }
        };
        Ok(Values {
            more: first < elements.len(),
            first: shown,
            count: elements.len(),
            stats: Stats::of(elements, progress)?,
        })
    }
}

fn bits(elements: &Elements<'_>, first: u64) -> Result<Vec<Shown>, Error> {
    let data = elements.data();
    let bytes = data.range(0..first.min(data.len()))?.read()?;
    Ok(bytes.iter().map(|&byte| Shown::Bits(byte)).collect())
}

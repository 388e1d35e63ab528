use std::cell::OnceCell;
use std::io::{BufReader, Read as _};

use popef::read::{Elements, Value};
use popef::types::Diagnostic;
use popef::{DataType, Error};

use super::options::Options;
use super::stats::Stats;

/// The first elements of a tensor, and statistics of all.
pub(crate) struct Values<'f> {
    elements: Elements<'f>,
    /// The number of first elements that were requested.
    limit: u64,
    /// `None` if the type's bits have no known meaning.
    pub(crate) stats: Option<Stats>,
    late: OnceCell<Diagnostic>,
}

/// An element as it can be shown.
#[derive(Clone, Copy)]
pub(crate) enum Element {
    Value(Value),
    /// The byte of an `f8`, whose meaning the file does not say.
    Bits(u8),
}

impl<'f> Values<'f> {
    /// Reads all elements for their statistics. This also shows whether they are sound.
    pub(crate) fn of(elements: &Elements<'f>, limit: u64, options: &Options) -> Result<Values<'f>, Error> {
        let stats = Stats::of(elements, &*options.workers, &options.progress)?;
        Ok(Values { elements: *elements, limit, stats, late: OnceCell::new() })
    }

    pub(crate) fn count(&self) -> u64 {
        self.elements.len()
    }

    /// Whether there are more elements than were requested.
    pub(crate) fn more(&self) -> bool {
        self.limit < self.count()
    }

    /// The first elements. They are read while they are shown, because they can be all elements of the tensor.
    pub(crate) fn first(&self) -> Box<dyn Iterator<Item = Element> + '_> {
        match self.elements.data_type() {
            DataType::F8 => {
                let bytes = BufReader::new(self.elements.data().reader().take(self.limit)).bytes();
                Box::new(bytes.map_while(|byte| self.or_late(byte.map_err(Diagnostic::from))).map(Element::Bits))
            }
            _ => {
                let values = self.elements.values().into_iter().flatten();
                let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
                let values = values.take(limit).map_while(|value| self.or_late(value.map_err(Diagnostic::from)));
                Box::new(values.map(Element::Value))
            }
        }
    }

    /// Why the first elements could not be read this time, although all could be read before.
    pub(crate) fn late_failure(&self) -> Option<&Diagnostic> {
        self.late.get()
    }

    fn or_late<T>(&self, element: Result<T, Diagnostic>) -> Option<T> {
        element.map_err(|failure| drop(self.late.set(failure))).ok()
    }
}

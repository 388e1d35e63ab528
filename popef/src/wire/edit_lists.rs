//! Sets the lists of structs of Metadata that was read. Elements keep their fields of a later version of the format.

use capnp::message::{Reader, ReaderOptions, SegmentArray};
use capnp::struct_list;
use capnp::traits::{HasStructSize as _, OwnedStruct};

use super::fields::Fields;
use super::popef_capnp as schema;
use super::set::{count, set_anchor, set_option, set_program};
use super::words::WORD;
use crate::error::Problem;
use crate::len::as_u64;
use crate::types::{ElementSources, Metadata};

/// Replaces the lists of `to` by those of `new`. `old` is the message as it was read.
pub(super) fn set_lists(
    mut to: schema::metadata::Builder<'_>,
    old: schema::metadata::Reader<'_>,
    new: &Metadata,
    sources: &ElementSources,
    fields: Fields<'_>,
) -> Result<(), Problem> {
    let list = NewList { field: "anchors", old: fields.get(old.get_anchors(), "anchors")?, fields };
    list.make(&new.anchors, &sources.anchors, set_anchor, |blank| {
        to.set_anchors(blank)?;
        to.reborrow().get_anchors()
    })?;
    let list = NewList { field: "engineOptions", old: fields.get(old.get_engine_options(), "engineOptions")?, fields };
    list.make(&new.engine_options, &sources.engine_options, set_option, |blank| {
        to.set_engine_options(blank)?;
        to.reborrow().get_engine_options()
    })?;
    let list = NewList { field: "deviceOptions", old: fields.get(old.get_device_options(), "deviceOptions")?, fields };
    list.make(&new.device_options, &sources.device_options, set_option, |blank| {
        to.set_device_options(blank)?;
        to.reborrow().get_device_options()
    })?;
    let list = NewList { field: "programsMap", old: fields.get(old.get_programs_map(), "programsMap")?, fields };
    list.make(&new.programs_map, &sources.programs_map, set_program, |blank| {
        to.set_programs_map(blank)?;
        to.reborrow().get_programs_map()
    })
}

/// A list that takes the place of an old one.
struct NewList<'m, T: OwnedStruct> {
    field: &'static str,
    old: struct_list::Reader<'m, T>,
    fields: Fields<'m>,
}

impl<T: OwnedStruct> NewList<'_, T> {
    /// Makes a list of zeros, has `place` put it into the message, and sets its elements.
    fn make<'b, V>(
        &self,
        values: &[V],
        sources: &[Option<usize>],
        set: fn(T::Builder<'_>, &V) -> Result<(), Problem>,
        place: impl FnOnce(struct_list::Reader<'_, T>) -> capnp::Result<struct_list::Builder<'b, T>>,
    ) -> Result<(), Problem> {
        let Self { field, old, fields } = *self;
        let blank = blank(count(values), size_of_elements(old))?;
        let segments = [blank.as_slice()];
        let options = ReaderOptions { traversal_limit_in_words: None, ..ReaderOptions::new() };
        let reader = Reader::new(SegmentArray::new(&segments), options);
        let mut list = fields.get(reader.get_root().and_then(place), field)?;
        let sources = sources.iter().copied().chain(std::iter::repeat(None));
        for ((index, value), source) in (0..).zip(values).zip(sources) {
            if let Some(element) = source.and_then(|source| old.try_get(u32::try_from(source).ok()?)) {
                fields.get(list.set_with_caveats(index, element), field)?;
            }
            set(list.reborrow().get(index), value)?;
        }
        Ok(())
    }
}

/// The words of data and the pointers that an element of the list has, at least those of this version of the schema.
fn size_of_elements<T: OwnedStruct>(list: struct_list::Reader<'_, T>) -> [u64; 2] {
    let known = T::Builder::STRUCT_SIZE;
    let element = || list.try_get(0);
    let data = element().map_or(0, |element| capnp::raw::get_struct_data_section(element).len().div_ceil(WORD));
    let pointers = element().map_or(0, |element| capnp::raw::get_struct_pointer_section(element).len());
    [
        u64::from(known.data).max(as_u64(data)),
        u64::from(known.pointers.max(u16::try_from(pointers).unwrap_or(u16::MAX))),
    ]
}

/// A segment whose root is a list of structs of zeros.
///
/// The builders of `capnp` make elements as large as this version of the schema needs. The elements of a copied list are as
/// large as those of the original, so this is an original to copy.
fn blank(elements: u32, [data, pointers]: [u64; 2]) -> Result<Vec<u8>, Problem> {
    /// The type of a pointer to a list, and the type of a list whose elements are structs.
    const LIST: u64 = 1;
    const STRUCTS: u64 = 7;

    let words = u64::from(elements).saturating_mul(data.saturating_add(pointers));
    let len = usize::try_from(words).unwrap_or(usize::MAX).saturating_add(2).saturating_mul(WORD);
    let mut bytes = Vec::new();
    Problem::in_memory(len, bytes.try_reserve_exact(len))?;
    // The pointer is followed by the list, which begins with a tag: the number of its elements, and their size.
    bytes.extend_from_slice(&(LIST | STRUCTS << 32 | words << 35).to_le_bytes());
    bytes.extend_from_slice(&(u64::from(elements) << 2 | data << 32 | pointers << 48).to_le_bytes());
    bytes.resize(len, 0);
    Ok(bytes)
}

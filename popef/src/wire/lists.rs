//! The lists of structs of Metadata, as values or in a message that was read.

use super::metadata::{AnchorRef, MetadataRef, OptionRef, Part, Parts, ProgramRef};
use crate::error::Problem;
use crate::types::{Anchor, EngineOption, Metadata, ProgramInfo};

/// The lists of Metadata, whose elements can be gone through more than once.
pub(super) struct Lists<'l, A, O, P> {
    pub(super) anchors: &'l A,
    pub(super) engine_options: &'l O,
    pub(super) device_options: &'l O,
    pub(super) programs_map: &'l P,
}

/// The elements of a list.
pub(super) trait Elements<T> {
    fn count(&self) -> usize;
    fn each(&self, each: impl FnMut(&T) -> Result<(), Problem>) -> Result<(), Problem>;
}

impl<T> Elements<T> for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn each(&self, each: impl FnMut(&T) -> Result<(), Problem>) -> Result<(), Problem> {
        self.iter().try_for_each(each)
    }
}

/// Only one value is in memory at a time.
impl<'m, P: Part<'m>> Elements<P::Value> for Parts<'m, P> {
    fn count(&self) -> usize {
        self.iter().len()
    }

    fn each(&self, mut each: impl FnMut(&P::Value) -> Result<(), Problem>) -> Result<(), Problem> {
        self.iter().try_for_each(|part| each(&part?.read()?))
    }
}

impl<'l> Lists<'l, Vec<Anchor>, Vec<EngineOption>, Vec<ProgramInfo>> {
    pub(super) fn of(metadata: &'l Metadata) -> Self {
        let Metadata { anchors, engine_options, device_options, programs_map, .. } = metadata;
        Lists { anchors, engine_options, device_options, programs_map }
    }
}

impl<'l, 'm> Lists<'l, Parts<'m, AnchorRef<'m>>, Parts<'m, OptionRef<'m>>, Parts<'m, ProgramRef<'m>>> {
    pub(super) fn of_message(read: &'l MetadataRef<'m>) -> Self {
        let MetadataRef { anchors, engine_options, device_options, programs_map, .. } = read;
        Lists { anchors, engine_options, device_options, programs_map }
    }
}

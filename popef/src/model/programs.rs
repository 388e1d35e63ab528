use super::Phase;
use crate::error::{Problem, with_room_for};
use crate::types::{Metadata, ProgramInfo, Text};

/// Indices of programs, sorted for quick lookup.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    /// The index of a program and its place in the programs map. Lookup finds the first entry of an index.
    names: Vec<(u32, u32)>,
    load: Vec<u32>,
    main: Vec<u32>,
    save: Vec<u32>,
}

impl Programs {
    pub(super) fn of(metadata: &Metadata) -> Result<Self, Problem> {
        let flow = &metadata.program_flow;
        Ok(Programs {
            names: sorted(
                metadata.programs_map.len(),
                metadata.programs_map.iter().zip(0..).map(|(info, at)| (info.index, at)),
            )?,
            load: sorted(flow.load.len(), flow.load.iter().copied())?,
            main: sorted(flow.main.len(), flow.main.iter().copied())?,
            save: sorted(flow.save.len(), flow.save.iter().copied())?,
        })
    }

    pub(super) fn name<'m>(&self, index: u32, map: &'m [ProgramInfo]) -> Option<&'m Text<'static>> {
        let at = self.names.partition_point(|&(other, _)| other < index);
        let &(_, place) = self.names.get(at).filter(|&&(other, _)| other == index)?;
        map.get(usize::try_from(place).ok()?).map(|info| &info.name)
    }

    pub(super) fn runs(&self, index: u32, phase: Phase) -> bool {
        let flow = match phase {
            Phase::Load => &self.load,
            Phase::Main => &self.main,
            Phase::Save => &self.save,
        };
        flow.binary_search(&index).is_ok()
    }
}

fn sorted<T: Ord>(len: usize, items: impl Iterator<Item = T>) -> Result<Vec<T>, Problem> {
    let mut sorted = with_room_for(len)?;
    sorted.extend(items);
    sorted.sort_unstable();
    Ok(sorted)
}

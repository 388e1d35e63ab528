//! Anchors in groups: those of one group come from the same place and belong to the same programs.

use std::collections::BTreeMap;

use popef::Metadata;
use popef::types::{Anchor, TensorType, Text};

use super::amount;
use crate::output::shown::Shown;
use crate::report::file::FileReport;
use crate::report::metadata::{AnchorView, MetadataView, Provider};

/// The side of the picture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Input,
    Output,
}

/// Where data comes from or goes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Tensor,
    Feed,
    User,
    Unknown,
}

/// The phases of the flow, in which programs run.
pub(super) const PHASES: [(&str, &str); 3] =
    [("load", "once, at the start"), ("main", "in every call"), ("save", "once, at the end")];

/// Which phases an anchor belongs to, as a bit per phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Phases(u8);

pub(super) struct Groups<'v> {
    pub(super) list: Vec<Group<'v>>,
}

pub(super) struct Group<'v> {
    pub(super) side: Side,
    pub(super) end: End,
    pub(super) in_phases: Phases,
    /// The first few.
    pub(super) first: Vec<AnchorView<'v>>,
    pub(super) count: usize,
    pub(super) bytes: u64,
    /// Whether the direction of the anchors is unknown.
    is_unclear: bool,
}

impl<'v> Groups<'v> {
    pub(super) fn of(reports: &[FileReport<'_>], view: &'v MetadataView<'_>, metadata: &Metadata) -> Self {
        let flow = Flow::of(metadata);
        let mut groups: BTreeMap<_, Group<'v>> = BTreeMap::new();
        for view in view.anchors() {
            let side = if view.anchor.tensor_type == TensorType::Output { Side::Output } else { Side::Input };
            let is_unclear = !matches!(view.anchor.tensor_type, TensorType::Input | TensorType::Output);
            let (end, in_phases) = (end(reports, &view), flow.phases(view.anchor));
            let key = (side, is_unclear, in_phases.first(), end, in_phases);
            let new = || Group { side, end, in_phases, first: Vec::new(), count: 0, bytes: 0, is_unclear };
            groups.entry(key).or_insert_with(new).add(view);
        }
        Groups { list: groups.into_values().collect() }
    }

    pub(super) fn on(&self, side: Side) -> Vec<&Group<'v>> {
        self.list.iter().filter(|group| group.side == side).collect()
    }
}

impl<'v> Group<'v> {
    /// The number of anchors that are named.
    const FIRST: usize = 6;

    fn add(&mut self, view: AnchorView<'v>) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(view.size.unwrap_or(0));
        // One more is named rather than counted.
        if self.first.len() <= Self::FIRST {
            self.first.push(view);
        }
    }

    pub(super) fn named(&self) -> &[AnchorView<'v>] {
        let most = if self.count > Self::FIRST + 1 { Self::FIRST } else { self.first.len() };
        self.first.get(..most).unwrap_or(&self.first)
    }

    /// `From tensors: 2 inputs, 1.5 KiB`
    pub(super) fn title(&self) -> Shown<'static> {
        let what = match (self.side, self.end) {
            _ if self.is_unclear => "Direction not known",
            (Side::Input, End::Tensor) => "From tensors",
            (Side::Input, End::Feed) => "From feeds",
            (Side::Input, End::User) => "You provide",
            (Side::Output, End::User) => "You get",
            (Side::Output, _) if self.end != End::Unknown => "Updated tensors",
            _ => "Provider not known",
        };
        let (one, many) = if self.side == Side::Input { ("input", "inputs") } else { ("output", "outputs") };
        shown!("{}: {}", what, amount(self.count, self.bytes, one, many))
    }

    /// The phases in words.
    pub(super) fn phases(&self) -> Shown<'static> {
        let phases = PHASES.iter().enumerate().filter(|(nth, _)| self.in_phases.has(*nth));
        let names = Shown::joined(phases.map(|(_, (name, _))| *name), " and ");
        if names.is_empty() { Shown::own("in no phase") } else { names }
    }
}

impl Phases {
    pub(super) fn has(self, phase: usize) -> bool {
        self.0 >> phase & 1 == 1
    }

    /// The first phase, or a number beyond the last if there is none.
    fn first(self) -> u32 {
        self.0.trailing_zeros()
    }
}

fn end(reports: &[FileReport<'_>], view: &AnchorView<'_>) -> End {
    match view.provider {
        Provider::User => End::User,
        Provider::Unknown => End::Unknown,
        Provider::Popef if is_tensor(reports, &view.anchor.name) => End::Tensor,
        Provider::Popef => End::Feed,
    }
}

fn is_tensor(reports: &[FileReport<'_>], name: &Text<'_>) -> bool {
    reports.iter().filter_map(|report| report.input.file).any(|file| file.tensor(name.as_bytes()).is_some())
}

/// The programs of each phase, sorted for quick lookup.
struct Flow([Vec<u32>; 3]);

impl Flow {
    fn of(metadata: &Metadata) -> Self {
        let flow = &metadata.program_flow;
        Flow([&flow.load, &flow.main, &flow.save].map(|programs| {
            let mut programs = programs.clone();
            programs.sort_unstable();
            programs
        }))
    }

    fn phases(&self, anchor: &Anchor) -> Phases {
        let runs = |phase: &[u32]| anchor.programs.iter().any(|program| phase.binary_search(program).is_ok());
        let bits = self.0.iter().enumerate().map(|(nth, phase)| u8::from(runs(phase)) << nth);
        Phases(bits.fold(0, |all, bit| all | bit))
    }
}

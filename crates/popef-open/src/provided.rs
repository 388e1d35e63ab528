use std::collections::HashSet;
use std::fmt;
use std::sync::OnceLock;

use popef::File;
use popef::types::Text;

use crate::open::Opened;

/// The names for which files have data: those of all tensors and feeds.
///
/// The data of an anchor comes from a tensor or feed with its name, or else from the user. The names are collected at the first question,
/// because files of weights have many names and no anchors.
pub struct Provided<'f> {
    gather: Box<dyn Fn() -> Names<'f> + Sync + 'f>,
    names: OnceLock<Names<'f>>,
}

/// Whether files have data for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A tensor or a feed has the name.
    Present,
    /// Nothing has the name, and all files were read to their ends.
    Absent,
    /// Nothing with the name was found, but a file could not be read to its end.
    Unknown,
}

/// Names of tensors and feeds.
#[derive(Debug, Default)]
pub(crate) struct Names<'f> {
    names: HashSet<Text<'f>>,
    /// Whether there may be more names, which could not be read.
    incomplete: bool,
}

impl<'f> Provided<'f> {
    pub(crate) fn gathered(gather: impl Fn() -> Names<'f> + Sync + 'f) -> Self {
        Provided { gather: Box::new(gather), names: OnceLock::new() }
    }

    /// Whether there is data for an anchor of this name.
    pub fn has(&self, anchor: &Text<'_>) -> Presence {
        let all = self.names.get_or_init(&self.gather);
        if all.names.contains(anchor) {
            Presence::Present
        } else if all.incomplete {
            Presence::Unknown
        } else {
            Presence::Absent
        }
    }
}

impl fmt::Debug for Provided<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provided").field("names", &self.names.get()).finish_non_exhaustive()
    }
}

impl<'f> Names<'f> {
    /// The names in one file.
    pub(crate) fn of(opened: &'f Opened) -> Self {
        let names = opened.file().into_iter().flat_map(names).collect();
        Names { names, incomplete: opened.error().is_some() }
    }

    pub(crate) fn add(&mut self, others: Names<'f>) {
        self.names.extend(others.names);
        self.incomplete |= others.incomplete;
    }

    pub(crate) fn into_owned<'n>(self) -> Names<'n> {
        let Names { names, incomplete } = self;
        Names { names: names.into_iter().map(Text::into_owned).collect(), incomplete }
    }
}

fn names(file: &File) -> impl Iterator<Item = Text<'_>> {
    file.tensors().map(|tensor| tensor.name()).chain(file.feeds().map(|feed| feed.name()))
}

//! Who provides an anchor's data: a tensor or feed of its name in any of the files given, or else the user.

use std::collections::HashSet;
use std::sync::OnceLock;

use popef::{File, Text};

/// The names of all tensors and feeds of the files given together.
///
/// Those of open files are gathered when the first anchor asks: a file of weights alone has names enough and no anchor.
pub(crate) struct Provided<'f> {
    files: Vec<&'f File>,
    names: OnceLock<HashSet<Text<'f>>>,
    /// Those of files that are closed again.
    closed: HashSet<Text<'static>>,
}

impl<'f> Provided<'f> {
    pub(crate) fn by(files: Vec<&'f File>, closed: HashSet<Text<'static>>) -> Self {
        Provided { files, names: OnceLock::new(), closed }
    }

    /// Whether the data of an anchor of this name has to come from the user.
    pub(crate) fn by_user(&self, anchor: &Text<'_>) -> bool {
        let gather = || self.files.iter().flat_map(|file| names(file)).collect();
        !self.closed.contains(anchor) && !self.names.get_or_init(gather).contains(anchor)
    }
}

/// The names that a file has data for.
pub(crate) fn names(file: &File) -> impl Iterator<Item = Text<'_>> {
    file.tensors().map(|tensor| tensor.name()).chain(file.feeds().map(|feed| feed.name()))
}

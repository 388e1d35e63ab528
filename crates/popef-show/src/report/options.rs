use std::fmt;
use std::ops::ControlFlow;

use popef::types::{BlobType, Text};

use super::glob::Glob;
use crate::output::progress::ProgressLine;
use popef::seam::named;

/// The parts of files to show, and how to read them.
///
/// ```
/// use popef_show::{Glob, Options, Select, Sort};
///
/// let mut options = Options::default();
/// options.select = Some(Select { tensors: true, ..Select::default() });
/// options.filter = vec![Glob::parse("layer*.weight")?];
/// options.sort = Sort::Size;
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The parts to show. With none selected, text is an overview, and the other formats show everything.
    pub select: Option<Select>,
    /// Only blobs of these types, or all if the list is empty.
    pub types: Vec<BlobType>,
    /// Only things with a name that one of these matches, or everything if the list is empty. Metadata matches by the name of
    /// its executable or of any of its anchors.
    pub filter: Vec<Glob>,
    /// Leaves out things with a name that one of these matches. Metadata is left out by the name of its executable.
    pub exclude: Vec<Glob>,
    /// Whether upper and lower case of ASCII letters are the same for `filter` and `exclude`.
    pub ignore_case: bool,
    /// The order within a file.
    pub sort: Sort,
    /// Whether the overview shows all names in full, even if they do not fit the screen.
    pub full_names: bool,
    /// The number of first elements of each tensor to show, with statistics of all.
    pub values: Option<u64>,
    /// Whether to show the facts in executables' own first bytes, and everything in opaque blobs.
    pub inside: bool,
    /// Whether to show which tiles executables have. They are read completely for this.
    pub tiles: bool,
    /// The threads that compute statistics.
    pub workers: Box<dyn Workers>,
    /// The line that shows how much of the values was read.
    pub progress: ProgressLine,
}

/// The parts of a file that can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// Metadata without its anchors.
    pub metadata: bool,
    /// Anchors.
    pub anchors: bool,
    /// Only the anchors whose data the user provides.
    pub user_anchors: bool,
    /// Executables.
    pub executables: bool,
    /// Tensors.
    pub tensors: bool,
    /// Feeds.
    pub feeds: bool,
    /// Opaque blobs.
    pub opaques: bool,
    /// Blobs of unknown types.
    pub unknown: bool,
}

named! {
    /// The order of the blobs and the anchors of a file.
    #[derive(Default)]
    pub enum Sort {
        /// The order of the file.
        #[default]
        Offset = "offset",
        /// By name, with numbers in names as numbers: t2 before t10.
        Name = "name",
        /// The largest first.
        Size = "size",
    }
}

impl Options {
    /// Whether to show who provides an anchor's data. This needs the names in all files.
    pub fn shows_anchors(&self) -> bool {
        let select = self.selected();
        select.anchors || select.user_anchors
    }

    pub(crate) fn selected(&self) -> Select {
        self.select.unwrap_or(Select::ALL)
    }

    /// Whether a name matches the filter.
    pub(crate) fn passes(&self, name: &Text<'_>) -> bool {
        (self.filter.is_empty() || self.is_any_of(&self.filter, name)) && !self.is_excluded(name)
    }

    /// Whether a name is one of those to leave out.
    pub(crate) fn is_excluded(&self, name: &Text<'_>) -> bool {
        self.is_any_of(&self.exclude, name)
    }

    /// Whether blobs of a type pass the filter.
    pub(crate) fn passes_type(&self, blob_type: BlobType) -> bool {
        self.types.is_empty() || self.types.contains(&blob_type)
    }

    /// Whether every blob passes the filter.
    pub fn pass_all(&self) -> bool {
        self.types.is_empty() && self.filter.is_empty() && self.exclude.is_empty()
    }

    fn is_any_of(&self, globs: &[Glob], name: &Text<'_>) -> bool {
        if globs.is_empty() {
            return false;
        }
        let name = name.to_string_lossy();
        globs.iter().any(|glob| glob.matches(&name, self.ignore_case))
    }
}

impl Select {
    /// All parts.
    pub const ALL: Select = Select {
        metadata: true,
        anchors: true,
        user_anchors: false,
        executables: true,
        tensors: true,
        feeds: true,
        opaques: true,
        unknown: true,
    };
}

/// Does the parts of a long work, such as the statistics of a large tensor. This crate starts no threads; a program that has
/// some lends them here.
///
/// ```
/// use std::ops::ControlFlow;
///
/// #[derive(Debug)]
/// struct AllProcessors;
///
/// impl popef_show::Workers for AllProcessors {
///     fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
///         // As `popef_open::in_order` does it: at most 32 parts are done and wait for those before them.
/// #       popef_show::OneThread.run(count, work, done);
///     }
/// }
/// ```
pub trait Workers: Sync + fmt::Debug {
    /// Calls `work` for 0 to `count`, on any threads and in any order, and `done` on this thread for each that is done, in
    /// order. `done` can stop the work.
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>);
}

/// The calling thread does all the work.
#[derive(Clone, Copy, Debug)]
pub struct OneThread;

impl Default for Box<dyn Workers> {
    fn default() -> Self {
        Box::new(OneThread)
    }
}

impl Workers for OneThread {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
        let _ = (0..count).try_for_each(|index| {
            work(index);
            done(index)
        });
    }
}

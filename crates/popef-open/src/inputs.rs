use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::how::StreamData;
use crate::open::{Opened, is_stdin, open};
use crate::ordered::in_order;
use crate::provided::{Names, Provided};

/// The maximum number of files that are opened ahead.
const AHEAD: usize = 16;

/// The files to read, and how.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::path::PathBuf;
///
/// use popef_open::{StreamData, Inputs};
///
/// let paths = [PathBuf::from("no-such-file.popef"), PathBuf::from(".")];
/// let inputs = Inputs { paths: &paths, data: StreamData::Skip, together: false, opening: &|_| {} };
/// let mut could_be_read = Vec::new();
/// inputs.each(
///     |_, opened, _| opened.error().is_none(),
///     |read| {
///         could_be_read.push(read);
///         ControlFlow::Continue(())
///     },
/// );
/// assert_eq!(could_be_read, [false, false]);
/// ```
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The paths, as [`open`] takes them.
    pub paths: &'a [PathBuf],
    /// Whether the data of streams is wanted too.
    pub data: StreamData,
    /// Whether [`Provided`] has the names in all files, or only those in one file. If all, streams stay open until all names are known.
    pub together: bool,
    /// Called with each path before it is opened, on the thread that opens it.
    pub opening: &'a (dyn Fn(&Path) + Sync),
}

/// The names in all files, or in each file alone.
enum ByFiles<'f> {
    OfAll(Provided<'f>),
    OfEach,
}

impl ByFiles<'_> {
    /// Calls `work` with the names that count for a file.
    fn work_with<T>(&self, opened: &Opened, work: impl FnOnce(&Provided<'_>) -> T) -> T {
        match self {
            ByFiles::OfAll(provided) => work(provided),
            ByFiles::OfEach => work(&Provided::gathered(|| Names::of(opened))),
        }
    }
}

/// Files that stay open from the collection of names until their turn, by their index.
type Held = BTreeMap<usize, Opened>;

impl Inputs<'_> {
    /// Opens the files in parallel, works on each on the thread that opened it, and gives the results to `take` in the
    /// order of the files. `take` can stop it.
    pub fn each<T: Send>(
        &self,
        work: impl Fn(usize, &Opened, &Provided<'_>) -> T + Sync,
        mut take: impl FnMut(T) -> ControlFlow<()>,
    ) {
        let held = self.hold();
        let provided = self.provided(&held);
        let work = |index, opened: &Opened| provided.work_with(opened, |provided| work(index, opened, provided));
        let make = |index| match held.get(&index) {
            Some(opened) => Some(work(index, opened)),
            None => self.open(index).map(|opened| work(index, &opened)),
        };
        in_order(self.paths.len(), AHEAD, make, |part| part.map_or(ControlFlow::Continue(()), &mut take));
    }

    /// Opens the files in parallel, and works on one after the other on this thread.
    pub fn each_in_turn(&self, mut work: impl FnMut(usize, &Opened, &Provided<'_>) -> ControlFlow<()>) {
        let held = self.hold();
        let provided = self.provided(&held);
        let make = |index| if held.contains_key(&index) { None } else { self.open(index) };
        let mut index = 0;
        in_order(self.paths.len(), AHEAD, make, |opened| {
            let work = |opened| provided.work_with(opened, |provided| work(index, opened, provided));
            let done = opened.as_ref().or(held.get(&index)).map_or(ControlFlow::Continue(()), work);
            index = index.saturating_add(1);
            done
        });
    }

    fn provided<'h>(&'h self, held: &'h Held) -> ByFiles<'h> {
        if !self.together {
            return ByFiles::OfEach;
        }
        ByFiles::OfAll(Provided::gathered(|| {
            let mut all = self.names_of_others(held);
            held.values().for_each(|opened| all.add(Names::of(opened)));
            all
        }))
    }

    fn open(&self, index: usize) -> Option<Opened> {
        let path = self.paths.get(index)?;
        (self.opening)(path);
        Some(open(path, self.data))
    }

    /// Opens files for their names, which are needed before the first file has its turn. A few files stay open until their turn. If there
    /// are many, only those stay open that cannot be opened a second time.
    fn hold(&self) -> Held {
        if !self.together {
            return Held::new();
        }
        let few = self.paths.len() <= AHEAD;
        let opens_again = |path: &Path| !is_stdin(path) && fs::metadata(path).is_ok_and(|found| found.is_file());
        let stays = |(_, path): &(usize, &PathBuf)| few || !opens_again(path);
        let staying: Vec<usize> = self.paths.iter().enumerate().filter(stays).map(|(index, _)| index).collect();
        let mut opened = Vec::with_capacity(staying.len());
        in_order(
            staying.len(),
            staying.len(),
            |nth| self.open(*staying.get(nth)?),
            |one| {
                opened.push(one);
                ControlFlow::Continue(())
            },
        );
        staying.iter().zip(opened).filter_map(|(&index, opened)| Some((index, opened?))).collect()
    }

    /// The names in the files that do not stay open.
    fn names_of_others<'n>(&self, held: &Held) -> Names<'n> {
        let others: Vec<usize> = (0..self.paths.len()).filter(|index| !held.contains_key(index)).collect();
        let make = |nth| {
            let opened = self.open(*others.get(nth)?)?;
            Some(Names::of(&opened).into_owned())
        };
        let mut all = Names::default();
        in_order(others.len(), AHEAD, make, |names| {
            names.into_iter().for_each(|names| all.add(names));
            ControlFlow::Continue(())
        });
        all
    }
}

impl fmt::Debug for Inputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inputs { paths, data, together, opening: _ } = self;
        f.debug_struct("Inputs")
            .field("paths", paths)
            .field("data", data)
            .field("together", together)
            .finish_non_exhaustive()
    }
}

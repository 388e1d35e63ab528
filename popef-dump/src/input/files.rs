use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use popef::types::Text;

use super::open::{Opened, open};
use super::ordered::in_order;
use crate::log::{Log, Verbosity};
use crate::render::escape::escape;
use crate::report::{Provided, names};

/// How many files are opened before their turn to be shown.
const AHEAD: usize = 16;

/// The files to read, and what for.
pub(crate) struct Inputs<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// Whether the data of streams is wanted too.
    pub(crate) keep_data: bool,
    /// Whether it is to be said who provides an anchor's data.
    pub(crate) with_names: bool,
    pub(crate) log: &'a Log,
}

/// Files that stay open from the gathering of names until they are shown, by their index.
type Held = BTreeMap<usize, Opened>;

impl Inputs<'_> {
    /// Opens the files in parallel, works on each where it was opened, and gives the results to `take` in the order of
    /// the files, which can stop it.
    pub(crate) fn each<T: Send>(
        &self,
        work: impl Fn(usize, &Opened, &Provided<'_>) -> T + Sync,
        mut take: impl FnMut(T) -> ControlFlow<()>,
    ) {
        let held = self.hold();
        let provided = self.provided(&held);
        let make = |index| match held.get(&index) {
            Some(opened) => Some(work(index, opened, &provided)),
            None => self.open(index).map(|opened| work(index, &opened, &provided)),
        };
        in_order(self.paths.len(), AHEAD, make, |part| part.map_or(ControlFlow::Continue(()), &mut take));
    }

    /// Opens the files in parallel and works on one after the other on this thread.
    pub(crate) fn each_in_turn(&self, mut show: impl FnMut(usize, &Opened, &Provided<'_>) -> ControlFlow<()>) {
        let held = self.hold();
        let provided = self.provided(&held);
        let make = |index| if held.contains_key(&index) { None } else { self.open(index) };
        let mut index = 0;
        in_order(self.paths.len(), AHEAD, make, |opened| {
            let opened = opened.as_ref().or(held.get(&index));
            let shown = opened.map_or(ControlFlow::Continue(()), |opened| show(index, opened, &provided));
            index += 1;
            shown
        });
    }

    fn provided<'h>(&'h self, held: &'h Held) -> Provided<'h> {
        Provided::by(|| {
            let mut all = self.names_of_others(held);
            all.extend(held.values().filter_map(|opened| opened.file.as_ref()).flat_map(names));
            all
        })
    }

    fn open(&self, index: usize) -> Option<Opened> {
        let path = self.paths.get(index)?;
        self.log.line(Verbosity::Debug, || format!("{}: reading", escape(&path.to_string_lossy())));
        Some(open(path, self.keep_data))
    }

    /// Where anchors are shown, the names of all files have to be known before the first is. So a few files stay open
    /// from the one to the other; of many only those that cannot be opened a second time.
    fn hold(&self) -> Held {
        if !self.with_names {
            return Held::new();
        }
        let few = self.paths.len() <= AHEAD;
        let is_plain = |path: &Path| path.as_os_str() != "-" && fs::metadata(path).is_ok_and(|found| found.is_file());
        let stays = |(_, path): &(usize, &PathBuf)| few || !is_plain(path);
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

    /// The names of what the files have data for that do not stay open.
    fn names_of_others<'n>(&self, held: &Held) -> HashSet<Text<'n>> {
        let others: Vec<usize> = (0..self.paths.len()).filter(|index| !held.contains_key(index)).collect();
        let make = |nth| {
            let opened = self.open(*others.get(nth)?)?;
            Some(opened.file.iter().flat_map(names).map(Text::into_owned).collect::<Vec<_>>())
        };
        let mut all = HashSet::new();
        in_order(others.len(), AHEAD, make, |names| {
            all.extend(names.into_iter().flatten());
            ControlFlow::Continue(())
        });
        all
    }
}

/// The files that a list names: one a line, or with NUL between them as `find -print0` writes them.
pub(crate) fn listed(list: &Path) -> io::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    match list.as_os_str() == "-" {
        true => io::stdin().lock().read_to_end(&mut bytes)?,
        false => fs::File::open(list)?.read_to_end(&mut bytes)?,
    };
    let end = if bytes.contains(&0) { 0 } else { b'\n' };
    let trimmed = |line| if end == 0 { line } else { <[u8]>::strip_suffix(line, b"\r").unwrap_or(line) };
    let lines = bytes.split(|&byte| byte == end).map(trimmed).filter(|line| !line.is_empty());
    Ok(lines.map(path_of).collect())
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes)).to_owned()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

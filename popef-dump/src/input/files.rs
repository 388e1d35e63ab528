use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use popef::Text;

use super::open::{Opened, open};
use super::ordered::in_order;
use crate::log::{Level, Log};
use crate::render::escape::escape;
use crate::report::{Provided, names};

/// How many files are held open at once. Systems allow a process some hundred.
const OPEN_FILES: usize = 128;

/// The files to read, and what for.
pub(crate) struct Inputs<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// Whether the data of streams is wanted too.
    pub(crate) keep_data: bool,
    /// Whether it is to be said who provides an anchor's data.
    pub(crate) with_names: bool,
    pub(crate) log: &'a Log,
}

/// What is done with a file; it can stop the reading.
type Show<'s> = dyn FnMut(&Opened, &Provided<'_>) -> ControlFlow<()> + 's;

impl Inputs<'_> {
    /// Opens the files in parallel and gives them to `show` in the order given.
    ///
    /// Few files are held open together. Of many the names are gathered first, where they are wanted, and then each
    /// is opened when its turn comes.
    pub(crate) fn each(&self, mut show: impl FnMut(&Opened, &Provided<'_>) -> ControlFlow<()>) {
        if self.paths.len() <= OPEN_FILES { self.each_of_few(&mut show) } else { self.each_of_many(&mut show) }
    }

    fn each_of_few(&self, show: &mut Show<'_>) {
        let mut held = Vec::with_capacity(self.paths.len());
        in_order(
            self.paths.len(),
            OPEN_FILES,
            |index| self.open(index),
            |opened| {
                held.extend(opened);
                ControlFlow::Continue(())
            },
        );
        let provided = Provided::by(held.iter().filter_map(|opened| opened.file.as_ref()).collect());
        let _ = held.iter().try_for_each(|opened| show(opened, &provided));
    }

    fn each_of_many(&self, show: &mut Show<'_>) {
        let held = if self.with_names { self.hold_those_that_open_once() } else { BTreeMap::new() };
        let provided = Provided::from_names(if self.with_names { self.all_names(&held) } else { HashSet::new() });
        let make = |index| if held.contains_key(&index) { None } else { self.open(index) };
        let mut indices = 0..;
        in_order(self.paths.len(), OPEN_FILES, make, |opened| {
            let held = indices.next().and_then(|index| held.get(&index));
            opened.as_ref().or(held).map_or(ControlFlow::Continue(()), |opened| show(opened, &provided))
        });
    }

    fn open(&self, index: usize) -> Option<Opened> {
        let path = self.paths.get(index)?;
        self.log.line(Level::Debug, || format!("{}: reading", escape(&path.to_string_lossy())));
        Some(open(path, self.keep_data))
    }

    /// Standard input, pipes and the like, by their index.
    fn hold_those_that_open_once(&self) -> BTreeMap<usize, Opened> {
        let is_plain = |path: &Path| path.as_os_str() != "-" && fs::metadata(path).is_ok_and(|found| found.is_file());
        let once = self.paths.iter().enumerate().filter(|(_, path)| !is_plain(path));
        once.filter_map(|(index, _)| Some((index, self.open(index)?))).collect()
    }

    /// The names that all files together have data for.
    fn all_names(&self, held: &BTreeMap<usize, Opened>) -> HashSet<Text<'static>> {
        let owned = |opened: &Opened| opened.file.iter().flat_map(names).map(Text::into_owned).collect::<Vec<_>>();
        let make = |index| match held.get(&index) {
            Some(opened) => owned(opened),
            None => self.open(index).as_ref().map(owned).unwrap_or_default(),
        };
        let mut all = HashSet::new();
        in_order(self.paths.len(), OPEN_FILES, make, |names| {
            all.extend(names);
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

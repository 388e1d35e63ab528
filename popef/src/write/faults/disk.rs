//! A simulated disk that fails on demand, and knows what a power cut would leave.

use std::collections::BTreeMap;
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::Error;
use crate::read::{self, OpenOptions};
use crate::write::rights::Rights;
use crate::write::storage::{Access, Found, Handle, OpenTo, Storage};

/// A fault at one operation, or at it and all later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    NoSpace,
    Io,
    Interrupted,
    /// A write takes only half of its bytes.
    Short,
    /// No later operation has any effect.
    Crash,
    /// This operation and all after it fail.
    IoFromHereOn,
    NoSpaceFromHereOn,
}

impl Fault {
    pub(super) const ALL: [Fault; 7] = [
        Fault::NoSpace,
        Fault::Io,
        Fault::Interrupted,
        Fault::Short,
        Fault::Crash,
        Fault::IoFromHereOn,
        Fault::NoSpaceFromHereOn,
    ];

    fn goes_on(self) -> bool {
        matches!(self, Fault::Crash | Fault::IoFromHereOn | Fault::NoSpaceFromHereOn)
    }

    fn error(self) -> io::Error {
        match self {
            Fault::NoSpace | Fault::NoSpaceFromHereOn => io::ErrorKind::StorageFull.into(),
            Fault::Interrupted => io::ErrorKind::Interrupted.into(),
            _ => io::Error::other("input/output error"),
        }
    }
}

/// What another program can do with a path.
pub(super) enum Meanwhile {
    /// Removes the file, if it existed from the beginning.
    Remove(PathBuf),
    /// Creates an empty file, unless there is a file.
    Make(PathBuf),
    /// Locks the file, unless it is locked, and keeps the lock.
    Lock(PathBuf),
    /// Resizes the file, without the lock. Never between a check of the length and the write after it, which no writer
    /// could notice.
    Resize(PathBuf, usize),
}

#[derive(Clone, Default)]
pub(super) struct SimDisk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    inodes: Vec<Inode>,
    names: Names,
    durable_names: Names,
    steps: usize,
    faults: Vec<(usize, Fault)>,
    /// What another program does before an operation.
    meanwhile: Option<(usize, Meanwhile)>,
}

type Names = BTreeMap<PathBuf, usize>;

#[derive(Clone, Default)]
struct Inode {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    locked: bool,
    permissions: u32,
    /// A flush has failed. The system then takes the lost data for written: a second flush succeeds, and saves nothing.
    flush_failed: bool,
}

/// The files of a disk, by path.
pub(super) type Contents = BTreeMap<PathBuf, Vec<u8>>;

impl SimDisk {
    /// Makes a disk with files that are flushed.
    pub(super) fn holding(files: &Contents) -> Self {
        let disk = SimDisk::default();
        for (path, bytes) in files {
            let mut state = disk.state();
            let number = state.inodes.len();
            let inode = Inode { bytes: bytes.clone(), durable: bytes.clone(), permissions: 0o640, ..Inode::default() };
            state.inodes.push(inode);
            state.names.insert(path.clone(), number);
            state.durable_names.insert(path.clone(), number);
        }
        disk
    }

    pub(super) fn fail_at(&self, step: usize, fault: Fault) {
        self.state().faults.push((step, fault));
    }

    pub(super) fn before(&self, step: usize, meanwhile: Meanwhile) {
        self.state().meanwhile = Some((step, meanwhile));
    }

    /// Removes all faults, so that the result can be inspected.
    pub(super) fn heal(&self) {
        self.state().faults.clear();
    }

    pub(super) fn steps(&self) -> usize {
        self.state().steps
    }

    /// The files that programs see now.
    pub(super) fn contents(&self) -> Contents {
        let state = self.state();
        state.names.iter().map(|(path, &number)| (path.clone(), state.inodes[number].bytes.clone())).collect()
    }

    pub(super) fn permissions(&self, path: &Path) -> io::Result<u32> {
        let number = self.number(path)?;
        Ok(self.state().inodes[number].permissions)
    }

    /// The possible states after a power cut now: names and data kept, lost or torn.
    pub(super) fn after_power_cut(&self) -> Vec<Contents> {
        let state = self.state();
        let mut left: Vec<Contents> = Vec::new();
        for names in [&state.names, &state.durable_names] {
            for tear in 0..TEARS {
                let torn = |(path, &number): (&PathBuf, &usize)| (path.clone(), state.inodes[number].torn(tear));
                let contents = names.iter().map(torn).collect();
                if !left.contains(&contents) {
                    left.push(contents);
                }
            }
        }
        left
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Counts an operation, and fails if a fault is due.
    fn step(&self) -> io::Result<()> {
        self.state().somebody_else(|at, now, _| at <= now);
        self.step_of_writing().map(drop)
    }

    /// Counts an operation that changes the contents. Returns whether a write must fall short.
    fn step_of_writing(&self) -> io::Result<bool> {
        let mut state = self.state();
        state.somebody_else(|at, now, meanwhile| at == now && !matches!(meanwhile, Meanwhile::Resize(..)));
        let step = state.steps;
        state.steps += 1;
        let mut due = state.faults.iter().filter(|(at, fault)| *at == step || (*at < step && fault.goes_on()));
        match due.next() {
            None => Ok(false),
            Some((_, Fault::Short)) => Ok(true),
            Some((_, fault)) => Err(fault.error()),
        }
    }

    fn number(&self, path: &Path) -> io::Result<usize> {
        self.state().names.get(path).copied().ok_or(io::ErrorKind::NotFound.into())
    }
}

impl State {
    /// Lets the other program act, if it is due.
    fn somebody_else(&mut self, is_due: impl Fn(usize, usize, &Meanwhile) -> bool) {
        let now = self.steps;
        if let Some((_, meanwhile)) = self.meanwhile.take_if(|(at, meanwhile)| is_due(*at, now, meanwhile)) {
            self.happen(meanwhile);
        }
    }

    fn happen(&mut self, meanwhile: Meanwhile) {
        match meanwhile {
            Meanwhile::Remove(path) if self.names.get(&path) == self.durable_names.get(&path) => {
                self.names.remove(&path);
            }
            Meanwhile::Make(path) if !self.names.contains_key(&path) => {
                self.names.insert(path, self.inodes.len());
                self.inodes.push(Inode::default());
            }
            Meanwhile::Lock(path) => {
                if let Some(&number) = self.names.get(&path) {
                    self.inodes[number].locked = true;
                }
            }
            Meanwhile::Resize(path, len) => {
                if let Some(&number) = self.names.get(&path) {
                    self.inodes[number].bytes.resize(len, 0);
                }
            }
            Meanwhile::Remove(_) | Meanwhile::Make(_) => {}
        }
    }
}

const SECTOR: usize = 512;
const TEARS: usize = 14;

impl Inode {
    /// The bytes after a power cut, in one of several ways.
    fn torn(&self, tear: usize) -> Vec<u8> {
        if tear == 1 || self.bytes == self.durable {
            return self.durable.clone();
        }
        // The new length was kept, with zeros for data that did not reach the disk.
        let mut left = self.durable.clone();
        left.resize(self.bytes.len(), 0);
        let sectors = self.bytes.len().div_ceil(SECTOR);
        let old_sectors = self.durable.len() / SECTOR;
        for sector in 0..sectors {
            let random = (sector as u64).wrapping_mul(2_654_435_761).wrapping_add(tear as u64 * 40_503) >> 3;
            let kept = match tear {
                0 => true,
                2 => false,
                3 => sector % 2 == 0,
                4 => sector % 2 == 1,
                5 => sector < sectors / 2,
                6 => sector >= sectors / 2,
                7 => sector + 1 == sectors,
                8 => sector + 1 < sectors,
                9 => sector == old_sectors,
                10 => sector != old_sectors,
                _ => random & 1 == 0,
            };
            let range = sector * SECTOR..self.bytes.len().min((sector + 1) * SECTOR);
            if kept {
                left[range.clone()].copy_from_slice(&self.bytes[range]);
            }
        }
        left
    }
}

impl Storage for SimDisk {
    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        self.step()?;
        Ok(self.state().names.contains_key(path).then_some(Found::PlainFile))
    }

    fn read_link(&self, _path: &Path) -> io::Result<PathBuf> {
        unreachable!("there are no links here")
    }

    fn create_new(&self, path: &Path, open_to: OpenTo) -> io::Result<Box<dyn Handle>> {
        self.step()?;
        let mut state = self.state();
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let number = state.inodes.len();
        let permissions = match open_to {
            OpenTo::Owner => 0o600,
            OpenTo::AtMost(mode) => mode & !0o022,
        };
        state.inodes.push(Inode { permissions, ..Inode::default() });
        state.names.insert(path.to_owned(), number);
        Ok(Box::new(SimFile { disk: self.clone(), number, locks: Mutex::new(false) }))
    }

    fn open(&self, path: &Path, _access: Access) -> io::Result<Box<dyn Handle>> {
        self.step()?;
        Ok(Box::new(SimFile { disk: self.clone(), number: self.number(path)?, locks: Mutex::new(false) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        let number = self.number(from)?;
        let mut state = self.state();
        state.names.remove(from);
        state.names.insert(to.to_owned(), number);
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        let number = self.number(from)?;
        let mut state = self.state();
        if state.names.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.names.insert(to.to_owned(), number);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.state().names.remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step()?;
        let mut state = self.state();
        let State { names, durable_names, .. } = &mut *state;
        let in_it = |path: &PathBuf| path.parent() == Some(folder);
        durable_names.retain(|path, _| !in_it(path));
        durable_names
            .extend(names.iter().filter(|(path, _)| in_it(path)).map(|(path, &number)| (path.clone(), number)));
        Ok(())
    }
}

struct SimFile {
    disk: SimDisk,
    number: usize,
    /// Whether this handle holds the file's lock.
    locks: Mutex<bool>,
}

impl SimFile {
    fn change<T>(&self, change: impl FnOnce(&mut Inode) -> T) -> T {
        change(&mut self.disk.state().inodes[self.number])
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if *self.locks.lock().unwrap() {
            self.change(|inode| inode.locked = false);
        }
    }
}

impl Handle for SimFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let short = self.disk.step_of_writing()?;
        let count = if short { bytes.len().div_ceil(2) } else { bytes.len() };
        let at = usize::try_from(at).unwrap();
        self.change(|inode| {
            let len = inode.bytes.len().max(at + count);
            inode.bytes.resize(len, 0);
            inode.bytes[at..at + count].copy_from_slice(&bytes[..count]);
        });
        Ok(count)
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<std::fs::File>) -> io::Result<()> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        // Like the system, copy in pieces, each of which can fail.
        for (piece, at) in bytes.chunks(40_000).zip((at..).step_by(40_000)) {
            let mut written = 0;
            while written < piece.len() {
                let at = at + u64::try_from(written).unwrap();
                match self.write_at(at, &piece[written..]) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    count => written += count?,
                }
            }
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.step()?;
        Ok(self.change(|inode| u64::try_from(inode.bytes.len()).unwrap()))
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.disk.step_of_writing()?;
        self.change(|inode| inode.bytes.resize(usize::try_from(len).unwrap(), 0));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let flushed = self.disk.step();
        self.change(|inode| match flushed {
            Ok(_) if inode.flush_failed => {}
            Ok(_) => inode.durable = inode.bytes.clone(),
            Err(_) => inode.flush_failed = true,
        });
        flushed.map(drop)
    }

    fn lock(&self) -> io::Result<bool> {
        self.disk.step()?;
        let free = self.change(|inode| !std::mem::replace(&mut inode.locked, true));
        *self.locks.lock().unwrap() |= free;
        Ok(free)
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        self.disk.step()?;
        Ok(self.disk.number(path).is_ok_and(|number| number == self.number))
    }

    fn is_file(&self, _file: &std::fs::File) -> bool {
        false
    }

    fn rights(&self) -> io::Result<Rights> {
        self.disk.step()?;
        Ok(Rights::of_mode(self.change(|inode| inode.permissions)))
    }

    fn give_rights(&mut self, rights: &Rights) -> io::Result<()> {
        self.disk.step()?;
        self.change(|inode| inode.permissions = rights.mode());
        Ok(())
    }

    fn walk(&self, _path: &Path) -> Result<read::File, Error> {
        OpenOptions::new().damaged(true).bytes(self.change(|inode| inode.bytes.clone()))
    }
}

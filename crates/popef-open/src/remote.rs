//! Files on other machines: the addresses of names, and the connections.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use popef::{Error, File};
use popef_remote::{Location, Need, Opened, Opening, Options, Remote, RemoteError, Replace, is_remote};

use crate::how::{StreamData, options};
use crate::like_address::like_address;
use crate::network::Cost;

/// The maximum number of files that are opened ahead.
const AHEAD: usize = 100;

/// The connections and addresses of this process. All inputs share them, because connections and secrets are the same, and names pass
/// through code that knows only paths.
#[derive(Default)]
struct State {
    settings: Mutex<Options>,
    remote: OnceLock<Result<Remote, RemoteError>>,
    known: Mutex<HashMap<PathBuf, Result<Location, RemoteError>>>,
    begun: Mutex<Begun>,
}

/// The files that are being opened, and those that wait for it.
#[derive(Default)]
struct Begun {
    openings: HashMap<PathBuf, Vec<Opening>>,
    count: usize,
    queue: VecDeque<PathBuf>,
}

static STATE: LazyLock<State> = LazyLock::new(State::default);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn remote(&self) -> Result<&Remote, RemoteError> {
        self.remote.get_or_init(|| Remote::new(lock(&self.settings).clone())).as_ref().map_err(RemoteError::clone)
    }

    fn location(&self, path: &Path) -> Option<Result<Location, RemoteError>> {
        if let Some(known) = lock(&self.known).get(path) {
            return Some(known.clone());
        }
        path.to_str().filter(|text| is_remote(text)).map(Location::parse)
    }

    fn begin(&self, path: &Path) -> Result<Opening, RemoteError> {
        Ok(self.remote()?.begin(&self.named(path)?, options()))
    }

    fn named(&self, path: &Path) -> Result<Location, RemoteError> {
        self.location(path).unwrap_or_else(|| Location::parse(&path.to_string_lossy()))
    }

    /// Begins to open files until enough are being opened.
    fn go_on(&self, begun: &mut Begun) {
        while begun.count < AHEAD
            && let Some(path) = begun.queue.pop_front()
        {
            // An error comes again when the file has its turn.
            if let Ok(opening) = self.begin(&path) {
                begun.openings.entry(path).or_default().push(opening);
                begun.count = begun.count.saturating_add(1);
            }
        }
    }

    /// Takes the opening of a file, or begins it now.
    fn take(&self, path: &Path) -> Result<Opening, RemoteError> {
        let mut begun = lock(&self.begun);
        let taken = begun.openings.get_mut(path).and_then(Vec::pop);
        if taken.is_some() {
            begun.count = begun.count.saturating_sub(1);
        }
        self.go_on(&mut begun);
        drop(begun);
        taken.map_or_else(|| self.begin(path), Ok)
    }
}

/// Sets how files on other machines are read. Call it before the first of them is opened.
pub fn configure_remote(options: Options) {
    *lock(&STATE.settings) = options;
}

/// The path for what a user wrote. For an address, it is a name without secrets, which can be shown anywhere, and by which
/// [`open`](crate::open()) finds the address. A text that only looks like an address is an address that cannot be used, unless a file has
/// that name.
pub fn path_of(text: OsString) -> PathBuf {
    let is_known = text.to_str().is_some_and(is_remote);
    let Some(address) = is_known.then(|| text.to_string_lossy()).or_else(|| like_address(&text)) else {
        return text.into();
    };
    let location = Location::parse(&address);
    if let Ok(location) = &location
        && let Some(path) = location.local_path()
    {
        return path.to_owned();
    }
    name(location)
}

/// Gives a location a name without secrets, and remembers it.
fn name(location: Result<Location, RemoteError>) -> PathBuf {
    let shown = match &location {
        Ok(location) => location.to_string(),
        Err(error) => error.location().to_owned(),
    };
    let mut known = lock(&STATE.known);
    let mut name = PathBuf::from(&shown);
    // Addresses that differ only in hidden parts are still different files.
    for nth in 2_u64.. {
        let is_taken = match (known.get(&name), &location) {
            (Some(Ok(other)), Ok(location)) => other != location,
            (Some(other), location) => other.is_ok() != location.is_ok(),
            (None, _) => false,
        };
        if !is_taken {
            break;
        }
        name = format!("{shown}#{nth}").into();
    }
    known.insert(name.clone(), location);
    name
}

/// Whether a path is the name of a file on another machine.
pub fn is_elsewhere(path: &Path) -> bool {
    STATE.location(path).is_some()
}

/// The name, without folders, of a new file that is made from a file. For an address, it is the last part of its path.
pub fn file_name(path: &Path) -> Option<OsString> {
    match STATE.location(path) {
        Some(Ok(location)) => location.file_name().map(OsString::from),
        _ => path.file_name().map(OsString::from),
    }
}

/// The paths, with the objects in place of prefixes and patterns. Begins to open files on other machines, many at once. The error has the
/// location as its path.
pub fn expanded(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        match STATE.location(&path) {
            Some(Ok(location)) if location.is_many() => {
                let found = STATE.remote().and_then(|remote| remote.list(&location));
                let (found, _) = found.map_err(|error| (path, error.into()))?;
                // A found location is not parsed again: its key may have hidden parts, or characters of a pattern.
                all.extend(found.into_iter().map(|location| name(Ok(location))));
            }
            _ => all.push(path),
        }
    }
    begin(&all);
    Ok(all)
}

/// Begins to open the files that are on other machines. Each must be [opened](crate::open()) later.
pub fn begin(paths: &[PathBuf]) {
    let mut begun = lock(&STATE.begun);
    begun.queue.extend(paths.iter().filter(|path| is_elsewhere(path)).cloned());
    STATE.go_on(&mut begun);
}

/// The cost of all files on other machines so far, if there were any.
pub fn network_cost() -> Option<Cost> {
    let remote = STATE.remote.get()?.as_ref().ok()?;
    Some(Cost::from(remote.usage())).filter(|cost| cost.requests > 0)
}

/// Fails if [`write_elsewhere`] would fail whatever is there.
pub fn check_output_elsewhere(path: &Path) -> io::Result<()> {
    Ok(STATE.named(path)?.check_output()?)
}

/// Fails if [`write_elsewhere`] would fail because of existing objects.
pub fn check_write_elsewhere(path: &Path, replace: &Replace) -> io::Result<()> {
    Ok(STATE.remote()?.check_write(&STATE.named(path)?, replace)?)
}

/// Writes a file to another machine, all of it or nothing.
pub fn write_elsewhere(path: &Path, file: fs::File, replace: &Replace) -> io::Result<()> {
    Ok(STATE.remote()?.write(&STATE.named(path)?, file, replace)?)
}

/// The bytes of a file on another machine.
pub(crate) fn read_elsewhere(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(STATE.remote()?.read(&STATE.named(path)?)?)
}

/// Opens a file on another machine.
pub(crate) fn open_elsewhere(path: &Path, data: StreamData) -> Result<Opened, Result<File, Error>> {
    let need = match data {
        StreamData::Skip => Need::Headers,
        StreamData::Keep => Need::Data,
    };
    STATE.take(path).and_then(|opening| opening.wait(need)).map_err(RemoteError::into_result)
}

//! Starts a walk over data, and gathers what it finds.

use super::archive::{Unpacking, holds_end, kind_of};
use super::halt::Halt;
use super::imports::Imports;
use super::input::PickleBytes;
use super::keep::{Keep, Kind, Made};
use super::machine::{Found, Machine, Scan};
use super::nested::{Attempt, Look};
use super::path::Path;
use super::{ArchiveKind, Pickle};
use popef::error::Error;
use popef::read::Data;

/// Follows the pickles in the data. Returns `None` if it is not a pickle: neither by its first bytes, nor by its grammar,
/// nor by what it imports.
pub(super) fn scan<K: Keep>(data: &Data<'_>, keep: &mut K) -> Result<Option<Scanned<K::Node>>, Error> {
    let mut source = PickleBytes::new(*data);
    let mut input = source.input();
    let unpacking = Unpacking::new(data.len());
    let imports = Imports::new(data.len());
    let mut scan = Scan { imports, keep, path: Path::default(), place: 0, member: None, unpacking };
    let mut found = Found::default();
    let mut results = None;
    let mut archive = None;
    let walked = kind_of(&mut input).and_then(|kind| {
        archive = kind;
        let roots = scan.keep.make(Made::Empty(Kind::Pickles))?;
        results = Some(roots);
        let mut level = Machine::default();
        let look = Look { input, level: &mut level, scan: &mut scan, found: &mut found, results: roots };
        walk_top(kind, look)
    });
    let is_pickle = match walked {
        Ok(is_pickle) => {
            is_pickle || found.called || scan.imports.have_name() || archive.is_some() && found.is_incomplete()
        }
        Err(Halt::Unread(error)) => return Err(error),
        // The end was not reached, so it may be a pickle.
        Err(halt) => {
            found.halt(&halt, scan.place);
            true
        }
    };
    let pickle = is_pickle.then(|| Pickle {
        protocol: found.protocol,
        imports: scan.imports.finish(),
        poptorch_version: found.version,
        archive,
        pickles: found.pickles,
        unseen: found.unseen,
        passed_over: found.passed_over,
        fault: found.fault,
    });
    Ok(pickle.map(|pickle| Scanned { pickle, results }))
}

/// Walks an archive, or pickles one after the other. Returns whether it found one.
fn walk_top<K: Keep>(kind: Option<ArchiveKind>, mut look: Look<'_, '_, '_, '_, K>) -> Result<bool, Halt> {
    let marked = look.input.begins_as_pickle()?;
    if !marked && kind.is_some() {
        look.walk_inside(kind, Attempt::default())?;
        return Ok(look.found.pickles > 0);
    }
    // Bytes can be a pickle for one program and an archive for another.
    kind.map(|kind| look.walk_archive(kind)).transpose()?;
    let all = look.input.all();
    let ended = look.walk_pickles()?;
    let mut behind = look.part(all);
    if kind.is_none() && marked && !ended && holds_end(&mut behind.input)? {
        behind.walk_archive(ArchiveKind::Zip)?;
    }
    look.found.pickles = look.found.pickles.saturating_add(1);
    Ok(marked || ended)
}

/// What a scan gives.
pub(super) struct Scanned<N> {
    pub(super) pickle: Pickle,
    /// The results of the pickles, one after the other.
    #[cfg_attr(not(feature = "poptorch"), expect(dead_code, reason = "a scan needs no values"))]
    pub(super) results: Option<N>,
}

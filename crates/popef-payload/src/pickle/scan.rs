//! Starts a walk over data, and gathers what it finds.

use std::sync::Arc;

use super::archive::{self, MOST_UNSEEN, Unpacking, holds_end, kind_of};
use super::halt::Halt;
use super::imports::Imports;
use super::input::{PickleBytes, PickleReader};
use super::keep::{Keep, Kind, Made};
use super::nested::{begins_as_pickle, walk_all};
use super::path::Path;
use super::values::{Memo, Stack, Texts};
use super::{ArchiveKind, Pickle, PickleFault, UnseenMember};
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
        walk_top(kind, &mut input, &mut scan, &mut found, roots)
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

/// Walks an archive, or pickles one after the other. Returns whether the data is the one or the other.
fn walk_top<K: Keep>(
    kind: Option<ArchiveKind>,
    input: &mut PickleReader<'_, '_>,
    scan: &mut Scan<'_, K>,
    found: &mut Found,
    roots: K::Node,
) -> Result<bool, Halt> {
    let marked = begins_as_pickle(input)?;
    let mut level = Machine::default();
    if let Some(kind) = kind {
        archive::walk(kind, input, &mut level, scan, found, roots)?;
        // Bytes can be a pickle for one program and an archive for another.
        if !marked {
            return Ok(found.pickles > 0);
        }
    }
    let all = input.position()..input.position().saturating_add(input.left());
    let ended = walk_all(input, &mut level, scan, found, roots)?;
    let behind = &mut input.part(all);
    if kind.is_none() && marked && !ended && holds_end(behind)? {
        archive::walk(ArchiveKind::Zip, behind, &mut level, scan, found, roots)?;
    }
    found.pickles = found.pickles.saturating_add(1);
    Ok(marked || ended)
}

/// What a scan gives.
pub(super) struct Scanned<N> {
    pub(super) pickle: Pickle,
    /// The results of the pickles, one after the other.
    #[cfg_attr(not(feature = "poptorch"), expect(dead_code, reason = "a scan needs no values"))]
    pub(super) results: Option<N>,
}

/// What all pickles in the data share.
pub(super) struct Scan<'k, K> {
    pub(super) imports: Imports,
    pub(super) keep: &'k mut K,
    /// A buffer for the path of an import.
    pub(super) path: Path,
    /// The byte of the current opcode of the outermost pickle.
    pub(super) place: u64,
    /// The member of an archive that is scanned, and before it the members that this one is in.
    pub(super) member: Option<Arc<str>>,
    pub(super) unpacking: Unpacking,
}

/// What is found in a pickle and the pickles inside it, except imports.
#[derive(Default)]
pub(super) struct Found {
    pub(super) protocol: u8,
    pub(super) version: Option<String>,
    pub(super) fault: Option<PickleFault>,
    /// Members of archives that were not looked at.
    pub(super) unseen: Vec<UnseenMember>,
    /// The number of members of archives that were passed over.
    pub(super) passed_over: u64,
    /// The number of members of archives, or of bytes in pickles, that are pickles.
    pub(super) pickles: u64,
    /// The scan stopped at one of its own limits.
    pub(super) limited: bool,
    /// It imports something.
    pub(super) imports: bool,
    /// It imports something dangerous, by a path that consists of valid names.
    pub(super) dangerous: bool,
    /// It calls something that it imports.
    pub(super) called: bool,
}

impl Found {
    pub(super) fn halt(&mut self, halt: &Halt, offset: u64) {
        match *halt {
            Halt::Fault(reason) | Halt::Limit(reason) | Halt::Spent(reason) => {
                self.fault.get_or_insert(PickleFault { offset, member: None, reason, no_memory: false });
            }
            // This replaces an earlier fault: with more memory, the scan might have found more.
            Halt::NoMemory => {
                let reason = "there is not enough memory to follow it";
                self.fault = Some(PickleFault { offset, member: None, reason, no_memory: true });
            }
            Halt::Unread(_) => {}
        }
        self.limited |= !matches!(halt, Halt::Fault(_));
    }

    /// Whether something in an archive was not looked at, or not to its end.
    fn is_incomplete(&self) -> bool {
        self.limited || !self.unseen.is_empty() || self.passed_over > 0
    }

    pub(super) fn absorb(&mut self, other: Found) {
        self.unseen.extend(other.unseen.into_iter().take(MOST_UNSEEN.saturating_sub(self.unseen.len())));
        self.pickles = self.pickles.saturating_add(other.pickles);
        self.passed_over = self.passed_over.saturating_add(other.passed_over);
        self.protocol = self.protocol.max(other.protocol);
        self.version = self.version.take().or(other.version);
        self.fault = self.fault.take().or(other.fault);
        self.limited |= other.limited;
        self.imports |= other.imports;
        self.dangerous |= other.dangerous;
        self.called |= other.called;
    }
}

/// The stack machine for all pickles of the same depth, one after the other.
pub(super) struct Machine<N> {
    pub(super) depth: u8,
    pub(super) stack: Stack<N>,
    pub(super) memo: Memo<N>,
    pub(super) texts: Texts,
    inner: Option<Box<Machine<N>>>,
}

impl<N> Default for Machine<N> {
    fn default() -> Self {
        Machine { depth: 0, stack: Stack::default(), memo: Memo::default(), texts: Texts::default(), inner: None }
    }
}

impl<N: Copy> Machine<N> {
    pub(super) fn clear(&mut self) {
        self.stack.clear();
        self.memo.clear();
        self.texts.clear();
    }

    /// Returns the machine for pickles one level deeper.
    pub(super) fn inner(&mut self) -> &mut Machine<N> {
        let depth = self.depth.saturating_add(1);
        self.inner.get_or_insert_with(|| Box::new(Machine { depth, ..Machine::default() }))
    }
}

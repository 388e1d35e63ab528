//! What the walks over all pickles in the data share.

use std::hash::RandomState;
use std::sync::Arc;

use super::archive::Unpacking;
use super::dtype::{Fields, Placed, State, Type};
use super::halt::Halt;
use super::imports::Imports;
use super::list::List;
use super::path::Path;
use super::values::{Memo, Stack, Texts};
use super::{PickleFault, UnseenMember};

/// Maximum number of unseen members that are kept.
const MOST_UNSEEN: usize = 100;

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
    pub(super) fn is_incomplete(&self) -> bool {
        self.limited || !self.unseen.is_empty() || self.passed_over > 0
    }

    /// Records a member that cannot be looked at.
    pub(super) fn add_unseen(&mut self, unseen: UnseenMember) {
        if self.unseen.len() < MOST_UNSEEN {
            self.unseen.push(unseen);
        }
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
    pub(super) types: List<Type>,
    pub(super) states: List<State>,
    pub(super) placed: List<Placed>,
    pub(super) fields: List<Fields>,
    /// Makes numbers of the names of fields, others in each run, so that nobody can make names with the same sum.
    pub(super) hasher: RandomState,
    /// What the names of a tuple hash to.
    pub(super) hashes: Vec<u64>,
    inner: Option<Box<Machine<N>>>,
}

impl<N> Default for Machine<N> {
    fn default() -> Self {
        Machine {
            depth: 0,
            stack: Stack::default(),
            memo: Memo::default(),
            texts: Texts::default(),
            types: List::default(),
            states: List::default(),
            placed: List::default(),
            fields: List::default(),
            hasher: RandomState::default(),
            hashes: Vec::new(),
            inner: None,
        }
    }
}

impl<N: Copy> Machine<N> {
    pub(super) fn clear(&mut self) {
        self.stack.clear();
        self.memo.clear();
        self.texts.clear();
        self.types.truncate(0);
        self.states.truncate(0);
        self.placed.truncate(0);
        self.fields.truncate(0);
    }

    /// Returns the machine for pickles one level deeper.
    pub(super) fn inner(&mut self) -> &mut Machine<N> {
        let depth = self.depth.saturating_add(1);
        self.inner.get_or_insert_with(|| Box::new(Machine { depth, ..Machine::default() }))
    }
}

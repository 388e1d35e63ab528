//! The imports that all pickles in the data have so far.

use std::collections::TryReserveError;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::halt::Halt;
use super::keep::Part;
use super::names::{Names, Use, is_class_name, is_dict, is_listed, is_mapping, keeps_numbers, keys_of, use_of};
use super::{ImportClass, PickleImport};
use popef::seam::{as_u64, as_usize};

/// The largest number of different imports.
const MOST: usize = 4096;
/// The length of the longest path of module, name and attributes.
const LONGEST_PATH: usize = 2048;

const TOO_MANY: &str = "it imports more than any model needs";

/// The modules of Python's exceptions.
const EXCEPTIONS: [&str; 3] = ["builtins", "__builtin__", "exceptions"];

/// Functions whose arguments matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// `getattr`, which pickles use to name members of enums and torch's own functions. It is as harmless as its
    /// result.
    Attribute,
    /// Torch's function to load a storage from bytes that contain another pickle. It is as harmless as that pickle.
    Load,
    /// With it, protocols 0 and 1 make an object of the class in the first argument.
    Reconstruct,
    /// With it, protocols 0 to 2 make bytes from a text.
    Encode,
    /// It calls the function in its first argument, which picklers make one of torch's own.
    Rebuild,
    /// NumPy's functions that make a generator of random numbers. They call their last argument.
    Generator,
    /// Torch's function that sets the attributes in its last argument.
    Parameter,
    /// `type`, which names the class of a value. With more arguments it makes a class.
    Kind,
    /// `itemgetter`. It takes items with keys that the pickle gives, so these must be plain.
    ItemGetter,
    /// `partial`, which keeps a function and its arguments. It is as harmless as a call of the function.
    Partial,
    /// A function of pandas that calls the class in its first argument, which picklers make an index.
    Index,
    /// A class of dictionaries. What its calls put into it cannot be told.
    Mapping,
    /// Of another ordinary name.
    Ordinary(Use),
    Other,
}

impl Role {
    /// Whether it is harmless only because the scan looks at the arguments of each call. No pickler keeps such a function.
    fn calls_arguments(self) -> bool {
        matches!(self, Role::Generator | Role::Rebuild | Role::Parameter | Role::Index | Role::Reconstruct)
    }

    pub(super) fn of(module: &str, name: &str, class: ImportClass) -> Role {
        match (module, name) {
            ("builtins", "getattr") => Role::Attribute,
            ("torch.storage", "_load_from_bytes") => Role::Load,
            ("builtins", "type") => Role::Kind,
            ("operator" | "_operator", "itemgetter") => Role::ItemGetter,
            ("functools" | "_functools", "partial") => Role::Partial,
            ("_codecs", "encode") => Role::Encode,
            ("numpy.random._pickle", _) => Role::Generator,
            ("torch._utils", "_rebuild_parameter_with_state") => Role::Parameter,
            ("torch._tensor", "_rebuild_from_type_v2") => Role::Rebuild,
            ("torch._utils", "_rebuild_from_type" | "_rebuild_from_type_v2") => Role::Rebuild,
            ("copyreg", "_reconstructor") => Role::Reconstruct,
            (module, name) if module.starts_with("pandas.core.indexes.") && name.starts_with("_new_") => Role::Index,
            _ if is_mapping(name) => Role::Mapping,
            _ if class == ImportClass::Ordinary => Role::Ordinary(use_of(module, name).unwrap_or(Use::Value)),
            _ => Role::Other,
        }
    }
}

/// Where an import is.
#[derive(Clone, Copy)]
pub(super) struct Spot<'m> {
    pub(super) offset: u64,
    pub(super) member: Option<&'m Arc<str>>,
}

/// What is known about an import but not part of the result.
#[derive(Clone, Copy)]
struct Note {
    role: Role,
    /// The first judgement. The same path can be another import.
    way: Way,
    /// The path consists of valid names. Other data can look like an opcode with its lines.
    is_name: bool,
    /// The import is dangerous, and was called with harmless arguments.
    understood: bool,
    /// The import was stored where a call cannot be seen, or called with other arguments.
    misused: bool,
}

/// What an import depends on besides its path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) names: Names,
    /// Where the name begins in the path, which is shorter than 65,536 bytes.
    name: u16,
}

impl Way {
    pub(super) fn new(names: Names, module: &str) -> Self {
        Way { names, name: u16::try_from(module.len()).unwrap_or(u16::MAX) }
    }
}

/// An import in the list.
#[derive(Clone, Copy)]
pub(super) struct Import<'i> {
    pub(super) path: &'i str,
    pub(super) class: ImportClass,
    pub(super) role: Role,
    is_name: bool,
}

impl<'i> Import<'i> {
    /// The last part of its path.
    pub(super) fn name(&self) -> &'i str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Whether it is dangerous, and no other data that looks like an import.
    pub(super) fn is_dangerous_name(&self) -> bool {
        self.class == ImportClass::Dangerous && self.is_name
    }

    /// Whether a `partial` of it can be kept. The call that the `partial` stands for must be one that the pickle could
    /// make itself, or one of a class that only keeps numbers.
    pub(super) fn is_partial_safe(&self) -> bool {
        match self.role {
            Role::Ordinary(of) if of.is_callable() => true,
            Role::Other | Role::Mapping => self.class != ImportClass::Dangerous,
            _ => keeps_numbers(self.path),
        }
    }

    /// Whether what a call of it gives, or `__new__` without arguments, is the pickle's own, so that `BUILD` may change it.
    /// Of a function that is not known it may be anything, also what the whole process shares.
    pub(super) fn gives_own(&self, is_called: bool) -> bool {
        match self.role {
            Role::Ordinary(Use::Made) => !is_called,
            Role::Ordinary(of) => of == Use::Own,
            _ if self.class == ImportClass::Ordinary => matches!(self.role, Role::Mapping | Role::Generator),
            _ => !is_called || self.is_class() || self.role == Role::Partial,
        }
    }

    /// Whether a call of it does no harm, whatever its arguments.
    pub(super) fn is_callable(&self) -> bool {
        let is_callable = match self.role {
            Role::Ordinary(of) => of.is_callable(),
            role => matches!(role, Role::Mapping | Role::Encode),
        };
        is_callable || self.class != ImportClass::Ordinary
    }

    /// Whether a call of it gives values that may never end.
    pub(super) fn is_series(&self) -> bool {
        self.role == Role::Ordinary(Use::Series)
    }

    /// Whether a call or a state of it may read all values of an argument. Exceptions and `repeat` keep theirs, and of what is not
    /// known, nothing else is known either.
    pub(super) fn reads_arguments(&self) -> bool {
        let is_exception = || {
            self.role == Role::Ordinary(Use::Own)
                && self.path.split_once('.').is_some_and(|(module, _)| EXCEPTIONS.contains(&module))
        };
        self.class == ImportClass::Ordinary && !self.path.ends_with(".repeat") && !is_exception()
    }

    /// Whether it is a dictionary of weak references, which cannot be pickled. Its state and what it is made of can call.
    pub(super) fn is_weak(&self) -> bool {
        self.role == Role::Mapping && self.path.contains(".Weak")
    }

    /// Whether picklers give texts to `__new__`: that of `UserString` ignores it, and the parts of an address are a tuple.
    pub(super) fn is_made_of_texts(&self) -> bool {
        ["UserString", "ParseResult", "SplitResult", "DefragResult"].contains(&self.name())
    }

    /// Whether it is one of NumPy's names.
    pub(super) fn is_of_numpy(&self, names: &[&str]) -> bool {
        self.class == ImportClass::Ordinary && self.path.starts_with("numpy.") && names.contains(&self.name())
    }

    /// Whether its state may have any key, or this one.
    pub(super) fn may_have_key(&self, key: Option<&[u8]>) -> bool {
        let is_of_numpy = self.class == ImportClass::Ordinary && self.path.starts_with("numpy.");
        let keys = keys_of(self.name()).filter(|_| is_of_numpy);
        keys.is_none_or(|mut keys| keys.any(|known| Some(known.as_bytes()) == key))
    }

    pub(super) fn is_type_of_pandas(&self) -> bool {
        self.class == ImportClass::Ordinary && self.path.starts_with("pandas.") && self.path.ends_with("Dtype")
    }

    /// Whether picklers never put such values into its objects. Both unpicklers append by the attribute `append`, `extend`
    /// or `add`, which a state can set; of the known classes, only `deque` has items of that kind. Other classes than
    /// dictionaries run code of their own for pairs: pandas calls a key that is a function. `ChainMap` and its like pass
    /// pairs on to what their state or their arguments say.
    pub(super) fn is_never_filled(&self, part: Part) -> bool {
        let is_filled = if part == Part::Items { self.path.ends_with(".deque") } else { is_dict(self.path) };
        self.class == ImportClass::Ordinary && !is_filled
    }

    pub(super) fn is_class(&self) -> bool {
        is_class_name(self.name())
    }

    /// Whether its result may be a dictionary with any keys, or an object with a method `items`, which the unpickler
    /// that is written in Python calls. Of objects with attributes, only arrays and types of NumPy and pandas are states.
    pub(super) fn may_have_names(&self) -> bool {
        let is_state = match self.role {
            Role::Ordinary(Use::Own) | Role::Generator => self.path.starts_with("numpy."),
            Role::Ordinary(Use::Formed) => !self.path.ends_with(".scalar"),
            Role::Ordinary(of) => of.is_plain() || self.is_class() && self.path.starts_with("pandas."),
            role => matches!(role, Role::Other | Role::Encode),
        };
        !is_state
    }

    /// Whether its result may be a text. What classes of the model give is for whoever knows them to say.
    pub(super) fn may_be_text(&self) -> bool {
        !matches!(self.role, Role::Ordinary(of) if of.is_plain())
            && (self.class != ImportClass::Unknown || !self.is_class())
    }

    /// Whether its name alone shows the danger. Texts may begin like an import of Python's library.
    pub(super) fn is_listed(&self) -> bool {
        self.is_dangerous_name() && is_listed(self.path)
    }
}

/// Each path once, in the order of first use.
pub(super) struct Imports {
    list: Vec<PickleImport>,
    notes: Vec<Note>,
    index: Index,
    budget: Budget,
}

impl Imports {
    /// Makes an empty list for data of `len` bytes.
    pub(super) fn new(len: u64) -> Self {
        Imports { list: Vec::new(), notes: Vec::new(), index: Index::default(), budget: Budget::new(len) }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, place: u16) -> Option<Import<'_>> {
        let import = self.list.get(usize::from(place))?;
        let note = self.notes.get(usize::from(place))?;
        Some(Import { path: &import.path, class: import.class, role: note.role, is_name: note.is_name })
    }

    /// Returns the place of a path. `judge` returns the class and the role of a new one.
    pub(super) fn note(
        &mut self,
        path: &str,
        way: Way,
        at: Spot<'_>,
        judge: impl FnOnce() -> (ImportClass, Role),
    ) -> Result<u16, Halt> {
        self.budget.spend(path)?;
        if let Some(place) = self.index.find(path, &self.list) {
            self.judge_again(place, way, judge);
            return Ok(place);
        }
        if path.len() > LONGEST_PATH {
            // Lines of other data are seldom valid names. Python would import a valid name, so it is always reported.
            return Err(if is_name(path) { Halt::Spent(TOO_MANY) } else { Halt::Limit(TOO_MANY) });
        }
        let place = u16::try_from(self.list.len()).ok().filter(|_| self.list.len() < MOST);
        let place = place.ok_or(Halt::Spent(TOO_MANY))?;
        let (class, role) = judge();
        let import = PickleImport { path: String::new(), offset: at.offset, member: at.member.cloned(), class };
        self.add(path, import, role, way)?;
        Ok(place)
    }

    /// Keeps the worse of two judgements of a path that is imported in two ways.
    fn judge_again(&mut self, place: u16, way: Way, judge: impl FnOnce() -> (ImportClass, Role)) {
        let place = usize::from(place);
        let (Some(import), Some(note)) = (self.list.get_mut(place), self.notes.get_mut(place)) else { return };
        if note.way != way {
            let (class, role) = judge();
            import.class = import.class.max(class);
            note.misused |= note.role != role;
        }
    }

    fn add(&mut self, path: &str, mut import: PickleImport, role: Role, way: Way) -> Result<(), TryReserveError> {
        import.path.try_reserve_exact(path.len())?;
        import.path.push_str(path);
        self.list.try_reserve(1)?;
        self.notes.try_reserve(1)?;
        self.index.add(path, &self.list)?;
        self.list.push(import);
        self.notes.push(Note { role, way, is_name: is_name(path), understood: false, misused: false });
        Ok(())
    }

    /// Forgets all but the first `len`.
    pub(super) fn forget_from(&mut self, len: usize) {
        while self.list.len() > len {
            let Some(import) = self.list.pop() else { return };
            self.notes.pop();
            self.index.remove_last(&import.path, self.list.len());
        }
    }

    /// Records a call of a dangerous import with harmless arguments. If all its calls are like that, it is ordinary.
    pub(super) fn understand(&mut self, place: u16) {
        self.mark(place, |note| note.understood = true);
    }

    /// Records that an import is kept as a value, so that it can be called unseen. Some call what they are given.
    pub(super) fn leak(&mut self, place: u16) {
        self.misuse(place);
        let at = usize::from(place);
        if let (Some(import), Some(note)) = (self.list.get_mut(at), self.notes.get(at))
            && note.role.calls_arguments()
        {
            import.class = ImportClass::Dangerous;
        }
    }

    /// Records that an import can be called unseen, or was called with arguments that may be harmful.
    pub(super) fn misuse(&mut self, place: u16) {
        self.mark(place, |note| note.misused = true);
    }

    fn mark(&mut self, place: u16, mark: impl FnOnce(&mut Note)) {
        if let Some(note) = self.notes.get_mut(usize::from(place)) {
            mark(note);
        }
    }

    pub(super) fn have_name(&self) -> bool {
        self.notes.iter().any(|note| note.is_name)
    }

    pub(super) fn finish(mut self) -> Vec<PickleImport> {
        for (import, note) in self.list.iter_mut().zip(&self.notes) {
            if note.understood && !note.misused {
                import.class = ImportClass::Ordinary;
            }
        }
        self.list
    }
}

fn is_name(path: &str) -> bool {
    path.split('.').all(|part| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// The number of bytes of paths that can still be looked up. All other costs follow from the bytes of the pickle: an
/// opcode is one step and leaves at most one value. But paths are built from texts in the memo, and two bytes are enough
/// to use a long text again.
struct Budget(u64);

impl Budget {
    /// All paths of a pickle from a pickler together are not longer than the pickle.
    fn new(len: u64) -> Self {
        Budget(len.saturating_mul(4).saturating_add(16 << 10))
    }

    fn spend(&mut self, path: &str) -> Result<(), Halt> {
        // The opcode itself pays for this much.
        let len = as_u64(path.len()).saturating_sub(16);
        self.0 = self.0.checked_sub(len).ok_or(Halt::Spent(TOO_MANY))?;
        Ok(())
    }
}

/// A hash table from paths to places in the list, with linear probing. At most half of the slots are in use.
#[derive(Default)]
struct Index {
    slots: Vec<u16>,
    hasher: RandomState,
}

const FREE: u16 = u16::MAX;

impl Index {
    /// The slots that a path can be in, in the order of probing.
    fn slots_of(&self, path: &str) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().saturating_sub(1);
        let first = as_usize(self.hasher.hash_one(path) & 0xffff);
        (0..self.slots.len()).map(move |step| first.saturating_add(step) & mask)
    }

    fn find(&self, path: &str, list: &[PickleImport]) -> Option<u16> {
        let places = self.slots_of(path).filter_map(|slot| self.slots.get(slot).copied());
        places.take_while(|&place| place != FREE).find(|&place| is_at(list, place, path))
    }

    /// Adds the path that will be pushed to the list next.
    fn add(&mut self, path: &str, list: &[PickleImport]) -> Result<(), TryReserveError> {
        if self.slots.len() <= list.len().saturating_mul(2) {
            self.grow(list)?;
        }
        self.set(path, FREE, u16::try_from(list.len()).unwrap_or(FREE));
        Ok(())
    }

    fn grow(&mut self, list: &[PickleImport]) -> Result<(), TryReserveError> {
        let len = self.slots.len().saturating_mul(2).max(64);
        self.slots.try_reserve_exact(len.saturating_sub(self.slots.len()))?;
        self.slots.clear();
        self.slots.resize(len, FREE);
        for (place, import) in (0..).zip(list) {
            self.set(&import.path, FREE, place);
        }
        Ok(())
    }

    /// Removes the path that was added last. No other path was moved on because of its slot.
    fn remove_last(&mut self, path: &str, place: usize) {
        self.set(path, u16::try_from(place).unwrap_or(FREE), FREE);
    }

    /// Puts `new` into the first slot of a path that holds `old`.
    fn set(&mut self, path: &str, old: u16, new: u16) {
        let slot = self.slots_of(path).find(|&slot| self.slots.get(slot) == Some(&old));
        if let Some(slot) = slot.and_then(|slot| self.slots.get_mut(slot)) {
            *slot = new;
        }
    }
}

fn is_at(list: &[PickleImport], place: u16, path: &str) -> bool {
    list.get(usize::from(place)).is_some_and(|import| import.path == path)
}

#[cfg(test)]
mod tests {
    use super::{ImportClass, Imports, Names, Role, Spot, Way};

    #[test]
    #[cfg_attr(miri, ignore = "its 20,000 steps take an hour there, and none is unsafe")]
    fn paths_are_found_until_they_are_forgotten() {
        let mut imports = Imports::new(1 << 20);
        let mut known: Vec<String> = Vec::new();
        let mut random = 1u32;
        for step in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let path = format!("a.b{}", random >> 20);
            let place = known.iter().position(|known| *known == path).unwrap_or_else(|| {
                known.push(path.clone());
                known.len() - 1
            });
            let judge = || (ImportClass::Unknown, Role::Other);
            let (way, at) = (Way::new(Names::Present, "a"), Spot { offset: step, member: None });
            assert_eq!(usize::from(imports.note(&path, way, at, judge).unwrap()), place);
            if step % 1000 == 999 {
                let len = known.len() - known.len() / 3;
                imports.forget_from(len);
                known.truncate(len);
            }
        }
        assert!(known.len() > 1000);
        assert!(imports.finish().into_iter().map(|import| import.path).eq(known));
    }

    /// Dropping a trial removes its imports but not the record of their calls. That is safe because a call can only
    /// make dangerous imports ordinary, and a trial with a dangerous import is never dropped.
    #[test]
    fn what_a_call_makes_ordinary_is_dangerous() {
        for names in [Names::Present, Names::OfPython2] {
            assert_eq!(names.convert("builtins", "getattr"), ("builtins", "getattr"));
        }
        assert_eq!(Names::OfPython2.convert("__builtin__", "getattr"), ("builtins", "getattr"));
        for (module, name) in [("builtins", "getattr"), ("builtins", "type"), ("torch.storage", "_load_from_bytes")] {
            assert!(matches!(
                Role::of(module, name, ImportClass::Dangerous),
                Role::Attribute | Role::Load | Role::Kind
            ));
            assert_eq!(super::super::names::classify(module, name), ImportClass::Dangerous);
        }
    }
}

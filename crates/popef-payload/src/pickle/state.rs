//! What a pickle puts into objects, where it could change more than their values.
//!
//! Python looks up some attributes, such as `__class__` and `__getattr__`, by itself. An object that gets one of them
//! does what its class would never do. No pickler sets them.

use super::ImportClass;
use super::halt::Halt;
use super::imports::{Import, Role};
use super::keep::{Keep, Part};
use super::machine::Machine;
use super::values::{Arguments, StandIn};
use super::walk::Walk;

const RESERVED: &str = "(change of an attribute of Python's own)";

/// Attributes of that spelling which Python never looks up to do something, and which objects honestly have.
const NOTES: [&[u8]; 4] = [b"__notes__", b"__orig_class__", b"__doc__", b"__version__"];

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    /// Whether a key may be the name of an attribute that Python looks up by itself. A text of a call may be any text.
    pub(super) fn is_reserved(&self, key: StandIn) -> bool {
        match key {
            StandIn::Text(text) => is_reserved_name(self.level.texts.get(text)),
            _ => self.class_of(key).is_some_and(|class| class.may_be_text()),
        }
    }

    /// The import of which a value is an object or a result.
    fn class_of(&self, value: StandIn) -> Option<Import<'_>> {
        match value {
            StandIn::Own(class) | StandIn::Result(class) => self.scan.imports.get(class),
            _ => None,
        }
    }

    /// Checks the keys from `start` on, which are put into a value other than a dictionary with one stand-in.
    pub(super) fn check_items(&mut self, into: Option<StandIn>, start: usize) -> Result<(), Halt> {
        let class = into.and_then(|into| self.class_of(into));
        let is_mapping = class.is_some_and(|class| class.role == Role::Mapping);
        let has_reserved = self.level.stack.values_from(start).step_by(2).any(|key| self.is_reserved(key));
        if has_reserved && !is_mapping {
            self.import_unnamed(RESERVED)?;
        }
        self.check_filled(into, Part::Pairs)
    }

    /// Checks the keys from `start` on. They go into the dictionary at `dict`, which may become the state of the object below it.
    pub(super) fn check_state_keys(&mut self, dict: usize, start: usize) -> Result<(), Halt> {
        let Machine { stack, texts, .. } = &*self.level;
        let Some(StandIn::Own(class)) = stack.below(dict).map(|below| below.stand_in) else { return Ok(()) };
        let is_odd = self.scan.imports.get(class).is_some_and(|class| {
            let text = |key| if let StandIn::Text(key) = key { Some(texts.get(key)) } else { None };
            stack.values_from(start).step_by(2).any(|key| !class.may_have_key(text(key)))
        });
        if is_odd { self.import_change(class) } else { Ok(()) }
    }

    /// Checks each value from `start` on, in steps, which becomes a key. Types of pandas read attributes then whose names
    /// their state may give.
    pub(super) fn check_keys(&mut self, start: usize, step: usize) -> Result<(), Halt> {
        let odd = self
            .level
            .stack
            .values_from(start)
            .step_by(step)
            .find(|&key| self.class_of(key).is_some_and(|class| class.is_type_of_pandas()));
        match odd {
            Some(StandIn::Own(class) | StandIn::Result(class)) => self.import_call(class),
            _ => Ok(()),
        }
    }

    /// Whether an object may be changed after others have it. Picklers do that only if its arguments lead to it.
    pub(super) fn may_change_again(&self, class: u16) -> bool {
        self.scan.imports.get(class).is_none_or(|class| class.class != ImportClass::Ordinary)
    }

    /// Checks a value that items or pairs are put into.
    pub(super) fn check_filled(&mut self, into: Option<StandIn>, part: Part) -> Result<(), Halt> {
        let Some(StandIn::Own(class) | StandIn::Result(class)) = into else { return Ok(()) };
        if self.scan.imports.get(class).is_some_and(|class| class.is_never_filled(part)) {
            self.import_call(class)?;
        }
        Ok(())
    }

    /// Records that a dictionary has a reserved key. It may be a state that has another stand-in.
    pub(super) fn note_reserved(&mut self, dict: StandIn) -> Result<(), Halt> {
        if dict != StandIn::Reserved {
            return Ok(());
        }
        self.has_reserved = true;
        self.check_shared()
    }

    /// Checks the state that an object gets. Of the known classes, one of pandas sets attributes from the third part.
    pub(super) fn check_state(&mut self, object: StandIn, state: StandIn) -> Result<(), Halt> {
        let is_known = self.class_of(object).is_some_and(|class| class.class == ImportClass::Ordinary);
        match state {
            StandIn::Tuple(Arguments::Named) if is_known => self.import_unnamed(RESERVED).map(drop),
            state if self.may_have_names(state) => self.import_unnamed(RESERVED).map(drop),
            StandIn::SameDict | StandIn::SharedPair => {
                self.has_shared_state = true;
                self.check_shared()
            }
            _ => Ok(()),
        }
    }

    fn may_have_names(&self, state: StandIn) -> bool {
        state == StandIn::Reserved || self.class_of(state).is_some_and(|class| class.may_have_names())
    }

    /// Whether one of the values from `start` on may be a dictionary with such names, or contain one.
    pub(super) fn has_names(&self, start: usize) -> bool {
        let is_odd = |part| matches!(part, StandIn::SameDict | StandIn::SharedPair | StandIn::Tuple(Arguments::Named));
        self.level.stack.values_from(start).any(|part| is_odd(part) || self.may_have_names(part))
    }

    fn check_shared(&mut self) -> Result<(), Halt> {
        if self.has_reserved && self.has_shared_state {
            self.import_unnamed(RESERVED)?;
        }
        Ok(())
    }

    /// Returns the stand-in for a pair that may be a state with two parts, if one of them matters.
    pub(super) fn pair_from(&self, start: usize) -> Option<StandIn> {
        let mut values = self.level.stack.values_from(start);
        let [Some(first), Some(second), None] = [values.next(), values.next(), values.next()] else { return None };
        if self.may_have_names(first) || self.may_have_names(second) {
            return Some(StandIn::Reserved);
        }
        [first, second].contains(&StandIn::SameDict).then_some(StandIn::SharedPair)
    }
}

fn is_reserved_name(name: &[u8]) -> bool {
    // pandas names columns of an index so.
    let is_note = NOTES.contains(&name) || name.starts_with(b"__index_level_");
    name.starts_with(b"__") && name.ends_with(b"__") && !is_note
}

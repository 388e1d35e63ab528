//! The version that PopTorch records, which a scan finds without keeping any values.

use super::halt::Halt;
use super::imports::Role;
use super::keep::{Keep, Part};
use super::machine::Machine;
use super::values::{Arguments, Slot, StandIn};
use super::walk::{Walk, leak};

const UNCLEAR_VERSION: &str = "it sets PopTorch's version in a way that cannot be followed";

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    /// Returns the stand-in for a dictionary to which the keys and values from `start` on are added.
    pub(super) fn dict_with(&mut self, dict: StandIn, start: usize) -> StandIn {
        if dict == StandIn::Reserved {
            return dict;
        }
        if let StandIn::Fields(at) = dict {
            let plainer = self.dict_with(StandIn::Dict, start);
            return if plainer == StandIn::Dict && self.add_fields(at, start) { dict } else { plainer };
        }
        let Machine { stack, texts, .. } = &*self.level;
        let (keys, values) = (stack.values_from(start).step_by(2), stack.values_from(start).skip(1).step_by(2));
        keys.zip(values).fold(dict, |dict, item| match item {
            _ if dict == StandIn::Reserved => dict,
            (StandIn::Text(key), StandIn::Text(value)) if texts.get(key) == b"version" => StandIn::Versioned(value),
            (StandIn::Text(key), _) if texts.get(key) == b"version" => StandIn::Dict,
            (key, _) if self.is_reserved(key) => StandIn::Reserved,
            // A computed key may be the same text.
            (StandIn::Own(_) | StandIn::Result(_), _) => StandIn::Dict,
            _ => dict,
        })
    }

    pub(super) fn set_items(&mut self, start: usize) -> Result<(), Halt> {
        self.leak_from(start);
        self.check_keys(start, 2)?;
        self.check_state_keys(start.saturating_sub(1), start)?;
        let below = self.level.stack.below(start);
        let dict = match below {
            Some(Slot {
                stand_in: dict @ (StandIn::Dict | StandIn::Fields(_) | StandIn::Versioned(_) | StandIn::Reserved),
                node,
            }) => Some(Slot { stand_in: self.dict_with(dict, start), node }),
            Some(Slot { stand_in: StandIn::List(_) | StandIn::SameList, .. }) => {
                // A slice as the key can make it shorter.
                self.import_unnamed("(change of a value)")?;
                None
            }
            _ => {
                self.check_items(below.map(|below| below.stand_in.plainer()), start)?;
                None
            }
        };
        self.put_into_below(Part::Pairs, start)?;
        self.level.stack.cut(start);
        match dict {
            Some(dict) => {
                self.note_reserved(dict.stand_in)?;
                self.level.stack.replace_top(dict)
            }
            None => {
                self.level.stack.top()?;
                self.check_change()
            }
        }
    }

    pub(super) fn build(&mut self) -> Result<(), Halt> {
        let exact = self.level.stack.top()?.stand_in;
        let state = self.level.stack.pop()?;
        leak(&mut self.scan.imports, state.stand_in);
        let object = self.level.stack.top()?;
        self.scan.keep.add(object.node, Part::State, [state.node].into_iter())?;
        self.check_state(object.stand_in.plainer(), state.stand_in)?;
        let class = match object.stand_in {
            StandIn::Made { import, at } => return self.build_made(import, at, exact),
            StandIn::OwnAgain(class) if !self.may_change_again(class) => return self.import_change(class),
            StandIn::Own(class) | StandIn::OwnAgain(class) => class,
            StandIn::Result(class) => return self.import_change_of_result(class),
            StandIn::Import(_) => return self.check_change(),
            _ => return self.import_unnamed("(change of a value)").map(drop),
        };
        let Some(import) = self.scan.imports.get(class) else { return Ok(()) };
        let is_odd = !import.may_have_key(None) && state.stand_in != StandIn::Dict;
        if import.is_weak() || is_odd {
            return self.import_change(class);
        }
        let is_poptorch = import.path.ends_with(".PoptorchData");
        let is_safe = match (import.role, state.stand_in) {
            (Role::Partial, StandIn::Tuple(Arguments::Partial(of))) => self.is_partial_safe(of),
            (role, _) => role != Role::Partial,
        };
        if !is_safe {
            self.scan.imports.misuse(class);
        }
        self.check_series(class, state.stand_in)?;
        if is_poptorch && self.level.depth == 0 {
            self.set_version(state.stand_in);
        }
        Ok(())
    }

    /// Records the version in the state of PopTorch's data.
    fn set_version(&mut self, state: StandIn) {
        let version = match state {
            StandIn::Versioned(version) => self.level.texts.get(version),
            StandIn::Dict if self.found.version.is_none() && !self.dict_changed_again => return,
            _ => return self.lose_version(),
        };
        let version = String::from_utf8_lossy(version).into_owned();
        let is_other = self.found.version.as_ref().is_some_and(|before| *before != version);
        if is_other || self.dict_changed_again {
            return self.lose_version();
        }
        self.found.version = Some(version);
    }

    fn lose_version(&mut self) {
        self.found.version = None;
        self.found.halt(&Halt::Limit(UNCLEAR_VERSION), self.place());
    }

    /// Reports a change of an imported object: every object of that class would change. Also records a change of a
    /// dictionary through the memo.
    pub(super) fn check_change(&mut self) -> Result<(), Halt> {
        match self.level.stack.top().map(|top| top.stand_in) {
            Ok(StandIn::Import(import)) => self.import_change(import),
            Ok(StandIn::SameFields(_)) => self.import_unnamed("(change of a value)").map(drop),
            Ok(StandIn::SameDict) => {
                self.dict_changed_again = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

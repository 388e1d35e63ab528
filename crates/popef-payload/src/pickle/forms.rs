//! The forms in which picklers call functions that make values in memory which NumPy trusts. Nothing else is a harmless call
//! of them.

use super::ImportClass;
use super::dtype::{COUNTED, Kind, Type};
use super::halt::Halt;
use super::imports::{Import, Role};
use super::keep::Keep;
use super::names::Use;
use super::values::{Arguments, Gives, StandIn, UNKEPT};
use super::walk::Walk;

/// The last names of NumPy's classes of arrays.
const ARRAYS: [&str; 5] = ["ndarray", "matrix", "recarray", "chararray", "MaskedArray"];

/// The shape of an array that gets its values from a state.
const NO_VALUES: StandIn = StandIn::Tuple(Arguments::Lengths { is_one: true, product: 0 });

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    /// Returns the stand-in for the values from `start` on, if they are arguments of the import below them in such a form.
    pub(super) fn form_from(&mut self, start: usize) -> Result<Option<Arguments>, Halt> {
        let Some(StandIn::Import(of)) = self.level.stack.below(start).map(|below| below.stand_in) else {
            return Ok(None);
        };
        let mut values = self.level.stack.exact_from(start);
        let parts: [Option<StandIn>; 6] = std::array::from_fn(|_| values.next());
        drop(values);
        let of_type =
            parts.iter().find_map(|part| if let Some(StandIn::Made { at, .. }) = part { Some(*at) } else { None });
        let of_type = of_type.and_then(|at| self.value_type_at(at));
        let (gives, at) = match self.scan.imports.get(of).map(|import| (import.role, import.name())) {
            Some((Role::Encode, _)) => (Gives::Bytes, self.encoded(parts)),
            Some((Role::Ordinary(Use::Plain), "bytes")) => (Gives::Bytes, parts[0].is_none().then_some(UNKEPT)),
            Some((Role::Ordinary(Use::Formed), name)) => match name {
                "dtype" | "_reconstruct" | "_mareconstruct" | "_convert_to_stringdtype_kwargs" => {
                    let made = self.made_by(name, parts).filter(|_| !self.has_names(start));
                    (Gives::Made, made.map(|made| self.level.types.add(made)).transpose()?)
                }
                "__pyx_unpickle_SeedSequence" => (Gives::New, self.is_seed(parts).then_some(UNKEPT)),
                _ => (Gives::Shared, self.is_value_of(name, of_type, parts).then_some(UNKEPT)),
            },
            _ => return Ok(None),
        };
        Ok(at.map(|at| Arguments::Form { of, gives, at }))
    }

    /// The place of the text that these are arguments to encode as bytes.
    fn encoded(&self, parts: [Option<StandIn>; 6]) -> Option<u32> {
        match parts {
            [Some(StandIn::Text(text) | StandIn::Bytes(text)), Some(StandIn::Text(codec)), None, ..]
                if self.level.texts.get(codec) == b"latin1" =>
            {
                Some(text)
            }
            _ => None,
        }
    }

    /// The type or the array that a function of NumPy makes of these arguments.
    fn made_by(&self, name: &str, parts: [Option<StandIn>; 6]) -> Option<Type> {
        match (name, parts) {
            ("dtype", [Some(kind), Some(StandIn::Number(0)), Some(StandIn::Number(1)), None, ..]) => {
                self.type_named(kind)
            }
            ("_reconstruct", [Some(class), Some(NO_VALUES), Some(kind), None, ..]) => {
                (self.is_array_class(class) && self.is_byte(kind)).then_some(Type::new(Kind::Array))
            }
            ("_mareconstruct", [Some(class), Some(base), Some(NO_VALUES), Some(kind), None, ..]) => {
                let are_arrays = self.is_array_class(class) && self.is_array_class(base);
                (are_arrays && self.is_byte(kind)).then_some(Type::new(Kind::Array))
            }
            ("_convert_to_stringdtype_kwargs", [Some(StandIn::Number(0 | 1)), _, None, ..]) => Some(Type::strings()),
            _ => None,
        }
    }

    fn type_named(&self, kind: StandIn) -> Option<Type> {
        match kind {
            StandIn::Text(text) => Type::spelt(self.level.texts.get(text)),
            StandIn::Import(class) => match self.scan.imports.get(class)? {
                Import { class: ImportClass::Unknown, .. } => Some(Type::new(Kind::User)),
                import => import.is_of_numpy(&["record"]).then_some(Type::new(Kind::Record)),
            },
            _ => None,
        }
    }

    fn is_array_class(&self, class: StandIn) -> bool {
        let StandIn::Import(class) = class else { return false };
        let class = self.scan.imports.get(class);
        class.is_some_and(|class| class.class == ImportClass::Unknown || class.is_of_numpy(&ARRAYS))
    }

    fn is_byte(&self, kind: StandIn) -> bool {
        matches!(kind, StandIn::Text(kind) | StandIn::Bytes(kind) if self.level.texts.get(kind) == b"b")
    }

    fn is_seed(&self, parts: [Option<StandIn>; 6]) -> bool {
        let [Some(StandIn::Import(class)), Some(StandIn::Number(_)), Some(StandIn::None), None, ..] = parts else {
            return false;
        };
        self.scan.imports.get(class).is_some_and(|class| class.is_of_numpy(&["SeedSequence"]))
    }

    /// Whether these are arguments of a function of NumPy that makes a value of bytes.
    fn is_value_of(&self, name: &str, of_type: Option<Type>, parts: [Option<StandIn>; 6]) -> bool {
        let has_objects = of_type.is_none_or(|made| made.flags & COUNTED != 0);
        match (name, parts) {
            ("MaskedConstant", [None, ..]) => true,
            ("scalar", [Some(StandIn::Made { .. }), Some(value), None, ..]) => {
                if has_objects {
                    of_type.is_some() && self.is_one_value(value)
                } else {
                    value.is_bytes()
                }
            }
            (
                "_frombuffer",
                [
                    Some(buffer),
                    Some(StandIn::Made { .. }),
                    Some(StandIn::Tuple(Arguments::Lengths { .. } | Arguments::Nothing)),
                    Some(StandIn::Text(order)),
                    None | Some(StandIn::Tuple(Arguments::Lengths { .. })),
                    None,
                ],
            ) => {
                let is_order = matches!(self.level.texts.get(order), b"C" | b"F" | b"K");
                is_order && buffer.is_bytes() && !has_objects
            }
            _ => false,
        }
    }

    /// Whether a value is an array of one value, which has its state.
    fn is_one_value(&self, value: StandIn) -> bool {
        let StandIn::Made { at, .. } = value else { return false };
        let made = self.level.types.get(at.index());
        made.is_some_and(|made| made.kind == Kind::Array && made.is_closed && made.size == 1)
    }
}

//! What a pickle imports and calls.

use super::ImportClass;
use super::halt::Halt;
use super::imports::{Import, Role, Spot, Way};
use super::keep::{Keep, Kind, Made, Part};
use super::machine::{Machine, Scan};
use super::names::{Names as Spelling, Use, classify, classify_attribute};
use super::op::Names;
use super::values::{Arguments, At, EMPTY, Gives, Slot, StandIn};
use super::walk::{Walk, leak};

impl<K: Keep> Walk<'_, '_, '_, '_, K> {
    // ---- imports

    /// Records the import whose path is in the buffer, and returns its place.
    fn note(&mut self, judge: impl FnOnce(Spelling, &str, &str) -> (ImportClass, Role)) -> Result<u16, Halt> {
        let Scan { imports, path, place, member, .. } = &mut *self.scan;
        let (of, name) = path.parts();
        let way = Way::new(Spelling::of_protocol(self.protocol), of);
        let at = Spot { offset: *place, member: member.as_ref() };
        let import = imports.note(path.as_str(), way, at, || judge(way.names, of, name))?;
        self.found.imports = true;
        self.found.dangerous |= imports.get(import).is_some_and(|import| import.is_listed());
        Ok(import)
    }

    /// Records the import of a module's name that is in the buffer.
    fn note_name(&mut self) -> Result<u16, Halt> {
        self.note(|names, module, name| {
            let (module, name) = names.convert(module, name);
            let class = classify(module, name);
            (class, Role::of(module, name, class))
        })
    }

    pub(super) fn import_lines(&mut self, names: Names) -> Result<u16, Halt> {
        let path = &mut self.scan.path;
        path.begin();
        path.add_line(self.input.bytes(names.module)?)?;
        path.add_dot()?;
        path.add_line(self.input.bytes(names.name)?)?;
        self.note_name()
    }

    fn import_texts(&mut self, module: u32, name: u32) -> Result<u16, Halt> {
        let path = &mut self.scan.path;
        path.begin();
        path.add(self.level.texts.get(module))?;
        path.add_dot()?;
        path.add(self.level.texts.get(name))?;
        self.note_name()
    }

    /// Records an attribute that `getattr` returns.
    fn import_attribute(&mut self, of: u16, name: u32) -> Result<StandIn, Halt> {
        let Scan { imports, path, .. } = &mut *self.scan;
        let Some(of) = imports.get(of) else { return Ok(StandIn::Other) };
        path.begin();
        path.add(of.path.as_bytes())?;
        path.add_dot()?;
        path.add(self.level.texts.get(name))?;
        let class = of.class;
        let judge = |names: Spelling, path: &str, name: &str| {
            let class = classify_attribute(class, names, path, name);
            let (module, of) = path.rsplit_once('.').unwrap_or_default();
            let (module, of) = names.convert(module, of);
            (class, Role::of(module, &format!("{of}.{name}"), class))
        };
        self.note(judge).map(StandIn::Import)
    }

    /// Records that the pickle changes something that it imports. No pickler does that.
    pub(super) fn import_change(&mut self, of: u16) -> Result<(), Halt> {
        self.import_use(b"(change of ", of, ImportClass::Dangerous)
    }

    /// Records that the pickle changes what a call returned, which may not be its own.
    pub(super) fn import_change_of_result(&mut self, of: u16) -> Result<(), Halt> {
        let is_unknown = self.scan.imports.get(of).is_some_and(|of| of.class == ImportClass::Unknown);
        let class = if is_unknown { ImportClass::Unknown } else { ImportClass::Dangerous };
        self.import_use(b"(change of a result of ", of, class)
    }

    /// Records that the pickle calls or fills something that it imports in a way that is not known to only build values.
    pub(super) fn import_call(&mut self, of: u16) -> Result<(), Halt> {
        self.import_use(b"(call of ", of, ImportClass::Dangerous)
    }

    /// Records that something that the pickle calls, or gives a state, may read values that never end.
    pub(super) fn check_series(&mut self, reader: u16, values: StandIn) -> Result<(), Halt> {
        match values {
            StandIn::Tuple(Arguments::Series(of))
                if self.scan.imports.get(reader).is_some_and(|reader| reader.reads_arguments()) =>
            {
                self.import_use(b"(loop over ", of, ImportClass::Dangerous)
            }
            _ => Ok(()),
        }
    }

    fn import_use(&mut self, what: &[u8], of: u16, class: ImportClass) -> Result<(), Halt> {
        let Scan { imports, path, .. } = &mut *self.scan;
        let Some(of) = imports.get(of) else { return Ok(()) };
        path.begin();
        path.add(what)?;
        path.add(of.path.as_bytes())?;
        path.add(b")")?;
        self.note(|_, _, _| (class, Role::Other)).map(drop)
    }

    /// Records an import that has no name.
    pub(super) fn import_unnamed(&mut self, what: &str) -> Result<u16, Halt> {
        self.scan.path.begin();
        self.scan.path.add(what.as_bytes())?;
        self.note(|_, _, _| (ImportClass::Dangerous, Role::Other))
    }

    pub(super) fn stack_global(&mut self) -> Result<(), Halt> {
        let (name, module) = (self.level.stack.pop()?, self.level.stack.pop()?);
        let import = match (module.stand_in, name.stand_in) {
            (StandIn::Text(module), StandIn::Text(name)) => self.import_texts(module, name)?,
            _ => self.import_unnamed("(computed)")?,
        };
        self.push_import(import)
    }

    fn make_import(&mut self, import: u16) -> Result<K::Node, Halt> {
        self.scan.keep.make(Made::Import { import, inner: self.level.depth > 0 })
    }

    pub(super) fn push_import(&mut self, import: u16) -> Result<(), Halt> {
        let node = self.make_import(import)?;
        self.push(StandIn::Import(import), node)
    }

    // ---- calls

    pub(super) fn reduce(&mut self) -> Result<(), Halt> {
        let exact = self.level.stack.top()?.stand_in;
        let (arguments, callable) = (self.level.stack.pop()?, self.level.stack.pop()?);
        let result = match callable.stand_in {
            StandIn::Import(import) => self.call(import, exact)?,
            _ => self.call_of_value()?,
        };
        let node = self.scan.keep.make(Made::Object { of: callable.node, arguments: arguments.node })?;
        self.push(result, node)
    }

    /// Records a call of something that no name tells. Picklers call only what they import.
    fn call_of_value(&mut self) -> Result<StandIn, Halt> {
        self.import_unnamed("(call of a value)")?;
        Ok(StandIn::Other)
    }

    /// Whether the first argument of torch's function is one of its functions that make tensors.
    fn is_rebuild(&self, function: u16) -> bool {
        let function = self.scan.imports.get(function);
        function.is_some_and(|import| {
            import.class == ImportClass::Ordinary && import.path.starts_with("torch._utils._rebuild_")
        })
    }

    /// Picklers write the arguments of a call as a tuple, never as the result of another call.
    fn check_arguments(&mut self, import: u16, arguments: StandIn) -> Result<(), Halt> {
        if matches!(arguments, StandIn::Own(_) | StandIn::Result(_)) { self.import_call(import) } else { Ok(()) }
    }

    /// Returns the stand-in for what a call of an import gives, or `__new__` of it.
    fn result(&self, import: u16, is_called: bool) -> StandIn {
        let is_own = self.scan.imports.get(import).is_some_and(|import| import.gives_own(is_called));
        if is_own { StandIn::Own(import) } else { StandIn::Result(import) }
    }

    fn is_index(&self, class: u16) -> bool {
        let class = self.scan.imports.get(class);
        class.is_some_and(|class| {
            class.class == ImportClass::Ordinary && class.path.starts_with("pandas.") && class.path.ends_with("Index")
        })
    }

    pub(super) fn is_partial_safe(&self, function: u16) -> bool {
        self.scan.imports.get(function).is_some_and(|function| function.is_partial_safe())
    }

    /// Whether an `itemgetter` or a `partial` with these arguments does no harm, whatever calls it.
    fn is_kept_safely(&self, role: Role, arguments: StandIn) -> bool {
        match (role, arguments) {
            (Role::ItemGetter, StandIn::Tuple(Arguments::Plain | Arguments::Plains)) => true,
            (Role::Partial, StandIn::Tuple(Arguments::Import(function) | Arguments::ImportAndText(function, _))) => {
                self.is_partial_safe(function)
            }
            _ => false,
        }
    }

    fn call(&mut self, import: u16, exact: StandIn) -> Result<StandIn, Halt> {
        self.found.called = true;
        self.found_call(import);
        if let StandIn::Tuple(Arguments::Form { of, gives, at }) = exact
            && of == import
        {
            return Ok(match gives {
                Gives::Made => StandIn::Made { import, at: At::new(at) },
                Gives::Bytes => StandIn::Bytes(at),
                Gives::New => StandIn::Own(import),
                Gives::Shared => StandIn::Result(import),
            });
        }
        let arguments = exact.plainer();
        let imports = &self.scan.imports;
        let Some(role) = imports.get(import).map(|import| import.role) else { return Ok(StandIn::Other) };
        let is_bare = arguments == StandIn::Tuple(Arguments::Nothing);
        if self.scan.imports.get(import).is_some_and(|import| import.is_weak() && !is_bare) {
            self.import_call(import)?;
        }
        self.check_arguments(import, arguments)?;
        self.check_series(import, arguments)?;
        Ok(match (role, arguments) {
            (Role::Attribute, StandIn::Tuple(Arguments::ImportAndText(of, name))) => {
                self.scan.imports.understand(import);
                self.import_attribute(of, name)?
            }
            (Role::Load, StandIn::Tuple(Arguments::Known)) => {
                self.scan.imports.understand(import);
                // It may be a state with any names.
                StandIn::Result(import)
            }
            (Role::Kind, StandIn::Tuple(Arguments::Plain)) => {
                self.scan.imports.understand(import);
                StandIn::Other
            }
            (Role::ItemGetter | Role::Partial, arguments) => {
                if self.is_kept_safely(role, arguments) {
                    self.scan.imports.understand(import);
                } else {
                    self.scan.imports.misuse(import);
                }
                if role == Role::Partial { StandIn::Own(import) } else { StandIn::Result(import) }
            }
            (Role::Index, StandIn::Tuple(Arguments::Import(class))) if self.is_index(class) => StandIn::Result(class),
            (Role::Attribute | Role::Load | Role::Kind, _) => {
                self.scan.imports.misuse(import);
                StandIn::Other
            }
            (Role::Reconstruct, StandIn::Tuple(Arguments::Import(class) | Arguments::ImportAndText(class, _))) => {
                self.result(class, false)
            }
            (Role::Rebuild, StandIn::Tuple(Arguments::Rebuild(function))) if self.is_rebuild(function) => {
                StandIn::Result(import)
            }
            (Role::Parameter, StandIn::Tuple(Arguments::Stated | Arguments::Plains)) => StandIn::Result(import),
            (Role::Generator, StandIn::Tuple(Arguments::Generator | Arguments::Plains)) => StandIn::Own(import),
            // With another encoding, the result is not the bytes that were scanned.
            (Role::Encode, StandIn::Tuple(Arguments::KnownAndLatin1)) => StandIn::Known,
            _ if self.scan.imports.get(import).is_some_and(|import| import.is_callable()) => self.result(import, true),
            _ => {
                self.import_call(import)?;
                StandIn::Other
            }
        })
    }

    pub(super) fn new_object(&mut self) -> Result<(), Halt> {
        let arguments = self.level.stack.pop()?;
        leak(&mut self.scan.imports, arguments.stand_in);
        let class = self.level.stack.pop()?;
        self.check_new(class.stand_in, arguments.stand_in)?;
        self.push_object(class, arguments.node, false)
    }

    pub(super) fn new_object_with_names(&mut self) -> Result<(), Halt> {
        let start = self.level.stack.start_of_last(2)?;
        let arguments = self.arguments_node(start)?;
        let class = self.level.stack.pop()?;
        self.check_new(class.stand_in, StandIn::Other)?;
        self.push_object(class, arguments, false)
    }

    /// Checks a call of `__new__`. Ordinary classes that are pickled in this way get all of their values as a state.
    fn check_new(&mut self, class: StandIn, arguments: StandIn) -> Result<(), Halt> {
        let StandIn::Import(class) = class else { return Ok(()) };
        let is_plain = matches!(arguments, StandIn::Tuple(Arguments::Plain | Arguments::Plains | Arguments::Known));
        let is_made_of_texts = self.scan.imports.get(class).is_some_and(|class| class.is_made_of_texts());
        let is_bare = arguments == StandIn::Tuple(Arguments::Nothing) || is_plain && is_made_of_texts;
        let is_odd = |role| matches!(role, Role::Ordinary(Use::Named | Use::Formed)) || !is_bare;
        match self.scan.imports.get(class) {
            Some(Import { class: ImportClass::Ordinary, role, .. }) if is_odd(role) => self.import_call(class),
            _ => self.check_arguments(class, arguments),
        }
    }

    /// Makes an object of the class that is the first value above the mark.
    pub(super) fn marked_object(&mut self) -> Result<(), Halt> {
        let start = self.level.stack.unmark()?;
        let class = self.level.stack.slots_from(start).next().ok_or(EMPTY)?;
        let above = start.saturating_add(1);
        self.check_class_call(class.stand_in, above)?;
        let arguments = self.arguments_node(above)?;
        self.level.stack.cut(start);
        self.push_object(class, arguments, true)
    }

    /// Checks a call of a class with the values from `start` on.
    fn check_class_call(&mut self, class: StandIn, start: usize) -> Result<(), Halt> {
        let StandIn::Import(class) = class else { return Ok(()) };
        if let Some(series) = self.series_from(start) {
            self.check_series(class, series)?;
        }
        let is_callable = self.scan.imports.get(class).is_none_or(|class| class.is_callable() && !class.is_weak());
        if is_callable { Ok(()) } else { self.import_call(class) }
    }

    pub(super) fn instance(&mut self, names: Names) -> Result<(), Halt> {
        let class = self.import_lines(names)?;
        let class = Slot { stand_in: StandIn::Import(class), node: self.make_import(class)? };
        let start = self.level.stack.unmark()?;
        self.check_class_call(class.stand_in, start)?;
        let arguments = self.arguments_node(start)?;
        self.push_object(class, arguments, true)
    }

    /// Takes the values from `start` on, as the arguments of a call.
    fn arguments_node(&mut self, start: usize) -> Result<K::Node, Halt> {
        self.leak_from(start);
        let node = self.scan.keep.make(Made::Empty(Kind::Tuple))?;
        self.scan.keep.add(node, Part::Items, self.level.stack.nodes_from(start))?;
        self.level.stack.cut(start);
        Ok(node)
    }

    /// Data other than a pickle may look like an import, but hardly like a call of it.
    fn found_call(&mut self, import: u16) {
        self.found.dangerous |= self.scan.imports.get(import).is_some_and(|import| import.is_dangerous_name());
    }

    fn push_object(&mut self, class: Slot<K::Node>, arguments: K::Node, is_called: bool) -> Result<(), Halt> {
        leak(&mut self.scan.imports, class.stand_in);
        let stand_in = match class.stand_in {
            StandIn::Import(class) => {
                self.found_call(class);
                self.result(class, is_called)
            }
            _ => self.call_of_value()?,
        };
        let node = self.scan.keep.make(Made::Object { of: class.node, arguments })?;
        self.push(stand_in, node)
    }

    /// Whether the second argument of `_reconstructor`, whose `__init__` it runs, is a class of Python's own.
    fn is_base(&self, base: Option<StandIn>) -> bool {
        match base {
            Some(StandIn::Import(base)) => self.scan.imports.get(base).is_some_and(|base| {
                base.class == ImportClass::Ordinary && base.path.trim_start_matches('_').starts_with("builtin")
            }),
            base => !matches!(base, Some(StandIn::Own(_) | StandIn::Result(_))),
        }
    }

    /// Returns the stand-in for a tuple of the values from `start` on, if one of them may never end, or has such a value in it.
    pub(super) fn series_from(&self, start: usize) -> Option<StandIn> {
        let series = |value| match value {
            StandIn::Result(of) => self.scan.imports.get(of).is_some_and(|of| of.is_series()).then_some(of),
            StandIn::Tuple(Arguments::Series(of)) => Some(of),
            _ => None,
        };
        self.level.stack.values_from(start).find_map(series).map(|of| StandIn::Tuple(Arguments::Series(of)))
    }

    pub(super) fn arguments_from(&self, start: usize) -> Option<Arguments> {
        let Machine { stack, texts, .. } = &*self.level;
        let mut values = stack.values_from(start);
        match [values.next(), values.next(), values.next(), values.next()] {
            [None, ..] => Some(Arguments::Nothing),
            [Some(first), None, ..] if self.is_bit_generator(first) => Some(Arguments::Generator),
            [Some(first), Some(StandIn::Import(maker)), None, _]
                if self.is_bit_generator_maker(maker)
                    && (matches!(first, StandIn::Text(_)) || self.is_bit_generator(first)) =>
            {
                Some(Arguments::Generator)
            }
            [Some(StandIn::Import(import)), Some(StandIn::Text(text)), None, _] => {
                Some(Arguments::ImportAndText(import, text))
            }
            [Some(StandIn::Import(import)), base, _, None] => self.is_base(base).then_some(Arguments::Import(import)),
            [Some(StandIn::Import(function)), Some(StandIn::Import(_)), _, Some(state)] => {
                (is_state(state) && values.next().is_none()).then_some(Arguments::Rebuild(function))
            }
            [
                Some(StandIn::Import(function)),
                Some(StandIn::Tuple(_) | StandIn::Other),
                Some(StandIn::Dict | StandIn::Versioned(_)),
                Some(StandIn::Other),
            ] => values.next().is_none().then_some(Arguments::Partial(function)),
            [Some(StandIn::Text(kind)), Some(StandIn::Import(class)), Some(_), Some(_)] => {
                (values.next().is_none() && texts.get(kind) == b"module").then_some(Arguments::Source(class))
            }
            [Some(StandIn::Import(class)), Some(StandIn::Dict), None, _] => Some(Arguments::Import(class)),
            [Some(StandIn::Other), None, ..] => Some(Arguments::Plain),
            [Some(StandIn::Known), None, ..] => Some(Arguments::Known),
            [Some(StandIn::Known), Some(StandIn::Text(codec)), None, _] => {
                (texts.get(codec) == b"latin1").then_some(Arguments::KnownAndLatin1)
            }
            _ if stack.values_from(start).all(|key| self.is_plain(key)) => Some(Arguments::Plains),
            [.., Some(state)] if is_state(state) && values.next().is_none() => Some(Arguments::Stated),
            _ => None,
        }
    }

    fn is_bit_generator_maker(&self, import: u16) -> bool {
        self.scan.imports.get(import).is_some_and(|import| import.path == "numpy.random._pickle.__bit_generator_ctor")
    }

    /// Whether a value is one of NumPy's sources of random bits, or a class of them.
    fn is_bit_generator(&self, value: StandIn) -> bool {
        match value {
            StandIn::Own(maker) => self.is_bit_generator_maker(maker),
            StandIn::Import(class) => self.scan.imports.get(class).is_some_and(|class| {
                class.class == ImportClass::Ordinary && class.path.starts_with("numpy.random._") && class.is_class()
            }),
            _ => false,
        }
    }

    /// Whether a value is no import and no object, and not the name of an attribute that Python looks up by itself.
    fn is_plain(&self, value: StandIn) -> bool {
        matches!(value, StandIn::Other | StandIn::Text(_)) && !self.is_reserved(value)
    }
}

/// Whether a state sets no attribute that Python looks up by itself.
fn is_state(value: StandIn) -> bool {
    matches!(value, StandIn::Dict | StandIn::Versioned(_) | StandIn::Other)
        || matches!(value, StandIn::Tuple(Arguments::Plains | Arguments::Nothing))
}

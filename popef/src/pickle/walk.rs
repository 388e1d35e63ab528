//! Follows a pickle's opcodes, and the pickles that lie in its texts and bytes.
//!
//! Each byte belongs to at most one opcode. A text that may be a pickle is read once more for each pickle around it, and
//! their number is limited. So the work is in proportion to the data. [`Imports`] limits what else could grow.

use std::ops::Range;

use super::imports::{Imports, Role};
use super::input::{Halt, PickleBytes, PickleReader};
use super::names::{classify, classify_attribute};
use super::op::{LONGEST_TEXT, Names, Op};
use super::path::Path;
use super::text::{LARGEST_TRIAL, Spelling, Text};
use super::values::{Arguments, EMPTY, Memo, Stack, StandIn, Texts};
use super::{ImportClass, Pickle, PickleFault};
use crate::error::Error;
use crate::read::Data;

/// The number of pickles inside each other that are followed.
const DEEPEST: u8 = 4;

pub(super) fn scan(data: &Data<'_>) -> Result<Option<Pickle>, Error> {
    let mut source = PickleBytes::new(*data);
    let mut scan = Scan { imports: Imports::new(data.len()), path: Path::default(), place: 0 };
    let mut found = Found::default();
    let is_pickle = match scan_into(&mut source.input(), &mut scan, &mut found) {
        Ok(is_pickle) => is_pickle || found.called || scan.imports.have_name(),
        Err(Halt::Unread(error)) => return Err(error),
        // The end was not reached, so it may be a pickle.
        Err(halt) => {
            found.halt(&halt, scan.place);
            true
        }
    };
    Ok(is_pickle.then(|| Pickle {
        protocol: found.protocol,
        imports: scan.imports.finish(),
        poptorch_version: found.version,
        fault: found.fault,
    }))
}

/// Returns whether the data is a pickle, by its first bytes or by its grammar.
fn scan_into(input: &mut PickleReader<'_, '_>, scan: &mut Scan, found: &mut Found) -> Result<bool, Halt> {
    let marked = begins_as_pickle(input)?;
    let ended = walk_all(input, &mut Machine::default(), scan, found)?;
    Ok(marked || ended)
}

fn begins_as_pickle(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    Ok(matches!(input.peek(2)?, [0x80, 0..=5]))
}

/// What all pickles in the data share.
struct Scan {
    imports: Imports,
    /// A buffer for the path of an import.
    path: Path,
    /// The byte of the current opcode of the outermost pickle.
    place: u64,
}

/// What is found in a pickle and the pickles inside it, except imports.
#[derive(Default)]
struct Found {
    protocol: u8,
    version: Option<String>,
    fault: Option<PickleFault>,
    /// The scan stopped at one of its own limits.
    limited: bool,
    /// It imports something.
    imports: bool,
    /// It imports something dangerous, by a path that consists of valid names.
    dangerous: bool,
    /// It calls something that it imports.
    called: bool,
}

impl Found {
    fn halt(&mut self, halt: &Halt, offset: u64) {
        match *halt {
            Halt::Fault(reason) | Halt::Limit(reason) | Halt::Spent(reason) => {
                self.fault.get_or_insert(PickleFault { offset, reason, no_memory: false });
            }
            // This replaces an earlier fault: with more memory, the scan might have found more.
            Halt::NoMemory => {
                let reason = "there is not enough memory to follow it";
                self.fault = Some(PickleFault { offset, reason, no_memory: true });
            }
            Halt::Unread(_) => {}
        }
        self.limited |= !matches!(halt, Halt::Fault(_));
    }

    fn absorb(&mut self, other: Found) {
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
#[derive(Default)]
struct Machine {
    depth: u8,
    stack: Stack,
    memo: Memo,
    texts: Texts,
    inner: Option<Box<Machine>>,
}

impl Machine {
    fn clear(&mut self) {
        self.stack.clear();
        self.memo.clear();
        self.texts.clear();
    }

    /// Returns the machine for pickles one level deeper.
    fn inner(&mut self) -> &mut Machine {
        let depth = self.depth.saturating_add(1);
        self.inner.get_or_insert_with(|| Box::new(Machine { depth, ..Machine::default() }))
    }
}

/// Walks a pickle and those that follow it; torch's older format has several. Returns whether they are the whole input.
/// Fails if the pickles around them cannot be followed either.
fn walk_all(
    input: &mut PickleReader<'_, '_>,
    level: &mut Machine,
    scan: &mut Scan,
    found: &mut Found,
) -> Result<bool, Halt> {
    let mut is_first = true;
    loop {
        level.clear();
        let mut walk = Walk { input, level, scan, found: Found::default(), frame_end: None, dict_changed_again: false };
        let end = walk.run();
        let place = walk.place();
        let mut trial = walk.found;
        match end {
            Ok(()) => found.absorb(trial),
            // What follows the first pickle may be any data, as long as it imports nothing.
            Err(Halt::Fault(_)) if !is_first && !trial.imports && !trial.limited => return Ok(false),
            Err(halt) => {
                trial.halt(&halt, place);
                found.absorb(trial);
                return if matches!(halt, Halt::Fault(_) | Halt::Limit(_)) { Ok(false) } else { Err(halt) };
            }
        }
        if input.left() == 0 {
            return Ok(true);
        }
        is_first = false;
    }
}

/// Walks what may be a pickle inside another one. Returns whether everything that loading it would do is known.
fn look_into(
    input: &mut PickleReader<'_, '_>,
    holder: &mut Machine,
    scan: &mut Scan,
    found: &mut Found,
) -> Result<bool, Halt> {
    let marked = begins_as_pickle(input)?;
    if !marked && input.left() > LARGEST_TRIAL {
        return Ok(false);
    }
    if holder.depth >= DEEPEST {
        return if marked { Err(Halt::Limit("pickles in it lie too deep in one another")) } else { Ok(false) };
    }
    let imports_before = scan.imports.len();
    let mut inner = Found::default();
    let ended = walk_all(input, holder.inner(), scan, &mut inner)?;
    if !(marked || ended || inner.dangerous) {
        // It has no dangerous import, so no call in it has made one ordinary.
        scan.imports.forget_from(imports_before);
        return Ok(false);
    }
    let known = marked && inner.fault.is_none();
    // Bytes that only begin like a pickle are not a fault of the pickle around them.
    let is_fault = inner.limited || inner.imports;
    inner.fault = inner.fault.filter(|_| is_fault);
    inner.version = None;
    found.absorb(inner);
    Ok(known)
}

struct Walk<'w, 's, 'a> {
    input: &'w mut PickleReader<'s, 'a>,
    level: &'w mut Machine,
    scan: &'w mut Scan,
    found: Found,
    /// Where the current frame ends.
    frame_end: Option<u64>,
    /// A dictionary was changed through the memo or a duplicate, so what another stand-in of it says may be wrong.
    dict_changed_again: bool,
}

const SPLIT_FRAME: &str = "a frame ends inside an opcode or another frame";
const UNCLEAR_VERSION: &str = "it sets PopTorch's version in a way that cannot be followed";
const LEFT_IN_FRAME: &str = "it stops before its frame ends";

impl Walk<'_, '_, '_> {
    /// Walks to the stop.
    fn run(&mut self) -> Result<(), Halt> {
        loop {
            if self.level.depth == 0 {
                self.scan.place = self.input.position();
            }
            let op = Op::read(self.input)?;
            self.check_frame(&op);
            match op {
                Op::Stop => return self.pop_and_leak(),
                op => self.step(op)?,
            }
        }
    }

    /// Reports an opcode that does not fit in the current frame. Python's unpicklers then differ in which bytes they read
    /// next, and no pickler writes such a frame.
    fn check_frame(&mut self, op: &Op) {
        let Some(left) = self.frame_end.map(|end| end.checked_sub(self.input.position())) else { return };
        let fault = match (op, left) {
            (Op::Frame(_), _) | (_, None) => SPLIT_FRAME,
            (Op::Stop, Some(1..)) => LEFT_IN_FRAME,
            (_, Some(1..)) => return,
            (_, Some(0)) => return self.frame_end = None,
        };
        self.frame_end = None;
        self.found.halt(&Halt::Limit(fault), self.place());
    }

    fn step(&mut self, op: Op) -> Result<(), Halt> {
        match op {
            Op::Stop | Op::Nothing => Ok(()),
            Op::Frame(len) => {
                // It may be longer than the data: the unpickler that is written in Python goes on.
                self.frame_end = (len > 0).then(|| self.input.position().saturating_add(len));
                Ok(())
            }
            Op::Mark => self.level.stack.mark(),
            Op::Pop => self.level.stack.pop_or_unmark(),
            Op::PopMark => {
                let start = self.level.stack.unmark()?;
                self.level.stack.cut(start);
                Ok(())
            }
            Op::Dup => {
                let top = self.level.stack.top()?;
                self.push(top.again())
            }
            Op::StandIn => self.push(StandIn::Other),
            Op::Text(spelling, text) => self.text(spelling, text),
            Op::Bytes(bytes) => {
                let known = look_into(&mut self.input.part(bytes), self.level, self.scan, &mut self.found)?;
                self.push(if known { StandIn::Known } else { StandIn::Other })
            }
            Op::ByteArray(bytes) => {
                look_into(&mut self.input.part(bytes), self.level, self.scan, &mut self.found)?;
                // Later opcodes can change its bytes.
                self.push(StandIn::Other)
            }
            Op::EmptyDict => self.push(StandIn::Dict),
            Op::Tuple(len) => {
                let start = self.level.stack.start_of_last(len.into())?;
                self.tuple(start)
            }
            Op::MarkedTuple => {
                let start = self.level.stack.unmark()?;
                self.tuple(start)
            }
            Op::MarkedDict => {
                let start = self.level.stack.unmark()?;
                self.leak_from(start);
                let dict = self.dict_with(StandIn::Dict, start);
                self.level.stack.cut(start);
                self.push(dict)
            }
            Op::Marked => {
                self.take_marked()?;
                self.push(StandIn::Other)
            }
            Op::Append => {
                self.pop_and_leak()?;
                self.check_change()
            }
            Op::Appends => {
                self.take_marked()?;
                self.check_change()
            }
            Op::SetItem => {
                let start = self.level.stack.start_of_last(2)?;
                self.set_items(start)
            }
            Op::SetItems => {
                let start = self.level.stack.unmark()?;
                self.set_items(start)
            }
            Op::Build => self.build(),
            Op::Reduce => self.reduce(),
            Op::NewObject => self.new_object(1),
            Op::NewObjectWithNames => self.new_object(2),
            Op::Object => self.marked_object(),
            Op::Instance(names) => {
                let class = self.import_lines(names)?;
                self.take_marked()?;
                self.push_object(StandIn::Import(class))
            }
            Op::Global(names) => {
                let import = self.import_lines(names)?;
                self.push(StandIn::Import(import))
            }
            Op::StackGlobal => self.stack_global(),
            Op::Extension(code) => {
                let import = self.import_unnamed(&format!("(extension-{code})"))?;
                self.push(StandIn::Import(import))
            }
            Op::PersistentId => {
                self.pop_and_leak()?;
                self.push(StandIn::Other)
            }
            Op::Get(at) => {
                let value = self.level.memo.get(at).ok_or(Halt::Fault("it asks for a place in an empty memo"))?;
                self.push(value.again())
            }
            Op::Put(at) => {
                let top = self.level.stack.top()?;
                self.level.memo.put(at, top)
            }
            Op::Memoize => {
                let top = self.level.stack.top()?;
                self.level.memo.append(top)
            }
            Op::Protocol(protocol @ 0..=5) => {
                self.found.protocol = self.found.protocol.max(protocol);
                Ok(())
            }
            Op::Protocol(_) => Err(Halt::Fault("it is of a protocol that is not known")),
        }
    }

    // ---- the stack

    fn push(&mut self, value: StandIn) -> Result<(), Halt> {
        self.level.stack.push(value)
    }

    fn pop_and_leak(&mut self) -> Result<(), Halt> {
        let value = self.level.stack.pop()?;
        leak(&mut self.scan.imports, value);
        Ok(())
    }

    fn leak_from(&mut self, start: usize) {
        let imports = &mut self.scan.imports;
        self.level.stack.values_from(start).for_each(|value| leak(imports, value));
    }

    fn take_marked(&mut self) -> Result<(), Halt> {
        let start = self.level.stack.unmark()?;
        self.leak_from(start);
        self.level.stack.cut(start);
        Ok(())
    }

    /// Makes a tuple of the values from `start` on. The content of nested tuples is dropped.
    fn tuple(&mut self, start: usize) -> Result<(), Halt> {
        self.leak_from(start);
        let tuple = self.arguments_from(start).map_or(StandIn::Other, StandIn::Tuple);
        self.level.stack.cut(start);
        self.push(tuple)
    }

    fn arguments_from(&self, start: usize) -> Option<Arguments> {
        let Machine { stack, texts, .. } = &*self.level;
        let mut values = stack.values_from(start);
        match [values.next(), values.next(), values.next(), values.next()] {
            [Some(StandIn::Import(import)), Some(StandIn::Text(text)), None, _] => {
                Some(Arguments::ImportAndText(import, text))
            }
            [Some(StandIn::Import(import)), _, _, None] => Some(Arguments::Import(import)),
            [Some(StandIn::Known), None, ..] => Some(Arguments::Known),
            [Some(StandIn::Known), Some(StandIn::Text(codec)), None, _] => {
                (texts.get(codec) == b"latin1").then_some(Arguments::KnownAndLatin1)
            }
            _ => None,
        }
    }

    // ---- imports

    /// Records the import whose path is in the buffer, and returns its place.
    fn note(&mut self, judge: impl FnOnce(&str, &str) -> (ImportClass, Role)) -> Result<u16, Halt> {
        let Scan { imports, path, place } = &mut *self.scan;
        let (of, name) = path.parts();
        let import = imports.note(path.as_str(), *place, || judge(of, name))?;
        self.found.imports = true;
        self.found.dangerous |= imports.get(import).is_some_and(|import| import.is_dangerous_name());
        Ok(import)
    }

    fn import_lines(&mut self, names: Names) -> Result<u16, Halt> {
        let path = &mut self.scan.path;
        path.begin();
        path.add_line(self.input.bytes(names.module)?)?;
        path.add_dot()?;
        path.add_line(self.input.bytes(names.name)?)?;
        self.note(|module, name| (classify(module, name), Role::of(module, name)))
    }

    fn import_texts(&mut self, module: u32, name: u32) -> Result<u16, Halt> {
        let path = &mut self.scan.path;
        path.begin();
        path.add(self.level.texts.get(module))?;
        path.add_dot()?;
        path.add(self.level.texts.get(name))?;
        self.note(|module, name| (classify(module, name), Role::of(module, name)))
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
        self.note(|path, name| (classify_attribute(class, path, name), Role::Other)).map(StandIn::Import)
    }

    /// Records that the pickle changes something that it imports. No pickler does that.
    fn import_change(&mut self, of: u16) -> Result<(), Halt> {
        let Scan { imports, path, .. } = &mut *self.scan;
        let Some(of) = imports.get(of) else { return Ok(()) };
        path.begin();
        path.add(b"(change of ")?;
        path.add(of.path.as_bytes())?;
        path.add(b")")?;
        self.note(|_, _| (ImportClass::Dangerous, Role::Other)).map(drop)
    }

    /// Records an import that has no name.
    fn import_unnamed(&mut self, what: &str) -> Result<u16, Halt> {
        self.scan.path.begin();
        self.scan.path.add(what.as_bytes())?;
        self.note(|_, _| (ImportClass::Dangerous, Role::Other))
    }

    fn stack_global(&mut self) -> Result<(), Halt> {
        let (name, module) = (self.level.stack.pop()?, self.level.stack.pop()?);
        let import = match (module, name) {
            (StandIn::Text(module), StandIn::Text(name)) => self.import_texts(module, name)?,
            _ => self.import_unnamed("(computed)")?,
        };
        self.push(StandIn::Import(import))
    }

    // ---- calls

    fn reduce(&mut self) -> Result<(), Halt> {
        let (arguments, callable) = (self.level.stack.pop()?, self.level.stack.pop()?);
        let result = match callable {
            StandIn::Import(import) => self.call(import, arguments)?,
            _ => StandIn::Other,
        };
        self.push(result)
    }

    fn call(&mut self, import: u16, arguments: StandIn) -> Result<StandIn, Halt> {
        self.found.called = true;
        let imports = &mut self.scan.imports;
        let Some(role) = imports.get(import).map(|import| import.role) else { return Ok(StandIn::Other) };
        Ok(match (role, arguments) {
            (Role::Attribute, StandIn::Tuple(Arguments::ImportAndText(of, name))) => {
                imports.understand(import);
                self.import_attribute(of, name)?
            }
            (Role::Load, StandIn::Tuple(Arguments::Known)) => {
                imports.understand(import);
                StandIn::Other
            }
            (Role::Attribute | Role::Load, _) => {
                imports.misuse(import);
                StandIn::Other
            }
            (Role::Reconstruct, StandIn::Tuple(Arguments::Import(class) | Arguments::ImportAndText(class, _))) => {
                StandIn::Object(class)
            }
            // With another encoding, the result is not the bytes that were scanned.
            (Role::Encode, StandIn::Tuple(Arguments::KnownAndLatin1)) => StandIn::Known,
            _ => StandIn::Object(import),
        })
    }

    fn new_object(&mut self, arguments: usize) -> Result<(), Halt> {
        for _ in 0..arguments {
            self.pop_and_leak()?;
        }
        let class = self.level.stack.pop()?;
        self.push_object(class)
    }

    fn marked_object(&mut self) -> Result<(), Halt> {
        let start = self.level.stack.unmark()?;
        self.leak_from(start);
        let class = self.level.stack.values_from(start).next().ok_or(EMPTY)?;
        self.level.stack.cut(start);
        self.push_object(class)
    }

    fn push_object(&mut self, class: StandIn) -> Result<(), Halt> {
        leak(&mut self.scan.imports, class);
        self.push(if let StandIn::Import(class) = class { StandIn::Object(class) } else { StandIn::Other })
    }

    // ---- the version that PopTorch records

    /// Returns the stand-in for a dictionary to which the keys and values from `start` on are added.
    fn dict_with(&self, dict: StandIn, start: usize) -> StandIn {
        let Machine { stack, texts, .. } = &*self.level;
        let (keys, values) = (stack.values_from(start).step_by(2), stack.values_from(start).skip(1).step_by(2));
        keys.zip(values).fold(dict, |dict, item| match item {
            (StandIn::Text(key), StandIn::Text(value)) if texts.get(key) == b"version" => StandIn::Versioned(value),
            (StandIn::Text(key), _) if texts.get(key) == b"version" => StandIn::Dict,
            // A computed key may be the same text.
            (StandIn::Object(_), _) => StandIn::Dict,
            _ => dict,
        })
    }

    fn set_items(&mut self, start: usize) -> Result<(), Halt> {
        self.leak_from(start);
        let below = start.checked_sub(1).and_then(|below| self.level.stack.values_from(below).next());
        let dict = match below {
            Some(dict @ (StandIn::Dict | StandIn::Versioned(_))) => Some(self.dict_with(dict, start)),
            _ => None,
        };
        self.level.stack.cut(start);
        match dict {
            Some(dict) => self.level.stack.replace_top(dict),
            None => {
                self.level.stack.top()?;
                self.check_change()
            }
        }
    }

    fn build(&mut self) -> Result<(), Halt> {
        let state = self.level.stack.pop()?;
        leak(&mut self.scan.imports, state);
        let StandIn::Object(class) = self.level.stack.top()? else { return self.check_change() };
        let is_poptorch = self.scan.imports.get(class).is_some_and(|class| class.path.ends_with(".PoptorchData"));
        if is_poptorch && self.level.depth == 0 {
            self.set_version(state);
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

    /// Reports a change of something that is imported: every object of that class would change. Also records a change of a
    /// dictionary through the memo.
    fn check_change(&mut self) -> Result<(), Halt> {
        match self.level.stack.top() {
            Ok(StandIn::Import(import)) => self.import_change(import),
            Ok(StandIn::SameDict) => {
                self.dict_changed_again = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    // ---- texts

    fn text(&mut self, spelling: Spelling, range: Range<u64>) -> Result<(), Halt> {
        if range.end.saturating_sub(range.start) > LONGEST_TEXT {
            return self.long_text(spelling, range);
        }
        let text = Text { spelling, bytes: self.input.bytes(range)? };
        let value = match text.pickle()? {
            Some(bytes) => {
                let mut source = PickleBytes::new(Data::in_memory(&bytes));
                let known = look_into(&mut source.input(), self.level, self.scan, &mut self.found)?;
                if known { StandIn::Known } else { StandIn::Other }
            }
            None => self.level.texts.add(text)?.map_or(StandIn::Other, StandIn::Text),
        };
        self.push(value)
    }

    /// Skips a long text. If it may be a pickle, that is a fault, but the walk goes on.
    fn long_text(&mut self, spelling: Spelling, range: Range<u64>) -> Result<(), Halt> {
        let first = range.start..range.start.saturating_add(16);
        let text = Text { spelling, bytes: self.input.bytes(first)? };
        if text.is_marked() {
            let halt = Halt::Limit("a pickle of more than a megabyte is inside it, spelt as text");
            self.found.halt(&halt, self.place());
        }
        self.push(StandIn::Other)
    }

    /// The byte that is reported with a fault.
    fn place(&self) -> u64 {
        if self.level.depth == 0 { self.input.position() } else { self.scan.place }
    }
}

fn leak(imports: &mut Imports, value: StandIn) {
    if let StandIn::Import(place) = value {
        imports.misuse(place);
    }
}

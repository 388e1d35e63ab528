use std::collections::HashMap;
use std::rc::Rc;

use super::input::{Halt, Input};
use super::names::{classify, classify_attribute};
use super::op::{Op, Passage};
use super::text::latin1;
use super::{ImportClass, Pickle, PickleFault, PickleImport};
use crate::error::Error;
use crate::read::Data;

/// How deep pickles in pickles are followed. Each is read once for each one that it lies in.
const DEEPEST: u8 = 4;
/// How many values the stack and the memo may hold. A pickle of millions of objects has fewer.
const MOST_VALUES: usize = 1 << 20;
/// How many different imports are kept.
const MOST_IMPORTS: usize = 4096;
/// Modules and names are no longer than this, and only short texts are kept.
const LONGEST_PART: usize = 256;
/// And this is as long as both, and what is reached through them, can be.
const LONGEST_PATH: usize = 2048;
/// Without a pickle's mark, only so much text or bytes is tried as one.
const LARGEST_TRIAL: u64 = 64 << 10;

pub(super) fn scan(data: &Data<'_>) -> Result<Option<Pickle>, Error> {
    let mut found = Found::default();
    let marked = begins_as_pickle(data)?;
    let ended = walk_all(*data, 0, 0, &mut found)?;
    let is_pickle = marked || ended || found.called || found.imports.iter().any(Import::has_name);
    Ok(is_pickle.then(|| found.finish()))
}

/// What was found so far, over all pickles in one another.
#[derive(Default)]
struct Found {
    protocol: u8,
    imports: Vec<Import>,
    places: HashMap<String, usize>,
    version: Option<String>,
    fault: Option<PickleFault>,
    /// The fault is a limit of ours.
    limited: bool,
    /// Something imported was called.
    called: bool,
}

struct Import {
    path: String,
    offset: u64,
    class: ImportClass,
    guard: Option<Guard>,
    /// Of a guarded one: it was called with something that was understood.
    used: bool,
    /// Of a guarded one: it was put where it can be called out of sight, or called with something else.
    misused: bool,
}

impl Import {
    /// Whether the path is one of names, and not of any text that happened to look like an opcode and its lines.
    fn has_name(&self) -> bool {
        self.path.split('.').all(|part| {
            part.starts_with(|first: char| first.is_alphabetic() || first == '_')
                && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        })
    }
}

/// Imports that are as harmless as what they are called with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// `getattr`, by which Python 3.11 spells the member of an enum.
    Attribute,
    /// Torch's way to keep a storage: bytes that hold another pickle.
    Load,
}

impl Guard {
    fn of(module: &str, name: &str) -> Option<Guard> {
        match (module, name) {
            ("builtins" | "__builtin__", "getattr") => Some(Guard::Attribute),
            ("torch.storage", "_load_from_bytes") => Some(Guard::Load),
            _ => None,
        }
    }
}

impl Found {
    fn note(&mut self, path: String, offset: u64, class: ImportClass, guard: Option<Guard>) -> Result<usize, Halt> {
        if let Some(&place) = self.places.get(&path) {
            return Ok(place);
        }
        if self.imports.len() >= MOST_IMPORTS || path.len() > LONGEST_PATH {
            return Err(Halt::Limit("it imports more than any model needs"));
        }
        let place = self.imports.len();
        self.places.insert(path.clone(), place);
        self.imports.push(Import { path, offset, class, guard, used: false, misused: false });
        Ok(place)
    }

    fn fault(&mut self, offset: u64, reason: &'static str) {
        self.fault.get_or_insert(PickleFault { offset, reason });
    }

    /// Takes over what a trial found.
    fn absorb(&mut self, other: Found) {
        for import in other.imports {
            if let Ok(place) = self.note(import.path, import.offset, import.class, import.guard)
                && let Some(known) = self.imports.get_mut(place)
            {
                known.used |= import.used;
                known.misused |= import.misused;
            }
        }
        self.protocol = self.protocol.max(other.protocol);
        self.version = self.version.take().or(other.version);
        self.fault = self.fault.take().or(other.fault);
        self.limited |= other.limited;
        self.called |= other.called;
    }

    fn finish(self) -> Pickle {
        let class = |import: &Import| match import.guard {
            Some(_) if import.used && !import.misused => ImportClass::Ordinary,
            _ => import.class,
        };
        let imports = self.imports.into_iter().map(|import| PickleImport {
            class: class(&import),
            path: import.path,
            offset: import.offset,
        });
        Pickle {
            protocol: self.protocol,
            imports: imports.collect(),
            poptorch_version: self.version,
            fault: self.fault,
        }
    }
}

fn begins_as_pickle(data: &Data<'_>) -> Result<bool, Error> {
    let mut first = [0; 2];
    let len = usize::try_from(data.len().min(2)).unwrap_or_default();
    data.read_at(0, first.get_mut(..len).unwrap_or_default())?;
    Ok(matches!(first, [0x80, 0..=5]) && len == 2)
}

/// Walks a pickle and those that follow it; torch's older format is several. Whether they are all of the data.
fn walk_all(data: Data<'_>, base: u64, depth: u8, found: &mut Found) -> Result<bool, Error> {
    let mut start = 0;
    loop {
        let mut trial = Found::default();
        let mut walk = Walk::new(data, start, base, depth, &mut trial);
        let end = walk.run();
        let (position, left) = (walk.input.position(), walk.input.left());
        let reason = match end {
            Ok(()) => None,
            Err(Halt::Unread(error)) => return Err(error),
            // What follows the first may be anything, as long as it imports nothing.
            Err(Halt::Fault(_)) if start > 0 && trial.imports.is_empty() => return Ok(false),
            Err(Halt::Fault(reason) | Halt::Limit(reason)) => Some(reason),
        };
        if let Some(reason) = reason {
            trial.fault(base.saturating_add(position), reason);
            trial.limited |= matches!(end, Err(Halt::Limit(_)));
        }
        found.absorb(trial);
        start = position;
        if reason.is_some() || left == 0 {
            return Ok(reason.is_none());
        }
    }
}

/// A stand-in for a value on the stack.
#[derive(Clone)]
enum Value {
    Text(Rc<str>),
    /// Something imported, by its place in the list.
    Import(usize),
    /// At most three values, none of them a tuple: enough for a call's arguments.
    Tuple(Rc<[Value]>),
    /// An object of a class that was imported.
    Object(usize),
    /// A dictionary, and its text under "version".
    Dict(Option<Rc<str>>),
    /// Bytes that were looked into, and whether all of what loading them would do is known.
    Scanned(bool),
    Other,
}

struct Walk<'a, 'f> {
    input: Input<'a>,
    base: u64,
    depth: u8,
    opcode_at: u64,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u64, Value>,
    found: &'f mut Found,
}

impl<'a, 'f> Walk<'a, 'f> {
    fn new(data: Data<'a>, start: u64, base: u64, depth: u8, found: &'f mut Found) -> Self {
        let input = Input::new(data, start);
        Walk { input, base, depth, opcode_at: start, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new(), found }
    }

    /// To the stop.
    fn run(&mut self) -> Result<(), Halt> {
        loop {
            self.opcode_at = self.input.position();
            match Op::read(&mut self.input)? {
                Op::Stop => return self.pop().map(|value| self.leak(&value)),
                op => self.step(op)?,
            }
            if self.stack.len().saturating_add(self.memo.len()).saturating_add(self.marks.len()) > MOST_VALUES {
                return Err(Halt::Limit("it keeps more values than any model needs"));
            }
        }
    }

    fn step(&mut self, op: Op<'a>) -> Result<(), Halt> {
        match op {
            Op::Stop | Op::Nothing => {}
            Op::Mark => self.marks.push(self.stack.len()),
            Op::Pop => self.pop_or_unmark()?,
            Op::PopMark => self.marked().map(drop)?,
            Op::Dup => {
                let top = self.top()?.clone();
                self.stack.push(top);
            }
            Op::Value => self.stack.push(Value::Other),
            Op::Text(passage) => self.text(passage)?,
            Op::Bytes(data) => self.bytes(data)?,
            Op::EmptyDict => self.stack.push(Value::Dict(None)),
            Op::Tuple(len) => self.tuple(len)?,
            Op::MarkedTuple => {
                let values = self.marked()?;
                self.push_tuple(values);
            }
            Op::MarkedDict => {
                let items = self.marked()?;
                let version = self.version_of(&items);
                self.stack.push(Value::Dict(version));
            }
            Op::Marked => self.marked_away(Value::Other)?,
            Op::Append => self.pop().map(|value| self.leak(&value))?,
            Op::Appends => {
                let values = self.marked()?;
                values.iter().for_each(|value| self.leak(value));
            }
            Op::SetItem => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.set_items(&[key, value])?;
            }
            Op::SetItems => {
                let items = self.marked()?;
                self.set_items(&items)?;
            }
            Op::Build => self.build()?,
            Op::Reduce => self.reduce()?,
            Op::NewObject => self.new_object(1)?,
            Op::NewObjectWithNames => self.new_object(2)?,
            Op::Object => self.marked_object()?,
            Op::Instance { module, name } => {
                let class = self.import(&module, &name)?;
                self.marked_away(Value::Object(class))?;
            }
            Op::Global { module, name } => {
                let import = self.import(&module, &name)?;
                self.stack.push(Value::Import(import));
            }
            Op::StackGlobal => self.stack_global()?,
            Op::Extension(code) => {
                let import = self.note(format!("(extension-{code})"), ImportClass::Dangerous, None)?;
                self.stack.push(Value::Import(import));
            }
            Op::PersistentId => {
                self.pop()?;
                self.stack.push(Value::Other);
            }
            Op::Get(at) => {
                let value = self.memo.get(&at).cloned().ok_or(Halt::Fault("it asks for a place in an empty memo"))?;
                self.stack.push(value);
            }
            Op::Put(at) => {
                let value = self.top()?.clone();
                self.memo.insert(at, value);
            }
            Op::Memoize => {
                let value = self.top()?.clone();
                let at = u64::try_from(self.memo.len()).unwrap_or(u64::MAX);
                self.memo.insert(at, value);
            }
            Op::Protocol(protocol @ 0..=5) => self.found.protocol = self.found.protocol.max(protocol),
            Op::Protocol(_) => return Err(Halt::Fault("it is of a protocol that is not known")),
        }
        Ok(())
    }

    // ---- the stack

    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Value, Halt> {
        let above = self.stack.len() > self.floor();
        above.then(|| self.stack.pop()).flatten().ok_or(EMPTY)
    }

    fn top(&self) -> Result<&Value, Halt> {
        let above = self.stack.len() > self.floor();
        above.then(|| self.stack.last()).flatten().ok_or(EMPTY)
    }

    fn pop_or_unmark(&mut self) -> Result<(), Halt> {
        if self.marks.last() == Some(&self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        self.pop().map(drop)
    }

    /// The values above the mark.
    fn marked(&mut self) -> Result<Vec<Value>, Halt> {
        let mark = self.marks.pop().ok_or(Halt::Fault("it looks for a mark that is not there"))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn marked_away(&mut self, result: Value) -> Result<(), Halt> {
        let values = self.marked()?;
        values.iter().for_each(|value| self.leak(value));
        self.stack.push(result);
        Ok(())
    }

    fn tuple(&mut self, len: u8) -> Result<(), Halt> {
        let mut values = Vec::new();
        for _ in 0..len {
            values.push(self.pop()?);
        }
        values.reverse();
        self.push_tuple(values);
        Ok(())
    }

    fn push_tuple(&mut self, values: Vec<Value>) {
        values.iter().for_each(|value| self.leak(value));
        // Tuples in tuples could become a chain too long to drop.
        let flat = |value| if matches!(value, Value::Tuple(_)) { Value::Other } else { value };
        self.stack.push(match values.len() {
            0..=3 => Value::Tuple(values.into_iter().map(flat).collect()),
            _ => Value::Other,
        });
    }

    // ---- imports

    fn note(&mut self, path: String, class: ImportClass, guard: Option<Guard>) -> Result<usize, Halt> {
        self.found.note(path, self.base.saturating_add(self.opcode_at), class, guard)
    }

    fn import(&mut self, module: &str, name: &str) -> Result<usize, Halt> {
        self.note(format!("{module}.{name}"), classify(module, name), Guard::of(module, name))
    }

    fn stack_global(&mut self) -> Result<(), Halt> {
        let (name, module) = (self.pop()?, self.pop()?);
        let import = match (module, name) {
            (Value::Text(module), Value::Text(name)) => self.import(&module, &name)?,
            _ => self.note("(computed)".to_owned(), ImportClass::Dangerous, None)?,
        };
        self.stack.push(Value::Import(import));
        Ok(())
    }

    /// A guarded import in a place from where it may be called unseen.
    fn leak(&mut self, value: &Value) {
        if let Value::Import(place) = value
            && let Some(import) = self.found.imports.get_mut(*place)
        {
            import.misused |= import.guard.is_some();
        }
    }

    fn reduce(&mut self) -> Result<(), Halt> {
        let (arguments, callable) = (self.pop()?, self.pop()?);
        let arguments: &[Value] = if let Value::Tuple(values) = &arguments { values } else { &[] };
        let result = match callable {
            Value::Import(place) => self.call(place, arguments)?,
            _ => Value::Other,
        };
        self.stack.push(result);
        Ok(())
    }

    fn call(&mut self, place: usize, arguments: &[Value]) -> Result<Value, Halt> {
        self.found.called = true;
        let Some(import) = self.found.imports.get_mut(place) else { return Ok(Value::Other) };
        match (import.guard, arguments) {
            (Some(Guard::Attribute), [Value::Import(of), Value::Text(name)]) => {
                import.used = true;
                self.attribute(*of, &Rc::clone(name))
            }
            (Some(Guard::Load), [Value::Scanned(true)]) => {
                import.used = true;
                Ok(Value::Other)
            }
            (Some(_), _) => {
                import.misused = true;
                Ok(Value::Other)
            }
            // Protocols 0 and 1 name the class first, protocols 0 to 2 spell bytes so.
            (None, [Value::Import(class), ..]) if import.path.ends_with("._reconstructor") => Ok(Value::Object(*class)),
            (None, [text @ Value::Scanned(_), Value::Text(codec)]) if import.path == "_codecs.encode" => {
                // In another encoding they are other bytes than those that were looked into.
                Ok(if **codec == *"latin1" { text.clone() } else { Value::Other })
            }
            (None, _) => Ok(Value::Object(place)),
        }
    }

    /// What `getattr` gives.
    fn attribute(&mut self, of: usize, name: &str) -> Result<Value, Halt> {
        let Some(import) = self.found.imports.get(of) else { return Ok(Value::Other) };
        let class = classify_attribute(import.class, &import.path, name);
        let path = format!("{}.{name}", import.path);
        self.note(path, class, None).map(Value::Import)
    }

    fn new_object(&mut self, arguments: usize) -> Result<(), Halt> {
        for _ in 0..arguments {
            let argument = self.pop()?;
            self.leak(&argument);
        }
        let class = self.pop()?;
        self.push_object(&class);
        Ok(())
    }

    fn marked_object(&mut self) -> Result<(), Halt> {
        let values = self.marked()?;
        values.iter().for_each(|value| self.leak(value));
        let class = values.first().cloned().ok_or(EMPTY)?;
        self.push_object(&class);
        Ok(())
    }

    fn push_object(&mut self, class: &Value) {
        self.leak(class);
        self.stack.push(if let Value::Import(class) = class { Value::Object(*class) } else { Value::Other });
    }

    // ---- the version that PopTorch records

    fn version_of(&mut self, items: &[Value]) -> Option<Rc<str>> {
        items.iter().for_each(|value| self.leak(value));
        items.chunks_exact(2).find_map(|item| match item {
            [Value::Text(key), Value::Text(value)] if **key == *"version" => Some(Rc::clone(value)),
            _ => None,
        })
    }

    fn set_items(&mut self, items: &[Value]) -> Result<(), Halt> {
        let version = self.version_of(items);
        self.top()?;
        if let Some(Value::Dict(known)) = self.stack.last_mut()
            && version.is_some()
        {
            *known = version;
        }
        Ok(())
    }

    fn build(&mut self) -> Result<(), Halt> {
        let state = self.pop()?;
        self.leak(&state);
        let Value::Object(class) = *self.top()? else { return Ok(()) };
        let is_poptorch = self.found.imports.get(class).is_some_and(|class| class.path.ends_with(".PoptorchData"));
        if let (Value::Dict(Some(version)), true, 0) = (state, is_poptorch, self.depth) {
            self.found.version = Some(version.as_ref().to_owned());
        }
        Ok(())
    }

    // ---- pickles inside

    fn bytes(&mut self, data: Data<'a>) -> Result<(), Halt> {
        let known = self.look_into(data)?;
        self.stack.push(Value::Scanned(known));
        Ok(())
    }

    fn text(&mut self, passage: Passage<'a>) -> Result<(), Halt> {
        let value = match passage {
            Passage::Short(text) => self.short_text(&text)?,
            Passage::Long(data) => {
                let mut first = [0; 2];
                data.read_at(0, &mut first)?;
                // U+0080, the mark of a pickle, in UTF-8.
                if first == [0xc2, 0x80] {
                    return Err(Halt::Limit("a pickle of more than a megabyte is inside it, spelt as text"));
                }
                Value::Other
            }
        };
        self.stack.push(value);
        Ok(())
    }

    /// Python 3 spells bytes as texts in protocols 0 to 2, so a text may be a pickle as well.
    fn short_text(&mut self, text: &str) -> Result<Value, Halt> {
        let may_be_pickle = text.starts_with('\u{80}') || text.contains('\n') && text.contains('.');
        if let Some(bytes) = latin1(text).filter(|_| may_be_pickle) {
            return self.look_into(Data::in_memory(&bytes)).map(Value::Scanned);
        }
        let is_name = text.len() <= LONGEST_PART;
        Ok(if is_name { Value::Text(Rc::from(text)) } else { Value::Other })
    }

    /// Walks what may be a pickle; whether all of what loading it would do is known. Offsets inside become that of
    /// the opcode that holds it.
    fn look_into(&mut self, data: Data<'_>) -> Result<bool, Halt> {
        let marked = begins_as_pickle(&data)?;
        if !marked && data.len() > LARGEST_TRIAL {
            return Ok(false);
        }
        if self.depth >= DEEPEST {
            return if marked { Err(Halt::Limit("pickles in it lie too deep in one another")) } else { Ok(false) };
        }
        let mut inner = Found::default();
        let ended = walk_all(data, 0, self.depth.saturating_add(1), &mut inner)?;
        let dangerous = inner.imports.iter().any(|import| import.class == ImportClass::Dangerous && import.has_name());
        if !(marked || ended || dangerous) {
            return Ok(false);
        }
        let at = self.base.saturating_add(self.opcode_at);
        let known = marked && inner.fault.is_none();
        inner.imports.iter_mut().for_each(|import| import.offset = at);
        // Bytes that only look like a pickle at first are no fault of what holds them.
        let is_fault = inner.limited || !inner.imports.is_empty();
        inner.fault = inner.fault.filter(|_| is_fault).map(|fault| PickleFault { offset: at, ..fault });
        inner.version = None;
        self.found.absorb(inner);
        Ok(known)
    }
}

const EMPTY: Halt = Halt::Fault("it takes from an empty stack");

//! Follows a pickle's opcodes.
//!
//! Each byte belongs to at most one opcode. A text that may be a pickle is read once more for each pickle around it, and
//! their number is limited. So the work is in proportion to the data. [`Imports`](super::imports::Imports) limits what else
//! could grow.

use std::ops::Range;

use super::halt::Halt;
use super::imports::Imports;
use super::input::PickleReader;
use super::keep::{Keep, Kind, Made, Part};
use super::machine::{Found, Machine, Scan};
use super::op::{Notation, Op, Plain};
use super::values::{Arguments, Slot, StandIn, UNKEPT};

pub(super) struct Walk<'w, 's, 'a, 'k, K: Keep> {
    pub(super) input: &'w mut PickleReader<'s, 'a>,
    pub(super) level: &'w mut Machine<K::Node>,
    pub(super) scan: &'w mut Scan<'k, K>,
    pub(super) found: Found,
    /// The protocol that was stated last. Python has the names of Python 2 up to the second.
    pub(super) protocol: u8,
    /// Where the current frame ends.
    frame_end: Option<u64>,
    /// A dictionary was changed through the memo or a duplicate, so what another stand-in of it says may be wrong.
    pub(super) dict_changed_again: bool,
    /// A dictionary has a key that Python may take for one of its own attributes.
    pub(super) has_reserved: bool,
    /// A state is a dictionary that has another stand-in too.
    pub(super) has_shared_state: bool,
}

const SPLIT_FRAME: &str = "a frame ends inside an opcode or another frame";
const LEFT_IN_FRAME: &str = "it stops before its frame ends";

impl<'w, 's, 'a, 'k, K: Keep> Walk<'w, 's, 'a, 'k, K> {
    pub(super) fn new(
        input: &'w mut PickleReader<'s, 'a>,
        level: &'w mut Machine<K::Node>,
        scan: &'w mut Scan<'k, K>,
    ) -> Self {
        Walk {
            input,
            level,
            scan,
            found: Found::default(),
            protocol: 0,
            frame_end: None,
            dict_changed_again: false,
            has_reserved: false,
            has_shared_state: false,
        }
    }

    /// Walks to the stop. Returns the result of the pickle.
    pub(super) fn run(&mut self) -> Result<K::Node, Halt> {
        loop {
            if self.level.depth == 0 {
                self.scan.place = self.input.position();
            }
            let op = Op::read(self.input)?;
            self.check_frame(&op);
            match op {
                Op::Stop => return self.stop(),
                op => self.step(op)?,
            }
        }
    }

    /// Reports an opcode that does not fit in the current frame. Python's unpicklers then differ in which bytes they
    /// read next, and picklers never write such frames.
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
                // It may be longer than the data: the unpickler written in Python then continues.
                self.frame_end = (len > 0).then(|| self.input.position().saturating_add(len));
                Ok(())
            }
            Op::Protocol(protocol @ 0..=5) => {
                self.protocol = protocol;
                self.found.protocol = self.found.protocol.max(protocol);
                Ok(())
            }
            Op::Protocol(_) => Err(Halt::Fault("it is of a protocol that is not known")),
            Op::Mark => self.level.stack.mark(),
            Op::Pop => self.level.stack.pop_or_unmark(),
            Op::PopMark => {
                let start = self.level.stack.unmark()?;
                self.level.stack.cut(start);
                Ok(())
            }
            Op::Dup => {
                let top = self.level.stack.top()?;
                self.close_type(top.stand_in);
                self.level.stack.push(top.again())
            }
            Op::Get(at) => {
                let value = self.level.memo.get(at).ok_or(Halt::Fault("it asks for a place in an empty memo"))?;
                self.close_type(value.stand_in);
                self.level.stack.push(value.again())
            }
            Op::Put(at) => {
                let top = self.level.stack.top()?;
                self.level.memo.put(at, top)
            }
            Op::Memoize => {
                let top = self.level.stack.top()?;
                self.level.memo.append(top)
            }
            Op::Plain(plain) => {
                let stand_in = self::plain(&plain, self.input)?;
                let node = self.scan.keep.plain(plain, self.input)?;
                self.push(stand_in, node)
            }
            Op::Text(spelling, text) => self.text(spelling, text),
            Op::Bytes(bytes) => self.bytes(bytes),
            Op::ByteArray(bytes) => self.byte_array(bytes),
            Op::EmptyDict => {
                let node = self.scan.keep.make(Made::Empty(Kind::Dict))?;
                let dict = self.empty_dict()?;
                self.push(dict, node)
            }
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
                self.check_keys(start, 2)?;
                self.check_state_keys(start, start)?;
                let empty = self.empty_dict()?;
                let dict = self.dict_with(empty, start);
                self.note_reserved(dict)?;
                self.container(Kind::Dict, Part::Pairs, dict, start)
            }
            Op::MarkedList => {
                let start = self.level.stack.unmark()?;
                let list = self.list_with(0, start);
                self.container(Kind::List, Part::Items, list, start)
            }
            Op::MarkedFrozenSet => {
                let start = self.level.stack.unmark()?;
                self.check_keys(start, 1)?;
                self.container(Kind::FrozenSet, Part::Items, StandIn::Other, start)
            }
            Op::Append => {
                let start = self.level.stack.start_of_last(1)?;
                self.append(start)
            }
            Op::Appends => {
                let start = self.level.stack.unmark()?;
                self.append(start)
            }
            Op::AddItems => {
                let start = self.level.stack.unmark()?;
                self.check_keys(start, 1)?;
                self.append(start)
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
            Op::NewObject => self.new_object(),
            Op::NewObjectWithNames => self.new_object_with_names(),
            Op::Object => self.marked_object(),
            Op::Instance(names) => self.instance(names),
            Op::Global(names) => {
                let import = self.import_lines(names)?;
                self.push_import(import)
            }
            Op::StackGlobal => self.stack_global(),
            Op::Extension(code) => {
                let import = self.import_unnamed(&format!("(extension-{code})"))?;
                self.push_import(import)
            }
            Op::PersistentId => {
                let id = self.level.stack.pop()?;
                leak(&mut self.scan.imports, id.stand_in);
                let named = match id.stand_in {
                    StandIn::Tuple(Arguments::Source(class)) => StandIn::Import(class),
                    _ => StandIn::Other,
                };
                let node = self.scan.keep.make(Made::Named(id.node))?;
                self.push(named, node)
            }
        }
    }

    // ---- the stack

    pub(super) fn push(&mut self, stand_in: StandIn, node: K::Node) -> Result<(), Halt> {
        self.level.stack.push(Slot { stand_in, node })
    }

    fn stop(&mut self) -> Result<K::Node, Halt> {
        let value = self.level.stack.pop()?;
        match value.stand_in {
            // Nothing of the pickle has the result of the outermost one.
            StandIn::Import(import) if self.level.depth == 0 => self.scan.imports.misuse(import),
            result => leak(&mut self.scan.imports, result),
        }
        Ok(value.node)
    }

    pub(super) fn leak_from(&mut self, start: usize) {
        let imports = &mut self.scan.imports;
        self.level.stack.values_from(start).for_each(|value| leak(imports, value));
    }

    // ---- containers

    /// Makes a container of the values from `start` on.
    pub(super) fn container(&mut self, kind: Kind, part: Part, stand_in: StandIn, start: usize) -> Result<(), Halt> {
        self.leak_from(start);
        self.collect(kind, part, stand_in, start)
    }

    fn collect(&mut self, kind: Kind, part: Part, stand_in: StandIn, start: usize) -> Result<(), Halt> {
        let node = self.scan.keep.make(Made::Empty(kind))?;
        self.scan.keep.add(node, part, self.level.stack.nodes_from(start))?;
        self.level.stack.cut(start);
        self.push(stand_in, node)
    }

    /// Makes a tuple. Its stand-in drops the content of nested tuples.
    fn tuple(&mut self, start: usize) -> Result<(), Halt> {
        let arguments = || self.arguments_from(start).or_else(|| self.has_names(start).then_some(Arguments::Named));
        let pair = self.pair_from(start).or_else(|| arguments().map(StandIn::Tuple));
        let stand_in = self.part_from(start)?.map(StandIn::Tuple).or(pair).unwrap_or(StandIn::Other);
        let stand_in = match stand_in {
            // A `partial` reads nothing before it is called.
            StandIn::Tuple(Arguments::Partial(_) | Arguments::Named) => stand_in,
            StandIn::Tuple(_) | StandIn::Other => self.series_from(start).unwrap_or(stand_in),
            _ => stand_in,
        };
        // NumPy's generators are made with a function that makes their bits.
        if stand_in != StandIn::Tuple(Arguments::Generator) {
            self.leak_from(start);
        }
        self.collect(Kind::Tuple, Part::Items, stand_in, start)
    }

    /// Puts the values from `start` on into the value below them.
    fn append(&mut self, start: usize) -> Result<(), Halt> {
        self.leak_from(start);
        let into = self.level.stack.below(start).map(|below| below.stand_in.plainer());
        self.check_filled(into, Part::Items)?;
        self.put_into_below(Part::Items, start)?;
        let longer = match self.level.stack.below(start) {
            Some(Slot { stand_in: StandIn::List(len), node }) => {
                Some(Slot { stand_in: self.list_with(len, start), node })
            }
            _ => None,
        };
        self.level.stack.cut(start);
        if let Some(longer) = longer {
            return self.level.stack.replace_top(longer);
        }
        self.check_change()
    }

    pub(super) fn put_into_below(&mut self, part: Part, start: usize) -> Result<(), Halt> {
        match self.level.stack.below(start) {
            Some(to) => self.scan.keep.add(to.node, part, self.level.stack.nodes_from(start)),
            None => Ok(()),
        }
    }

    /// The byte that is reported with a fault.
    pub(super) fn place(&self) -> u64 {
        if self.level.depth == 0 { self.input.position() } else { self.scan.place }
    }
}

pub(super) fn leak(imports: &mut Imports, value: StandIn) {
    if let StandIn::Import(place) = value {
        imports.leak(place);
    }
}

/// Returns the stand-in for a value that is no text and no container.
fn plain(plain: &Plain, input: &mut PickleReader<'_, '_>) -> Result<StandIn, Halt> {
    let number = match plain {
        Plain::None => return Ok(StandIn::None),
        Plain::List => return Ok(StandIn::List(0)),
        Plain::Given => return Ok(StandIn::Bytes(UNKEPT)),
        Plain::Bool(value) => Some(i32::from(*value)),
        Plain::Int(number) => i32::try_from(*number).ok(),
        Plain::Number(Notation::IntLine, line) => number_of(line, "", input)?,
        Plain::Number(Notation::LongLine, line) => number_of(line, "L", input)?,
        _ => None,
    };
    Ok(number.map_or(StandIn::Other, StandIn::Number))
}

/// Returns the number in a line as picklers write it. Of other spellings, Python's unpicklers make different numbers.
fn number_of(line: &Range<u64>, end: &str, input: &mut PickleReader<'_, '_>) -> Result<Option<i32>, Halt> {
    if line.end.saturating_sub(line.start) > 12 {
        return Ok(None);
    }
    let line = match input.bytes(line.clone())? {
        b"00" => b"0",
        b"01" => b"1",
        line => line,
    };
    let number = std::str::from_utf8(line).ok().and_then(|line| line.strip_suffix(end)?.parse::<i32>().ok());
    Ok(number.filter(|number| format!("{number}{end}").as_bytes() == line))
}

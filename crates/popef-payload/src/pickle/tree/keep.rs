//! A tree keeps all values of a walk.

use super::super::halt::Halt;
use super::super::input::{PickleReader, Place};
use super::super::keep::{Keep, Kind, Made, Part};
use super::super::op::{Notation, Plain};
use super::super::values::{Stack, TextsMark};
use super::{Chain, EMPTY, Extent, ITEM, Id, Item, Node, STATE, Tree};
use popef::seam::as_usize;

const TOO_MANY: Halt = Halt::Spent("it has more values than can be numbered");
/// The length of the longest line that is read as a number.
const LONGEST_NUMBER: u64 = 64;

impl Tree {
    pub(super) fn node(&self, id: Id) -> Node {
        self.nodes.get(as_usize(id.0.into())).unwrap_or(Node::Unknown)
    }

    fn push(&mut self, node: Node) -> Result<Id, Halt> {
        let id = u32::try_from(self.nodes.len()).ok().filter(|&id| id < STATE.0).ok_or(TOO_MANY)?;
        self.nodes.push(node)?;
        Ok(Id(id))
    }

    fn set(&mut self, id: Id, node: Node) {
        if let Some(old) = self.nodes.get_mut(as_usize(id.0.into())) {
            *old = node;
        }
    }

    /// Keeps a text or bytes, with the results of the pickles inside.
    fn with_pickles(&mut self, node: Node, results: Option<Id>) -> Result<Id, Halt> {
        let holder = self.push(node)?;
        match results {
            Some(results) => self.push(Node::Pickled { holder, results }),
            None => Ok(holder),
        }
    }

    /// Adds a value to the end of a chain, and returns the longer chain.
    fn link(&mut self, chain: Chain, value: Id) -> Result<Chain, Halt> {
        let place = u32::try_from(self.items.len()).ok().filter(|&place| place != EMPTY.0).ok_or(TOO_MANY)?;
        let last = self.items.get(as_usize(chain.0.into()));
        self.items.push(Item { value, next: last.map_or(place, |last| last.next) })?;
        if let Some(last) = self.items.get_mut(as_usize(chain.0.into())) {
            last.next = place;
        }
        Ok(Chain(place))
    }

    fn link_all(&mut self, mut chain: Chain, values: impl Iterator<Item = Id>) -> Result<Chain, Halt> {
        for value in values {
            chain = self.link(chain, value)?;
        }
        Ok(chain)
    }

    fn integer(&mut self, bytes: &[u8]) -> Result<Node, Halt> {
        let sign = if bytes.last().is_some_and(|&last| last > 127) { 0xff } else { 0 };
        let mut whole = [sign; 16];
        whole.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
        self.wide_integer(i128::from_le_bytes(whole))
    }

    fn wide_integer(&mut self, value: i128) -> Result<Node, Halt> {
        if let Ok(value) = i64::try_from(value) {
            return Ok(Node::Int(value));
        }
        let place = u32::try_from(self.wide.len()).map_err(|_| TOO_MANY)?;
        self.wide.push(value)?;
        Ok(Node::Wide(place))
    }

    fn line(&mut self, notation: Notation, line: &[u8]) -> Result<Node, Halt> {
        let line = std::str::from_utf8(line).unwrap_or_default().trim();
        Ok(match (notation, line) {
            (Notation::IntLine, "00") => Node::Bool(false),
            (Notation::IntLine, "01") => Node::Bool(true),
            (Notation::FloatLine, _) => line.parse().map_or(Node::Unknown, Node::Float),
            _ => match line.strip_suffix('L').unwrap_or(line).parse() {
                Ok(value) => self.wide_integer(value)?,
                Err(_) => Node::Unknown,
            },
        })
    }
}

impl Keep for Tree {
    type Node = Id;
    type Mark = Mark;

    fn make(&mut self, made: Made<'_, Id>) -> Result<Id, Halt> {
        let node = match made {
            Made::Text(text, place, results) => {
                let node = match self.texts.add(text)? {
                    Some(at) => Node::Text(at),
                    None => Node::LongText(text.spelling, place.into()),
                };
                return self.with_pickles(node, results);
            }
            Made::LongText(spelling, place) => Node::LongText(spelling, place.into()),
            Made::Bytes(place, results) => return self.with_pickles(Node::Bytes(place.into()), results),
            Made::Empty(kind) => Node::Container(kind, EMPTY),
            Made::Import { import, inner } => Node::Import { import, inner },
            Made::Object { of, arguments } => Node::Object { of, arguments, chain: EMPTY },
            Made::Named(id) => Node::Named(id),
        };
        self.push(node)
    }

    fn plain(&mut self, plain: Plain, input: &mut PickleReader<'_, '_>) -> Result<Id, Halt> {
        let node = match plain {
            Plain::None => Node::None,
            Plain::Bool(value) => Node::Bool(value),
            Plain::Int(value) => Node::Int(value),
            Plain::Float(value) => Node::Float(value),
            Plain::Number(notation, range) => match (notation, range.end.saturating_sub(range.start)) {
                (Notation::Bytes, len @ 17..) => Node::HugeInt(len),
                (Notation::Bytes, _) => self.integer(input.bytes(range)?)?,
                (_, len) if len > LONGEST_NUMBER => Node::Unknown,
                _ => self.line(notation, input.bytes(range)?)?,
            },
            Plain::List => Node::Container(Kind::List, EMPTY),
            Plain::Set => Node::Container(Kind::Set, EMPTY),
            Plain::Given => Node::Unknown,
        };
        self.push(node)
    }

    fn add(&mut self, to: Id, part: Part, values: impl Iterator<Item = Id>) -> Result<(), Halt> {
        let changed = match (self.node(to), part) {
            (Node::Container(Kind::Dict, chain), Part::Pairs) => {
                Node::Container(Kind::Dict, self.link_all(chain, values)?)
            }
            (Node::Container(kind, chain), Part::Items) if kind != Kind::Dict => {
                Node::Container(kind, self.link_all(chain, values)?)
            }
            (Node::Object { of, arguments, mut chain }, part) => {
                match part {
                    Part::Pairs => chain = self.link_all(chain, values)?,
                    Part::Items | Part::State => {
                        let before = if part == Part::Items { ITEM } else { STATE };
                        for value in values {
                            chain = self.link(chain, before)?;
                            chain = self.link(chain, value)?;
                        }
                    }
                }
                Node::Object { of, arguments, chain }
            }
            // Changes that no pickler writes.
            (Node::Container(Kind::List, _), Part::Pairs) | (Node::Bytes(_) | Node::Pickled { .. }, _) => Node::Unknown,
            // Python fails here.
            (node, _) => node,
        };
        self.set(to, changed);
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark { nodes: self.nodes.len(), items: self.items.len(), wide: self.wide.len(), texts: self.texts.mark() }
    }

    fn rewind(&mut self, mark: Mark) {
        self.nodes.truncate(mark.nodes);
        self.items.truncate(mark.items);
        self.wide.truncate(mark.wide);
        self.texts.rewind(mark.texts);
    }

    fn finish(&mut self, stack: &mut Stack<Id>) -> Result<Option<Id>, Halt> {
        self.finish_all(stack)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Mark {
    nodes: usize,
    items: usize,
    wide: usize,
    texts: TextsMark,
}

impl From<Place> for Extent {
    fn from(place: Place) -> Self {
        Extent { offset: place.offset.unwrap_or(u64::MAX), len: u32::try_from(place.len).unwrap_or(u32::MAX) }
    }
}

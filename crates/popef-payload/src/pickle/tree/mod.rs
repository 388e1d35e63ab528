//! The values of a pickle as a tree, or rather a graph: a pickle can put a value into several others, and into itself.
//!
//! Values are numbered, and refer to each other by number. Nothing here recurses. An opcode makes at most one value of
//! 16 bytes, besides the stand-in on the stack, and puts a value into another one at most once for each time that it
//! was pushed, for 8 bytes.

mod keep;
mod unfinished;
mod view;

use std::cell::Cell;

use super::Pickle;
use super::keep::Kind;
use super::list::List;
use super::scan::{self, Scanned};
use super::text::Spelling;
use super::values::Texts;
use popef::error::Error;
use popef::read::Data;

pub(crate) use view::{Ref, View};

/// A pickle and its values.
pub(crate) struct Values {
    pub(crate) pickle: Pickle,
    tree: Tree,
    results: Option<Id>,
}

impl Values {
    /// Follows the pickles in the data, and keeps their values. Does not run them. Returns `None` if the data is not a
    /// pickle.
    pub(crate) fn read(data: &Data<'_>) -> Result<Option<Values>, Error> {
        let mut tree = Tree::default();
        let Some(Scanned { pickle, results }) = scan::scan(data, &mut tree)? else { return Ok(None) };
        let size = tree.nodes.len().saturating_add(tree.items.len());
        tree.steps = Cell::new(size.saturating_mul(STEPS_PER_VALUE).saturating_add(STEPS));
        Ok(Some(Values { pickle, tree, results }))
    }

    /// The result of the first pickle. If the pickle cannot be followed to its end, the part before that.
    pub(crate) fn root(&self) -> Option<Ref<'_>> {
        self.at(self.results?).items().next()
    }

    fn at(&self, id: Id) -> Ref<'_> {
        Ref::new(self, id)
    }

    /// Whether a reader of these values used up its steps and got no more values.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.tree.steps.get() == 0
    }
}

/// Maximum number of steps from value to value in all. A pickle with values in many places could otherwise make a
/// reader take the square of its length.
const STEPS_PER_VALUE: usize = 24;
const STEPS: usize = 10_000;

#[derive(Default)]
pub(super) struct Tree {
    nodes: List<Node>,
    items: List<Item>,
    texts: Texts,
    /// Integers of more than 64 bits.
    wide: List<i128>,
    /// The number of steps left.
    steps: Cell<usize>,
}

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(u32);

#[derive(Clone, Copy, Debug)]
enum Node {
    None,
    Bool(bool),
    Int(i64),
    Wide(u32),
    /// An integer of this many bytes, which is too long to be kept.
    HugeInt(u64),
    Float(f64),
    /// Something that the pickle does not contain, or that cannot be known from it.
    Unknown,
    Text(u32),
    LongText(Spelling, Extent),
    Bytes(Extent),
    /// A text or bytes with pickles inside.
    Pickled {
        holder: Id,
        results: Id,
    },
    Container(Kind, Chain),
    Import {
        import: u16,
        inner: bool,
    },
    /// The chain has pairs: a key and a value, or [`ITEM`] and an item, or [`STATE`] and a state.
    Object {
        of: Id,
        arguments: Id,
        chain: Chain,
    },
    /// The object with this persistent id.
    Named(Id),
}

/// Bytes in the data.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
pub(crate) struct Extent {
    /// `u64::MAX` if they are in a copy, which a text was decoded to.
    offset: u64,
    /// `u32::MAX` stands for this much or more.
    len: u32,
}

/// The values in a value, identified by the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chain(u32);

const EMPTY: Chain = Chain(u32::MAX);

/// A value in another one. The last item's next one is the first.
#[derive(Clone, Copy, Debug)]
struct Item {
    value: Id,
    next: u32,
}

/// Marks that an item follows, in the chain of an object.
const ITEM: Id = Id(u32::MAX);
/// Marks that a state follows, in the chain of an object.
const STATE: Id = Id(u32::MAX - 1);

const _: () = assert!(size_of::<Node>() == 16 && size_of::<Item>() == 8, "there may be very many");

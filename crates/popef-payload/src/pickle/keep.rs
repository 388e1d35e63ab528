//! What a walk keeps of a pickle's values, besides the stand-ins that it needs itself.

#![cfg_attr(not(feature = "poptorch"), expect(dead_code, reason = "a scan needs no values"))]

use super::halt::Halt;
use super::input::{PickleReader, Place};
use super::op::Plain;
use super::text::{Spelling, Text};
use super::values::Stack;

/// Keeps values. A scan keeps [`Nothing`], and costs no more because of this trait.
pub(super) trait Keep {
    /// A value that was kept.
    type Node: Copy;

    /// The amount kept at some moment.
    type Mark;

    fn make(&mut self, made: Made<'_, Self::Node>) -> Result<Self::Node, Halt>;

    /// Keeps a value that may have to be read from the pickle.
    fn plain(&mut self, plain: Plain, input: &mut PickleReader<'_, '_>) -> Result<Self::Node, Halt>;

    /// Puts values into a value.
    fn add(&mut self, to: Self::Node, part: Part, values: impl Iterator<Item = Self::Node>) -> Result<(), Halt>;

    fn mark(&self) -> Self::Mark;

    /// Drops what was kept since a mark.
    fn rewind(&mut self, mark: Self::Mark);

    /// Makes a value of what is on the stack when a pickle cannot be followed any more.
    fn finish(&mut self, stack: &mut Stack<Self::Node>) -> Result<Option<Self::Node>, Halt>;
}

/// A value that an opcode makes.
#[derive(Clone, Copy)]
pub(super) enum Made<'m, N> {
    /// With its bytes in the data, and the pickles inside.
    Text(Text<'m>, Place, Option<N>),
    /// A text of more than a megabyte.
    LongText(Spelling, Place),
    /// With the pickles inside.
    Bytes(Place, Option<N>),
    Empty(Kind),
    /// Something imported, by its place in the list of imports.
    Import {
        import: u16,
        /// A pickle inside another one imports it.
        inner: bool,
    },
    /// The result of a call, or an object of a class.
    Object {
        of: N,
        arguments: N,
    },
    /// The object with a persistent id.
    Named(N),
}

/// Values that contain others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Tuple,
    Dict,
    Set,
    FrozenSet,
    /// The results of pickles, one after the other.
    Pickles,
}

/// Which part of a value is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Items,
    /// Keys and values by turns.
    Pairs,
    /// What `BUILD` gives to an object.
    State,
}

/// Keeps nothing.
pub(super) struct Nothing;

impl Keep for Nothing {
    type Node = ();
    type Mark = ();

    fn make(&mut self, _: Made<'_, ()>) -> Result<(), Halt> {
        Ok(())
    }

    fn plain(&mut self, _: Plain, _: &mut PickleReader<'_, '_>) -> Result<(), Halt> {
        Ok(())
    }

    fn add(&mut self, (): (), _: Part, _: impl Iterator<Item = ()>) -> Result<(), Halt> {
        Ok(())
    }

    fn mark(&self) {}

    fn rewind(&mut self, (): ()) {}

    fn finish(&mut self, _: &mut Stack<()>) -> Result<Option<()>, Halt> {
        Ok(None)
    }
}

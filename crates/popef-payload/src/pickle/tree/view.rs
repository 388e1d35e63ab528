//! Reads a tree.

use std::borrow::Cow;
use std::fmt;

use super::super::keep::Kind;
use super::super::text::Text;
use super::{Chain, Extent, ITEM, Id, Item, Node, STATE, Tree, Values};
use popef::error::Error;
use popef::read::Data;
use popef::seam::as_usize;
use popef::seam::{Problem, with_room_for};

/// A value in a tree.
#[derive(Clone, Copy)]
pub(crate) struct Ref<'t> {
    values: &'t Values,
    id: Id,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum View<'t> {
    None,
    Bool(bool),
    Int(i128),
    /// An integer of this many bytes, which are more than 16.
    HugeInt(u64),
    Float(f64),
    Text(Cow<'t, str>),
    /// A text that has to be read from the data, with [`Ref::read_text`].
    LongText(Extent),
    Bytes(Extent),
    /// [`Ref::items`] has its values.
    List,
    Tuple,
    Set,
    FrozenSet,
    /// [`Ref::pairs`] has its keys and values.
    Dict,
    Import(&'t str),
    /// The result of a call, or an object of a class.
    Object,
    /// An object that is not in the pickle, only its id.
    Named(Ref<'t>),
    /// Something that the pickle does not contain, or that cannot be known from it.
    Unknown,
}

impl Extent {
    /// The offset, if the bytes are in the data itself.
    pub(crate) fn offset(self) -> Option<u64> {
        Some(self.offset).filter(|&offset| offset != u64::MAX)
    }

    /// The number of bytes, at most 2³² - 1.
    pub(crate) fn len(self) -> u64 {
        self.len.into()
    }

    /// Reads the bytes from the data. `None` if there are more than `most`, or if they are not in the data itself.
    pub(crate) fn read(self, data: &Data<'_>, most: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some(offset) = self.offset().filter(|_| self.len() <= most) else { return Ok(None) };
        let mut bytes: Vec<u8> = with_room_for(as_usize(self.len()))?;
        bytes.resize(as_usize(self.len()), 0);
        data.read_at(offset, &mut bytes)?;
        Ok(Some(bytes))
    }
}

impl<'t> Ref<'t> {
    pub(super) fn new(values: &'t Values, id: Id) -> Self {
        Ref { values, id }
    }

    fn to(self, id: Id) -> Ref<'t> {
        Ref { id, ..self }
    }

    fn tree(self) -> &'t Tree {
        &self.values.tree
    }

    fn node(self) -> Node {
        self.tree().node(self.id)
    }

    /// Returns the number of the value, and the number of all values.
    pub(crate) fn number(self) -> (usize, usize) {
        (as_usize(self.id.0.into()), self.tree().nodes.len())
    }

    pub(crate) fn view(self) -> View<'t> {
        match self.node() {
            Node::None => View::None,
            Node::Bool(value) => View::Bool(value),
            Node::Int(value) => View::Int(value.into()),
            Node::Wide(place) => self.tree().wide.get(as_usize(place.into())).map_or(View::Unknown, View::Int),
            Node::HugeInt(len) => View::HugeInt(len),
            Node::Float(value) => View::Float(value),
            Node::Unknown => View::Unknown,
            Node::Text(place) => View::Text(String::from_utf8_lossy(self.tree().texts.get(place))),
            Node::LongText(_, extent) => View::LongText(extent),
            Node::Bytes(extent) => View::Bytes(extent),
            // A holder never holds another holder.
            Node::Pickled { holder, .. } => self.to(holder).view(),
            Node::Container(Kind::List | Kind::Pickles, _) => View::List,
            Node::Container(Kind::Tuple, _) => View::Tuple,
            Node::Container(Kind::Set, _) => View::Set,
            Node::Container(Kind::FrozenSet, _) => View::FrozenSet,
            Node::Container(Kind::Dict, _) => View::Dict,
            Node::Import { import, .. } => self.import(import).map_or(View::Unknown, View::Import),
            Node::Object { .. } => View::Object,
            Node::Named(id) => View::Named(self.to(id)),
        }
    }

    fn import(self, place: u16) -> Option<&'t str> {
        self.values.pickle.imports.get(usize::from(place)).map(|import| import.path.as_str())
    }

    /// The values in a container, or the items of an object.
    pub(crate) fn items(self) -> impl Iterator<Item = Ref<'t>> {
        let (single, marked) = match self.node() {
            Node::Container(Kind::Dict, _) => (None, None),
            Node::Container(_, chain) => (Some(chain), None),
            Node::Object { chain, .. } => (None, Some(chain)),
            _ => (None, None),
        };
        let of_container = single.into_iter().flat_map(move |chain| self.chain(chain));
        of_container.chain(marked.into_iter().flat_map(move |chain| self.marked(chain, ITEM)))
    }

    /// The keys and values of a dictionary, or of an object that is one. A key can come several times; the last one counts.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (Ref<'t>, Ref<'t>)> {
        let chain = match self.node() {
            Node::Container(Kind::Dict, chain) | Node::Object { chain, .. } => Some(chain),
            _ => None,
        };
        let pairs = chain.into_iter().flat_map(move |chain| self.two_by_two(chain));
        pairs.filter(|(key, _)| key.id != ITEM && key.id != STATE)
    }

    /// What `BUILD` gave to an object, one after the other.
    pub(crate) fn states(self) -> impl Iterator<Item = Ref<'t>> {
        let chain = if let Node::Object { chain, .. } = self.node() { Some(chain) } else { None };
        chain.into_iter().flat_map(move |chain| self.marked(chain, STATE))
    }

    fn marked(self, chain: Chain, mark: Id) -> impl Iterator<Item = Ref<'t>> {
        self.two_by_two(chain).filter(move |(key, _)| key.id == mark).map(|(_, value)| value)
    }

    fn two_by_two(self, chain: Chain) -> impl Iterator<Item = (Ref<'t>, Ref<'t>)> {
        let mut values = self.chain(chain);
        std::iter::from_fn(move || Some((values.next()?, values.next()?)))
    }

    fn chain(self, Chain(last): Chain) -> impl Iterator<Item = Ref<'t>> {
        let tree = self.tree();
        let item = move |place: u32| tree.items.get(as_usize(place.into()));
        let mut next = item(last).map(|last| last.next);
        std::iter::from_fn(move || {
            let place = next?;
            tree.steps.set(tree.steps.get().checked_sub(1)?);
            let Item { value, next: after } = item(place)?;
            next = (place != last).then_some(after);
            Some(self.to(value))
        })
    }

    /// The value of a key of a dictionary, or of an attribute of an object.
    pub(crate) fn get(self, key: &str) -> Option<Ref<'t>> {
        let of = |holder: Ref<'t>| {
            let here = holder.pairs().filter(|(other, _)| other.is_text(key));
            here.last().map(|(_, value)| value)
        };
        if let Node::Object { .. } = self.node() { self.states().filter_map(of).last() } else { of(self) }
    }

    /// Reads a text from the data that this value comes from. `None` if it is not a text, has more than `most` bytes
    /// there, or cannot be read.
    pub(crate) fn read_text(self, data: &Data<'_>, most: u64) -> Result<Option<String>, Error> {
        let (spelling, extent) = match self.node() {
            Node::Text(_) => {
                let View::Text(text) = self.view() else { return Ok(None) };
                return Ok(Some(text.into_owned()).filter(|text| as_usize(most) >= text.len()));
            }
            Node::LongText(spelling, extent) => (spelling, extent),
            Node::Pickled { holder, .. } => return self.to(holder).read_text(data, most),
            _ => return Ok(None),
        };
        let Some(bytes) = extent.read(data, most)? else { return Ok(None) };
        let mut text = String::new();
        // An escape or a byte that is not UTF-8 may become three bytes.
        let most = bytes.len().saturating_mul(3);
        Problem::in_memory(most, text.try_reserve(most))?;
        let spelt = Text { spelling, bytes: &bytes }.spell(|piece| text.push_str(piece));
        Ok(spelt.is_ok().then_some(text))
    }

    fn is_text(self, text: &str) -> bool {
        matches!(self.node(), Node::Text(place) if self.tree().texts.get(place) == text.as_bytes())
    }

    /// The class of an object, or the function whose result it is.
    pub(crate) fn class(self) -> Option<Ref<'t>> {
        let Node::Object { of, .. } = self.node() else { return None };
        let of = self.to(of);
        // Protocols 0 and 1 make objects like this.
        match of.view() {
            View::Import("copyreg._reconstructor" | "copy_reg._reconstructor") => self.arguments().next(),
            _ => Some(of),
        }
    }

    /// The path of something imported, or of the class of an object.
    pub(crate) fn path(self) -> Option<&'t str> {
        match self.node() {
            Node::Import { import, .. } => self.import(import),
            _ => match self.class()?.node() {
                Node::Import { import, .. } => self.import(import),
                _ => None,
            },
        }
    }

    /// The arguments of the call that made an object.
    pub(crate) fn arguments(self) -> impl Iterator<Item = Ref<'t>> {
        let arguments = if let Node::Object { arguments, .. } = self.node() { Some(self.to(arguments)) } else { None };
        arguments.into_iter().flat_map(Ref::items)
    }

    /// The results of the pickles in bytes.
    pub(crate) fn pickles(self) -> impl Iterator<Item = Ref<'t>> {
        let results = if let Node::Pickled { results, .. } = self.node() { Some(self.to(results)) } else { None };
        results.into_iter().flat_map(Ref::items)
    }
}

impl fmt::Debug for Ref<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value {}", self.id.0)
    }
}

impl Values {
    /// The places of what is imported, in the order of the pickle's opcodes: of the pickle itself, or of the pickles inside
    /// it.
    pub(crate) fn imports(&self, inner: bool) -> impl Iterator<Item = u16> {
        let nodes = (0..self.tree.nodes.len()).filter_map(|place| self.tree.nodes.get(place));
        nodes.filter_map(move |node| match node {
            Node::Import { import, inner: is_inner } if is_inner == inner => Some(import),
            _ => None,
        })
    }
}

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::{ReadError, ReadErrorKind, Target, element_type_of_poplar, fullest_of_linear, linear::balanced};

/// The tile mappings in a `*.tensor_map.json`, which TensorFlow writes for IPUs if `TF_POPLAR_FLAGS` has
/// `--tensor_map_file_path=FOLDER`.
///
/// The file has the number of elements on each tile, but not which ones. They are summed up while the file is read, so that a map has only
/// a few numbers for each tensor and one for each tile: at most about 20 bytes for each byte of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorMap {
    /// The computations, in the order of the file.
    pub computations: Vec<Computation>,
    /// The bytes of all tensors on each tile that has any. Tensors that alias each other, or are never live together, count both.
    pub bytes_by_tile: BTreeMap<u32, u64>,
    /// The number of tensors whose element type has no known size. They are not in `bytes_by_tile`.
    pub unknown_types: u64,
    /// Why the file could not be read to its end. Everything before that place is here.
    pub damage: Option<ReadError>,
}

/// A computation of a [`TensorMap`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Computation {
    /// Its name.
    pub name: String,
    /// Its tensors, in the order of the file.
    pub tensors: Vec<MappedTensor>,
}

/// A tensor of a [`TensorMap`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct MappedTensor {
    /// The instruction that makes it.
    pub instruction: String,
    /// Which one of the instruction's outputs it is.
    pub output: u64,
    /// Its shape.
    pub shape: Vec<u64>,
    /// The type of its elements, as Poplar calls it.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub element_type: String,
    /// Whether it has a constant.
    pub has_constant: bool,
    /// Whether some elements share memory with others.
    pub has_aliases: bool,
    /// The number of its elements, as the file says.
    pub elements: u64,
    /// The number of elements on all tiles together, which should be the same.
    pub mapped_elements: u64,
    /// The number of tiles that have elements.
    pub used_tiles: u32,
    /// The number of elements on the fullest tile.
    pub most_elements: u64,
    /// The fullest tile, the first one if there are several.
    pub fullest_tile: Option<u32>,
    /// Its name. Older versions do not write one.
    pub name: Option<String>,
}

/// How far a tensor is from an even spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Balance {
    /// The bytes of an element.
    pub element_size: u64,
    /// poplibs' imbalance, with the minimum and the grain of the type: see [`tile_imbalance`](super::tile_imbalance).
    pub imbalance: u64,
    /// The elements that the fullest tile would have in the default mapping of the type.
    pub ideal_elements: u64,
    /// How many more elements than that the fullest tile has.
    pub excess_elements: u64,
    /// The bytes of these excess elements.
    pub excess_size: u64,
}

impl MappedTensor {
    /// Compares with an even spread over a target. `None` if the type is unknown, or the file contradicts itself.
    pub fn balance(&self, target: &Target) -> Option<Balance> {
        let element_type = element_type_of_poplar(&self.element_type)?;
        let element_size = element_type.size()?;
        let linear = target.linear(element_type).ok()?;
        if self.mapped_elements != self.elements {
            return None;
        }
        let expected = balanced(self.elements, target.tiles(), linear.min_elements, linear.grain);
        let ideal_elements = fullest_of_linear(target.tiles(), self.elements, &linear).ok()?;
        let excess_elements = self.most_elements.saturating_sub(ideal_elements);
        Some(Balance {
            element_size,
            imbalance: self.most_elements.saturating_sub(expected),
            ideal_elements,
            excess_elements,
            excess_size: excess_elements.saturating_mul(element_size),
        })
    }
}

impl TensorMap {
    /// Reads a file. Damage is not an error, if anything was read before it.
    ///
    /// ```
    /// use poplar_inspect::tiles::{Target, TensorMap};
    ///
    /// let json = r#"{"mappings":{"entry":[["add.1",0,[16,4],"float",0,0,64,[[0,60],[3,4]],"w"]]}}"#;
    /// let map = TensorMap::read(json.as_bytes())?;
    /// let tensor = &map.computations[0].tensors[0];
    /// assert_eq!((tensor.used_tiles, tensor.most_elements, map.bytes_by_tile[&3]), (2, 60, 16));
    /// let balance = tensor.balance(&Target::new(4, 1)?).unwrap();
    /// assert_eq!((balance.ideal_elements, balance.excess_size), (32, 28 * 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(reader: impl Read) -> Result<Self, ReadError> {
        let mut map = TensorMap::default();
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(reader));
        let mut has_mappings = false;
        let root = Root { map: &mut map, has_mappings: &mut has_mappings };
        match root.deserialize(&mut json).and_then(|()| json.end()) {
            Ok(()) => Ok(map),
            Err(error) => {
                let error = ReadError::from(error);
                // The file is another one, or the disk fails.
                if !has_mappings || matches!(error.kind, ReadErrorKind::Unreadable(_)) {
                    return Err(error);
                }
                map.damage = Some(error);
                Ok(map)
            }
        }
    }

    /// All tensors, with the computation that they belong to.
    pub fn tensors(&self) -> impl Iterator<Item = (&Computation, &MappedTensor)> {
        self.computations
            .iter()
            .flat_map(|computation| computation.tensors.iter().map(move |tensor| (computation, tensor)))
    }

    /// The last tile that has elements.
    pub fn last_tile(&self) -> Option<u32> {
        self.bytes_by_tile.keys().next_back().copied()
    }
}

/// The document: an object with `mappings`. An old document calls it `mapping`.
struct Root<'m> {
    map: &'m mut TensorMap,
    has_mappings: &'m mut bool,
}

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the key \"mappings\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<String>()? {
            if key != "mappings" && key != "mapping" {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            if std::mem::replace(self.has_mappings, true) {
                return Err(A::Error::custom("the key \"mappings\" is there twice"));
            }
            members.next_value_seed(Computations(self.map))?;
        }
        if *self.has_mappings { Ok(()) } else { Err(A::Error::missing_field("mappings")) }
    }
}

/// Makes a seed that is also the visitor of its value.
macro_rules! seed {
    ($seed:ident, $what:literal, $method:ident, $visit:ident, $access:ident, |$self:ident, $parts:ident| $body:block) => {
        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.$method(self)
            }
        }

        impl<'de> Visitor<'de> for $seed<'_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($what)
            }

            fn $visit<A: $access<'de>>($self, mut $parts: A) -> Result<(), A::Error> $body
        }
    };
}

pub(super) use seed;

struct Computations<'m>(&'m mut TensorMap);

seed!(Computations, "an object of computations", deserialize_map, visit_map, MapAccess, |self, members| {
    let mut names = BTreeSet::new();
    while let Some(name) = members.next_key::<String>()? {
        if !names.insert(name.clone()) {
            return Err(A::Error::custom(format_args!("the computation {name:?} is there twice")));
        }
        self.0.computations.push(Computation { name, tensors: Vec::new() });
        members.next_value_seed(Tensors(self.0))?;
    }
    Ok(())
});

/// The tensors of the last computation.
struct Tensors<'m>(&'m mut TensorMap);

seed!(Tensors, "a list of tensors", deserialize_seq, visit_seq, SeqAccess, |self, tensors| {
    while tensors.next_element_seed(Tensor(self.0))?.is_some() {}
    Ok(())
});

/// A tensor of the last computation: a list of 8 values, and since some version its name.
struct Tensor<'m>(&'m mut TensorMap);

seed!(Tensor, "a tensor: a list of at least 8 values", deserialize_seq, visit_seq, SeqAccess, |self, values| {
    let mut tensor = MappedTensor::default();
    let short = |count| A::Error::invalid_length(count, &"a tensor: a list of at least 8 values");
    tensor.instruction = values.next_element()?.ok_or_else(|| short(0))?;
    tensor.output = values.next_element()?.ok_or_else(|| short(1))?;
    tensor.shape = values.next_element()?.ok_or_else(|| short(2))?;
    tensor.element_type = values.next_element()?.ok_or_else(|| short(3))?;
    tensor.has_constant = values.next_element::<Flag>()?.ok_or_else(|| short(4))?.0;
    tensor.has_aliases = values.next_element::<Flag>()?.ok_or_else(|| short(5))?.0;
    tensor.elements = values.next_element()?.ok_or_else(|| short(6))?;
    let size = element_type_of_poplar(&tensor.element_type).and_then(popef::DataType::size);
    let mut tiles = Tiles::default();
    values.next_element_seed(EachTile(&mut tiles))?.ok_or_else(|| short(7))?;
    tensor.name = values.next_element()?;
    // Later versions may have more.
    while values.next_element::<IgnoredAny>()?.is_some() {}
    // Only now, so that a tensor counts completely or not at all.
    tiles.count(&mut tensor, size.unwrap_or_default(), &mut self.0.bytes_by_tile).map_err(A::Error::custom)?;
    self.0.unknown_types += u64::from(size.is_none());
    if let Some(computation) = self.0.computations.last_mut() {
        computation.tensors.push(tensor);
    }
    Ok(())
});

/// The tiles of a tensor, each with the number of its elements.
#[derive(Default)]
struct Tiles(Vec<(u32, u64)>);

impl Tiles {
    fn count(&self, tensor: &mut MappedTensor, size: u64, bytes: &mut BTreeMap<u32, u64>) -> Result<(), &'static str> {
        let sum = |sum: u64, tile: &(u32, u64)| sum.checked_add(tile.1);
        tensor.mapped_elements = self.0.iter().try_fold(0, sum).ok_or("the number of elements is too large")?;
        for &(tile, count) in self.0.iter().filter(|tile| tile.1 > 0) {
            tensor.used_tiles += 1;
            if count > tensor.most_elements {
                (tensor.most_elements, tensor.fullest_tile) = (count, Some(tile));
            }
            let on_tile = bytes.entry(tile).or_default();
            *on_tile = on_tile.saturating_add(count.saturating_mul(size));
        }
        Ok(())
    }
}

struct EachTile<'t>(&'t mut Tiles);

seed!(EachTile, "a list of tiles", deserialize_seq, visit_seq, SeqAccess, |self, tiles| {
    while let Some((tile, count)) = tiles.next_element::<(u32, u64)>()? {
        if self.0.0.last().is_some_and(|last| last.0 >= tile) {
            return Err(A::Error::custom(format_args!("tile {tile} does not follow the tile before it")));
        }
        self.0.0.push((tile, count));
    }
    Ok(())
});

/// A truth value that may be written as a number.
struct Flag(bool);

impl<'de> serde::Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;

        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0, 1, true or false")
            }

            fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Flag, E> {
                match value {
                    0 | 1 => Ok(Flag(value == 1)),
                    other => Err(E::invalid_value(Unexpected::Unsigned(other), &self)),
                }
            }
        }

        deserializer.deserialize_any(FlagVisitor)
    }
}

use std::fmt;
use std::iter::FusedIterator;
use std::slice::ChunksExact;

use byteorder::{ByteOrder, LittleEndian};

/// The extent of each dimension of a tensor, outermost first, borrowed from the file. Empty for a scalar.
///
/// A `Shape` is not a slice, because the extents may be unaligned and are in the file's byte order. But it can be
/// compared with slices, arrays and vectors, and iterated over:
///
/// ```
/// use popef::types::TensorDataInfo;
/// use popef::{DataType, File, TensorInfo, Writer};
///
/// # let mut bytes = Vec::new();
/// # let mut writer = Writer::stream(&mut bytes);
/// let info = TensorDataInfo { name: "weights".into(), tensor_info: TensorInfo::new(DataType::F32, [2, 3]) };
/// # writer.write_tensor(&info, &[0.0f32; 6])?;
/// # writer.finish()?;
/// # let file = File::from_bytes(bytes)?;
/// let weights = file.tensor("weights").expect("it was written");
/// assert_eq!(weights.shape(), [2, 3]);
/// assert_eq!(weights.shape().get(1), Some(3));
/// for extent in weights.shape() {
///     println!("{extent}");
/// }
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape<'a>(&'a [u8]);

impl<'a> Shape<'a> {
    const EXTENT: usize = 8;

    /// Makes a shape from the bytes of its extents.
    pub(super) fn of(extents: &'a [u8]) -> Self {
        Shape(extents)
    }

    /// Returns the number of dimensions.
    pub fn len(&self) -> usize {
        self.0.len() / Self::EXTENT
    }

    /// Returns whether this is the shape of a scalar.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the extent of a dimension, counted from the outermost. `None` if there are fewer dimensions.
    pub fn get(&self, dimension: usize) -> Option<i64> {
        self.iter().nth(dimension)
    }

    /// Iterates over the extents, outermost first.
    pub fn iter(&self) -> Extents<'a> {
        Extents(self.0.chunks_exact(Self::EXTENT))
    }

    /// Returns the extents as an owned vector.
    pub fn to_vec(&self) -> Vec<i64> {
        self.iter().collect()
    }
}

/// An iterator over the extents of a [`Shape`], outermost first.
#[derive(Clone, Debug)]
pub struct Extents<'a>(ChunksExact<'a, u8>);

impl Iterator for Extents<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        self.0.next().map(LittleEndian::read_i64)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn nth(&mut self, skipped: usize) -> Option<i64> {
        self.0.nth(skipped).map(LittleEndian::read_i64)
    }
}

impl DoubleEndedIterator for Extents<'_> {
    fn next_back(&mut self) -> Option<i64> {
        self.0.next_back().map(LittleEndian::read_i64)
    }
}

impl ExactSizeIterator for Extents<'_> {}

impl FusedIterator for Extents<'_> {}

impl<'a> IntoIterator for Shape<'a> {
    type Item = i64;
    type IntoIter = Extents<'a>;

    fn into_iter(self) -> Extents<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Shape<'a> {
    type Item = i64;
    type IntoIter = Extents<'a>;

    fn into_iter(self) -> Extents<'a> {
        self.iter()
    }
}

impl PartialEq<[i64]> for Shape<'_> {
    fn eq(&self, other: &[i64]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

/// Implements equality with a type that derefs to a slice, both ways.
macro_rules! equals {
    ($( $other:ty ),*) => { $(
        impl PartialEq<$other> for Shape<'_> {
            fn eq(&self, other: &$other) -> bool {
                *self == **other
            }
        }

        impl PartialEq<Shape<'_>> for $other {
            fn eq(&self, other: &Shape<'_>) -> bool {
                *other == **self
            }
        }
    )* };
}

equals!(&[i64], Vec<i64>);

impl<const N: usize> PartialEq<[i64; N]> for Shape<'_> {
    fn eq(&self, other: &[i64; N]) -> bool {
        *self == *other.as_slice()
    }
}

impl<const N: usize> PartialEq<Shape<'_>> for [i64; N] {
    fn eq(&self, other: &Shape<'_>) -> bool {
        *other == *self.as_slice()
    }
}

impl PartialEq<Shape<'_>> for [i64] {
    fn eq(&self, other: &Shape<'_>) -> bool {
        *other == *self
    }
}

/// Displays as `[2, 3]`, and as `[]` for a scalar.
impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (dimension, extent) in self.iter().enumerate() {
            let separator = if dimension == 0 { "" } else { ", " };
            write!(f, "{separator}{extent}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

use std::fmt;

use popef::DataType;

use crate::{Error, Shape};

/// Elements on the host: the value of a constant, or of any tensor while the [`Interpreter`](crate::Interpreter) runs.
///
/// ```
/// use popef::DataType;
/// use poplar_graph::Array;
///
/// let ones = Array::full(&[2, 2], DataType::F32, 1.0)?;
/// assert_eq!(ones, Array::f32(&[2, 2], [1.0; 4])?);
/// assert_eq!(Array::integers(&[2], DataType::S32, [3, -1])?.to_string(), "S32 2: [3, -1]");
/// # Ok::<(), poplar_graph::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Array {
    shape: Vec<u64>,
    data_type: DataType,
    elements: Elements,
}

/// The elements of an [`Array`], in row-major order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Elements {
    /// Elements of `F32`.
    Float(Vec<f32>),
    /// Elements of an integer type, or 0 and 1 for `BOOL`.
    Integer(Vec<i128>),
}

impl Array {
    /// An array of `F32`.
    pub fn f32(shape: &[u64], elements: impl IntoIterator<Item = f32>) -> Result<Self, Error> {
        Array::new(shape, DataType::F32, Elements::Float(elements.into_iter().collect()))
    }

    /// An array of integers, or of 0 and 1 for `BOOL`. Fails if one does not fit the type.
    pub fn integers(
        shape: &[u64],
        data_type: DataType,
        elements: impl IntoIterator<Item = i128>,
    ) -> Result<Self, Error> {
        Array::new(shape, data_type, Elements::Integer(elements.into_iter().collect()))
    }

    /// An array whose elements are all the same.
    pub fn full(shape: &[u64], data_type: DataType, value: f32) -> Result<Self, Error> {
        let len = len_of(shape)?;
        let elements = match data_type {
            DataType::F32 => Elements::Float(vec![value; len]),
            _ => Elements::Integer(vec![rounded(value); len]),
        };
        Array::new(shape, data_type, elements)
    }

    /// An array of elements. Fails if their number does not fit the shape, or their values the type.
    pub fn new(shape: &[u64], data_type: DataType, elements: Elements) -> Result<Self, Error> {
        let needed = len_of(shape)?;
        let given = elements.len();
        if needed != given {
            return Err(Error::NumberOfElements { shape: Shape(shape.to_vec()), given });
        }
        match &elements {
            Elements::Float(_) if data_type == DataType::F32 => {}
            Elements::Integer(values) => {
                let range = range_of(data_type).ok_or(Error::NoArrayOf { data_type })?;
                if let Some(&value) = values.iter().find(|value| !range.contains(value)) {
                    return Err(Error::OutOfRange { value, data_type });
                }
            }
            Elements::Float(_) => return Err(Error::NoArrayOf { data_type }),
        }
        Ok(Array { shape: shape.to_vec(), data_type, elements })
    }

    /// The size of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The type of the elements.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// The bytes of memory that the elements take here.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.elements {
            Elements::Float(values) => size_of_val(values.as_slice()),
            Elements::Integer(values) => size_of_val(values.as_slice()),
        }
    }
}

impl Elements {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Elements::Float(values) => values.len(),
            Elements::Integer(values) => values.len(),
        }
    }

    /// Whether the array has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The number of elements of a shape, if it fits memory.
pub(super) fn len_of(shape: &[u64]) -> Result<usize, Error> {
    let len = shape.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
    len.and_then(|len| usize::try_from(len).ok()).ok_or_else(|| Error::TooLarge { shape: Shape(shape.to_vec()) })
}

/// The range of an integer type.
pub(crate) fn range_of(data_type: DataType) -> Option<std::ops::RangeInclusive<i128>> {
    Some(match data_type {
        DataType::Bool => 0..=1,
        DataType::S8 => i8::MIN.into()..=i8::MAX.into(),
        DataType::U8 => 0..=u8::MAX.into(),
        DataType::S16 => i16::MIN.into()..=i16::MAX.into(),
        DataType::U16 => 0..=u16::MAX.into(),
        DataType::S32 => i32::MIN.into()..=i32::MAX.into(),
        DataType::U32 => 0..=u32::MAX.into(),
        DataType::S64 => i64::MIN.into()..=i64::MAX.into(),
        DataType::U64 => 0..=u64::MAX.into(),
        _ => return None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float beyond all integers becomes the nearest, which is out of range"
)]
fn rounded(value: f32) -> i128 {
    value as i128
}

/// Shows at most a hundred elements: `F32 2x2: [1, 2, 3, 4]`.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 100;
        write!(f, "{} {}: [", self.data_type, Shape(self.shape.clone()))?;
        let comma = |at: usize| if at == 0 { "" } else { ", " };
        match &self.elements {
            Elements::Float(values) => {
                for (at, value) in values.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{value}", comma(at))?;
                }
            }
            Elements::Integer(values) => {
                for (at, value) in values.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{value}", comma(at))?;
                }
            }
        }
        f.write_str(if self.elements.len() > SHOWN { ", ...]" } else { "]" })
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

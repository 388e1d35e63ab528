use super::problem::ShapeProblem;
use crate::error::Error;
use crate::types::DataType;

/// The shape and element type of a tensor.
///
/// ```
/// use popef::{DataType, TensorInfo};
///
/// let info = TensorInfo::new(DataType::F32, [2, 3]);
/// assert_eq!(info.size_in_bytes()?, 24);
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct TensorInfo {
    /// The extent of each dimension, the outermost first. Empty for a scalar.
    pub shape: Vec<i64>,
    /// The type of the elements.
    pub data_type: DataType,
}

impl TensorInfo {
    /// A tensor of this element type and shape.
    pub fn new(data_type: DataType, shape: impl Into<Vec<i64>>) -> Self {
        TensorInfo { shape: shape.into(), data_type }
    }

    /// How many elements a tensor of this shape has.
    ///
    /// A scalar has one, a shape with a zero dimension none. A negative dimension is an error, and so is a
    /// product that does not fit into 64 bits.
    pub fn element_count(&self) -> Result<u64, Error> {
        Ok(element_count(self.shape.iter().copied())?)
    }

    /// How many bytes the elements take: [`element_count`](Self::element_count) times the element's size,
    /// with the same errors, and one for a data type whose size is unknown.
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        Ok(size_in_bytes(self.shape.iter().copied(), self.data_type)?)
    }
}

/// An empty shape of booleans: what the format's own defaults give.
impl Default for TensorInfo {
    fn default() -> Self {
        TensorInfo::new(DataType::Bool, [])
    }
}

pub(crate) fn element_count(shape: impl Iterator<Item = i64>) -> Result<u64, ShapeProblem> {
    let mut product = Some(1u64);
    let mut any_zero = false;
    for (dimension, extent) in shape.enumerate() {
        let extent = u64::try_from(extent).map_err(|_| ShapeProblem::NegativeDimension { dimension, extent })?;
        any_zero |= extent == 0;
        product = product.and_then(|product| product.checked_mul(extent));
    }
    match product {
        _ if any_zero => Ok(0),
        Some(product) => Ok(product),
        None => Err(ShapeProblem::TooLarge),
    }
}

pub(crate) fn size_in_bytes(shape: impl Iterator<Item = i64>, data_type: DataType) -> Result<u64, ShapeProblem> {
    elements_and_bytes(shape, data_type).map(|(_, bytes)| bytes)
}

/// How many elements a tensor has, and how many bytes they take.
pub(crate) fn elements_and_bytes(
    shape: impl Iterator<Item = i64>,
    data_type: DataType,
) -> Result<(u64, u64), ShapeProblem> {
    let size = data_type.size().ok_or_else(|| ShapeProblem::UnknownDataType { number: data_type.number() })?;
    let count = element_count(shape)?;
    Ok((count, count.checked_mul(size).ok_or(ShapeProblem::TooLarge)?))
}

use std::fmt;

use popef::DataType;

/// A shape that is shown as `2x3`, or `scalar`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape(pub Vec<u64>);

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.0.split_first() else { return f.write_str("scalar") };
        write!(f, "{first}")?;
        rest.iter().try_for_each(|size| write!(f, "x{size}"))
    }
}

/// The shape and type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The size of each dimension.
    pub shape: Shape,
    /// The type of the elements.
    pub data_type: DataType,
}

impl Spec {
    /// A shape and type.
    #[must_use]
    pub fn new(shape: &[u64], data_type: DataType) -> Self {
        Spec { shape: Shape(shape.to_vec()), data_type }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.data_type, self.shape)
    }
}

/// The shape of two operands together, like NumPy's: dimensions are compared from the last, and one of size 1 is repeated.
pub(super) fn broadcast(left: &[u64], right: &[u64]) -> Option<Vec<u64>> {
    let rank = left.len().max(right.len());
    let size = |shape: &[u64], at: usize| {
        let missing = rank.saturating_sub(shape.len());
        at.checked_sub(missing).and_then(|at| shape.get(at)).copied().unwrap_or(1)
    };
    (0..rank)
        .map(|at| match (size(left, at), size(right, at)) {
            (left, right) if left == right => Some(left),
            (1, size) | (size, 1) => Some(size),
            _ => None,
        })
        .collect()
}

/// How a matrix product reads its operands.
pub(super) struct MatMul {
    /// The dimensions before those of the matrix: the product is made for each.
    pub(super) batch: Vec<u64>,
    pub(super) rows: u64,
    pub(super) inner: u64,
    pub(super) columns: u64,
    /// The shape of the result, without dimensions that a vector does not have.
    pub(super) shape: Vec<u64>,
}

impl MatMul {
    /// Reads operands like NumPy: a vector is a row on the left and a column on the right.
    pub(super) fn of(left: &[u64], right: &[u64]) -> Option<Self> {
        let (left_batch, rows, inner) = match left {
            [] => return None,
            [inner] => (&[][..], None, *inner),
            [batch @ .., rows, inner] => (batch, Some(*rows), *inner),
        };
        let (right_batch, other, columns) = match right {
            [] => return None,
            [inner] => (&[][..], *inner, None),
            [batch @ .., inner, columns] => (batch, *inner, Some(*columns)),
        };
        if inner != other {
            return None;
        }
        let batch = broadcast(left_batch, right_batch)?;
        let shape = batch.iter().copied().chain(rows).chain(columns).collect();
        Some(MatMul { batch, rows: rows.unwrap_or(1), inner, columns: columns.unwrap_or(1), shape })
    }
}

/// Whether the dimensions of a tensor can be put into this order.
pub(super) fn is_permutation(permutation: &[usize], rank: usize) -> bool {
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank)
}

#[cfg(test)]
mod tests {
    use super::{MatMul, broadcast};

    #[test]
    fn shapes_are_those_of_numpy() {
        assert_eq!(broadcast(&[3, 1, 4], &[2, 1]), Some(vec![3, 2, 4]));
        assert_eq!(broadcast(&[], &[2]), Some(vec![2]));
        assert_eq!(broadcast(&[0], &[1]), Some(vec![0]));
        assert_eq!(broadcast(&[3], &[2]), None);
        let product = |left: &[u64], right: &[u64]| MatMul::of(left, right).map(|product| product.shape);
        assert_eq!(product(&[2, 3], &[3, 4]), Some(vec![2, 4]));
        assert_eq!(product(&[2, 3], &[3]), Some(vec![2]));
        assert_eq!(product(&[3], &[3]), Some(vec![]));
        assert_eq!(product(&[5, 1, 2, 3], &[7, 3, 4]), Some(vec![5, 7, 2, 4]));
        assert_eq!(product(&[2, 3], &[2, 3]), None);
        assert_eq!(product(&[], &[3]), None);
    }
}

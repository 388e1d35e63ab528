use std::fmt;

use crate::names::named;
use crate::types::Anchor;

/// An anchor's stored shape taken apart: the model's own shape, and the two dimensions that replicas and remote
/// buffers put before it.
///
/// ```
/// use popef::model::AnchorShape;
/// use popef::types::Anchor;
/// use popef::{DataType, TensorInfo};
///
/// let anchor = Anchor {
///     tensor_info: TensorInfo::new(DataType::F32, [2, 3, 8, 3, 1]),
///     is_per_replica: true,
///     use_remote_buffers: true,
///     repeats: 3,
///     ..Anchor::default()
/// };
/// let shape = AnchorShape::of(&anchor, 2)?;
/// assert_eq!((shape.replicas, shape.repeats, shape.own.as_slice()), (Some(2), Some(3), &[8, 3, 1][..]));
/// assert_eq!(shape.batch_size(), 8);
/// assert_eq!(shape.stored(), [2, 3, 8, 3, 1]);
/// # Ok::<(), popef::model::ShapeMismatch>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AnchorShape {
    /// The extent of the replicas' dimension, the outermost; none if there is no such dimension.
    pub replicas: Option<u32>,
    /// The extent of the dimension of a remote buffer's blocks, the next one; none if there is none.
    pub repeats: Option<u32>,
    /// What remains: the shape that the model's tensor has.
    pub own: Vec<i64>,
}

impl AnchorShape {
    /// Which dimensions the format demands before a shape of the model's, and the whole.
    ///
    /// Replicas count where the anchor is per replica and there are several; repeats where it uses remote buffers and
    /// has several.
    pub fn join(own: impl Into<Vec<i64>>, anchor: &Anchor, replication_factor: u32) -> Self {
        let replicas = (anchor.is_per_replica && replication_factor > 1).then_some(replication_factor);
        let repeats = (anchor.use_remote_buffers && anchor.repeats > 1).then_some(anchor.repeats);
        AnchorShape { replicas, repeats, own: own.into() }
    }

    /// Takes the stored shape of an anchor apart, given the replication factor of its metadata.
    ///
    /// An error if the dimensions that its fields call for are not there.
    pub fn of(anchor: &Anchor, replication_factor: u32) -> Result<Self, ShapeMismatch> {
        let mut shape = AnchorShape::join([], anchor, replication_factor);
        let outer = [(Outer::Replicas, shape.replicas), (Outer::Repeats, shape.repeats)];
        let mut stored = anchor.tensor_info.shape.iter().copied();
        let called_for = outer.into_iter().filter_map(|(outer, extent)| Some((outer, extent?)));
        for (dimension, (outer, needed)) in called_for.enumerate() {
            let found = stored.next();
            if found != Some(needed.into()) {
                return Err(ShapeMismatch { outer, dimension, needed, found });
            }
        }
        shape.own = stored.collect();
        Ok(shape)
    }

    /// All dimensions, as the file has them.
    pub fn stored(&self) -> Vec<i64> {
        let outer = [self.replicas, self.repeats].into_iter().flatten().map(i64::from);
        outer.chain(self.own.iter().copied()).collect()
    }

    /// The outermost dimension of the model's own shape; 1 for a scalar.
    pub fn batch_size(&self) -> u64 {
        self.own.first().map_or(1, |&batch| u64::try_from(batch).unwrap_or(0))
    }
}

/// Which of the two dimensions before the model's own shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outer {
    /// One extent for each replica.
    Replicas,
    /// One for each block in the remote buffer.
    Repeats,
}

named!(Outer, "an outer dimension": Replicas = "replicas", Repeats = "repeats");

/// A stored shape without a dimension that the anchor's fields call for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ShapeMismatch {
    /// What the dimension stands for.
    pub outer: Outer,
    /// Which dimension of the stored shape it has to be, counted from 0.
    pub dimension: usize,
    /// The extent that the metadata calls for.
    pub needed: u32,
    /// The extent that is there; none if the shape ends before.
    pub found: Option<i64>,
}

impl fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShapeMismatch { outer, dimension, needed, found } = self;
        write!(f, "dimension {dimension} has to be the {needed} {outer}, but ")?;
        match found {
            Some(found) => write!(f, "is {found}"),
            None => write!(f, "the shape has only {dimension} dimensions"),
        }
    }
}

impl std::error::Error for ShapeMismatch {}

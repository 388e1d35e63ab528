use std::fmt;

use crate::names::named;
use crate::types::Anchor;

/// An anchor's stored shape, split into the model's own shape and the two outer dimensions that replicas and remote
/// buffers add.
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
    /// The extent of the outermost dimension, that of the replicas. `None` if there is no such dimension.
    pub replicas: Option<u32>,
    /// The extent of the next dimension, that of a remote buffer's blocks. `None` if there is no such dimension.
    pub repeats: Option<u32>,
    /// The remaining dimensions: the shape of the model's tensor.
    pub own: Vec<i64>,
}

impl AnchorShape {
    /// The same shape, of one call.
    #[doc(hidden)]
    #[must_use]
    pub fn without_repeats(self) -> Self {
        AnchorShape { repeats: None, ..self }
    }

    /// Adds the outer dimensions that the format demands to the model's own shape.
    ///
    /// There is a dimension of replicas if the anchor is per replica and there are several replicas. There is one of
    /// repeats if the anchor uses remote buffers and has several repeats.
    pub fn join(own: impl Into<Vec<i64>>, anchor: &Anchor, replication_factor: u32) -> Self {
        let replicas = (anchor.is_per_replica && replication_factor > 1).then_some(replication_factor);
        let repeats = (anchor.use_remote_buffers && anchor.repeats > 1).then_some(anchor.repeats);
        AnchorShape { replicas, repeats, own: own.into() }
    }

    /// Splits the stored shape of an anchor, given the replication factor of its metadata.
    ///
    /// Fails if the outer dimensions that the anchor's fields demand are missing.
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

    /// Returns all dimensions, as they are in the file.
    pub fn stored(&self) -> Vec<i64> {
        let outer = [self.replicas, self.repeats].into_iter().flatten().map(i64::from);
        outer.chain(self.own.iter().copied()).collect()
    }

    /// Returns the outermost dimension of the model's own shape, or 1 for a scalar.
    pub fn batch_size(&self) -> u64 {
        self.own.first().map_or(1, |&batch| u64::try_from(batch).unwrap_or(0))
    }
}

named! {
    /// One of the two outer dimensions before the model's own shape.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Outer("an outer dimension") {
        /// The dimension of replicas.
        Replicas = "replicas",
        /// The dimension of blocks in the remote buffer.
        Repeats = "repeats",
    }
}

/// The error for a stored shape without an outer dimension that the anchor's fields demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ShapeMismatch {
    /// The outer dimension that is missing.
    pub outer: Outer,
    /// The position in the stored shape at which it must be, counted from 0.
    pub dimension: usize,
    /// The extent that the metadata demands.
    pub needed: u32,
    /// The extent in the stored shape. `None` if the shape has fewer dimensions.
    pub found: Option<i64>,
}

impl ShapeMismatch {
    #[doc(hidden)]
    pub fn new(outer: Outer, dimension: usize, needed: u32, found: Option<i64>) -> Self {
        ShapeMismatch { outer, dimension, needed, found }
    }
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

use std::num::NonZeroU32;

use super::shape::AnchorShape;
use crate::read::{DataBlob, FeedBlob};
use crate::types::tensor_info::element_count;
use crate::types::{Anchor, Metadata};

/// The number of calls of a model that a feed's data is enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FeedRuns {
    /// The number of complete calls.
    pub runs: u64,
    /// The number of elements that are left over after them.
    ///
    /// An element is one item of a batch.
    pub left_over: u64,
}

impl Metadata {
    /// Returns how many batches one call runs: `deviceIterations`, or 1 if an exporter left it at 0.
    pub fn iterations(&self) -> u64 {
        u64::from(self.device_iterations).max(1)
    }

    /// Returns how many elements of an anchor one call for inference takes or gives: device iterations × replication
    /// factor × batch size. `None` if the stored shape does not match the anchor's fields, or if the product exceeds 64
    /// bits.
    ///
    /// ```
    /// use popef::types::Anchor;
    /// use popef::{DataType, Metadata, TensorInfo};
    ///
    /// let anchor = Anchor {
    ///     tensor_info: TensorInfo::new(DataType::F32, [2, 8, 3, 1]),
    ///     is_per_replica: true,
    ///     ..Anchor::default()
    /// };
    /// let metadata = Metadata { replication_factor: 2, device_iterations: 10, ..Metadata::default() };
    /// assert_eq!(metadata.elements_per_call(&anchor), Some(10 * 2 * 8));
    /// ```
    pub fn elements_per_call(&self, anchor: &Anchor) -> Option<u64> {
        self.training_elements_per_call(anchor, NonZeroU32::MIN)
    }

    /// Returns how many elements of an anchor one call for training takes or gives. A PopEF file does not store the
    /// gradient accumulation, so the caller must give it.
    pub fn training_elements_per_call(&self, anchor: &Anchor, gradient_accumulation: NonZeroU32) -> Option<u64> {
        let shape = AnchorShape::of(anchor, self.replication_factor).ok()?;
        let replicas = u64::from(self.replication_factor).max(1);
        let batches = self.iterations().checked_mul(replicas)?.checked_mul(gradient_accumulation.get().into())?;
        batches.checked_mul(shape.batch_size())
    }

    /// Returns how many calls for inference a feed of an anchor is enough for. `None` if that is unknown, because the
    /// shape does not match the anchor's fields, there are no elements, or a number exceeds 64 bits.
    ///
    /// The feed's tensors may have any shape, with or without the outer dimensions or the batch. Only their total
    /// number of scalars counts.
    pub fn feed_runs(&self, anchor: &Anchor, feed: &FeedBlob<'_>) -> Option<FeedRuns> {
        self.training_feed_runs(anchor, feed, NonZeroU32::MIN)
    }

    /// Returns how many calls for training a feed of an anchor is enough for, given the gradient accumulation.
    pub fn training_feed_runs(
        &self,
        anchor: &Anchor,
        feed: &FeedBlob<'_>,
        gradient_accumulation: NonZeroU32,
    ) -> Option<FeedRuns> {
        self.runs_of(anchor, numbers_of(&feed.as_data())?, gradient_accumulation)
    }

    /// Returns how many calls a feed with this many scalars is enough for.
    pub fn runs_of(&self, anchor: &Anchor, numbers: u64, gradient_accumulation: NonZeroU32) -> Option<FeedRuns> {
        let needed = self.training_elements_per_call(anchor, gradient_accumulation)?;
        let own = AnchorShape::of(anchor, self.replication_factor).ok()?.own;
        // The scalars in one element: those of the own shape without its batch.
        let in_element = element_count(own.iter().skip(1).copied()).ok()?;
        // `None` if either divisor is 0.
        let elements = numbers.checked_div(in_element)?;
        Some(FeedRuns { runs: elements.checked_div(needed)?, left_over: elements.checked_rem(needed)? })
    }
}

/// Returns the total number of scalars in the tensors of a feed. `None` if it exceeds 64 bits.
pub fn numbers_of(feed: &DataBlob<'_>) -> Option<u64> {
    element_count(feed.shape().iter()).ok()?.checked_mul(feed.num_tensors().into())
}

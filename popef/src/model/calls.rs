use std::num::NonZeroU32;

use super::shape::AnchorShape;
use crate::read::{DataBlob, FeedBlob};
use crate::types::tensor_info::element_count;
use crate::types::{Anchor, Metadata};

/// How far a feed's data reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FeedRuns {
    /// How many whole calls of the model it is enough for.
    pub runs: u64,
    /// How many elements are left over after those; 0 if it divides evenly.
    ///
    /// An element is one item of a batch.
    pub left_over: u64,
}

impl Metadata {
    /// How many batches one call runs: `deviceIterations`, and 1 where an exporter left it 0.
    pub fn iterations(&self) -> u64 {
        u64::from(self.device_iterations).max(1)
    }

    /// How many elements of an anchor one call takes or gives, for inference: device iterations × replication factor
    /// × batch size. None if the stored shape does not fit the anchor's fields, or the product 64 bits.
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

    /// How many elements one call for training takes or gives. Gradient accumulation is not stored in a PopEF file, so
    /// the caller has to know it.
    pub fn training_elements_per_call(&self, anchor: &Anchor, gradient_accumulation: NonZeroU32) -> Option<u64> {
        let shape = AnchorShape::of(anchor, self.replication_factor).ok()?;
        let replicas = u64::from(self.replication_factor).max(1);
        let batches = self.iterations().checked_mul(replicas)?.checked_mul(gradient_accumulation.get().into())?;
        batches.checked_mul(shape.batch_size())
    }

    /// How many calls a feed lasts for an anchor, for inference. None if that cannot be said: a shape that does not
    /// fit, no elements at all, or numbers beyond 64 bits.
    ///
    /// The feed's tensors may be cut as they like, with or without the outer dimensions or the batch: what counts
    /// is how many numbers they have together.
    pub fn feed_runs(&self, anchor: &Anchor, feed: &FeedBlob<'_>) -> Option<FeedRuns> {
        self.training_feed_runs(anchor, feed, NonZeroU32::MIN)
    }

    /// How many calls a feed lasts for an anchor, for training, given the gradient accumulation.
    pub fn training_feed_runs(
        &self,
        anchor: &Anchor,
        feed: &FeedBlob<'_>,
        gradient_accumulation: NonZeroU32,
    ) -> Option<FeedRuns> {
        self.runs_of(anchor, numbers_of(&feed.as_data())?, gradient_accumulation)
    }

    /// How many calls a feed with this many numbers lasts.
    pub(crate) fn runs_of(&self, anchor: &Anchor, numbers: u64, gradient_accumulation: NonZeroU32) -> Option<FeedRuns> {
        let needed = self.training_elements_per_call(anchor, gradient_accumulation)?;
        let own = AnchorShape::of(anchor, self.replication_factor).ok()?.own;
        // The numbers in one element: the own shape without its batch.
        let in_element = element_count(own.iter().skip(1).copied()).ok()?;
        // None where either is 0.
        let elements = numbers.checked_div(in_element)?;
        Some(FeedRuns { runs: elements.checked_div(needed)?, left_over: elements.checked_rem(needed)? })
    }
}

/// How many numbers the tensors of a feed have together, if 64 bits can count them.
pub(crate) fn numbers_of(feed: &DataBlob<'_>) -> Option<u64> {
    element_count(feed.shape().iter()).ok()?.checked_mul(feed.num_tensors().into())
}

//! The parts that tensors, feeds and anchors share: a type, a shape and a size, any of which may be wrong.

use popef::error::ErrorCode;
use popef::read::{Elements, FeedBlob, Shape, TensorBlob};
use popef::types::{Diagnostic, Text};
use popef::{Content, DataType, Error};

use super::options::Options;
use super::values::Values;

/// A tensor or a feed, with what is wrong with it.
pub(crate) struct TensorView<'f> {
    pub(crate) name: Text<'f>,
    pub(crate) data_type: DataType,
    pub(crate) shape: Shape<'f>,
    /// The bytes of one tensor, if its shape and type have a size.
    pub(crate) size: Option<u64>,
    /// The number of tensors of a feed. `None` for a tensor.
    pub(crate) num_tensors: Option<u32>,
    /// The tensor, or the feed's first item.
    pub(crate) elements: Option<Elements<'f>>,
    /// In a box, because views are moved, and hardly any has one.
    pub(crate) failure: Option<Box<Diagnostic>>,
}

impl<'f> TensorView<'f> {
    /// The view of a blob, if it is a tensor or a feed.
    pub(crate) fn of(content: &Content<'f>) -> Option<Self> {
        match content {
            Content::Tensor(tensor) => Some(TensorView::of_tensor(tensor)),
            Content::Feed(feed) => Some(TensorView::of_feed(feed)),
            _ => None,
        }
    }

    pub(crate) fn of_tensor(tensor: &TensorBlob<'f>) -> Self {
        let (elements, failure) = sound(tensor.elements());
        TensorView {
            name: tensor.name(),
            data_type: tensor.data_type(),
            shape: tensor.shape(),
            size: size(elements.as_ref()).or_else(|| tensor.size_in_bytes().ok()),
            num_tensors: None,
            elements,
            failure,
        }
    }

    pub(crate) fn of_feed(feed: &FeedBlob<'f>) -> Self {
        // A feed without tensors has no first item, but it has a type and a shape.
        let first = if feed.num_tensors() > 0 { feed.item(0).map(Some) } else { feed.size_in_bytes().map(|_| None) };
        let (elements, failure) = sound(first);
        let elements = elements.flatten();
        TensorView {
            name: feed.name(),
            data_type: feed.data_type(),
            shape: feed.shape(),
            size: size(elements.as_ref()).or_else(|| feed.size_in_bytes().ok()),
            num_tensors: Some(feed.num_tensors()),
            elements,
            failure,
        }
    }
}

fn size(elements: Option<&Elements<'_>>) -> Option<u64> {
    elements.map(|elements| elements.data().len())
}

impl<'f> TensorView<'f> {
    /// The values, if they were requested and the data is sound. If they cannot be read, that becomes the view's failure.
    pub(crate) fn values(&mut self, options: &Options) -> Option<Values<'f>> {
        let (first, elements) = (options.values?, self.elements.as_ref()?);
        let values = Values::of(elements, first, options);
        options.progress.clear();
        values.map_err(|error| self.failure = Some(Box::new(error.into()))).ok()
    }
}

/// A value, or what is wrong with it. An unknown data type is not a fault of the file.
pub(crate) fn sound<T>(value: Result<T, Error>) -> (Option<T>, Option<Box<Diagnostic>>) {
    match value {
        Ok(value) => (Some(value), None),
        Err(error) if error.code() == ErrorCode::UnknownDataType => (None, None),
        Err(error) => (None, Some(Box::new(error.into()))),
    }
}

use std::iter::FusedIterator;

use super::at::At;
use super::blob::Blob;
use super::data::Data;
use super::elements::Elements;
use super::problem::ReadProblem;
use super::shape::Shape;
use crate::error::Error;
use crate::types::ShapeProblem;
use crate::types::tensor_info::elements_and_bytes;
use crate::types::{DataType, FeedDataInfo, TensorDataInfo, TensorInfo, Text};
use crate::wire::Span;

/// A tensor or a feed: a blob with the data of one or more tensors.
///
/// ```
/// let file = popef::File::open("examples/data/all-types.popef")?;
/// for data in file.blobs().filter_map(|blob| blob.as_data()) {
///     println!("{} × {} {}: {} bytes each", data.num_tensors(), data.name(), data.shape(), data.size_in_bytes()?);
/// }
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DataBlob<'a> {
    blob: Blob<'a>,
    name: Span,
    shape: Span,
    data_type: DataType,
    /// The number of tensors of a feed. `None` for a tensor.
    num_tensors: Option<u32>,
}

impl<'a> DataBlob<'a> {
    pub(super) fn new(blob: Blob<'a>, name: Span, shape: Span, data_type: DataType, num_tensors: Option<u32>) -> Self {
        DataBlob { blob, name, shape, data_type, num_tensors }
    }

    /// Returns the blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// Returns whether the blob is a feed, and not a tensor.
    pub fn is_feed(&self) -> bool {
        self.num_tensors.is_some()
    }

    /// The name of the anchors that the data is for.
    pub fn name(&self) -> Text<'a> {
        self.blob.text(self.name)
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Returns the shape of each tensor.
    pub fn shape(&self) -> Shape<'a> {
        Shape::of(self.blob.span(self.shape))
    }

    /// Returns the number of tensors, which is 1 unless the blob is a feed.
    pub fn num_tensors(&self) -> u32 {
        self.num_tensors.unwrap_or(1)
    }

    /// Returns the shape and type of each tensor as an owned value.
    pub fn tensor_info(&self) -> TensorInfo {
        TensorInfo::new(self.data_type, self.shape().to_vec())
    }

    /// Returns the size of one tensor in bytes, by its shape and type. Fails if a dimension is negative, if the product
    /// does not fit into 64 bits, or if the type is unknown.
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        self.elements_and_bytes().map(|(_, bytes)| bytes)
    }

    /// Returns the number of bytes after the last tensor. They do not belong to any tensor. Returns 0 if the size of
    /// the tensors is unknown.
    pub fn surplus(&self) -> u64 {
        let needed = self.size_in_bytes().and_then(|size| self.needed(size));
        needed.map_or(0, |needed| self.data().len().saturating_sub(needed))
    }

    /// Returns all of the blob's data, including any surplus.
    pub fn data(&self) -> Data<'a> {
        self.blob.data()
    }

    /// Fails if the blob has fewer bytes than its tensors need, or if their size is unknown.
    pub fn check_size(&self) -> Result<(), Error> {
        self.layout().map(drop)
    }

    /// Returns the elements of the tensor at `index`. A tensor blob has only index 0. Fails if there is no such tensor,
    /// or if the blob has fewer bytes than all its tensors need.
    pub fn item(&self, index: u32) -> Result<Elements<'a>, Error> {
        if index >= self.num_tensors() {
            let problem = ReadProblem::NoSuchItem { asked: index, held: self.num_tensors() };
            return Err(self.blob.error(problem, self.blob.data_offset()));
        }
        self.layout()?.elements(index)
    }

    /// The number of elements and bytes of one tensor. An error is at the info message, which has the shape and type.
    fn elements_and_bytes(&self) -> Result<(u64, u64), Error> {
        elements_and_bytes(self.shape().iter(), self.data_type).map_err(|problem| self.info_error(problem))
    }

    fn info_error(&self, problem: ShapeProblem) -> Error {
        self.blob.error(problem, self.blob.info_offset())
    }

    /// The size of all tensors, given that of one.
    fn needed(&self, size: u64) -> Result<u64, Error> {
        size.checked_mul(self.num_tensors().into()).ok_or_else(|| self.info_error(ShapeProblem::TooLarge))
    }

    /// The layout of the tensors in the data. Fails if the data is too short.
    fn layout(&self) -> Result<Layout<'a>, Error> {
        let (count, size) = self.elements_and_bytes()?;
        let needed = self.needed(size)?;
        let data = self.data();
        if data.len() < needed {
            let problem = ReadProblem::DataTooShort { needed, found: data.len() };
            return Err(self.blob.error(problem, self.blob.data_offset()));
        }
        let at = self.blob.at(self.blob.data_offset());
        Ok(Layout { data, at, data_type: self.data_type, count, size })
    }
}

/// Tensors of one shape, one after the other, in data that is known to be long enough.
#[derive(Clone, Copy, Debug)]
struct Layout<'a> {
    data: Data<'a>,
    at: At<'a>,
    data_type: DataType,
    /// The number of elements and bytes of one tensor.
    count: u64,
    size: u64,
}

impl<'a> Layout<'a> {
    fn elements(&self, item: u32) -> Result<Elements<'a>, Error> {
        // Neither can wrap: both are within the size of all tensors, which fits into 64 bits.
        let start = self.size.saturating_mul(item.into());
        let data = self.data.range(start..start.saturating_add(self.size))?;
        Ok(Elements::new(data, self.data_type, self.count, self.at.further(start)))
    }
}

/// A blob with the data of one tensor.
#[derive(Clone, Copy, Debug)]
pub struct TensorBlob<'a>(DataBlob<'a>);

impl<'a> TensorBlob<'a> {
    pub(super) fn new(blob: Blob<'a>, name: Span, shape: Span, data_type: DataType) -> Self {
        TensorBlob(DataBlob::new(blob, name, shape, data_type, None))
    }

    /// Returns the blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.0.blob
    }

    /// Returns the blob as a [`DataBlob`], which has what tensors and feeds have in common.
    pub fn as_data(&self) -> DataBlob<'a> {
        self.0
    }

    /// The name of the anchors that the data is for.
    pub fn name(&self) -> Text<'a> {
        self.0.name()
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.0.data_type
    }

    /// Returns the tensor's shape.
    pub fn shape(&self) -> Shape<'a> {
        self.0.shape()
    }

    /// Returns the name, shape and type as an owned value.
    pub fn info(&self) -> TensorDataInfo {
        TensorDataInfo { name: self.name().into_owned(), tensor_info: self.0.tensor_info() }
    }

    /// Returns the size of the tensor in bytes; see [`DataBlob::size_in_bytes`].
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        self.0.size_in_bytes()
    }

    /// Returns the number of bytes after the tensor; see [`DataBlob::surplus`].
    pub fn surplus(&self) -> u64 {
        self.0.surplus()
    }

    /// All bytes of the blob's data, a surplus included.
    pub fn data(&self) -> Data<'a> {
        self.0.data()
    }

    /// Returns the tensor's elements. Fails if the blob has fewer bytes than the shape and type need.
    pub fn elements(&self) -> Result<Elements<'a>, Error> {
        self.0.item(0)
    }
}

/// A blob with the data of several tensors of one shape, for several runs.
#[derive(Clone, Copy, Debug)]
pub struct FeedBlob<'a>(DataBlob<'a>);

impl<'a> FeedBlob<'a> {
    pub(super) fn new(blob: Blob<'a>, name: Span, shape: Span, data_type: DataType, num_tensors: u32) -> Self {
        FeedBlob(DataBlob::new(blob, name, shape, data_type, Some(num_tensors)))
    }

    /// Returns the blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.0.blob
    }

    /// Returns the blob as a [`DataBlob`], which has what tensors and feeds have in common.
    pub fn as_data(&self) -> DataBlob<'a> {
        self.0
    }

    /// The name of the anchors that the data is for.
    pub fn name(&self) -> Text<'a> {
        self.0.name()
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.0.data_type
    }

    /// The shape of each tensor.
    pub fn shape(&self) -> Shape<'a> {
        self.0.shape()
    }

    /// Returns the number of tensors.
    pub fn num_tensors(&self) -> u32 {
        self.0.num_tensors()
    }

    /// Returns the name, shape, type and number of tensors as an owned value.
    pub fn info(&self) -> FeedDataInfo {
        let tensor_info = self.0.tensor_info();
        FeedDataInfo { name: self.name().into_owned(), tensor_info, num_tensors: self.num_tensors() }
    }

    /// Returns the size of one tensor in bytes; see [`DataBlob::size_in_bytes`].
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        self.0.size_in_bytes()
    }

    /// Returns the number of bytes after the last tensor; see [`DataBlob::surplus`].
    pub fn surplus(&self) -> u64 {
        self.0.surplus()
    }

    /// Returns the elements of the tensor at `index`. Fails if there is no such tensor, or if the blob has fewer bytes
    /// than all its tensors need.
    pub fn item(&self, index: u32) -> Result<Elements<'a>, Error> {
        self.0.item(index)
    }

    /// Iterates over all tensors. If the data is too short, this gives one error and nothing else.
    ///
    /// The number of tensors is the file's claim. If a tensor has no bytes, nothing in the file supports that claim.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/split-feeds.popef")?;
    /// let feed = file.feed("user_input").expect("the file has it");
    /// let mut firsts = Vec::new();
    /// for tensor in feed.items() {
    ///     firsts.push(tensor?.to_slice::<f32>()?[0]);
    /// }
    /// assert_eq!(firsts, [0.0, 2.0, 4.0]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn items(&self) -> Items<'a> {
        Items { feed: *self, layout: None, next: 0 }
    }

    /// All bytes of the blob's data, a surplus included.
    pub fn data(&self) -> Data<'a> {
        self.0.data()
    }
}

/// An iterator over the tensors of a feed. [`FeedBlob::items`] returns it.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    feed: FeedBlob<'a>,
    /// Computed for the first item.
    layout: Option<Layout<'a>>,
    next: u32,
}

impl<'a> Items<'a> {
    fn next_item(&mut self) -> Result<Elements<'a>, Error> {
        let layout = match self.layout {
            Some(layout) => layout,
            None => *self.layout.insert(self.feed.0.layout()?),
        };
        layout.elements(self.next)
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<Elements<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.feed.num_tensors() {
            return None;
        }
        let item = self.next_item();
        self.next = if item.is_ok() { self.next.saturating_add(1) } else { self.feed.num_tensors() };
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.feed.num_tensors().saturating_sub(self.next)).unwrap_or(usize::MAX);
        (left.min(1), Some(left))
    }
}

impl FusedIterator for Items<'_> {}

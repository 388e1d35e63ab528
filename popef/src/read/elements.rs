use std::borrow::Cow;
use std::ops::Range;

use super::at::At;
use super::data::Data;
use super::element::{Element, ViewFault};
use super::problem::ReadProblem;
use crate::error::{Error, Problem};
use crate::len::len_of;
use crate::types::tensor_info::elements_and_bytes;
use crate::types::{DataType, TensorInfo};

/// The elements of a tensor or of one item of a feed, or a part of them.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    data: Data<'a>,
    data_type: DataType,
    count: u64,
    /// The index of the first element in its tensor.
    first: u64,
    at: At<'a>,
}

impl<'a> Elements<'a> {
    pub(super) fn new(data: Data<'a>, data_type: DataType, count: u64, at: At<'a>) -> Self {
        Elements { data, data_type, count, first: 0, at }
    }

    /// Makes the elements of a tensor from its shape, type and bytes. Fails if there are fewer bytes than the shape and
    /// type need. Surplus bytes are ignored.
    ///
    /// ```
    /// use popef::read::Elements;
    /// use popef::{DataType, TensorInfo};
    ///
    /// let info = TensorInfo::new(DataType::S16, [2]);
    /// let elements = Elements::from_bytes(&info, &[1, 0, 0xff, 0xff])?;
    /// assert_eq!(*elements.to_slice::<i16>()?, [1, -1]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn from_bytes(info: &TensorInfo, bytes: &'a [u8]) -> Result<Elements<'a>, Error> {
        let (count, needed) = elements_and_bytes(info.shape.iter().copied(), info.data_type)?;
        let bytes = usize::try_from(needed)
            .ok()
            .and_then(|needed| bytes.get(..needed))
            .ok_or_else(|| Error::from(ReadProblem::DataTooShort { needed, found: len_of(bytes) }))?;
        Ok(Elements::new(Data::in_memory(bytes), info.data_type, count, At::nowhere()))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the type of the elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Returns the bytes of the elements, without any surplus.
    pub fn data(&self) -> Data<'a> {
        self.data
    }

    /// Returns a part of the elements. Fails if the range is not within them.
    ///
    /// In parts, a tensor of any size can be read with little memory. [`convert_into`](Elements::convert_into) has an
    /// example.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let weights = file.tensor("input_parameter").expect("the model has one").elements()?;
    /// assert_eq!(*weights.range(1..2)?.to_slice::<f32>()?, [-2.25]);
    /// assert!(weights.range(1..3).is_err());
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn range(&self, range: Range<u64>) -> Result<Elements<'a>, Error> {
        let Range { start, end } = range;
        let outside = || self.error(ReadProblem::NoSuchElements { start, end, count: self.count });
        let count = end.checked_sub(start).filter(|_| end <= self.count).ok_or_else(outside)?;
        // The products cannot wrap, because all elements together have as many bytes as the data.
        let bytes = |elements: u64| elements.saturating_mul(self.data_type.size().unwrap_or_default());
        let data = self.data.range(bytes(start)..bytes(end))?;
        let first = self.first.saturating_add(start);
        Ok(Elements { data, count, first, at: self.at.further(bytes(start)), ..*self })
    }

    /// Returns all elements as a slice of their Rust type.
    ///
    /// The slice is borrowed if the bytes are in memory, aligned for the type, and in this machine's byte order.
    /// Otherwise it is a copy. Fails if `T` is not the type of the elements, or if a `bool` is neither 0 nor 1.
    ///
    /// ```
    /// use popef::error::ErrorKind;
    ///
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let weights = file.tensor("input_parameter").expect("the model has one").elements()?;
    /// assert_eq!(*weights.to_slice::<f32>()?, [1.5, -2.25]);
    /// assert_eq!(weights.to_slice::<i32>().unwrap_err().kind(), ErrorKind::WrongType);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn to_slice<T: Element>(&self) -> Result<Cow<'a, [T]>, Error> {
        if self.data_type != T::DATA_TYPE {
            return Err(self.error(ReadProblem::WrongType { asked: T::DATA_TYPE, held: self.data_type }));
        }
        T::view(self.data, self.count).map_err(|fault| match fault {
            ViewFault::Reading(error) => error,
            ViewFault::NotBool { element, value } => self.not_bool(element, value),
        })
    }

    pub(super) fn error(&self, problem: impl Into<Problem>) -> Error {
        self.at.error(problem)
    }

    /// The error of a `bool` that is neither 0 nor 1.
    pub(super) fn not_bool(&self, element: u64, value: u8) -> Error {
        let problem = ReadProblem::NotBool { element: self.first.saturating_add(element), value };
        self.at.further(element).error(problem)
    }
}

use std::borrow::Cow;
use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};
use half::f16;
use zerocopy::{FromBytes, IntoBytes, TryFromBytes};

use super::blob::At;
use super::data::{Data, zeroed};
use super::problem::ReadProblem;
use super::value::Values;
use crate::error::{Error, Problem};
use crate::types::{DataType, F8143, F8152};

/// The elements of a tensor or of one item of a feed, or a part of them.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    data: Data<'a>,
    data_type: DataType,
    count: u64,
    /// Which element of its tensor the first one is.
    first: u64,
    at: At<'a>,
}

impl<'a> Elements<'a> {
    pub(super) fn new(data: Data<'a>, data_type: DataType, count: u64, at: At<'a>) -> Self {
        Elements { data, data_type, count, first: 0, at }
    }

    /// How many elements there are.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Their type.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Their bytes: as many as shape and type call for, and no surplus.
    pub fn data(&self) -> Data<'a> {
        self.data
    }

    /// A part of them; an error if it does not lie within them.
    ///
    /// Part by part, a tensor of any size is read in little memory; see [`convert_into`](Elements::convert_into).
    pub fn range(&self, range: Range<u64>) -> Result<Elements<'a>, Error> {
        let Range { start, end } = range;
        let outside = || self.error(ReadProblem::NoSuchElements { start, end, count: self.count });
        let count = end.checked_sub(start).filter(|_| end <= self.count).ok_or_else(outside)?;
        // No product wraps: all elements together have as many bytes as the data.
        let bytes = |elements: u64| elements.saturating_mul(self.data_type.size().unwrap_or_default());
        let data = self.data.range(bytes(start)..bytes(end))?;
        let first = self.first.saturating_add(start);
        Ok(Elements { data, count, first, at: self.at.further(bytes(start)), ..*self })
    }

    /// All elements as a slice of their Rust type.
    ///
    /// Borrowed where the bytes are in memory, aligned for the type, and in this machine's order; else a copy.
    /// Asking for another type than theirs is an error, and so is a `bool` that is neither 0 nor 1.
    pub fn to<T: Element>(&self) -> Result<Cow<'a, [T]>, Error> {
        if self.data_type != T::DATA_TYPE {
            return Err(self.error(ReadProblem::WrongType { asked: T::DATA_TYPE, held: self.data_type }));
        }
        T::view(self)
    }

    /// The elements one by one, whatever their type, for printing. Memory stays small. Many at once are faster with
    /// [`convert_into`](Elements::convert_into).
    ///
    /// An error for `f8`, whose bits have no known meaning, and for types that are not known.
    ///
    /// ```
    /// let file = popef::File::open("../testdata/interop/executable.popef")?;
    /// let weights = file.tensor("input_parameter").expect("the model has one").elements()?;
    /// let mut sum = 0.0;
    /// for value in weights.values()? {
    ///     sum += value?.to_f64();
    /// }
    /// assert_eq!(sum, -0.75);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn values(&self) -> Result<Values<'a>, Error> {
        Values::of(*self)
    }

    pub(super) fn error(&self, problem: impl Into<Problem>) -> Error {
        self.at.error(problem)
    }

    /// The error of a bool that is none.
    pub(super) fn not_bool(&self, element: u64, value: u8) -> Error {
        let problem = ReadProblem::NotBool { element: self.first.saturating_add(element), value };
        self.at.further(element).error(problem)
    }
}

/// A Rust type that the elements of a tensor can have.
///
/// `bool`, the integers, `f32`, `f64`, [`half::f16`], [`F8143`] and [`F8152`].
pub trait Element: view::View {
    /// The data type of such elements in a file.
    const DATA_TYPE: DataType;
}

mod view {
    use super::{Cow, Elements, Error};

    /// How bytes become elements, and elements bytes. Not for others to implement.
    pub trait View: Copy + 'static {
        fn view<'a>(elements: &Elements<'a>) -> Result<Cow<'a, [Self]>, Error>;

        /// The bytes of elements as they stand in a file.
        fn to_file(elements: &[Self]) -> Cow<'_, [u8]>;
    }
}

macro_rules! number_elements {
    ($( $type:ty = $data_type:ident, $to_this_machine:expr; )*) => { $(
        impl Element for $type {
            const DATA_TYPE: DataType = DataType::$data_type;
        }

        impl view::View for $type {
            fn view<'a>(elements: &Elements<'a>) -> Result<Cow<'a, [Self]>, Error> {
                let bytes = elements.data.as_slice().filter(|_| cfg!(target_endian = "little"));
                if let Some(aligned) = bytes.and_then(|bytes| <[Self]>::ref_from_bytes(bytes).ok()) {
                    return Ok(Cow::Borrowed(aligned));
                }
                let mut copy: Vec<Self> = zeroed(elements.count).map_err(|problem| elements.error(problem))?;
                elements.data.read_at(0, copy.as_mut_bytes())?;
                let to_this_machine: fn(&mut [Self]) = $to_this_machine;
                to_this_machine(&mut copy);
                Ok(Cow::Owned(copy))
            }

            fn to_file(elements: &[Self]) -> Cow<'_, [u8]> {
                if cfg!(target_endian = "little") {
                    return Cow::Borrowed(elements.as_bytes());
                }
                // Turning the bytes around is its own reverse.
                let to_file: fn(&mut [Self]) = $to_this_machine;
                let mut turned = elements.to_vec();
                to_file(&mut turned);
                Cow::Owned(turned.as_bytes().to_vec())
            }
        }
    )* };
}

number_elements! {
    i8 = S8, |_| {};
    u8 = U8, |_| {};
    F8143 = F8143, |_| {};
    F8152 = F8152, |_| {};
    i16 = S16, LittleEndian::from_slice_i16;
    u16 = U16, LittleEndian::from_slice_u16;
    i32 = S32, LittleEndian::from_slice_i32;
    u32 = U32, LittleEndian::from_slice_u32;
    i64 = S64, LittleEndian::from_slice_i64;
    u64 = U64, LittleEndian::from_slice_u64;
    f32 = F32, LittleEndian::from_slice_f32;
    f64 = F64, LittleEndian::from_slice_f64;
    f16 = F16, |elements| {
        for element in elements {
            *element = f16::from_bits(u16::from_le(element.to_bits()));
        }
    };
}

impl Element for bool {
    const DATA_TYPE: DataType = DataType::Bool;
}

impl view::View for bool {
    fn view<'a>(elements: &Elements<'a>) -> Result<Cow<'a, [bool]>, Error> {
        let bytes = elements.data.read()?;
        if let Some((element, &value)) = (0..).zip(bytes.iter()).find(|(_, byte)| **byte > 1) {
            return Err(elements.not_bool(element, value));
        }
        // In the memory of the bytes.
        let owned = |bytes: Vec<u8>| Cow::Owned(bytes.into_iter().map(|byte| byte == 1).collect());
        Ok(match bytes {
            Cow::Borrowed(bytes) => {
                <[bool]>::try_ref_from_bytes(bytes).map_or_else(|_| owned(bytes.to_vec()), Cow::Borrowed)
            }
            Cow::Owned(bytes) => owned(bytes),
        })
    }

    fn to_file(elements: &[bool]) -> Cow<'_, [u8]> {
        Cow::Borrowed(elements.as_bytes())
    }
}

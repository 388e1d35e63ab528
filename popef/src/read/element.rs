//! The Rust types of elements, and dispatch from a data type to its Rust type.

use std::borrow::Cow;
use std::fmt;

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use zerocopy::{FromBytes, Immutable, IntoBytes, TryFromBytes};

use super::data::Data;
use super::value::Value;
use crate::error::Error;
use crate::types::{DataType, F8143, F8152, data_types};

/// A Rust type that the elements of a tensor can have.
///
/// These types are `bool`, the integers, `f32`, `f64`, [`half::f16`], [`F8143`] and [`F8152`].
pub trait Element: stored::Stored {
    /// The data type of these elements in a file.
    const DATA_TYPE: DataType;

    /// Converts the element to a [`Value`].
    ///
    /// ```
    /// use popef::read::{Element, Value};
    ///
    /// assert_eq!((-3i8).to_value(), Value::Int(-3));
    /// assert_eq!(popef::types::half::f16::from_f32(0.5).to_value(), Value::F32(0.5));
    /// ```
    fn to_value(self) -> Value {
        self.value()
    }
}

/// Generic code that [`DataType::visit`] calls with the Rust type of a data type.
pub trait ElementVisitor {
    /// The result of the code.
    type Output;

    /// The code, generic over the Rust type of the elements.
    fn visit<T: Element>(self) -> Self::Output;
}

pub(super) use stored::ViewFault;

mod stored {
    use super::{Cow, Data, Error, Value, fmt};

    /// Why bytes cannot be viewed as elements.
    #[derive(Debug)]
    pub enum ViewFault {
        Reading(Error),
        NotBool { element: u64, value: u8 },
    }

    impl From<Error> for ViewFault {
        fn from(error: Error) -> Self {
            ViewFault::Reading(error)
        }
    }

    /// Conversions between elements, bytes and numbers. Private, so that other crates cannot implement `Element`.
    pub trait Stored: Copy + Default + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static {
        /// Returns `count` elements, which are all of the data: borrowed if possible.
        fn view(data: Data<'_>, count: u64) -> Result<Cow<'_, [Self]>, ViewFault>;

        /// The bytes of elements, in the order of a file.
        fn to_file(elements: &[Self]) -> Cow<'_, [u8]>;

        /// Makes one element from its bytes in a file. `None` if they are not a valid value of this type.
        fn from_file(bytes: &[u8]) -> Option<Self>;

        fn value(self) -> Value;

        /// Converts each element to the nearest `f32`.
        fn convert(from: &[Self], into: &mut [f32]);

        fn is_nan(self) -> bool;

        fn is_infinite(self) -> bool;
    }
}

/// Implements [`Element`] for the Rust type of a row, and checks its size.
macro_rules! element {
    ($variant:ident, $size:literal, -) => {};
    ($variant:ident, $size:literal, $rust:ty) => {
        const _: () = assert!(size_of::<$rust>() == $size, "another size than in the table of data types");

        impl Element for $rust {
            const DATA_TYPE: DataType = DataType::$variant;
        }
    };
}

macro_rules! visit {
    ($visitor:ident, -) => {
        None
    };
    ($visitor:ident, $rust:ty) => {
        Some($visitor.visit::<$rust>())
    };
}

macro_rules! elements {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:literal, $schema_name:literal, $shown:literal, $size:literal, $kind:ident, $rust:tt;
    )*) => {
        $( element!($variant, $size, $rust); )*

        impl DataType {
            /// Calls generic code with the Rust type of this data type. Returns `None` for [`DataType::F8`], whose bits
            /// have no known meaning, and for unknown types.
            ///
            /// ```
            /// use popef::read::{Element, ElementVisitor, Elements};
            /// use popef::{DataType, Error};
            ///
            /// /// Counts the elements that are zero.
            /// struct Zeros<'e>(&'e Elements<'e>);
            ///
            /// impl ElementVisitor for Zeros<'_> {
            ///     type Output = Result<usize, Error>;
            ///
            ///     fn visit<T: Element>(self) -> Result<usize, Error> {
            ///         let elements = self.0.to_slice::<T>()?;
            ///         Ok(elements.iter().filter(|&&element| element == T::default()).count())
            ///     }
            /// }
            ///
            /// let file = popef::File::open("examples/data/all-types.popef")?;
            /// for tensor in file.tensors() {
            ///     let elements = tensor.elements()?;
            ///     match tensor.data_type().visit(Zeros(&elements)) {
            ///         Some(zeros) => println!("{}: {} zeros", tensor.name(), zeros?),
            ///         None => println!("{}: unknown elements", tensor.name()),
            ///     }
            /// }
            /// # Ok::<(), Error>(())
            /// ```
            pub fn visit<V: ElementVisitor>(self, visitor: V) -> Option<V::Output> {
                match self {
                    $( DataType::$variant => visit!(visitor, $rust), )*
                    DataType::Other(_) => None,
                }
            }
        }
    };
}

data_types!(elements);

/// An element type for which every bit pattern is valid.
trait Number:
    Copy + Default + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static + FromBytes + IntoBytes + Immutable
{
    fn value(self) -> Value;

    fn to_f32(self) -> f32;

    fn is_nan(self) -> bool {
        false
    }

    fn is_infinite(self) -> bool {
        false
    }

    fn convert(from: &[Self], into: &mut [f32]) {
        for (from, into) in from.iter().zip(into) {
            *into = from.to_f32();
        }
    }
}

/// Converts elements between the byte order of a file and that of this machine, in place.
pub(super) fn swap_if_big_endian<T: FromBytes + IntoBytes>(elements: &mut [T]) {
    if cfg!(target_endian = "big") {
        elements.as_mut_bytes().chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
}

impl<T: Number> stored::Stored for T {
    fn view(data: Data<'_>, count: u64) -> Result<Cow<'_, [T]>, ViewFault> {
        let bytes = data.as_slice().filter(|_| cfg!(target_endian = "little"));
        if let Some(aligned) = bytes.and_then(|bytes| <[T]>::ref_from_bytes(bytes).ok()) {
            return Ok(Cow::Borrowed(aligned));
        }
        let mut copy: Vec<T> = data.read_as(count, |elements| elements.as_mut_bytes())?;
        swap_if_big_endian(&mut copy);
        Ok(Cow::Owned(copy))
    }

    fn to_file(elements: &[T]) -> Cow<'_, [u8]> {
        if cfg!(target_endian = "little") {
            return Cow::Borrowed(elements.as_bytes());
        }
        let mut turned = elements.to_vec();
        swap_if_big_endian(&mut turned);
        Cow::Owned(turned.as_bytes().to_vec())
    }

    fn from_file(bytes: &[u8]) -> Option<T> {
        let mut element = T::read_from_bytes(bytes).ok()?;
        swap_if_big_endian(std::slice::from_mut(&mut element));
        Some(element)
    }

    fn value(self) -> Value {
        Number::value(self)
    }

    fn convert(from: &[T], into: &mut [f32]) {
        <T as Number>::convert(from, into);
    }

    fn is_nan(self) -> bool {
        Number::is_nan(self)
    }

    fn is_infinite(self) -> bool {
        Number::is_infinite(self)
    }
}

macro_rules! integers {
    ($variant:ident: $( $rust:ty ),*) => { $(
        impl Number for $rust {
            fn value(self) -> Value {
                Value::$variant(self.into())
            }

            #[allow(clippy::cast_lossless, reason = "rounds where it has to")]
            fn to_f32(self) -> f32 {
                self as f32
            }
        }
    )* };
}

integers!(Int: i8, i16, i32, i64);
integers!(UInt: u8, u16, u32, u64);

/// Implements [`Number`] for floats of the processor.
macro_rules! floats {
    ($( $rust:ident: $variant:ident ),*) => { $(
        impl Number for $rust {
            fn value(self) -> Value {
                Value::$variant(self)
            }

            #[allow(clippy::cast_possible_truncation, reason = "rounds, and makes infinite what is too large")]
            fn to_f32(self) -> f32 {
                self as f32
            }

            fn is_nan(self) -> bool {
                self.is_nan()
            }

            fn is_infinite(self) -> bool {
                self.is_infinite()
            }
        }
    )* };
}

floats!(f32: F32, f64: F64);

impl Number for f16 {
    fn value(self) -> Value {
        Value::F32(self.to_f32())
    }

    fn to_f32(self) -> f32 {
        self.to_f32()
    }

    fn is_nan(self) -> bool {
        self.is_nan()
    }

    fn is_infinite(self) -> bool {
        self.is_infinite()
    }

    /// Uses the processor's own conversion if it has one.
    fn convert(from: &[f16], into: &mut [f32]) {
        from.convert_to_f32_slice(into);
    }
}

/// Implements [`Number`] for 8-bit floats, which have no infinities.
macro_rules! small_floats {
    ($( $rust:ty ),*) => { $(
        impl Number for $rust {
            fn value(self) -> Value {
                Value::F32(self.to_f32())
            }

            fn to_f32(self) -> f32 {
                self.to_f32()
            }

            fn is_nan(self) -> bool {
                self.is_nan()
            }
        }
    )* };
}

small_floats!(F8143, F8152);

impl stored::Stored for bool {
    fn view(data: Data<'_>, _count: u64) -> Result<Cow<'_, [bool]>, ViewFault> {
        let bytes = data.read()?;
        if let Some((element, &value)) = (0..).zip(bytes.iter()).find(|(_, byte)| **byte > 1) {
            return Err(ViewFault::NotBool { element, value });
        }
        // `collect` reuses the memory of the bytes.
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

    fn from_file(bytes: &[u8]) -> Option<bool> {
        bool::try_read_from_bytes(bytes).ok()
    }

    fn value(self) -> Value {
        Value::Bool(self)
    }

    fn convert(from: &[bool], into: &mut [f32]) {
        for (from, into) in from.iter().zip(into) {
            *into = u8::from(*from).into();
        }
    }

    fn is_nan(self) -> bool {
        false
    }

    fn is_infinite(self) -> bool {
        false
    }
}

//! Reads single fields of a message, with their errors.

use capnp::message::{Reader, ReaderSegments};
use capnp::traits::Owned;
use capnp::{NotInSchema, primitive_list, text};

use super::message::Refusal;
use super::popef_capnp as schema;
use super::problem::{Message, WireProblem};
use crate::error::Problem;
use crate::limits::Limits;
use crate::types::DataType;
#[cfg(feature = "serde")]
use crate::types::object::List;
#[cfg(feature = "serde")]
use crate::types::tensor_info;

/// Reads the fields of one message.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'l> {
    pub(super) message: Message,
    pub(super) limits: &'l Limits,
}

/// A TensorInfo whose shape is borrowed from the message.
pub(crate) struct TensorInfoRef<'m> {
    pub(super) shape: primitive_list::Reader<'m, i64>,
    pub(super) data_type: DataType,
}

#[cfg(feature = "serde")]
impl serde::Serialize for TensorInfoRef<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shape = List(|| self.shape.iter());
        tensor_info::serialize(serializer, self.data_type, shape, self.shape.iter())
    }
}

impl Fields<'_> {
    #[inline]
    pub(super) fn get<T>(self, value: capnp::Result<T>, field: &'static str) -> Result<T, Problem> {
        value.map_err(|source| self.problem(source, field).into())
    }

    // A function of its own, so that little code is inlined where `get` succeeds.
    #[cold]
    fn problem(self, source: capnp::Error, field: &'static str) -> WireProblem {
        let Fields { message, limits } = self;
        match Refusal::from(source) {
            Refusal::Visits => WireProblem::TooManyVisits { message, limit: limits.visits },
            Refusal::Nesting => WireProblem::TooDeep { message, limit: limits.nesting },
            Refusal::Malformed(source) => WireProblem::Malformed { message, field, source },
        }
    }

    pub(super) fn root<'m, T: Owned, S: ReaderSegments>(self, reader: &'m Reader<S>) -> Result<T::Reader<'m>, Problem> {
        self.get(reader.get_root(), "its root")
    }

    #[inline]
    pub(super) fn text<'m>(
        self,
        text: capnp::Result<text::Reader<'m>>,
        field: &'static str,
    ) -> Result<&'m [u8], Problem> {
        Ok(self.get(text, field)?.as_bytes())
    }

    #[inline]
    pub(super) fn tensor_info<'m>(
        self,
        info: capnp::Result<schema::tensor_info::Reader<'m>>,
    ) -> Result<TensorInfoRef<'m>, Problem> {
        let info = self.get(info, "tensorInfo")?;
        Ok(TensorInfoRef {
            shape: self.get(info.get_shape(), "shape")?,
            data_type: DataType::from_number(number(info.get_data_type())),
        })
    }

    /// Returns the bytes of a shape. Cap'n Proto also allows a list of larger elements that begin with the number. No
    /// writer of this schema makes one, and it is refused because its bytes are not a list of numbers.
    pub(super) fn numbers<'m>(self, shape: primitive_list::Reader<'m, i64>) -> Result<&'m [u8], Problem> {
        let elements = capnp::raw::get_list_step_size_in_bits(shape);
        if elements != i64::BITS && !shape.is_empty() {
            return Err(WireProblem::NotNumbers { message: self.message, field: "shape" }.into());
        }
        Ok(capnp::raw::get_list_bytes(shape))
    }
}

/// The number of an enumeration's value, whether or not the schema names it.
pub fn number<T: Into<u16>>(value: Result<T, NotInSchema>) -> u16 {
    match value {
        Ok(value) => value.into(),
        Err(NotInSchema(number)) => number,
    }
}

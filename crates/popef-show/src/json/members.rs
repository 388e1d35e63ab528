//! The fields of a structure as members of an object that has more members.

use serde::Serialize;
use serde::ser::{Error, Impossible, SerializeMap, SerializeStruct, Serializer};

/// Puts the fields of a structure into an object.
pub(crate) fn members<M: SerializeMap>(map: &mut M, of: &impl Serialize) -> Result<(), M::Error> {
    members_without(map, &[], of)
}

/// Puts the fields of a structure into an object, except those of some keys, which are not even read.
pub(crate) fn members_without<M: SerializeMap>(
    map: &mut M,
    without: &'static [&'static str],
    of: &impl Serialize,
) -> Result<(), M::Error> {
    of.serialize(Members { map, without })
}

struct Members<'m, M> {
    map: &'m mut M,
    without: &'static [&'static str],
}

impl<M: SerializeMap> SerializeStruct for Members<'_, M> {
    type Ok = ();
    type Error = M::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), M::Error> {
        if self.without.contains(&key) { Ok(()) } else { self.map.serialize_entry(key, value) }
    }

    fn end(self) -> Result<(), M::Error> {
        Ok(())
    }
}

/// Only a structure has fields.
macro_rules! refuse {
    ($( $method:ident($( $argument:ty ),*) -> $ok:ty; )+) => { $(
        fn $method(self, $( _: $argument ),*) -> Result<$ok, M::Error> {
            Err(M::Error::custom("only a structure has members"))
        }
    )+ };
}

impl<M: SerializeMap> Serializer for Members<'_, M> {
    type Ok = ();
    type Error = M::Error;
    type SerializeSeq = Impossible<(), M::Error>;
    type SerializeTuple = Impossible<(), M::Error>;
    type SerializeTupleStruct = Impossible<(), M::Error>;
    type SerializeTupleVariant = Impossible<(), M::Error>;
    type SerializeMap = Impossible<(), M::Error>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), M::Error>;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, M::Error> {
        Ok(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), M::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), M::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), M::Error> {
        value.serialize(self)
    }

    refuse! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}

//! Elements of every data type have the values that NumPy and ml_dtypes give them.

use crate::common;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use common::{read, testdata, ways};
use half::f16;
use popef::error::{ErrorCode, ErrorKind};
use popef::read::{Element, Elements, Value};
use popef::types::{F8143, F8152, OpaqueInfo, TensorDataInfo};
use popef::{DataType, File, TensorInfo, Writer};

fn expected() -> BTreeMap<String, Vec<f64>> {
    let values: BTreeMap<String, Vec<String>> = serde_json::from_slice(&read("elements/elements.json")).unwrap();
    let double = |text: String| match text.as_str() {
        "nan" => f64::NAN,
        bits => f64::from_bits(u64::from_str_radix(bits, 16).unwrap()),
    };
    values.into_iter().map(|(kind, values)| (kind, values.into_iter().map(double).collect())).collect()
}

fn data_type(kind: &str) -> DataType {
    DataType::ALL.iter().copied().find(|data_type| data_type.schema_name() == Some(kind)).unwrap()
}

/// Equal to the bit as doubles. All forms of NaN count as equal.
fn assert_same(found: impl IntoIterator<Item = f64>, expected: &[f64], what: &str) {
    let bits = |value: f64| if value.is_nan() { None } else { Some(value.to_bits()) };
    let found: Vec<_> = found.into_iter().map(bits).collect();
    assert_eq!(found, expected.iter().copied().map(bits).collect::<Vec<_>>(), "{what}");
}

fn typed_as_f64(elements: &Elements<'_>) -> Vec<f64> {
    fn all<T: Element + Debug>(elements: &Elements<'_>, to_f64: impl Fn(T) -> f64) -> Vec<f64> {
        elements.to_slice::<T>().unwrap().iter().map(|&value| to_f64(value)).collect()
    }
    match elements.data_type() {
        DataType::Bool => all(elements, |v: bool| f64::from(u8::from(v))),
        DataType::F16 => all(elements, |v: f16| v.to_f64()),
        DataType::F32 => all(elements, |v: f32| v.into()),
        DataType::F64 => all(elements, |v: f64| v),
        DataType::S8 => all(elements, |v: i8| v.into()),
        DataType::U8 => all(elements, |v: u8| v.into()),
        DataType::S16 => all(elements, |v: i16| v.into()),
        DataType::U16 => all(elements, |v: u16| v.into()),
        DataType::S32 => all(elements, |v: i32| v.into()),
        DataType::U32 => all(elements, |v: u32| v.into()),
        DataType::S64 => all(elements, |v: i64| v as f64),
        DataType::U64 => all(elements, |v: u64| v as f64),
        DataType::F8143 => all(elements, |v: F8143| v.to_f32().into()),
        DataType::F8152 => all(elements, |v: F8152| v.to_f32().into()),
        other => panic!("{other}"),
    }
}

#[test]
#[cfg_attr(miri, ignore = "its numbers are read from JSON, which takes minutes there")]
fn every_type_is_read_aligned_and_unaligned_in_every_way_in() {
    for (way, file) in ways(&testdata("elements/elements.popef")) {
        let file = file.unwrap();
        for (kind, expected) in expected() {
            for place in ["aligned", "odd"] {
                let what = format!("{kind} {place} {way}");
                let elements = file.tensor(format!("{kind} {place}")).unwrap().elements().unwrap();
                assert_eq!(elements.data_type(), data_type(&kind), "{what}");
                assert_same(typed_as_f64(&elements), &expected, &what);
                assert_same(elements.values().unwrap().map(|value| value.unwrap().to_f64()), &expected, &what);
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "its numbers are read from JSON, which takes minutes there")]
fn items_of_a_feed_follow_each_other_without_gaps() {
    for (way, file) in ways(&testdata("elements/elements.popef")) {
        let file = file.unwrap();
        for (kind, mut expected) in expected() {
            let feed = file.feed(format!("{kind} feed")).unwrap();
            for (index, item) in feed.items().enumerate() {
                assert_same(typed_as_f64(&item.unwrap()), &expected, &format!("{kind} item {index} {way}"));
                expected.rotate_left(1);
            }
            assert_eq!(feed.items().count(), 3);

            let error = feed.item(3).unwrap_err();
            assert_eq!((error.code(), error.needed(), error.found()), (ErrorCode::NoSuchItem, Some(3), Some(3)));
            assert_eq!(error.reason(), "item 3 was asked for, but the feed has 3");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no files")]
fn aligned_elements_in_memory_are_borrowed_and_others_copied() {
    let path = testdata("elements/elements.popef");
    // SAFETY: nobody changes the file while a test reads it.
    let file = unsafe { File::map(&path) }.unwrap();
    let borrowed = |name: &str| {
        let cow = file.tensor(name).unwrap().elements().unwrap().to_slice::<f64>().unwrap();
        matches!(cow, Cow::Borrowed(_))
    };
    // Big-endian machines have to swap the bytes.
    assert_eq!(borrowed("f64 aligned"), cfg!(target_endian = "little"));
    assert!(!borrowed("f64 odd"));
    let bools = file.tensor("bool odd").unwrap().elements().unwrap().to_slice::<bool>().unwrap();
    assert!(matches!(bools, Cow::Borrowed(_)));
}

#[test]
fn asking_for_another_type_names_both() {
    let file = File::open(testdata("elements/elements.popef")).unwrap();
    let error = file.tensor("f16 odd").unwrap().elements().unwrap().to_slice::<f32>().unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::WrongElementType, ErrorKind::WrongType));
    assert_eq!(error.reason(), "elements of type F32 were asked for, but they are F16");
}

#[test]
fn a_bool_that_is_neither_0_nor_1_is_an_error_at_its_byte() {
    let mut bytes = read("elements/elements.popef");
    let data_offset = |name: &str| {
        let file = File::open(testdata("elements/elements.popef")).unwrap();
        usize::try_from(file.tensor(name).unwrap().blob().data_offset()).unwrap()
    };
    let third = data_offset("bool odd") + 2;
    bytes[third] = 7;
    let file = File::from_bytes(bytes).unwrap();
    let elements = file.tensor("bool odd").unwrap().elements().unwrap();

    let part = elements.range(1..4).unwrap();
    let errors = [
        elements.to_slice::<bool>().unwrap_err(),
        elements.values().unwrap().find_map(Result::err).unwrap(),
        elements.convert_into(&mut [0.0; 5]).unwrap_err(),
        // The error of a part gives the index in the whole tensor.
        part.to_slice::<bool>().unwrap_err(),
        part.values().unwrap().find_map(Result::err).unwrap(),
        part.convert_into(&mut [0.0; 5]).unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Damaged, Some(third as u64)));
        assert_eq!(error.reason(), "element 2 is 0x07, but a bool is 0 or 1");
    }
    let values: Vec<_> = elements.values().unwrap().collect();
    assert_eq!(values.len(), 3, "two values, one error, and then nothing");
}

#[test]
fn elements_of_f8_have_bytes_and_no_values() {
    let file = File::open(testdata("interop/all-types.popef")).unwrap();
    let elements = file.tensor("t_f8").unwrap().elements().unwrap();
    let error = elements.values().unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::NotNumeric, ErrorKind::WrongType));
    assert!(error.to_string().contains("elements of type F8 cannot be shown as numbers"), "{error}");
    assert_eq!(elements.data().len(), 6, "the bytes can be read");
}

#[test]
#[cfg_attr(miri, ignore = "its numbers are read from JSON, which takes minutes there")]
fn every_type_converts_to_f32_as_numpy_does() {
    let expected: BTreeMap<String, Vec<String>> = serde_json::from_slice(&read("elements/float32.json")).unwrap();
    for (way, file) in ways(&testdata("elements/elements.popef")) {
        let file = file.unwrap();
        for (kind, expected) in &expected {
            for place in ["aligned", "odd"] {
                let elements = file.tensor(format!("{kind} {place}")).unwrap().elements().unwrap();
                // The whole tensor with room to spare, and a part from its middle.
                for part in [0..expected.len(), 1..expected.len() - 1] {
                    let range = part.start as u64..part.end as u64;
                    let mut buffer = [7.25; 300];
                    let converted = elements.range(range).unwrap().convert_into(&mut buffer).unwrap();
                    let bits = |x: &f32| if x.is_nan() { "nan".to_owned() } else { format!("{:08x}", x.to_bits()) };
                    let found: Vec<String> = converted.iter().map(bits).collect();
                    assert_eq!(found, expected[part.clone()], "{kind} {place} {way}");
                    assert!(buffer[part.len()..].iter().all(|&x| x == 7.25), "the rest of the buffer was touched");
                }
            }
        }
    }
}

/// Every bit pattern of the small floats, against tables of NumPy and ml_dtypes.
#[test]
#[cfg_attr(miri, ignore = "its 65,536 values take minutes there")]
fn every_small_float_converts_to_f32_exactly() {
    let from_le = |bits: &[u8; 4]| u32::from_le_bytes(*bits);
    let f16: Vec<u32> = read("float16/float32.bin").as_chunks().0.iter().map(from_le).collect();
    // NumPy keeps a signalling NaN. Here it becomes quiet, as it does in the processor.
    let is_nan = |bits: u32| f32::from_bits(bits).is_nan();
    let f16: Vec<u32> = f16.iter().map(|&bits| if is_nan(bits) { bits | 0x0040_0000 } else { bits }).collect();
    let patterns: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    assert_converts(DataType::F16, &patterns, &f16);

    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for (data_type, table) in [(DataType::F8143, "float8/e4m3fnuz.txt"), (DataType::F8152, "float8/e5m2fnuz.txt")] {
        let table = float8_table(table);
        let expected: Vec<u32> = bytes.iter().map(|&byte| table[usize::from(byte)]).collect();
        assert_converts(data_type, &bytes, &expected);
    }
}

fn assert_converts(data_type: DataType, bytes: &[u8], expected: &[u32]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.popef");
    let mut writer = Writer::create(&path).unwrap();
    let tensor_info = TensorInfo::new(data_type, [i64::try_from(expected.len()).unwrap()]);
    for name in ["aligned", "odd"] {
        let info = TensorDataInfo { name: name.into(), tensor_info: tensor_info.clone() };
        writer.write_tensor_bytes(&info, bytes).unwrap();
        writer.write_opaque(&OpaqueInfo::default(), &[0]).unwrap();
    }
    writer.finish().unwrap();
    for (way, file) in ways(&path) {
        let file = file.unwrap();
        for name in ["aligned", "odd"] {
            let elements = file.tensor(name).unwrap().elements().unwrap();
            let mut buffer = vec![0.0; expected.len()];
            elements.convert_into(&mut buffer).unwrap();
            let bits = buffer.iter().map(|x| x.to_bits());
            let wrong = (0..).zip(bits).zip(expected).find(|((_, found), expected)| found != *expected);
            assert_eq!(wrong, None::<((usize, u32), &u32)>, "{data_type} {name} {way}");
        }
    }
}

#[test]
fn converting_too_much_or_another_type_is_an_error() {
    let file = File::open(testdata("elements/elements.popef")).unwrap();
    let elements = file.tensor("f16 odd").unwrap().elements().unwrap();

    let error = elements.convert_into(&mut [0.0; 11]).unwrap_err();
    assert_eq!((error.code(), error.needed(), error.found()), (ErrorCode::BufferTooSmall, Some(12), Some(11)));
    assert_eq!(error.reason(), "the buffer for the converted elements needs room for 12, and has room for 11");
    for (start, end) in [(0, 13), (13, 13), (u64::MAX, u64::MAX), (5, 4)] {
        let error = elements.range(start..end).unwrap_err();
        assert_eq!((error.code(), error.needed(), error.found()), (ErrorCode::NoSuchElements, Some(end), Some(12)));
    }
    let part = elements.range(2..9).unwrap();
    assert_eq!(part.range(3..8).unwrap_err().reason(), "the elements from 3 to 8 were asked for, but there are 7");
    let none = part.range(7..7).unwrap();
    assert!(none.is_empty() && !part.is_empty());
    assert!(none.convert_into(&mut []).unwrap().is_empty());

    let file = File::open(testdata("interop/all-types.popef")).unwrap();
    let error = file.tensor("t_f8").unwrap().elements().unwrap().convert_into(&mut [0.0; 6]).unwrap_err();
    assert!(error.to_string().contains("elements of type F8 cannot be shown as numbers"), "{error}");
}

/// All 256 values of both formats, to the bit.
#[test]
#[cfg_attr(miri, ignore = "its many values take half a minute there")]
fn the_8_bit_floats_are_those_of_ml_dtypes() {
    fn check(table: &str, decode: impl Fn(u8) -> f32) {
        for (byte, bits) in (0..=255).zip(float8_table(table)) {
            assert_eq!(decode(byte).to_bits(), bits, "{table}: byte {byte:#04x}");
        }
    }
    check("float8/e4m3fnuz.txt", |byte| F8143::from_bits(byte).to_f32());
    check("float8/e5m2fnuz.txt", |byte| F8152::from_bits(byte).to_f32());
}

#[test]
#[cfg_attr(miri, ignore = "its numbers are read from JSON, which takes minutes there")]
fn floats_become_the_8_bit_floats_that_ml_dtypes_makes_of_them() {
    fn check(table: &str, cast: impl Fn(f32) -> u8, saturate: impl Fn(f32) -> u8) {
        let text = String::from_utf8(read(table)).unwrap();
        for line in text.lines() {
            let [bits, expected, saturated] = line.split(' ').map(hex).collect::<Vec<_>>().try_into().unwrap();
            let value = f32::from_bits(bits);
            let found = (u32::from(cast(value)), u32::from(saturate(value)));
            assert_eq!(found, (expected, saturated), "{table}: {value} ({bits:#010x})");
        }
        assert_eq!(text.lines().count(), 1554);
    }
    check(
        "float8/e4m3fnuz-from.txt",
        |value| F8143::from_f32(value).to_bits(),
        |value| F8143::from_f32_saturating(value).to_bits(),
    );
    check(
        "float8/e5m2fnuz-from.txt",
        |value| F8152::from_f32(value).to_bits(),
        |value| F8152::from_f32_saturating(value).to_bits(),
    );
}

#[cfg(feature = "serde")]
#[test]
fn the_8_bit_floats_serialise_as_their_bits() {
    let floats = [F8143::from_f32(1.0), F8143::NAN];
    assert_eq!(serde_json::to_string(&floats).unwrap(), "[64,128]");
    assert_eq!(serde_json::from_str::<[F8143; 2]>("[64,128]").unwrap(), floats);
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

/// The bits of the `f32` for each byte.
fn float8_table(name: &str) -> [u32; 256] {
    let mut table = [0; 256];
    let text = String::from_utf8(read(name)).unwrap();
    assert_eq!(text.lines().count(), 256);
    for (line, byte) in text.lines().zip(0..) {
        let (found, bits) = line.split_once(' ').unwrap();
        assert_eq!(hex(found), byte);
        table[byte as usize] = hex(bits);
    }
    table
}

#[test]
fn a_value_is_shown_with_as_few_digits_as_identify_it() {
    let values = [
        (Value::Bool(true), "true"),
        (Value::Int(-5), "-5"),
        (Value::UInt(u64::MAX), "18446744073709551615"),
        (Value::F32(0.1), "0.1"),
        (Value::F32(16_777_216.0), "16777216.0"),
        (Value::F64(1e300), "1e300"),
        (Value::F64(f64::NEG_INFINITY), "-inf"),
    ];
    for (value, shown) in values {
        assert_eq!(value.to_string(), shown);
    }
}

#[test]
fn elements_can_be_read_from_bytes_of_the_caller() {
    let info = TensorInfo::new(DataType::F32, [2, 2]);
    let bytes: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0, 5.0].into_iter().flat_map(f32::to_le_bytes).collect();
    let elements = Elements::from_bytes(&info, &bytes).unwrap();
    assert_eq!(*elements.to_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let error = Elements::from_bytes(&info, &bytes[..15]).unwrap_err();
    assert_eq!((error.code(), error.needed(), error.found()), (ErrorCode::DataTooShort, Some(16), Some(15)));
    assert_eq!((error.blob(), error.offset()), (None, None));
    let error = elements.to_slice::<f64>().unwrap_err();
    assert_eq!((error.code(), error.offset()), (ErrorCode::WrongElementType, None));
    let negative = TensorInfo::new(DataType::F32, [-1]);
    assert_eq!(Elements::from_bytes(&negative, &bytes).unwrap_err().code(), ErrorCode::NegativeDimension);
}

/// An error ends the values, so only the next one is certain.
#[test]
fn the_size_hint_of_values_is_right() {
    let file = File::open(testdata("elements/elements.popef")).unwrap();
    let elements = file.tensor("f16 odd").unwrap().elements().unwrap();
    let mut values = elements.values().unwrap();
    assert_eq!(values.size_hint(), (1, Some(12)));
    assert_eq!(values.by_ref().take(10).filter(Result::is_ok).count(), 10);
    assert_eq!(values.size_hint(), (1, Some(2)));
    assert_eq!(values.by_ref().count(), 2);
    assert_eq!(values.size_hint(), (0, Some(0)));
}

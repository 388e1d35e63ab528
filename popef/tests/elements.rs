//! Elements of every data type, against what NumPy and ml_dtypes say that they are.

mod common;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use common::{read, testdata, ways};
use half::f16;
use popef::{DataType, Element, Elements, ErrorKind, F8143, F8152, File};

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

/// Equal as doubles, to the bit, but for the many forms of NaN.
fn assert_same(found: impl IntoIterator<Item = f64>, expected: &[f64], what: &str) {
    let bits = |value: f64| if value.is_nan() { None } else { Some(value.to_bits()) };
    let found: Vec<_> = found.into_iter().map(bits).collect();
    assert_eq!(found, expected.iter().copied().map(bits).collect::<Vec<_>>(), "{what}");
}

fn typed_as_f64(elements: &Elements<'_>) -> Vec<f64> {
    fn all<T: Element + Debug>(elements: &Elements<'_>, to_f64: impl Fn(T) -> f64) -> Vec<f64> {
        elements.to::<T>().unwrap().iter().map(|&value| to_f64(value)).collect()
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
fn every_type_reads_aligned_and_not_in_every_way() {
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
fn the_items_of_a_feed_follow_each_other_without_gaps() {
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
            assert_eq!((error.kind(), error.needed(), error.found()), (ErrorKind::Usage, Some(3), Some(3)));
            assert_eq!(error.reason(), "item 3 was asked for, but the feed has 3");
        }
    }
}

#[test]
fn what_lies_aligned_in_memory_is_borrowed_and_the_rest_copied() {
    let path = testdata("elements/elements.popef");
    // SAFETY: nobody changes the file while a test reads it.
    let file = unsafe { File::map(&path) }.unwrap();
    let borrowed = |name: &str| {
        let cow = file.tensor(name).unwrap().elements().unwrap().to::<f64>().unwrap();
        matches!(cow, Cow::Borrowed(_))
    };
    assert!(borrowed("f64 aligned"));
    assert!(!borrowed("f64 odd"));
    let bools = file.tensor("bool odd").unwrap().elements().unwrap().to::<bool>().unwrap();
    assert!(matches!(bools, Cow::Borrowed(_)));
}

#[test]
fn asking_for_another_type_names_both() {
    let file = File::open(testdata("elements/elements.popef")).unwrap();
    let error = file.tensor("f16 odd").unwrap().elements().unwrap().to::<f32>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
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

    let errors = [elements.to::<bool>().unwrap_err(), elements.values().unwrap().find_map(Result::err).unwrap()];
    for error in errors {
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Damaged, Some(third as u64)));
        assert_eq!(error.reason(), "element 2 is 0x07, but a bool is 0 or 1");
    }
    let values: Vec<_> = elements.values().unwrap().collect();
    assert_eq!(values.len(), 3, "two values, one error, and then nothing");
}

#[test]
fn f8_is_not_taken_for_a_number() {
    let file = File::open(testdata("interop/all-types.popef")).unwrap();
    let elements = file.tensor("t_f8").unwrap().elements().unwrap();
    let error = elements.values().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("elements of type F8 cannot be shown as numbers"), "{error}");
    assert_eq!(elements.data().len(), 6, "its bytes are there all the same");
}

/// All 256 values of both formats, bit by bit, against a table that ml_dtypes made.
#[test]
fn the_8_bit_floats_are_those_of_ml_dtypes() {
    fn check(table: &str, decode: impl Fn(u8) -> f32) {
        let text = String::from_utf8(read(table)).unwrap();
        let lines: Vec<(u8, u32)> = text.lines().map(parse).collect();
        assert_eq!(lines.len(), 256);
        for (byte, bits) in lines {
            assert_eq!(decode(byte).to_bits(), bits, "{table}: byte {byte:#04x}");
        }
    }
    fn parse(line: &str) -> (u8, u32) {
        let hex = |text: &str| u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap();
        let (byte, bits) = line.split_once(' ').unwrap();
        (u8::try_from(hex(byte)).unwrap(), hex(bits))
    }
    check("float8/e4m3fnuz.txt", |byte| F8143(byte).to_f32());
    check("float8/e5m2fnuz.txt", |byte| F8152(byte).to_f32());
}

//! The header of `.npy` files: a magic, a version, and the literal of a Python dict. Only what numpy writes for plain
//! types is read.

use std::io::Read;

use popef::types::Text;
use popef::{DataType, TensorInfo};

use super::order::Layout;
use super::place::Place;
use super::types::{of_npy, to_npy};
use super::{Array, Stored, bad, unsupported};
use crate::error::Error;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// The most bytes of a header that are read. numpy itself refuses more than 10,000 by default.
const LONGEST: u32 = 64 << 10;
/// numpy aligns the data to this.
const ALIGNMENT: usize = 64;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The bytes before the data.
    pub(super) len: u64,
    pub(super) info: TensorInfo,
    pub(super) layout: Layout,
}

/// The array of an `.npy` file.
pub(super) fn array(file: &Place) -> Result<Array, Error> {
    let header = Header::read(&mut file.reader()?)?;
    let data = header.data_of(file.len())?;
    let place = file.part(header.len, data).ok_or_else(|| bad("the file is cut off"))?;
    let stored = if header.layout.is_plain(&header.info) {
        Stored::Plain(place)
    } else {
        Stored::Ordered { place, layout: header.layout }
    };
    let name = file.path().file_stem().unwrap_or_default();
    let name = Text::from(name.as_encoded_bytes()).into_owned();
    Ok(Array { name, info: header.info, said: None, is_keyed: false, stored })
}

impl Header {
    /// Reads the header at the beginning of a file.
    pub(super) fn read(file: &mut impl Read) -> Result<Header, Error> {
        let mut start = [0; 8];
        fill(file, &mut start)?;
        let [magic @ .., major, _minor] = start;
        if magic != MAGIC {
            return Err(bad("it does not begin like an .npy file"));
        }
        let (size, before) = match major {
            1 => {
                let mut size = [0; 2];
                fill(file, &mut size)?;
                (u32::from(u16::from_le_bytes(size)), 10)
            }
            2 | 3 => {
                let mut size = [0; 4];
                fill(file, &mut size)?;
                (u32::from_le_bytes(size), 12)
            }
            _ => return Err(unsupported(format!("version {major} of .npy files is unknown: 1 to 3 are known"))),
        };
        if size > LONGEST {
            return Err(bad(format!("the header has {size} bytes, and at most {LONGEST} are read")));
        }
        let mut text = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        fill(file, &mut text)?;
        let (info, layout) = Literal(&text).dict()?;
        Ok(Header { len: u64::from(size).saturating_add(before), info, layout })
    }

    /// The bytes of data of a file of `len` bytes, whose number must match the header.
    pub(super) fn data_of(&self, len: u64) -> Result<u64, Error> {
        let needed = self.info.size_in_bytes().map_err(|error| bad(error.to_string()))?;
        let found = len.saturating_sub(self.len);
        if needed == found {
            Ok(needed)
        } else {
            Err(bad(format!("the header needs {needed} bytes of data, and the file has {found}")))
        }
    }

    /// The header for a file with this array. `None` if the type is unknown or a dimension is negative.
    pub(crate) fn to_bytes(info: &TensorInfo) -> Option<Vec<u8>> {
        let name = to_npy(info.data_type)?;
        let order = if info.data_type.size() == Some(1) { '|' } else { '<' };
        let dimensions = info.shape.iter().map(|&extent| u64::try_from(extent).ok());
        let dimensions: Vec<String> = dimensions.map(|extent| Some(extent?.to_string())).collect::<Option<_>>()?;
        let comma = if dimensions.len() == 1 { "," } else { "" };
        let shape = dimensions.join(", ");
        let dict = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
        Some(padded(dict))
    }
}

/// A header with this dict. Version 2 if the length does not fit into version 1.
fn padded(dict: String) -> Vec<u8> {
    let with = |before: usize| {
        let len = dict.len().saturating_add(1).saturating_add(before).next_multiple_of(ALIGNMENT);
        len.saturating_sub(before)
    };
    let mut bytes = MAGIC.to_vec();
    let len = match u16::try_from(with(10)) {
        Ok(len) => {
            bytes.extend([1, 0]);
            bytes.extend(len.to_le_bytes());
            usize::from(len)
        }
        Err(_) => {
            let len = with(12);
            bytes.extend([2, 0]);
            bytes.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
            len
        }
    };
    let spaces = len.saturating_sub(dict.len()).saturating_sub(1);
    bytes.extend(dict.into_bytes());
    bytes.resize(bytes.len().saturating_add(spaces), b' ');
    bytes.push(b'\n');
    bytes
}

fn fill(file: &mut impl Read, buf: &mut [u8]) -> Result<(), Error> {
    file.read_exact(buf).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => bad("the header is cut off"),
        _ => Error::io("read the header", error),
    })
}

/// The rest of a Python literal.
struct Literal<'a>(&'a [u8]);

impl<'a> Literal<'a> {
    /// Reads the whole dict.
    fn dict(mut self) -> Result<(TensorInfo, Layout), Error> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.take(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            let is_again = match key {
                b"descr" => descr.replace(self.descr()?).is_some(),
                b"fortran_order" => fortran.replace(self.truth()?).is_some(),
                b"shape" => shape.replace(self.shape()?).is_some(),
                _ => return Err(bad(format!("the header has an unknown key: {}", Text::from(key)))),
            };
            if is_again {
                return Err(bad(format!("the header says {} twice", Text::from(key))));
            }
            if !self.take(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        self.space();
        if !self.0.is_empty() {
            return Err(bad("something follows the dict of the header"));
        }
        let missing = |key| bad(format!("the header does not say {key}"));
        let (data_type, big_endian) = descr.ok_or_else(|| missing("descr"))?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        Ok((TensorInfo::new(data_type, shape), Layout { big_endian, fortran }))
    }

    fn space(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    /// Skips a byte, if it is the next one after spaces.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let rest = self.0.strip_prefix(&[byte]);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(bad(format!("the header is no dict as numpy writes it: {} is missing", char::from(byte))))
        }
    }

    fn string(&mut self) -> Result<&'a [u8], Error> {
        let no_string = || bad("the header is no dict as numpy writes it: a string is missing");
        self.space();
        let (quote, rest) = match self.0 {
            [quote @ (b'\'' | b'"'), rest @ ..] => (*quote, rest),
            _ => return Err(no_string()),
        };
        let end = rest.iter().position(|byte| *byte == quote).ok_or_else(no_string)?;
        let (text, rest) = rest.split_at_checked(end).ok_or_else(no_string)?;
        self.0 = rest.get(1..).unwrap_or_default();
        Ok(text)
    }

    fn truth(&mut self) -> Result<bool, Error> {
        self.space();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(bad("fortran_order is neither True nor False"))
    }

    /// A tuple of integers. Python 2 wrote an `L` after some of them.
    fn shape(&mut self) -> Result<Vec<i64>, Error> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.take(b')') {
            self.space();
            let end = self.0.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at_checked(end).unwrap_or_default();
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            shape.push(digits.parse().map_err(|_| bad("a dimension is no number from 0 to 2^63 - 1"))?);
            self.0 = rest.strip_prefix(b"L").unwrap_or(rest);
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }

    /// The type of the elements, and whether their bytes are in big-endian order.
    fn descr(&mut self) -> Result<(DataType, bool), Error> {
        self.space();
        if self.0.starts_with(b"[") {
            return Err(unsupported("its elements are structures, which PopEF does not have"));
        }
        let descr = Text::from(self.string()?);
        let descr = descr.to_str().unwrap_or_default();
        let (order, name) = match descr.split_at_checked(1) {
            Some((order @ ("<" | ">" | "|"), name)) => (order, name),
            _ => return Err(bad(format!("{descr:?} is no type of numpy"))),
        };
        let data_type = of_npy(name).ok_or_else(|| unsupported(format!("PopEF has no type like numpy's {descr:?}")))?;
        let many = data_type.size() > Some(1);
        if many && order == "|" {
            return Err(bad(format!("the order of the bytes of {descr:?} is missing")));
        }
        Ok((data_type, many && order == ">"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dict: &str) -> Result<Header, Error> {
        Header::read(&mut &*padded(dict.to_owned()))
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        for shape in [vec![], vec![0], vec![3], vec![2, 3, 4], vec![1; 32], vec![123_456; 20_000]] {
            for &data_type in DataType::ALL {
                let info = TensorInfo::new(data_type, shape.clone());
                let bytes = Header::to_bytes(&info).unwrap();
                assert_eq!(bytes.len() % ALIGNMENT, 0);
                let read = Header::read(&mut &*bytes);
                if shape.len() == 20_000 {
                    assert!(bytes.starts_with(b"\x93NUMPY\x02\x00") && read.is_err(), "it is too long to be read");
                    continue;
                }
                let read = read.unwrap();
                assert_eq!((read.len, &read.info.shape), (bytes.len() as u64, &shape));
                assert_eq!(to_npy(read.info.data_type), to_npy(data_type));
            }
        }
        assert_eq!(Header::to_bytes(&TensorInfo::new(DataType::F32, [-1])), None);
        assert_eq!(Header::to_bytes(&TensorInfo::new(DataType::Other(99), [1])), None);
    }

    #[test]
    fn what_others_write_is_read() {
        let header = read(r#"{"shape":(2L,3),"fortran_order":True,"descr":">i4"}"#).unwrap();
        assert_eq!(header.info, TensorInfo::new(DataType::S32, [2, 3]));
        assert_eq!(header.layout, Layout { big_endian: true, fortran: true });
        let header = read("{'descr': '>u1', 'fortran_order': False, 'shape': ( )}").unwrap();
        assert_eq!((header.info, header.layout.big_endian), (TensorInfo::new(DataType::U8, []), false));
        assert_eq!(read("{'descr': '|V1', 'fortran_order': False, 'shape': ()}").unwrap().info.data_type, DataType::F8);
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let plain = "'fortran_order': False, 'shape': (2,)";
        for (dict, code) in [
            ("", "bad-array"),
            ("{}", "bad-array"),
            ("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "bad-array"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "bad-array"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "bad-array"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "bad-array"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "bad-array"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", "bad-array"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}", "bad-array"),
            ("{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", "unsupported-array"),
            (&format!("{{'descr': '|f4', {plain}}}"), "bad-array"),
            (&format!("{{'descr': '=f4', {plain}}}"), "bad-array"),
            (&format!("{{'descr': '', {plain}}}"), "bad-array"),
            (&format!("{{'descr': 'é', {plain}}}"), "bad-array"),
            (&format!("{{'descr': '<c8', {plain}}}"), "unsupported-array"),
            (&format!("{{'descr': '|O', {plain}}}"), "unsupported-array"),
            (&format!("{{'descr': '<U5', {plain}}}"), "unsupported-array"),
            (&format!("{{'descr': [('a', '<f4')], {plain}}}"), "unsupported-array"),
        ] {
            assert_eq!(read(dict).unwrap_err().code(), code, "{dict}");
        }
        assert_eq!(
            Header::read(&mut &b"\x93NUMPY\x04\x00\x00\x00\x00\x00"[..]).unwrap_err().code(),
            "unsupported-array"
        );
        for cut in 0..padded(String::new()).len() {
            assert_eq!(Header::read(&mut &padded(String::new())[..cut]).unwrap_err().code(), "bad-array");
        }
    }
}

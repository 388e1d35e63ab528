//! The header of `.safetensors` files: its length, and JSON that says type, shape and place of each tensor.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};

use popef::types::Text;
use popef::{DataType, TensorInfo};
use safetensors::Dtype;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::place::{Place, PlaceReader};
use super::types::{is_float8, of_safetensors, to_safetensors};
use super::{Array, Said, Stored, bad, unsupported};
use crate::error::{Code, Error};
use crate::work::len_of;

/// The bytes before the JSON: its length.
const LEN: u64 = 8;
/// The most bytes of JSON that the format allows.
const LONGEST: u64 = 100_000_000;

/// The tensors of a file, in the order of their data. Only the place of each tensor's member in the header is kept.
#[derive(Debug)]
pub(super) struct Tensors {
    data: Place,
    header: Header,
    /// Where the member of each tensor begins in the header.
    members: Vec<u32>,
    /// The types that `__metadata__` gives for tensors of bytes, by hashes of their names, sorted.
    types: Vec<(u128, DataType)>,
    /// What else it says of tensors, in the same way. A tensor may be here twice.
    said: Vec<(u128, Said)>,
    hashers: [RandomState; 2],
}

/// A reader of the members of the header.
#[derive(Debug)]
struct Header {
    reader: BufReader<PlaceReader>,
    /// The position of the reader.
    at: u64,
}

/// A member of the header.
#[derive(Debug, Default)]
struct Member {
    /// Where it begins.
    at: u64,
    /// The JSON of its name and of its value.
    name: Vec<u8>,
    value: Vec<u8>,
}

/// The header's description of a tensor.
#[derive(Deserialize)]
struct Described {
    dtype: Dtype,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

fn damaged(error: impl fmt::Display) -> Error {
    bad(format!("the header is damaged: {error}"))
}

fn name_of(member: &Member) -> Result<String, Error> {
    serde_json::from_slice(&member.name).map_err(damaged)
}

impl Tensors {
    pub(super) fn open(file: &Place) -> Result<Self, Error> {
        let mut len = [0; 8];
        let found = file.read_up_to(0, &mut len)?.len();
        let len = u64::from_le_bytes(len);
        let data = len.checked_add(LEN).and_then(|start| file.from(start)).filter(|_| found == 8 && len <= LONGEST);
        let data =
            data.ok_or_else(|| bad(format!("the header claims {len} bytes, and the file has {}", file.len())))?;
        let json = file.part(LEN, len).ok_or_else(|| damaged("it is cut off"))?;
        let header = Header { reader: BufReader::new(json.reader()?), at: 0 };
        let hashers = [RandomState::new(), RandomState::new()];
        let mut tensors = Tensors { data, header, members: Vec::new(), types: Vec::new(), said: Vec::new(), hashers };
        tensors.read()?;
        Ok(tensors)
    }

    /// Reads the whole header.
    fn read(&mut self) -> Result<(), Error> {
        let (mut hashes, mut places) = (Vec::new(), Vec::new());
        let mut member = Member::default();
        self.header.begin()?;
        while self.header.next(&mut member, hashes.is_empty())? {
            let name = name_of(&member)?;
            hashes.push(self.hash(&name));
            if name == "__metadata__" {
                self.read_metadata(&member)?;
                continue;
            }
            let Described { dtype, shape, data_offsets: [start, end] } =
                serde_json::from_slice(&member.value).map_err(damaged)?;
            // Tensors of other types are refused only when they are requested.
            let needed = of_safetensors(dtype).map(|data_type| size_of_array(data_type, &shape));
            if end < start || needed.is_some_and(|needed| needed != end.checked_sub(start)) {
                return Err(damaged(format!("the size of tensor {name:?} is not that of its shape and type")));
            }
            places.push((start, end, u32::try_from(member.at).unwrap_or(u32::MAX)));
        }
        hashes.sort_unstable();
        if hashes.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(damaged("two tensors have one name"));
        }
        places.sort_unstable();
        let mut needed = 0;
        for (start, end, _) in &places {
            if *start != needed {
                return Err(damaged("the tensors do not follow each other"));
            }
            needed = *end;
        }
        if needed != self.data.len() {
            let message = format!("the header needs {needed} bytes of data, and the file has {}", self.data.len());
            return Err(bad(message));
        }
        self.members = places.into_iter().map(|(_, _, at)| at).collect();
        Ok(())
    }

    fn hash(&self, name: &str) -> u128 {
        let [one, other] = self.hashers.each_ref().map(|hasher| u128::from(hasher.hash_one(name)));
        one << 64 | other
    }

    /// Keeps what `__metadata__` says of tensors.
    fn read_metadata(&mut self, member: &Member) -> Result<(), Error> {
        let Texts(texts) = serde_json::from_slice(&member.value).map_err(damaged)?;
        for (key, text) in texts {
            if let Some(name) = key.strip_prefix(TYPE_KEY) {
                self.types.push((self.hash(name), float8_of(&key, &text)?));
            } else if let Some(name) = key.strip_prefix(NAME_KEY) {
                self.said.push((self.hash(name), Said { name: Some(text.into()), is_feed: false }));
            } else if let Some(name) = key.strip_prefix(KIND_KEY) {
                self.said.push((self.hash(name), Said { name: None, is_feed: is_feed(&key, &text)? }));
            }
        }
        self.types.sort_unstable_by_key(|(hash, _)| *hash);
        self.said.sort_unstable_by_key(|(hash, _)| *hash);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn array(&mut self, index: usize) -> Result<Option<Array>, Error> {
        let Some(at) = self.members.get(index) else { return Ok(None) };
        let mut member = Member::default();
        self.header.go_to(u64::from(*at))?;
        self.header.member(&mut member)?;
        let name = name_of(&member)?;
        let Described { dtype, shape, data_offsets: [start, end] } =
            serde_json::from_slice(&member.value).map_err(damaged)?;
        let data_type = of_safetensors(dtype)
            .ok_or_else(|| unsupported(format!("tensor {name:?} is of type {dtype}, which PopEF does not have")))?;
        let missing = || damaged(format!("tensor {name:?} is not in the file"));
        let shape = shape.into_iter().map(i64::try_from).collect::<Result<Vec<_>, _>>().map_err(|_| missing())?;
        let place = end.checked_sub(start).and_then(|len| self.data.part(start, len)).ok_or_else(missing)?;
        let typed = self.type_of(&name).unwrap_or(data_type);
        if typed != data_type && data_type != DataType::U8 {
            let key = format!("{TYPE_KEY}{name}");
            let message = format!("{key:?} in __metadata__ is {typed}, but the tensor is of type {dtype}, and not U8");
            return Err(bad(message));
        }
        let (info, said) = (TensorInfo::new(typed, shape), self.said_of(&name));
        Ok(Some(Array { stored: Stored::Plain(place), name: name.into(), info, said, is_keyed: true }))
    }

    /// The type that `__metadata__` gives for a tensor.
    fn type_of(&self, name: &str) -> Option<DataType> {
        if self.types.is_empty() {
            return None;
        }
        let at = self.types.binary_search_by_key(&self.hash(name), |(hash, _)| *hash).ok()?;
        self.types.get(at).map(|(_, data_type)| *data_type)
    }

    /// What else `__metadata__` says of a tensor.
    fn said_of(&self, name: &str) -> Option<Said> {
        let hash = if self.said.is_empty() { return None } else { self.hash(name) };
        let start = self.said.partition_point(|(known, _)| *known < hash);
        let all = self.said.iter().skip(start).take_while(|(known, _)| *known == hash).map(|(_, said)| said);
        all.cloned().reduce(|one, other| Said { name: one.name.or(other.name), is_feed: one.is_feed | other.is_feed })
    }
}

/// The type of 8-bit floats that a text in `__metadata__` stands for.
fn float8_of(key: &str, text: &str) -> Result<DataType, Error> {
    // Programs write it, and not people, who call types by other names too.
    let is_its_name = |data_type: &DataType| data_type.schema_name() == Some(text.to_ascii_lowercase().as_str());
    let data_type = DataType::ALL.iter().copied().find(|data_type| is_float8(*data_type) && is_its_name(data_type));
    data_type.ok_or_else(|| bad(format!("{key:?} in __metadata__ is {text:?}, and it can only be F8, F8143 or F8152")))
}

fn is_feed(key: &str, text: &str) -> Result<bool, Error> {
    match text {
        FEED => Ok(true),
        _ => Err(bad(format!("{key:?} in __metadata__ is {text:?}, and it can only be {FEED}"))),
    }
}

fn size_of_array(data_type: DataType, shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(data_type.size()?, |size, extent| size.checked_mul(*extent))
}

/// The members of `__metadata__`, each of another name.
struct Texts(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(member) = map.next_entry()? {
                    texts.push(member);
                }
                texts.sort_unstable();
                let is_again = |pair: &[(String, String)]| matches!(pair, [one, other] if one.0 == other.0);
                if texts.windows(2).any(is_again) {
                    Err(A::Error::custom("__metadata__ has a key twice"))
                } else {
                    Ok(Texts(texts))
                }
            }
        }
        object.deserialize_map(Members)
    }
}

/// Finds where members begin and end. Their contents are checked when they are parsed.
impl Header {
    fn peek(&mut self) -> Result<u8, Error> {
        let bytes = self.reader.fill_buf().map_err(|error| Error::io("read the header", error))?;
        bytes.first().copied().ok_or_else(|| damaged("it is cut off"))
    }

    fn skip(&mut self) {
        self.reader.consume(1);
        self.at = self.at.saturating_add(1);
    }

    fn take(&mut self, into: &mut Vec<u8>) -> Result<u8, Error> {
        let byte = self.peek()?;
        self.skip();
        into.push(byte);
        Ok(byte)
    }

    /// The next byte other than a space.
    fn peek_solid(&mut self) -> Result<u8, Error> {
        while matches!(self.peek()?, b' ' | b'\t' | b'\r' | b'\n') {
            self.skip();
        }
        self.peek()
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Error> {
        if self.peek_solid()? != wanted {
            return Err(damaged(format!("{:?} is missing at byte {}", char::from(wanted), self.at)));
        }
        self.skip();
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.expect(b'{')
    }

    /// Reads the next member. False at the end.
    fn next(&mut self, member: &mut Member, is_first: bool) -> Result<bool, Error> {
        if self.peek_solid()? == b'}' {
            self.skip();
            return self.end().map(|()| false);
        }
        if !is_first {
            self.expect(b',')?;
        }
        self.peek_solid()?;
        self.member(member).map(|()| true)
    }

    /// Fails unless only spaces follow.
    fn end(&mut self) -> Result<(), Error> {
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).map_err(|error| Error::io("read the header", error))?;
        self.at = self.at.saturating_add(len_of(&rest));
        match rest.trim_ascii() {
            [] => Ok(()),
            _ => Err(damaged("something follows its last member")),
        }
    }

    fn go_to(&mut self, at: u64) -> Result<(), Error> {
        let by = i64::try_from(i128::from(at).saturating_sub(i128::from(self.at))).unwrap_or(i64::MAX);
        self.reader.seek_relative(by).map_err(|error| Error::io("read the header", error))?;
        self.at = at;
        Ok(())
    }

    fn member(&mut self, member: &mut Member) -> Result<(), Error> {
        member.at = self.at;
        member.name.clear();
        member.value.clear();
        self.text(&mut member.name)?;
        self.expect(b':')?;
        if self.peek_solid()? != b'{' {
            return Err(damaged(format!("{:?} is no object", Text::from(&*member.name))));
        }
        self.object(&mut member.value)
    }

    fn text(&mut self, into: &mut Vec<u8>) -> Result<(), Error> {
        if self.take(into)? != b'"' {
            return Err(damaged(format!("a name is missing before byte {}", self.at)));
        }
        loop {
            match self.take(into)? {
                b'"' => return Ok(()),
                b'\\' => _ = self.take(into)?,
                _ => {}
            }
        }
    }

    fn object(&mut self, into: &mut Vec<u8>) -> Result<(), Error> {
        let mut depth = 0u64;
        loop {
            match self.peek()? {
                b'"' => self.text(into)?,
                byte => {
                    self.take(into)?;
                    match byte {
                        b'{' | b'[' => depth = depth.saturating_add(1),
                        b'}' | b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// The prefix of the keys in `__metadata__` that state the type of a tensor whose elements are written as bytes.
const TYPE_KEY: &str = "popef.dataType.";
/// The same for the name of a tensor that is not its key, and for a tensor that was a feed.
const NAME_KEY: &str = "popef.name.";
const KIND_KEY: &str = "popef.kind.";
const FEED: &str = "feed";

/// A tensor that is written: its key, shape and type, and what only `__metadata__` can say of it.
pub(crate) type Written = (String, TensorInfo, Said);

/// Writes what comes before the data of these tensors, which `tensors` gives twice with their names in the order of their data.
/// Nothing of them is kept.
pub(crate) fn write_header<I: Iterator<Item = Written>>(
    tensors: &dyn Fn() -> I,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut len = Counter(0);
    write_json(tensors, &mut len)?;
    // Padding aligns the data in a mapped file.
    let padded = len.0.checked_next_multiple_of(8).filter(|len| *len <= LONGEST);
    let padded = padded.ok_or_else(|| {
        let message = format!("the header of a .safetensors file has at most {LONGEST} bytes, and this needs more");
        Error::new(Code::WrongArguments, format!("{message}; choose fewer tensors or another form"))
    })?;
    out.write_all(&padded.to_le_bytes())?;
    write_json(tensors, out)?;
    Ok(io::copy(&mut io::repeat(b' ').take(padded.saturating_sub(len.0)), out).map(drop)?)
}

fn write_json<I: Iterator<Item = Written>>(tensors: &dyn Fn() -> I, out: &mut dyn Write) -> io::Result<()> {
    let mut before = "{";
    for (key, text) in tensors().flat_map(|(key, info, said)| metadata_of(&key, &info, said)) {
        out.write_all(if before == "{" { b"{\"__metadata__\":{" } else { b"," })?;
        before = "},";
        serde_json::to_writer(&mut *out, &key)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, &text)?;
    }
    let mut start = 0u64;
    for (name, info, _) in tensors() {
        let unsupported = || io::Error::other(format!("{} is no type of .safetensors files", info.data_type));
        let dtype = to_safetensors(info.data_type).ok_or_else(unsupported)?.to_string();
        let len = info.size_in_bytes().map_err(io::Error::other)?;
        let end = start.checked_add(len).ok_or(io::ErrorKind::FileTooLarge)?;
        out.write_all(before.as_bytes())?;
        before = ",";
        serde_json::to_writer(&mut *out, &name)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, &Tensor { dtype, shape: info.shape, data_offsets: [start, end] })?;
        start = end;
    }
    out.write_all(match before {
        "{" => b"{}",
        "}," => b"}}",
        _ => b"}",
    })
}

/// The members of `__metadata__` for a tensor. Names that are no UTF-8 cannot be there.
fn metadata_of(key: &str, info: &TensorInfo, said: Said) -> impl Iterator<Item = (String, String)> + use<> {
    let data_type = is_float8(info.data_type).then(|| (format!("{TYPE_KEY}{key}"), info.data_type.to_string()));
    let name = said.name.and_then(|name| Some((format!("{NAME_KEY}{key}"), name.to_str().ok()?.to_owned())));
    let kind = said.is_feed.then(|| (format!("{KIND_KEY}{key}"), FEED.to_owned()));
    [data_type, name, kind].into_iter().flatten()
}

/// What the header says of a tensor.
#[derive(Serialize)]
struct Tensor {
    dtype: String,
    shape: Vec<i64>,
    data_offsets: [u64; 2],
}

/// Counts what is written.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(len_of(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Places in metadata, as they are typed: `numIpus`, `engineOptions[NAME]`, `anchors[NAME].tensorInfo.shape`.

use std::fmt;

use popef::seam::named;
use popef::types::{Text, is_hidden};

use super::value::Kind;
use crate::error::{Code, Error};
use crate::near::did_you_mean;

/// A field: its key in JSON, with dots between the keys of nested objects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) kind: Kind,
}

const fn field(key: &'static str, kind: Kind) -> Field {
    Field { key, kind }
}

/// The fields of metadata other than lists of elements.
pub(super) static METADATA: [Field; 12] = [
    field("replicationFactor", Kind::Number),
    field("numIpus", Kind::Number),
    field("numProcesses", Kind::Number),
    field("ipuVersion", Kind::Number),
    field("isPOD", Kind::Flag),
    field("isInference", Kind::Flag),
    field("deviceIterations", Kind::Number),
    field("executable", Kind::Text),
    field("seedHandle", Kind::Text),
    field("programFlow.load", Kind::Numbers),
    field("programFlow.main", Kind::Numbers),
    field("programFlow.save", Kind::Numbers),
];

static ANCHOR: [Field; 9] = [
    field("name", Kind::Text),
    field("type", Kind::Direction),
    field("handle", Kind::Text),
    field("tensorInfo.dataType", Kind::DataType),
    field("tensorInfo.shape", Kind::Shape),
    field("programs", Kind::Numbers),
    field("isPerReplica", Kind::Flag),
    field("useRemoteBuffers", Kind::Flag),
    field("repeats", Kind::Number),
];

static OPTION: [Field; 2] = [field("name", Kind::Text), field("value", Kind::Text)];

static PROGRAM: [Field; 2] = [field("index", Kind::Number), field("name", Kind::Text)];

named! {
    /// A list of metadata. Inputs and outputs are the anchors of that direction.
    pub(super) enum List {
        EngineOptions = "engineOptions",
        DeviceOptions = "deviceOptions",
        ProgramsMap = "programsMap",
        Anchors = "anchors",
        Inputs = "inputs",
        Outputs = "outputs",
    }
}

impl List {
    pub(super) fn named(name: &str) -> Result<List, Error> {
        let list = List::ALL.iter().copied().find(|list| list.as_str() == name);
        list.ok_or_else(|| unknown(name, List::ALL.iter().map(|list| list.as_str())))
    }

    pub(super) fn fields(self) -> &'static [Field] {
        match self {
            List::EngineOptions | List::DeviceOptions => &OPTION,
            List::ProgramsMap => &PROGRAM,
            List::Anchors | List::Inputs | List::Outputs => &ANCHOR,
        }
    }

    /// The field that identifies elements.
    pub(super) fn key(self) -> &'static str {
        if self == List::ProgramsMap { "index" } else { "name" }
    }

    /// The default field: the value of an option, the name of a program.
    pub(super) fn main_field(self) -> Option<&'static Field> {
        match self {
            List::EngineOptions | List::DeviceOptions => OPTION.last(),
            List::ProgramsMap => PROGRAM.last(),
            List::Anchors | List::Inputs | List::Outputs => None,
        }
    }

    pub(super) fn field(self, key: &str) -> Result<&'static Field, Error> {
        find(self.fields(), key).ok_or_else(|| unknown(key, self.fields().iter().map(|field| field.key)))
    }
}

/// A place in metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Path {
    Field(&'static Field),
    List(List),
    /// An element of a list, or a field of it.
    Element(List, Text<'static>, Option<&'static Field>),
}

fn find(fields: &'static [Field], key: &str) -> Option<&'static Field> {
    fields.iter().find(|field| field.key == key)
}

fn unknown<'k>(key: &str, known: impl Iterator<Item = &'k str> + Clone) -> Error {
    let near = did_you_mean(key, known.clone());
    let known = if near.is_empty() { format!("; there are {}", known.collect::<Vec<_>>().join(", ")) } else { near };
    Error::new(Code::UnknownField, format!("there is no field {key}{known}"))
}

impl Path {
    /// Reads a path, and returns what follows it.
    pub(super) fn read(text: &[u8]) -> Result<(Path, &[u8]), Error> {
        let (name, rest) = until(text, b"[=");
        let name = String::from_utf8_lossy(name);
        let Some(inside) = rest.strip_prefix(b"[") else { return Ok((Path::of_name(&name)?, rest)) };
        let list = List::named(&name)?;
        let (element, rest) = element(inside).ok_or_else(|| {
            let text = String::from_utf8_lossy(text);
            Error::new(Code::WrongArguments, format!("{text}: the bracket after {name} is not closed"))
        })?;
        let Some(field) = rest.strip_prefix(b".") else { return Ok((Path::Element(list, element, None), rest)) };
        let (field, rest) = until(field, b"=");
        Ok((Path::Element(list, element, Some(list.field(&String::from_utf8_lossy(field))?)), rest))
    }

    fn of_name(name: &str) -> Result<Path, Error> {
        if let Some(field) = find(&METADATA, name) {
            return Ok(Path::Field(field));
        }
        let list = List::ALL.iter().copied().find(|list| list.as_str() == name).map(Path::List);
        let known = METADATA.iter().map(|field| field.key).chain(List::ALL.iter().map(|list| list.as_str()));
        list.ok_or_else(|| with_dots(name).unwrap_or_else(|| unknown(name, known)))
    }
}

/// Returns the error for a field with misplaced dots: elements of lists are in brackets, and a field does not start
/// with its parent. `None` if another error is clearer.
fn with_dots(name: &str) -> Option<Error> {
    let (first, rest) = name.split_once('.')?;
    let list = List::ALL.iter().copied().find(|list| list.as_str() == first);
    let meant = match list {
        Some(list) if list.main_field().is_some() => format!("{first} is a list; did you mean {first}[{rest}]?"),
        Some(_) => format!("{first} is a list; write {first}[NAME].FIELD"),
        None if find(&METADATA, rest).is_some() => format!("did you mean {rest}?"),
        None if METADATA.iter().any(|field| field.key.starts_with(&format!("{first}."))) => return None,
        None => format!("for an option of the engine, write engineOptions[{name}]"),
    };
    Some(Error::new(Code::UnknownField, format!("there is no field {name}; {meant}")))
}

/// Splits a text before the first of these letters, or at its end.
fn until<'t>(text: &'t [u8], letters: &[u8]) -> (&'t [u8], &'t [u8]) {
    let len = text.iter().position(|letter| letters.contains(letter)).unwrap_or(text.len());
    text.split_at_checked(len).unwrap_or((text, &[]))
}

/// The name of an element, up to its closing bracket, and what follows that. A name in quotes is a text of JSON.
fn element(text: &[u8]) -> Option<(Text<'static>, &[u8])> {
    if text.starts_with(b"\"") {
        let mut quoted = serde_json::Deserializer::from_slice(text).into_iter::<String>();
        let name = quoted.next()?.ok()?;
        return Some((name.into(), text.get(quoted.byte_offset()..)?.strip_prefix(b"]")?));
    }
    let mut depth = 0usize;
    for (at, letter) in text.iter().enumerate() {
        match letter {
            b'[' => depth = depth.saturating_add(1),
            b']' if depth == 0 => {
                return Some((text.get(..at)?.to_owned().into(), text.get(at..)?.strip_prefix(b"]")?));
            }
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Shows the path as it can be typed.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Field(field) => f.write_str(field.key),
            Path::List(list) => f.write_str(list.as_str()),
            Path::Element(list, name, field) => {
                let name = name.to_string();
                let closed = format!("{name}]");
                let plain = element(closed.as_bytes()).is_some_and(|(read, rest)| read == *name && rest.is_empty());
                let plain = plain && !name.contains(is_hidden);
                let name = if plain { name } else { quoted(&name) };
                write!(f, "{}[{name}]", list.as_str())?;
                field.map_or(Ok(()), |field| write!(f, ".{}", field.key))
            }
        }
    }
}

/// A name as a string of JSON that has no hidden letters.
fn quoted(name: &str) -> String {
    let text = serde_json::Value::from(name).to_string();
    text.chars().fold(String::new(), |mut text, letter| {
        if is_hidden(letter) {
            text.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(letter);
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::Path;

    fn shown(text: &str) -> (String, &str) {
        let (path, rest) = Path::read(text.as_bytes()).unwrap();
        (path.to_string(), std::str::from_utf8(rest).unwrap())
    }

    #[test]
    fn paths_are_shown_as_they_are_read() {
        for path in [
            "numIpus",
            "programFlow.load",
            "anchors",
            "engineOptions[target.syncReplicasIndependently]",
            "anchors[a=b].repeats",
            "anchors[layer[0].weight].tensorInfo.shape",
            "inputs[].name",
            r#"outputs["a]b"].handle"#,
            r#"outputs["\"quoted"].handle"#,
            r#"outputs["two\nlines"].handle"#,
            "programsMap[5]",
        ] {
            assert_eq!(shown(path), (path.to_owned(), ""));
            assert_eq!(shown(&format!("{path}=a[b]=c")), (path.to_owned(), "=a[b]=c"));
        }
        assert_eq!(shown(r#"anchors["plain"].name"#).0, "anchors[plain].name");
    }

    #[test]
    fn mistakes_say_what_is_known() {
        for (path, error) in [
            ("numIPUs", "there is no field numIPUs; did you mean numIpus?"),
            ("anchors[a].repeat", "there is no field repeat; did you mean repeats?"),
            ("anchor[a].repeats", "there is no field anchor; did you mean anchors?"),
            (
                "engineOptions.debug.trace",
                "there is no field engineOptions.debug.trace; engineOptions is a list; did you mean engineOptions[debug.trace]?",
            ),
            ("anchors.a.repeats", "there is no field anchors.a.repeats; anchors is a list; write anchors[NAME].FIELD"),
            ("metadata.numIpus", "there is no field metadata.numIpus; did you mean numIpus?"),
            (
                "debug.trace",
                "there is no field debug.trace; for an option of the engine, write engineOptions[debug.trace]",
            ),
            (
                "programFlow.mian",
                "there is no field programFlow.mian; did you mean programFlow.main, programFlow.load or programFlow.save?",
            ),
            ("engineOptions[a].b", "there is no field b; there are name, value"),
            ("anchors[a", "anchors[a: the bracket after anchors is not closed"),
            ("anchors[\"a]", "anchors[\"a]: the bracket after anchors is not closed"),
            (
                "",
                "there is no field ; there are replicationFactor, numIpus, numProcesses, ipuVersion, isPOD, isInference, \
                  deviceIterations, executable, seedHandle, programFlow.load, programFlow.main, programFlow.save, \
                  engineOptions, deviceOptions, programsMap, anchors, inputs, outputs",
            ),
        ] {
            assert_eq!(Path::read(path.as_bytes()).unwrap_err().to_string(), error);
        }
    }
}

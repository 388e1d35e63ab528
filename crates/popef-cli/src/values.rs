//! Values of options.

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use popef_check::Loader;
use popef_open::path_of;
use popef_show::rules::Groups;
use popef_show::{Sort, When};
use poplar_inspect::profile::parse_bytes;

/// Parses one of several values by its name.
pub fn named<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = T>,
    name: fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<T> = values.into_iter().collect();
    PossibleValuesParser::new(values.iter().map(name)).try_map(move |given| {
        let value = values.iter().find(|value| name(value) == given);
        value.cloned().ok_or_else(|| format!("there is no {given}"))
    })
}

/// Parses the name of a format, and after a `=` the file that it goes to.
pub fn format_to<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = T>,
    name: fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = FormatTo<T>> {
    FormatsTo { values: values.into_iter().collect(), name }
}

/// A format, and the file that it goes to, if one is named with it.
#[derive(Clone, Debug)]
pub struct FormatTo<T> {
    /// The format.
    pub format: T,
    /// The file; `-` is standard output.
    pub file: Option<PathBuf>,
}

#[derive(Clone)]
struct FormatsTo<T> {
    values: Vec<T>,
    name: fn(&T) -> &'static str,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for FormatsTo<T> {
    type Value = FormatTo<T>;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<FormatTo<T>, clap::Error> {
        let text = value.to_str().ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))?;
        let (given, file) = text.split_once('=').map_or((text, None), |(given, file)| (given, Some(file)));
        let format = named(self.values.clone(), self.name).parse_ref(command, arg, OsStr::new(given))?;
        let file = file.map(|file| path().parse_ref(command, arg, OsStr::new(file))).transpose()?;
        Ok(FormatTo { format, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values.iter().map(|value| PossibleValue::new((self.name)(value)))))
    }
}

/// Parses a path or an address. An empty one is most likely a variable of the shell that is not set.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|path| {
        if path.is_empty() { Err("the name is empty; is a variable of the shell not set?") } else { Ok(path_of(path)) }
    })
}

/// Parses a whole number.
pub fn number<T: FromStr>(text: &str) -> Result<T, &'static str> {
    match text.parse() {
        Ok(number) if !text.starts_with('+') => Ok(number),
        _ if is_whole(text) => Err("this number is too large here"),
        _ => Err("this is not a whole number, such as 10"),
    }
}

/// Parses a whole number for a type that has no 0.
pub fn number_from_one<T: FromStr>(text: &str) -> Result<T, &'static str> {
    if text.bytes().all(|byte| byte == b'0') { Err("it must be a number from 1 on") } else { number(text) }
}

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a number of any size. Larger ones become `u64::MAX`, because no tensor has more elements.
pub fn count(text: &str) -> Result<u64, &'static str> {
    number(text).or_else(|wrong| if is_whole(text) { Ok(u64::MAX) } else { Err(wrong) })
}

/// Parses a number of bytes: with or without a unit, or in hexadecimal as `popef cat --hex` shows positions.
pub fn size(text: &str) -> Result<u64, &'static str> {
    let size = match text.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        _ => parse_bytes(text),
    };
    size.ok_or("this is not a size; write a number of bytes, or one with a unit, such as 4GiB, 500MB or 4096")
}

/// Parses a size that is not 0.
pub fn size_from_one(text: &str) -> Result<u64, &'static str> {
    size(text).and_then(|size| if size > 0 { Ok(size) } else { Err("a size must not be 0 here") })
}

/// Parses the maximum number of rows of a table.
pub fn top(text: &str) -> Result<usize, &'static str> {
    number_from_one(text).map(NonZeroUsize::get)
}

/// Parses when to use colours.
pub fn when() -> impl TypedValueParser<Value = When> {
    named(When::ALL.iter().copied(), |when| when.as_str())
}

/// Parses the id of a rule. It takes any text, because ids can be written in small letters, and unknown ids get a better message elsewhere.
/// Completions use the ids of `rules`.
pub fn rule_id(rules: fn() -> Groups) -> impl TypedValueParser<Value = String> {
    RuleId { rules }
}

#[derive(Clone)]
struct RuleId {
    rules: fn() -> Groups,
}

impl TypedValueParser for RuleId {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let rules = (self.rules)().into_iter().flat_map(|(_, rules)| rules);
        Some(Box::new(rules.map(|rule| PossibleValue::new(rule.id))))
    }
}

pub(crate) fn loader() -> impl TypedValueParser<Value = Loader> {
    named(Loader::ALL.iter().copied(), |loader| loader.as_str())
}

pub(crate) fn sort() -> impl TypedValueParser<Value = Sort> {
    named(Sort::ALL.iter().copied(), |sort| sort.as_str())
}

#[cfg(test)]
mod tests {
    use super::size_from_one;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in [
            ("1", 1),
            ("4096B", 4096),
            ("0x1000", 4096),
            ("4GiB", 4 << 30),
            ("4 GiB", 4 << 30),
            ("4g", 4 << 30),
            ("500MB", 500_000_000),
            ("2kb", 2000),
        ] {
            assert_eq!(size_from_one(text), Ok(expected), "{text}");
        }
        for wrong in ["", "0", "GiB", "-1", "+1", "1.5GiB", "4 apples", "99999999999TiB", "1e9", "0x", "0x+1", "0xg"] {
            assert!(size_from_one(wrong).is_err(), "{wrong}");
        }
    }
}

//! Values of options.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use popef_check::Loader;
use popef_open::path_of;
use popef_show::rules::Groups;
use popef_show::{Sort, When};

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

/// Parses a number of any size. Larger ones become `u64::MAX`, because no tensor has more elements.
pub fn count() -> impl TypedValueParser<Value = u64> {
    StringValueParser::new().try_map(|text| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().unwrap_or(u64::MAX)).ok_or("this is not a whole number, such as 10")
    })
}

/// Parses the maximum number of rows of a table.
pub fn top() -> impl TypedValueParser<Value = usize> {
    StringValueParser::new()
        .try_map(|text| text.parse().ok().filter(|rows| *rows > 0).ok_or("it must be a number from 1 on"))
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

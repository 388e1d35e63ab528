//! Values of options.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use popef_show::When;

/// One of several values, by its name.
pub(crate) fn named<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = T>,
    name: fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<T> = values.into_iter().collect();
    PossibleValuesParser::new(values.iter().map(name)).try_map(move |given| {
        let value = values.iter().find(|value| name(value) == given);
        value.cloned().ok_or_else(|| format!("there is no {given}"))
    })
}

pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|path| match path.is_empty() {
        true => Err("the name is empty; is a variable of the shell not set?"),
        false => Ok(PathBuf::from(path)),
    })
}

pub(crate) fn when() -> impl TypedValueParser<Value = When> {
    named(When::ALL, |when| when.name())
}

use super::NAMES;
use super::options::{Opt, Value, Words};

/// The script for fish.
pub(super) fn script(options: &[Opt]) -> String {
    let lines = |name: &&str| options.iter().map(|option| line(name, option)).collect::<String>();
    NAMES.iter().map(lines).collect()
}

fn line(name: &str, option: &Opt) -> String {
    let short = option.short.map(|short| format!(" -s {short}")).unwrap_or_default();
    let value = option.value.as_ref().map(value).unwrap_or_default();
    format!("complete -c {name}{short} -l {}{value} -d '{}'\n", option.long, quoted(&option.about))
}

/// A value that is only allowed after `=` is not required, so that fish does not take the next word for it.
fn value(value: &Value) -> String {
    let required = if value.attached { " -f" } else { " -x" };
    match &value.words {
        Words::One(words) => format!("{required} -a '{}'", words.join(" ")),
        Words::List(words) => format!("{required} -a '(__fish_append , {})'", words.join(" ")),
        Words::Path => " -r -F".to_owned(),
        Words::Any if value.attached => String::new(),
        Words::Any => required.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

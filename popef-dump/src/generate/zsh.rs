use super::NAMES;
use super::options::{Opt, Value, Words};

/// The script for zsh, for a file `_popef-dump` in a folder of `$fpath`, or to be sourced.
pub(super) fn script(options: &[Opt]) -> String {
    let specs: String = options.iter().map(|option| format!("        {} \\\n", spec(option))).collect();
    SCRIPT.replace("{specs}", &specs).replace("{names}", &NAMES.join(" "))
}

/// An option as `_arguments` takes it: `'--format=[what it does]:FORMAT:(text json)'`.
fn spec(option: &Opt) -> String {
    let Opt { short, long, about, value } = option;
    let equals = match value {
        None => "",
        Some(Value { attached: true, .. }) => "=-",
        Some(_) => "=",
    };
    let rest = format!("{equals}[{}]{}", escaped(about), value.as_ref().map(action).unwrap_or_default());
    match short {
        None => format!("'*--{long}{rest}'"),
        Some(short) => format!("'*'{{-{short},--{long}}}'{rest}'"),
    }
}

/// The message and what to offer. Two colons: the value can be missing. Words of a list can be typed in small letters, as the ids
/// of rules can.
fn action(value: &Value) -> String {
    let colons = if value.optional { "::" } else { ":" };
    let action = match &value.words {
        Words::One(words) => format!("({})", words.join(" ")),
        Words::List(words) => format!("_sequence compadd -M m\\:{{a-z}}={{A-Z}} - {}", words.join(" ")),
        Words::Path => "_files".to_owned(),
        Words::Any => " ".to_owned(),
    };
    format!("{colons}{}:{action}", value.name)
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
    text.replace('\'', "'\\''")
}

const SCRIPT: &str = r#"#compdef {names}

_popef-dump() {
    _arguments -s -S : \
{specs}        '*:FILE:_files'
}

if [ "$funcstack[1]" = _popef-dump ]; then
    _popef-dump "$@"
else
    compdef _popef-dump {names}
fi
"#;

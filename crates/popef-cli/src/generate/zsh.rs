use super::options::{Opt, Program, Value, Words};

/// The script of a program without commands, for a file `_NAME` in a folder of `$fpath`, or to be sourced.
pub(super) fn script(program: &Program, names: &[&str]) -> String {
    filled(program, names, &arguments(program, 4))
}

pub(super) fn script_with_commands(program: &Program, names: &[&str]) -> String {
    filled(program, names, &format!("{LOCALS}{}", body(program, 4)))
}

fn filled(program: &Program, names: &[&str], body: &str) -> String {
    let function = if program.takes_names() { NAMES.replace("{program}", &program.name) } else { String::new() };
    SCRIPT
        .replace("{body}", body)
        .replace("{names_function}", &function)
        .replace("{function}", &format!("_{}", program.name))
        .replace("{names}", &names.join(" "))
}

/// The code that completes the options of a program, and its commands or arguments.
fn body(program: &Program, indent: usize) -> String {
    if program.commands.is_empty() {
        return arguments(program, indent);
    }
    let body = COMMANDS
        .replace("{specs}", &specs(program, 4))
        .replace("{describe}", &program.commands.iter().map(described).collect::<String>())
        .replace("{files}", if takes_files(program) { "    _files\n" } else { "" })
        .replace("{cases}", &program.commands.iter().map(case).collect::<String>())
        .replace("{other}", &if takes_files(program) { other(program) } else { String::new() });
    body.lines().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// The call of `_arguments` for a program without commands.
fn arguments(program: &Program, indent: usize) -> String {
    let specs = specs(program, indent + 4);
    let argument = match &program.arguments {
        Words::Path if program.second.is_some() => {
            let (second, names) =
                program.second.as_ref().map(|(name, names)| (name.as_str(), names.as_str())).unwrap_or_default();
            format!("'1:{}:_files' \\\n{:indent$}    '*:{second}: {{function}}_names {names}'", program.argument, "")
        }
        Words::Path => format!("'*:{}:_files'", program.argument),
        Words::Any => "'*: :()'".to_owned(),
        words => format!("'*:{}:{}'", program.argument, offer(words)),
    };
    format!("{:indent$}_arguments -s -S : \\\n{specs}{:indent$}    {argument}\n", "", "")
}

fn specs(program: &Program, indent: usize) -> String {
    program.options.iter().map(|option| format!("{:indent$}{} \\\n", "", spec(option))).collect()
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

/// The message and the offer. Two colons mean that the value can be missing.
fn action(value: &Value) -> String {
    let colons = if value.optional { "::" } else { ":" };
    format!("{colons}{}:{}", escaped(&value.name), offer(&value.words))
}

/// The offer for words. Those of a list, such as ids of rules, can be typed in small letters.
fn offer(words: &Words) -> String {
    match words {
        Words::One(words) => format!("({})", words.join(" ")),
        Words::List(words) => format!("_sequence compadd -M m\\:{{a-z}}={{A-Z}} - {}", words.join(" ")),
        Words::Path => "_files".to_owned(),
        // After a space, zsh runs the words as they are.
        Words::Names(names) => format!(" {{function}}_names {}", names.as_str()),
        Words::Any => " ".to_owned(),
    }
}

/// A command and what it does, as `_describe` takes it.
fn described(command: &Program) -> String {
    format!("        '{}:{}'\n", command.name, escaped(&command.about))
}

fn case(command: &Program) -> String {
    format!("    {})\n{}        ;;\n", command.name, body(command, 8))
}

/// Whether files can stand in the place of a command.
fn takes_files(program: &Program) -> bool {
    matches!(program.arguments, Words::Path)
}

/// The code that completes after a file in the place of a command.
fn other(program: &Program) -> String {
    format!("    *)\n{}        ;;\n", arguments(program, 8))
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
    text.replace('\'', "'\\''")
}

/// Asks the program for names out of the files on the line.
const NAMES: &str = r#"{function}_names() {
    local -a names=("${(@f)$(command {program} --__names $1 "${(Q)PREFIX}" "${(@Q)words[2,CURRENT-1]}" "${(@Q)words[CURRENT+1,-1]}" 2>/dev/null)}")
    names=(${names:#})
    if [[ $1 == rename ]]; then compadd -S '' -a names; else compadd -a names; fi
}

"#;

const SCRIPT: &str = r#"#compdef {names}

{names_function}{function}() {
{body}}

if [ "$funcstack[1]" = {function} ]; then
    {function} "$@"
else
    compdef {function} {names}
fi
"#;

const LOCALS: &str = "    local curcontext=$curcontext state line\n    local -a commands\n";

const COMMANDS: &str = r#"_arguments -s -S -C : \
{specs}    '1:command:->command' \
    '*::argument:->argument'
case $state in
command)
    commands=(
{describe}    )
    _describe -t commands command commands
{files}    ;;
argument)
    case $line[1] in
{cases}{other}    esac
    ;;
esac
"#;

use super::options::{Opt, Program, Value, Words};

/// The script of a program without commands.
pub(super) fn script(program: &Program, names: &[&str]) -> String {
    names.iter().map(|name| options(name, "", program)).fold(names_function(program), |script, lines| script + &lines)
}

/// The function that asks the program for names, if it is needed.
fn names_function(program: &Program) -> String {
    if !program.takes_names() {
        return String::new();
    }
    NAMES.replace("{function}", &function(program)).replace("{program}", &program.name)
}

/// Functions of fish are global.
fn function(program: &Program) -> String {
    format!("__{}_names", program.name.replace('-', "_"))
}

pub(super) fn script_with_commands(program: &Program, names: &[&str]) -> String {
    let commands: Vec<_> = program.all_commands().iter().map(|(command, _)| format!("'{command}'")).collect();
    let find = FIND.replace("{name}", &program.name).replace("{commands}", &commands.join(" "));
    names
        .iter()
        .map(|name| with_commands(name, program))
        .fold(names_function(program) + &find, |script, lines| script + &lines)
}

/// The commands, and the options and arguments of each. Conditions say which command is on the line.
fn with_commands(name: &str, program: &Program) -> String {
    let is = |command: &str| format!(" -n '__{}_is \"{command}\"'", program.name);
    let function = &function(program);
    let options = |name: &str, condition: &str, program: &Program| options_with(name, condition, program, function);
    let mut lines = options(name, &is(""), program) + &commands(name, &is(""), program);
    for (typed, command) in program.all_commands() {
        let is = is(&typed);
        lines += &options(name, &is, command);
        lines += &match &command.arguments {
            _ if !command.commands.is_empty() => commands(name, &is, command),
            Words::One(words) => format!("complete -c {name}{is} -f -a '{}'\n", words.join(" ")),
            Words::List(words) => format!("complete -c {name}{is} -f -a '(__fish_append , {})'\n", words.join(" ")),
            Words::Path | Words::Names(_) | Words::Any => String::new(),
        };
        if let Some((_, names)) = &command.second {
            // Where a file has names, other files are not offered beside them.
            let has_names = format!(
                " -n '__{}_is \"{typed}\"; and count ({function} {}) >/dev/null'",
                program.name,
                names.as_str()
            );
            lines += &format!("complete -c {name}{has_names} -f -a '({function} {})'\n", names.as_str());
        }
    }
    lines
}

fn commands(name: &str, condition: &str, program: &Program) -> String {
    let only = if matches!(program.arguments, Words::Path) { "" } else { " -f" };
    let line = |command: &Program| {
        format!("complete -c {name}{condition}{only} -a {} -d '{}'\n", command.name, quoted(&command.about))
    };
    program.commands.iter().map(line).collect()
}

fn options(name: &str, condition: &str, program: &Program) -> String {
    options_with(name, condition, program, &function(program))
}

fn options_with(name: &str, condition: &str, program: &Program, function: &str) -> String {
    program.options.iter().map(|option| line(name, condition, option, function)).collect()
}

fn line(name: &str, condition: &str, option: &Opt, function: &str) -> String {
    let short = option.short.map(|short| format!(" -s {short}")).unwrap_or_default();
    let value = option.value.as_ref().map(|taken| value(taken, function)).unwrap_or_default();
    format!("complete -c {name}{condition}{short} -l {}{value} -d '{}'\n", option.long, quoted(&option.about))
}

/// A value that is only allowed after `=` is not required, so that fish does not take the next word for it.
fn value(value: &Value, function: &str) -> String {
    let required = if value.attached { " -f" } else { " -x" };
    match &value.words {
        Words::One(words) => format!("{required} -a '{}'", words.join(" ")),
        Words::List(words) => format!("{required} -a '(__fish_append , {})'", words.join(" ")),
        Words::Path => " -r -F".to_owned(),
        Words::Names(names) => format!("{required} -a '({function} {})'", names.as_str()),
        Words::Any if value.attached => String::new(),
        Words::Any => required.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// Whether the line has the given command, or none yet.
const FIND: &str = r#"function __{name}_is
    set -l command
    for word in (commandline -opc)[2..]
        set -l longer (string trim -- "$command $word")
        contains -- "$longer" {commands}
        and set command $longer
    end
    test "$command" = "$argv[1]"
end
"#;

/// Asks the program for names out of the files on the line.
const NAMES: &str = r#"function {function}
    command {program} --__names $argv[1] (commandline -ct | string collect) (commandline -op)[2..] 2>/dev/null
end
"#;

use super::options::{Opt, Program, Value, Words};

/// The script for fish.
pub(super) fn script(program: &Program, names: &[&str]) -> String {
    if program.commands.is_empty() {
        return names.iter().map(|name| options(name, "", program)).collect();
    }
    let find = FIND.replace("{name}", &program.name).replace("{commands}", &program.command_names().join(" "));
    names.iter().map(|name| with_commands(name, program)).fold(find, |script, lines| script + &lines)
}

/// The commands, and the options and arguments of each. Conditions say which command is on the line.
fn with_commands(name: &str, program: &Program) -> String {
    let is = |command: &str| format!(" -n '__{}_is \"{command}\"'", program.name);
    let mut lines = options(name, &is(""), program);
    for command in &program.commands {
        lines += &format!("complete -c {name}{} -f -a {} -d '{}'\n", is(""), command.name, quoted(&command.about));
    }
    for command in &program.commands {
        let is = is(&command.name);
        lines += &options(name, &is, command);
        lines += &match &command.arguments {
            Words::One(words) => format!("complete -c {name}{is} -f -a '{}'\n", words.join(" ")),
            Words::List(words) => format!("complete -c {name}{is} -f -a '(__fish_append , {})'\n", words.join(" ")),
            Words::Path | Words::Any => String::new(),
        };
    }
    lines
}

fn options(name: &str, condition: &str, program: &Program) -> String {
    program.options.iter().map(|option| line(name, condition, option)).collect()
}

fn line(name: &str, condition: &str, option: &Opt) -> String {
    let short = option.short.map(|short| format!(" -s {short}")).unwrap_or_default();
    let value = option.value.as_ref().map(value).unwrap_or_default();
    format!("complete -c {name}{condition}{short} -l {}{value} -d '{}'\n", option.long, quoted(&option.about))
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

/// Whether the command of the line is the given one, or whether there is none yet.
const FIND: &str = r#"function __{name}_is
    for word in (commandline -opc)[2..]
        if contains -- $word {commands}
            test "$word" = "$argv[1]"
            return
        end
    end
    test -z "$argv[1]"
end
"#;

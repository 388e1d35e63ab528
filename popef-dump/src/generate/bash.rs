use super::options::{Opt, Program, Value, Words};

/// The script for bash, 3.2 or later.
pub(super) fn script(program: &Program, names: &[&str]) -> String {
    let has_commands = !program.commands.is_empty();
    let of_commands = program.commands.iter().flat_map(|command| cases(&command.name, command));
    let cases: String = cases("", program).chain(of_commands).collect();
    let find =
        if has_commands { FIND.replace("{commands}", &program.command_names().join(" ")) } else { String::new() };
    let offer = match has_commands {
        true => OFFER_OF_COMMANDS.replace("{offers}", &offers(program)),
        false => OFFER.replace("{options}", &program.long_options().join(" ")),
    };
    SCRIPT
        .replace("{function}", &format!("_{}", program.name.replace('-', "_")))
        .replace("{variables}", if has_commands { " command='' options='' arguments='' several=''" } else { "" })
        .replace("{find}", &find)
        .replace("{command}", if has_commands { "$command" } else { "" })
        .replace("{cases}", &cases)
        .replace("{offer}", &offer)
        .replace("{names}", &names.join(" "))
}

/// What to offer after each option of a command.
fn cases<'p>(command: &'p str, program: &'p Program) -> impl Iterator<Item = String> + 'p {
    program.options.iter().filter_map(move |option| Some(case(command, option, option.value.as_ref()?)))
}

/// What to offer after an option. Its key begins with the name of the command, and then has `=` if the value is after `=`.
fn case(command: &str, option: &Opt, value: &Value) -> String {
    let mut keys = vec![format!("{command}=--{}", option.long)];
    keys.extend(option.short.map(|short| format!("{command}=-{short}")));
    if !value.attached {
        keys.push(format!("{command}--{}", option.long));
        keys.extend(option.short.map(|short| format!("{command}-{short}")));
    }
    let offer = match &value.words {
        Words::One(words) => format!("words='{}'", words.join(" ")),
        Words::List(words) => format!("words='{}' list=1", words.join(" ")),
        Words::Path => "return".to_owned(),
        Words::Any => "words=' '".to_owned(),
    };
    format!("    {}) {offer} ;;\n", keys.join("|"))
}

/// The options and arguments of each command, and those before a command.
fn offers(program: &Program) -> String {
    let commands = program.command_names().join(" ");
    let before = format!("        '') options='{}' arguments='{commands}' ;;\n", program.long_options().join(" "));
    let offer = |command: &Program| {
        let arguments = match &command.arguments {
            Words::One(words) => format!(" arguments='{}'", words.join(" ")),
            Words::List(words) => format!(" arguments='{}' several=1", words.join(" ")),
            Words::Path | Words::Any => String::new(),
        };
        format!("        {}) options='{}'{arguments} ;;\n", command.name, command.long_options().join(" "))
    };
    program.commands.iter().map(offer).fold(before, |text, offer| text + &offer)
}

/// Without replies, bash completes names of files itself, and does it better than a function can.
const SCRIPT: &str = r#"{function}() {
    local IFS=$' \t\n' word words='' list='' prefix='' equals='' option{variables} current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == -- ]] && return
{find}    done
    # Readline splits words at `=`, unless somebody took it out of COMP_WORDBREAKS.
    option=${COMP_WORDS[COMP_CWORD-1]}
    if [[ $current == -*=* ]]; then
        option=${current%%=*} current=${current#*=} prefix=$option= equals='='
    elif [[ $current == '=' ]]; then
        current='' equals='='
    elif [[ $option == '=' && COMP_CWORD -gt 2 ]]; then
        option=${COMP_WORDS[COMP_CWORD-2]} equals='='
    fi
    case {command}$equals$option in
{cases}    esac
{offer}    [[ -z $words ]] && return
    # Bash 3.2 has no compopt. It offers names of files where nothing else fits.
    compopt +o bashdefault +o default 2>/dev/null
    if [[ -n $list && $current == *,* ]]; then
        prefix=$prefix${current%,*}, current=${current##*,}
    fi
    # The ids of rules can be written in small letters.
    [[ $current == pe* ]] && current=PE${current#pe}
    COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$current"))
}

complete -o bashdefault -o default -F {function} {names}
"#;

/// Finds the command: the first word that is one. The value of an option before it is none.
const FIND: &str = "        [[ -z $command && ' {commands} ' == *\" $word \"* ]] && command=$word\n";

const OFFER: &str = r#"    if [[ -z $words && -z $equals && $current == -* ]]; then
        words='{options}'
    fi
"#;

const OFFER_OF_COMMANDS: &str = r#"    if [[ -z $words && -z $equals ]]; then
        case $command in
{offers}        esac
        if [[ $current == -* ]]; then words=$options; else words=$arguments list=$several; fi
    fi
"#;

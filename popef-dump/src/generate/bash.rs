use super::options::{Opt, Program, Value, Words};

/// The script of a program without commands, for bash 3.2 or later.
pub(super) fn script(program: &Program, names: &[&str]) -> String {
    let offer = OFFER.replace("{options}", &program.long_options().join(" "));
    let parts = [("{variables}", ""), ("{find}", ""), ("{command}", ""), ("{offer}", &offer)];
    filled(program, names, &cases("", program), parts)
}

/// The script of a program with commands.
pub(super) fn script_with_commands(program: &Program, names: &[&str]) -> String {
    let commands = program.all_commands();
    let of_commands = commands.iter().map(|(typed, command)| cases(&pattern(typed), command));
    let cases = of_commands.fold(cases("", program), |cases, more| cases + &more);
    let patterns: Vec<_> = commands.iter().map(|(typed, _)| pattern(typed)).collect();
    let find = FIND.replace("{commands}", &patterns.join("|"));
    let offer = OFFER_OF_COMMANDS.replace("{offers}", &offers(program));
    let variables = " command='' options='' arguments='' several='' files=''";
    let parts = [("{variables}", variables), ("{find}", &find), ("{command}", "$command"), ("{offer}", &offer)];
    filled(program, names, &cases, parts)
}

fn filled(program: &Program, names: &[&str], cases: &str, parts: [(&str, &str); 4]) -> String {
    let function = format!("_{}", program.name.replace('-', "_"));
    let script = parts.iter().fold(SCRIPT.to_owned(), |script, (place, part)| script.replace(place, part));
    script.replace("{function}", &function).replace("{cases}", cases).replace("{names}", &names.join(" "))
}

/// What to offer after each option of a command.
fn cases(command: &str, program: &Program) -> String {
    program.options.iter().filter_map(|option| Some(case(command, option, option.value.as_ref()?))).collect()
}

/// A command as a pattern of `case`: `tiles\ plan`.
fn pattern(typed: &str) -> String {
    typed.replace(' ', "\\ ")
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
    let offer = |(typed, command): (String, &Program)| {
        let arguments = match &command.arguments {
            Words::One(words) => format!(" arguments='{}'", words.join(" ")),
            Words::List(words) => format!(" arguments='{}' several=1", words.join(" ")),
            Words::Path if !command.commands.is_empty() => {
                format!(" arguments='{}' files=1", command.command_names().join(" "))
            }
            Words::Path | Words::Any => String::new(),
        };
        format!("        {}) options='{}'{arguments} ;;\n", pattern(&typed), command.long_options().join(" "))
    };
    program.all_commands().into_iter().map(offer).fold(before, |text, offer| text + &offer)
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

/// Finds the command: the first word that is one, and then the first that is one of its own. The value of an option before it
/// is none.
const FIND: &str = r#"        case ${command:+$command }$word in
        {commands}) command=${command:+$command }$word ;;
        esac
"#;

const OFFER: &str = r#"    if [[ -z $words && -z $equals && $current == -* ]]; then
        words='{options}'
    fi
"#;

const OFFER_OF_COMMANDS: &str = r#"    if [[ -z $words && -z $equals ]]; then
        case $command in
{offers}        esac
        if [[ $current == -* ]]; then words=$options; else words=$arguments list=$several; fi
        if [[ -n $files && $current != -* ]]; then
            # Beside commands, bash does not complete names of files itself.
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                COMPREPLY+=("$word")
            done < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")
            return
        fi
    fi
"#;

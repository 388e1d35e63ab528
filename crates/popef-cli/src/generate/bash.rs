use super::options::{Opt, Program, Value, Words};

/// The script of a program without commands, for bash 3.2 or later.
pub(super) fn script(program: &Program, names: &[&str]) -> String {
    let offer = OFFER.replace("{options}", &program.long_options().join(" "));
    let parts = [("{variables}", ""), ("{find}", ""), ("{command}", ""), ("{offer}", &offer)];
    filled(program, names, &cases("", program), parts)
}

pub(super) fn script_with_commands(program: &Program, names: &[&str]) -> String {
    let commands = program.all_commands();
    let of_commands = commands.iter().map(|(typed, command)| cases(&pattern(typed), command));
    let cases = of_commands.fold(cases("", program), |cases, more| cases + &more);
    let patterns: Vec<_> = commands.iter().map(|(typed, _)| pattern(typed)).collect();
    let find = FIND.replace("{commands}", &patterns.join("|"));
    let offer = OFFER_OF_COMMANDS.replace("{offers}", &offers(program));
    let variables = " command='' options='' arguments='' several='' files='' second=''";
    let parts = [("{variables}", variables), ("{find}", &find), ("{command}", "$command"), ("{offer}", &offer)];
    filled(program, names, &cases, parts)
}

fn filled(program: &Program, names: &[&str], cases: &str, parts: [(&str, &str); 4]) -> String {
    let function = format!("_{}", program.name.replace('-', "_"));
    let script = parts.iter().fold(SCRIPT.to_owned(), |script, (place, part)| script.replace(place, part));
    let (ask, offer) = if program.takes_names() { (NAMES, OFFER_NAMES) } else { ("", "") };
    let script = script.replace("{offer_names}", offer).replace("{names_function}", ask);
    let script = script.replace("{program}", &program.name);
    script.replace("{function}", &function).replace("{cases}", cases).replace("{names}", &names.join(" "))
}

/// The cases of what to offer after each option of a command.
fn cases(command: &str, program: &Program) -> String {
    program.options.iter().filter_map(|option| Some(case(command, option, option.value.as_ref()?))).collect()
}

/// A command as a pattern of `case`: `tiles\ plan`.
fn pattern(typed: &str) -> String {
    typed.replace(' ', "\\ ")
}

/// The case of what to offer after an option. Its key is the name of the command, and `=` if the value comes after `=`.
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
        Words::Names(names) => format!("names={}", names.as_str()),
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
            Words::Path | Words::Names(_) | Words::Any => String::new(),
        };
        let second =
            command.second.as_ref().map(|(_, names)| format!(" second={}", names.as_str())).unwrap_or_default();
        format!("        {}) options='{}'{arguments}{second} ;;\n", pattern(&typed), command.long_options().join(" "))
    };
    program.all_commands().into_iter().map(offer).fold(before, |text, offer| text + &offer)
}

/// Without replies, bash completes names of files itself, and does it better than a function can.
const SCRIPT: &str = r#"{names_function}{function}() {
    local IFS=$' \t\n' word words='' list='' prefix='' equals='' names='' cut='' at=$COMP_CWORD option{variables}
    local current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == -- ]] && return
{find}    done
    # Readline splits words at `:` and `=`, unless somebody took them out of COMP_WORDBREAKS.
    while ((at > 1)) && [[ $current == :* || ${COMP_WORDS[at-1]} == *: ]] &&
        [[ ${COMP_LINE:0:COMP_POINT} == *"${COMP_WORDS[at-1]}$current" ]]; do
        [[ $current == : ]] && cut=${COMP_WORDS[at-1]}: || cut=${COMP_WORDS[at-1]}$cut
        current=${COMP_WORDS[at-1]}$current
        at=$((at - 1))
    done
    option=${COMP_WORDS[at-1]}
    if [[ $current == -*=* ]]; then
        option=${current%%=*} current=${current#*=} prefix=$option= equals='='
    elif [[ $current == '=' ]]; then
        current='' equals='='
    elif [[ $option == '=' && at -gt 2 ]]; then
        option=${COMP_WORDS[at-2]} equals='='
    fi
    case {command}$equals$option in
{cases}    esac
{offer}{offer_names}    [[ -z $words ]] && return
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

const OFFER_NAMES: &str = r#"    [[ -n $names ]] && { {function}_names; return; }
"#;

/// Asks the program for names out of the files on the line. Without names, bash completes names of files.
const NAMES: &str = r#"{function}_names() {
    local name word quote=''
    [[ $current == [\"\']* ]] && quote=${current:0:1} current=${current:1}
    [[ $names == rename ]] && compopt -o nospace 2>/dev/null
    while IFS= read -r name; do
        if [[ -n $quote ]]; then
            # In quotes, other letters stand for themselves.
            [[ $name == *[\"\'\$\`!]* ]] && continue
            word=$name
        else
            printf -v word %q "$name"
        fi
        [[ $word == "$current"* ]] && COMPREPLY+=("$prefix${word#"$cut"}")
    done < <(command {program} --__names "$names" "$current" "${COMP_WORDS[@]:1:COMP_CWORD-1}" "${COMP_WORDS[@]:COMP_CWORD+1}" 2>/dev/null)
}

"#;

/// Finds the command: the first word that is a command, and then the first that is a command inside it. Values of options do not count.
const FIND: &str = r#"        case ${command:+$command }$word in
        {commands}) command=${command:+$command }$word ;;
        esac
"#;

const OFFER: &str = r#"    if [[ -z $words$names && -z $equals && $current == -* ]]; then
        words='{options}'
    fi
"#;

const OFFER_OF_COMMANDS: &str = r#"    if [[ -z $words$names && -z $equals ]]; then
        case $command in
{offers}        esac
        if [[ $current == -* ]]; then words=$options; else words=$arguments list=$several names=${names:-$second}; fi
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

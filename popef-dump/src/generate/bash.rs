use super::NAMES;
use super::options::{Opt, Value, Words};

/// The script for bash, 3.2 or later.
pub(super) fn script(options: &[Opt]) -> String {
    let words: Vec<_> = options.iter().map(|option| format!("--{}", option.long)).collect();
    let cases: String = options.iter().filter_map(|option| Some(case(option, option.value.as_ref()?))).collect();
    SCRIPT.replace("{options}", &words.join(" ")).replace("{cases}", &cases).replace("{names}", &NAMES.join(" "))
}

/// What to offer after an option. Its key begins with `=` if the value is after `=`.
fn case(option: &Opt, value: &Value) -> String {
    let mut keys = vec![format!("=--{}", option.long)];
    keys.extend(option.short.map(|short| format!("=-{short}")));
    if !value.attached {
        keys.push(format!("--{}", option.long));
        keys.extend(option.short.map(|short| format!("-{short}")));
    }
    let offer = match &value.words {
        Words::One(words) => format!("words='{}'", words.join(" ")),
        Words::List(words) => format!("words='{}' list=1", words.join(" ")),
        Words::Path => "return".to_owned(),
        Words::Any => "words=' '".to_owned(),
    };
    format!("    {}) {offer} ;;\n", keys.join("|"))
}

/// Without replies, bash completes names of files itself, and does it better than a function can.
const SCRIPT: &str = r#"_popef_dump() {
    local IFS=$' \t\n' word words='' list='' prefix='' equals='' option current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == -- ]] && return
    done
    # Readline splits words at `=`, unless somebody took it out of COMP_WORDBREAKS.
    option=${COMP_WORDS[COMP_CWORD-1]}
    if [[ $current == -*=* ]]; then
        option=${current%%=*} current=${current#*=} prefix=$option= equals='='
    elif [[ $current == '=' ]]; then
        current='' equals='='
    elif [[ $option == '=' && COMP_CWORD -gt 2 ]]; then
        option=${COMP_WORDS[COMP_CWORD-2]} equals='='
    fi
    case $equals$option in
{cases}    esac
    if [[ -z $words && -z $equals && $current == -* ]]; then
        words='{options}'
    fi
    [[ -z $words ]] && return
    # Bash 3.2 has no compopt. It offers names of files where nothing else fits.
    compopt +o bashdefault +o default 2>/dev/null
    if [[ -n $list && $current == *,* ]]; then
        prefix=$prefix${current%,*}, current=${current##*,}
    fi
    # The ids of rules can be written in small letters.
    [[ $current == pe* ]] && current=PE${current#pe}
    COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$current"))
}

complete -o bashdefault -o default -F _popef_dump {names}
"#;

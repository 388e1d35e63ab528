use std::io::{self, Write};

use clap::{Command, CommandFactory as _};
use clap_complete::shells::{Bash, Fish, Zsh};

use crate::args::{Args, Generate};

/// Completions or the manual page, for both names of the program where the format can do so.
pub(crate) fn write(what: Generate, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::new();
    for name in ["popef-dump", "popef_dump"] {
        let mut command = Args::command().name(name);
        match what {
            Generate::CompletionsBash => clap_complete::generate(Bash, &mut command, name, &mut text),
            Generate::CompletionsZsh => clap_complete::generate(Zsh, &mut command, name, &mut text),
            Generate::CompletionsFish => clap_complete::generate(Fish, &mut command, name, &mut text),
            Generate::Man => return manual(command, out),
        }
    }
    out.write_all(&text)
}

fn manual(command: Command, out: &mut impl Write) -> io::Result<()> {
    clap_mangen::Man::new(command).render(out)
}

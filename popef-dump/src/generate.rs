//! Completions and the manual page of `popef-dump`.

use std::io::{self, Write};

use clap::CommandFactory as _;
use popef_cli::generate::{MANUAL_WIDTH, Shell, completions, manual};
use popef_cli::sections::{Section, lines};

use crate::args::{Args, Generate};
use crate::sections::SECTIONS;

/// Writes the completions or the manual page.
pub(crate) fn write(what: Generate, out: &mut impl Write) -> io::Result<()> {
    let script = |shell| completions(shell, &Args::command(), &["popef-dump", "popef_dump"]);
    match what {
        Generate::CompletionsBash => out.write_all(script(Shell::Bash).as_bytes()),
        Generate::CompletionsFish => out.write_all(script(Shell::Fish).as_bytes()),
        Generate::CompletionsZsh => out.write_all(script(Shell::Zsh).as_bytes()),
        Generate::Man => {
            let text = |(heading, rows): &Section| ((*heading).to_owned(), lines(rows, MANUAL_WIDTH));
            manual(out, Args::command(), SECTIONS.iter().map(text))
        }
    }
}

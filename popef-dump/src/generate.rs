//! Shell completions and the manual page, made from the options' own definition.

use std::io::{self, Write};

use clap::CommandFactory as _;
use clap_complete::shells::{Bash, Fish, Zsh};
use clap_complete::{Generator, generate};

use crate::args::{Args, Generate, SECTIONS};

const NAME: &str = "popef-dump";
const NAMES: [&str; 2] = [NAME, "popef_dump"];

pub(crate) fn write(what: Generate, out: &mut impl Write) -> io::Result<()> {
    match what {
        Generate::CompletionsBash => NAMES.iter().try_for_each(|name| out.write_all(&completions(Bash, name))),
        Generate::CompletionsFish => NAMES.iter().try_for_each(|name| out.write_all(&completions(Fish, name))),
        Generate::CompletionsZsh => out.write_all(zsh().as_bytes()),
        Generate::Man => manual(out),
    }
}

fn completions(shell: impl Generator, name: &str) -> Vec<u8> {
    let mut text = Vec::new();
    generate(shell, &mut Args::command(), name, &mut text);
    text
}

/// A file of zsh completes for the names in its first line, so one function has to serve both.
fn zsh() -> String {
    let text = String::from_utf8_lossy(&completions(Zsh, NAME)).into_owned();
    let both = NAMES.join(" ");
    let text = text.replacen(&format!("#compdef {NAME}"), &format!("#compdef {both}"), 1);
    text.replace(&format!("compdef _{NAME} {NAME}"), &format!("compdef _{NAME} {both}"))
}

fn manual(out: &mut impl Write) -> io::Result<()> {
    let page = clap_mangen::Man::new(Args::command());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    SECTIONS.iter().try_for_each(|(heading, lines)| section(out, heading, lines))
}

/// A section whose lines stay as they are.
fn section(out: &mut impl Write, heading: &str, lines: &str) -> io::Result<()> {
    let lines = lines.replace('\\', "\\\\").replace('-', "\\-").replace('\'', "\\(aq");
    writeln!(out, ".SH \"{}\"\n.nf\n{}.fi", heading.to_uppercase(), lines)
}

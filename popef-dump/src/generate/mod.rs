//! Shell completions and the manual page, made from the options' own definition.

mod bash;
mod fish;
mod options;
mod zsh;

use std::io::{self, Write};

use clap::CommandFactory as _;

use crate::args::{Args, Generate};
use crate::sections::{self, SECTIONS};
use options::options;

const NAMES: [&str; 2] = ["popef-dump", "popef_dump"];

pub(crate) fn write(what: Generate, out: &mut impl Write) -> io::Result<()> {
    let options = || options(&Args::command());
    match what {
        Generate::CompletionsBash => out.write_all(bash::script(&options()).as_bytes()),
        Generate::CompletionsFish => out.write_all(fish::script(&options()).as_bytes()),
        Generate::CompletionsZsh => out.write_all(zsh::script(&options()).as_bytes()),
        Generate::Man => manual(out),
    }
}

fn manual(out: &mut impl Write) -> io::Result<()> {
    let page = clap_mangen::Man::new(Args::command());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    /// Pages of manuals are made for terminals of 80 columns, and are indented.
    const WIDTH: usize = 72;
    SECTIONS.iter().try_for_each(|(heading, rows)| section(out, heading, &sections::lines(rows, WIDTH)))
}

/// A section whose lines stay as they are.
fn section(out: &mut impl Write, heading: &str, lines: &str) -> io::Result<()> {
    let lines = lines.replace('\\', "\\\\").replace('-', "\\-").replace('\'', "\\(aq");
    writeln!(out, ".SH \"{}\"\n.nf\n{}.fi", heading.to_uppercase(), lines)
}

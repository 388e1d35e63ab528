//! Shell completions and manual pages, made from the definition of a command line.

mod bash;
mod fish;
mod options;
mod zsh;

use std::io::{self, Write};

use clap::{ColorChoice, Command};
use options::Program;

use crate::sections::lines;

popef::seam::named! {
    /// A shell for which there are completions.
    pub enum Shell {
        /// bash, 3.2 or later.
        Bash = "bash",
        /// zsh.
        Zsh = "zsh",
        /// fish.
        Fish = "fish",
    }
}

/// The script with which a shell completes the arguments of a program with commands, by any of its names.
///
/// A function of its own, so that popef-dump does not contain code that it does not need.
pub fn completions_of_commands(shell: Shell, command: &Command, names: &[&str]) -> String {
    let program = Program::of(command);
    match shell {
        Shell::Bash => bash::script_with_commands(&program, names),
        Shell::Zsh => zsh::script_with_commands(&program, names),
        Shell::Fish => fish::script_with_commands(&program, names),
    }
}

/// The script with which a shell completes the arguments of a program without commands.
pub fn completions(shell: Shell, command: &Command, names: &[&str]) -> String {
    let program = Program::of(command);
    match shell {
        Shell::Bash => bash::script(&program, names),
        Shell::Zsh => zsh::script(&program, names),
        Shell::Fish => fish::script(&program, names),
    }
}

/// Writes the manual page of a program. Each section at its end has a heading and lines, which stay as they are.
pub fn manual(
    out: &mut dyn Write,
    command: Command,
    sections: impl IntoIterator<Item = (String, String)>,
) -> io::Result<()> {
    let mut page = Vec::new();
    let usage = usage(command.clone());
    // clap_mangen leaves out a text of one line that is only in the long help.
    let man = clap_mangen::Man::new(command.mut_args(|arg| arg.hide_short_help(false)));
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    section(&mut page, "Synopsis", &usage)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    sections.into_iter().try_for_each(|(heading, lines)| section(&mut page, &heading, &lines))?;
    out.write_all(&page)
}

/// Writes the manual page of a command of a program, with the help of the commands in it.
pub fn manual_of_command(out: &mut dyn Write, command: Command) -> io::Result<()> {
    let sections: Vec<_> = command.get_subcommands().map(inner_section).chain(own_sections(&command)).collect();
    manual(out, command.version(env!("CARGO_PKG_VERSION")).disable_version_flag(true), sections)
}

/// The width of lines in manual pages, which are made for 80 columns and are indented.
pub const MANUAL_WIDTH: usize = 72;

/// The lines of a command's usage. clap_mangen's do not say what is required.
fn usage(mut command: Command) -> String {
    let usage = command.render_usage().to_string();
    let lines = usage.trim_start_matches("Usage:").lines().map(|line| format!("{}\n", line.trim()));
    lines.collect()
}

/// A section whose lines are kept. Each line is escaped at its start, because a dot there would begin a request of roff.
fn section(out: &mut impl Write, heading: &str, lines: &str) -> io::Result<()> {
    let lines = lines.replace('\\', "\\\\").replace('-', "\\-").replace('\'', "\\(aq");
    let lines: String = lines.lines().map(|line| format!("\\&{line}\n")).collect();
    writeln!(out, ".SH \"{}\"\n.nf\n{}.fi", heading.to_uppercase(), lines)
}

/// The help of a command inside a command.
fn inner_section(command: &Command) -> (String, String) {
    let help = command.clone().term_width(MANUAL_WIDTH).color(ColorChoice::Never).render_long_help().to_string();
    let lines = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    (command.get_bin_name().unwrap_or(command.get_name()).to_owned(), lines)
}

/// The sections after the options in the help of a command: paragraphs that begin with a heading and a colon.
fn own_sections(command: &Command) -> Vec<(String, String)> {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    let section = |paragraph: &str| {
        let (heading, text) = paragraph.split_once(':')?;
        let lines = match text.strip_prefix('\n') {
            Some(lines) => format!("{}\n", lines.trim_end()),
            None => lines(&[("", text)], MANUAL_WIDTH),
        };
        Some((heading.to_owned(), lines))
    };
    after.split("\n\n").filter_map(section).collect()
}

//! The commands, one file each. A new one is its file and a line here.

use popef_cli::command::Command;
#[cfg(test)]
mod tests;

use clap::Subcommand;

macro_rules! commands {
    ($( $command:ident => $variant:ident, )+) => {
        $( mod $command; )+

        #[derive(Debug, Subcommand)]
        #[allow(clippy::large_enum_variant, reason = "a process has one")]
        pub(crate) enum Commands { $( $variant($command::Args), )+ }

        impl Commands {
            pub(crate) const NAMES: &[&str] = &[ $( stringify!($command), )+ ];

            /// The words that users type: `popef merge`.
            pub(crate) fn name(&self) -> &'static str {
                match self { $( Commands::$variant(_) => concat!("popef ", stringify!($command)), )+ }
            }

            /// Whether the command itself says what reading each file from another machine has cost.
            #[cfg(feature = "remote")]
            pub(crate) fn tells_cost(&self) -> bool {
                matches!(self, Commands::Ls(_) | Commands::Dump(_) | Commands::Check(_))
            }

            /// The command that was given.
            pub(crate) fn given(&self) -> &dyn Command {
                match self { $( Commands::$variant(args) => args, )+ }
            }
        }
    };
}

// In the order of the help.
commands! {
    // The contents of files.
    ls => Ls,
    dump => Dump,
    check => Check,
    explain => Explain,
    cat => Cat,
    // Out of a file and into one.
    extract => Extract,
    pack => Pack,
    // Changes.
    set => Set,
    compress => Compress,
    decompress => Decompress,
    merge => Merge,
    split => Split,
    strip => Strip,
    // Comparisons.
    diff => Diff,
    hash => Hash,
    verify => Verify,
    // For people.
    report => Report,
    recover => Recover,
    // Files around a model.
    tiles => Tiles,
    graph => Graph,
    profile => Profile,
    // For the shell.
    completions => Completions,
    man => Man,
}

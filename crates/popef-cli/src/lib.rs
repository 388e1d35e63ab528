//! The kit of command-line tools for PopEF files: arguments that commands share, the terminal, saying errors, the log,
//! completions and manual pages, and in [`commands`] what several tools do under names of their own.
//!
//! A tool is a thin layer over it: its own arguments, and which of these they ask for.

#![forbid(unsafe_code, reason = "above all no mapping: a mapped file that is shortened kills the process")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "no input may panic"
    )
)]

pub mod advice;
pub mod command;
pub mod commands;
pub mod common;
pub mod complete;
mod elsewhere;
pub mod end;
pub mod filter;
pub mod format;
pub mod generate;
pub mod groups;
pub mod input;
pub mod line;
mod log;
pub mod meant;
pub mod output;
pub mod plain;
pub mod program;
#[cfg(feature = "remote")]
pub mod remote;
pub mod screen;
pub mod sections;
pub mod signals;
pub mod stdout;
pub mod to_file;
pub mod tool;
pub mod values;
pub mod version;

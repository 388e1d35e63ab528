//! Sends signals, as a terminal does.

#![cfg(unix)]

use std::process::{Child, Command};

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Ctrl-C.
pub(crate) fn ctrl_c() -> &'static str {
    heard("INT", 2)
}

/// A signal; or SIGTERM, if these tests were started to ignore it, as a shell starts what runs in the background, and `nohup`
/// what it runs.
pub(crate) fn heard(name: &'static str, number: u32) -> &'static str {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    if ignored >> (number - 1) & 1 == 0 { name } else { "TERM" }
}

/// The exit status after a signal.
pub(crate) fn status(name: &str) -> Option<i32> {
    let (_, number) = [("HUP", 1), ("INT", 2), ("TERM", 15)].into_iter().find(|(signal, _)| *signal == name)?;
    Some(128 + number)
}

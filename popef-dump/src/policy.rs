//! Policy files.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use popef::check::Policy;
use popef_open::{is_stdin, policy};

use crate::program::{Program, Refusal};

/// Reads a policy from a file, or for `-` from standard input. The error names the line.
pub(crate) fn read(program: Program, path: &Path) -> Result<Policy, Refusal> {
    let bytes = if is_stdin(path) { stdin() } else { fs::read(path) };
    let unread = |source| Refusal::Unread { doing: "read the policy", path: path.to_owned(), source };
    let text = String::from_utf8(bytes.map_err(unread)?)
        .map_err(|_| "cannot read the policy: it is not text in UTF-8".to_owned());
    let wrong = |problem| Refusal::Policy { path: path.to_owned(), problem };
    text.and_then(|text| policy(&text, &|id| program.no_rule(id))).map_err(wrong)
}

fn stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

//! Policy files.

use std::io::{self, Read as _};
use std::path::Path;

use popef_check::{Policy, Rule};
use popef_open::{is_stdin, is_stream, open_plain, policy_of};
use serde::de::DeserializeOwned;

use crate::program::{Program, Refusal};

/// Reads a policy for the library's checks from a file, or for `-` from standard input. The error names the line.
pub(crate) fn read(program: Program, path: &Path) -> Result<Policy, Refusal> {
    read_policy(program, path, || popef_check::rules().collect())
}

/// Reads a policy for these rules from a file, or for `-` from standard input. The error names the line.
pub fn read_policy<P: DeserializeOwned>(
    program: Program,
    path: &Path,
    rules: fn() -> Vec<&'static Rule>,
) -> Result<P, Refusal> {
    let bytes = bytes(path);
    let unread = |source| Refusal::Unread { doing: "read the policy", path: path.to_owned(), source };
    let bytes = bytes.map_err(unread)?;
    let wrong = |problem| Refusal::Policy { path: path.to_owned(), problem };
    // An empty file is a policy that changes nothing.
    if bytes.is_empty() && is_stream(path) {
        let problem = "the policy has no bytes; the program that should write it may have failed";
        return Err(wrong(problem.to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|_| "cannot read the policy: it is not text in UTF-8".to_owned());
    let rule = |id: &str| rules().into_iter().find(|rule| rule.id.eq_ignore_ascii_case(id));
    text.and_then(|text| policy_of(&text, &rule, &|id| program.no_rule(id, rules()))).map_err(wrong)
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if is_stdin(path) {
        io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        open_plain(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

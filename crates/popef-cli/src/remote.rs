//! Options for files on other machines.

use std::io::{self, Read as _};
use std::path::Path;

use clap::{ArgAction, Args};
use popef_open::configure_remote;
use popef_remote::Options;

use crate::values::size_from_one;

/// The heading of these options.
pub const OTHER_MACHINES: &str = "Files on other machines";

/// How files in buckets and behind https are read.
#[derive(Clone, Default, Args)]
#[command(next_help_heading = OTHER_MACHINES)]
pub struct RemoteArgs {
    /// Send a header with requests to https addresses
    ///
    /// HEADER is "NAME: VALUE", or @FILE for a file with one in each line, which other users of this machine cannot see as they can see
    /// arguments. It is never shown, and not sent to another host after a redirect. Can be given several times.
    #[arg(long, value_name = "HEADER", action = ArgAction::Append, global = true, hide_short_help = true)]
    header: Vec<String>,
    /// Address of the store, for stores such as MinIO
    #[arg(long, value_name = "URL", global = true, hide_short_help = true)]
    endpoint: Option<String>,
    /// Region of the bucket
    #[arg(long, value_name = "REGION", global = true, hide_short_help = true)]
    region: Option<String>,
    /// Allow http, which protects neither data nor secrets
    ///
    /// It is always allowed to this machine.
    #[arg(long, global = true, hide_short_help = true)]
    allow_http: bool,
    /// How many bytes the first request for a file asks for (default 64KiB)
    #[arg(long, value_name = "SIZE", value_parser = first_request, global = true, hide_short_help = true)]
    first_request: Option<u64>,
}

fn first_request(text: &str) -> Result<u64, &'static str> {
    size_from_one(text).and_then(|size| if size <= 16 << 20 { Ok(size) } else { Err("it is at most 16MiB") })
}

impl RemoteArgs {
    /// Applies these options to all files. `stopped` says whether to give up waiting. The error says which option is wrong.
    pub fn apply(&self, stopped: Option<fn() -> bool>) -> Result<(), String> {
        let mut options = Options::default();
        options.endpoint.clone_from(&self.endpoint);
        options.region.clone_from(&self.region);
        options.allow_http = self.allow_http;
        options.first = self.first_request.unwrap_or(options.first);
        options.stopped = stopped;
        for header in &self.header {
            let lines = match header.strip_prefix('@') {
                Some(path) => headers_of(path).map_err(|error| format!("--header: cannot read {path}: {error}"))?,
                None => header.clone(),
            };
            for line in lines.lines().filter(|line| !line.trim().is_empty()) {
                options.header(line).map_err(|error| format!("--header: {error}"))?;
            }
        }
        configure_remote(options);
        Ok(())
    }
}

impl RemoteArgs {
    /// The files with headers. No output may replace them.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.header.iter().filter_map(|header| header.strip_prefix('@'))
    }
}

impl std::fmt::Debug for RemoteArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers are secrets.
        f.debug_struct("RemoteArgs").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// The text of a file with headers, which is short.
fn headers_of(path: &str) -> io::Result<String> {
    const MOST: u64 = 64 << 10;
    let mut text = String::new();
    let len = popef_open::open_plain(Path::new(path))?.take(MOST).read_to_string(&mut text)?;
    match u64::try_from(len) {
        Ok(MOST) => Err(io::Error::new(io::ErrorKind::InvalidData, "headers have less than 64 KiB")),
        _ => Ok(text),
    }
}

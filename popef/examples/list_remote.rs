//! Lists the blobs of a model on a server, and fetches little besides its headers. The program `curl` fetches them,
//! so this works with any address that curl knows and whose server answers requests for ranges.
//!
//! ```sh
//! cargo run --example list_remote -- https://example.com/model.popef
//! ```

use std::error::Error;
use std::io;
use std::path::Path;
use std::process::Command;

use popef::OpenOptions;
use popef::read::ReadAt;

/// A file on a server.
struct Remote {
    url: String,
    size: u64,
}

/// Runs curl and returns what it prints.
fn curl(arguments: &[&str]) -> io::Result<Vec<u8>> {
    let output = Command::new("curl").args(["--silent", "--show-error", "--fail"]).args(arguments).output()?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

impl Remote {
    fn open(url: String) -> Result<Remote, Box<dyn Error>> {
        let headers = String::from_utf8(curl(&["--head", &url])?)?.to_lowercase();
        let size = headers.lines().filter_map(|line| line.strip_prefix("content-length:")).next_back();
        let size = size.ok_or("the server does not tell the size")?.trim().parse()?;
        Ok(Remote { url, size })
    }
}

impl ReadAt for Remote {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let last = offset + buf.len() as u64 - 1;
        let bytes = curl(&["--range", &format!("{offset}-{last}"), &self.url])?;
        if bytes.len() != buf.len() {
            return Err(io::Error::other("the server does not answer ranges"));
        }
        buf.copy_from_slice(&bytes);
        Ok(())
    }

    fn name(&self) -> Option<&Path> {
        Some(Path::new(&self.url))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: list_remote URL")?;
    let file = OpenOptions::new().source(Remote::open(url)?)?;
    for blob in file.blobs() {
        // `{:?}` escapes the name, which can hold any bytes.
        println!("{} {} {:?}", blob.size(), blob.blob_type(), blob.name().unwrap_or_default());
    }
    Ok(())
}

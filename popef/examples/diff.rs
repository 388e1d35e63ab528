//! Lists the differences between two files, blob by blob, in little memory for files of any size. Exits with status 1
//! if there are any.
//!
//! ```sh
//! cargo run --example diff -- OLD.popef NEW.popef
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufRead};
use std::process::ExitCode;

use popef::read::Data;
use popef::{Blob, File};

/// Identifies a blob in its file: type, name, and how many blobs with the same type and name come before it.
type Key = (u16, Vec<u8>, usize);

fn keyed(file: &File) -> BTreeMap<Key, Blob<'_>> {
    let mut blobs = BTreeMap::new();
    for blob in file.blobs() {
        let name = blob.name().unwrap_or_default().as_bytes().to_vec();
        let mut key = (blob.blob_type().number(), name, 0);
        while blobs.contains_key(&key) {
            key.2 += 1;
        }
        blobs.insert(key, blob);
    }
    blobs
}

/// The first byte at which the data of two blobs differs.
fn first_difference(old: Data<'_>, new: Data<'_>) -> io::Result<Option<u64>> {
    let (mut old, mut new, mut at) = (old.reader(), new.reader(), 0);
    loop {
        let (one, other) = (old.fill_buf()?, new.fill_buf()?);
        let len = one.len().min(other.len());
        let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        if same < len || len == 0 {
            return Ok((one.len().max(other.len()) > same).then_some(at + same as u64));
        }
        old.consume(len);
        new.consume(len);
        at += len as u64;
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [old, new] = arguments.as_slice() else {
        return Err("usage: diff OLD.popef NEW.popef".into());
    };
    let (old, new) = (File::open(old)?, File::open(new)?);
    let (old, mut new) = (keyed(&old), keyed(&new));
    let mut differences = 0;
    let mut tell = |what: &str, blob: &Blob<'_>| {
        differences += 1;
        println!("{what}: {} {:?}", blob.blob_type(), blob.name().unwrap_or_default());
    };
    for (key, blob) in &old {
        let Some(now) = new.remove(key) else {
            tell("only in the old file", blob);
            continue;
        };
        if blob.info_bytes().read()? != now.info_bytes().read()? || blob.version() != now.version() {
            tell("another info or version", blob);
        }
        if let Some(at) = first_difference(blob.data(), now.data())? {
            tell(&format!("other data from byte {at}"), blob);
        }
    }
    new.values().for_each(|blob| tell("only in the new file", blob));
    Ok(ExitCode::from(u8::from(differences > 0)))
}

//! Finds the command for a file that was given to another command.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Deserializer;

/// What a file seems to be, and the command for it.
#[derive(Clone, Copy, Debug)]
pub struct Meant {
    what: &'static str,
    /// The command that reads such files.
    pub command: &'static str,
}

impl Meant {
    /// The advice to use the command.
    pub fn advice(self) -> String {
        format!("This {}: {} reads such files.", self.what, self.command)
    }
}

/// Finds out what a file seems to be.
pub fn meant(path: &Path) -> Option<Meant> {
    let meant = |what, command| Some(Meant { what, command });
    if popef::File::open(path).is_ok_and(|file| !file.is_empty()) {
        return meant("is a PopEF file", "popef ls");
    }
    match start(path) {
        Some(start) if start == *b"!<arch>\n" => {
            return meant("is an archive, perhaps Poplar's archive.a", "popef tiles exec");
        }
        Some(start) if start.starts_with(b"GC_EXE_") => return meant("is an executable of Poplar", "popef tiles exec"),
        _ => {}
    }
    let keys = keys(path)?;
    let has = |wanted: &[&str]| keys.iter().any(|key| wanted.contains(&key.as_str()));
    match () {
        () if has(&["mappings"]) => meant("seems to be TensorFlow's tensor map", "popef tiles map"),
        () if has(&["numTiles", "targetMemoryInfo", "vars"]) => {
            meant("seems to be Poplar's lowered variables", "popef tiles vars")
        }
        () if has(PROFILE) => meant("seems to be a profiling report of Poplar", "popef profile"),
        () if has(&["maingraph"]) => meant("seems to be an IR dump of PopART", "popef graph"),
        () => None,
    }
}

/// The first bytes of a regular file.
fn start(path: &Path) -> Option<[u8; 8]> {
    let mut start = [0; 8];
    regular(path)?.read_exact(&mut start).ok()?;
    Some(start)
}

fn regular(path: &Path) -> Option<File> {
    // Opening a pipe waits for its writer.
    if path.is_file() { File::open(path).ok() } else { None }
}

/// Keys that only profiling reports have.
const PROFILE: &[&str] =
    &["graphProfile", "executionProfile", "computeSets", "controlPrograms", "programTrace", "profilerMode"];

/// The maximum number of keys of a document, and of bytes, that are looked at.
const MOST_KEYS: usize = 64;
const LONGEST: u64 = 16 << 20;

/// The first keys of an object in JSON, which may be cut off or damaged after them.
fn keys(path: &Path) -> Option<Vec<String>> {
    struct Keys<'k>(&'k mut Vec<String>);

    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key()? {
                self.0.push(key);
                if self.0.len() == MOST_KEYS {
                    return Err(A::Error::custom("enough"));
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    let file = regular(path)?;
    let mut keys = Vec::new();
    let json = &mut Deserializer::from_reader(BufReader::new(file.take(LONGEST)));
    // The keys before an error are enough.
    let _ = json.deserialize_map(Keys(&mut keys));
    Some(keys)
}

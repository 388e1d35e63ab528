//! Each store by a real server: what is read there is what a local file says.
//!
//! Stores take their credentials from the environment, which a program can only have from its start. So these tests run
//! this program again, for the test `in_another_environment`.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::process::Command;

use popef_remote::{Code, Location, Need, Remote};

use super::common::azurite::Azurite;
use super::common::google::Google;
use super::common::moto::Moto;
use super::common::nginx::Nginx;
use super::common::{NO_SERVICES, interop};
use super::{code_of, local, open, quick};

/// Says what the other run reads: lines of an address and a path, with a tab between them.
const FILES: &str = "POPEF_REMOTE_TEST_FILES";
/// And patterns, each with how many objects it has.
const PATTERNS: &str = "POPEF_REMOTE_TEST_PATTERNS";
/// And addresses, each with the code of the error that it must be.
const ERRORS: &str = "POPEF_REMOTE_TEST_ERRORS";

#[derive(Default)]
struct Expected {
    files: Vec<(String, PathBuf)>,
    patterns: Vec<(String, usize)>,
    errors: Vec<(String, Code)>,
}

impl Expected {
    /// All interop files at these addresses.
    fn interop(prefix: &str) -> Expected {
        let files = interop().into_iter().map(|(name, path)| (format!("{prefix}{name}"), path)).collect();
        Expected { files, ..Expected::default() }
    }

    fn hold_in(&self, environment: Vec<(String, String)>) {
        let lines = |lines: Vec<String>| lines.join("\n");
        let done = Command::new(env::current_exe().unwrap())
            .args(["--exact", "stores::in_another_environment", "--nocapture"])
            .env(FILES, lines(self.files.iter().map(|(url, path)| format!("{url}\t{}", path.display())).collect()))
            .env(PATTERNS, lines(self.patterns.iter().map(|(url, count)| format!("{url}\t{count}")).collect()))
            .env(ERRORS, lines(self.errors.iter().map(|(url, code)| format!("{url}\t{}", code.as_str())).collect()))
            .envs(NO_SERVICES)
            .envs(environment)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
        assert!(said.contains(&format!("{} files read", self.files.len())), "{said}");
    }
}

fn lines_of(variable: &str) -> Vec<(String, String)> {
    let text = env::var(variable).unwrap_or_default();
    text.lines()
        .map(|line| line.split_once('\t').map(|(url, what)| (url.to_owned(), what.to_owned())).unwrap())
        .collect()
}

#[test]
fn in_another_environment() {
    if env::var_os(FILES).is_none() {
        return; // It is not the other run.
    }
    let remote = Remote::new(quick()).unwrap();
    let files = lines_of(FILES);
    for (url, path) in &files {
        let read = code_of(open(&remote, url, Need::Data)).unwrap_or_else(|(_, text)| panic!("{url}: {text}"));
        assert!(read == local(path.as_ref()), "{url} differs from {path}");
    }
    println!("{} files read", files.len());
    for (pattern, count) in lines_of(PATTERNS) {
        let (found, _) = remote.list(&Location::parse(&pattern).unwrap()).unwrap();
        let names: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(names.len().to_string(), count, "{pattern}: {names:?}");
        assert!(names.is_sorted(), "{names:?}");
    }
    for (url, code) in lines_of(ERRORS) {
        let (found, text) = code_of(open(&remote, &url, Need::Data)).expect_err(&url);
        assert_eq!(found.as_str(), code, "{url}: {text}");
    }
}

#[test]
fn s3() {
    let Some(moto) = Moto::start() else { return };
    for (name, path) in interop() {
        moto.put(&format!("some/{name}"), &std::fs::read(&path).unwrap());
    }
    moto.put("some/deeper/other.popef", b"");
    moto.put("some/notes.txt", b"");
    let count = interop().len();
    let patterns = [
        ("s3://models/some/*.popef", count),
        ("s3://models/**/*.popef", count + 1),
        ("s3://models/some/s*-t*.popef", 1),
    ];
    let errors = [("s3://models/none.popef", Code::NotFound), ("s3://nobody-has-this/none.popef", Code::NotFound)];
    let expected = Expected {
        patterns: patterns.map(|(url, count)| (url.to_owned(), count)).to_vec(),
        errors: errors.map(|(url, code)| (url.to_owned(), code)).to_vec(),
        ..Expected::interop("s3://models/some/")
    };
    expected.hold_in(moto.environment());
}

/// A listing has a thousand names on a page.
#[test]
fn a_bucket_with_more_names_than_a_page_has() {
    let Some(moto) = Moto::start() else { return };
    (0..1_050).for_each(|number| moto.put(&format!("many/{number}.popef"), b""));
    let expected = Expected { patterns: vec![("s3://models/many/*.popef".into(), 1_050)], ..Expected::default() };
    expected.hold_in(moto.environment());
}

#[test]
fn azure() {
    let Some(azurite) = Azurite::start() else { return };
    for (name, path) in interop() {
        azurite.put(&format!("some/{name}"), &std::fs::read(&path).unwrap());
    }
    let expected = Expected {
        patterns: vec![("az://models/some/*.popef".into(), interop().len())],
        errors: vec![("az://models/none.popef".into(), Code::NotFound)],
        ..Expected::interop("az://models/some/")
    };
    expected.hold_in(azurite.environment());
}

#[test]
fn google() {
    let Some(google) = Google::start() else { return };
    let mut expected = Expected::interop("gs://models/some/");
    // The emulator cannot have an object without bytes.
    expected.files.retain(|(url, _)| !url.ends_with("empty.popef"));
    for (url, path) in &expected.files {
        google.put(url.strip_prefix("gs://models/").unwrap(), &std::fs::read(path).unwrap());
    }
    expected.errors = vec![("gs://models/none.popef".into(), Code::NotFound)];
    expected.hold_in(google.environment());
}

#[test]
fn https() {
    let files: BTreeMap<String, PathBuf> = interop().into_iter().collect();
    let folder = files["executable.popef"].parent().unwrap();
    let Some(nginx) = Nginx::start(folder) else { return };
    let trusted = vec![("SSL_CERT_FILE".to_owned(), nginx.authority.display().to_string())];
    let mut expected = Expected::interop(&nginx.url("files/"));
    let moved = nginx.url("moved/executable.popef");
    expected.files.push((moved, files["executable.popef"].clone()));
    for (path, code) in [
        ("files/none.popef", Code::NotFound),
        ("plain/executable.popef", Code::Redirect),
        ("whole/executable.popef", Code::NoRanges),
        ("private/executable.popef", Code::Denied),
    ] {
        expected.errors.push((nginx.url(path), code));
    }
    expected.hold_in(trusted);
    let untrusted = vec![(nginx.url("files/executable.popef"), Code::Tls)];
    Expected { errors: untrusted, ..Expected::default() }.hold_in(Vec::new());
}

/// What a plain server over http serves, also to this machine by its name.
#[test]
fn a_plain_server() {
    let files: BTreeMap<String, PathBuf> = interop().into_iter().collect();
    let Some(nginx) = Nginx::start(files["executable.popef"].parent().unwrap()) else { return };
    Expected::interop(&format!("http://localhost:{}/files/", nginx.plain)).hold_in(Vec::new());
}

//! New files in a bucket of moto's: whole ones, or none.

#![cfg(feature = "remote")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../../popef-remote/tests/common"]
mod common {
    pub(crate) mod client;
    pub(crate) mod content;
    pub(crate) mod http;
    pub(crate) mod moto;
    pub(crate) mod process;

    pub(crate) fn repository() -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }
}

#[cfg(unix)]
#[path = "../toolbox/signal.rs"]
mod signal;
#[cfg(unix)]
mod stopped_upload;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::moto::Moto;

/// Runs a command in a folder. Returns whether it succeeded, and what it said.
fn popef(moto: &Moto, folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_popef"));
    let done = command.args(arguments).envs(moto.environment()).current_dir(folder).output().unwrap();
    (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
}

fn interop(name: &str) -> PathBuf {
    common::repository().join("testdata/interop").join(name)
}

#[test]
fn a_bucket_gets_what_a_folder_gets_or_nothing() {
    let Some(moto) = Moto::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for name in ["split-executable.popef", "split-tensors.popef", "executable.popef"] {
        fs::copy(interop(name), here.join(name)).unwrap();
    }
    let parts = ["split-executable.popef", "split-tensors.popef"];
    let merge =
        |to: &str, more: &[&str]| popef(&moto, here, &[&["merge", parts[0], parts[1], "-o", to], more].concat());
    let good = |(success, said): (bool, String)| assert!(success, "{said}");
    good(merge("whole.popef", &[]));
    good(merge("s3://models/whole.popef", &[]));
    let whole = fs::read(here.join("whole.popef")).unwrap();
    assert!(moto.get("whole.popef") == Some(whole.clone()), "other bytes");

    // What is there stays, unless it may be replaced.
    moto.put("taken.popef", b"mine");
    let (success, said) = merge("s3://models/taken.popef", &[]);
    assert!(!success && said.contains("s3://models/taken.popef") && said.contains("--force"), "{said}");
    assert_eq!(moto.get("taken.popef").unwrap(), b"mine");
    good(merge("s3://models/taken.popef", &["--force"]));
    assert!(moto.get("taken.popef").as_ref() == Some(&whole), "other bytes");

    // An input is not replaced, also if other objects may be.
    let inputs = ["s3://models/taken.popef", "executable.popef"];
    let onto_input = ["merge", inputs[0], inputs[1], "--keep", "first", "-o", inputs[0], "--force"];
    let (success, said) = popef(&moto, here, &onto_input);
    assert!(!success && said.contains("the output is the same object as the input [output-is-input]"), "{said}");
    assert!(moto.get("taken.popef") == Some(whole), "other bytes");

    // What fails leaves nothing.
    let (success, _) = popef(&moto, here, &["merge", parts[0], "none.popef", "-o", "s3://models/none.popef"]);
    assert!(!success);
    let (success, said) = popef(&moto, here, &["split", "executable.popef", "--by", "kind", "-o", "s3://models/parts"]);
    assert!(!success && said.contains("at once"), "{said}");
    assert!(!here.join("s3:").exists(), "no folder here has the name of a bucket");
    assert_eq!((moto.get("none.popef"), moto.open_uploads()), (None, 0));
}

/// The files of Amazon's own tools are enough, if the environment has no credentials.
#[test]
fn a_profile_has_keys_and_the_endpoint() {
    let Some(moto) = Moto::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let aws = folder.path().join(".aws");
    fs::create_dir(&aws).unwrap();
    fs::write(aws.join("credentials"), "[work]\naws_access_key_id = someone\naws_secret_access_key = SECRET\n")
        .unwrap();
    let config =
        format!("[profile work]\nregion = us-east-1\nendpoint_url = http://127.0.0.1:{}\n[profile sso]\n", moto.port());
    fs::write(aws.join("config"), config).unwrap();
    moto.put("model.popef", &fs::read(interop("executable.popef")).unwrap());
    let ls = |profile: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_popef"));
        moto.environment().iter().for_each(|(name, _)| _ = command.env_remove(name));
        command.env("HOME", folder.path()).env("AWS_PROFILE", profile);
        let done = command.args(["ls", "s3://models/model.popef"]).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    assert_eq!(ls("work"), (Some(0), String::new()));
    for (profile, words) in
        [("sso", "has no keys of its own; export some: eval"), ("other", "there is no profile \"other\"")]
    {
        let (status, said) = ls(profile);
        assert!(status == Some(2) && said.contains(words) && said.contains("[remote-no-credentials]"), "{said}");
    }
}

#[test]
fn an_object_is_changed_in_its_place() {
    let Some(moto) = Moto::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let path = here.join("model.popef");
    fs::copy(interop("compressed-zlib.popef"), &path).unwrap();
    moto.put("model.popef", &fs::read(&path).unwrap());
    let decompress = |what: &str| popef(&moto, here, &["decompress", "--in-place", what]);
    for what in ["model.popef", "s3://models/model.popef"] {
        let (success, said) = decompress(what);
        assert!(success, "{said}");
    }
    let there = moto.get("model.popef").unwrap();
    assert!(there == fs::read(&path).unwrap() && there != fs::read(interop("compressed-zlib.popef")).unwrap());
}

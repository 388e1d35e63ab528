//! An upload that is stopped.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use std::{fs, thread};

use crate::common::content::Sparse;
use crate::common::moto::Moto;
use crate::signal::{ctrl_c, signal, status};

/// What is sent to it arrives at another port of this machine, at some megabytes a second.
fn slow_way(to: u16) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let passed = Arc::new(AtomicU64::new(0));
    let all = Arc::clone(&passed);
    thread::spawn(move || {
        for from in listener.incoming().map_while(Result::ok) {
            let to = TcpStream::connect(("127.0.0.1", to)).unwrap();
            let (mut back_from, mut back_to) = (to.try_clone().unwrap(), from.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut back_from, &mut back_to));
            let (mut from, mut to, passed) = (from, to, Arc::clone(&passed));
            thread::spawn(move || {
                let mut piece = vec![0; 64 << 10];
                while let Ok(len @ 1..) = from.read(&mut piece) {
                    thread::sleep(Duration::from_millis(40));
                    passed.fetch_add(len as u64, Relaxed);
                    if to.write_all(&piece[..len]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    });
    (port, all)
}

/// At Ctrl-C, the upload is taken back: what was there before stays, and nothing is kept that costs money.
#[test]
fn ctrl_c_takes_an_upload_back() {
    let Some(moto) = Moto::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("large.popef"), Sparse::tensors(1, 60 << 20).bytes()).unwrap();
    moto.put("old.popef", b"the old object");
    for name in ["new.popef", "old.popef"] {
        let (port, passed) = slow_way(moto.port());
        let url = format!("s3://models/{name}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_popef"));
        command.args([
            "merge",
            "large.popef",
            "-o",
            &url,
            "--force",
            "--endpoint",
            &format!("http://127.0.0.1:{port}"),
        ]);
        command.envs(moto.environment()).env("TMPDIR", temporary.path()).current_dir(folder.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while passed.load(Relaxed) < 2 << 20 {
            assert_eq!(child.try_wait().unwrap(), None, "the command has ended");
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(moto.open_uploads(), 1, "{name}");
        signal(&child, ctrl_c());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), &*said),
            (status(ctrl_c()), "popef merge: stopped; no file was left half done\n")
        );
        assert_eq!(moto.open_uploads(), 0, "{name}");
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "{name}");
    }
    assert_eq!(moto.get("new.popef"), None);
    assert_eq!(moto.get("old.popef").unwrap(), b"the old object");
}

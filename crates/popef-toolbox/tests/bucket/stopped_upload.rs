//! An upload that is stopped.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::{fs, thread};

use crate::common::content::Sparse;
use crate::common::moto::Moto;
use crate::common::process::START;
use crate::signal::{ctrl_c, signal, status};

/// How much of an upload arrives.
const PASSES: usize = 2 << 20;

/// What a way does with what comes.
enum Way {
    /// Passes on so many bytes more.
    Open(usize),
    /// Passes on nothing more of the connections on which something comes now.
    Holds,
    /// Passes on all of the other connections.
    Free,
}

/// A port of this machine, from which a part of an upload arrives at another one. Once the rest is held, that is told.
fn way_that_holds(to: u16) -> (u16, Arc<Mutex<Way>>, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let way = Arc::new(Mutex::new(Way::Open(PASSES)));
    let (holds, held) = channel();
    let shared = Arc::clone(&way);
    thread::spawn(move || {
        for mut from in listener.incoming().map_while(Result::ok) {
            let mut to = TcpStream::connect(("127.0.0.1", to)).unwrap();
            let (mut back_from, mut back_to) = (to.try_clone().unwrap(), from.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut back_from, &mut back_to));
            let (way, holds) = (Arc::clone(&shared), holds.clone());
            thread::spawn(move || {
                let mut piece = vec![0; 64 << 10];
                while let Ok(len @ 1..) = from.read(&mut piece) {
                    if !passes(&mut way.lock().unwrap(), len) {
                        let _ = holds.send(());
                        // Until the client goes away.
                        let _ = io::copy(&mut from, &mut io::sink());
                        break;
                    }
                    if to.write_all(&piece[..len]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    });
    (port, way, held)
}

fn passes(way: &mut Way, len: usize) -> bool {
    match way {
        Way::Open(rest) => {
            *way = rest.checked_sub(len).map_or(Way::Holds, Way::Open);
            true
        }
        Way::Holds => false,
        Way::Free => true,
    }
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
        let (port, way, held) = way_that_holds(moto.port());
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
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        held.recv_timeout(START).expect("the upload begins");
        // What is held never arrives, so the upload cannot end; but it can be taken back.
        *way.lock().unwrap() = Way::Free;
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

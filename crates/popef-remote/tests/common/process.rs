//! Starts and ends programs that serve.

use std::env;
use std::fs::File;
use std::iter;
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A program that serves. It is ended when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    /// Its files, and what it says.
    pub(crate) folder: tempfile::TempDir,
}

/// How long a server may take to start on a busy machine.
pub(crate) const START: Duration = Duration::from_secs(60);

impl Server {
    /// Starts a server with a free port, and waits until it accepts connections. `command` gets the port and a folder.
    pub(crate) fn start(command: impl Fn(u16, &Path) -> Command) -> Server {
        // Another program can take the port before the server does. Then the server ends, and another port is tried.
        for _ in 0..5 {
            let folder = tempfile::tempdir().expect("a folder can be made");
            let port = free_port();
            let said = File::create(folder.path().join("said")).expect("a file can be made");
            let child = command(port, folder.path())
                .stdin(Stdio::null())
                .stdout(said.try_clone().expect("a file can be shared"))
                .stderr(said)
                .spawn()
                .expect("the program starts");
            let mut server = Server { child, port, folder };
            if server.becomes_ready() {
                return server;
            }
            eprintln!("a server did not start: {}", server.said());
        }
        panic!("no server starts");
    }

    fn becomes_ready(&mut self) -> bool {
        let end = Instant::now() + START;
        while Instant::now() < end {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                // It could be another program that took the port, while this one ended.
                return self.child.try_wait().expect("a child can be asked").is_none();
            }
            if self.child.try_wait().expect("a child can be asked").is_some() {
                return false;
            }
            // Only to leave the processor to the server: what is waited for is the connection.
            thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that is unused at the moment.
///
/// It is below those that the system gives to connections and to listeners that ask for any. From these, another test could get
/// it before the server does, and a connection to it, which is tried until the server is there, could be connected to itself.
pub(crate) fn free_port() -> u16 {
    const PORTS: Range<u32> = 10_000..32_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Tests run in several processes at once.
    let first = std::process::id().wrapping_mul(7919);
    let mut ports = iter::repeat_with(|| {
        let nth = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        u16::try_from(PORTS.start + nth % (PORTS.end - PORTS.start)).expect("a port has 16 bits")
    });
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("there is a free port")
}

/// A program in one of the folders, or in the path. Without it, the test is skipped, or fails in CI.
pub(crate) fn program(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = folders
        .iter()
        .cloned()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        missing(name);
    }
    found
}

/// Says that a test is skipped, or fails in CI.
pub(crate) fn missing(what: &str) {
    assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{what} is not installed, and in CI it must be");
    eprintln!("skipped: {what} is not installed");
}

/// Where the Python packages of `.ci/run` have their programs.
pub(crate) fn python_programs() -> PathBuf {
    super::repository().join("target/ci-venv/bin")
}

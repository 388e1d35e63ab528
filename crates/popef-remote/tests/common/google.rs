//! gcp-storage-emulator: a part of Google's storage, in Python.
//!
//! Its answers have no ETag and no Last-Modified, without which a client of Google's storage refuses them. So a server of ours
//! stands before it, which adds these. It knows neither conditions nor uploads in parts.

use std::process::Command;

use super::client::send;
use super::http::{self, Reply, Request};
use super::process::{self, program, python_programs};

pub(crate) struct Google {
    emulator: process::Server,
    front: http::Server,
}

impl Google {
    /// Starts it with an empty bucket `models`.
    pub(crate) fn start() -> Option<Google> {
        let emulator = program("gcp-storage-emulator", &[python_programs()])?;
        let server = process::Server::start(|port, folder| {
            let mut command = Command::new(&emulator);
            command.args(["start", "--host", "127.0.0.1", "--port", &port.to_string(), "--in-memory"]);
            command.args(["--default-bucket", "models"]).current_dir(folder);
            command
        });
        let port = server.port;
        let front = http::Server::start(move |request| pass(port, request));
        Some(Google { emulator: server, front })
    }

    pub(crate) fn put(&self, key: &str, body: &[u8]) {
        let path = format!("/upload/storage/v1/b/models/o?uploadType=media&name={}", key.replace('/', "%2F"));
        send(self.emulator.port, "POST", &path, &[("Content-Type", "application/octet-stream")], body).good();
    }

    /// The bytes of an object, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = format!("/storage/v1/b/models/o/{}?alt=media", key.replace('/', "%2F"));
        let answer = send(self.emulator.port, "GET", &path, &[], b"");
        if answer.status == 404 { None } else { Some(answer.good().body) }
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let key = format!(
            r#"{{"gcs_base_url":"http://127.0.0.1:{}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#,
            self.front.port()
        );
        vec![("GOOGLE_SERVICE_ACCOUNT_KEY".into(), key)]
    }
}

fn pass(port: u16, request: &Request) -> Reply {
    let range: Vec<(&str, &str)> = request.header("range").map(|range| ("Range", range)).into_iter().collect();
    let answer = send(port, &request.method, &request.path, &range, &request.body);
    let reply = Reply { body: answer.body.clone(), ..Reply::new(answer.status) }
        .with("ETag", http::ETAG)
        .with("Last-Modified", "Tue, 03 Mar 2026 10:00:00 GMT");
    match answer.header("content-range") {
        Some(place) => reply.with("Content-Range", place),
        None => reply,
    }
}

//! moto: S3 as Amazon's own Python library is tested with.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::client::{Answer, send, try_send};
use super::process::{self, program, python_programs};

pub(crate) struct Moto(process::Server);

/// Its region, and the credentials, which it takes as they are.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("AWS_ACCESS_KEY_ID", "someone"),
    ("AWS_SECRET_ACCESS_KEY", "secret"),
    ("AWS_REGION", "us-east-1"),
    ("AWS_EC2_METADATA_DISABLED", "true"),
];

/// It looks at who it is, and not at the signature.
const AUTHORIZATION: &str =
    "AWS4-HMAC-SHA256 Credential=someone/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00";

impl Moto {
    /// Starts it with an empty bucket `models`.
    pub(crate) fn start() -> Option<Moto> {
        let moto = program("moto_server", &[python_programs()])?;
        let server = process::Server::start(|port, _| {
            let mut command = Command::new(&moto);
            command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
            command
        });
        let moto = Moto(server);
        moto.make_bucket();
        Some(moto)
    }

    /// It accepts connections before it can answer, and may drop the first of them. So this is tried until there is an answer.
    fn make_bucket(&self) {
        let end = Instant::now() + process::START;
        loop {
            match try_send(self.0.port, "PUT", "/models", &[("Authorization", AUTHORIZATION)], b"") {
                Ok(answer) => return drop(answer.good()),
                // Only to leave the processor to the server.
                Err(_) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
                Err(error) => panic!("moto does not answer: {error}: {}", self.0.said()),
            }
        }
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        send(self.0.port, method, path, &[("Authorization", AUTHORIZATION)], body)
    }

    pub(crate) fn put(&self, key: &str, body: &[u8]) {
        self.send("PUT", &format!("/models/{key}"), body).good();
    }

    /// The bytes of an object, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let answer = self.send("GET", &format!("/models/{key}"), b"");
        if answer.status == 404 { None } else { Some(answer.good().body) }
    }

    /// How many uploads were begun and neither completed nor aborted.
    pub(crate) fn open_uploads(&self) -> usize {
        self.send("GET", "/models?uploads", b"").good().text().matches("<UploadId>").count()
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let mut variables = ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        variables.push(("AWS_ENDPOINT_URL".into(), format!("http://127.0.0.1:{}", self.0.port)));
        variables
    }
}

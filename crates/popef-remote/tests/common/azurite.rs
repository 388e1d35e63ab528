//! Azurite: Microsoft's own emulator of Azure's storage.

use std::process::Command;

use object_store::azure::{AzureAccessKey, AzureAuthorizer, AzureCredential};
use object_store::client::{HttpRequest, HttpRequestBody};

use super::client::{Answer, send};
use super::process::{self, program};
use super::repository;

pub(crate) struct Azurite(process::Server);

/// The account that each Azurite has. Its key is published.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

impl Azurite {
    /// Starts it with an empty container `models`.
    pub(crate) fn start() -> Option<Azurite> {
        let azurite = program("azurite-blob", &[repository().join("target/ci-azurite/node_modules/.bin")])?;
        let server = process::Server::start(|port, folder| {
            let mut command = Command::new(&azurite);
            command.args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string(), "--skipApiVersionCheck"]);
            command.args(["--silent", "--disableTelemetry", "--location"]).arg(folder.join("data"));
            command
        });
        let azurite = Azurite(server);
        azurite.send("PUT", "/models?restype=container", &[], b"").good();
        Some(azurite)
    }

    pub(crate) fn put(&self, key: &str, body: &[u8]) {
        self.send("PUT", &format!("/models/{key}"), &[("x-ms-blob-type", "BlockBlob")], body).good();
    }

    /// The bytes of an object, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let answer = self.send("GET", &format!("/models/{key}"), &[], b"");
        if answer.status == 404 { None } else { Some(answer.good().body) }
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        [
            ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.to_owned()),
            ("AZURE_STORAGE_ACCOUNT_KEY", KEY.to_owned()),
            ("AZURE_STORAGE_ENDPOINT", self.endpoint()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/{ACCOUNT}", self.0.port)
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = method.parse().expect("it is a method");
        *request.uri_mut() = format!("{}{path}", self.endpoint()).parse().expect("it is an address");
        for (name, value) in headers {
            let name: ::http::HeaderName = name.parse().expect("it is a name");
            request.headers_mut().insert(name, value.parse().expect("it is a value"));
        }
        if !body.is_empty() {
            request.headers_mut().insert("content-length", body.len().into());
        }
        let key = AzureCredential::AccessKey(AzureAccessKey::try_new(KEY).expect("it is a key"));
        AzureAuthorizer::new(&key, ACCOUNT).try_authorize(&mut request).expect("it can be signed");
        let signed: Vec<(&str, &str)> = request
            .headers()
            .iter()
            .filter(|(name, _)| *name != "content-length")
            .map(|(name, value)| (name.as_str(), value.to_str().expect("a header is text")))
            .collect();
        send(self.0.port, method, &format!("/{ACCOUNT}{path}"), &signed, body)
    }
}

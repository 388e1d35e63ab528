//! Files behind http on this machine.

#![cfg(feature = "remote")]

#[path = "../../../popef-remote/tests/loopback/server.rs"]
pub(crate) mod server;

use std::sync::Barrier;

use crate::common::{Place, finish, without_mends};
use server::{Server, answer, part};

const FILE: &str = "executable.popef";
const OTHER: &str = "split-executable.popef";

fn place() -> Place {
    Place::with(&["interop/executable.popef", "interop/split-executable.popef"])
}

#[test]
fn commands_print_the_same_of_an_address() {
    let place = place();
    let server = Server::of(place.read(FILE));
    let url = server.url();
    let commands: [&[&str]; 10] = [
        &["ls", "FILE"],
        &["dump", "FILE", "--format", "ndjson"],
        &["check", "--deep", "FILE"],
        &["check", "--format", "sarif", "FILE"],
        &["hash", "FILE"],
        &["hash", "--sums", "FILE"],
        &["cat", "FILE", "--blob", "0", "--hex"],
        &["diff", "FILE", OTHER],
        &["ls", "--values", "FILE"],
        &["split", "FILE", "--dry-run"],
    ];
    for words in commands {
        let with = |file: &str| words.iter().map(|word| word.replace("FILE", file)).collect::<Vec<_>>();
        let run = |file: &str| place.run(&with(file).iter().map(String::as_str).collect::<Vec<_>>());
        let (local, remote) = (run(FILE), run(&url));
        let text = remote.text().replace(&url, FILE);
        let without_cost: Vec<_> = text.lines().filter(|line| !line.contains("\"kind\":\"network\"")).collect();
        assert_eq!(without_cost, without_mends(local.text()), "{words:?}");
        assert_eq!((remote.err.replace(&url, FILE), remote.status), (local.err, local.status), "{words:?}");
    }
}

/// Reports are read from front to back, with ranges or without.
#[test]
fn reports_are_read_from_an_address() {
    let place = Place::with(&["profile/tiny.report.json", "profile/oom.graph.json", "interop/executable.popef"]);
    let oom = place.read("oom.graph.json");
    let whole = oom.clone();
    let servers = [
        Server::of(oom),
        Server::start(move |_, _| answer("200 OK", &[("Content-Length", whole.len().to_string())], &whole)),
    ];
    for server in servers {
        let model = Server::of(place.read("executable.popef"));
        let run = |graph: &str, model: &str| place.run(&["profile", "--format", "json", graph, model]).good().json();
        let (local, mut remote) = (run("oom.graph.json", "executable.popef"), run(&server.url(), &model.url()));
        let asked = server.asked().len() + model.asked().len();
        let cost = remote.as_object_mut().unwrap().remove("network").unwrap();
        assert_eq!(cost["requests"], asked);
        assert!(remote["path"] == server.url() && remote["model"]["path"] == model.url());
        remote["path"] = "oom.graph.json".into();
        remote["model"]["path"] = "executable.popef".into();
        assert!(remote == local, "{remote}");
    }
    let gone = Server::start(|_, _| answer("404 Not Found", &[("Content-Length", "0".into())], b""));
    let run = place.run(&["profile", "tiny.report.json", &gone.url()]);
    assert!(run.status == 2 && run.err.contains("HTTP 404"), "{run:?}");
}

#[test]
fn the_cost_is_said() {
    let place = place();
    let server = Server::of(place.read(FILE));
    let run = place.run(&["ls", "-v", "--format", "json", &server.url()]).good();
    let requests = server.asked().len();
    assert_eq!(run.json()["files"][0]["network"]["requests"], requests);
    assert!(run.err.contains(&format!("in {requests} requests")), "{}", run.err);
}

/// Each file is answered only when both were asked for.
#[test]
fn the_two_files_of_a_comparison_are_opened_at_once() {
    let place = place();
    let bytes = place.read(FILE);
    let both = Barrier::new(2);
    let server = Server::start(move |number, asked| {
        if number < 2 {
            both.wait();
        }
        part(&bytes, asked)
    });
    let (a, b) = (server.url(), server.url().replace("model", "other"));
    place.run(&["diff", &a, &b]).good();
    assert_ne!(server.asked()[0].line, server.asked()[1].line);
}

/// A model that is sent in parts.
pub(crate) fn in_parts(place: &Place) {
    let mut model = Vec::new();
    let mut writer = popef::Writer::stream(&mut model);
    writer.write_executable("model", &vec![7; 9 << 20][..]).unwrap();
    writer.finish().unwrap();
    place.write("large.popef", &model);
}

/// A store that begins an upload, and then does as it is told: with a part, and when the upload is taken back.
fn store(part: fn() -> (&'static str, &'static str), taken_back: &'static str) -> Server {
    Server::start(move |_, asked| {
        let (status, body) = match asked.line.split(' ').next().unwrap() {
            "POST" => {
                ("200 OK", "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
            }
            "PUT" => part(),
            "DELETE" => (taken_back, ""),
            _ => ("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>"),
        };
        answer(status, &[("Content-Length", body.len().to_string())], body.as_bytes())
    })
}

fn merge(place: &Place, store: &Server) -> std::process::Command {
    let endpoint = format!("http://127.0.0.1:{}", store.port);
    let secrets = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    let mut command = place.command();
    command.args(["merge", "large.popef", "-o", "s3://b/k.popef", "--endpoint", &endpoint]).envs(secrets);
    command
}

/// The page says it too.
#[test]
fn data_that_could_not_be_checked_is_told() {
    let place = place();
    for (status, words) in [("412 Precondition Failed", "changed"), ("403 Forbidden", "HTTP 403")] {
        let bytes = place.read(FILE);
        let server = Server::start(move |number, asked| match number {
            0 | 1 => part(&bytes, asked),
            _ => answer(status, &[("Content-Length", "0".into())], b""),
        });
        let page = place.run(&["report", &server.url(), "-o", "-"]);
        assert!(page.status == 2 && page.text().contains("could not be checked"), "{page:?}");
        assert!(page.err.contains("model.popef: ") && page.err.contains(words), "{page:?}");
    }
}

/// What is done after a failure does not hide it, and what may be left is said.
#[test]
fn a_refused_part_of_an_upload_is_told_with_its_status() {
    let place = place();
    in_parts(&place);
    for (taken_back, words) in [("204 No Content", ""), ("403 Forbidden", "list-multipart-uploads --bucket b")] {
        let server = store(|| ("403 Forbidden", "<Error><Code>AccessDenied</Code></Error>"), taken_back);
        let done = merge(&place, &server).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2));
        assert!(said.contains("AccessDenied (HTTP 403)") && said.contains("[remote-denied]"), "{said}");
        assert!(server.asked().iter().any(|asked| asked.line.starts_with("DELETE")));
        assert!(said.contains(words) && said.contains("may be left at the store") != words.is_empty(), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn what_a_stopped_upload_may_leave_is_said() {
    use crate::signal::{signal, status};
    let place = place();
    in_parts(&place);
    let silent = || loop {
        std::thread::park();
    };
    let server = store(silent, "403 Forbidden");
    let mut child = merge(&place, &server).stderr(std::process::Stdio::piped()).spawn().unwrap();
    while !server.asked().iter().any(|asked| asked.line.starts_with("PUT")) {
        assert_eq!(child.try_wait().unwrap(), None, "the command has ended");
        std::thread::yield_now();
    }
    signal(&child, "TERM");
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), status("TERM"));
    let words = "popef merge: stopped, but parts of the upload may be left at the store: aws s3api \
                 list-multipart-uploads --bucket b shows them, and abort-multipart-upload removes them\n";
    assert_eq!(String::from_utf8(done.stderr).unwrap(), words);
}

/// What the service of the machine says is not what the store says, which nobody asked.
#[test]
fn the_service_for_credentials_is_told_from_the_store() {
    let place = place();
    place.write("token", "t");
    let store = Server::start(|_, _| answer("403 Forbidden", &[("Content-Length", "0".into())], b""));
    let ls = |service: &Server, disabled: &str| {
        let mut command = place.command();
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
            command.env_remove(name);
        }
        command.env("HOME", place.path(".")).env("AWS_EC2_METADATA_DISABLED", disabled);
        command.env("AWS_METADATA_ENDPOINT", format!("http://127.0.0.1:{}", service.port));
        let endpoint = format!("http://127.0.0.1:{}", store.port);
        let done = command.args(["ls", "s3://b/k.popef", "--endpoint", &endpoint]).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    for (status, words) in [("403 Forbidden", "refuses"), ("404 Not Found", "refuses"), ("200 OK", "can be read")] {
        let service = Server::start(move |_, _| answer(status, &[("Content-Length", "0".into())], b""));
        let (code, said) = ls(&service, "true");
        assert!(code == Some(2) && said.contains("AWS_EC2_METADATA_DISABLED"), "{said}");
        assert!(said.contains("[remote-no-credentials]") && service.asked().is_empty(), "{said}");
        let (code, said) = ls(&service, "false");
        assert!(code == Some(2) && said.contains(words) && said.contains("[remote-no-credentials]"), "{said}");
        assert!(!service.asked().is_empty());
        let mut command = place.command();
        let tokens = format!("http://127.0.0.1:{}", service.port);
        command.envs([
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "token"),
            ("AWS_ROLE_ARN", "r"),
            ("AWS_ENDPOINT_URL_STS", &tokens),
        ]);
        let run =
            finish(command.args(["ls", "s3://b/k.popef", "--endpoint", &format!("http://127.0.0.1:{}", store.port)]));
        assert!(run.status == 2 && run.err.contains("the service for tokens"), "{run:?}");
        assert!(run.err.contains(words) && run.err.contains("[remote-no-credentials]"), "{run:?}");
    }
    assert!(store.asked().is_empty());
}

/// No request can be made with these, or it would be for another object.
#[test]
fn what_cannot_be_asked_for_is_told() {
    let place = place();
    let long = format!("s3://b/{}.popef", "n".repeat(5000));
    let cases = [
        (&["--endpoint", "nonsense", "s3://b/k.popef"][..], "remote-settings"),
        (&["--endpoint", "http://", "s3://b/k.popef"], "remote-settings"),
        (&["--endpoint", "http://a b", "gs://b/k.popef"], "remote-settings"),
        (&["--region", "a\nb", "s3://b/k.popef"], "remote-settings"),
        (&["--endpoint", "http://127.0.0.1:1", "abfs://c@a.dfs.core.windows.net/k.popef"], "remote-settings"),
        (&["s3://b b/k.popef"], "remote-url"),
        (&["s3://b//k.popef"], "remote-url"),
        (&["ftp://h/k.popef"], "remote-url"),
        (&["https:/h/k.popef"], "remote-url"),
        (&["s3:/b/k.popef"], "remote-url"),
        (&[&*long], "remote-url"),
    ];
    for (words, code) in cases {
        let run = place.run(&[&["ls"], words].concat());
        assert!(run.status == 2 && run.err.contains(&format!("[{code}]")), "{words:?} {}", run.err);
    }
    for (variable, url) in [
        ("AWS_ENDPOINT_URL", "s3://b/k.popef"),
        ("AZURE_STORAGE_ENDPOINT", "az://account/b/k.popef"),
        ("HF_ENDPOINT", "hf://o/n/k.popef"),
    ] {
        for value in ["nonsense", "ftp://h"] {
            let done = place.command().args(["ls", url]).env(variable, value).output().unwrap();
            let said = String::from_utf8(done.stderr).unwrap();
            assert_eq!(done.status.code(), Some(2));
            assert!(said.contains("[remote-settings]") && said.contains(variable), "{value:?} {said}");
        }
    }
    for (variable, value, url) in [
        ("HF_TOKEN", "SECRET\n", "hf://o/n/k.popef"),
        ("HF_ENDPOINT", "https://u:SECRET@h", "hf://o/n/k.popef"),
        ("AWS_ENDPOINT_URL", "https://h/?sig=SECRET", "s3://b/k.popef"),
        ("GOOGLE_SERVICE_ACCOUNT", "SECRET", "gs://b/k.popef"),
        ("AZURE_STORAGE_ACCOUNT_NAME", "", "az://c/k.popef"),
        ("AZURE_STORAGE_ACCOUNT_NAME", "h.example/SECRET", "az://c/k.popef"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "SECRET!", "abfs://c@a/k.popef"),
    ] {
        let run = finish(place.command().args(["ls", url]).env(variable, value));
        assert!(run.status == 2 && run.err.contains("[remote-settings]"), "{variable} {run:?}");
        assert!(run.err.contains(variable) && !run.err.contains("SECRET"), "{variable} {run:?}");
    }
}

/// Nothing is signed, and no service is asked for credentials.
#[test]
fn a_bucket_without_signatures_is_written_too() {
    let place = place();
    for variable in ["GOOGLE_SKIP_SIGNATURE", "STORAGE_EMULATOR_HOST"] {
        let server = Server::start(|_, asked| {
            let status = if asked.line.starts_with("PUT ") { "200 OK" } else { "404 Not Found" };
            answer(status, &[("Content-Length", "0".into()), ("ETag", "\"one\"".into())], b"")
        });
        let endpoint = format!("http://127.0.0.1:{}", server.port);
        let mut command = place.command();
        command.args(["merge", FILE, "-o", "gs://b/k.popef", "--endpoint", &endpoint]);
        command.env(variable, if variable == "GOOGLE_SKIP_SIGNATURE" { "true" } else { &endpoint });
        finish(command.env("HOME", place.path("."))).good();
        assert!(server.asked().iter().any(|asked| asked.line.starts_with("PUT /b/k")));
        assert!(server.asked().iter().all(|asked| asked.header("authorization").is_none()));
    }
}

/// A dry run refuses what no run could write, and asks nobody.
#[test]
fn what_cannot_be_written_is_told() {
    let place = place();
    for (url, code) in [
        ("ftp://h/x", "remote-url"),
        ("s3://../b/k", "remote-url"),
        ("https://h/x", "remote-output"),
        ("hf://o/n/p", "remote-output"),
        ("s3://b", "remote-output"),
        ("s3://b/x/", "remote-output"),
        ("s3://b//x", "remote-output"),
    ] {
        for more in [&["--dry-run"][..], &[]] {
            let run = place.run(&[&["merge", FILE, "-o", url], more].concat());
            assert!(run.status == 2 && run.err.contains(&format!("[{code}]")), "{url} {run:?}");
        }
    }
    place.run(&["merge", FILE, "-o", "s3://b/k.popef", "--dry-run"]).good();
}

/// The credentials for one store are not sent to another.
#[test]
fn an_endpoint_is_that_of_one_kind_of_stores() {
    let place = place();
    let store = Server::of(place.read(FILE));
    let endpoint = format!("http://127.0.0.1:{}", store.port);
    let mut command = place.command();
    command.args(["diff", "s3://b/k.popef", "az://c/k.popef", "--endpoint", &endpoint]);
    command.envs([("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")]);
    command.envs([("AZURE_STORAGE_ACCOUNT_NAME", "a"), ("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=SECRET")]);
    let run = finish(&mut command);
    assert!(run.status == 2 && run.err.contains("[remote-settings]"), "{run:?}");
    assert!(store.asked().iter().all(|asked| !asked.line.contains("SECRET")));
}

/// A file is there only if the server says so.
#[test]
fn no_answer_is_taken_for_an_empty_file() {
    let place = place();
    for status in ["416 Range Not Satisfiable", "204 No Content", "207 Multi-Status"] {
        let server = Server::start(move |_, _| answer(status, &[("Content-Length", "0".into())], b""));
        let run = place.run(&["ls", &server.url()]);
        assert!(run.status == 2 && run.err.contains("[remote-wrong-range]"), "{status} {}", run.err);
    }
    let range = ("Content-Range", "bytes */0".into());
    let server = Server::start(move |_, _| {
        answer("416 Range Not Satisfiable", &[range.clone(), ("Content-Length", "0".into())], b"")
    });
    assert_eq!(place.run(&["ls", &server.url()]).status, 0);
}

/// Certificates are needed only where there is a safe connection.
#[test]
fn a_missing_file_of_certificates_is_named() {
    let place = place();
    let server = Server::of(place.read(FILE));
    let ls = |url: &str| {
        let mut command = place.command();
        finish(command.args(["ls", url]).env("SSL_CERT_FILE", "/no/such/file").env_remove("SSL_CERT_DIR"))
    };
    ls(&server.url()).good();
    let run = ls("https://127.0.0.1:1/k.popef");
    assert!(run.status == 2 && run.err.contains("[remote-tls]"), "{run:?}");
    assert!(run.err.contains("there is no /no/such/file, which SSL_CERT_FILE names"), "{run:?}");
}

#[test]
fn manifests_are_read_here_only() {
    let place = place();
    let server = Server::of(b"{}".to_vec());
    let run = place.run(&["verify", &server.url()]);
    assert!(run.status == 2 && run.err.contains("copy this file here first"), "{}", run.err);
    assert!(server.asked().is_empty());
}

/// The code and the next step are those of the network, and not those of a file here.
#[test]
fn errors_have_the_code_of_the_network() {
    let place = place();
    let bytes = place.read(FILE);
    let server = Server::start(move |_, asked| match asked.line.as_str() {
        line if line.contains("/403/") => answer("403 Forbidden", &[("Content-Length", "0".into())], b""),
        line if line.contains("/302/") => answer("302 Found", &[("Content-Length", "0".into())], b""),
        line if line.contains("/page/") => {
            answer("200 OK", &[("Content-Type", "text/html; charset=utf-8".into())], b"<html>Log in</html>")
        }
        line if line.contains("/404/") => answer("404 Not Found", &[("Content-Length", "0".into())], b""),
        _ => answer("200 OK", &[("Content-Length", bytes.len().to_string())], &bytes),
    });
    let cases = [
        ("302", "remote-malformed", "io", "proxy"),
        ("page", "remote-page", "io", "browser"),
        ("403", "remote-denied", "io", "credentials"),
        ("404", "remote-not-found", "io", "spelling"),
        ("200", "remote-no-ranges", "io", "Download"),
    ];
    for (status, code, kind, advice) in cases {
        let url = server.url().replace("model.popef", &format!("{status}/model.popef"));
        for words in [&["hash", &*url][..], &["merge", &*url, "--dry-run"], &["ls", "--values", &*url]] {
            let run = place.run(&[words, &["--format", "json"]].concat());
            let json = run.json();
            let error = json["files"][0].get("error").unwrap_or(&json["error"]);
            assert_eq!(
                (run.status, &error["code"], &error["kind"]),
                (2, &code.into(), &kind.into()),
                "{words:?} {json:#}"
            );
            assert!(error["advice"].as_str().unwrap().contains(advice), "{words:?} {json:#}");
            assert!(run.err.contains(&format!("[{code}]")) && !run.err.contains("Read the source"), "{}", run.err);
        }
    }
}

#[test]
fn nothing_secret_is_shown() {
    let place = place();
    let server = Server::of(place.read(FILE));
    place.write("headers", "X-Token: SECRET\n");
    let url = format!("{}?signature=SECRET", server.url()).replace("http://", "http://user:SECRET@");
    let good = place.run(&["ls", "-v", "--header", "@headers", "--header", "X-More: SECRET", &url]).good();
    let asked = server.asked();
    assert!(asked[0].line.contains("?signature=SECRET") && asked[0].header("x-more") == Some("SECRET"));
    let refusing = Server::start(|_, _| answer("403 Forbidden", &[("Content-Length", "0".into())], b""));
    let url = url.replace(&server.port.to_string(), &refusing.port.to_string());
    for format in ["text", "json"] {
        let bad = place.run(&["hash", "--format", format, "--header", "@headers", &url]);
        assert_eq!(bad.status, 2);
        assert!(bad.err.contains("HTTP 403") && bad.err.contains("model.popef?..."), "{}", bad.err);
        for run in [&good, &bad] {
            assert!(!run.err.contains("SECRET") && !run.text().contains("SECRET"), "{run:?}");
        }
    }
}

#[test]
fn a_file_of_headers_is_not_replaced() {
    let place = Place::with(&["interop/add-clean.popef"]);
    place.write("headers", "X-Key: 1\n");
    for command in ["report", "merge", "set --set numIpus=2"] {
        let line = command.split(' ').chain(["add-clean.popef", "--header", "@headers", "-o", "headers", "--force"]);
        let run = place.run(&line.collect::<Vec<_>>());
        assert!(run.status == 2 && run.err.contains("[output-is-input]"), "{command}: {run:?}");
        assert_eq!(place.read("headers"), b"X-Key: 1\n");
    }
}

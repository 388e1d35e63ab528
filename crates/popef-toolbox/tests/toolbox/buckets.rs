//! Buckets at a server on this machine that answers as a test says: keys of any kind, and answers that are lost.

#![cfg(feature = "remote")]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::common::{Place, finish};
use crate::remote::in_parts;
use crate::remote::server::{Answer, Asked, Server, answer, tagged};

const FILE: &str = "executable.popef";

fn place() -> Place {
    Place::with(&["interop/executable.popef", "interop/split-executable.popef"])
}

fn popef(place: &Place, store: &Server, words: &[&str]) -> Command {
    let mut command = place.command();
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.args(words).args(["--endpoint", &format!("http://127.0.0.1:{}", store.port)]);
    command.envs([("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")]);
    command
}

fn xml(status: &str, body: &str) -> Answer {
    answer(status, &[("Content-Length", body.len().to_string())], body.as_bytes())
}

fn missing() -> Answer {
    xml("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>")
}

/// A page of a listing.
fn page(is_truncated: &str, contents: &str) -> String {
    format!("<ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>{contents}</ListBucketResult>")
}

/// A bucket with these objects.
fn bucket(objects: &[(&str, Vec<u8>)]) -> Server {
    let encoded = |key: &str| {
        key.bytes().fold(String::new(), |path, byte| match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'/' => path + &char::from(byte).to_string(),
            _ => format!("{path}%{byte:02X}"),
        })
    };
    let paths: BTreeMap<_, _> =
        objects.iter().map(|(key, bytes)| (format!("/b/{}", encoded(key)), bytes.clone())).collect();
    let contents = objects.iter().map(|(key, bytes)| {
        let key = key.replace('&', "&amp;");
        let size = bytes.len();
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>{size}</Size></Contents>"
        )
    });
    let listing = page("false", &contents.collect::<String>());
    Server::start(move |_, asked| {
        let path = asked.line.split(' ').nth(1).unwrap();
        match paths.get(path) {
            _ if path.starts_with("/b?") => xml("200 OK", &listing),
            Some(bytes) => tagged(bytes, asked, "\"one\""),
            None => missing(),
        }
    })
}

/// What is shown of a name does not decide what is read.
#[test]
fn a_listing_reads_what_it_lists() {
    let place = place();
    let (good, other) = (place.read(FILE), place.read("split-executable.popef"));
    let bad = || b"garbage".to_vec();
    let objects = vec![
        ("e/a.popef", good.clone()),
        ("e/a.popef#v=2.popef", bad()),
        ("e/a.popef?seed=1.popef", bad()),
        ("e/a.popef?seed=2.popef", other.clone()),
    ];
    let server = bucket(&objects);
    let run = |words: &[&str]| finish(&mut popef(&place, &server, words));
    let check = run(&["check", "--each", "s3://b/e/**"]);
    assert_eq!(check.status, 1, "{check:?}");
    assert!(check.text().contains("2 errors") && check.text().contains("in 4 files"), "{}", check.text());
    let alone = run(&["ls", "s3://b/e/a.popef[?]seed=2.popef"]);
    assert_eq!(alone.status, 0, "{alone:?}");

    let server = bucket(&[objects[0].clone(), ("e/a.popef#v=2.popef", other), objects[3].clone()]);
    let hash = finish(&mut popef(&place, &server, &["hash", "s3://b/e/*"]));
    let text = hash.text();
    let whole = text.lines().filter_map(|line| line.strip_suffix("  content of all blobs"));
    let mut digests: Vec<_> = whole.collect();
    digests.sort();
    digests.dedup();
    assert_eq!((hash.status, digests.len()), (0, 2), "{hash:?}");
}

/// What a store says of a new object, and of a listing.
#[test]
fn a_refusal_is_told_as_what_it_is() {
    let place = place();
    let write = ["merge", FILE, "-o", "s3://b/k.popef"];
    let cases: [(&[&str], &str, &str, &str); 6] = [
        (&write, "200 OK", "a login", "[remote-page]"),
        (&write, "409 Conflict", "ConditionalRequestConflict", "[remote-busy]\npopef merge: Try again later.\n"),
        (&write, "409 Conflict", "Other", "Other (HTTP 409)"),
        (&write, "501 Not Implemented", "NotImplemented", "with --force"),
        (&write, "302 Found", "Moved", "[remote-redirect]"),
        (&["ls", "s3://b/*"], "200 OK", "a page", "[remote-page]"),
    ];
    for (words, status, code, told) in cases {
        let server = Server::start(move |_, asked| match asked.line.split(' ').next() {
            _ if code == "a page" => answer(status, &[("Content-Type", "text/html".into())], b"<html>Log in</html>"),
            Some("GET") => missing(),
            _ if code == "a login" => answer(
                status,
                &[("Content-Type", "text/html".into()), ("ETag", "\"p\"".into())],
                b"<html>Log in</html>",
            ),
            _ => xml(status, &format!("<Error><Code>{code}</Code></Error>")),
        });
        let run = finish(&mut popef(&place, &server, words));
        assert!(run.status == 2 && run.err.contains(told) && !run.err.contains("file-exists"), "{code} {run:?}");
    }
    let server = Server::start(|_, _| xml("404 Not Found", "<Error><Code>NoSuchBucket</Code></Error>"));
    let run = finish(&mut popef(&place, &server, &write));
    assert!(run.status == 2 && run.err.contains("NoSuchBucket") && server.asked().len() == 1, "{run:?}");
}

/// Consoles make a folder visible by an empty object. The store's own name of it has no slash.
#[test]
fn what_marks_a_folder_is_no_file() {
    let place = place();
    let good = place.read(FILE);
    let server = bucket(&[
        ("f", good.clone()),
        ("f/", Vec::new()),
        ("f/&.popef/", Vec::new()),
        ("f/a.popef", good.clone()),
        ("f/g.popef/", b"garbage".to_vec()),
        ("f/g.popef", good),
    ]);
    for (pattern, files) in [("s3://b/**", 3), ("s3://b/f/*", 2), ("s3://b/f/", 2), ("s3://b/*", 1)] {
        let run = finish(&mut popef(&place, &server, &["ls", "--format", "json", pattern])).good();
        assert_eq!(run.json()["files"].as_array().unwrap().len(), files, "{pattern} {}", run.text());
    }
}

/// Each page leads to the one before it, and no page has an object.
#[test]
fn a_listing_that_goes_round_ends() {
    let place = place();
    let server = Server::start(|number, _| {
        let token = format!("<NextContinuationToken>{}</NextContinuationToken>", number % 2);
        xml("200 OK", &page("true", &token))
    });
    let run = finish(&mut popef(&place, &server, &["ls", "s3://b/*"]));
    assert!(run.status == 2 && run.err.contains("[remote-listing]") && run.err.contains("begins again"), "{run:?}");
    assert_eq!(server.asked().len(), 4);
}

/// An answer that is no page, or does not say where it goes on, never makes a listing shorter.
#[test]
fn a_listing_is_whole_or_an_error() {
    let place = place();
    let file = "<Contents><Key>a.popef</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>1</Size></Contents>";
    let first = page("true", &format!("{file}<NextContinuationToken>T</NextContinuationToken>"));
    let cases = [
        ("<?xml version=\"1.0\"?><Error><Code>InternalError</Code></Error>".to_owned(), "InternalError [remote-busy]"),
        ("<Error><Code>AccessDenied</Code></Error>".to_owned(), "AccessDenied"),
        ("<!DOCTYPE html>\n<HTML lang=en>Log in</HTML>".to_owned(), "[remote-page]"),
        ("<ListBucketResult/>".to_owned(), "does not say whether it goes on"),
        ("<ListAllMyBucketsResult><IsTruncated>false</IsTruncated></ListAllMyBucketsResult>".to_owned(), "no listing"),
        (String::new(), "no listing of a bucket [remote-malformed]"),
        (page("true", ""), "does not say where"),
        (page("true", "<NextContinuationToken></NextContinuationToken>"), "does not say where"),
        (page("false", file), "it has a key twice"),
    ];
    let emulator = |server: &Server| [("STORAGE_EMULATOR_HOST", format!("127.0.0.1:{}", server.port))];
    for (second, told) in cases {
        for address in ["s3://b/", "gs://b/"] {
            let pages = [first.clone(), second.clone()];
            let server = Server::start(move |_, asked| {
                xml("200 OK", &pages[usize::from(asked.line.contains("continuation-token="))])
            });
            let run = finish(popef(&place, &server, &["ls", address]).envs(emulator(&server)));
            assert!(run.status == 2 && run.err.contains(told) && run.out.is_empty(), "{second} {run:?}");
        }
    }
}

/// What a store keeps of an object, and of an upload in parts.
#[derive(Default)]
struct Kept {
    object: Option<Vec<u8>>,
    version: usize,
    parts: BTreeMap<usize, Vec<u8>>,
    writes: usize,
}

impl Kept {
    fn put(&mut self, bytes: Vec<u8>) {
        (self.object, self.version) = (Some(bytes), self.version + 1);
    }
}

/// What happens to the first request that makes the object appear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    /// It is done, and the answer says that it was not.
    Done,
    /// It is done, and there is no answer.
    Lost,
    /// It is done, the answer says that it was not, and nobody may look.
    Hidden,
    /// It is not done, and then somebody else writes.
    Other,
    /// It is not done, and the answer says so under a status that says that it was.
    Refused,
    /// Somebody else writes shortly before it, and the store knows no conditions.
    Unconditional,
}

/// A store of one object.
fn store(old: Option<Vec<u8>>, first: First) -> (Server, Arc<Mutex<Kept>>) {
    let kept = Arc::new(Mutex::new(Kept { object: old, ..Kept::default() }));
    let shared = Arc::clone(&kept);
    let server = Server::start(move |_, asked| answered(&mut shared.lock().unwrap(), asked, first));
    (server, kept)
}

fn answered(kept: &mut Kept, asked: &Asked, first: First) -> Answer {
    if first == First::Unconditional && asked.range == Some(0..1) {
        kept.put(b"of somebody else".to_vec());
    }
    let tag = format!("\"v{}\"", kept.version);
    let mut words = asked.line.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let part = path.split(['?', '&']).find_map(|word| word.strip_prefix("partNumber="));
    match (method, part) {
        ("GET", _) if first == First::Hidden && kept.writes > 0 => xml("403 Forbidden", ""),
        ("GET", _) => kept.object.as_ref().map_or_else(missing, |bytes| tagged(bytes, asked, &tag)),
        ("POST", _) if path.ends_with("?uploads=") || path.ends_with("?uploads") => {
            xml("200 OK", "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
        }
        ("PUT", Some(part)) => {
            kept.parts.insert(part.parse().unwrap(), asked.body.clone());
            answer("200 OK", &[("Content-Length", "0".into()), ("ETag", "\"p\"".into())], b"")
        }
        ("DELETE", _) => xml("404 Not Found", "<Error><Code>NoSuchUpload</Code></Error>"),
        ("PUT" | "POST", _) => {
            kept.writes += 1;
            if kept.writes > 1 && method == "POST" {
                return xml("404 Not Found", "<Error><Code>NoSuchUpload</Code></Error>");
            }
            let may = asked.header("if-match").is_none_or(|wanted| wanted == tag)
                && (asked.header("if-none-match").is_none() || kept.object.is_none());
            if !may && first != First::Unconditional {
                return xml("412 Precondition Failed", "<Error><Code>PreconditionFailed</Code></Error>");
            }
            if first == First::Refused {
                return xml("200 OK", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>");
            }
            let new = match method {
                "PUT" => asked.body.clone(),
                _ => std::mem::take(&mut kept.parts).into_values().flatten().collect(),
            };
            kept.put(if first == First::Other { b"of somebody else".to_vec() } else { new });
            if first == First::Lost { Vec::new() } else { xml("500 Internal Server Error", "") }
        }
        _ => panic!("{}", asked.line),
    }
}

/// The store decides, and not the answer that arrives: it refuses to do again what it has done.
#[test]
fn a_write_that_was_done_is_told_as_done() {
    let place = place();
    in_parts(&place);
    let small: (&[&str], _) = (&["set", "--rename", "input_parameter=w", "--in-place", "s3://b/k.popef"], Some(FILE));
    let new: (&[&str], _) = (&["merge", FILE, "-o", "s3://b/k.popef"], None);
    let large: (&[&str], _) = (&["merge", "large.popef", "-o", "s3://b/k.popef", "--force"], Some(FILE));
    let cases = [
        (small, First::Done, ""),
        (small, First::Hidden, "remote-unsure"),
        (small, First::Other, "remote-changed"),
        (small, First::Lost, ""),
        (small, First::Unconditional, "remote-changed"),
        (new, First::Done, ""),
        (new, First::Hidden, "remote-unsure"),
        (new, First::Other, "file-exists"),
        (large, First::Done, ""),
        (large, First::Lost, ""),
        (large, First::Hidden, "remote-unsure"),
        (large, First::Other, "NoSuchUpload"),
        (large, First::Refused, "the store could not be used: AccessDenied"),
    ];
    for ((words, old), first, code) in cases {
        let (server, kept) = store(old.map(|name| place.read(name)), first);
        let run = finish(&mut popef(&place, &server, words));
        let kept = kept.lock().unwrap();
        assert_eq!(kept.version, usize::from(first != First::Refused), "{words:?} {first:?} {run:?}");
        assert_eq!(run.status, if code.is_empty() { 0 } else { 2 }, "{words:?} {first:?} {run:?}");
        assert!(run.err.contains(code) && !run.err.contains("spelling"), "{words:?} {first:?} {run:?}");
        assert!(!run.err.contains("may be left"), "{words:?} {first:?} {run:?}");
        if !matches!(first, First::Other | First::Unconditional) {
            assert!(popef::File::from_bytes(kept.object.clone().unwrap()).unwrap().damage().is_none());
        }
    }
}

/// The store has begun an upload, but its answer is lost, or does not say which: then nobody can remove it.
#[test]
fn an_upload_whose_beginning_is_lost_is_told() {
    let place = place();
    in_parts(&place);
    let answers = [
        (Vec::new(), true),
        (xml("200 OK", "<InitiateMultipartUploadResult/>"), true),
        (xml("403 Forbidden", "<Error><Code>AccessDenied</Code></Error>"), false),
    ];
    for (begun, is_left) in answers {
        let server =
            Server::start(move |_, asked| if asked.line.starts_with("POST") { begun.clone() } else { missing() });
        let run = finish(&mut popef(&place, &server, &["merge", "large.popef", "-o", "s3://b/k.popef"]));
        assert_eq!((run.status, run.err.contains("parts of the upload may be left")), (2, is_left), "{run:?}");
    }
}

/// Before anything is written, and while an upload begins, nothing is waited for in vain.
#[cfg(unix)]
#[test]
fn a_silent_store_does_not_hold_a_stop() {
    use crate::signal::{signal, status};
    let place = place();
    in_parts(&place);
    for silent in ["GET", "POST"] {
        let server = Server::start(move |_, asked| {
            while asked.line.starts_with(silent) {
                std::thread::park();
            }
            missing()
        });
        let mut command = popef(&place, &server, &["merge", "large.popef", "-o", "s3://b/k.popef"]);
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        while !server.asked().iter().any(|asked| asked.line.starts_with(silent)) {
            assert_eq!(child.try_wait().unwrap(), None, "the command has ended");
            std::thread::yield_now();
        }
        signal(&child, "TERM");
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), status("TERM"), "{silent} {said}");
        assert_eq!(said.contains("parts of the upload may be left"), silent == "POST", "{said}");
    }
}

type Variables<'v> = &'v [(&'v str, &'v str)];

/// All ways to name the address of a store are checked, before a connection is made.
#[test]
fn no_setting_leads_to_the_credentials_of_a_machine() {
    let place = place();
    let of_google = |more: &str| {
        let key = r#"{"private_key": "p", "private_key_id": "i", "client_email": "e", "disable_oauth": true"#;
        format!("{key}{more}}}")
    };
    let with_base = |base: &str| of_google(&format!(r#", "gcs_base_url": "{base}""#));
    let (base, plain) = (with_base("http://169.254.169.254"), of_google(""));
    let spelled =
        ["http://0xa9fe0101", "https://169.254.257", "http://169%2e254.1.1", "http://h:x", "http://a b"].map(with_base);
    let there = "http://169.254.169.254";
    let azure =
        ["ACCOUNT_NAME", "CLIENT_ID", "CLIENT_SECRET", "TENANT_ID"].map(|name| (format!("AZURE_STORAGE_{name}"), "a"));
    let azure: Vec<_> = azure
        .iter()
        .map(|(name, value)| (&**name, *value))
        .chain([("AZURE_AUTHORITY_HOST", "https://0xa9fe0101")])
        .collect();
    let cases: [(&str, Variables<'_>); 13] = [
        ("gs://b/k", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &base)]),
        ("gs://b/k --allow-http", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &spelled[0])]),
        ("gs://b/k", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &spelled[1])]),
        ("gs://b/k --allow-http", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &spelled[2])]),
        ("gs://b/k --allow-http", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &spelled[3])]),
        ("gs://b/k", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &spelled[4])]),
        ("gs://b/k", &[("GOOGLE_SERVICE_ACCOUNT_KEY", &plain), ("GOOGLE_BASE_URL", there)]),
        ("az://b/k", &[("AZURE_STORAGE_USE_EMULATOR", "1"), ("AZURITE_BLOB_STORAGE_URL", there)]),
        ("s3://b/k", &[("AWS_ENDPOINT_URL_S3", there)]),
        ("az://b/k", &azure),
        ("s3://b/k --region x@169.254.169.254/", &[]),
        ("s3://b/k", &[("AWS_REGION", "x@169.254.169.254/")]),
        (
            "s3://b/k",
            &[("AWS_ENDPOINT_URL_STS", there), ("AWS_WEB_IDENTITY_TOKEN_FILE", "token"), ("AWS_ROLE_ARN", "r")],
        ),
    ];
    place.write("token", "t");
    for (words, variables) in cases {
        let mut command = place.command();
        command.arg("ls").args(words.split(' '));
        // A request that is not refused ends here.
        command.envs(["HTTP_PROXY", "HTTPS_PROXY"].map(|variable| (variable, "http://127.0.0.1:1")));
        let has_token = variables.iter().any(|(name, _)| name.contains("TOKEN"));
        let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_EC2_METADATA_DISABLED", "true")];
        command.envs(keys.into_iter().skip(if has_token { 2 } else { 0 })).envs(variables.iter().copied());
        let run = finish(&mut command);
        assert!(run.status == 2 && run.err.contains("[remote-settings]"), "{words} {variables:?} {run:?}");
    }
}

/// The service of a machine has the credentials of somebody else than is meant.
#[test]
fn no_setting_asks_the_service_of_a_machine_in_vain() {
    let place = place();
    place.write("token", "t");
    let cases: [(Variables<'_>, &str); 5] = [
        (&[("AWS_SKIP_SIGNATURE", "false")], "forbids"),
        (&[("AWS_ACCESS_KEY_ID", ""), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "")], "forbids"),
        (
            &[
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "t"),
            ],
            "AWS_CONTAINER_CREDENTIALS_FULL_URI needs AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        ),
        (&[("AWS_WEB_IDENTITY_TOKEN_FILE", "token")], "AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN"),
        (&[("AWS_WEB_IDENTITY_TOKEN_FILE", "token"), ("AWS_ROLE_ARN", "")], "needs AWS_ROLE_ARN"),
    ];
    for (variables, told) in cases {
        let server = Server::start(|_, _| missing());
        let mut command = popef(&place, &server, &["ls", "s3://b/k"]);
        command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY").env("HOME", place.path("none"));
        command.env("AWS_METADATA_ENDPOINT", format!("http://127.0.0.1:{}", server.port));
        let run = finish(command.env("AWS_EC2_METADATA_DISABLED", "true").envs(variables.iter().copied()));
        assert!(run.status == 2 && run.err.contains(told) && server.asked().is_empty(), "{variables:?} {run:?}");
    }
}

/// As for the stores' own tools.
#[test]
fn empty_settings_count_as_missing() {
    let place = place();
    let server = bucket(&[("k.popef", place.read(FILE))]);
    let mut command = popef(&place, &server, &["ls", "--region", "", "s3://b/k.popef"]);
    command.envs(["AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_SKIP_SIGNATURE"].map(|name| (name, "")));
    finish(command.env("AWS_DEFAULT_REGION", "eu-west-1")).good();
    let asked = &server.asked()[0];
    assert!(asked.header("x-amz-security-token").is_none(), "{asked:?}");
    assert!(asked.header("authorization").unwrap().contains("/eu-west-1/"), "{asked:?}");
    let google = [("SERVICE_ACCOUNT", "/none"), ("GOOGLE_SERVICE_ACCOUNT", ""), ("GOOGLE_SKIP_SIGNATURE", "true")];
    let run = finish(popef(&place, &server, &["ls", "gs://b/k.popef"]).envs(google));
    assert!(run.err.contains("NoSuchKey") && !run.err.contains("SERVICE_ACCOUNT"), "{run:?}");
}

/// The crate of the stores panics at an address that is none.
#[test]
fn a_setting_that_is_no_address_is_told() {
    let place = place();
    let azure =
        [("AZURE_STORAGE_ACCOUNT_NAME", "a"), ("AZURE_STORAGE_CLIENT_ID", "i"), ("AZURE_STORAGE_CLIENT_SECRET", "s")];
    let cases: [(&str, Variables<'_>, &str); 9] = [
        ("s3://b/k --region xn--a", &[], "[remote-settings]"),
        ("s3://xn--a/k", &[("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true")], "[remote-url]"),
        ("s3://b/k", &[("AWS_METADATA_ENDPOINT", "a b")], "AWS_METADATA_ENDPOINT"),
        ("s3://b/k", &[("AWS_ENDPOINT_URL_STS", "http://")], "AWS_ENDPOINT_URL_STS"),
        ("gs://b/k", &[("GCE_METADATA_HOST", "a b")], "GCE_METADATA_HOST"),
        ("gs://b/k", &[("GCE_METADATA_HOST", "")], "GCE_METADATA_HOST"),
        (
            "az://b/k",
            &[("AZURE_AUTHORITY_HOST", "https://xn--a"), ("AZURE_STORAGE_TENANT_ID", "t")],
            "AZURE_AUTHORITY_HOST",
        ),
        ("az://b/k", &[("AZURE_STORAGE_TENANT_ID", "a b")], "AZURE_STORAGE_TENANT_ID"),
        ("s3://b/k", &[("HTTPS_PROXY", "bad scheme://u:SECRET")], "HTTPS_PROXY is not the address of a proxy"),
    ];
    for (words, variables, told) in cases {
        let mut command = place.command();
        command.arg("ls").args(words.split(' ')).envs([("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")]);
        command.env("HTTPS_PROXY", "http://127.0.0.1:1").env("HOME", place.path("none")).envs(azure);
        let run = finish(command.envs(variables.iter().copied()));
        assert!(run.status == 2 && run.err.contains(told), "{words} {variables:?} {run:?}");
        assert!(!run.err.contains("panicked") && !run.err.contains("SECRET"), "{words} {variables:?} {run:?}");
    }
}

#[test]
fn no_value_of_credentials_is_shown() {
    let place = place();
    place.write("text", "\"SECRET\"");
    place.write("kind", r#"{"type": "SECRET"}"#);
    let cases = [
        ("GOOGLE_SERVICE_ACCOUNT_KEY", "\"SECRET\""),
        ("GOOGLE_SERVICE_ACCOUNT", "text"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "text"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "kind"),
    ];
    for (variable, value) in cases {
        let run = finish(place.command().args(["ls", "gs://b/k"]).env(variable, value));
        assert!(run.status == 2 && run.err.contains("environment"), "{run:?}");
        assert!(!run.err.contains("SECRET"), "{run:?}");
    }
}

/// What goes to this machine is not shown to a proxy, in particular not the user's name.
#[test]
fn this_machine_is_behind_no_proxy() {
    let place = place();
    let server = Server::of(place.read(FILE));
    let proxy = Server::start(|_, _| answer("403 Forbidden", &[], b""));
    for host in ["127.0.0.1", "localhost", "127.1"] {
        let mut command = place.command();
        for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
            command.env(variable, format!("http://127.0.0.1:{}", proxy.port));
        }
        command.env_remove("REQUEST_METHOD").env_remove("NO_PROXY").env_remove("no_proxy");
        finish(command.args(["ls", &format!("http://u:SECRET@{host}:{}/k.popef", server.port)])).good();
    }
    assert!(proxy.asked().is_empty());
}

/// Also of files whose addresses have a query.
#[test]
fn new_files_have_the_names_of_the_old_ones() {
    let place = place();
    let server = Server::of(place.read(FILE));
    let url = format!("{}?sig=SECRET", server.url());
    std::fs::create_dir(place.path("out")).unwrap();
    place.run(&["compress", &url, "--output-dir", "out"]).good();
    place.run(&["split", &url, "--by", "kind", "-o", "parts"]).good();
    assert!(place.path("out/model.popef").exists());
    let parts: Vec<_> =
        std::fs::read_dir(place.path("parts")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let is_named = |name: &std::ffi::OsString| name.to_str().unwrap().starts_with("model-");
    assert!(!parts.is_empty() && parts.iter().all(is_named), "{parts:?}");
    // The name is that of the object, and not the one that is shown.
    let server = bucket(&[("e/a?b=c.popef", place.read(FILE))]);
    finish(&mut popef(&place, &server, &["compress", "s3://b/e/*", "--output-dir", "out"])).good();
    assert!(place.path("out/a?b=c.popef").exists());
}

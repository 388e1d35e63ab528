//! What a server can do wrong, one fault at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use popef_remote::{Code, Need, Options, Remote};

use super::common::content::{Content, Sparse};
use super::common::http::{ETAG, Reply, Request, Server};
use super::{code_of, local, open, quick};

type Answer = fn(&dyn Content, &Request) -> Reply;

/// A server that answers the requests from the given one on like this, and those before rightly.
fn server(from: usize, answer: Answer) -> Server {
    let content = content();
    Server::start(
        move |request| {
            if request.number < from { Reply::right(&content, request) } else { answer(&content, request) }
        },
    )
}

/// Several blobs, each further away than a first request reaches.
fn content() -> Vec<u8> {
    Sparse::tensors(3, 200 << 10).bytes()
}

/// A content range of this answer, moved.
fn moved(content: &dyn Content, request: &Request, start: i64, end: i64, size: i64) -> Reply {
    let range = request.range(content.len()).expect("it asks for a range");
    let by = |number: u64, change: i64| number.checked_add_signed(change).expect("it is a place");
    let text = format!("bytes {}-{}/{}", by(range.start, start), by(range.end - 1, end), by(content.len(), size));
    Reply::right(content, request).with("Content-Range", text)
}

fn shorter(content: &dyn Content, request: &Request, by: usize) -> Reply {
    let mut reply = Reply::right(content, request);
    reply.body.truncate(reply.body.len() - by);
    reply
}

/// Each fault, the error it must be, and words that the error must have.
const FAULTS: &[(&str, Answer, Code, &[&str])] = &[
    (
        "all instead of a range",
        |content, request| Reply { status: 200, ..Reply::right(content, request) },
        Code::NoRanges,
        &["cannot send parts"],
    ),
    ("a range further on", |content, request| moved(content, request, 1, 0, 0), Code::WrongRange, &["another range"]),
    (
        "a range that ends sooner",
        |content, request| moved(content, request, 0, -1, 0),
        Code::WrongRange,
        &["another range"],
    ),
    (
        "a range that ends later",
        |content, request| moved(content, request, 0, 1, 0),
        Code::WrongRange,
        &["another range"],
    ),
    (
        "no Content-Range",
        |content, request| Reply::right(content, request).without("Content-Range"),
        Code::WrongRange,
        &["no Content-Range"],
    ),
    (
        "a Content-Range of nonsense",
        |content, request| Reply::right(content, request).with("Content-Range", "bytes many"),
        Code::WrongRange,
        &["bytes many"],
    ),
    (
        "a Content-Range without a size",
        |content, request| Reply::right(content, request).with("Content-Range", "bytes 0-65535/*"),
        Code::WrongRange,
        &["another range"],
    ),
    (
        "a short body that says so",
        |content, request| shorter(content, request, 1),
        Code::WrongRange,
        &["another range"],
    ),
    (
        "a long body that says so",
        |content, request| {
            let mut reply = Reply::right(content, request);
            reply.body.push(0);
            reply
        },
        Code::WrongRange,
        &["another range"],
    ),
    (
        "a body that is cut",
        |content, request| Reply { cut: Some(1000), ..Reply::right(content, request) },
        Code::Cut,
        &["ended too early"],
    ),
    (
        "a compressed body",
        |content, request| Reply::right(content, request).with("Content-Encoding", "gzip"),
        Code::Encoded,
        &["gzip", "compression"],
    ),
    (
        "a body without end",
        |content, request| Reply { endless: true, ..Reply::right(content, request) },
        Code::WrongRange,
        &["longer than it may be"],
    ),
    (
        "a header with a control character",
        |content, request| Reply::right(content, request).with("X-Name", "a\u{1}b"),
        Code::Malformed,
        &["rules of HTTP", "header"],
    ),
    (
        "an ETag that is not ASCII",
        |content, request| Reply::right(content, request).with("ETag", "\"\u{e9}\""),
        Code::Malformed,
        &["etag", "ASCII"],
    ),
    (
        "a time of the last change that is none",
        |content, request| Reply::right(content, request).with("Last-Modified", "yesterday"),
        Code::Malformed,
        &["header cannot be read"],
    ),
    ("a refusal", |_, _| Reply::new(403), Code::Denied, &["403", "credentials"]),
    ("no such file", |_, _| Reply::new(404), Code::NotFound, &["404", "spelling"]),
    (
        "no such file, in many words",
        |_, _| Reply { body: vec![b'.'; 200 << 10], ..Reply::new(404) },
        Code::NotFound,
        &["404"],
    ),
    ("a failure", |_, _| Reply::new(503), Code::Busy, &["503", "later"]),
    ("too many requests", |_, _| Reply::new(429), Code::Busy, &["429", "later"]),
    ("a reset connection", |_, _| Reply { reset: true, ..Reply::new(200) }, Code::Cut, &["reset"]),
    (
        "a redirect to another scheme",
        |_, _| Reply::new(302).with("Location", "ftp://localhost/file"),
        Code::Redirect,
        &["from http to ftp"],
    ),
    (
        "a redirect to a server that is not there",
        |_, _| Reply::new(302).with("Location", "http://127.0.0.1:1/file?secret=2"),
        Code::Connect,
        &["redirected to http://127.0.0.1:1;"],
    ),
    ("a condition that nobody asked for", |_, _| Reply::new(412), Code::Refused, &["412"]),
    ("a proxy that asks who it is", |_, _| Reply::new(407), Code::Connect, &["407", "the proxy asks for a user"]),
    ("no such method", |_, _| Reply::new(501), Code::Refused, &["501"]),
    (
        "redirects without end",
        |_, request| Reply::new(302).with("Location", format!("{}x", request.path)),
        Code::Redirect,
        &["10"],
    ),
];

#[test]
fn each_fault_is_an_error_that_says_what_happened() {
    let remote = Remote::new(quick()).unwrap();
    for (name, answer, code, words) in FAULTS {
        let server = server(0, *answer);
        let (found, text) = code_of(open(&remote, &server.url("model.popef?secret=1"), Need::Data)).expect_err(name);
        assert_eq!(found, *code, "{name}: {text}");
        let said = format!("{text}; {}", found.info().advice.words());
        for word in *words {
            assert!(said.contains(word), "{name}: {word:?} is not in {said:?}");
        }
        assert!(!text.contains("secret"), "{name}: {text}");
        // Of the redirects without end, or two repetitions.
        let most = if *code == Code::Redirect { 11 } else { 3 };
        assert!(server.requests().len() <= most, "{name}: {} requests", server.requests().len());
    }
}

/// The same faults, when the first answer was right.
#[test]
fn each_later_fault_is_an_error_too() {
    let remote = Remote::new(quick()).unwrap();
    for (name, answer, ..) in FAULTS {
        let server = server(1, *answer);
        let (code, text) = code_of(open(&remote, &server.url("model.popef?secret=1"), Need::Data)).expect_err(name);
        assert_ne!(code, Code::Other, "{name}: {text}");
        assert!(!text.contains("secret"), "{name}: {text}");
    }
}

#[test]
fn a_change_while_reading_is_an_error() {
    let later: [(&str, Answer); 4] = [
        ("412", |_, _| Reply::new(412)),
        ("another ETag", |content, request| Reply::right(content, request).with("ETag", "\"two\"")),
        ("another size", |content, request| moved(content, request, 0, 0, 1)),
        ("gone", |content, request| {
            let start = request.range(content.len()).unwrap().start;
            Reply::new(416).with("Content-Range", format!("bytes */{}", start / 2))
        }),
    ];
    let remote = Remote::new(quick()).unwrap();
    for (name, answer) in later {
        let server = server(1, answer);
        let (code, text) = code_of(open(&remote, &server.url("model.popef"), Need::Data)).expect_err(name);
        assert_eq!(code, Code::Changed, "{name}: {text}");
        let pinned = server.requests().iter().skip(1).all(|request| request.header("if-match") == Some(ETAG));
        assert!(pinned, "{name}: a request without If-Match");
    }
}

/// Without an ETag, the time of the last change must stay the same.
#[test]
fn a_change_is_seen_without_an_etag() {
    let content = content();
    let server = Server::start(move |request| {
        let reply = Reply::right(&content, request).without("ETag");
        if request.number == 0 { reply } else { reply.with("Last-Modified", "Tue, 03 Mar 2026 10:00:01 GMT") }
    });
    let remote = Remote::new(quick()).unwrap();
    let (code, text) = code_of(open(&remote, &server.url("model.popef"), Need::Data)).unwrap_err();
    assert_eq!(code, Code::Changed, "{text}");
}

#[test]
fn what_may_pass_is_tried_again() {
    let passing: [(&str, Answer); 5] = [
        ("429", |_, _| Reply::new(429).with("Retry-After", "0")),
        ("500", |_, _| Reply::new(500)),
        ("503", |_, _| Reply::new(503)),
        ("reset", |_, _| Reply { reset: true, ..Reply::new(200) }),
        ("cut", |content, request| Reply { cut: Some(700), ..Reply::right(content, request) }),
    ];
    let content = Arc::new(content());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    std::fs::write(&path, &*content).unwrap();
    let (remote, truth) = (Remote::new(quick()).unwrap(), local(&path));
    for (name, answer) in passing {
        let content = content.clone();
        let server = Server::start(move |request| {
            if request.number % 2 == 0 { answer(&*content, request) } else { Reply::right(&*content, request) }
        });
        let read = code_of(open(&remote, &server.url("model.popef"), Need::Data));
        assert!(read.as_ref() == Ok(&truth), "{name}: {:?}", read.map(|_| "other data"));
    }
}

#[test]
fn a_server_that_is_silent_is_left() {
    let silent: [(&str, Answer); 3] = [
        ("from the start", |content, request| Reply { stuck: Some(0), ..Reply::right(content, request) }),
        ("in the head", |content, request| Reply { stuck: Some(20), ..Reply::right(content, request) }),
        ("in the body", |content, request| Reply { stuck: Some(1000), ..Reply::right(content, request) }),
    ];
    let mut options = quick();
    // It passes in any case: what it waits for does not come before the client leaves.
    options.read_timeout = Duration::from_millis(300);
    options.retries = 1;
    let remote = Remote::new(options).unwrap();
    for (name, answer) in silent {
        let server = server(0, answer);
        let (code, text) = code_of(open(&remote, &server.url("model.popef"), Need::Data)).expect_err(name);
        assert_eq!(code, Code::Timeout, "{name}: {text}");
        server.wait_until_left();
    }
}

/// Another request would get too much again.
#[test]
fn a_server_without_end_is_left_and_not_asked_again() {
    let server = server(0, |content, request| Reply { endless: true, ..Reply::right(content, request) });
    let remote = Remote::new(quick()).unwrap();
    code_of(open(&remote, &server.url("model.popef"), Need::Data)).unwrap_err();
    assert_eq!(server.requests().len(), 1);
    assert!(server.sent() < 16 << 20, "{} bytes", server.sent());
}

/// Browsers show the name that a Content-Disposition gives, so servers write names as they are.
#[test]
fn headers_that_are_not_needed_may_say_anything() {
    let content = content();
    let server = Server::start(move |request| {
        ["Content-Disposition", "Content-Type", "Content-Language", "Cache-Control"]
            .into_iter()
            .fold(Reply::right(&content, request), |reply, name| reply.with(name, "attachment; filename=mod\u{e8}le"))
    });
    code_of(open(&Remote::new(quick()).unwrap(), &server.url("model.popef"), Need::Data)).unwrap();
}

/// Work is given up when the caller says so, also while a server is silent.
#[test]
fn it_can_be_stopped() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let mut options = Options::default();
    options.stopped = Some(|| ASKED.fetch_add(1, SeqCst) > 2);
    let server = server(0, |content, request| Reply { stuck: Some(1000), ..Reply::right(content, request) });
    let remote = Remote::new(options).unwrap();
    let (code, _) = code_of(open(&remote, &server.url("model.popef"), Need::Data)).unwrap_err();
    assert_eq!(code, Code::Stopped);
    server.wait_until_left();
}

/// A server with no ranges: its file is listed, but its data cannot be read.
#[test]
fn a_server_without_ranges_serves_a_listing() {
    let content = content();
    let server = Server::start(move |request| {
        let all = Request { headers: Vec::new(), ..request.clone() };
        Reply::right(&content, &all).without("Accept-Ranges")
    });
    let remote = Remote::new(quick()).unwrap();
    let listed = open(&remote, &server.url("model.popef"), Need::Headers).unwrap();
    assert_eq!(listed.file.unwrap().len(), 3);
    assert!(listed.notice.is_some_and(|notice| notice.contains("cannot send parts")));
    assert_eq!(code_of(open(&remote, &server.url("model.popef"), Need::Data)).unwrap_err().0, Code::NoRanges);
}

/// Headers of the caller are not sent to another host. Ten redirects are followed.
#[test]
fn a_redirect_does_not_take_secrets_along() {
    let content = content();
    let other = Server::of(content);
    let target = other.url("moved.popef");
    let server = Server::start(move |request| {
        let (path, is_last) = (&request.path, request.path.ends_with("xxxxxxxxx"));
        Reply::new(302).with("Location", if is_last { target.clone() } else { format!("{path}x") })
    });
    let mut options = quick();
    options.header("Authorization: Bearer secret").unwrap();
    options.header("X-Token: secret").unwrap();
    let remote = Remote::new(options).unwrap();
    let opened = open(&remote, &server.url("model.popef"), Need::Data).unwrap();
    assert_eq!(opened.file.unwrap().len(), 3);
    let shown = |server: &Server| format!("{:?}", server.requests()).matches("secret").count();
    assert!(shown(&server) >= 2, "the first server gets them");
    assert_eq!(shown(&other), 0, "the second one does not");
}

/// Nothing is asked for with HEAD, which signed addresses refuse.
#[test]
fn only_get_is_used() {
    let server = Server::of(content());
    let remote = Remote::new(quick()).unwrap();
    code_of(open(&remote, &server.url("model.popef"), Need::Data)).unwrap();
    assert!(server.requests().iter().all(|request| request.method == "GET"));
}

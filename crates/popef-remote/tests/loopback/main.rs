//! Reading through a server on this machine, and refusing the answers of a wrong server.

mod server;

use std::io::Read;
use std::ops::Range;

use popef::error::ErrorCode;
use popef::types::TensorDataInfo;
use popef::{DataType, File, OpenOptions, TensorInfo, Writer};
use popef_remote::{Code, Location, Need, Opened, Options, Remote, RemoteError};

use server::{Answer, Asked, Server, answer, part, tagged};

fn options() -> Options {
    let mut options = Options::default();
    // Repetitions of what does not pass would only take time.
    options.retries = 0;
    options
}

fn open_with(options: Options, url: &str, need: Need) -> Result<(Opened, Remote), RemoteError> {
    let remote = Remote::new(options)?;
    let opened = remote.begin(&Location::parse(url)?, OpenOptions::new()).wait(need)?;
    Ok((opened, remote))
}

fn open(url: &str) -> Result<(Opened, Remote), RemoteError> {
    open_with(options(), url, Need::Data)
}

/// A file with this many tensors, each with this many bytes of data, which keep changing.
fn tensors(count: usize, len: usize) -> Vec<u8> {
    let mut writer = Writer::stream(Vec::new());
    for index in 0..count {
        let data: Vec<u8> = (0..len).map(|byte| (byte * 7 + byte / 251 + index) as u8).collect();
        let info = TensorInfo::new(DataType::U8, [i64::try_from(len).unwrap()]);
        writer
            .write_tensor(&TensorDataInfo { name: format!("tensor {index}").into(), tensor_info: info }, &data)
            .unwrap();
    }
    writer.into_inner().unwrap()
}

fn described(file: &File) -> String {
    let blobs: Vec<_> = file.blobs().map(|blob| format!("{blob:?}")).collect();
    format!("{} {:?}\n{}", file.size(), file.damage(), blobs.join("\n"))
}

/// The error of reading all data of a file.
fn read_all(file: &File) -> Result<(), popef::Error> {
    file.tensors().try_for_each(|tensor| tensor.data().read().map(drop))
}

#[test]
fn a_file_is_the_same_as_on_disk_and_so_is_its_data() {
    for bytes in [tensors(3, 200_000), tensors(400, 900), tensors(1, 0), Vec::new(), b"PK\x03\x04 and so on".to_vec()] {
        let server = Server::of(bytes.clone());
        let (opened, _remote) = open(&server.url()).unwrap();
        let local = OpenOptions::new().damaged(true).bytes(bytes.clone()).unwrap();
        match opened.file {
            Ok(file) => {
                assert_eq!(described(&file), described(&local));
                for (remote, local) in file.tensors().zip(local.tensors()) {
                    assert_eq!(remote.data().read().unwrap(), local.data().read().unwrap());
                }
            }
            Err(error) => assert_eq!(error.reason(), local.damage().unwrap().reason()),
        }
    }
}

#[test]
fn few_requests_list_a_file() {
    // Blobs that are far from each other: a request for each, of no more than the first size.
    let server = Server::of(tensors(16, 1 << 20));
    let (opened, _remote) = open(&server.url()).unwrap();
    assert_eq!(opened.file.unwrap().len(), 16);
    let (requests, bytes) = (opened.usage.requests(), opened.usage.bytes());
    assert!(requests <= 17 && bytes <= 2 << 20, "{requests} requests, {bytes} bytes");
    assert_eq!(requests, server.asked().len() as u64);
    assert!(server.asked().iter().all(|asked| asked.line.starts_with("GET ") && asked.range.is_some()));

    // Blobs that are close together: the requests grow, and nothing is asked for twice.
    let bytes = tensors(20_000, 100);
    let server = Server::of(bytes.clone());
    let (opened, _remote) = open(&server.url()).unwrap();
    assert_eq!(opened.file.unwrap().len(), 20_000);
    let (requests, most) = (opened.usage.requests(), bytes.len() as u64 / (512 << 10) + 3);
    assert!(requests <= most, "{requests} requests for {} bytes", bytes.len());
    assert_eq!(opened.usage.bytes(), bytes.len() as u64);
}

#[test]
fn data_of_one_tensor_is_read_alone_and_in_parts_at_once() {
    let bytes = tensors(3, 9 << 20);
    let server = Server::of(bytes);
    let (opened, _remote) = open(&server.url()).unwrap();
    let file = opened.file.unwrap();
    let listed = server.asked().len();
    let tensor = file.tensor("tensor 1").unwrap();
    tensor.data().read().unwrap();
    let asked = server.asked();
    let ranges: Vec<Range<usize>> = asked[listed..].iter().filter_map(|asked| asked.range.clone()).collect();
    let blob = file.blob(1).unwrap();
    let place = blob.offset() as usize..(blob.offset() + blob.size()) as usize;
    assert!(ranges.iter().all(|range| place.start <= range.start && range.end <= place.end), "{ranges:?} in {place:?}");
    assert!(ranges.iter().all(|range| range.len() <= 1 << 20) && ranges.len() <= 11, "{ranges:?}");
    assert!(asked[listed..].iter().all(|asked| asked.header("if-match") == Some("\"one\"")));
}

/// What a server does wrong with a request for a range, and what is said of it.
type Wrong = (Code, fn(&[u8], &Asked) -> Answer);

/// The same answer with another header.
fn with(header: &str, answer: &[u8]) -> Answer {
    let rest = answer.strip_prefix(b"HTTP/1.1 ").unwrap();
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    [b"HTTP/1.1 ", &rest[..line], header.as_bytes(), b"\r\n", &rest[line..]].concat()
}

const PAGE: &[u8] = b"<!DOCTYPE html><html><body>Log in</body></html>";

const WRONGS: [Wrong; 24] = [
    (Code::NoRanges, |bytes, _| answer("200 OK", &[("Content-Length", bytes.len().to_string())], bytes)),
    (Code::WrongRange, |bytes, _| answer("206 Partial Content", &[("Content-Length", "10".into())], &bytes[..10])),
    (Code::WrongRange, |bytes, asked| {
        let shifted = asked.range.clone().map(|range| range.start + 1..range.end + 1);
        part(bytes, &Asked { range: shifted, ..asked.clone() })
    }),
    (Code::WrongRange, |bytes, asked| {
        let range = asked.range.clone().unwrap();
        part(bytes, &Asked { range: Some(range.start..range.end.min(bytes.len()) - 1), ..asked.clone() })
    }),
    (Code::WrongRange, |bytes, asked| {
        let end = asked.range.clone().unwrap().end.min(bytes.len());
        let range = format!("bytes 0-{}/{}", end - 1, bytes.len());
        let headers = [("Content-Range", range), ("Content-Length", (end - 1).to_string())];
        answer("206 Partial Content", &headers, &bytes[..end - 1])
    }),
    (Code::WrongRange, |bytes, asked| {
        // Without Content-Length, the body ends with the connection, and has more than it should.
        let end = asked.range.clone().unwrap().end.min(bytes.len());
        let headers = [("Content-Range", format!("bytes 0-{}/{}", end - 1, bytes.len()))];
        answer("206 Partial Content", &headers, &[&bytes[..end], b"more".as_slice()].concat())
    }),
    (Code::Cut, |bytes, asked| {
        let end = asked.range.clone().unwrap().end.min(bytes.len());
        let headers = [("Content-Range", format!("bytes 0-{}/{}", end - 1, bytes.len()))];
        answer("206 Partial Content", &headers, &bytes[..end - 1])
    }),
    (Code::Cut, |bytes, asked| {
        let mut whole = part(bytes, asked);
        whole.truncate(whole.len() - 1);
        whole
    }),
    (Code::Encoded, |bytes, asked| {
        let end = asked.range.clone().unwrap().end.min(bytes.len());
        let range = format!("bytes 0-{}/{}", end - 1, bytes.len());
        answer("206 Partial Content", &[("Content-Range", range), ("Content-Encoding", "gzip".into())], &bytes[..end])
    }),
    (Code::Encoded, |bytes, asked| {
        let end = asked.range.clone().unwrap().end.min(bytes.len());
        let range = format!("bytes 0-{}/{}", end - 1, bytes.len());
        let headers = [("Content-Range", range), ("Transfer-Encoding", "gzip, chunked".into())];
        answer("206 Partial Content", &headers, b"0\r\n\r\n")
    }),
    (Code::Redirect, |_, _| answer("302 Found", &[("Location", "ftp://elsewhere/file".into())], b"")),
    (Code::Redirect, |_, _| answer("302 Found", &[("Location", "/again".into())], b"")),
    (Code::Http, |_, _| answer("302 Found", &[("Location", "http://192.0.2.1/file".into())], b"")),
    (Code::Malformed, |_, _| answer("302 Found", &[("Content-Length", "0".into())], b"")),
    (Code::WrongRange, |_, _| answer("304 Not Modified", &[], b"")),
    (Code::Encoded, |bytes, asked| with("Content-Encoding: identity\r\nContent-Encoding: gzip", &part(bytes, asked))),
    // A page is one in any spelling, whatever the status says.
    (Code::Page, |_, _| answer("200 OK", &[("Content-Type", "Text/HTML; charset=UTF-8".into())], PAGE)),
    (Code::Page, |_, _| with("Content-Type: text/html", &answer("200 OK", &[("Content-Length", "0".into())], b""))),
    (Code::Page, |_, asked| with("Content-Type: text/html", &part(PAGE, asked))),
    (Code::Page, |_, asked| with("Content-Type: application/xhtml+xml", &part(b"Please log in", asked))),
    (Code::Page, |_, asked| with("Content-Type: TEXT/html ;charset=utf-8", &part(b"\n <html>", asked))),
    (Code::Page, |_, asked| with("Content-Type: text/html", &part(b"\xff\xfe<\0h\0", asked))),
    (Code::NotFound, |_, _| answer("404 Not Found", &[("Content-Length", "0".into())], b"")),
    (Code::Denied, |_, _| answer("403 Forbidden", &[], b"<Error><Code>AccessDenied</Code>SECRET</Error>")),
];

#[test]
fn an_answer_that_is_not_as_it_should_be_is_refused() {
    for (nth, (code, wrong)) in WRONGS.into_iter().enumerate() {
        let bytes = tensors(2, 100_000);
        let server = Server::start(move |_, asked| wrong(&bytes, asked));
        let error = open(&format!("{}?token=SECRET", server.url())).unwrap_err();
        assert_eq!(error.code(), code, "{nth}: {error}");
        let said = format!("{} {error} {error:?}", error.location());
        assert!(said.contains("127.0.0.1") && !said.contains("SECRET"), "{said}");
    }
}

#[test]
fn a_change_is_noticed_and_never_read_over() {
    let changes: [fn(&[u8], &Asked) -> Answer; 5] = [
        |_, _| answer("200 OK", &[("Content-Length", "0".into())], b""),
        |_, _| answer("412 Precondition Failed", &[("Content-Length", "0".into())], b""),
        |bytes, asked| tagged(bytes, asked, "\"two\""),
        |bytes, asked| part(&[bytes, b"more".as_slice()].concat(), asked),
        |_, _| answer("416 Range Not Satisfiable", &[("Content-Range", "bytes */10".into())], b""),
    ];
    for change in changes {
        let bytes = tensors(2, 300_000);
        let server =
            Server::start(move |number, asked| if number < 2 { part(&bytes, asked) } else { change(&bytes, asked) });
        let (opened, _remote) = open(&server.url()).unwrap();
        let error = read_all(&opened.file.unwrap()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::FileChanged, "{error}");
    }
}

#[test]
fn what_passes_is_tried_again_and_what_does_not_ends() {
    for refusal in ["503 Slow Down", "429 Too Many Requests", "500 Internal"] {
        let bytes = tensors(1, 100);
        let refuse = move || answer(refusal, &[("Content-Length", "0".into())], b"");
        let server = Server::start(move |number, asked| if number < 2 { refuse() } else { part(&bytes, asked) });
        let mut options = options();
        options.retries = 2;
        let (opened, _remote) = open_with(options.clone(), &server.url(), Need::Data).unwrap();
        assert_eq!((opened.file.unwrap().len(), opened.usage.requests()), (1, 3));

        let server = Server::start(move |_, _| refuse());
        let error = open_with(options, &server.url(), Need::Data).unwrap_err();
        assert_eq!((error.code(), error.status()), (Code::Busy, refusal[..3].parse().ok()));
        assert_eq!(server.asked().len(), 3);
    }
}

#[test]
fn a_silent_server_does_not_hold_anybody() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/model.popef", listener.local_addr().unwrap());
    let mut options = options();
    // It passes in any case: nothing accepts the connection, so nothing can be sooner.
    options.read_timeout = std::time::Duration::from_millis(100);
    assert_eq!(open_with(options.clone(), &url, Need::Data).unwrap_err().code(), Code::Timeout);
    let (mut left, _) = listener.accept().unwrap();
    let mut asked = String::new();
    left.read_to_string(&mut asked).unwrap();
    assert!(asked.starts_with("GET /model.popef"), "{asked}");
    options.read_timeout = std::time::Duration::from_secs(1000);
    options.stopped = Some(|| true);
    assert_eq!(open_with(options, &url, Need::Data).unwrap_err().code(), Code::Stopped);
}

#[test]
fn a_server_without_ranges_is_listed_from_its_stream() {
    let bytes = tensors(20, 50_000);
    let local = File::from_bytes(bytes.clone()).unwrap();
    let server = Server::start(move |_, _| answer("200 OK", &[("Content-Length", bytes.len().to_string())], &bytes));
    let (opened, _remote) = open_with(options(), &server.url(), Need::Headers).unwrap();
    assert!(opened.notice.is_some_and(|notice| notice.contains("all of it")));
    assert_eq!(described(&opened.file.unwrap()), described(&local));
}

/// Without a length, the end of a connection can be that of a file, or a cut.
#[test]
fn a_whole_file_says_where_it_ends() {
    let chunked = |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n0\r\n\r\n"].concat();
    let bytes = tensors(2, 1000);
    let (cut, whole) = (bytes[..bytes.len() / 2].to_vec(), chunked(&bytes));
    let server = Server::start(move |_, _| answer("200 OK", &[], &cut));
    let error = open_with(options(), &server.url(), Need::Headers).unwrap().0.file.unwrap_err();
    assert_eq!(RemoteError::of(&error).map(RemoteError::code), Some(Code::NoRanges), "{error}");
    let server = Server::start(move |_, _| answer("200 OK", &[("Transfer-Encoding", "chunked".into())], &whole));
    assert_eq!(open_with(options(), &server.url(), Need::Headers).unwrap().0.file.unwrap().len(), 2);
}

/// What is labelled as a page, and is none, is read.
#[test]
fn a_wrong_label_does_not_make_a_page() {
    let bytes = tensors(2, 1000);
    let server = Server::start(move |_, asked| with("Content-Type: text/html", &part(&bytes, asked)));
    let (opened, _remote) = open(&server.url()).unwrap();
    assert_eq!(opened.file.unwrap().len(), 2);
}

/// The program runs again with this as the endpoint, because credentials come from the environment.
const ENDPOINT: &str = "POPEF_REMOTE_TEST_ENDPOINT";

/// Each page is another one, and none has an object that fits.
#[test]
fn a_listing_without_end_ends() {
    if let Ok(endpoint) = std::env::var(ENDPOINT) {
        let mut options = options();
        options.endpoint = Some(endpoint);
        // It passes in any case: the pages do not end.
        options.list_timeout = std::time::Duration::from_millis(100);
        let listed = Remote::new(options).unwrap().list(&Location::parse("s3://b/").unwrap());
        let error = listed.unwrap_err();
        assert!(error.code() == Code::Timeout && error.to_string().contains("no object that fits"), "{error}");
        println!("it has ended");
        return;
    }
    let server = Server::start(|number, _| {
        let page = format!(
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{number}</NextContinuationToken>\
             <Contents><Key>{number}.txt</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>1</Size></Contents>\
             </ListBucketResult>"
        );
        answer("200 OK", &[("Content-Length", page.len().to_string())], page.as_bytes())
    });
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_listing_without_end_ends", "--nocapture"])
        .envs([("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")])
        .env(ENDPOINT, format!("http://127.0.0.1:{}", server.port))
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&done.stdout).contains("it has ended"), "{done:?}");
}

/// The request for the whole file is repeated like others, and its answer can be a page too.
#[test]
fn a_whole_file_is_asked_for_again() {
    let whole = |bytes: &[u8]| answer("200 OK", &[("Content-Length", bytes.len().to_string())], bytes);
    for refusal in
        [answer("503 Busy", &[("Content-Length", "0".into())], b""), answer("429 Slow", &[], b""), Vec::new()]
    {
        let bytes = tensors(2, 1000);
        let server =
            Server::start(move |number, _| if matches!(number, 1 | 2) { refusal.clone() } else { whole(&bytes) });
        let mut options = options();
        options.retries = 2;
        let (opened, _remote) = open_with(options.clone(), &server.url(), Need::Headers).unwrap();
        assert_eq!((opened.file.unwrap().len(), server.asked().len()), (2, 4));
        let remote = Remote::new(options).unwrap();
        let mut read = Vec::new();
        remote.read(&Location::parse(&server.url()).unwrap()).unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(server.asked().len(), 6);
    }
    let server = Server::start(move |number, _| match number {
        0 => whole(b"a file"),
        _ => with("Content-Type: text/html", &whole(PAGE)),
    });
    let (opened, _remote) = open_with(options(), &server.url(), Need::Headers).unwrap();
    let error = opened.file.unwrap_err();
    assert_eq!(RemoteError::of(&error).map(RemoteError::code), Some(Code::Page), "{error}");
}

#[test]
fn headers_of_the_caller_go_to_one_host_only() {
    let bytes = tensors(1, 100);
    let other = Server::of(bytes);
    let to = other.url().replace("127.0.0.1", "localhost");
    let server = Server::start(move |_, _| answer("307 Temporary Redirect", &[("Location", to.clone())], b""));
    let mut options = options();
    options.header("X-Token: SECRET").unwrap();
    let url = server.url().replace("http://", "http://user:SECRET@");
    let (opened, _remote) = open_with(options, &url, Need::Data).unwrap();
    assert_eq!(opened.file.unwrap().len(), 1);
    let (first, second) = (server.asked(), other.asked());
    assert_eq!(first[0].header("x-token"), Some("SECRET"));
    assert_eq!(first[0].header("authorization"), Some("Basic dXNlcjpTRUNSRVQ="));
    assert_eq!((second[0].header("x-token"), second[0].header("authorization")), (None, None));
}

#[test]
fn http_to_another_machine_must_be_allowed() {
    let error = open("http://192.0.2.1/model.popef").unwrap_err();
    assert_eq!(error.code(), Code::Http);
}

/// The gate refuses before there is a connection: no request counts but the one that was redirected.
#[test]
fn no_address_leads_to_the_credentials_of_a_machine() {
    let places = [
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://2852039166/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::23]/",
        "http://[fd00:c1::a9fe:a9fe]/",
        "http://[::ffff:0:a9fe:a9fe]/",
        "http://[64:ff9b:1::a9fe:a9fe]/",
        "http://100.100.100.200/",
        "//169.254.170.2/v2/credentials",
        "https://169.254.169.254/",
    ];
    for allow_http in [false, true] {
        for to in places {
            let server = Server::start(move |_, _| answer("302 Found", &[("Location", to.into())], b""));
            let mut options = options();
            options.allow_http = allow_http;
            let remote = Remote::new(options).unwrap();
            let opening = remote.begin(&Location::parse(&server.url()).unwrap(), OpenOptions::new());
            let error = opening.wait(Need::Data).unwrap_err();
            assert!(error.code() == Code::Redirect && error.to_string().contains("credentials"), "{to}: {error}");
            assert_eq!((server.asked().len(), remote.usage().requests()), (1, 1), "{to}");

            let Ok(location) = Location::parse(to) else { continue };
            let error = remote.begin(&location, OpenOptions::new()).wait(Need::Data).unwrap_err();
            assert_eq!(error.code(), Code::Url, "{to}: {error}");
            assert_eq!(remote.usage().requests(), 1, "{to}");
        }
    }
}

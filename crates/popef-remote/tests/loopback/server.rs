//! A server for one object, which answers as a test says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;

/// What a client asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub range: Option<Range<usize>>,
    pub body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Any bytes for the answer, as they go over the wire. The connection is closed after them.
pub(crate) type Answer = Vec<u8>;

pub(crate) struct Server {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers each request with a function that gets the request's number.
    pub(crate) fn start(answer: impl Fn(usize, &Asked) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || serve(&stream, &seen, &*answer));
            }
        });
        Server { port, asked }
    }

    /// A server with ranges, as it should be.
    pub(crate) fn of(bytes: Vec<u8>) -> Server {
        Server::start(move |_, asked| part(&bytes, asked))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/model.popef", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Vec<Asked>>, answer: &dyn Fn(usize, &Asked) -> Answer) {
    let mut reader = BufReader::new(stream);
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let mut asked = Asked { line: lines.next().unwrap_or_default(), ..Asked::default() };
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ").unwrap();
        asked.headers.push((name.to_owned(), value.to_owned()));
    }
    asked.range = asked.header("range").map(|range| {
        let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        first.parse().unwrap()..last.parse::<usize>().unwrap() + 1
    });
    let sent = asked.header("content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
    let _ = reader.take(sent).read_to_end(&mut asked.body);
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(asked.clone());
        seen.len() - 1
    };
    let mut stream = stream;
    let _ = stream.write_all(&answer(number, &asked));
}

/// An answer with a status line, headers and a body.
pub(crate) fn answer(status: &str, headers: &[(&str, String)], body: &[u8]) -> Answer {
    let mut answer = format!("HTTP/1.1 {status}\r\nConnection: close\r\n").into_bytes();
    for (name, value) in headers {
        answer.extend(format!("{name}: {value}\r\n").bytes());
    }
    answer.extend(b"\r\n");
    answer.extend(body);
    answer
}

/// The part of an object that was asked for.
pub(crate) fn part(bytes: &[u8], asked: &Asked) -> Answer {
    tagged(bytes, asked, "\"one\"")
}

/// The same of a version of the object.
pub(crate) fn tagged(bytes: &[u8], asked: &Asked, tag: &str) -> Answer {
    let range = asked.range.clone().expect("a range is asked for");
    if range.start >= bytes.len() {
        return answer("416 Range Not Satisfiable", &[("Content-Range", format!("bytes */{}", bytes.len()))], b"");
    }
    let range = range.start..range.end.min(bytes.len());
    let headers = [
        ("Content-Range", format!("bytes {}-{}/{}", range.start, range.end - 1, bytes.len())),
        ("Content-Length", range.len().to_string()),
        ("ETag", tag.to_owned()),
    ];
    answer("206 Partial Content", &headers, &bytes[range])
}

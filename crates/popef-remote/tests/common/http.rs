//! A server that answers as a test tells it, also wrongly.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::content::Content;
use super::process::START;

/// What a client asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The number among all requests to this server, from 0.
    pub(crate) number: usize,
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The range that it asks for, as far as the content reaches. `None` if it asks for all.
    pub(crate) fn range(&self, len: u64) -> Option<Range<u64>> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some(match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(first), Ok(last)) => first..(last + 1).min(len),
            (Ok(first), Err(_)) => first..len,
            (Err(_), last) => len.saturating_sub(last.ok()?)..len,
        })
    }
}

/// What the server answers.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The connection ends after this many bytes of the body.
    pub(crate) cut: Option<usize>,
    /// The connection ends with an error in place of an answer.
    pub(crate) reset: bool,
    /// The body is repeated without end.
    pub(crate) endless: bool,
    /// After so many bytes of the answer, its head among them, nothing more comes until the client goes away.
    pub(crate) stuck: Option<usize>,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Reply {
        Reply { status, headers: Vec::new(), body: Vec::new(), cut: None, reset: false, endless: false, stuck: None }
    }

    /// What a good server answers.
    pub(crate) fn right(content: &dyn Content, request: &Request) -> Reply {
        let len = content.len();
        if request.header("if-match").is_some_and(|wanted| wanted != ETAG) {
            return Reply::new(412);
        }
        let reply = match request.range(len) {
            Some(range) if range.start >= len => Reply::new(416).with("Content-Range", format!("bytes */{len}")),
            Some(range) => {
                let place = format!("bytes {}-{}/{len}", range.start, range.end - 1);
                Reply { body: content.read(range), ..Reply::new(206) }.with("Content-Range", place)
            }
            None => Reply { body: content.read(0..len), ..Reply::new(200) },
        };
        reply.with("ETag", ETAG).with("Accept-Ranges", "bytes").with("Last-Modified", "Tue, 03 Mar 2026 10:00:00 GMT")
    }

    /// Sets a header in place of one with that name.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Reply {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Reply {
        self.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn send(&self, to: &mut TcpStream, state: &State) -> io::Result<()> {
        if self.reset {
            socket2::SockRef::from(&*to).set_linger(Some(Duration::ZERO))?;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let mut head = format!("HTTP/1.1 {} Said\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if self.header("content-length").is_none() && self.header("transfer-encoding").is_none() && !self.endless {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        head += "\r\n";
        if let Some(sent) = self.stuck {
            return stick(&[head.as_bytes(), &self.body].concat()[..sent], to, state);
        }
        to.write_all(head.as_bytes())?;
        let body = &self.body[..self.cut.unwrap_or(usize::MAX).min(self.body.len())];
        loop {
            for piece in body.chunks(64 << 10) {
                if state.stop.load(SeqCst) {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                to.write_all(piece)?;
                state.sent.fetch_add(piece.len() as u64, SeqCst);
            }
            if !self.endless {
                break;
            }
        }
        if self.cut.is_some() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }
}

/// Sends the first bytes of an answer, and waits until the client goes away, or the server ends.
fn stick(first: &[u8], to: &mut TcpStream, state: &State) -> io::Result<()> {
    to.write_all(first)?;
    while to.read(&mut [0; 1024]).is_ok_and(|len| len > 0) {}
    // Nobody asks for it when the server has ended.
    let _ = state.left.send(());
    Err(io::ErrorKind::BrokenPipe.into())
}

/// What [`Reply::right`] says of all contents.
pub(crate) const ETAG: &str = "\"one\"";

struct State {
    answer: Box<dyn Fn(&Request) -> Reply + Send + Sync>,
    log: Mutex<Vec<Request>>,
    connections: Mutex<BTreeMap<usize, TcpStream>>,
    /// How many requests have no answer yet, and how many these were at most.
    open: AtomicUsize,
    most_open: AtomicUsize,
    sent: AtomicU64,
    stop: AtomicBool,
    /// Hears of each client that left an answer which did not go on.
    left: Sender<()>,
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<State>,
    left: Receiver<()>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let (leaves, left) = channel();
        let state = Arc::new(State {
            answer: Box::new(answer),
            log: Mutex::default(),
            connections: Mutex::default(),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            left: leaves,
        });
        let shared = state.clone();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Ok(stream) = stream else { continue };
                if shared.stop.load(SeqCst) {
                    return;
                }
                let state = shared.clone();
                thread::spawn(move || state.serve(number, stream));
            }
        });
        Server { address, state, left }
    }

    /// Serves one content under each path, rightly.
    pub(crate) fn of(content: impl Content + 'static) -> Server {
        Server::start(move |request| Reply::right(&content, request))
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.log.lock().expect("no answer panicked").clone()
    }

    /// How many bytes of bodies were sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.state.sent.load(SeqCst)
    }

    /// Waits until a client has left an answer that is stuck.
    pub(crate) fn wait_until_left(&self) {
        self.left.recv_timeout(START).expect("the client goes away");
    }

    /// How many requests waited for an answer at the same time, at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.state.most_open.load(SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stop.store(true, SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        if let Ok(connections) = self.state.connections.lock() {
            for stream in connections.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

impl State {
    fn serve(&self, number: usize, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        if let Ok(copy) = stream.try_clone() {
            self.connections.lock().expect("no answer panicked").insert(number, copy);
        }
        // A client that goes away is no failure of a server.
        let _ = self.answer_all(stream);
        self.connections.lock().expect("no answer panicked").remove(&number);
    }

    fn answer_all(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut from = BufReader::new(stream.try_clone()?);
        loop {
            let mut line = String::new();
            if from.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let mut words = line.split_whitespace();
            let mut word = || words.next().unwrap_or_default().to_owned();
            let (method, path, headers) = (word(), word(), headers(&mut from));
            let mut request = Request { number: 0, method, path, headers, body: Vec::new() };
            let len = request.header("content-length").map_or(0, |len| len.parse().expect("a length is a number"));
            (&mut from).take(len).read_to_end(&mut request.body)?;
            let mut log = self.log.lock().expect("no answer panicked");
            request.number = log.len();
            log.push(request.clone());
            drop(log);
            let open = self.open.fetch_add(1, SeqCst) + 1;
            self.most_open.fetch_max(open, SeqCst);
            let reply = (self.answer)(&request);
            self.open.fetch_sub(1, SeqCst);
            reply.send(&mut stream, self)?;
        }
    }
}

/// The header lines until the empty one.
pub(crate) fn headers(from: &mut impl BufRead) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            return headers;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
}

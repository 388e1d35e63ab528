//! A proxy before nginx that cuts, delays and alters answers by chance: what is read is right, or there is an error.
//!
//! Of bodies it alters only the length. Nobody can see other bytes in a body of the right length over http: against that, there
//! is https. So it alters lines of the head, statuses and lengths, leaves out and repeats parts, and cuts and delays.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use popef::{File, OpenOptions};
use popef_remote::{Location, Need, Options, Remote};

use super::common::content::Sparse;
use super::common::nginx::Nginx;
use super::facts;

const RUNS: u64 = 2_000;
/// How long the proxy waits for a client, which goes away long before.
const ENOUGH: Duration = Duration::from_secs(300);
/// More requests than all repetitions of those for one file.
const MOST_REQUESTS: u64 = 200;
/// What one file may cost, which is twenty times what it is.
const MOST_BYTES: u64 = 20 << 20;

#[test]
fn an_unreliable_network_gives_the_right_data_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    std::fs::write(&path, Sparse::tensors(5, 150 << 10).bytes()).unwrap();
    let Some(nginx) = Nginx::start(folder.path()) else { return };
    let truth = Arc::new(facts(&File::open(&path).unwrap()).unwrap());
    let proxy = Proxy::start(nginx.plain);
    let mut options = Options::default();
    options.connect_timeout = Duration::from_secs(60);
    // Only a proxy that stops to send is silent for so long, so a busy machine changes no result.
    options.read_timeout = Duration::from_secs(5);
    options.retries = 2;
    options.retry_timeout = Duration::from_secs(60);
    let remote = Remote::new(options).unwrap();
    let (begin, next, right) = (Instant::now(), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, SeqCst);
                    if seed >= RUNS {
                        return;
                    }
                    // The path has the seed, so that a run can be repeated alone.
                    let url = format!("http://127.0.0.1:{}/files/model.popef?{seed}", proxy.port);
                    let opening = remote.begin(&Location::parse(&url).unwrap(), OpenOptions::new());
                    let usage = opening.usage().clone();
                    let opened = opening.wait(Need::Data).ok().and_then(|opened| opened.file.ok());
                    if let Some(read) = opened.and_then(|file| facts(&file).ok()) {
                        assert!(read == *truth, "wrong data with seed {seed}");
                        right.fetch_add(1, SeqCst);
                    }
                    assert!(usage.bytes() < MOST_BYTES, "{} bytes with seed {seed}", usage.bytes());
                    assert!(usage.requests() < MOST_REQUESTS, "{} requests with seed {seed}", usage.requests());
                }
            });
        }
    });
    let right = right.into_inner();
    println!("{right} of {RUNS} runs read all of it, in {:?}", begin.elapsed());
    assert!(right > RUNS / 10, "only {right} runs read all of it: nothing is tried again");
    assert!(right < RUNS, "the proxy does nothing");
}

/// Passes requests on to a port, each on a connection of its own, and spoils a part of the answers.
struct Proxy {
    port: u16,
    stop: Arc<AtomicBool>,
}

impl Proxy {
    fn start(upstream: u16) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        thread::spawn(move || {
            for (number, client) in listener.incoming().enumerate() {
                if stopped.load(SeqCst) {
                    return;
                }
                let Ok(client) = client else { continue };
                // A side that goes away is what this is for.
                thread::spawn(move || drop(pass(number as u64, client, upstream)));
            }
        });
        Proxy { port, stop }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn pass(number: u64, mut client: TcpStream, upstream: u16) -> std::io::Result<()> {
    client.set_read_timeout(Some(ENOUGH))?;
    let mut from = BufReader::new(client.try_clone()?);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if from.read_line(&mut request)? == 0 {
            return Ok(());
        }
    }
    let seed = request.split(['?', ' ']).nth(2).and_then(|seed| seed.parse().ok()).unwrap_or(0);
    // What a repetition of a request meets is another chance.
    let mut random =
        Random(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 1);
    let mut server = TcpStream::connect(("127.0.0.1", upstream))?;
    server.write_all(request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(answer.len(), |end| end + 4);
    let (mut head, mut body) = (String::from_utf8_lossy(&answer[..body]).into_owned(), answer.split_off(body));
    if random.below(4) == 0 {
        spoil(&mut head, &mut body, &mut random, &client)?;
    }
    client.write_all(head.as_bytes())?;
    client.write_all(&body)?;
    client.shutdown(Shutdown::Write)
}

fn spoil(head: &mut String, body: &mut Vec<u8>, random: &mut Random, client: &TcpStream) -> std::io::Result<()> {
    match random.below(11) {
        0 => body.truncate(random.below(body.len() + 1)),
        1 => head.truncate(random.below(head.len())),
        2 if random.below(8) == 0 => return until_it_leaves(client),
        2 => thread::sleep(Duration::from_millis(random.below(50) as u64)),
        3 => socket2::SockRef::from(client).set_linger(Some(Duration::ZERO)).map(|()| head.clear())?,
        4 => *head = head.replacen("206", ["200", "204", "302", "404", "412", "429", "500", "503"][random.below(8)], 1),
        5 => alter_line(head, random, "Content-Range"),
        6 => alter_line(head, random, "Content-Length"),
        7 => alter_line(head, random, "ETag"),
        8 => {
            // A line is gone.
            let lines: Vec<&str> = head.split_inclusive("\r\n").collect();
            let gone = 1 + random.below(lines.len() - 2);
            *head = lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| *line).collect();
        }
        9 => {
            // A part of the body comes twice, or not at all; and the length says so.
            let (from, count) = (random.below(body.len() + 1), random.below(5000));
            let part: Vec<u8> = body[from..].iter().take(count).copied().collect();
            if random.below(2) == 0 {
                body.splice(from..from, part);
            } else {
                body.drain(from..from + part.len());
            }
            let line = head.split("\r\n").find(|line| line.starts_with("Content-Length")).map(str::to_owned);
            *head = head.replace(&line.unwrap_or_default(), &format!("Content-Length: {}", body.len()));
        }
        _ => head.insert_str(
            head.len() - 2,
            ["Content-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\n"][random.below(2)],
        ),
    }
    // A cut connection is closed, and the client sees it.
    if head.is_empty() { Err(std::io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
}

/// Sends nothing until the client goes away.
fn until_it_leaves(mut client: &TcpStream) -> std::io::Result<()> {
    client.set_read_timeout(Some(ENOUGH))?;
    while client.read(&mut [0; 1024])? > 0 {}
    Err(std::io::ErrorKind::BrokenPipe.into())
}

/// Another character in the value of a line of the head.
fn alter_line(head: &mut String, random: &mut Random, name: &str) {
    let Some(start) = head.find(name) else { return };
    let end = head[start..].find("\r\n").map_or(head.len(), |end| start + end);
    let first = start + name.len() + 2;
    if first < end {
        let at = first + random.below(end - first);
        head.replace_range(at..=at, ["0", "5", "9", "x", "-"][random.below(5)]);
    }
}

/// xorshift, which is random enough.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        for _ in 0..3 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
        }
        usize::try_from(self.0 % limit.max(1) as u64).expect("it is below the limit")
    }
}

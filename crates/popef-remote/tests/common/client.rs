//! The least of a client, to put files into servers and to look at them: it shares no code with what is tested.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Panics unless the server was content.
    pub(crate) fn good(self) -> Self {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.text());
        self
    }
}

/// Sends one request to a port of this machine.
pub(crate) fn send(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    try_send(port, method, path, headers, body).expect("the server answers")
}

/// Sends one request. Fails if there is no answer.
pub(crate) fn try_send(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time can be set");
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head += &format!("Host: 127.0.0.1:{port}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut from = BufReader::new(stream);
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(answer(&line, from, method == "HEAD"))
}

/// Reads what follows the first line of an answer.
fn answer(line: &str, mut from: impl BufRead, is_head: bool) -> Answer {
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an answer has a status");
    let headers = super::http::headers(&mut from);
    let mut answer = Answer { status, headers, body: Vec::new() };
    let is_chunked = answer.header("transfer-encoding").is_some();
    let length: Option<u64> =
        answer.header("content-length").map(|length| length.parse().expect("a length is a number"));
    match length {
        _ if is_head || status == 204 || status == 304 => {}
        _ if is_chunked => answer.body = chunks(&mut from),
        Some(length) => {
            from.take(length).read_to_end(&mut answer.body).expect("the body comes");
        }
        None => {
            from.read_to_end(&mut answer.body).expect("the body comes");
        }
    }
    answer
}

fn chunks(from: &mut impl BufRead) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line).expect("a chunk comes");
        let size = u64::from_str_radix(line.trim(), 16).expect("a chunk has a size");
        let start = body.len();
        from.by_ref().take(size + 2).read_to_end(&mut body).expect("a chunk comes");
        body.truncate(start + usize::try_from(size).expect("a chunk fits into memory"));
        if size == 0 {
            return body;
        }
    }
}

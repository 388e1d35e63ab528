//! How many requests and bytes a listing takes.

use std::sync::{Arc, Condvar, Mutex};

use popef::OpenOptions;
use popef_remote::{Location, Need, Remote};

use super::common::content::{Content, Sparse};
use super::common::http::{Reply, Server};
use super::common::process::START;
use super::{open, quick};

/// Lists the file, and returns how many blobs it has, and how many requests and bytes it took, as the server counted them.
fn listed(content: Arc<Sparse>) -> (usize, u64, u64) {
    let server = Server::start(move |request| Reply::right(&*content, request));
    let remote = Remote::new(quick()).unwrap();
    let opened = open(&remote, &server.url("model.popef"), Need::Headers).unwrap();
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.method == "GET"), "no HEAD");
    let (count, bytes) = (requests.len() as u64, server.sent());
    assert_eq!((opened.usage.requests(), opened.usage.bytes()), (count, bytes), "what it says it took is what it took");
    (opened.file.unwrap().len(), count, bytes)
}

#[test]
fn sixteen_large_blobs_take_seventeen_requests() {
    let (blobs, requests, bytes) = listed(Sparse::tensors(16, 20 << 20));
    assert_eq!(blobs, 16);
    assert!(requests <= 17, "{requests} requests");
    assert!(bytes <= 2 << 20, "{bytes} bytes");
}

#[test]
fn ten_gibibytes_take_as_little() {
    let (blobs, requests, bytes) = listed(Sparse::tensors(16, 640 << 20));
    assert_eq!(blobs, 16);
    assert!(requests <= 17, "{requests} requests");
    assert!(bytes <= 2 << 20, "{bytes} bytes");
}

/// What lies densely is read in windows, each once.
#[test]
fn a_hundred_thousand_small_blobs_take_one_request_for_each_window() {
    let content = Sparse::tensors(100_000, 64);
    let (len, window) = (content.len(), popef_remote::Options::default().most);
    let (blobs, requests, bytes) = listed(content);
    assert_eq!(blobs, 100_000);
    let allowed = len.div_ceil(window) * 11 / 10;
    assert!(requests <= allowed, "{requests} requests, {allowed} allowed");
    assert!(bytes <= len + len / 50, "{bytes} of {len} bytes");
}

/// Fewer bytes than one gets by asking for a fixed window at each header, as others do.
#[test]
fn few_bytes_are_read_that_nobody_needs() {
    let content = Sparse::tensors(300, 100 << 10);
    let (_, requests, bytes) = listed(content);
    assert!(requests <= 301, "{requests} requests");
    // 64 KiB is the least that readers with a fixed window ask for.
    assert!(bytes <= 300 * (64 << 10) * 11 / 10, "{bytes} bytes");
}

/// A hundred files are asked for at once: each answer waits until a third of those that are left are asked for.
#[test]
fn many_files_are_read_at_once() {
    const FILES: usize = 100;
    let content = Sparse::tensors(2, 64);
    // How many requests wait, and how many were answered.
    let state = Arc::new((Mutex::new((0_usize, 0_usize)), Condvar::new()));
    let server = Server::start(move |request| {
        let (counts, changed) = &*state;
        let mut counts = counts.lock().unwrap();
        counts.0 += 1;
        changed.notify_all();
        let enough = |counts: &mut (usize, usize)| counts.0 < FILES.div_ceil(3).min(FILES - counts.1);
        let (mut counts, ended) = changed.wait_timeout_while(counts, START, enough).unwrap();
        counts.0 -= 1;
        counts.1 += 1;
        changed.notify_all();
        if ended.timed_out() { Reply::new(404) } else { Reply::right(&*content, request) }
    });
    let remote = Remote::new(quick()).unwrap();
    let begin = |number| Location::parse(&server.url(&format!("{number}.popef"))).unwrap();
    let openings: Vec<_> = (0..FILES).map(|number| remote.begin(&begin(number), OpenOptions::new())).collect();
    for opening in openings {
        assert_eq!(opening.wait(Need::Headers).unwrap().file.unwrap().len(), 2);
    }
    assert_eq!(server.requests().len(), FILES);
}

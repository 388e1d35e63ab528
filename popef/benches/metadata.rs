//! The cost of reading Metadata, beside a pass over the same message that keeps nothing:
//! `cargo bench -p popef --bench metadata`.

#![allow(missing_docs, reason = "a benchmark")]

mod common;
/// The generated code, for the pass without this crate. It refers to itself by this name.
#[allow(
    dead_code,
    unreachable_pub,
    missing_debug_implementations,
    elided_lifetimes_in_paths,
    unused_qualifications,
    clippy::all,
    clippy::semicolon_if_nothing_returned,
    reason = "generated"
)]
#[path = "../src/wire"]
mod wire {
    #[path = "popef_capnp.rs"]
    pub mod popef_capnp;
}

use std::hint::black_box;

use capnp::message::ReaderOptions;
use common::measure::{Row, growth, medians, ratio, rounded, work};
use common::recipe;
use popef::File;
use popef::read::Blobs;
use wire::popef_capnp::metadata;

const ROUNDS: usize = 15;
const ANCHORS: usize = 50_000;

fn main() {
    if common::only_tested() {
        return;
    }
    let costs = [ANCHORS / 100, ANCHORS / 10, ANCHORS].map(|count| {
        let bytes = recipe::in_memory(|writer| _ = writer.write_metadata(&recipe::metadata(count)).unwrap());
        let file = File::from_bytes(bytes.clone()).unwrap();
        let blob = file.metadata().next().unwrap();
        let info = blob.blob().info_bytes().read().unwrap();
        let works: [&mut dyn FnMut(); 3] =
            [&mut work(|| blob.read().unwrap()), &mut work(|| pass(&info)), &mut work(|| walk(&bytes))];
        medians(ROUNDS, works).map(|time| time * 1e9 / count as f64)
    });
    let [read, pass, open] = costs[2];
    let peer = format!("a pass over it with capnp alone, {} ns", rounded(pass));
    Row {
        work: "decode Metadata of 50,000 anchors to owned values",
        goal: "at most 3 times a pass that owns nothing",
        figure: format!("{} ns an anchor", rounded(read)),
        peer: peer.clone(),
        ratio: ratio(read, pass),
        met: read <= 3.0 * pass,
    }
    .print();
    Row {
        work: "open it, which looks at every field",
        goal: "at most 1.5 times the same pass",
        figure: format!("{} ns an anchor", rounded(open)),
        peer,
        ratio: ratio(open, pass),
        met: open <= 1.5 * pass,
    }
    .print();
    growth("decode Metadata of 500, 5,000, 50,000 anchors", "ns an anchor", costs.map(|of| of[0]), 1.5);

    let costs = [3, 30, 300].map(|count| {
        let bytes = recipe::in_memory(|writer| recipe::feeds(writer, count));
        let [walk] = medians(ROUNDS, [&mut work(|| (0..100).map(|_| walk(black_box(&bytes))).sum::<u64>())]);
        walk * 1e9 / 100.0 / count as f64
    });
    growth("walk 3, 30, 300 feeds", "ns a feed", costs, 1.5);
}

fn walk(bytes: &[u8]) -> u64 {
    Blobs::new(bytes).map(|blob| blob.unwrap().size()).sum()
}

/// Looks at every field of every anchor.
fn pass(mut info: &[u8]) -> usize {
    let mut options = ReaderOptions::new();
    options.traversal_limit_in_words(None);
    let message = capnp::serialize::read_message_from_flat_slice(&mut info, options).unwrap();
    let root = message.get_root::<metadata::Reader<'_>>().unwrap();
    let anchor = |anchor: wire::popef_capnp::anchor::Reader<'_>| {
        let tensor_info = anchor.get_tensor_info().unwrap();
        black_box((anchor.get_type().ok(), tensor_info.get_data_type().ok()));
        black_box((anchor.get_is_per_replica(), anchor.get_use_remote_buffers(), anchor.get_repeats()));
        anchor.get_name().unwrap().len()
            + anchor.get_handle().unwrap().len()
            + tensor_info.get_shape().unwrap().iter().map(|extent| black_box(extent) as usize).sum::<usize>()
            + anchor.get_programs().unwrap().iter().map(|program| black_box(program) as usize).sum::<usize>()
    };
    root.get_anchors().unwrap().iter().map(anchor).sum()
}

//! Small blobs of every type, changed in every small way: each prefix, each value of each byte of header and info, each
//! two flipped bits in the first 64 bytes of either. Each result is an error with an offset, or reads as the official
//! Cap'n Proto library reads it.
//!
//! By default a sample is tried. `POPEF_EXHAUSTIVE=1 cargo test --release -p popef --test read exhaustive::` tries all.
//! pycapnp runs in the interpreter that `PYTHON` names.

use crate::common;

use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::Stdio;

use common::everything::walk;
use common::peers::python;
use common::read;
use popef::error::ErrorKind;
use popef::read::Blobs;
use popef::{Blob, Content, Error, Metadata, TensorInfo};

/// One or two blobs of each type, as the official library wrote them.
fn seeds() -> Vec<Vec<u8>> {
    let files = ["two-models", "split-tensors", "split-feeds", "replicated", "all-types"];
    let mut seeds: Vec<(u16, Vec<u8>)> = Vec::new();
    for bytes in files.map(|name| read(&format!("interop/{name}.popef"))) {
        for blob in Blobs::new(&bytes).map(Result::unwrap) {
            let (start, number) = (blob.offset() as usize, blob.blob_type().number());
            if blob.size() < 800 && seeds.iter().filter(|(other, _)| *other == number).count() < 2 {
                seeds.push((number, bytes[start..][..blob.size() as usize].to_vec()));
            }
        }
    }
    seeds.sort();
    assert!((0..5).all(|number| seeds.iter().any(|(other, _)| *other == number)), "a blob of each type");
    seeds.into_iter().map(|(_, bytes)| bytes).collect()
}

/// A change of a seed.
#[derive(Clone, Copy)]
enum Change {
    Cut(usize),
    Byte(usize, u8),
    Bits(usize, usize),
}

impl Change {
    fn of(self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        match self {
            Change::Cut(len) => bytes.truncate(len),
            Change::Byte(at, value) => bytes[at] = value,
            Change::Bits(first, second) => {
                bytes[first / 8] ^= 1 << (first % 8);
                bytes[second / 8] ^= 1 << (second % 8);
            }
        }
        bytes
    }
}

fn changes(seed: &[u8]) -> Vec<Change> {
    let blob = Blobs::new(seed).next().unwrap().unwrap();
    let [header, info] = [blob.header_bytes(), blob.info_bytes()].map(|bytes| bytes.read().unwrap().len());
    let mut changes: Vec<Change> = (0..seed.len()).map(Change::Cut).collect();
    changes.extend((0..header + info).flat_map(|at| (0..=255).map(move |value| Change::Byte(at, value))));
    // A single flipped bit is one of the values of its byte.
    for (start, len) in [(0, header.min(64)), (header, info.min(64))] {
        let bits = start * 8..(start + len) * 8;
        changes.extend(bits.clone().flat_map(|one| (one + 1..bits.end).map(move |two| Change::Bits(one, two))));
    }
    changes
}

/// All inputs if `POPEF_EXHAUSTIVE` is set, else one in `sample`.
fn inputs(sample: usize) -> impl Iterator<Item = Vec<u8>> {
    let step = if std::env::var_os("POPEF_EXHAUSTIVE").is_some() { 1 } else { sample };
    let of_seed = |seed: Vec<u8>| changes(&seed).into_iter().map(move |change| change.of(&seed));
    seeds().into_iter().flat_map(of_seed).step_by(step)
}

#[test]
fn each_input_is_read_or_refused_at_a_byte() {
    let (mut whole, mut refused) = (0u64, 0u64);
    for input in inputs(127) {
        walk(&input);
        match Blobs::new(&input).next() {
            Some(Err(_)) => refused += 1,
            _ => whole += 1,
        }
    }
    println!("{} inputs: {whole} read, {refused} refused", whole + refused);
    assert!(whole > 1000 && refused > 1000);
}

#[test]
fn each_input_reads_as_the_official_library_reads_it() {
    let Some(mut python) = python() else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decode_with_pycapnp.py");
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/popef.capnp");
    let mut peer = python.args([script, schema]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = BufWriter::new(peer.stdin.take().unwrap());
    let writer = std::thread::spawn(move || {
        for input in inputs(1997) {
            to.write_all(&(input.len() as u32).to_le_bytes()).unwrap();
            to.write_all(&input).unwrap();
        }
    });
    let mut counts = Counts::default();
    let mut lines = BufReader::new(peer.stdout.take().unwrap()).lines();
    for input in inputs(1997) {
        counts.compare(&input, &lines.next().expect("a line for each input").unwrap());
    }
    writer.join().unwrap();
    assert!(peer.wait().unwrap().success() && lines.next().is_none());
    println!("{counts:?}");
    assert!(counts.same > 100 && counts.both_refuse > 100);
}

#[derive(Debug, Default)]
struct Counts {
    /// Read by both, with the same values.
    same: u64,
    both_refuse: u64,
    /// The messages are whole, but the blob's size is wrong, or is more than there is.
    size: u64,
    /// The library reads it. Here it is over a limit, a shape of something else, or outside its message.
    stricter: u64,
    /// pycapnp cannot give a text that is not UTF-8.
    not_utf_8: u64,
}

impl Counts {
    fn compare(&mut self, input: &[u8], theirs: &str) {
        let Some(first) = Blobs::new(input).next() else { return };
        match (first, theirs) {
            (Ok(blob), "text") => {
                let texts = String::from_utf8_lossy(&blob.head_bytes().read().unwrap()).into_owned();
                assert!(texts.contains('\u{fffd}'), "{blob:?}");
                self.not_utf_8 += 1;
            }
            (Ok(blob), theirs) => match fields(&blob) {
                Ok(ours) => {
                    assert_eq!(ours, theirs, "{input:02x?}");
                    self.same += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
                    self.stricter += 1;
                }
            },
            (Err(_), "error" | "text") => self.both_refuse += 1,
            (Err(error), theirs) => self.refused_here(input, &error, theirs),
        }
    }

    fn refused_here(&mut self, input: &[u8], error: &Error, theirs: &str) {
        let reason = error.reason();
        let of_size = ["the blob is incomplete", "the header gives the blob", "the header is cut off"];
        if of_size.iter().any(|start| reason.starts_with(start)) {
            self.size += 1;
            return;
        }
        // The library accepts an empty list anywhere, and drops the highest bit of the number of structs in a list.
        let stricter = [
            "out-of-bounds pointer",
            "elements overrun its word count",
            "share so much",
            "not 64-bit numbers side by side",
            "more than the limit",
            "at most 65536",
        ];
        assert!(
            stricter.iter().any(|text| reason.contains(text)),
            "{error}, but the library reads {theirs}: {input:02x?}"
        );
        self.stricter += 1;
    }
}

/// The fields of a blob in the order of the schema, formatted as the script formats them.
fn fields(blob: &Blob<'_>) -> Result<String, Error> {
    let header = format!("({} {} {})", text(&blob.version()), blob.blob_type().number(), blob.size());
    let info = match blob.content() {
        Content::Executable(executable) => {
            let info = executable.info();
            format!("({} {})", text(&info.name), info.uncompressed_size.unwrap_or(u64::MAX))
        }
        Content::Metadata(metadata) => of_metadata(&metadata.read()?),
        Content::Tensor(tensor) => {
            let info = tensor.info();
            format!("({} {})", text(&info.name), tensor_info(&info.tensor_info))
        }
        Content::Feed(feed) => {
            let info = feed.info();
            format!("({} {} {})", text(&info.name), tensor_info(&info.tensor_info), info.num_tensors)
        }
        Content::Opaque(opaque) => {
            let info = opaque.info();
            format!("({} {})", text(&info.name), text(&info.executable))
        }
        _ => String::new(),
    };
    Ok(header + &info)
}

fn of_metadata(metadata: &Metadata) -> String {
    let options = |options: &[popef::types::EngineOption]| {
        list(options, |option| format!("({} {})", text(&option.name), text(&option.value)))
    };
    let flow = &metadata.program_flow;
    let programs = |programs: &[popef::types::ProgramInfo]| {
        list(programs, |program| format!("({} {})", program.index, text(&program.name)))
    };
    format!(
        "({} {} {} {} {} {} {} {} {} {} {} ({} {} {}) {} {})",
        metadata.replication_factor,
        metadata.num_ipus,
        text(&metadata.seed_handle),
        list(&metadata.anchors, anchor),
        text(&metadata.executable),
        metadata.num_processes,
        metadata.ipu_version,
        u8::from(metadata.is_pod),
        u8::from(metadata.is_inference),
        options(&metadata.engine_options),
        options(&metadata.device_options),
        list(&flow.load, u32::to_string),
        list(&flow.main, u32::to_string),
        list(&flow.save, u32::to_string),
        programs(&metadata.programs_map),
        metadata.device_iterations,
    )
}

fn anchor(anchor: &popef::types::Anchor) -> String {
    format!(
        "({} {} {} {} {} {} {} {})",
        text(&anchor.name),
        list(&anchor.programs, u32::to_string),
        text(&anchor.handle),
        tensor_info(&anchor.tensor_info),
        anchor.tensor_type.number(),
        u8::from(anchor.is_per_replica),
        u8::from(anchor.use_remote_buffers),
        anchor.repeats,
    )
}

fn tensor_info(info: &TensorInfo) -> String {
    format!("({} {})", list(&info.shape, i64::to_string), info.data_type.number())
}

fn list<T>(items: &[T], of_item: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(of_item).collect::<Vec<_>>().join(" "))
}

fn text(text: &popef::types::Text<'_>) -> String {
    let hex: String = text.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("'{hex}")
}

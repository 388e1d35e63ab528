//! Any list of calls of a writer, with a destination that fails at any moment. Whatever was said to be written can be
//! read; whatever was not, cannot, unless taking it back failed too. A find prints the calls as a program.

#![no_main]

use std::fmt;
use std::io::{self, Cursor, Seek, SeekFrom, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use popef::error::ErrorKind;
use popef::types::{BlobType, FeedDataInfo, OpaqueInfo, TensorDataInfo};
use popef::write::{Packing, Truncate, Written};
use popef::{DataType, Error, OpenOptions, TensorInfo, Writer};
use popef_fuzz::everything::everything;

fuzz_target!(|calls: Calls| calls.run());

/// The calls, and at which operation of the destination each failure comes.
#[derive(Arbitrary)]
struct Calls {
    calls: Vec<Call>,
    failures: Vec<u8>,
}

#[derive(Arbitrary)]
enum Call {
    Executable {
        name: u8,
        len: u8,
    },
    Packed {
        name: u8,
        len: u8,
        level: u8,
    },
    Tensor {
        name: u8,
        extent: u8,
        len: u8,
    },
    Opaque {
        name: u8,
        len: u8,
    },
    /// Piece by piece: so many are announced, such pieces come, and it is finished or dropped.
    Sized {
        name: u8,
        len: u8,
        pieces: Vec<u8>,
        finish: bool,
    },
    Open {
        name: u8,
        pieces: Vec<u8>,
        finish: bool,
    },
    PackedOpen {
        name: u8,
        pieces: Vec<u8>,
        finish: bool,
    },
    Feeds {
        tensors: [u8; 2],
        pushes: Vec<bool>,
        finish: bool,
    },
}

/// Type, name and data.
type Blob = (BlobType, String, Vec<u8>);

fn name(number: u8) -> String {
    ["", "a", "b", "c", "\u{e9}"][usize::from(number % 5)].to_owned()
}

fn data(len: u8) -> Vec<u8> {
    vec![len; len.into()]
}

fn opaque(number: u8) -> OpaqueInfo {
    OpaqueInfo { name: name(number).into(), ..Default::default() }
}

impl Calls {
    fn run(&self) {
        let mut to = Faulty { bytes: Cursor::new(Vec::new()), failures: self.failures.clone(), failed: false };
        let mut writer = Writer::seekable(&mut to).unwrap();
        let mut written: Vec<Blob> = Vec::new();
        let mut broken = false;
        // Blobs of which one may be left. That taking one back failed shows in the next call that gets to write.
        let mut left = Vec::new();
        for call in &self.calls {
            let was_broken = broken;
            match call.on(&mut writer) {
                Ok(blobs) => {
                    left.clear();
                    assert!(!broken || blobs.is_empty(), "it went on after a failure\n{self:?}");
                    written.extend(blobs);
                }
                Err(error) => broken |= error.kind() == ErrorKind::Io,
            }
            if !was_broken {
                left.extend(call.left());
            }
        }
        let finished = writer.finish();
        assert!(to.failed || finished.is_ok(), "nothing failed, but {finished:?}\n{self:?}");
        if finished.is_ok() {
            left.clear();
        }
        self.read_again(&to.bytes.into_inner(), &written, &left, finished.is_ok());
    }

    fn read_again(&self, bytes: &[u8], written: &[Blob], left: &[Blob], whole: bool) {
        let file = OpenOptions::new().damaged(true).bytes(bytes.to_vec()).unwrap();
        everything(&file, bytes.len() as u64);
        assert!(!whole || file.damage().is_none(), "{:?}\n{self:?}", file.damage());
        let read: Vec<Blob> = file.blobs().map(|blob| read(&blob)).collect();
        let with = |left: Option<&Blob>| read.iter().eq(written.iter().chain(left));
        let as_written = with(None) || left.iter().any(|left| with(Some(left)));
        assert!(as_written, "read {read:?}\nwritten {written:?}\n{self:?}");
    }
}

fn read(blob: &popef::Blob<'_>) -> Blob {
    let data = match blob.content() {
        popef::Content::Executable(executable) => {
            let mut data = Vec::new();
            io::Read::read_to_end(&mut executable.unpack().unwrap(), &mut data).unwrap();
            data
        }
        _ => blob.data().read().unwrap().into_owned(),
    };
    (blob.blob_type(), blob.name().unwrap_or_default().to_string(), data)
}

impl Call {
    /// What was whole before it was to be taken back: announced, and then given too much, or dropped.
    fn left(&self) -> Option<Blob> {
        let Call::Sized { name: n, len, pieces, .. } = self else { return None };
        let data = all(pieces).get(..usize::from(*len))?.to_vec();
        Some((BlobType::Opaque, name(*n), data))
    }

    /// The call, and what it wrote.
    fn on(&self, writer: &mut Writer<popef::write::Seekable<&mut Faulty>>) -> Result<Vec<Blob>, Error> {
        use BlobType::{DataFeed, DataTensor, Opaque, PoplarExecutable};
        let one = |blob_type, number: &u8, data: Vec<u8>| {
            let blob = (blob_type, name(*number), data);
            move |_: Written| vec![blob]
        };
        match self {
            Call::Executable { name: n, len } => {
                writer.write_executable(name(*n), &data(*len)).map(one(PoplarExecutable, n, data(*len)))
            }
            Call::Packed { name: n, len, level } => writer
                .write_packed_executable(name(*n), &data(*len), Packing::Zlib(u32::from(*level) % 12))
                .map(one(PoplarExecutable, n, data(*len))),
            Call::Tensor { name: n, extent, len } => {
                let tensor_info = TensorInfo::new(DataType::U8, [i64::from(*extent)]);
                let info = TensorDataInfo { name: name(*n).into(), tensor_info };
                writer.write_tensor_bytes(&info, &data(*len)).map(one(DataTensor, n, data(*len)))
            }
            Call::Opaque { name: n, len } => {
                writer.write_opaque(&opaque(*n), &data(*len)).map(one(Opaque, n, data(*len)))
            }
            Call::Sized { name: n, len, pieces, finish } => {
                let mut blob = writer.sized_opaque(&opaque(*n), (*len).into())?;
                let put = pieces.iter().try_for_each(|piece| blob.write_all(&data(*piece)));
                put.map_err(|error| error.downcast::<Error>().unwrap())?;
                if *finish { blob.finish().map(one(Opaque, n, all(pieces))) } else { Ok(Vec::new()) }
            }
            Call::Open { name: n, pieces, finish } => {
                let mut blob = writer.executable(name(*n))?;
                let put = pieces.iter().try_for_each(|piece| blob.write_all(&data(*piece)));
                put.map_err(|error| error.downcast::<Error>().unwrap())?;
                if *finish { blob.finish().map(one(PoplarExecutable, n, all(pieces))) } else { Ok(Vec::new()) }
            }
            Call::PackedOpen { name: n, pieces, finish } => {
                let mut blob = writer.packed_executable(name(*n), Packing::Gzip(1))?;
                let put = pieces.iter().try_for_each(|piece| blob.write_all(&data(*piece)));
                put.map_err(|error| error.downcast::<Error>().unwrap())?;
                if *finish { blob.finish().map(one(PoplarExecutable, n, all(pieces))) } else { Ok(Vec::new()) }
            }
            Call::Feeds { tensors, pushes, finish } => {
                let info = |number: u8| FeedDataInfo {
                    name: name(number).into(),
                    tensor_info: TensorInfo::new(DataType::U8, [2]),
                    num_tensors: u32::from(tensors[usize::from(number)] % 4),
                };
                let mut feeds = writer.feeds(&[info(0), info(1)])?;
                let mut given = [Vec::new(), Vec::new()];
                for (which, tensor) in pushes.iter().map(|second| usize::from(*second)).zip(1u8..) {
                    feeds.push(which, &[tensor, which as u8])?;
                    given[which].extend([tensor, which as u8]);
                }
                if !*finish {
                    return Ok(Vec::new());
                }
                feeds.finish()?;
                let [first, second] = given;
                Ok(vec![(DataFeed, name(0), first), (DataFeed, name(1), second)])
            }
        }
    }
}

fn all(pieces: &[u8]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| data(*piece)).collect()
}

/// Memory that fails: the next number says after how many operations, each 0 at once.
struct Faulty {
    bytes: Cursor<Vec<u8>>,
    failures: Vec<u8>,
    failed: bool,
}

impl Faulty {
    fn fail_in_time(&mut self) -> io::Result<()> {
        match self.failures.first_mut() {
            Some(0) => {
                self.failures.remove(0);
                self.failed = true;
                Err(io::Error::other("a failure that was asked for"))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.fail_in_time()?;
        // Not always all of it; a word is whole or not there.
        let some = if bytes.len() > 8 { bytes.len() / 2 } else { bytes.len() };
        self.bytes.write(&bytes[..some])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.fail_in_time()
    }
}

impl Seek for Faulty {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // The first question for the position is the test's own.
        if to == SeekFrom::Current(0) {
            return self.bytes.seek(to);
        }
        self.fail_in_time()?;
        self.bytes.seek(to)
    }
}

impl Truncate for Faulty {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.fail_in_time()?;
        self.bytes.truncate(len)
    }
}

/// The calls as a program.
impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "// The destination fails after so many operations each: {:?}", self.failures)?;
        writeln!(f, "let mut writer = Writer::seekable(&mut destination)?;")?;
        self.calls.iter().try_for_each(|call| writeln!(f, "{call:?}"))?;
        writeln!(f, "writer.finish()?;")
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = |n: u8| format!("&OpaqueInfo {{ name: {:?}.into(), ..Default::default() }}", name(n));
        let body = |pieces: &[u8], finish: bool| {
            let puts: String = pieces.iter().map(|len| format!(" blob.write_all(&[{len}; {len}])?;")).collect();
            format!("{puts} {}", if finish { "blob.finish()?;" } else { "drop(blob);" })
        };
        match self {
            Call::Executable { name: n, len } => {
                write!(f, "writer.write_executable({:?}, &[{len}; {len}])?;", name(*n))
            }
            Call::Packed { name: n, len, level } => {
                let level = level % 12;
                write!(f, "writer.write_packed_executable({:?}, &[{len}; {len}], Packing::Zlib({level}))?;", name(*n))
            }
            Call::Tensor { name: n, extent, len } => write!(
                f,
                "writer.write_tensor_bytes(&TensorDataInfo {{ name: {:?}.into(), \
                 tensor_info: TensorInfo::new(DataType::U8, [{extent}]) }}, &[{len}; {len}])?;",
                name(*n)
            ),
            Call::Opaque { name: n, len } => write!(f, "writer.write_opaque({}, &[{len}; {len}])?;", info(*n)),
            Call::Sized { name: n, len, pieces, finish } => {
                write!(f, "let mut blob = writer.sized_opaque({}, {len})?;{}", info(*n), body(pieces, *finish))
            }
            Call::Open { name: n, pieces, finish } => {
                write!(f, "let mut blob = writer.executable({:?})?;{}", name(*n), body(pieces, *finish))
            }
            Call::PackedOpen { name: n, pieces, finish } => {
                let body = body(pieces, *finish);
                write!(f, "let mut blob = writer.packed_executable({:?}, Packing::Gzip(1))?;{body}", name(*n))
            }
            Call::Feeds { tensors, pushes, finish } => {
                let feed = |number: u8| {
                    let tensors = tensors[usize::from(number)] % 4;
                    format!(
                        "FeedDataInfo {{ name: {:?}.into(), tensor_info: TensorInfo::new(DataType::U8, [2]), \
                         num_tensors: {tensors} }}",
                        name(number)
                    )
                };
                write!(f, "let mut feeds = writer.feeds(&[{}, {}])?;", feed(0), feed(1))?;
                for (which, tensor) in pushes.iter().map(|second| u8::from(*second)).zip(1u8..) {
                    write!(f, " feeds.push({which}, &[{tensor}u8, {which}])?;")?;
                }
                f.write_str(if *finish { " feeds.finish()?;" } else { " drop(feeds);" })
            }
        }
    }
}

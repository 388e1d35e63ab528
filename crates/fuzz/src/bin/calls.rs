//! Any list of calls of a writer, with a destination that fails at any moment. Blobs that were reported as written can
//! be read. Other blobs cannot, unless removing them failed, too. A finding prints the calls as a program.

#![no_main]

use std::fmt;
use std::io::{self, Cursor, Seek, SeekFrom, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use popef::error::ErrorKind;
use popef::types::{BlobType, FeedDataInfo, OpaqueInfo, TensorDataInfo};
use popef::write::{BlobCopy, BlobWriter, FeedsWriter, HeldWriter, PackedWriter, Packing, Seekable, Truncate, Written};
use popef::{DataType, Error, File, OpenOptions, TensorInfo, Writer};
use popef_fuzz::everything::everything;

fuzz_target!(|calls: Calls| calls.run());

/// The calls, and the operations of the destination that fail.
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
    /// An executable from compressed bytes, with the size that they are said to unpack to.
    Compressed {
        name: u8,
        len: u8,
        said: u8,
    },
    /// The copy of a tensor of `len` bytes, with edits.
    Copy {
        len: u8,
        name: Option<u8>,
        version: Option<u8>,
        extent: Option<u8>,
    },
    /// A blob in pieces: `len` bytes are announced, the pieces come, and the blob is finished or dropped. It borrows or
    /// owns the writer.
    Sized {
        name: u8,
        len: u8,
        pieces: Vec<u8>,
        finish: bool,
        own: bool,
    },
    Open {
        name: u8,
        pieces: Vec<u8>,
        finish: bool,
        own: bool,
    },
    PackedOpen {
        name: u8,
        pieces: Vec<u8>,
        finish: bool,
        own: bool,
    },
    Feeds {
        tensors: [u8; 2],
        pushes: Vec<bool>,
        finish: bool,
        own: bool,
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

/// The tensor that is copied, as a file.
fn source(len: u8) -> File {
    let tensor_info = TensorInfo::new(DataType::U8, [i64::from(len)]);
    let info = TensorDataInfo { name: "source".into(), tensor_info };
    let mut writer = Writer::stream(Vec::new());
    writer.write_tensor_bytes(&info, &data(len)).unwrap();
    File::from_bytes(writer.into_inner().unwrap()).unwrap()
}

/// The compressed form of bytes.
fn compressed(data: &[u8]) -> Vec<u8> {
    let mut writer = Writer::stream(Vec::new());
    writer.write_packed_executable("model", data, Packing::Zlib(1)).unwrap();
    let file = File::from_bytes(writer.into_inner().unwrap()).unwrap();
    file.executable("model").unwrap().data().read().unwrap().into_owned()
}

/// Opens a blob that borrows or owns the writer, puts data into it, and finishes it or gives it up. The result says
/// whether it was finished. Between calls the writer is always in its place.
macro_rules! opened {
    ($writer:ident, $own:expr, $kind:ident, |$to:ident| $open:expr, |$blob:ident| $put:expr, $finish:expr) => {
        if $own {
            let owned = $writer.take().unwrap();
            match $kind::owning(owned, |$to| $open) {
                Err(refused) => {
                    *$writer = Some(refused.writer);
                    Err(refused.error)
                }
                Ok(mut open) => {
                    let $blob = &mut open;
                    let put = $put;
                    if put.is_err() || !$finish {
                        *$writer = Some(open.discard());
                        put.map(|()| false)
                    } else {
                        match open.finish() {
                            Ok((writer, _)) => {
                                *$writer = Some(writer);
                                Ok(true)
                            }
                            Err(refused) => {
                                *$writer = Some(refused.writer);
                                Err(refused.error)
                            }
                        }
                    }
                }
            }
        } else {
            let $to = $writer.as_mut().unwrap();
            $open.and_then(|mut open| {
                let $blob = &mut open;
                $put?;
                if $finish { open.finish().map(|_| true) } else { Ok(false) }
            })
        }
    };
}

fn put_pieces(blob: &mut impl Write, pieces: &[u8]) -> Result<(), Error> {
    let put = pieces.iter().try_for_each(|piece| blob.write_all(&data(*piece)));
    put.map_err(|error| error.downcast::<Error>().unwrap())
}

fn push_all<W: HeldWriter>(feeds: &mut FeedsWriter<W>, pushes: &[bool]) -> Result<(), Error> {
    numbered(pushes).try_for_each(|(which, tensor)| feeds.push(which, &[tensor, which as u8]))
}

/// The feed of each push, and the number at the start of its tensor.
fn numbered(pushes: &[bool]) -> impl Iterator<Item = (usize, u8)> {
    pushes.iter().map(|second| usize::from(*second)).zip((1..=u8::MAX).cycle())
}

impl Calls {
    fn run(&self) {
        let mut to = Faulty { bytes: Cursor::new(Vec::new()), failures: self.failures.clone(), failed: false };
        let mut writer = Some(Writer::seekable(&mut to).unwrap());
        let mut written: Vec<Blob> = Vec::new();
        let mut broken = false;
        // One of these blobs may be left: a failure to remove it shows only in the next call that writes.
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
        let finished = writer.unwrap().finish();
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
    /// The blob, if it is complete before it is removed: it got too much data, or was dropped.
    fn left(&self) -> Option<Blob> {
        let Call::Sized { name: n, len, pieces, .. } = self else { return None };
        let data = all(pieces).get(..usize::from(*len))?.to_vec();
        Some((BlobType::Opaque, name(*n), data))
    }

    /// Does the call and returns what it wrote.
    fn on(&self, writer: &mut Option<Writer<Seekable<&mut Faulty>>>) -> Result<Vec<Blob>, Error> {
        use BlobType::{DataFeed, DataTensor, Opaque, PoplarExecutable};
        let one = |blob_type, number: &u8, data: Vec<u8>| {
            let blob = (blob_type, name(*number), data);
            move |_: Written| vec![blob]
        };
        let if_finished = |blobs: Vec<Blob>| move |finished| if finished { blobs } else { Vec::new() };
        let whole = writer.as_mut().unwrap();
        match self {
            Call::Executable { name: n, len } => {
                whole.write_executable(name(*n), &data(*len)).map(one(PoplarExecutable, n, data(*len)))
            }
            Call::Packed { name: n, len, level } => whole
                .write_packed_executable(name(*n), &data(*len), Packing::Zlib(u32::from(*level) % 12))
                .map(one(PoplarExecutable, n, data(*len))),
            Call::Tensor { name: n, extent, len } => {
                let tensor_info = TensorInfo::new(DataType::U8, [i64::from(*extent)]);
                let info = TensorDataInfo { name: name(*n).into(), tensor_info };
                whole.write_tensor_bytes(&info, &data(*len)).map(one(DataTensor, n, data(*len)))
            }
            Call::Opaque { name: n, len } => {
                whole.write_opaque(&opaque(*n), &data(*len)).map(one(Opaque, n, data(*len)))
            }
            Call::Compressed { name: n, len, said } => {
                let bytes = compressed(&data(*len));
                let written = whole.write_compressed_executable(name(*n), &bytes, (*said).into());
                assert!(written.is_err() || said == len, "{len} bytes were taken for {said}");
                written.map(one(PoplarExecutable, n, data(*len)))
            }
            Call::Copy { len, name: n, version, extent } => {
                let (file, tensor_info) = (source(*len), TensorInfo::new(DataType::S8, [extent.unwrap_or(0).into()]));
                let info = TensorDataInfo { name: "changed".into(), tensor_info };
                let mut copy = BlobCopy::of(&file.blob(0).unwrap());
                let mut new_name = "source".to_owned();
                if extent.is_some() {
                    copy = copy.info(&info);
                    new_name = "changed".to_owned();
                }
                if let Some(n) = n {
                    copy = copy.name(name(*n));
                    new_name = name(*n);
                }
                if let Some(version) = version {
                    copy = copy.version(name(*version));
                }
                let written = whole.copy(copy);
                assert!(written.is_err() || extent.is_none_or(|extent| extent == *len), "{extent:?} of {len} bytes");
                written.map(|_| vec![(DataTensor, new_name, data(*len))])
            }
            Call::Sized { name: n, len, pieces, finish, own } => {
                let info = opaque(*n);
                let finished = opened!(
                    writer,
                    *own,
                    BlobWriter,
                    |to| to.sized_opaque(&info, (*len).into()),
                    |blob| put_pieces(blob, pieces),
                    *finish
                );
                finished.map(if_finished(vec![(Opaque, name(*n), all(pieces))]))
            }
            Call::Open { name: n, pieces, finish, own } => {
                let finished = opened!(
                    writer,
                    *own,
                    BlobWriter,
                    |to| to.executable(name(*n)),
                    |blob| put_pieces(blob, pieces),
                    *finish
                );
                finished.map(if_finished(vec![(PoplarExecutable, name(*n), all(pieces))]))
            }
            Call::PackedOpen { name: n, pieces, finish, own } => {
                let finished = opened!(
                    writer,
                    *own,
                    PackedWriter,
                    |to| to.packed_executable(name(*n), Packing::Gzip(1)),
                    |blob| put_pieces(blob, pieces),
                    *finish
                );
                finished.map(if_finished(vec![(PoplarExecutable, name(*n), all(pieces))]))
            }
            Call::Feeds { tensors, pushes, finish, own } => {
                let info = |number: u8| FeedDataInfo {
                    name: name(number).into(),
                    tensor_info: TensorInfo::new(DataType::U8, [2]),
                    num_tensors: u32::from(tensors[usize::from(number)] % 4),
                };
                let infos = [info(0), info(1)];
                let finished =
                    opened!(writer, *own, FeedsWriter, |to| to.feeds(&infos), |feeds| push_all(feeds, pushes), *finish);
                let mut given = [Vec::new(), Vec::new()];
                for (which, tensor) in numbered(pushes) {
                    given[which].extend([tensor, which as u8]);
                }
                let [first, second] = given;
                finished.map(if_finished(vec![(DataFeed, name(0), first), (DataFeed, name(1), second)]))
            }
        }
    }
}

fn all(pieces: &[u8]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| data(*piece)).collect()
}

/// Memory that fails. Each number says how many operations succeed before the next failure.
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
        // A write may take a part of the bytes. A word is written whole or not at all.
        let some = if bytes.len() > 8 { bytes.len() / 2 } else { bytes.len() };
        self.bytes.write(&bytes[..some])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.fail_in_time()
    }
}

impl Seek for Faulty {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // The target itself asks for the position first.
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
        let body = |pieces: &[u8], finish: bool, own: bool| {
            let puts: String = pieces.iter().map(|len| format!(" blob.write_all(&[{len}; {len}])?;")).collect();
            format!("{puts} {}", ended("blob", finish, own))
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
            Call::Compressed { name: n, len, said } => {
                write!(f, "writer.write_compressed_executable({:?}, &compressed(&data({len})), {said})?;", name(*n))
            }
            Call::Copy { len, name: n, version, extent } => {
                write!(f, "writer.copy(BlobCopy::of(&source({len}).blob(0).unwrap())")?;
                if let Some(extent) = extent {
                    let info = format!("tensor_info: TensorInfo::new(DataType::S8, [{extent}])");
                    write!(f, ".info(&TensorDataInfo {{ name: \"changed\".into(), {info} }})")?;
                }
                n.map_or(Ok(()), |n| write!(f, ".name({:?})", name(n)))?;
                version.map_or(Ok(()), |version| write!(f, ".version({:?})", name(version)))?;
                f.write_str(")?;")
            }
            Call::Sized { name: n, len, pieces, finish, own } => {
                let opened = opening("blob", "BlobWriter", &format!("sized_opaque({}, {len})", info(*n)), *own);
                write!(f, "{opened}{}", body(pieces, *finish, *own))
            }
            Call::Open { name: n, pieces, finish, own } => {
                let opened = opening("blob", "BlobWriter", &format!("executable({:?})", name(*n)), *own);
                write!(f, "{opened}{}", body(pieces, *finish, *own))
            }
            Call::PackedOpen { name: n, pieces, finish, own } => {
                let open = format!("packed_executable({:?}, Packing::Gzip(1))", name(*n));
                write!(f, "{}{}", opening("blob", "PackedWriter", &open, *own), body(pieces, *finish, *own))
            }
            Call::Feeds { tensors, pushes, finish, own } => {
                let feed = |number: u8| {
                    let tensors = tensors[usize::from(number)] % 4;
                    format!(
                        "FeedDataInfo {{ name: {:?}.into(), tensor_info: TensorInfo::new(DataType::U8, [2]), \
                         num_tensors: {tensors} }}",
                        name(number)
                    )
                };
                let open = format!("feeds(&[{}, {}])", feed(0), feed(1));
                f.write_str(&opening("feeds", "FeedsWriter", &open, *own))?;
                for (which, tensor) in numbered(pushes) {
                    write!(f, " feeds.push({which}, &[{tensor}u8, {which}])?;")?;
                }
                write!(f, " {}", ended("feeds", *finish, *own))
            }
        }
    }
}

/// The code that opens a blob.
fn opening(blob: &str, kind: &str, open: &str, own: bool) -> String {
    if own {
        format!("let mut {blob} = {kind}::owning(writer, |writer| writer.{open})?;")
    } else {
        format!("let mut {blob} = writer.{open}?;")
    }
}

/// The code that ends a blob.
fn ended(blob: &str, finish: bool, own: bool) -> String {
    match (finish, own) {
        (true, true) => format!("let (mut writer, _) = {blob}.finish()?;"),
        (true, false) => format!("{blob}.finish()?;"),
        (false, true) => format!("let mut writer = {blob}.discard();"),
        (false, false) => format!("drop({blob});"),
    }
}

//! The files that the benchmarks measure. This crate's writer makes them, always with the same bytes.
//!
//! Each recipe adds blobs to a writer, so that several can go into one file and to any destination:
//!
//! ```ignore
//! let path = folder.path().join("many.popef");
//! recipe::create(&path, |writer| recipe::small_tensors(writer, 100_000));
//! let bytes = recipe::in_memory(|writer| recipe::feeds(writer, 1000));
//! recipe::create_sparse(&path, |writer| recipe::empty_tensors(writer, 16, 512 << 20));
//! ```

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use popef::types::{Anchor, FeedDataInfo, ProgramFlow, ProgramInfo, TensorDataInfo, TensorType};
use popef::write::{Destination, Stream};
use popef::{DataType, Metadata, TensorInfo, Writer};

/// Makes a file on disk. It is not flushed, because the benchmarks read from the system's cache.
pub fn create(path: &Path, recipe: impl FnOnce(&mut Writer<Stream<BufWriter<File>>>)) {
    let mut writer = Writer::stream(BufWriter::new(File::create(path).unwrap()));
    recipe(&mut writer);
    writer.finish().unwrap();
}

/// Makes a sparse file on disk, with holes in place of zeros.
pub fn create_sparse(path: &Path, recipe: impl FnOnce(&mut Writer<Stream<Sparse>>)) {
    let mut writer = Writer::stream(Sparse(File::create(path).unwrap()));
    recipe(&mut writer);
    writer.finish().unwrap();
}

/// Makes a file in memory.
pub fn in_memory(recipe: impl FnOnce(&mut Writer<Stream<&mut Vec<u8>>>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    recipe(&mut writer);
    writer.finish().unwrap();
    bytes
}

/// The name of a small tensor, a feed or an anchor.
pub fn name(index: usize) -> String {
    format!("model.encoder.layer.{index:06}.weight")
}

/// Tensors `F32 [2, 2]`: a file of headers.
pub fn small_tensors<D: Destination>(writer: &mut Writer<D>, count: usize) {
    for index in 0..count {
        writer.write_tensor(&tensor_info(name(index), DataType::F32, [2, 2]), &[0.0f32; 4]).unwrap();
    }
}

/// Tensors `F32` of this many bytes, all zeros: headers that lie far apart.
pub fn empty_tensors<D: Destination>(writer: &mut Writer<D>, count: usize, size: usize) {
    let zeros = vec![0; size.min(1 << 20)];
    for index in 0..count {
        let info = tensor_info(name(index), DataType::F32, [extent(size / 4)]);
        let mut blob = writer.tensor(&info).unwrap();
        for at in (0..size).step_by(zeros.len()) {
            blob.write_all(&zeros[..zeros.len().min(size - at)]).unwrap();
        }
        blob.finish().unwrap();
    }
}

/// Feeds of 8 tensors `F32 [2, 2]`.
pub fn feeds<D: Destination>(writer: &mut Writer<D>, count: usize) {
    for index in 0..count {
        let TensorDataInfo { name, tensor_info } = tensor_info(name(index), DataType::F32, [2, 2]);
        writer.write_feed(&FeedDataInfo { name, tensor_info, num_tensors: 8 }, &[0.0f32; 8 * 4]).unwrap();
    }
}

/// Metadata of this many anchors: one input, one output, and weights.
pub fn metadata(anchors: usize) -> Metadata {
    let anchor = |index: usize| Anchor {
        name: name(index).into(),
        handle: format!("h2d_{}", name(index)).into(),
        tensor_info: TensorInfo::new(DataType::F16, [1024, 1024]),
        tensor_type: if index == 1 { TensorType::Output } else { TensorType::Input },
        programs: if index < 2 { vec![5] } else { vec![0] },
        ..Anchor::default()
    };
    let program = |(index, name): (u32, &'static str)| ProgramInfo { index, name: name.into() };
    Metadata {
        executable: "model".into(),
        program_flow: ProgramFlow { load: vec![0], main: vec![5], save: vec![6] },
        programs_map: [(0, "WeightsFromHost"), (5, "Program"), (6, "WeightsToHost")].map(program).to_vec(),
        anchors: (0..anchors).map(anchor).collect(),
        ..Metadata::default()
    }
}

/// BERT-Large as it is shipped for inference: 400 tensors of 701 MiB. Weights are F16, word embeddings and layer norms
/// are F32. All numbers lie between 1/64 and 1/32 and have either sign.
pub fn bert<D: Destination>(writer: &mut Writer<D>) {
    const HIDDEN: usize = 1024;
    const INNER: usize = 4 * HIDDEN;
    const WORDS: usize = 30_522;
    use DataType::{F16, F32};

    let mut weights = Weights::new();
    let mut write = |name: &str, data_type, shape: &[usize]| weights.write(writer, name, data_type, shape);
    write("bert.embeddings.word_embeddings.weight", F32, &[WORDS, HIDDEN]);
    write("bert.embeddings.position_embeddings.weight", F16, &[512, HIDDEN]);
    write("bert.embeddings.token_type_embeddings.weight", F16, &[2, HIDDEN]);
    write("bert.embeddings.LayerNorm.weight", F32, &[HIDDEN]);
    write("bert.embeddings.LayerNorm.bias", F32, &[HIDDEN]);
    for layer in 0..24 {
        let dense = [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ];
        for (part, outputs, inputs) in dense {
            write(&format!("bert.encoder.layer.{layer}.{part}.weight"), F16, &[outputs, inputs]);
            write(&format!("bert.encoder.layer.{layer}.{part}.bias"), F16, &[outputs]);
        }
        for part in ["attention.output", "output"] {
            write(&format!("bert.encoder.layer.{layer}.{part}.LayerNorm.weight"), F32, &[HIDDEN]);
            write(&format!("bert.encoder.layer.{layer}.{part}.LayerNorm.bias"), F32, &[HIDDEN]);
        }
    }
    write("bert.pooler.dense.weight", F16, &[HIDDEN, HIDDEN]);
    write("bert.pooler.dense.bias", F16, &[HIDDEN]);
    write("cls.predictions.bias", F16, &[WORDS]);
    write("cls.predictions.transform.dense.weight", F16, &[HIDDEN, HIDDEN]);
    write("cls.predictions.transform.dense.bias", F16, &[HIDDEN]);
    write("cls.predictions.transform.LayerNorm.weight", F32, &[HIDDEN]);
    write("cls.predictions.transform.LayerNorm.bias", F32, &[HIDDEN]);
    write("cls.seq_relationship.weight", F16, &[2, HIDDEN]);
    write("cls.seq_relationship.bias", F16, &[2]);
    write("qa_outputs.weight", F16, &[2, HIDDEN]);
    write("qa_outputs.bias", F16, &[2]);
}

/// Tensors with random weights. Each goes on in the random numbers where the one before it ended.
pub struct Weights(Random);

impl Weights {
    pub fn new() -> Self {
        Weights(Random::new())
    }

    /// Writes a tensor of type F32 or F16.
    pub fn write<D: Destination>(&mut self, writer: &mut Writer<D>, name: &str, data_type: DataType, shape: &[usize]) {
        // Signs and mantissas are random. The exponents are those of 1/64.
        let (random, exponents) = match data_type {
            DataType::F32 => (0x807f_ffff_807f_ffff, 0x3c80_0000_3c80_0000),
            DataType::F16 => (0x83ff_83ff_83ff_83ff, 0x2400_2400_2400_2400),
            other => panic!("no weights of type {other}"),
        };
        let info = tensor_info(name.to_owned(), data_type, shape.iter().copied().map(extent).collect::<Vec<_>>());
        let mut left = usize::try_from(info.tensor_info.size_in_bytes().unwrap()).unwrap();
        let mut blob = writer.tensor(&info).unwrap();
        let mut block = [0; 64 << 10];
        while left > 0 {
            let part = left.min(block.len());
            for word in block[..part.next_multiple_of(8)].as_chunks_mut().0 {
                *word = (self.0.next() & random | exponents).to_le_bytes();
            }
            blob.write_all(&block[..part]).unwrap();
            left -= part;
        }
        blob.finish().unwrap();
    }
}

/// Random numbers, the same in each run (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new() -> Self {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.next().to_le_bytes()).flatten().take(len).collect()
    }
}

/// A file that leaves holes in place of zeros.
pub struct Sparse(File);

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // It compares chunks, because a search for the first other byte goes byte by byte.
        if bytes.chunks(64).any(|chunk| chunk.iter().fold(0, |all, byte| all | byte) != 0) {
            return self.0.write(bytes);
        }
        self.0.seek(SeekFrom::Current(extent(bytes.len())))?;
        Ok(bytes.len())
    }

    /// Gives the file its length, which holes at the end do not.
    fn flush(&mut self) -> io::Result<()> {
        let end = self.0.stream_position()?;
        self.0.set_len(end)
    }
}

fn tensor_info(name: String, data_type: DataType, shape: impl Into<Vec<i64>>) -> TensorDataInfo {
    TensorDataInfo { name: name.into(), tensor_info: TensorInfo::new(data_type, shape) }
}

fn extent(len: usize) -> i64 {
    i64::try_from(len).unwrap()
}

//! What a server of ours serves.

use std::ops::Range;
use std::sync::Arc;

use popef::DataType;
use popef::types::{InfoRef, TensorDataInfo, TensorInfo, Text};

/// Bytes that need not all be in memory.
pub(crate) trait Content: Send + Sync {
    fn len(&self) -> u64;
    fn read(&self, range: Range<u64>) -> Vec<u8>;
}

impl Content for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read(&self, range: Range<u64>) -> Vec<u8> {
        let at = |place| usize::try_from(place).expect("it is in memory");
        self[at(range.start)..at(range.end)].to_vec()
    }
}

/// A file whose data are zeros that are not in memory. Only the heads of its blobs are.
pub(crate) struct Sparse {
    pieces: Vec<(u64, Vec<u8>)>,
    len: u64,
}

impl Sparse {
    /// `count` tensors with `data_len` bytes each.
    pub(crate) fn tensors(count: usize, data_len: u64) -> Arc<Sparse> {
        let mut sparse = Sparse { pieces: Vec::new(), len: 0 };
        for number in 0..count {
            let head = tensor_head(&format!("tensor {number}"), data_len);
            sparse.pieces.push((sparse.len, head.clone()));
            sparse.len += head.len() as u64 + data_len;
        }
        Arc::new(sparse)
    }

    /// All of it in memory.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.read(0..self.len)
    }
}

impl Content for Sparse {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).expect("a range fits into memory")];
        let first = self.pieces.partition_point(|(place, piece)| place + piece.len() as u64 <= range.start);
        for (place, piece) in self.pieces[first..].iter().take_while(|(place, _)| *place < range.end) {
            let (start, end) = (range.start.max(*place), range.end.min(place + piece.len() as u64));
            let at = |place: u64, from: u64| usize::try_from(place - from).expect("a range fits into memory");
            bytes[at(start, range.start)..at(end, range.start)]
                .copy_from_slice(&piece[at(start, *place)..at(end, *place)]);
        }
        bytes
    }
}

fn tensor_head(name: &str, data_len: u64) -> Vec<u8> {
    let shape = [i64::try_from(data_len).expect("it is a size")];
    let info = TensorDataInfo { name: name.to_owned().into(), tensor_info: TensorInfo::new(DataType::U8, shape) };
    popef::write::head(&Text::from("v1.0.0"), InfoRef::from(&info), data_len).expect("the head can be made")
}

//! Arrays whose bytes are in another order than PopEF's: big-endian, or with the first dimension running fastest.

use std::io::{self, Cursor, Read};

use popef::TensorInfo;

use super::unsupported;
use crate::error::Error;

/// The order of the bytes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) big_endian: bool,
    /// The first dimension runs fastest.
    pub(super) fortran: bool,
}

/// Maximum number of bytes of an array whose dimensions are reordered. They are held in memory twice.
const MOST: u64 = 16 << 20;

impl Layout {
    /// Whether the bytes of an array with this layout are in PopEF's layout.
    pub(super) fn is_plain(self, info: &TensorInfo) -> bool {
        !self.big_endian && !self.is_transposed(info)
    }

    /// Whether the elements of an array with this layout are in another order. With fewer than two dimensions, both
    /// orders are the same.
    fn is_transposed(self, info: &TensorInfo) -> bool {
        let is_empty = info.shape.contains(&0);
        self.fortran && !is_empty && info.shape.iter().filter(|extent| **extent > 1).count() > 1
    }

    /// The bytes of a reader in PopEF's layout.
    pub(super) fn ordered(
        self,
        data: impl Read + Send + 'static,
        info: &TensorInfo,
    ) -> Result<Box<dyn Read + Send>, Error> {
        let size = usize::try_from(info.data_type.size().unwrap_or(1)).unwrap_or(1);
        let data: Box<dyn Read + Send> = if self.big_endian && size > 1 {
            Box::new(Swapped { data, size, piece: Vec::new(), at: 0 })
        } else {
            Box::new(data)
        };
        if !self.is_transposed(info) {
            return Ok(data);
        }
        transposed(data, info, size)
    }
}

/// The elements with the last dimension running fastest.
fn transposed(mut data: Box<dyn Read + Send>, info: &TensorInfo, size: usize) -> Result<Box<dyn Read + Send>, Error> {
    let len = info.size_in_bytes()?;
    if len > MOST {
        let message = format!("it is in Fortran order and has {len} bytes: at most {MOST} are put into order here");
        return Err(unsupported(format!("{message}; save numpy.ascontiguousarray of it")));
    }
    let mut old = Vec::new();
    data.read_to_end(&mut old).map_err(|error| Error::io("read the array", error))?;
    // A header can have thousands of dimensions of one element, which would be gone through for each element of the array.
    let extents = info.shape.iter().filter(|extent| **extent != 1);
    let extents: Vec<usize> = extents.map(|&extent| usize::try_from(extent).unwrap_or(0)).collect();
    let strides: Vec<usize> = extents
        .iter()
        .scan(size, |stride, extent| Some(std::mem::replace(stride, stride.saturating_mul(*extent))))
        .collect();
    let mut new = Vec::with_capacity(old.len());
    let mut index = vec![0usize; extents.len()];
    while new.len() < old.len() {
        let at = index.iter().zip(&strides).map(|(index, stride)| index.saturating_mul(*stride)).sum::<usize>();
        let element = old.get(at..at.saturating_add(size)).filter(|element| !element.is_empty());
        new.extend_from_slice(element.ok_or_else(|| super::bad("the array is cut off"))?);
        step(&mut index, &extents);
    }
    Ok(Box::new(Cursor::new(new)))
}

/// Goes to the next element, the last dimension first.
fn step(index: &mut [usize], extents: &[usize]) {
    for (index, extent) in index.iter_mut().zip(extents).rev() {
        *index = index.saturating_add(1);
        if *index < *extent {
            return;
        }
        *index = 0;
    }
}

/// Reverses the bytes of each element.
struct Swapped<R> {
    data: R,
    /// The bytes of an element.
    size: usize,
    piece: Vec<u8>,
    /// The first byte of the piece that is not given out yet.
    at: usize,
}

/// A multiple of the size of every element.
const PIECE: u64 = 64 << 10;

impl<R: Read> Read for Swapped<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.piece.len() {
            self.piece.clear();
            self.at = 0;
            self.data.by_ref().take(PIECE).read_to_end(&mut self.piece)?;
            self.piece.chunks_mut(self.size).for_each(<[u8]>::reverse);
        }
        let count = self.piece.get(self.at..).unwrap_or_default().read(buf)?;
        self.at = self.at.saturating_add(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use popef::DataType;

    use super::*;

    fn ordered(layout: Layout, info: &TensorInfo, bytes: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        layout.ordered(Cursor::new(bytes.to_vec()), info).unwrap().read_to_end(&mut all).unwrap();
        all
    }

    #[test]
    fn elements_are_put_into_order() {
        // [[1, 2, 3], [4, 5, 6]] as numpy.asfortranarray stores it.
        let info = TensorInfo::new(DataType::U8, [2, 3]);
        let fortran = Layout { big_endian: false, fortran: true };
        assert_eq!(ordered(fortran, &info, &[1, 4, 2, 5, 3, 6]), [1, 2, 3, 4, 5, 6]);
        let info = TensorInfo::new(DataType::U16, [2, 1, 2]);
        let both = Layout { big_endian: true, fortran: true };
        assert_eq!(ordered(both, &info, &[0, 1, 0, 3, 0, 2, 0, 4]), [1, 0, 2, 0, 3, 0, 4, 0]);
        let info = TensorInfo::new(DataType::U8, [&[1; 30_000][..], &[2, 500_000]].concat());
        let bytes: Vec<u8> = (0..1_000_000).map(|at| u8::from(at % 2 == 1)).collect();
        assert!(ordered(fortran, &info, &bytes) == [[0; 500_000], [1; 500_000]].concat());
        assert!(fortran.is_plain(&TensorInfo::new(DataType::F32, [1, 9, 1])));
        assert!(fortran.is_plain(&TensorInfo::new(DataType::F32, [3, 0, 3])));
    }

    #[test]
    fn bytes_of_many_pieces_are_reversed() {
        let old: Vec<u8> = (0..300_000u32).flat_map(u32::to_be_bytes).collect();
        let new: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
        let info = TensorInfo::new(DataType::U32, [300_000]);
        assert!(ordered(Layout { big_endian: true, fortran: false }, &info, &old) == new);
    }
}

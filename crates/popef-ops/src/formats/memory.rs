//! Arrays that are in no file.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use popef::TensorInfo;
use popef::read::ReadAt;
use popef::types::Text;

use super::{Array, Stored};
use crate::error::{Code, Error};
use crate::near::quoted;

/// The bytes of an array, as PopEF has them.
#[derive(Clone)]
pub(super) struct Memory(Arc<dyn ReadAt>);

impl Array {
    /// An array in memory. `bytes` are its whole content in PopEF's layout: little-endian, the last dimension running
    /// fastest.
    ///
    /// They are read several times, and must be the same each time.
    ///
    /// ```
    /// use popef::read::ReadAt;
    /// use popef::{DataType, TensorInfo};
    /// use popef_ops::formats::Array;
    ///
    /// struct Zeros(u64);
    ///
    /// impl ReadAt for Zeros {
    ///     fn size(&self) -> u64 {
    ///         self.0
    ///     }
    ///
    ///     fn read_exact_at(&self, buf: &mut [u8], _: u64) -> std::io::Result<()> {
    ///         Ok(buf.fill(0))
    ///     }
    /// }
    ///
    /// let info = TensorInfo::new(DataType::S16, [2]);
    /// let array = Array::in_memory("weights", info.clone(), Zeros(4))?;
    /// let mut bytes = Vec::new();
    /// array.reader()?.read_to_end(&mut bytes)?;
    /// assert_eq!(bytes, [0; 4]);
    /// assert!(Array::in_memory("weights", info, Zeros(3)).is_err());
    /// # Ok::<(), popef_ops::Error>(())
    /// ```
    pub fn in_memory(
        name: impl Into<Text<'static>>,
        info: TensorInfo,
        bytes: impl ReadAt + 'static,
    ) -> Result<Self, Error> {
        let (name, needed, found) = (name.into(), info.size_in_bytes()?, bytes.size());
        if needed != found {
            let message = format!("{}: needed {needed} bytes, found {found}", quoted(&name));
            return Err(Error::new(Code::WrongArray, message));
        }
        Ok(Array { name, info, said: None, is_keyed: false, stored: Stored::Memory(Memory(Arc::new(bytes))) })
    }

    /// Whether it is in no file.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.stored, Stored::Memory(_))
    }
}

impl Memory {
    pub(super) fn reader(&self) -> impl Read + Send + use<> {
        MemoryReader { memory: self.clone(), position: 0 }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("size", &self.0.size()).finish_non_exhaustive()
    }
}

struct MemoryReader {
    memory: Memory,
    position: u64,
}

impl Read for MemoryReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.memory.0.size().saturating_sub(self.position);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let Some(buf) = buf.get_mut(..len).filter(|buf| !buf.is_empty()) else { return Ok(0) };
        self.memory.0.read_exact_at(buf, self.position)?;
        self.position = self.position.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        Ok(len)
    }
}

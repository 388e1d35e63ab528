//! A destination that keeps nothing.

use std::fs;
use std::io::{self, Take};

use super::destination::sink::{Failure, Remains, Sink};
use super::destination::{Destination, Rewind};
use super::writer::Writer;

/// A [`Destination`] that keeps nothing. [`Writer::nowhere`] makes it.
#[derive(Debug)]
pub struct Nowhere(());

impl Writer<Nowhere> {
    /// Writes nowhere, to learn how large a file would become. Everything is checked as for a real file. Large data of
    /// copied blobs is not even read.
    ///
    /// ```
    /// use popef::Writer;
    ///
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// let mut writer = Writer::nowhere();
    /// writer.copy_all(file.tensors().map(|tensor| *tensor.blob()))?;
    /// println!("the tensors alone would take {} bytes", writer.finish()?.size);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn nowhere() -> Self {
        Writer::begin(Nowhere(()))
    }
}

impl Destination for Nowhere {}
impl Rewind for Nowhere {}

impl Sink for Nowhere {
    fn write_at(&mut self, _at: u64, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn copy_at(&mut self, _at: u64, _from: &mut Take<fs::File>) -> io::Result<()> {
        Ok(())
    }

    fn cut(&mut self, _len: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn commit(&mut self, _end: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn abandon(&mut self, _end: u64) -> Result<(), Remains> {
        Ok(())
    }
}

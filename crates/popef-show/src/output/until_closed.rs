use std::io::{self, ErrorKind, Write};

/// A writer whose reader may leave, as `head` does. What is written after that goes nowhere, and is no error: the work goes on, and
/// its result is what it would have been.
///
/// ```
/// use std::io::Write as _;
///
/// use popef_show::UntilClosed;
///
/// # fn main() -> std::io::Result<()> {
/// let (reader, writer) = std::io::pipe()?;
/// drop(reader);
/// let mut writer = UntilClosed::new(writer);
/// writer.write_all(b"too late")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct UntilClosed<W> {
    /// None once the reader has left.
    to: Option<W>,
}

impl<W: Write> UntilClosed<W> {
    /// A writer to another one.
    pub fn new(to: W) -> Self {
        UntilClosed { to: Some(to) }
    }

    fn unless_closed<T>(&mut self, otherwise: T, done: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        match self.to.as_mut().map(done) {
            None => Ok(otherwise),
            Some(Err(error)) if error.kind() == ErrorKind::BrokenPipe => {
                self.to = None;
                Ok(otherwise)
            }
            Some(done) => done,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), Write::flush)
    }
}

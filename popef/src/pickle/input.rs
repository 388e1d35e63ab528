use crate::error::Error;
use crate::read::Data;

/// Why a walk ends before the pickle does.
#[derive(Debug)]
pub(super) enum Halt {
    /// Python would stop here too.
    Fault(&'static str),
    /// Python would go on: it is too much, or too odd, to be followed here.
    Limit(&'static str),
    /// The bytes could not be read.
    Unread(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Halt::Unread(error)
    }
}

pub(super) const CUT: Halt = Halt::Fault("it ends in the middle");

/// Reads data from front to back in windows.
pub(super) struct Input<'a> {
    data: Data<'a>,
    position: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl<'a> Input<'a> {
    const WINDOW: u64 = 64 << 10;

    pub(super) fn new(data: Data<'a>, position: u64) -> Self {
        Input { data, position, window: Vec::new(), window_start: 0 }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn left(&self) -> u64 {
        self.data.len().saturating_sub(self.position)
    }

    /// The next `len` bytes as data of their own, passed over.
    pub(super) fn part(&mut self, len: u64) -> Result<Data<'a>, Halt> {
        let end = self.position.checked_add(len).filter(|&end| end <= self.data.len()).ok_or(CUT)?;
        let part = self.data.range(self.position..end)?;
        self.position = end;
        Ok(part)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Halt> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Halt> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.windowed()?;
        }
        Ok(bytes)
    }

    /// The next `len` bytes, through the window: for short ones, of which there may be very many.
    pub(super) fn bytes(&mut self, len: u64) -> Result<Vec<u8>, Halt> {
        if len > self.left() {
            return Err(CUT);
        }
        let mut bytes = Vec::new();
        for _ in 0..len {
            bytes.push(self.windowed()?);
        }
        Ok(bytes)
    }

    /// The bytes up to the next line feed, which is passed over. `limit` is how many there may be.
    pub(super) fn line(&mut self, limit: usize) -> Result<Vec<u8>, Halt> {
        let mut line = Vec::new();
        loop {
            match self.windowed()? {
                b'\n' => return Ok(line),
                _ if line.len() >= limit => return Err(Halt::Limit("a line has no end in sight")),
                byte => line.push(byte),
            }
        }
    }

    fn windowed(&mut self) -> Result<u8, Halt> {
        loop {
            let at = self.position.checked_sub(self.window_start).and_then(|at| usize::try_from(at).ok());
            if let Some(&byte) = at.and_then(|at| self.window.get(at)) {
                self.position = self.position.saturating_add(1);
                return Ok(byte);
            }
            if self.left() == 0 {
                return Err(CUT);
            }
            let end = self.position.saturating_add(Self::WINDOW).min(self.data.len());
            self.window = self.data.range(self.position..end)?.read()?.into_owned();
            self.window_start = self.position;
        }
    }
}

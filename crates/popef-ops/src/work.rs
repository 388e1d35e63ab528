//! Common parts of operations that read much data: tasks on all processors whose results are taken in order, and data
//! in pieces.

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::iter;
use std::ops::{ControlFlow, Range};

use popef::error::ErrorKind;
use popef::read::Data;
use popef_work::Room;
use tempfile::TempDir;

use crate::error::Error;
use crate::progress::Progress;

/// The number of bytes read at a time: enough that the overhead of each piece is small, and few enough for a
/// processor's cache.
pub(crate) const PIECE: usize = 256 << 10;

/// The same as the length of a file.
pub(crate) const PIECE_LEN: u64 = 256 << 10;

/// The number of bytes that a task covers: several pieces, because waking a thread for each would take longer than its
/// work.
pub(crate) const TASK_LEN: u64 = 2 << 20;

/// Memory that a thread uses for one piece after the other: two, because two files are compared.
#[derive(Default)]
pub(crate) struct Scratch(pub(crate) [Vec<u8>; 2]);

/// The bytes of a range: borrowed if they are in memory, otherwise read into `buffer`.
pub(crate) fn bytes_of<'b>(data: &Data<'b>, range: Range<u64>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Error> {
    let part = data.range(range)?;
    if let Some(bytes) = part.as_slice() {
        return Ok(bytes);
    }
    let bytes = room_for(buffer, part.len());
    part.read_at(0, bytes)?;
    Ok(bytes)
}

/// The start of a buffer, which grows if it is too small.
pub(crate) fn room_for(buffer: &mut Vec<u8>, len: u64) -> &mut [u8] {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    buffer.get_mut(..len).unwrap_or_default()
}

/// The length of a slice as the length of a file.
pub(crate) fn len_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Cuts a range into pieces.
pub(crate) fn pieces(Range { mut start, end }: Range<u64>, piece: u64) -> impl Iterator<Item = Range<u64>> {
    iter::from_fn(move || {
        let range = start..end.min(piece.saturating_add(start));
        start = range.end;
        (!range.is_empty()).then_some(range)
    })
}

/// The work of one thread at a time.
pub(crate) enum Task<S, L> {
    /// Several small subjects, or one that cannot be cut into pieces.
    Several(Vec<S>),
    /// A piece of a large subject's lot.
    Piece(L, Range<u64>),
    /// The end of a large subject: all its pieces came before.
    End(S),
}

/// How a subject is worked on.
pub(crate) enum Load<L> {
    /// In pieces of a lot of this length.
    Pieces(L, u64),
    /// On one thread, which reads about this many bytes.
    Whole(u64),
}

/// Divides subjects into tasks.
pub(crate) struct Tasks<I, F, S, L> {
    subjects: I,
    load: F,
    /// A large subject, its lot and its length, and the length that is done.
    large: Option<(S, L, u64, u64)>,
}

impl<I, F: Fn(&S) -> Load<L>, S, L> Tasks<I, F, S, L> {
    pub(crate) fn new(subjects: I, load: F) -> Self {
        Tasks { subjects, load, large: None }
    }
}

impl<I: Iterator<Item = S>, F: Fn(&S) -> Load<L>, S, L: Clone> Iterator for Tasks<I, F, S, L> {
    type Item = Task<S, L>;

    fn next(&mut self) -> Option<Task<S, L>> {
        if self.large.is_some() {
            return self.next_piece();
        }
        let (mut several, mut bytes) = (Vec::new(), 0u64);
        while several.len() < MOST_SUBJECTS && bytes < TASK_LEN {
            let Some(subject) = self.subjects.next() else { break };
            match (self.load)(&subject) {
                Load::Pieces(lot, len) if len > TASK_LEN => {
                    self.large = Some((subject, lot, len, 0));
                    break;
                }
                Load::Pieces(_, len) | Load::Whole(len) => bytes = bytes.saturating_add(len),
            }
            several.push(subject);
        }
        if several.is_empty() { self.next_piece() } else { Some(Task::Several(several)) }
    }
}

impl<I, F, S, L: Clone> Tasks<I, F, S, L> {
    fn next_piece(&mut self) -> Option<Task<S, L>> {
        let (_, lot, len, done) = self.large.as_mut()?;
        let range = *done..(*len).min(done.saturating_add(TASK_LEN));
        if range.is_empty() {
            return self.large.take().map(|(subject, ..)| Task::End(subject));
        }
        *done = range.end;
        Some(Task::Piece(lot.clone(), range))
    }
}

/// Maximum number of small subjects in a task.
const MOST_SUBJECTS: usize = 128;

/// Fills the buffer from a reader, as far as it has bytes. Returns the bytes read.
pub(crate) fn fill<'b>(from: &mut (impl Read + ?Sized), buffer: &'b mut [u8]) -> Result<&'b [u8], Error> {
    let mut filled = 0;
    while let Some(room @ [_, ..]) = buffer.get_mut(filled..) {
        match from.read(room) {
            Ok(0) => break,
            Ok(len) => filled = filled.saturating_add(len),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read the data", error)),
        }
    }
    Ok(buffer.get(..filled).unwrap_or_default())
}

/// The problem with a blob's data, if that caused an error, and not reading it.
pub(crate) fn fault(error: &Error) -> Option<&popef::Error> {
    let kinds = [ErrorKind::Damaged, ErrorKind::Unknown, ErrorKind::Unsupported, ErrorKind::Limit];
    error.library().filter(|error| kinds.contains(&error.kind()))
}

/// Copies everything that a reader gives, in pieces, and reports the progress.
pub(crate) fn copy(from: &mut dyn Read, to: &mut dyn Write, progress: &dyn Progress) -> Result<(), Error> {
    let mut piece = vec![0; PIECE];
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count.map_err(|error| Error::io("read the data", error))?,
        };
        to.write_all(piece.get(..count).unwrap_or_default()).map_err(|error| Error::io("write", error))?;
        progress.add(u64::try_from(count).unwrap_or(u64::MAX))?;
    }
}

/// A temporary file without a name. The system removes it however the program ends.
pub(crate) fn temporary() -> Result<fs::File, Error> {
    tempfile::tempfile().map_err(|error| Error::io("make a temporary file", error).in_file(env::temp_dir()))
}

/// A private folder for files that need names, which only this user can open.
pub(crate) fn temporary_folder() -> Result<TempDir, Error> {
    tempfile::tempdir().map_err(|error| Error::io("make a temporary folder", error).in_file(env::temp_dir()))
}

/// Works on tasks on all processors that are free, and hands the results to `take` in the order of the tasks, on the calling thread.
///
/// Tasks are made when there is room for their results, so any number of them takes little memory. The first error in the
/// order of the tasks ends the work.
pub(crate) fn in_order<T: Send, R: Send>(
    tasks: impl IntoIterator<Item = T, IntoIter: Send>,
    make: impl Fn(&mut Scratch, T) -> Result<R, Error> + Sync,
    take: impl FnMut(R) -> Result<(), Error>,
) -> Result<(), Error> {
    rows_in_order(tasks, make, |_| 0, take)
}

/// Does the same for tasks whose results have rows; `rows` gives their number. Limits the number of rows that wait for
/// `take`.
pub(crate) fn rows_in_order<T: Send, R: Send>(
    tasks: impl IntoIterator<Item = T, IntoIter: Send>,
    make: impl Fn(&mut Scratch, T) -> Result<R, Error> + Sync,
    rows: fn(&R) -> usize,
    mut take: impl FnMut(R) -> Result<(), Error>,
) -> Result<(), Error> {
    let make = |scratch: &mut Scratch, task| {
        let made = make(scratch, task);
        let held = made.as_ref().map_or(0, rows);
        (made, held)
    };
    let take = |made: Result<R, Error>| match made.and_then(&mut take) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    };
    match popef_work::in_order(tasks, Room { results: AHEAD, held: MOST_ROWS }, make, take) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Maximum number of results that wait for their turn.
const AHEAD: usize = 1024;

/// Maximum number of rows in the results that wait.
const MOST_ROWS: usize = 4096;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::{AHEAD, in_order, pieces};
    use crate::error::{Code, Error};

    #[test]
    fn results_come_in_order() {
        for count in [0, 1, 2, 10_000] {
            let mut taken = Vec::new();
            let done = in_order(
                0..count,
                |_, task: usize| Ok(task),
                |task| {
                    taken.push(task);
                    Ok(())
                },
            );
            done.unwrap();
            assert_eq!(taken, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_in_order_ends_the_work() {
        let made = AtomicUsize::new(0);
        let mut taken = 0;
        let error = in_order(
            0..1_000_000,
            |_, task| {
                made.fetch_add(1, SeqCst);
                if task >= 50 { Err(Error::new(Code::WrongArguments, format!("{task}"))) } else { Ok(()) }
            },
            |()| {
                taken += 1;
                Ok(())
            },
        );
        assert_eq!((error.unwrap_err().to_string().as_str(), taken), ("50", 50));
        assert!(made.into_inner() <= 2 * AHEAD);
    }

    #[test]
    fn a_failure_to_take_ends_the_work() {
        let stop = |task| if task == 7 { Err(Error::new(popef::error::ErrorCode::Stopped, "enough")) } else { Ok(()) };
        assert!(in_order(0..1_000_000, |_, task: u32| Ok(task), stop).unwrap_err().is_stop());
    }

    #[test]
    fn pieces_are_all_of_the_length() {
        assert_eq!(pieces(0..0, 4).count(), 0);
        assert_eq!(pieces(3..12, 4).collect::<Vec<_>>(), [3..7, 7..11, 11..12]);
        assert_eq!(pieces(0..8, 4).collect::<Vec<_>>(), [0..4, 4..8]);
        assert_eq!(pieces(0..u64::MAX, 1 << 63).count(), 2);
    }
}

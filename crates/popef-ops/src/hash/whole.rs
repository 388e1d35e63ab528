//! Digests of all bytes of a file.

use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use popef::error::ErrorCode;
use popef::read::{Data, LocalFile, ReadAt as _};
use popef::{Blob, File};
use popef_work::{Thread, Turn, aside};

use super::blob::hash_blob;
use super::digest::{Algorithms, Digests, Hasher};
use super::tree::{Piece, Tree};
use super::{HashOptions, Take};
use crate::error::Error;
use crate::progress::{Progress, Silent};
use crate::work::{PIECE, PIECE_LEN, Scratch, TASK_LEN, fill, in_order, len_of, pieces, room_for};

/// The digests of all bytes of a reader.
pub fn hash_bytes(from: &mut dyn Read, algorithms: Algorithms, progress: &dyn Progress) -> Result<Digests, Error> {
    let mut hasher = Hasher::new(algorithms);
    let mut buffer = vec![0; PIECE];
    loop {
        let piece = fill(from, &mut buffer)?;
        if piece.is_empty() {
            return Ok(hasher.finish());
        }
        progress.add(len_of(piece))?;
        hasher.update(piece);
    }
}

/// The digests of all bytes of a file on disk, which need not be a PopEF file. With BLAKE3, all processors work on it.
///
/// Fails if the file is changed meanwhile.
pub fn hash_path(path: &Path, algorithms: Algorithms, progress: &dyn Progress) -> Result<Digests, Error> {
    let file = LocalFile::open(path)?;
    progress.expect(file.size());
    let result = match algorithms {
        Algorithms::BLAKE3 if file.size() > TASK_LEN => in_pieces(&file, progress),
        _ => hash_bytes(&mut Ahead { file: &file, position: 0 }, algorithms, progress),
    };
    let digests = result.map_err(|error| error.in_file(path))?;
    check_unchanged(&file).map_err(|error| error.in_file(path))?;
    Ok(digests)
}

fn check_unchanged(file: &LocalFile) -> Result<(), Error> {
    match file.is_unchanged() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::new(ErrorCode::FileChanged, "the file was changed while it was read")),
        Err(error) => Err(Error::io("look at the file", error)),
    }
}

fn in_pieces(file: &LocalFile, progress: &dyn Progress) -> Result<Digests, Error> {
    let mut tree = Tree::default();
    in_order(
        pieces(0..file.size(), TASK_LEN),
        |Scratch([buffer, _]), range| {
            let mut piece = Piece::at(range.start);
            for range in pieces(range, PIECE_LEN) {
                let buffer = room_for(buffer, range.end.saturating_sub(range.start));
                file.read_exact_at(buffer, range.start).map_err(|error| Error::io("read the file", error))?;
                progress.add(len_of(buffer))?;
                piece.update(buffer);
            }
            Ok(piece.finish())
        },
        |piece| {
            tree.push(piece);
            Ok(())
        },
    )?;
    Ok(Digests { sha256: None, blake3: tree.finish() })
}

/// Reads a file from its start to its end.
struct Ahead<'f> {
    file: &'f LocalFile,
    position: u64,
}

impl Read for Ahead<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.file.size().saturating_sub(self.position)).unwrap_or(usize::MAX);
        let room = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        if !room.is_empty() {
            self.file.read_exact_at(room, self.position)?;
        }
        self.position = self.position.saturating_add(len_of(room));
        Ok(room.len())
    }
}

/// The digests of the whole file and of the blobs. Another thread reads the file and hashes all of it, and this one hashes the
/// blobs from the same pieces.
pub(super) fn with_blobs(
    file: &File,
    options: &HashOptions<'_>,
    progress: &dyn Progress,
    take: &mut Take<'_>,
) -> Result<Digests, Error> {
    let (to, from) = sync_channel(PIECES_AHEAD);
    let (select, algorithms) = (options.select, options.algorithms);
    let whole = |turn: &Turn| {
        let mut relay = Relay { to: Some((to, turn)), hasher: Hasher::new(algorithms), progress };
        relay.read(file, select)?;
        Ok::<_, Error>(relay.hasher.finish())
    };
    aside(Thread::Always, "popef-hash", whole, |mut whole| {
        whole.begun().map_err(|error| Error::io("start a thread", error))?;
        // If this thread fails, the other one ends now, because its pieces are no longer received.
        let blobs = blobs_from(file, options, Relayed { from, piece: Vec::new(), used: 0 }, take);
        let whole = whole.join().map_err(|_| Error::new(ErrorCode::Stopped, "a thread has ended"))?;
        // If reading failed, this thread got too few bytes for that reason.
        let whole = whole?;
        blobs.map(|()| whole)
    })
}

/// The digests of all bytes of an opened file.
pub(super) fn of_file(file: &File, algorithms: Algorithms, progress: &dyn Progress) -> Result<Digests, Error> {
    let mut relay = Relay { to: None, hasher: Hasher::new(algorithms), progress };
    relay.read(file, &|_| false)?;
    Ok(relay.hasher.finish())
}

/// Maximum number of pieces that wait to be hashed once more.
const PIECES_AHEAD: usize = 4;

/// Hashes everything, and hands the data of blobs on.
struct Relay<'p> {
    /// `None` if the receiver is gone.
    to: Option<(SyncSender<Vec<u8>>, &'p Turn)>,
    hasher: Hasher,
    progress: &'p dyn Progress,
}

impl Relay<'_> {
    fn read(&mut self, file: &File, select: &dyn Fn(&Blob<'_>) -> bool) -> Result<(), Error> {
        self.data(file.prefix(), false)?;
        for blob in file.blobs() {
            self.data(blob.head_bytes(), false)?;
            self.data(blob.data(), select(&blob))?;
        }
        Ok(())
    }

    fn data(&mut self, data: Data<'_>, hand_on: bool) -> Result<(), Error> {
        for range in pieces(0..data.len(), PIECE_LEN) {
            let piece = data.range(range)?.read()?;
            self.hasher.update(&piece);
            self.progress.add(len_of(&piece))?;
            let to = self.to.as_ref().filter(|_| hand_on);
            // If the other thread has failed, its error is the result.
            if to.is_some_and(|(to, turn)| turn.wait(|| to.send(piece.into_owned())).is_err()) {
                self.to = None;
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Hashes the blobs from the bytes that another thread reads.
fn blobs_from(file: &File, options: &HashOptions<'_>, mut from: Relayed, take: &mut Take<'_>) -> Result<(), Error> {
    let mut buffer = Vec::new();
    for blob in file.blobs().filter(|blob| (options.select)(blob)) {
        let mut data = (&mut from).take(blob.data().len());
        take(blob, hash_blob(&blob, options, &mut data, &mut buffer, &Silent)?)?;
    }
    Ok(())
}

/// Reads the pieces of another thread.
struct Relayed {
    from: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    used: usize,
}

impl Read for Relayed {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.used >= self.piece.len() {
            // This reads only as much as the other thread sends: if no more arrives, that thread has failed.
            self.piece = self.from.recv().map_err(io::Error::other)?;
            self.used = 0;
        }
        let len = self.piece.get(self.used..).unwrap_or_default().read(buf)?;
        self.used = self.used.saturating_add(len);
        Ok(len)
    }
}

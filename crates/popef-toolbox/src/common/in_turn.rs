//! Several files at once, whose reports come out one after the other.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use popef::error::ErrorCode;
use popef_cli::end::unwritten;
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::Out;

/// Does `work` for each number below `count`, for several at once, and returns the worst of the exit statuses. The output for
/// one comes after all output for the numbers before it. It comes out during the work, so little of it is kept.
///
/// The first error ends the work.
pub(crate) fn in_turn(
    tool: &Tool,
    out: &mut Out,
    count: usize,
    work: impl Fn(usize, &mut Voice<'_>) -> Result<u8, Error> + Sync,
) -> Result<u8, Error> {
    let colors = out.has_colors();
    let (announce, announced) = sync_channel(AHEAD);
    let turns = Mutex::new(Turns { next: 0, count, announce });
    let work_on = || {
        while let Some((index, to)) = Turns::claim(&turns) {
            let mut out = Out::new(Box::new(Pipe(to.clone())), colors);
            let done = work(index, &mut Voice { tool, out: &mut out, to: Some(&to) });
            let done = done.and_then(|done| out.send().map_err(unwritten).map(|()| done));
            // If the receiver is gone, the work has ended.
            let _ = to.send(Said::Done(done));
        }
    };
    popef_work::beside(count, work_on, |workers| {
        if workers == 0 {
            return one_by_one(tool, out, count, &work);
        }
        // Once this has ended, the workers find no receiver, and end too.
        let mut announced = announced.into_iter().take(count);
        announced.try_fold(0, |worst, from| Ok(passed_on(tool, out, &from)?.max(worst)))
    })
}

fn one_by_one(
    tool: &Tool,
    out: &mut Out,
    count: usize,
    work: impl Fn(usize, &mut Voice<'_>) -> Result<u8, Error>,
) -> Result<u8, Error> {
    (0..count).try_fold(0, |worst, index| Ok(work(index, &mut Voice { tool, out, to: None })?.max(worst)))
}

/// The maximum number of files that wait to come out, beyond those that are being worked on.
const AHEAD: usize = 16;
/// The maximum number of pieces of a file's output that wait, of 64 KiB each.
const PIECES: usize = 4;

/// The outputs for one file: standard output and standard error.
pub(crate) struct Voice<'v> {
    pub(crate) tool: &'v Tool,
    /// Standard output, or text that comes out there later.
    pub(crate) out: &'v mut Out,
    to: Option<&'v SyncSender<Said>>,
}

impl Voice<'_> {
    /// Writes a message for people, after the output so far.
    pub(crate) fn say(&mut self, text: String) -> Result<(), Error> {
        self.out.send().map_err(unwritten)?;
        match self.to {
            None => self.tool.say(&text),
            // If the receiver is gone, the next write fails.
            Some(to) => _ = to.send(Said::Words(text)),
        }
        Ok(())
    }

    /// Says why something failed and what to do, after the output so far.
    pub(crate) fn complain(&mut self, error: &Error) -> Result<(), Error> {
        self.tool.complaint(error).into_iter().try_for_each(|line| self.say(line))
    }
}

/// A message of a worker.
enum Said {
    Output(Vec<u8>),
    Words(String),
    Done(Result<u8, Error>),
}

struct Turns {
    next: usize,
    count: usize,
    announce: SyncSender<Receiver<Said>>,
}

impl Turns {
    /// The next file, and the channel for it. Files are announced in order, so the receiver never waits for one that no
    /// worker has begun.
    fn claim(turns: &Mutex<Turns>) -> Option<(usize, SyncSender<Said>)> {
        let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
        let index = turns.next;
        if index >= turns.count {
            return None;
        }
        let (to, from) = sync_channel(PIECES);
        turns.announce.send(from).ok()?;
        turns.next = index.saturating_add(1);
        Some((index, to))
    }
}

fn passed_on(tool: &Tool, out: &mut Out, from: &Receiver<Said>) -> Result<u8, Error> {
    for said in from {
        match said {
            Said::Output(bytes) => out.append(bytes).map_err(unwritten)?,
            Said::Words(text) => {
                out.send().map_err(unwritten)?;
                tool.say(&text);
            }
            Said::Done(done) => return done,
        }
    }
    Err(Error::new(ErrorCode::Stopped, "a thread has ended"))
}

struct Pipe(SyncSender<Said>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.send(Said::Output(bytes.to_owned()));
        sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

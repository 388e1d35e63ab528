//! Signals that stop the work.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::signal::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};

static SIGNALLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// The signal that stopped the work.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The exit status after a signal, as shells show it. If something else stopped the work, it is that of Ctrl-C.
pub fn stopped() -> u8 {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => status_of(SIGINT),
        signal => i32::try_from(signal).map_or(u8::MAX, status_of),
    }
}

fn status_of(signal: i32) -> u8 {
    u8::try_from(signal.saturating_add(128)).unwrap_or(u8::MAX)
}

/// From now on, Ctrl-C, SIGTERM and the end of the terminal stop the work. A second signal ends the program at once. Before,
/// they end the program as usual: a command that only reads leaves nothing behind.
pub(crate) fn hear_signals() -> io::Result<()> {
    static HEARD: Once = Once::new();
    let mut result = Ok(());
    HEARD.call_once(|| result = signals().into_iter().try_for_each(hear).and_then(|()| survive_limits()));
    result
}

/// A write beyond the limit of a file's size fails from now on, like one to a full disk. By default, it ends the program, which leaves its
/// temporary file.
#[cfg(unix)]
fn survive_limits() -> io::Result<()> {
    register(signal_hook::consts::signal::SIGXFSZ, Arc::default()).map(drop)
}

#[cfg(not(unix))]
fn survive_limits() -> io::Result<()> {
    Ok(())
}

fn hear(signal: i32) -> io::Result<()> {
    // In this order, so that the first signal only sets the flag.
    register_conditional_shutdown(signal, status_of(signal).into(), SIGNALLED.clone())?;
    register_usize(signal, SIGNAL.clone(), usize::try_from(signal).unwrap_or_default())?;
    register(signal, SIGNALLED.clone())?;
    Ok(())
}

/// The signals to hear. Ignored ones stay ignored: `nohup` means that the work goes on without the terminal.
#[cfg(unix)]
fn signals() -> Vec<i32> {
    let ignored = ignored_signals().unwrap_or_default();
    let is_heard = |signal: &i32| ignored >> signal.saturating_sub(1) & 1 == 0;
    [SIGINT, SIGTERM, signal_hook::consts::signal::SIGHUP].into_iter().filter(is_heard).collect()
}

#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

/// The signals that were ignored when the program started, a bit each. Known only on Linux.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Whether the work is to be stopped.
pub fn is_stopped() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

/// A stream that stops waiting for bytes once the work is to be stopped. After a handled signal, the system itself goes on with a read.
#[derive(Debug)]
pub struct UntilStopped<R>(pub R);

#[cfg(unix)]
impl<R: Read + std::os::fd::AsFd> Read for UntilStopped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // Another thread may get the signal.
        const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        loop {
            if is_stopped() {
                return Err(io::Error::other("the work was stopped"));
            }
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&PATIENCE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // A stream that cannot be polled can still be read.
                Ok(_) | Err(_) => return self.0.read(buffer),
            }
        }
    }
}

#[cfg(not(unix))]
impl<R: Read> Read for UntilStopped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

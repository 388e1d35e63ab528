//! A whole file, one piece after the other, from a server without ranges.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};

use bytes::{Buf as _, Bytes};
use futures_util::StreamExt as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::error::{Code, RemoteError};
use crate::gate::Gate;
use crate::object::Context;
use crate::source::wait;

/// Maximum number of pieces that wait to be read. The server sends no more until one is taken.
const WAITING: usize = 8;

/// The bytes of a file in order.
pub(crate) struct Whole {
    piece: Bytes,
    ask: mpsc::Sender<()>,
    pieces: Receiver<Result<Bytes, RemoteError>>,
    context: Context,
    ended: bool,
    /// Why nothing more comes.
    failed: Option<RemoteError>,
}

impl Whole {
    pub(crate) fn begin(gate: Gate, context: Context, runtime: &Handle) -> Self {
        let (to, pieces) = sync_channel(WAITING.saturating_add(1));
        // Permissions to send, so that the task never waits for a thread.
        let (ask, mut asked) = mpsc::channel(WAITING);
        let whole = Whole { piece: Bytes::new(), ask, pieces, context: context.clone(), ended: false, failed: None };
        runtime.spawn(async move {
            let mut body = match context.whole(&gate).await {
                Ok(answer) => answer.into_body().bytes_stream(),
                Err(error) => {
                    let _ = to.try_send(Err(error));
                    return;
                }
            };
            while asked.recv().await.is_some() {
                let piece = match body.next().await {
                    Some(Ok(piece)) => Ok(piece),
                    Some(Err(_)) => Err(context.error(Code::Cut, "")),
                    // An empty piece is the end.
                    None => Ok(Bytes::new()),
                };
                let is_last = piece.as_ref().map_or(true, Bytes::is_empty);
                if to.try_send(piece).is_err() || is_last {
                    return;
                }
            }
        });
        for _ in 0..WAITING {
            let _ = whole.ask.try_send(());
        }
        whole
    }
}

impl Read for Whole {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.ended {
            if let Some(error) = &self.failed {
                return Err(error.clone().into());
            }
            let piece = wait(&self.pieces, &self.context);
            self.piece = piece.inspect_err(|error| self.failed = Some(error.clone()))?;
            self.ended = self.piece.is_empty();
            let _ = self.ask.try_send(());
        }
        let count = buf.len().min(self.piece.len());
        self.piece.copy_to_slice(buf.get_mut(..count).unwrap_or_default());
        Ok(count)
    }
}

//! Writes objects: completely or not at all.

use std::fs;
use std::io::{self, Read, Seek as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use http::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, UpdateVersion};
use tokio::time::{sleep, timeout};

use crate::error::{Code, RemoteError};
use crate::gate::{TRACE, Trace};
use crate::location::{Kind, Location, Place};
use crate::object::{Context, Object, Version};
use crate::remote::Remote;
use crate::store::{Placed, path_of};

/// Which object a new one may replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Does not replace an object.
    Nothing,
    /// Replaces any object.
    Anything,
    /// Replaces only the version that was opened at the same location.
    Opened,
}

/// The same choice, with the data that a store needs for it.
#[derive(Clone)]
enum Condition {
    None,
    Missing,
    Same(Version),
}

/// Up to this size, an object is written with one request.
const PIECE: u64 = 8 << 20;
/// No store takes more parts than this.
const MOST_PARTS: u64 = 9_000;
/// Maximum number of parts that are sent at the same time.
const AT_ONCE: usize = 4;
/// How long the removal of an upload may take.
const ABORT: Duration = Duration::from_secs(20);
/// How long a caller who wants to stop waits for the store to complete or remove an upload.
const GRACE: Duration = Duration::from_secs(5);

impl Remote {
    /// Fails if [`write`](Self::write) would because of the existing object. Requests the first byte of the object.
    pub fn check_write(&self, location: &Location, replace: &Replace) -> Result<(), RemoteError> {
        let context = self.context(location);
        self.condition(location, replace, &context)?;
        if *replace != Replace::Nothing {
            return Ok(());
        }
        let placed = self.stores.place(location)?;
        let of_task = context.clone();
        match self.done(&context, async move { of_task.etag(&placed).await })? {
            Some(_) => Err(exists(&context)),
            None => Ok(()),
        }
    }

    /// Writes an object with the bytes of a file, from its start. It appears when all of it has arrived. After a
    /// failure, nothing has changed, and no part of it is left, unless the error says otherwise: [`Code::Unsure`] if the
    /// store's answer was lost and nothing tells what is there, and [`RemoteError::left`]. If a caller stops, the object may
    /// still appear, as a whole.
    ///
    /// The store decides what may be replaced at the moment when the object appears. Azure cannot do that for objects
    /// of more than 8 MiB: there the object is only checked just before, and [`Replace::Opened`] is refused.
    pub fn write(&self, location: &Location, file: fs::File, replace: &Replace) -> Result<(), RemoteError> {
        let context = self.context(location);
        let failed = |error: io::Error| context.error(Code::Local, error.to_string());
        let len = file.metadata().map_err(failed)?.len();
        let condition = self.condition(location, replace, &context)?;
        let Place::Bucket { kind, bucket, .. } = &location.place else { return Err(no_bucket(location)) };
        let in_parts = len > PIECE;
        if let (true, Kind::Azure, Condition::Same(_)) = (in_parts, *kind, &condition) {
            let why = "Azure compares versions only of objects of up to 8 MiB";
            return Err(context.error(Code::NoCondition, why));
        }
        let header = if in_parts { condition.header(*kind) } else { None };
        let store = self.stores.for_writing(*kind, bucket, location, header)?;
        let placed = self.stores.place(location)?;
        let (answer, answered) = sync_channel(1);
        let (of_task, replace) = (context.clone(), replace.clone());
        let (kind, of_bucket) = (*kind, bucket.name.clone());
        self.handle.spawn(async move {
            let are_left = AtomicBool::new(false);
            let trace = Trace::new(of_task.usage.clone());
            let mut upload = Upload {
                store: &*store,
                placed: &placed,
                context: &of_task,
                condition,
                file,
                len,
                are_left: &are_left,
                trace: &trace,
            };
            let work = async { if in_parts { upload.in_parts().await } else { upload.at_once().await } };
            let done = TRACE.scope(trace.clone(), work).await.map_err(|failure| match failure {
                Failure::Changed if replace == Replace::Nothing => exists(&of_task),
                Failure::Changed => changed(&of_task),
                Failure::Remote(error) => error,
                Failure::Local(error) => of_task.error(Code::Local, error.to_string()),
                Failure::Stopped => of_task.error(Code::Stopped, ""),
                Failure::Store(error) => refused(&of_task, &replace, &error, &trace),
                Failure::Unsure(error) => {
                    let explained = of_task.explained(&error, &trace);
                    of_task.error(Code::Unsure, explained.code().what()).with_status(explained.status())
                }
            });
            let done = done.map_err(|error| {
                if are_left.load(Ordering::Relaxed) { error.leaving(parts_left(kind, &of_bucket)) } else { error }
            });
            let _ = answer.send(done);
        });
        // The task itself checks whether to stop, because it has to remove what it began.
        answered.recv().unwrap_or_else(|_| Err(context.error(Code::Stopped, "")))
    }

    fn condition(&self, location: &Location, replace: &Replace, context: &Context) -> Result<Condition, RemoteError> {
        location.check_output()?;
        match replace {
            Replace::Nothing => Ok(Condition::Missing),
            Replace::Anything => Ok(Condition::None),
            Replace::Opened => match self.version_opened(location) {
                Some(version) => Ok(Condition::Same(version)),
                None => Err(context.error(Code::NoCondition, "the store gave no ETag for it")),
            },
        }
    }
}

impl Location {
    /// Fails if no object can be written there, whatever is in the bucket. Requests nothing.
    pub fn check_output(&self) -> Result<(), RemoteError> {
        let Place::Bucket { key, .. } = &self.place else { return Err(no_bucket(self)) };
        let wrong = |what| RemoteError::new(Code::Output, self.to_string(), what);
        if key.is_empty() || key.ends_with('/') {
            return Err(wrong("it ends like a folder, and an object has a name in it".to_owned()));
        }
        path_of(key).map(drop).map_err(wrong)
    }
}

impl Condition {
    fn mode(&self) -> PutMode {
        match self {
            Condition::None => PutMode::Overwrite,
            Condition::Missing => PutMode::Create,
            Condition::Same(version) => {
                PutMode::Update(UpdateVersion { e_tag: Some(version.etag.clone()), version: version.number.clone() })
            }
        }
    }

    /// The header with which a store completes an upload only if the condition holds. It is added after signing. Azure
    /// needs it signed, so there it is missing.
    fn header(&self, kind: Kind) -> Option<(HeaderName, HeaderValue)> {
        let generation = HeaderName::from_static("x-goog-if-generation-match");
        match (self, kind) {
            (Condition::Missing, Kind::S3) => Some((IF_NONE_MATCH, HeaderValue::from_static("*"))),
            (Condition::Missing, Kind::Google) => Some((generation, HeaderValue::from_static("0"))),
            (Condition::Same(version), Kind::S3) => Some((IF_MATCH, version.etag.parse().ok()?)),
            (Condition::Same(version), Kind::Google) => Some((generation, version.number.as_ref()?.parse().ok()?)),
            (Condition::None, _) | (_, Kind::Azure) => None,
        }
    }
}

enum Failure {
    Local(io::Error),
    Store(object_store::Error),
    Remote(RemoteError),
    /// The existing object may not be replaced.
    Changed,
    Stopped,
    /// After this error, the object may be there, or may still appear.
    Unsure(object_store::Error),
}

impl From<object_store::Error> for Failure {
    fn from(error: object_store::Error) -> Self {
        Failure::Store(error)
    }
}

struct Upload<'u> {
    store: &'u dyn ObjectStore,
    placed: &'u Placed,
    context: &'u Context,
    condition: Condition,
    file: fs::File,
    len: u64,
    /// Whether the store may still have parts of it after a failure.
    are_left: &'u AtomicBool,
    trace: &'u Trace,
}

impl Upload<'_> {
    async fn at_once(&mut self) -> Result<(), Failure> {
        let bytes = read(&mut self.file, self.len)?;
        let options = PutOptions { mode: self.condition.mode(), ..PutOptions::default() };
        let work = async {
            self.look_again().await?;
            Ok(self.store.put_opts(&self.placed.path, bytes.into(), options).await.map(drop)?)
        };
        // One request either arrives whole or has no effect, so nothing has to be removed.
        let done = unless_stopped(self.context.options.stopped, Duration::ZERO, work).await;
        self.unless_there(done).await
    }

    async fn in_parts(&mut self) -> Result<(), Failure> {
        let stopped = self.context.options.stopped;
        let begin = async { Ok(self.store.put_multipart(&self.placed.path).await?) };
        let begun = unless_stopped(stopped, GRACE, begin).await;
        // It may have begun without an answer that says so.
        let is_left = matches!(begun, Err(Failure::Stopped)) || (begun.is_err() && self.may_be_done());
        self.are_left.store(is_left, Ordering::Relaxed);
        let mut upload = begun?;
        self.trace.forget_settled();
        let work = async {
            send(&mut *upload, &mut self.file, self.len).await?;
            self.look_again().await
        };
        let done = match unless_stopped(stopped, Duration::ZERO, work).await {
            Ok(()) => {
                let done = unless_stopped(stopped, GRACE, async { Ok(upload.complete().await.map(drop)?) }).await;
                self.unless_there(done).await
            }
            failed => failed,
        };
        if done.is_err() {
            // The reason of the failure matters more than the result of this removal, and so does its trace.
            let longest = if stopped.is_some_and(|stopped| stopped()) { GRACE } else { ABORT };
            let trace = Trace::new(self.context.usage.clone());
            let taken_back = TRACE.scope(trace, timeout(longest, upload.abort())).await;
            let is_gone = matches!(taken_back, Ok(Ok(()) | Err(object_store::Error::NotFound { .. })));
            self.are_left.store(!is_gone, Ordering::Relaxed);
        }
        done
    }

    /// Whether the store may have done what failed: a request has arrived, and was not refused.
    fn may_be_done(&self) -> bool {
        let seen = self.trace.seen();
        let is_refused = seen.status.is_some_and(|status| (300..500).contains(&status) && !matches!(status, 408 | 429));
        seen.settled > 1 || (seen.settled == 1 && !is_refused)
    }

    /// Finds out what a failure means of the request that makes the object appear. The store may have done it although its answer
    /// was lost, and then it refuses the repeated request.
    async fn unless_there(&mut self, done: Result<(), Failure>) -> Result<(), Failure> {
        let Err(Failure::Store(error)) = done else { return done };
        if !self.may_be_done() {
            return Err(Failure::Store(error));
        }
        let stopped = self.context.options.stopped;
        match unless_stopped(stopped, Duration::ZERO, self.is_there()).await {
            Ok(true) => Ok(()),
            // A request without an answer may still be under way.
            Ok(false) if self.trace.seen().status.is_some() => Err(Failure::Store(error)),
            Err(Failure::Stopped) => Err(Failure::Stopped),
            _ => Err(Failure::Unsure(error)),
        }
    }

    /// Whether the object has the bytes of the new one.
    async fn is_there(&mut self) -> Result<bool, Failure> {
        let object = match Object::open(self.placed.clone(), self.context.clone()).await {
            Ok((object, _)) if object.size() == self.len => object,
            Ok(_) => return Ok(false),
            Err(error) if error.code() == Code::NotFound => return Ok(false),
            Err(error) => return Err(Failure::Remote(error)),
        };
        self.file.rewind().map_err(Failure::Local)?;
        let mut at = 0;
        while at < self.len {
            let end = at.saturating_add(PIECE).min(self.len);
            let there = object.read(at..end).await.map_err(Failure::Remote)?;
            if there != read(&mut self.file, end.saturating_sub(at))? {
                return Ok(false);
            }
            at = end;
        }
        Ok(true)
    }

    /// Checks the object that would be replaced. Some stores with Amazon's interface ignore conditions.
    async fn look_again(&self) -> Result<(), Failure> {
        if let Condition::None = self.condition {
            return Ok(());
        }
        let now = self.context.etag(self.placed).await.map_err(Failure::Remote)?;
        match (&self.condition, now) {
            (Condition::Missing, Some(_)) => Err(Failure::Changed),
            (Condition::Same(version), now) if now.as_ref() != Some(&version.etag) => Err(Failure::Changed),
            _ => Ok(()),
        }
    }
}

async fn send(upload: &mut dyn MultipartUpload, file: &mut fs::File, len: u64) -> Result<(), Failure> {
    let size = PIECE.max(len.div_ceil(MOST_PARTS));
    let mut under_way = FuturesUnordered::new();
    let mut left = len;
    while left > 0 {
        let piece = left.min(size);
        under_way.push(upload.put_part(read(file, piece)?.into()));
        left = left.saturating_sub(piece);
        if under_way.len() >= AT_ONCE {
            under_way.next().await.transpose()?;
        }
    }
    while under_way.next().await.transpose()?.is_some() {}
    Ok(())
}

fn read(file: &mut fs::File, len: u64) -> Result<Vec<u8>, Failure> {
    let len = usize::try_from(len).map_err(|_| Failure::Local(io::ErrorKind::OutOfMemory.into()))?;
    let mut bytes = vec![0; len];
    file.read_exact(&mut bytes).map_err(Failure::Local)?;
    Ok(bytes)
}

/// Does the work until the caller wants to stop and `grace` is over since then.
async fn unless_stopped<T>(
    stopped: Option<fn() -> bool>,
    grace: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(stopped) = stopped else { return work.await };
    let asked = async {
        while !stopped() {
            sleep(Duration::from_millis(100)).await;
        }
        sleep(grace).await;
    };
    match select(Box::pin(work), Box::pin(asked)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(Failure::Stopped),
    }
}

/// The beginning of the text that warns about leftover parts of an upload at the store.
const PARTS_LEFT: &str = "parts of the upload may be left at the store";

/// The message for an upload that could not be removed.
fn parts_left(kind: Kind, bucket: &str) -> String {
    let what = match kind {
        Kind::S3 => format!(
            "aws s3api list-multipart-uploads --bucket {bucket} shows them, and abort-multipart-upload removes them"
        ),
        Kind::Google => "a rule of the bucket (AbortIncompleteMultipartUpload) removes them".to_owned(),
        Kind::Azure => "they disappear after a week".to_owned(),
    };
    format!("{PARTS_LEFT}: {what}")
}

fn refused(context: &Context, replace: &Replace, error: &object_store::Error, trace: &Trace) -> RemoteError {
    let explained = context.explained(error, trace);
    let is_condition = matches!(explained.code(), Code::Changed | Code::Exists);
    match replace {
        Replace::Nothing if is_condition => exists(context),
        Replace::Opened if is_condition => changed(context),
        _ => explained,
    }
}

fn exists(context: &Context) -> RemoteError {
    context.error(Code::Exists, "")
}

fn changed(context: &Context) -> RemoteError {
    context.error(Code::Changed, "so it was not replaced")
}

fn no_bucket(location: &Location) -> RemoteError {
    RemoteError::new(Code::Output, location.to_string(), "it is not in a bucket")
}

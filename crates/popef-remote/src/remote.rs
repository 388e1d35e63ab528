use std::collections::HashMap;
use std::fmt;
use std::io::Read;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf as _, Bytes};
use popef::read::Indexer;
use popef::seam::is_pickle;
use popef::{Error, File, OpenOptions};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;

use crate::error::{Code, RemoteError};
use crate::forward::Forward;
use crate::gate::Gate;
use crate::index::{Kept, index};
use crate::list::list;
use crate::location::Location;
use crate::object::{Context, Object, Version};
use crate::options::Options;
use crate::source::{Source, wait};
use crate::store::Stores;
use crate::stream::Whole;
use crate::usage::Usage;

/// The connections to all stores. A program needs only one.
///
/// Its calls wait on the thread that makes them, which must not be one that runs asynchronous tasks.
pub struct Remote {
    pub(crate) handle: Handle,
    runtime: Option<Runtime>,
    pub(crate) stores: Arc<Stores>,
    options: Arc<Options>,
    permits: Arc<Semaphore>,
    ahead: Arc<AtomicU64>,
    versions: Versions,
    usage: Usage,
}

/// The versions of the objects that were opened for their data, by location. A caller who replaces an object wants to
/// replace that version.
type Versions = Arc<Mutex<HashMap<Location, Version>>>;

/// What a caller needs of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Only its headers. This also works with a server that only sends whole files, but takes as long as the whole
    /// file.
    Headers,
    /// Also its data. The server must be able to send ranges.
    Data,
}

/// A file that is being opened. Nothing waits for it until [`wait`](Self::wait) is called.
pub struct Opening {
    answered: Receiver<Result<Begun, RemoteError>>,
    location: Location,
    context: Context,
    options: OpenOptions,
    gate: Option<Gate>,
    runtime: Handle,
    ahead: Arc<AtomicU64>,
    versions: Versions,
}

/// A file that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The file, or its error.
    pub file: Result<File, Error>,
    /// Its first bytes, as far as the first answer had them.
    pub first: Vec<u8>,
    /// What it has cost so far. It grows while the file is read.
    pub usage: Usage,
    /// What a user should know, such as that the server sent the whole file.
    pub notice: Option<String>,
}

/// A file whose first bytes have arrived.
enum Begun {
    Indexed {
        object: Object,
        indexer: Box<Indexer>,
        kept: Kept,
        first: Bytes,
    },
    /// A Python pickle comes first. Its end must be found.
    Pickle {
        object: Object,
        first: Bytes,
    },
}

/// The number of threads that work on all requests. They only wait and copy.
const THREADS: usize = 2;
/// The number of first bytes that are kept to find out what kind of file it is.
const FIRST: usize = 512;

impl Remote {
    /// Prepares connections. None is made before it is needed.
    pub fn new(options: Options) -> Result<Remote, RemoteError> {
        let failed = |error: std::io::Error| RemoteError::new(Code::Other, String::new(), error.to_string());
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("popef-remote")
            .enable_all()
            .build()
            .map_err(failed)?;
        let options = Arc::new(options);
        let stores = Arc::new(Stores::new(Arc::clone(&options)));
        let permits = Arc::new(Semaphore::new(options.parallel.max(1)));
        let handle = runtime.handle().clone();
        Ok(Remote {
            handle,
            runtime: Some(runtime),
            stores,
            options,
            permits,
            ahead: Arc::default(),
            versions: Versions::default(),
            usage: Usage::default(),
        })
    }

    /// The version of an object when it was last opened, if the store can distinguish it from others.
    pub(crate) fn version_opened(&self, location: &Location) -> Option<Version> {
        let versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        versions.get(location).cloned()
    }

    pub(crate) fn context(&self, location: &Location) -> Context {
        Context {
            name: location.shown().into(),
            usage: self.usage.part(),
            options: Arc::clone(&self.options),
            permits: Arc::clone(&self.permits),
        }
    }

    /// The cost of everything so far: files, listings and new objects.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Begins to open a file. Any number can be opened at once: they need no threads, and share the limit on requests.
    ///
    /// [`Options`] decide how far headers are read ahead, not the library's options.
    pub fn begin(&self, location: &Location, options: OpenOptions) -> Opening {
        let context = self.context(location);
        let (answer, answered) = sync_channel(1);
        let placed = self.stores.place(location);
        let gate = placed.as_ref().ok().and_then(|placed| placed.gate.clone());
        let runtime = self.handle.clone();
        let of_task = context.clone();
        runtime.spawn(async move {
            let begun = async { begin(Object::open(placed?, of_task).await?, &options).await }.await;
            // The receiver may be gone. Then the result is not needed.
            let _ = answer.send(begun);
        });
        let (ahead, versions) = (Arc::clone(&self.ahead), Arc::clone(&self.versions));
        Opening { answered, location: location.clone(), context, options, gate, runtime, ahead, versions }
    }

    /// Opens the bytes of an object that need not be PopEF, from front to back. They are read ahead. This also works
    /// with a server that only sends whole files.
    pub fn read(&self, location: &Location) -> Result<Box<dyn Read + Send>, RemoteError> {
        let context = self.context(location);
        let placed = self.stores.place(location)?;
        let gate = placed.gate.clone();
        let opened = self.done(&context, Object::open(placed, context.clone()));
        match (opened, gate) {
            (Ok((object, first)), _) => {
                let source = Source::new(object, Kept::default(), self.handle.clone(), Arc::clone(&self.ahead));
                let from = u64::try_from(first.len()).unwrap_or(u64::MAX);
                Ok(Box::new(first.reader().chain(Forward::new(source, from))))
            }
            (Err(error), Some(gate)) if error.code() == Code::NoRanges => {
                Ok(Box::new(Whole::begin(gate, context, &self.handle)))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The objects that a prefix or a pattern means, in the order of their names. Any other location means only itself.
    pub fn list(&self, location: &Location) -> Result<(Vec<Location>, Usage), RemoteError> {
        let context = self.context(location);
        let usage = context.usage.clone();
        if !location.is_many() {
            return Ok((vec![location.clone()], usage));
        }
        let (stores, of_task, asked) = (Arc::clone(&self.stores), context.clone(), location.clone());
        let found = self.done(&context, async move { list(&stores, &asked, &of_task).await })?;
        Ok((found, usage))
    }

    /// Runs some work on the runtime, and waits for it.
    pub(crate) fn done<T: Send + 'static>(
        &self,
        context: &Context,
        work: impl Future<Output = Result<T, RemoteError>> + Send + 'static,
    ) -> Result<T, RemoteError> {
        let (answer, answered) = sync_channel(1);
        self.handle.spawn(async move {
            // The receiver may be gone. Then the result is not needed.
            let _ = answer.send(work.await);
        });
        wait(&answered, context)
    }
}

async fn begin((object, first): (Object, Bytes), options: &OpenOptions) -> Result<Begun, RemoteError> {
    if is_pickle(&first) {
        return Ok(Begun::Pickle { object, first });
    }
    let (indexer, kept) = index(&object, first.clone(), options).await?;
    Ok(Begun::Indexed { object, indexer: Box::new(indexer), kept, first })
}

impl Opening {
    /// Waits until the file is open.
    pub fn wait(self, need: Need) -> Result<Opened, RemoteError> {
        let Opening { answered, location, context, options, gate, runtime, ahead, versions } = self;
        let usage = context.usage.clone();
        let begun = wait(&answered, &context);
        let start = |first: &Bytes| first.get(..FIRST).unwrap_or(first).to_vec();
        match (begun, gate) {
            (Ok(Begun::Indexed { object, indexer, kept, first }), gate) => {
                let version = object.version().filter(|_| need == Need::Data && gate.is_none());
                if let Some(version) = version {
                    let mut versions = versions.lock().unwrap_or_else(PoisonError::into_inner);
                    versions.insert(location, version);
                }
                let source = Source::new(object, kept, runtime, ahead);
                let ends = source.ends();
                let file = indexer.finish_on(source);
                if let Ok(file) = &file {
                    let _ = ends.set(file.blobs().map(|blob| blob.offset().saturating_add(blob.size())).collect());
                }
                Ok(Opened { file, first: start(&first), usage, notice: None })
            }
            (Ok(Begun::Pickle { object, first }), _) => {
                let source = Source::new(object, Kept::default(), runtime, ahead);
                Ok(Opened { file: options.source(source), first: start(&first), usage, notice: None })
            }
            (Err(error), Some(gate)) if error.code() == Code::NoRanges && need == Need::Headers => {
                let mut whole = Whole::begin(gate, context, &runtime);
                let mut first = Vec::new();
                // If this fails, the library meets the same error.
                let _ = whole.by_ref().take(u64::try_from(FIRST).unwrap_or_default()).read_to_end(&mut first);
                let file = options.stream(Read::chain(first.as_slice(), whole));
                let notice = "the server cannot send parts of a file, so all of it was asked for".to_owned();
                Ok(Opened { file, first, usage, notice: Some(notice) })
            }
            (Err(error), _) => Err(error),
        }
    }

    /// What it has cost so far.
    pub fn usage(&self) -> &Usage {
        &self.context.usage
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // The results of running requests are no longer needed.
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("options", &self.options).finish_non_exhaustive()
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("name", &self.context.name).finish_non_exhaustive()
    }
}

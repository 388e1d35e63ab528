//! The classes that a Python module needs, such as one made with pyo3: they have no lifetimes and can go to other
//! threads. `main` copies the tensors of a model as this Python program would:
//!
//! ```python
//! file = popef.open(MODEL)
//! with popef.create(COPY) as writer:
//!     for tensor in file.tensors():
//!         with writer.tensor(tensor.info) as blob:
//!             blob.write(tensor.data())
//! ```
//!
//! ```sh
//! cargo run --example python_wrapper -- MODEL.popef COPY.popef
//! ```

use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use popef::read::BlobHandle;
use popef::types::TensorDataInfo;
use popef::write::{BlobWriter, NewFile, Refused};
use popef::{File, Writer};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// `popef.File`.
struct PyFile(File);

impl PyFile {
    fn tensors(&self) -> Vec<PyTensor> {
        let tensors = self.0.tensors();
        tensors.filter_map(|tensor| self.0.handle(tensor.blob().index())).map(PyTensor).collect()
    }
}

/// `popef.Tensor`, which keeps its file open.
struct PyTensor(BlobHandle);

impl PyTensor {
    fn info(&self) -> Option<TensorDataInfo> {
        self.0.blob().as_tensor().map(|tensor| tensor.info())
    }

    fn data(&self) -> Result<Vec<u8>> {
        let tensor = self.0.blob().as_tensor().ok_or("the blob is no tensor")?;
        Ok(tensor.elements()?.data().read()?.into_owned())
    }
}

/// `popef.Writer`. While a blob is open, that blob has the writer, and there is none here.
#[derive(Clone)]
struct PyWriter(Arc<Mutex<Option<Writer<NewFile>>>>);

impl PyWriter {
    fn take(&self) -> Result<Writer<NewFile>> {
        let writer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(writer.ok_or("a blob of this writer is open, or the writer is closed")?)
    }

    fn give_back(&self, writer: Writer<NewFile>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer);
    }

    fn give_back_of(&self, refused: Refused<NewFile>) -> popef::Error {
        self.give_back(refused.writer);
        refused.error
    }

    fn tensor(&self, info: &TensorDataInfo) -> Result<PyBlobWriter> {
        let opened = BlobWriter::owning(self.take()?, |writer| writer.tensor(info));
        let open = opened.map_err(|refused| self.give_back_of(refused))?;
        Ok(PyBlobWriter { writer: self.clone(), open: Some(open) })
    }
}

/// `popef.BlobWriter`: a blob that is being written. It owns the writer until its `with` block ends.
struct PyBlobWriter {
    writer: PyWriter,
    open: Option<BlobWriter<Writer<NewFile>>>,
}

impl PyBlobWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.open.as_mut().ok_or("the blob is closed")?.write_all(bytes)?)
    }
}

/// What Python calls at the end of a `with` block.
trait Exit: Send + Sync + 'static {
    fn exit(&mut self, raised: bool) -> Result<()>;
}

impl Exit for PyBlobWriter {
    /// Finishes the blob. If the block raised an exception, the file has no trace of the blob.
    fn exit(&mut self, raised: bool) -> Result<()> {
        let open = self.open.take().ok_or("the blob is closed")?;
        let writer = match raised {
            true => open.discard(),
            false => open.finish().map_err(|refused| self.writer.give_back_of(refused))?.0,
        };
        self.writer.give_back(writer);
        Ok(())
    }
}

impl Exit for PyWriter {
    /// Puts the new file in its place. If the block raised an exception, there is no new file.
    fn exit(&mut self, raised: bool) -> Result<()> {
        let writer = self.take()?;
        if raised {
            writer.discard()?;
        } else {
            writer.finish()?;
        }
        Ok(())
    }
}

/// Python's `with`: `exit` is called however the block ends.
fn with<T: Exit>(mut value: T, block: impl FnOnce(&mut T) -> Result<()>) -> Result<()> {
    let done = block(&mut value);
    let exited = value.exit(done.is_err());
    done.and(exited)
}

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [model, copy] = arguments.as_slice() else {
        return Err("usage: python_wrapper MODEL.popef COPY.popef".into());
    };
    let file = PyFile(File::open(model)?);
    let writer = PyWriter(Arc::new(Mutex::new(Some(Writer::create(copy)?))));
    with(writer, |writer| {
        for tensor in file.tensors() {
            let info = tensor.info().ok_or("the blob is no tensor")?;
            // A block that raises leaves no blob, and the writer goes on.
            with(writer.tensor(&info)?, |_| Err("raised".into())).expect_err("the block raises");
            with(writer.tensor(&info)?, |blob| blob.write(&tensor.data()?))?;
        }
        Ok(())
    })
}

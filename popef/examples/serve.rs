//! A deployment service: opens its models once and answers requests on several threads. A request is the name of a
//! weight, the answer is its bytes. A weight is read when it is requested.
//!
//! ```sh
//! echo input_parameter | cargo run --example serve -- MODEL.popef... > BYTES
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::thread;

use popef::read::BlobHandle;
use popef::types::Text;
use popef::{File, Model};

/// Handles keep their files open, so the service needs nothing else.
struct Service {
    weights: HashMap<Text<'static>, BlobHandle>,
}

impl Service {
    fn open(paths: impl Iterator<Item = impl AsRef<std::path::Path>>) -> Result<Service, Box<dyn Error>> {
        let files: Vec<File> = paths.map(File::open).collect::<Result<_, _>>()?;
        for model in Model::link(&files)? {
            eprintln!("{}: {} weights to upload", model.metadata().executable, model.tensors_to_upload().count());
        }
        let handles = files.iter().flat_map(|file| {
            file.tensors().filter_map(|tensor| Some((tensor.name().into_owned(), file.handle(tensor.blob().index())?)))
        });
        Ok(Service { weights: handles.collect() })
    }

    fn answer(&self, name: &[u8], to: &mut dyn Write) -> Result<u64, Box<dyn Error + Send + Sync>> {
        let weight = self.weights.get(&Text::from(name)).ok_or("there is no such weight")?;
        let tensor = weight.blob().as_tensor().ok_or("the blob is no tensor")?;
        // Only the elements: the blob may have more bytes after them.
        Ok(tensor.elements()?.data().copy_to(to)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let service = Arc::new(Service::open(std::env::args_os().skip(1))?);
    let requests: Vec<_> = io::stdin().lock().split(b'\n').collect::<Result<_, _>>()?;
    let answers = requests.into_iter().map(|name| {
        let service = Arc::clone(&service);
        thread::spawn(move || {
            let mut answer = Vec::new();
            service.answer(&name, &mut answer).map(|_| answer)
        })
    });
    for answer in answers.collect::<Vec<_>>() {
        io::stdout().write_all(&answer.join().expect("a thread that does not panic").map_err(|e| e.to_string())?)?;
    }
    Ok(())
}

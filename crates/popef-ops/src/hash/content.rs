//! The canonical form of a blob's content. docs/TOOLBOX.md describes it: do not change one without the other, and not
//! without another [`FORM`].

use popef::types::EngineOption;
use popef::{Blob, Content, Error, File, Metadata};

use super::digest::{Algorithms, Digest, Digests, Hasher};
use crate::diff::{canonical_order, sorted_items};

/// Begins every canonical form.
const FORM: &[u8] = b"popef-content-1";

/// The type number in the form of a whole file. Blobs never have it.
const FILE: u64 = u64::MAX;

/// Bytes in canonical form, which are hashed: numbers are 8 bytes, little endian, and texts have their length in front.
struct Form {
    hasher: Hasher,
    /// Bytes that are not hashed yet. Hashing many bytes at once takes less time.
    pending: Vec<u8>,
}

/// The number of bytes that are hashed at once.
const MOST_PENDING: usize = 64 << 10;

impl Form {
    fn new(algorithms: Algorithms, kind: u64) -> Self {
        let mut form = Form { hasher: Hasher::new(algorithms), pending: Vec::new() };
        form.text(FORM);
        form.number(kind);
        form
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= MOST_PENDING {
            self.hash_pending();
        }
    }

    fn hash_pending(&mut self) {
        self.hasher.update(&self.pending);
        self.pending.clear();
    }

    fn number(&mut self, number: impl Into<u64>) {
        self.bytes(&number.into().to_le_bytes());
    }

    fn count(&mut self, items: usize) {
        self.number(u64::try_from(items).unwrap_or(u64::MAX));
    }

    fn text(&mut self, text: impl AsRef<[u8]>) {
        self.count(text.as_ref().len());
        self.bytes(text.as_ref());
    }

    fn extents(&mut self, shape: impl ExactSizeIterator<Item = i64>) {
        self.count(shape.len());
        shape.for_each(|extent| self.number(extent.cast_unsigned()));
    }

    fn numbers(&mut self, numbers: &[u32]) {
        self.count(numbers.len());
        numbers.iter().for_each(|number| self.number(*number));
    }

    fn options(&mut self, options: &[EngineOption]) {
        self.count(options.len());
        for option in sorted_items(options) {
            self.text(&option.name);
            self.text(&option.value);
        }
    }

    fn metadata(&mut self, metadata: &Metadata) {
        self.text(&metadata.executable);
        self.number(metadata.replication_factor);
        self.number(metadata.num_ipus);
        self.number(metadata.num_processes);
        self.number(metadata.ipu_version);
        self.number(metadata.is_pod);
        self.number(metadata.is_inference);
        self.number(metadata.device_iterations);
        self.text(&metadata.seed_handle);
        self.options(&metadata.engine_options);
        self.options(&metadata.device_options);
        self.numbers(&metadata.program_flow.load);
        self.numbers(&metadata.program_flow.main);
        self.numbers(&metadata.program_flow.save);
        self.count(metadata.programs_map.len());
        for program in sorted_items(&metadata.programs_map) {
            self.number(program.index);
            self.text(&program.name);
        }
        self.count(metadata.anchors.len());
        for anchor in sorted_items(&metadata.anchors) {
            self.text(&anchor.name);
            self.number(anchor.tensor_type.number());
            self.text(&anchor.handle);
            self.number(anchor.tensor_info.data_type.number());
            self.extents(anchor.tensor_info.shape.iter().copied());
            self.numbers(&anchor.programs);
            self.number(anchor.is_per_replica);
            self.number(anchor.use_remote_buffers);
            self.number(anchor.repeats);
        }
    }

    /// The digests of the form.
    fn finish(mut self) -> Digests {
        self.hash_pending();
        self.hasher.finish()
    }

    /// The digests of the form followed by a length and, for each algorithm, the digest of that many bytes.
    fn with(mut self, len: u64, bytes: Digests) -> Digests {
        self.number(len);
        self.hash_pending();
        self.hasher.finish_with(bytes)
    }
}

/// The content digests of a blob, given its unpacked bytes: `len` bytes with these digests, without those after
/// tensors.
pub(super) fn content_of(blob: &Blob<'_>, algorithms: Algorithms, len: u64, bytes: Digests) -> Result<Digests, Error> {
    let mut form = Form::new(algorithms, blob.blob_type().number().into());
    match blob.content() {
        Content::Metadata(metadata) => {
            form.metadata(&metadata.read()?);
            return Ok(form.finish());
        }
        Content::Opaque(opaque) => {
            form.text(opaque.name());
            form.text(opaque.executable());
        }
        _ => {
            if let Some(name) = blob.name() {
                form.text(name);
            }
            if let Some(tensors) = blob.as_data() {
                form.number(tensors.data_type().number());
                let shape = tensors.shape().to_vec();
                form.extents(shape.iter().copied());
                if tensors.is_feed() {
                    form.number(tensors.num_tensors());
                }
            }
        }
    }
    Ok(form.with(len, bytes))
}

/// The digests of the contents of all blobs, in the order of the file, as long as each has one.
#[derive(Default)]
pub(super) struct Contents {
    sha256: Vec<Digest>,
    blake3: Vec<Digest>,
    /// Whether a blob was left out, or has no digest.
    incomplete: bool,
}

impl Contents {
    /// Makes room for the digests of `blobs` blobs: growing would take more memory for a while.
    pub(super) fn with_room(algorithms: Algorithms, blobs: usize) -> Self {
        let room = |wanted: bool| Vec::with_capacity(if wanted { blobs } else { 0 });
        Contents { sha256: room(algorithms.sha256), blake3: room(algorithms.blake3), incomplete: false }
    }

    /// Adds the content of the blob with this number.
    pub(super) fn push(&mut self, index: usize, content: &Digests) {
        let is_next = index == self.sha256.len().max(self.blake3.len());
        if self.incomplete || content.is_empty() || !is_next {
            *self = Contents { incomplete: true, ..Contents::default() };
            return;
        }
        self.sha256.extend(content.sha256);
        self.blake3.extend(content.blake3);
    }

    /// The content digests of a file, given the bytes before its blobs. Empty if a blob has no digest.
    pub(super) fn finish(self, file: &File, algorithms: Algorithms, (prefix_len, prefix): (u64, Digests)) -> Digests {
        let lists = [(algorithms.sha256, &self.sha256), (algorithms.blake3, &self.blake3)];
        let is_whole = |(wanted, list): &(bool, &Vec<Digest>)| !wanted || list.len() == file.len();
        if self.incomplete || !lists.iter().all(is_whole) {
            return Digests::default();
        }
        let order = canonical_order(file);
        let digest = |algorithms: Algorithms, prefix: Digest, contents: &[Digest]| {
            let mut form = Form::new(algorithms, FILE);
            form.number(prefix_len);
            form.bytes(&prefix.0);
            form.count(contents.len());
            for &blob in &order {
                let content = usize::try_from(blob).ok().and_then(|blob| contents.get(blob));
                form.bytes(&content.copied().unwrap_or_default().0);
            }
            form.finish()
        };
        Digests {
            sha256: prefix.sha256.and_then(|prefix| digest(Algorithms::SHA256, prefix, &self.sha256).sha256),
            blake3: prefix.blake3.and_then(|prefix| digest(Algorithms::BLAKE3, prefix, &self.blake3).blake3),
        }
    }
}

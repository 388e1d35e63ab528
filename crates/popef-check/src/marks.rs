use popef::read::File;
use popef::seam::BlobId;

/// One bit for each blob of several files.
#[derive(Default)]
pub(super) struct Marks {
    /// The bits of each file. Empty for a file without marks.
    files: Vec<Vec<u64>>,
}

const BITS: u32 = u64::BITS;

impl Marks {
    /// Marks a blob of these files, and returns whether it was not marked before. `None` if there is not enough memory.
    pub(super) fn mark(&mut self, files: &[File], id: BlobId) -> Option<bool> {
        let file = usize::try_from(id.file).ok()?;
        if self.files.is_empty() {
            self.files.try_reserve_exact(files.len()).ok()?;
            self.files.resize_with(files.len(), Vec::new);
        }
        let words = self.files.get_mut(file)?;
        if words.is_empty() {
            let count = files.get(file)?.len().div_ceil(64);
            words.try_reserve_exact(count).ok()?;
            words.resize(count, 0);
        }
        let word = words.get_mut(usize::try_from(id.blob / BITS).ok()?)?;
        let bit = 1u64 << (id.blob % BITS);
        let is_new = *word & bit == 0;
        *word |= bit;
        Some(is_new)
    }

    pub(super) fn has(&self, id: BlobId) -> bool {
        let word = usize::try_from(id.file).ok().and_then(|file| self.files.get(file));
        let word = word.and_then(|words| words.get(usize::try_from(id.blob / BITS).ok()?));
        word.is_some_and(|word| word & 1 << (id.blob % BITS) != 0)
    }
}

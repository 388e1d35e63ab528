use popef::model::{Linked, Model};
use popef::seam::BlobId;

/// The tiles of executables, and the IPUs that are to run them. Complete after the pass over all blobs.
#[derive(Default)]
pub(super) struct Tiles {
    /// The number of tiles of each executable whose archive was read, in the order of the blobs.
    counts: Vec<(BlobId, u64)>,
    targets: Vec<Target>,
}

/// What metadata says about where its executable runs.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) metadata: BlobId,
    executable: BlobId,
    /// The IPUs of all replicas together.
    pub(super) ipus: u32,
}

impl Tiles {
    /// Adds an executable, which comes after those that were added before. `None` if there is not enough memory.
    pub(super) fn add_count(&mut self, executable: BlobId, tiles: u64) -> Option<()> {
        self.counts.try_reserve(1).ok()?;
        self.counts.push((executable, tiles));
        Some(())
    }

    /// Adds what the metadata of a model says. `None` if there is not enough memory.
    pub(super) fn add_target(&mut self, model: &Model) -> Option<()> {
        let Some(Linked { file, blob, .. }) = model.executable() else { return Some(()) };
        let executable = BlobId::of(file, blob.blob().index());
        let Linked { file, blob, .. } = model.metadata_blob();
        let metadata = BlobId::of(file, blob.blob().index());
        self.targets.try_reserve(1).ok()?;
        self.targets.push(Target { metadata, executable, ipus: model.metadata().num_ipus });
        Some(())
    }

    /// Iterates over the metadata whose executables were read, each with the number of tiles.
    pub(super) fn targets(&self) -> impl Iterator<Item = (Target, u64)> {
        self.targets.iter().filter_map(|target| {
            let place = self.counts.binary_search_by_key(&target.executable, |(id, _)| *id).ok()?;
            let (_, count) = self.counts.get(place)?;
            Some((*target, *count))
        })
    }
}

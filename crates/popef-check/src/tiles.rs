use popef::model::{Linked, Model};
use popef::seam::BlobId;

/// The tiles of executables, and the IPUs that are to run them. Complete after the pass over all blobs.
#[derive(Default)]
pub(super) struct Tiles {
    /// The tiles of each executable whose archive was read, in the order of the blobs.
    executables: Vec<(BlobId, Programs)>,
    targets: Vec<Target>,
}

/// The programs for tiles in an executable.
#[derive(Clone, Copy)]
pub(super) struct Programs {
    pub(super) tiles: u64,
    /// The number of the tile that needs the most memory.
    pub(super) fullest: u64,
    /// The bytes that it needs.
    pub(super) bytes: u64,
}

/// What metadata says about where its executable runs.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) metadata: BlobId,
    pub(super) executable: BlobId,
    /// The IPUs of all replicas together.
    pub(super) ipus: u32,
    pub(super) replicas: u32,
    /// The version of the IPUs.
    pub(super) version: u32,
}

impl Tiles {
    /// Adds an executable, which comes after those that were added before. `None` if there is not enough memory.
    pub(super) fn add_executable(&mut self, executable: BlobId, programs: Programs) -> Option<()> {
        self.executables.try_reserve(1).ok()?;
        self.executables.push((executable, programs));
        Some(())
    }

    /// Adds what the metadata of a model says. `None` if there is not enough memory.
    pub(super) fn add_target(&mut self, model: &Model) -> Option<()> {
        let Some(Linked { file, blob, .. }) = model.executable() else { return Some(()) };
        let executable = BlobId::of(file, blob.blob().index());
        let Linked { file, blob, .. } = model.metadata_blob();
        let metadata = BlobId::of(file, blob.blob().index());
        self.targets.try_reserve(1).ok()?;
        let said = model.metadata();
        let (ipus, replicas, version) = (said.num_ipus, said.replication_factor, said.ipu_version);
        self.targets.push(Target { metadata, executable, ipus, replicas, version });
        Some(())
    }

    /// Iterates over the executables that were read.
    pub(super) fn executables(&self) -> impl Iterator<Item = (BlobId, Programs)> {
        self.executables.iter().copied()
    }

    /// Iterates over the metadata whose executables were read, each with what is in its executable.
    pub(super) fn targets(&self) -> impl Iterator<Item = (Target, Programs)> {
        self.targets.iter().filter_map(|target| {
            let place = self.executables.binary_search_by_key(&target.executable, |(id, _)| *id).ok()?;
            let (_, programs) = self.executables.get(place)?;
            Some((*target, *programs))
        })
    }
}

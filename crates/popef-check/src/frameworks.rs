//! Which executables have an opaque blob of a framework.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use popef::read::OpaqueBlob;
use popef::types::Text;
use popef_payload::Framework;

/// The executables that opaque blobs of frameworks name. Many models can share an executable, and an executable can have
/// many opaque blobs, so they are gathered once.
#[derive(Default)]
pub(super) struct Frameworks {
    hasher: RandomState,
    /// Hashes of the framework and the name: two names with one hash would take 2^32 executables.
    executables: HashSet<u64>,
}

impl Frameworks {
    /// Gathers the executables of opaque blobs. `None` if there is not enough memory.
    pub(super) fn of<'b>(opaques: impl Iterator<Item = OpaqueBlob<'b>>) -> Option<Self> {
        let mut found = Frameworks::default();
        for opaque in opaques {
            if let Some(framework) = Framework::of_blob(&opaque) {
                found.executables.try_reserve(1).ok()?;
                found.executables.insert(found.hash(framework, &opaque.executable()));
            }
        }
        Some(found)
    }

    /// Returns whether an opaque blob of a framework names this executable.
    pub(super) fn has(&self, framework: Framework, executable: &Text<'_>) -> bool {
        self.executables.contains(&self.hash(framework, executable))
    }

    fn hash(&self, framework: Framework, executable: &Text<'_>) -> u64 {
        self.hasher.hash_one((framework, executable.as_bytes()))
    }
}

//! Digests by one or both algorithms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::hex::{Hex, unhex};

/// Which digests are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithms {
    /// SHA-256. Every system has a tool for it.
    pub sha256: bool,
    /// BLAKE3. It is faster, and can use several processors even for one large file.
    pub blake3: bool,
}

impl Algorithms {
    /// SHA-256 alone.
    pub const SHA256: Self = Algorithms { sha256: true, blake3: false };
    /// BLAKE3 alone.
    pub const BLAKE3: Self = Algorithms { sha256: false, blake3: true };
    /// Both.
    pub const BOTH: Self = Algorithms { sha256: true, blake3: true };
    /// Neither.
    pub(super) const NONE: Self = Algorithms { sha256: false, blake3: false };

    /// What any of the two has.
    pub(super) fn or(self, other: Self) -> Self {
        Algorithms { sha256: self.sha256 || other.sha256, blake3: self.blake3 || other.blake3 }
    }
}

/// A digest of 256 bits. It is shown, parsed and serialised as 64 hex digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(self.0).fmt(f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let bytes = unhex(text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Digest).ok_or(NotADigest)
    }
}

/// A text that is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADigest;

impl fmt::Display for NotADigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a digest has 64 hex digits")
    }
}

impl std::error::Error for NotADigest {}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The digests of the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// By SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// By BLAKE3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<Digest>,
}

impl Digests {
    /// Whether no digest was computed.
    pub fn is_empty(&self) -> bool {
        self.sha256.is_none() && self.blake3.is_none()
    }

    /// The algorithms that there are digests of.
    pub fn algorithms(&self) -> Algorithms {
        Algorithms { sha256: self.sha256.is_some(), blake3: self.blake3.is_some() }
    }

    /// Whether the digests that both have are the same, and there is at least one.
    pub(super) fn agree(&self, other: &Digests) -> bool {
        let pairs = [(self.sha256, other.sha256), (self.blake3, other.blake3)];
        let both = pairs.iter().filter_map(|(one, other)| Some((*one)? == (*other)?));
        both.clone().count() > 0 && both.into_iter().all(|equal| equal)
    }

    /// The name and the digest of each algorithm.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, Digest)> {
        [("sha256", self.sha256), ("blake3", self.blake3)]
            .into_iter()
            .filter_map(|(name, digest)| Some((name, digest?)))
    }
}

/// Computes the digests of bytes that come one after the other.
#[derive(Clone)]
pub(super) struct Hasher {
    sha256: Option<Sha256>,
    // Its state is large.
    blake3: Option<Box<blake3::Hasher>>,
}

impl Hasher {
    pub(super) fn new(algorithms: Algorithms) -> Self {
        Hasher {
            sha256: algorithms.sha256.then(Sha256::new),
            blake3: algorithms.blake3.then(|| Box::new(blake3::Hasher::new())),
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(bytes);
        }
        if let Some(blake3) = &mut self.blake3 {
            blake3.update(bytes);
        }
    }

    pub(super) fn finish(self) -> Digests {
        Digests {
            sha256: self.sha256.map(|sha256| Digest(sha256.finalize().into())),
            blake3: self.blake3.map(|blake3| Digest(*blake3.finalize().as_bytes())),
        }
    }

    /// Adds a digest of other bytes, for each algorithm by itself.
    pub(super) fn update_with(&mut self, digests: &Digests) {
        if let (Some(sha256), Some(digest)) = (&mut self.sha256, digests.sha256) {
            sha256.update(digest.0);
        }
        if let (Some(blake3), Some(digest)) = (&mut self.blake3, digests.blake3) {
            blake3.update(&digest.0);
        }
    }

    /// The digests of the bytes followed by a digest of other bytes, for each algorithm by itself. `None` for an
    /// algorithm without one of them.
    pub(super) fn finish_with(self, digests: Digests) -> Digests {
        let sha256 = self.sha256.zip(digests.sha256).map(|(sha256, digest)| sha256.chain_update(digest.0));
        let blake3 = self.blake3.zip(digests.blake3).map(|(mut blake3, digest)| {
            blake3.update(&digest.0);
            blake3
        });
        Hasher { sha256, blake3 }.finish()
    }
}

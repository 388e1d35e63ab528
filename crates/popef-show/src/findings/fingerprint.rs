use std::collections::HashMap;

use popef_check::Finding;

/// Gives each finding of a group a text that stays the same when the file changes elsewhere. Code scanners recognise a finding
/// by it.
///
/// It depends on the rule and on the names that the finding is about. Positions are left out, because they shift with unrelated
/// blobs, and so is the message, because it has figures. If these are the same for several findings of a file, they are
/// counted, so that they stay apart.
#[derive(Default)]
pub(super) struct Fingerprints {
    seen: HashMap<(usize, u64), usize>,
}

impl Fingerprints {
    pub(super) fn of(&mut self, finding: &Finding) -> String {
        let hash = hash(finding);
        let nth = self.seen.entry((finding.file, hash)).or_default();
        *nth += 1;
        format!("{hash:016x}:{nth}")
    }
}

fn hash(finding: &Finding) -> u64 {
    let mut hash = Fnv::default();
    hash.add(finding.rule.id.as_bytes());
    for name in &finding.names {
        hash.add(name.as_bytes());
    }
    hash.0
}

/// FNV-1a. The hashes of the standard library can change with its version.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a text and its length, so that "ab" and "c" differ from "a" and "bc".
    fn add(&mut self, text: &[u8]) {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes();
        for &byte in length.iter().chain(text) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

//! BLAKE3 over pieces that are hashed independently, so that several processors work on one file.

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root};

use super::digest::Digest;

/// Hashes the piece at an offset. The offset must be a multiple of a piece's length, and only the last piece may be shorter.
pub(super) fn piece(offset: u64, bytes: &[u8]) -> ChainingValue {
    Hasher::new().set_input_offset(offset).update(bytes).finalize_non_root()
}

/// Puts pieces together: those on the left as a forest of complete trees, as long as it is not known what follows.
#[derive(Default)]
pub(super) struct Tree {
    forest: Vec<ChainingValue>,
    pieces: u64,
}

impl Tree {
    pub(super) fn push(&mut self, piece: ChainingValue) {
        // As many trees as the number of pieces has ones in binary.
        let trees = usize::try_from(self.pieces.count_ones()).unwrap_or(usize::MAX);
        while self.forest.len() > trees {
            self.join();
        }
        self.forest.push(piece);
        self.pieces = self.pieces.saturating_add(1);
    }

    fn join(&mut self) {
        if let (Some(right), Some(left)) = (self.forest.pop(), self.forest.pop()) {
            self.forest.push(merge_subtrees_non_root(&left, &right, Mode::Hash));
        }
    }

    /// The digest. There must be at least two pieces: one piece alone is hashed in another way.
    pub(super) fn finish(mut self) -> Option<Digest> {
        while self.forest.len() > 2 {
            self.join();
        }
        let [left, right] = self.forest.as_slice() else { return None };
        Some(Digest(*merge_subtrees_root(left, right, Mode::Hash).as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, Tree, piece};

    #[test]
    fn pieces_give_the_hash_of_the_whole() {
        const PIECE: usize = 4 << 10;
        let bytes: Vec<u8> = (0..PIECE * 21).map(|number| ((number * number) >> 5) as u8).collect();
        for pieces in 2..=20 {
            for extra in [0, 1, 1023, 1024, 1025, PIECE - 1] {
                let bytes = &bytes[..pieces * PIECE + extra];
                let mut tree = Tree::default();
                for (index, bytes) in bytes.chunks(PIECE).enumerate() {
                    tree.push(piece((index * PIECE) as u64, bytes));
                }
                assert_eq!(tree.finish(), Some(Digest(*blake3::hash(bytes).as_bytes())), "{pieces} pieces and {extra}");
            }
        }
    }
}

//! BLAKE3 over pieces that are hashed independently, so that several processors work on one file.

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root};

use super::digest::Digest;

/// A piece that is being hashed. All pieces but the last have the same length, a power of two, and begin at its multiples.
pub(super) struct Piece(Hasher);

impl Piece {
    /// A piece that begins at an offset of the whole.
    pub(super) fn at(offset: u64) -> Self {
        let mut hasher = Hasher::new();
        hasher.set_input_offset(offset);
        Piece(hasher)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(&self) -> ChainingValue {
        self.0.finalize_non_root()
    }
}

/// Joins pieces: those on the left as a forest of complete trees, until it is known what follows.
#[derive(Default)]
pub(super) struct Tree {
    forest: Vec<ChainingValue>,
    pieces: u64,
}

impl Tree {
    pub(super) fn push(&mut self, piece: ChainingValue) {
        // The number of trees is the number of ones in the binary number of pieces.
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
    use super::{Digest, Piece, Tree};

    #[test]
    fn pieces_give_the_hash_of_the_whole() {
        const PIECE: usize = 4 << 10;
        let bytes: Vec<u8> = (0..PIECE * 21).map(|number| ((number * number) >> 5) as u8).collect();
        for pieces in 2..=20 {
            for extra in [0, 1, 1023, 1024, 1025, PIECE - 1] {
                let bytes = &bytes[..pieces * PIECE + extra];
                let mut tree = Tree::default();
                for (index, bytes) in bytes.chunks(PIECE).enumerate() {
                    let mut piece = Piece::at((index * PIECE) as u64);
                    bytes.chunks(3000).for_each(|bytes| piece.update(bytes));
                    tree.push(piece.finish());
                }
                assert_eq!(tree.finish(), Some(Digest(*blake3::hash(bytes).as_bytes())), "{pieces} pieces and {extra}");
            }
        }
    }
}

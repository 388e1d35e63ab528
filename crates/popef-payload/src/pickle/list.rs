use super::halt::Halt;

/// A list that grows by whole blocks. Its items never move, so growing takes only the memory of the new block.
///
/// It never frees blocks, so clearing it often costs nothing.
pub(super) struct List<T> {
    blocks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { blocks: Vec::new(), len: 0 }
    }
}

/// The number of items in a block. A block grows to it by doubling.
const BLOCK: usize = 1024;

/// The block of an item, and its place in the block.
fn place(index: usize) -> (usize, usize) {
    (index / BLOCK, index % BLOCK)
}

impl<T: Copy> List<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, item: T) -> Result<(), Halt> {
        let (block, at) = place(self.len);
        if block == self.blocks.len() {
            self.blocks.try_reserve(1)?;
            self.blocks.push(Vec::new());
        }
        if let Some(block) = self.blocks.get_mut(block) {
            match block.get_mut(at) {
                Some(old) => *old = item,
                None => {
                    block.try_reserve(1)?;
                    block.push(item);
                }
            }
        }
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Adds an item, and returns its place.
    pub(super) fn add(&mut self, item: T) -> Result<u32, Halt> {
        let at = u32::try_from(self.len).map_err(|_| Halt::NoMemory)?;
        self.push(item)?;
        Ok(at)
    }

    pub(super) fn get(&self, index: usize) -> Option<T> {
        let (block, at) = place(index);
        self.blocks.get(block)?.get(at).copied().filter(|_| index < self.len)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let (block, at) = place(index);
        self.blocks.get_mut(block)?.get_mut(at).filter(|_| index < self.len)
    }

    pub(super) fn last(&self) -> Option<T> {
        self.get(self.len.checked_sub(1)?)
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let last = self.last()?;
        self.truncate(self.len.saturating_sub(1));
        Some(last)
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, List};

    #[test]
    #[cfg_attr(miri, ignore = "its thousands of steps take a minute there, and none is unsafe")]
    fn a_list_is_as_a_vector_over_the_borders_of_blocks() {
        let (mut list, mut vector) = (List::default(), Vec::new());
        for step in 0..5 * BLOCK {
            // Two forwards and one back, and now and then nearly all.
            for item in [step, step + 1] {
                list.push(item).unwrap();
                vector.push(item);
            }
            assert_eq!(list.pop(), vector.pop());
            if step % (2 * BLOCK) == BLOCK + 100 {
                list.truncate(7);
                vector.truncate(7);
            }
            if let Some(item) = list.get_mut(step / 2) {
                *item += 1;
                vector[step / 2] += 1;
            }
            assert_eq!((list.len(), list.last()), (vector.len(), vector.last().copied()));
        }
        let items: Vec<_> = (0..list.len()).map(|index| list.get(index).unwrap()).collect();
        assert_eq!(items, vector);
        assert_eq!((list.get(vector.len()), list.get_mut(vector.len())), (None, None));
    }
}

/// Where a blob is: the file and the blob, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) blob: usize,
}

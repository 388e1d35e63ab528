use std::fmt;
use std::iter::FusedIterator;
use std::slice;

use super::blob::Blob;
use super::content::Content;
use super::file::File;
use super::index;

/// An iterator over all blobs of a file, in file order. [`File::blobs`] returns it.
#[derive(Clone)]
pub struct FileBlobs<'f> {
    pub(super) file: &'f File,
    pub(super) index: index::Iter<'f>,
}

impl<'f> Iterator for FileBlobs<'f> {
    type Item = Blob<'f>;

    fn next(&mut self) -> Option<Blob<'f>> {
        self.index.next().map(|indexed| self.file.blob_at(indexed))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.index.size_hint()
    }

    fn nth(&mut self, skipped: usize) -> Option<Blob<'f>> {
        self.index.nth(skipped).map(|indexed| self.file.blob_at(indexed))
    }
}

impl DoubleEndedIterator for FileBlobs<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.index.next_back().map(|indexed| self.file.blob_at(indexed))
    }
}

impl ExactSizeIterator for FileBlobs<'_> {}

impl FusedIterator for FileBlobs<'_> {}

impl fmt::Debug for FileBlobs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// An iterator over the blobs of one type, in file order. [`File::tensors`] and others return it.
#[derive(Clone)]
pub struct TypedBlobs<'f, B> {
    pub(super) file: &'f File,
    /// The indices of the blobs of the type.
    pub(super) numbers: slice::Iter<'f, u32>,
    /// Never `None` for blobs of the type.
    pub(super) view: fn(Content<'f>) -> Option<B>,
}

impl<B> TypedBlobs<'_, B> {
    fn view(&self, number: u32) -> Option<B> {
        (self.view)(self.file.numbered(number)?.content())
    }
}

impl<B> Iterator for TypedBlobs<'_, B> {
    type Item = B;

    fn next(&mut self) -> Option<B> {
        self.numbers.next().and_then(|&number| self.view(number))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }

    fn nth(&mut self, skipped: usize) -> Option<B> {
        self.numbers.nth(skipped).and_then(|&number| self.view(number))
    }
}

impl<B> DoubleEndedIterator for TypedBlobs<'_, B> {
    fn next_back(&mut self) -> Option<B> {
        self.numbers.next_back().and_then(|&number| self.view(number))
    }
}

impl<B> ExactSizeIterator for TypedBlobs<'_, B> {}

impl<B> FusedIterator for TypedBlobs<'_, B> {}

impl<B: Clone + fmt::Debug> fmt::Debug for TypedBlobs<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

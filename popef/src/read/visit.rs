//! Looks at the blobs of a file without keeping an index of them.

use super::blob::{Blob, Texts};
use super::data::Data;
use super::fetch::Fetch as _;
use super::options::OpenOptions;
use super::problem::ReadProblem;
use super::source::{Backing, ReadAhead, ReadAt, Window};
use super::walk::{Place, Step, Walk};
use crate::error::Error;
use crate::wire::Head;

impl OpenOptions {
    /// Calls `each` for the blobs of a file, in their order, and keeps none of them. So the memory does not grow with
    /// the number of blobs. An opened [`File`](crate::File) takes about 60 bytes for each small blob.
    ///
    /// The first error ends it, of `each` or of the file. Damage is an error after all blobs before it, also with
    /// [`damaged`](Self::damaged).
    ///
    /// ```
    /// use popef::OpenOptions;
    /// use popef::read::LocalFile;
    ///
    /// let mut data = 0;
    /// OpenOptions::new().visit(LocalFile::open("examples/data/executable.popef")?, |blob| {
    ///     data += blob.data().len();
    ///     Ok::<(), popef::Error>(())
    /// })?;
    /// assert_eq!(data, 65_234);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn visit<E: From<Error>>(
        &self,
        source: impl ReadAt + 'static,
        each: impl FnMut(&Blob<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let source = Backing::of(source);
        let options = self.started_in(&Data::in_source(&source, 0, 0, source.size()))?;
        options.visit_in(&source, each)
    }

    fn visit_in<E: From<Error>>(
        &self,
        source: &Backing,
        mut each: impl FnMut(&Blob<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let in_file = |error: Error| E::from(error.in_file(source.name()));
        let size = source.size();
        if size < self.start {
            return Err(in_file(ReadProblem::StartPastEnd { start: self.start, len: size }.into()));
        }
        let mut window = Window::new(size, self.read_ahead_of(source));
        let mut walk = Walk::from(self.start);
        loop {
            match walk.step(&mut window, &self.limits, &mut ()).map_err(in_file)? {
                Step::Blob(place, head) => each(&self.blob_in(source, &mut window, place, head).map_err(in_file)?)?,
                Step::Waiting => {
                    let start = window.missing().start;
                    let gap = window.gap();
                    let count = gap.len();
                    source.fill(gap, start).map_err(|problem| in_file(walk.give_up(problem)))?;
                    window.advance(count);
                }
                Step::End => break,
            }
        }
        source.check_unchanged().map_err(|problem| in_file(problem.into()))
    }

    pub(super) fn read_ahead_of(&self, source: &Backing) -> ReadAhead {
        let usual = if source.is_near() { ReadAhead::LOCAL } else { ReadAhead::REMOTE };
        self.read_ahead.unwrap_or(usual)
    }

    /// The blob that the walk has just read, whose head the window still holds.
    fn blob_in<'a>(
        &self,
        source: &'a Backing,
        window: &'a mut Window,
        place: Place,
        head: Head,
    ) -> Result<Blob<'a>, Error> {
        let held = window.fetch(place.offset, head.len.into());
        let held = held.map_err(|problem| problem.at(place.index, place.offset))?.unwrap_or_default();
        let whole = Data::in_source(source, place.index, place.offset, head.size);
        Ok(Blob::new(place, head, Texts::Messages(head.of_blob(held)), whole, Some(source), self.limits))
    }
}

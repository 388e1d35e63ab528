use popef::types::Diagnostic;

/// What is wrong with the blobs of one file.
///
/// Each failure is shown at its blob. The first hundred are kept here, to be repeated at the end: a file of millions of blobs
/// may have millions of failures.
#[derive(Debug, Default)]
pub struct Failures {
    first: Vec<Diagnostic>,
    more: u64,
}

impl Failures {
    const MOST: usize = 100;

    pub(crate) fn push(&mut self, failure: &Diagnostic) {
        if self.first.len() < Self::MOST {
            self.first.push(failure.clone());
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// The first failures.
    pub fn first(&self) -> &[Diagnostic] {
        &self.first
    }

    /// The number of failures that were left out, in words, if there are any.
    pub fn more(&self) -> Option<String> {
        (self.more > 0).then(|| format!("{} more errors are shown above, each at its blob", self.more))
    }
}

use super::finding::Skipped;
use crate::error::Error;
use crate::read::File;

/// How many failures are listed at most. A file may have as many as it has blobs.
const MOST_FAILURES: usize = 100;

/// Where to say what was not looked at.
pub(super) struct Skips<'n> {
    /// The numbers that the caller knows the files by.
    numbers: &'n [usize],
    skipped: Vec<Skipped>,
    /// Failures beyond those that are listed.
    more: usize,
}

impl<'n> Skips<'n> {
    pub(super) fn new(numbers: &'n [usize]) -> Self {
        Skips { numbers, skipped: Vec::new(), more: 0 }
    }

    /// Something of a file that the caller did not choose to leave out.
    pub(super) fn failed(&mut self, file: usize, what: String, why: String) {
        if self.skipped.len() >= MOST_FAILURES {
            self.more = self.more.saturating_add(1);
            return;
        }
        let file = self.numbers.get(file).copied();
        self.skipped.push(Skipped { file, what, why, failed: true });
    }

    /// Something that the caller, or the format, left out.
    pub(super) fn left_out(&mut self, what: String, why: &str) {
        self.skipped.push(Skipped { file: None, what, why: why.to_owned(), failed: false });
    }

    /// Something of all files that there was not enough memory for.
    pub(super) fn no_memory(&mut self, what: &str) {
        let (what, why) = (what.to_owned(), "there is not enough memory".to_owned());
        self.skipped.push(Skipped { file: None, what, why, failed: true });
    }

    /// A file that could not be opened. Damage is a finding, and all that was left out by it is told here.
    pub(super) fn unopened(&mut self, file: usize, error: &Error) {
        let is_finding = error.is_about_the_file();
        let what = "the file, and what is only missing from the others".to_owned();
        let why = if is_finding { "the file is damaged".to_owned() } else { error.reason() };
        self.skipped.push(Skipped { file: Some(file), what, why, failed: !is_finding });
    }

    /// What the files are like after everything was read.
    pub(super) fn afterwards(&mut self, files: &[File]) {
        for (file, opened) in files.iter().enumerate() {
            if let Err(error) = opened.check_unchanged() {
                self.failed(file, "the file as it is now".to_owned(), error.reason());
            }
        }
        for (file, opened) in files.iter().enumerate() {
            let Some(damage) = opened.damage() else { continue };
            let what = format!("everything behind byte {}, and what is only missing from the files", opened.end());
            let failed = !damage.is_about_the_file();
            let why = if failed { damage.reason() } else { "the file is damaged there".to_owned() };
            let file = self.numbers.get(file).copied();
            self.skipped.push(Skipped { file, what, why, failed });
        }
    }

    pub(super) fn finish(mut self) -> Vec<Skipped> {
        if self.more > 0 {
            let what = format!("{} more", self.more);
            let why = "they could not be read either".to_owned();
            self.skipped.push(Skipped { file: None, what, why, failed: true });
        }
        self.skipped
    }
}

use popef::error::Error;
use popef::read::File;
use popef_findings::Skipped;

/// The most failures that are listed. A file can have one for each blob.
const MOST_FAILURES: usize = 100;

/// Collects what was not checked.
pub(super) struct Skips<'n> {
    /// The caller's numbers of the files.
    numbers: &'n [usize],
    skipped: Vec<Skipped>,
    /// The number of failures that are not listed.
    more: usize,
}

impl<'n> Skips<'n> {
    pub(super) fn new(numbers: &'n [usize]) -> Self {
        Skips { numbers, skipped: Vec::new(), more: 0 }
    }

    /// Records a failure in a file.
    pub(super) fn failed(&mut self, file: usize, what: String, why: String) {
        if self.skipped.len() >= MOST_FAILURES {
            self.more = self.more.saturating_add(1);
            return;
        }
        let file = self.numbers.get(file).copied();
        self.skipped.push(Skipped::new(what, why, true).in_file(file));
    }

    /// Records what was not checked because of the options or the format.
    pub(super) fn left_out(&mut self, what: String, why: &str) {
        self.skipped.push(Skipped::new(what, why.to_owned(), false));
    }

    /// Records that the rest was not checked.
    pub(super) fn stopped(&mut self) {
        let (what, why) = ("the rest of the files".to_owned(), "the check was stopped".to_owned());
        self.skipped.push(Skipped::new(what, why, true));
    }

    /// Records something for which there was not enough memory.
    pub(super) fn no_memory(&mut self, what: &str) {
        let (what, why) = (what.to_owned(), "there is not enough memory".to_owned());
        self.skipped.push(Skipped::new(what, why, true));
    }

    /// Records a file that could not be opened. If it is damaged, that is a finding, and not a failure.
    pub(super) fn unopened(&mut self, file: usize, error: &Error) {
        let is_finding = error.is_about_the_file();
        let what = "the file, and whether anything is missing from the others".to_owned();
        let why = if is_finding { "the file is damaged".to_owned() } else { error.reason() };
        let file = self.numbers.get(file).copied();
        self.skipped.push(Skipped::new(what, why, !is_finding).in_file(file));
    }

    /// Records, after everything was read, files that changed meanwhile, and damage.
    pub(super) fn afterwards(&mut self, files: &[File]) {
        for (file, opened) in files.iter().enumerate() {
            if let Err(error) = opened.check_unchanged() {
                self.failed(file, "the file as it is now".to_owned(), error.reason());
            }
        }
        for (file, opened) in files.iter().enumerate() {
            let Some(damage) = opened.damage() else { continue };
            let what =
                format!("everything after byte {}, and whether anything is missing from the files", opened.end());
            let failed = !damage.is_about_the_file();
            let why = if failed { damage.reason() } else { "the file is damaged there".to_owned() };
            let file = self.numbers.get(file).copied();
            self.skipped.push(Skipped::new(what, why, failed).in_file(file));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Skipped> {
        if self.more > 0 {
            let what = format!("{} more", self.more);
            let why = "they could not be read either".to_owned();
            self.skipped.push(Skipped::new(what, why, true));
        }
        self.skipped
    }
}

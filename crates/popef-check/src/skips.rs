use popef::error::{Error, ErrorCode};
use popef::read::File;
use popef_findings::Skipped;

/// The most failures that are listed. A file can have one for each blob.
const MOST_FAILURES: usize = 100;

/// Collects what was not checked.
pub(super) struct Skips<'n> {
    /// The caller's numbers of the files.
    numbers: &'n [usize],
    /// Whether any rule of safety is active. If the policy turns all of them off, a skipped part does not count against
    /// them.
    safety: bool,
    skipped: Vec<Skipped>,
    /// The number of failures that are not listed.
    more: usize,
    /// Whether the rules of safety look at any of these.
    more_safety: bool,
}

impl<'n> Skips<'n> {
    pub(super) fn new(numbers: &'n [usize], safety: bool) -> Self {
        Skips { numbers, safety, skipped: Vec::new(), more: 0, more_safety: false }
    }

    /// Records a failure in a file, where the rules of safety do not look.
    pub(super) fn failed(&mut self, file: usize, what: String, why: String) {
        self.push(Skipped::new(what, why, true).in_file(self.number(file)));
    }

    /// Records what could not be read, where the rules of safety do not look.
    pub(super) fn unread(&mut self, file: usize, what: String, error: &Error) {
        self.push(of_error(what, error).in_file(self.number(file)));
    }

    /// Records a failure in a file, where the rules of safety would have looked.
    pub(super) fn unsafe_failed(&mut self, file: usize, what: String, why: String) {
        self.push(Skipped::new(what, why, true).in_file(self.number(file)).of_safety(self.safety));
    }

    /// Records what could not be read, where the rules of safety would have looked.
    pub(super) fn unsafe_unread(&mut self, file: usize, what: String, error: &Error) {
        self.push(of_error(what, error).in_file(self.number(file)).of_safety(self.safety));
    }

    fn push(&mut self, skipped: Skipped) {
        if self.skipped.len() < MOST_FAILURES {
            self.skipped.push(skipped);
            return;
        }
        self.more = self.more.saturating_add(1);
        self.more_safety |= skipped.safety;
    }

    fn number(&self, file: usize) -> Option<usize> {
        self.numbers.get(file).copied()
    }

    /// Records what was not checked because of the options or the format.
    pub(super) fn left_out(&mut self, what: String, why: &str) {
        self.skipped.push(Skipped::new(what, why.to_owned(), false));
    }

    /// Records data that is worth a look but was not requested, or that a stream did not keep.
    pub(super) fn left_unread(&mut self, what: String, error: &Error) {
        let mut skipped = of_error(what, error);
        skipped.failed = false;
        self.skipped.push(skipped);
    }

    /// Records that the rest was not checked.
    pub(super) fn stopped(&mut self) {
        let (what, why) = ("the rest of the files".to_owned(), "the check was stopped".to_owned());
        self.skipped.push(Skipped::new(what, why, true).of_safety(self.safety));
    }

    /// Records something for which there was not enough memory.
    pub(super) fn no_memory(&mut self, what: &str) {
        self.skipped.push(super::findings::no_memory(what.to_owned()));
    }

    /// Records that there was not enough memory to link the files, so that no blob was looked at.
    pub(super) fn no_memory_for_files(&mut self) {
        let skipped = super::findings::no_memory("the files".to_owned());
        self.skipped.push(skipped.of_safety(self.safety));
    }

    /// Records a file that could not be opened. If it is damaged, that is a finding, and not a failure.
    pub(super) fn unopened(&mut self, file: usize, error: &Error) {
        let failed = !error.is_about_the_file();
        let what = "the file, and whether anything is missing from the others".to_owned();
        let why = if failed { error.reason() } else { "the file is damaged".to_owned() };
        let skipped = Skipped::new(what, why, failed);
        self.skipped.push(skipped.in_file(self.number(file)).of_safety(self.safety && failed));
    }

    /// Records, after everything was read, files that changed meanwhile, and damage.
    pub(super) fn afterwards(&mut self, files: &[File]) {
        for (file, opened) in files.iter().enumerate() {
            if let Err(error) = opened.check_unchanged() {
                self.unsafe_failed(file, "the file as it is now".to_owned(), error.reason());
            }
        }
        for (file, opened) in files.iter().enumerate() {
            let Some(damage) = opened.damage() else { continue };
            let what =
                format!("everything after byte {}, and whether anything is missing from the files", opened.end());
            let failed = !damage.is_about_the_file();
            let why = if failed { damage.reason() } else { "the file is damaged there".to_owned() };
            let skipped = Skipped::new(what, why, failed);
            self.skipped.push(skipped.in_file(self.number(file)).of_safety(self.safety && failed));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Skipped> {
        if self.more > 0 {
            let what = format!("{} more", self.more);
            let why = "they could not be read either".to_owned();
            self.skipped.push(Skipped::new(what, why, true).of_safety(self.more_safety));
        }
        self.skipped
    }
}

/// What could not be read because of an error.
fn of_error(what: String, error: &Error) -> Skipped {
    let mut skipped = Skipped::new(what, error.reason(), true);
    skipped.not_kept = error.code() == ErrorCode::DataNotKept;
    skipped
}

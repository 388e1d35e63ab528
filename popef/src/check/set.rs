use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::content::Contents;
use super::finding::Skipped;
use super::options::{CheckOptions, Progress, Subject};
use super::policy::Policy;
use crate::error::{Error, ErrorKind};
use crate::model::{Linked, Linker, Model};
use crate::pickle::Pickle;
use crate::read::{Blob, ExecutableBlob, FeedBlob, File, OpaqueBlob, TensorBlob};
use crate::types::Text;

/// The files of one check, and what more than one rule needs of them.
pub(super) struct Set<'f> {
    pub(super) files: Arc<[&'f File]>,
    /// The number of each file among all that were given.
    pub(super) numbers: Vec<usize>,
    /// What could not be opened because it is damaged.
    pub(super) damaged: Vec<(usize, &'f Error)>,
    pub(super) models: Vec<Model<'f>>,
    /// Metadata that cannot be read within its file's limits.
    pub(super) unreadable: Vec<(Place, Error)>,
    pub(super) linker: Linker<'f>,
    pub(super) pickles: Vec<Pickled<'f>>,
    pub(super) contents: Contents,
    pub(super) policy: Policy,
    /// Whether all blobs of all files are known. If not, what is missing may only be out of sight.
    pub(super) complete: bool,
}

/// An opaque blob that is a Python pickle.
pub(super) struct Pickled<'f> {
    pub(super) opaque: Linked<OpaqueBlob<'f>>,
    pub(super) pickle: Pickle,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Among those that were opened.
    pub(super) file: usize,
    pub(super) blob: Option<usize>,
    pub(super) offset: Option<u64>,
}

impl Place {
    pub(super) fn file(file: usize) -> Self {
        Place { file, blob: None, offset: None }
    }

    pub(super) fn blob(file: usize, blob: &Blob<'_>) -> Self {
        Place { file, blob: Some(blob.index()), offset: Some(blob.offset()) }
    }

    pub(super) fn data(file: usize, blob: &Blob<'_>) -> Self {
        Place { offset: Some(blob.data_offset()), ..Place::blob(file, blob) }
    }

    pub(super) fn of_error(file: usize, error: &Error) -> Self {
        Place { file, blob: error.blob(), offset: error.offset() }
    }
}

impl<'f> Set<'f> {
    pub(super) fn of(
        subjects: &[Subject<'f>],
        options: &CheckOptions,
        progress: &mut dyn FnMut(Progress),
        skipped: &mut Vec<Skipped>,
    ) -> Self {
        let opened = subjects.iter().enumerate().filter_map(|(number, subject)| match subject {
            Subject::File(file) => Some((number, *file)),
            Subject::Unopened(_) => None,
        });
        let (mut numbers, files): (Vec<usize>, Vec<&'f File>) = opened.unzip();
        let files: Arc<[&'f File]> = files.into();
        let unopened = unopened(subjects);
        numbers.extend(unopened.iter().map(|(number, _)| number));
        let linker = Linker::of(Arc::clone(&files));
        let mut skips = Skips { numbers: &numbers, skipped, more: 0 };
        let damaged = damaged(files.len(), &unopened, &mut skips);
        let (models, unreadable) = models(&linker);
        let pickles = pickles(&linker, &mut skips);
        let contents = Contents::of(&files, options, progress, &mut skips);
        skips.changed(&files);
        skips.damage(&files);
        skips.finish();
        let complete = damaged.is_empty()
            && files.len() == subjects.len()
            && unreadable.is_empty()
            && files.iter().all(|file| file.damage().is_none());
        let policy = options.policy_of().cloned().unwrap_or_default();
        Set { files, numbers, damaged, models, unreadable, linker, pickles, contents, policy, complete }
    }

    pub(super) fn blobs(&self) -> impl Iterator<Item = Linked<Blob<'f>>> {
        self.each(File::blobs)
    }

    pub(super) fn executables(&self) -> impl Iterator<Item = Linked<ExecutableBlob<'f>>> {
        self.each(File::executables)
    }

    pub(super) fn tensors(&self) -> impl Iterator<Item = Linked<TensorBlob<'f>>> {
        self.each(File::tensors)
    }

    pub(super) fn feeds(&self) -> impl Iterator<Item = Linked<FeedBlob<'f>>> {
        self.each(File::feeds)
    }

    pub(super) fn opaques(&self) -> impl Iterator<Item = Linked<OpaqueBlob<'f>>> {
        self.each(File::opaques)
    }

    fn each<B, I: Iterator<Item = B>>(&self, blobs: impl Fn(&'f File) -> I) -> impl Iterator<Item = Linked<B>> {
        let numbered = self.files.iter().enumerate();
        numbered.flat_map(move |(file, opened)| blobs(opened).map(move |blob| Linked { file, blob }))
    }
}

/// The later ones of each name, with the first.
pub(super) fn doubled<K: Hash + Eq, T: Copy>(named: impl Iterator<Item = (K, T)>) -> Vec<(T, T)> {
    let mut firsts = HashMap::new();
    let mut doubled = Vec::new();
    for (key, item) in named {
        match firsts.get(&key) {
            Some(&first) => doubled.push((first, item)),
            None => drop(firsts.insert(key, item)),
        }
    }
    doubled
}

/// Those of each key together, in the order of the first ones.
pub(super) fn in_groups<K: Hash + Eq, T>(keyed: impl Iterator<Item = (K, T)>) -> Vec<Vec<T>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for (key, item) in keyed {
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Those of each name together.
pub(super) fn by_name<'t, T>(named: impl Iterator<Item = (Text<'t>, T)>) -> HashMap<Text<'t>, Vec<T>> {
    let mut all: HashMap<Text<'t>, Vec<T>> = HashMap::new();
    named.for_each(|(name, item)| all.entry(name).or_default().push(item));
    all
}

/// Where to say what was not looked at.
pub(super) struct Skips<'s> {
    numbers: &'s [usize],
    skipped: &'s mut Vec<Skipped>,
    /// Failures beyond those that are listed.
    more: usize,
}

/// So many failures are listed; a file of many blobs may have as many.
const MOST_FAILURES: usize = 100;

impl Skips<'_> {
    /// Something of a file that the caller did not choose to leave out.
    pub(super) fn failed(&mut self, file: usize, what: String, why: &Error) {
        if self.skipped.len() >= MOST_FAILURES {
            self.more = self.more.saturating_add(1);
            return;
        }
        let file = self.numbers.get(file).copied();
        self.skipped.push(Skipped { file, what, why: why.reason(), failed: true });
    }

    fn finish(&mut self) {
        if self.more > 0 {
            let what = format!("{} more", self.more);
            let why = "they could not be read either".to_owned();
            self.skipped.push(Skipped { file: None, what, why, failed: true });
        }
    }

    /// Something that the caller, or the format, left out.
    pub(super) fn left_out(&mut self, what: String, why: &str) {
        self.skipped.push(Skipped { file: None, what, why: why.to_owned(), failed: false });
    }

    fn changed(&mut self, files: &[&File]) {
        for (file, opened) in files.iter().enumerate() {
            if let Err(error) = opened.check_unchanged() {
                self.failed(file, "the file as it is now".to_owned(), &error);
            }
        }
    }

    fn damage(&mut self, files: &[&File]) {
        for (file, opened) in files.iter().enumerate() {
            let Some(damage) = opened.damage() else { continue };
            let what = format!("everything behind byte {}, and what is only missing from the files", opened.end());
            let failed = !matches!(damage.kind(), ErrorKind::Damaged | ErrorKind::Limit);
            let why = if failed { damage.reason() } else { "the file is damaged there".to_owned() };
            let file = self.numbers.get(file).copied();
            self.skipped.push(Skipped { file, what, why, failed });
        }
    }
}

fn unopened<'f>(subjects: &[Subject<'f>]) -> Vec<(usize, &'f Error)> {
    let numbered = subjects.iter().enumerate();
    let unopened = numbered.filter_map(|(number, subject)| match *subject {
        Subject::Unopened(error) => Some((number, error)),
        Subject::File(_) => None,
    });
    unopened.collect()
}

/// The damaged ones of the files that could not be opened; of the others it is said that they were not checked.
///
/// They are numbered behind the `opened` ones.
fn damaged<'f>(opened: usize, unopened: &[(usize, &'f Error)], skips: &mut Skips<'_>) -> Vec<(usize, &'f Error)> {
    let mut damaged = Vec::new();
    for (&(number, error), file) in unopened.iter().zip(opened..) {
        let is_finding = matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Limit);
        if is_finding {
            damaged.push((file, error));
        }
        let what = "the file, and what is only missing from the others".to_owned();
        let why = if is_finding { "the file is damaged".to_owned() } else { error.reason() };
        skips.skipped.push(Skipped { file: Some(number), what, why, failed: !is_finding });
    }
    damaged
}

fn models<'f>(linker: &Linker<'f>) -> (Vec<Model<'f>>, Vec<(Place, Error)>) {
    let mut models = Vec::new();
    let mut unreadable = Vec::new();
    for blob in linker.metadata() {
        match linker.model(blob) {
            Ok(model) => models.push(model),
            Err(error) => unreadable.push((Place::blob(blob.file, blob.blob.blob()), error)),
        }
    }
    (models, unreadable)
}

fn pickles<'f>(linker: &Linker<'f>, skips: &mut Skips<'_>) -> Vec<Pickled<'f>> {
    let mut pickles = Vec::new();
    for (file, opened) in linker.files.iter().enumerate() {
        for blob in opened.opaques() {
            match blob.pickle() {
                Ok(Some(pickle)) => pickles.push(Pickled { opaque: Linked { file, blob }, pickle }),
                Ok(None) => {}
                Err(error) => skips.failed(file, format!("the data of opaque blob {}", blob.blob().index()), &error),
            }
        }
    }
    pickles
}

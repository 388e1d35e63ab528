//! What is wrong with files before they are shipped: rules, each a small item, and their findings as data.
//!
//! A rule is a [`Rule`] in one of the tables of this folder's files: an id, words for people, and a function over the
//! [`Set`] of files, which keeps what several rules need.

#![deny(clippy::arithmetic_side_effects, reason = "counts and sizes from a file can wrap")]

mod content;
mod data;
mod file;
mod finding;
mod links;
mod loaders;
mod metadata;
mod options;
mod policy;
mod policy_rules;
mod quote;
mod rule;
mod safety;
mod set;

pub use finding::{Finding, Report, Severity, Skipped};
pub use options::{CheckOptions, Loader, Progress, Subject};
pub use policy::{Extent, Level, Policy, TensorDemand};
pub use rule::Rule;

use finding::Out;
use rule::When;
use set::Set;

/// Checks files that belong together, and says what is wrong with them.
///
/// All files count as one set: links cross them. Check models that have nothing to do with each other one by one.
/// Files are best opened with [`OpenOptions::damaged`](crate::OpenOptions::damaged), so that a damaged one is told of
/// with all else that is wrong; a `Result` of opening one is taken too.
///
/// ```
/// use popef::{CheckOptions, File, Model, Severity, check};
///
/// let files = [
///     File::open("../testdata/interop/split-executable.popef")?,
///     File::open("../testdata/interop/split-tensors.popef")?,
///     File::open("../testdata/interop/split-feeds.popef")?,
/// ];
/// for model in Model::link(&files)? {
///     for input in model.inputs_from_user() {
///         println!("you have to feed {} {:?}", input.name, input.tensor_info);
///     }
/// }
///
/// let report = check(&files, &CheckOptions::new());
/// for finding in &report.findings {
///     println!("{finding}\n  {}", finding.rule.mend);
/// }
/// for skipped in &report.skipped {
///     println!("{skipped}");
/// }
/// if report.worst() == Some(Severity::Error) {
///     return Err("not to be shipped".into());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check<'f>(files: impl IntoIterator<Item: Into<Subject<'f>>>, options: &CheckOptions) -> Report {
    check_with_progress(files, options, &mut |_| {})
}

/// The same, telling how far the reading of contents has come; only a [deep](CheckOptions::deep) check reads them.
pub fn check_with_progress<'f>(
    files: impl IntoIterator<Item: Into<Subject<'f>>>,
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress),
) -> Report {
    let subjects: Vec<Subject<'f>> = files.into_iter().map(Into::into).collect();
    let mut report = Report::default();
    let set = Set::of(&subjects, options, progress, &mut report.skipped);
    for rule in Rule::all().filter(|rule| applies(rule, options)) {
        if let Some(severity) = options.severity_of(rule) {
            let mut out = Out::new(rule, severity, &set.numbers, &mut report);
            (rule.run)(&set, &mut out);
            out.finish();
        }
    }
    report.sort();
    report
}

fn applies(rule: &Rule, options: &CheckOptions) -> bool {
    match rule.when {
        When::Always => true,
        When::Deep => options.is_deep(),
        When::Loader(loader) => options.loaders().contains(&loader),
        When::Policy => options.policy_of().is_some(),
    }
}

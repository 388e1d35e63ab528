//! What is wrong with files before they are shipped: rules, each a small item, and their findings as data.
//!
//! [`check()`] goes through files that belong together, by [`CheckOptions`], and gives a [`Report`] of [`Finding`]s.
//!
//! ```text
//! files ──► Links ──► one pass over all blobs ──► rules over all files ──► Report
//!                     rules of blobs, of models,
//!                     of opaque blobs, of data
//! ```
//!
//! A [`Rule`] is words for people; inside, the tables in `rules/` bring it together with what it looks at. A model, a
//! pickle, and what reading a blob's data found live only as long as the pass is at their blob.

#![deny(clippy::arithmetic_side_effects, reason = "counts and sizes from a file can wrap")]

mod alike;
mod finding;
mod findings;
mod given;
mod loader;
mod marks;
mod oddness;
mod options;
mod pass;
mod policy;
mod rule;
mod rules;
mod run;
mod scan;
mod set;
mod severity;
mod skips;
mod start;
mod words;

pub use finding::{Finding, Report, Skipped};
pub use loader::Loader;
pub use options::{CheckOptions, Progress, Subject};
pub use policy::{Extent, Level, Policy, TensorDemand};
pub use rule::Rule;
pub use severity::Severity;

/// Checks files that belong together, and says what is wrong with them.
///
/// All files count as one set: links cross them. Check models that have nothing to do with each other one by one.
/// Files are best opened with [`OpenOptions::damaged`](crate::OpenOptions::damaged), so that a damaged one is told of
/// with all else that is wrong; a `Result` of opening one is taken too.
///
/// ```
/// use popef::check::{CheckOptions, Severity, check};
/// use popef::{File, Model};
///
/// let files = [
///     File::open("examples/data/split-executable.popef")?,
///     File::open("examples/data/split-tensors.popef")?,
///     File::open("examples/data/split-feeds.popef")?,
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

/// Checks files as [`check`] does, and tells how far the reading of contents has come; only a
/// [deep](CheckOptions::deep) check reads them.
pub fn check_with_progress<'f>(
    files: impl IntoIterator<Item: Into<Subject<'f>>>,
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress),
) -> Report {
    let subjects: Vec<Subject<'f>> = files.into_iter().map(Into::into).collect();
    pass::check(&subjects, options, progress)
}

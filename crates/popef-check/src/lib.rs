//! Checks files before they are shipped: rules and their findings, as data.
//!
//! [`check()`] checks files that belong together, and returns a [`Report`] of [`Finding`]s. [`CheckOptions`] select the rules.
//!
//! ```text
//! files ──► Links ──► one pass over all blobs ──► rules over all files ──► Report
//!                     rules of blobs, of models,
//!                     of opaque blobs, of data
//! ```
//!
//! A [`Rule`] is a text for people. The tables in `rules/` combine it with the function that checks it. A model, a pickle and
//! the results of reading a blob's data exist only while the pass is at their blob.

#![deny(clippy::arithmetic_side_effects, reason = "counts and sizes from a file can wrap")]

mod alike;
mod findings;
mod frameworks;
mod given;
mod marks;
mod oddness;
mod options;
mod origin;
mod pass;
mod policy;
mod rules;
mod run;
mod scan;
mod set;
mod skips;
mod start;
mod tiles;
mod words;

use std::borrow::Cow;
use std::ops::ControlFlow;

use popef::types::EngineOption;

pub use options::{CheckOptions, Progress, Subject};
pub use origin::{Origin, origin_of};
pub use policy::{Extent, Policy, TensorDemand};
pub use popef_findings::{
    Finding, InspectArchive, Inspection, Level, Loader, Report, Rule, Severity, Skipped, Unlisted, When,
};
pub use rules::{rule_by_id, rule_groups, rules};

/// Checks files that belong together, and reports what is wrong with them.
///
/// All files are one set: blobs of one can refer to blobs of another. Check unrelated models separately. It is best to open
/// files with [`OpenOptions::damaged`](popef::OpenOptions::damaged), because then the undamaged part of a damaged file is
/// checked too. The `Result` of opening a file is also accepted. A file that was opened with
/// [`File::from_stream`](popef::File::from_stream) has no data to check, and does not [pass](Report::passes) if an opaque blob in it
/// may be a dangerous pickle.
///
/// ```
/// use popef_check::{CheckOptions, check};
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
///     println!("{finding}\n  {}", finding.rule.fix);
/// }
/// for skipped in &report.skipped {
///     println!("{skipped}");
/// }
/// // False also if a dangerous pickle may be where the check could not look, as in a stream that was not kept.
/// if !report.passes(true) {
///     return Err("not to be shipped".into());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check<'f>(files: impl IntoIterator<Item: Into<Subject<'f>>>, options: &CheckOptions) -> Report {
    check_with_progress(files, options, &mut |_| ControlFlow::Continue(()))
}

/// Returns whether an option of the engine or the device looks like a password, a key or a token, by its name or by the form of its
/// value. Such a value should not be shown.
///
/// ```
/// use popef_check::looks_like_credential;
/// use popef::types::EngineOption;
///
/// assert!(looks_like_credential(&EngineOption { name: "db.password".into(), value: "hunter2".into() }));
/// ```
pub fn looks_like_credential(option: &EngineOption) -> bool {
    rules::is_credential(option)
}

/// Returns an option as others may see it: words replace a value that [looks like a credential](looks_like_credential).
pub fn shown_option(option: &EngineOption) -> Cow<'_, EngineOption> {
    if !looks_like_credential(option) {
        return Cow::Borrowed(option);
    }
    let value = "(not shown: it looks like a credential; popef dump -m shows it)".into();
    Cow::Owned(EngineOption { name: option.name.clone(), value })
}

/// Checks files like [`check`], and reports how much data was read. Only a [deep](CheckOptions::deep) check reads all data.
///
/// [`Break`](ControlFlow::Break) stops the check. The report then has what was found until then, and is not
/// [complete](Report::is_complete).
pub fn check_with_progress<'f>(
    files: impl IntoIterator<Item: Into<Subject<'f>>>,
    options: &CheckOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Report {
    let subjects: Vec<Subject<'f>> = files.into_iter().map(Into::into).collect();
    pass::check(&subjects, options, progress)
}

use super::loader::Loader;
use super::policy::Policy;
use super::rule::Rule;
use super::severity::Severity;
use crate::error::Error;
use crate::read::File;

/// What a check looks at beyond what it always does.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    deep: bool,
    loaders: Vec<Loader>,
    policy: Option<Policy>,
}

impl CheckOptions {
    /// Headers, info messages and opaque blobs; no loader's own demands, no policy.
    pub fn new() -> Self {
        CheckOptions::default()
    }

    /// Whether to read all tensors, feeds and executables too. Memory stays small, but it takes its time.
    pub fn deep(&mut self, deep: bool) -> &mut Self {
        self.deep = deep;
        self
    }

    /// Checks what this loader demands on top; several can be asked for, one after the other.
    pub fn loader(&mut self, loader: Loader) -> &mut Self {
        if !self.loaders.contains(&loader) {
            self.loaders.push(loader);
        }
        self
    }

    /// Checks a policy, and lets it change the rules' severities.
    pub fn policy(&mut self, policy: Policy) -> &mut Self {
        self.policy = Some(policy);
        self
    }

    pub(super) fn is_deep(&self) -> bool {
        self.deep
    }

    pub(super) fn loaders(&self) -> &[Loader] {
        &self.loaders
    }

    pub(super) fn policy_of(&self) -> Option<&Policy> {
        self.policy.as_ref()
    }

    /// The severity of a rule's findings; none if it is off.
    pub(super) fn severity_of(&self, rule: &Rule) -> Option<Severity> {
        self.policy.as_ref().map_or(Some(rule.severity), |policy| policy.severity_of(rule))
    }
}

/// How far the reading of contents has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The bytes read so far.
    pub done: u64,
    /// All that will be read.
    pub total: u64,
}

/// A file to check: opened, or why it could not be.
///
/// It is made of a `&File` or a `&Result<File, Error>`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Subject<'f> {
    /// An opened file.
    File(&'f File),
    /// One that could not be opened. If it is damaged, that is a finding; else the report is not complete.
    Unopened(&'f Error),
}

impl<'f> From<&'f File> for Subject<'f> {
    fn from(file: &'f File) -> Self {
        Subject::File(file)
    }
}

impl<'f> From<&'f Result<File, Error>> for Subject<'f> {
    fn from(opened: &'f Result<File, Error>) -> Self {
        match opened {
            Ok(file) => Subject::File(file),
            Err(error) => Subject::Unopened(error),
        }
    }
}

use super::policy::Policy;
use popef::error::Error;
use popef::read::File;
use popef_findings::InspectArchive;
use popef_findings::Loader;
use popef_findings::Rule;
use popef_findings::Severity;

/// The rule about names that are not known. Its findings are errors where the pickle will be loaded, and where a policy can list what is
/// known.
pub(super) const UNKNOWN_IMPORTS: &str = "PE503";

/// What a check does in addition to the rules that always apply.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    deep: bool,
    inspect: Option<InspectArchive>,
    loaders: Vec<Loader>,
    policy: Option<Policy>,
}

impl CheckOptions {
    /// Only the rules that always apply: they read headers, info messages, opaque blobs and the first bytes of executables.
    pub fn new() -> Self {
        CheckOptions::default()
    }

    /// Sets whether all tensors, feeds and executables are read too. This takes time but little memory.
    pub fn deep(&mut self, deep: bool) -> &mut Self {
        self.deep = deep;
        self
    }

    /// Also checks the tiles inside Poplar executables, if the check is [deep](Self::deep). This library does not know the
    /// format of their archives. The function does; the crate `poplar-inspect` can be used for one.
    pub fn inspect_archives(&mut self, inspect: InspectArchive) -> &mut Self {
        self.inspect = Some(inspect);
        self
    }

    /// Also checks what this loader requires. Can be called for several loaders.
    pub fn loader(&mut self, loader: Loader) -> &mut Self {
        if !self.loaders.contains(&loader) {
            self.loaders.push(loader);
        }
        self
    }

    /// Also checks a policy, which can change the severities of rules.
    pub fn policy(&mut self, policy: Policy) -> &mut Self {
        self.policy = Some(policy);
        self
    }

    pub(super) fn is_deep(&self) -> bool {
        self.deep
    }

    /// The function that inspects archives, if the check reads any.
    pub(super) fn inspect(&self) -> Option<InspectArchive> {
        self.inspect.filter(|_| self.deep)
    }

    pub(super) fn loaders(&self) -> &[Loader] {
        &self.loaders
    }

    pub(super) fn policy_of(&self) -> Option<&Policy> {
        self.policy.as_ref()
    }

    /// The severity of a rule's findings. `None` if it is off.
    pub(super) fn severity_of(&self, rule: &Rule) -> Option<Severity> {
        let severity = if self.is_stricter(rule) { Severity::Error } else { rule.severity };
        self.policy.as_ref().map_or(Some(severity), |policy| policy.severity_of(rule, severity))
    }

    /// Whether a rule is more than a warning: PopTorch loads the pickle, and a policy can list what is known.
    fn is_stricter(&self, rule: &Rule) -> bool {
        rule.id == UNKNOWN_IMPORTS && (self.policy.is_some() || self.loaders.contains(&Loader::Poptorch))
    }
}

/// How much of the data was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The bytes read so far.
    pub done: u64,
    /// The bytes that will be read in all.
    pub total: u64,
}

/// A file to check, or the error from opening it.
///
/// Made from a `&File` or a `&Result<File, Error>`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Subject<'f> {
    /// An opened file.
    File(&'f File),
    /// A file that could not be opened. If it is damaged, that is a finding. Otherwise the report is not complete.
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

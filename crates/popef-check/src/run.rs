//! What runs a rule: one function for each kind of subject that the rule checks.

use super::findings::{Findings, Spot};
use super::scan::Scanned;
use super::set::Set;
use super::start::Stored;
use super::words::quote;
use popef::error::Error;
use popef::model::{Linked, Model};
use popef::read::{Blob, ExecutableBlob, OpaqueBlob};
use popef::types::Text;
use popef_payload::pickle::Pickle;
use popef_payload::{Framework, Payload};

/// A rule and the functions that run it.
pub(super) type Check = popef_findings::Check<Run>;

/// All files together, after the pass over their blobs.
type OfSet = fn(&Set, &mut Findings<'_>);
/// A blob of any type.
type OfBlob = fn(&Set, &Linked<Blob<'_>>, &mut Findings<'_>);
/// A model.
type OfModel = fn(&Set, &Model, &mut Findings<'_>);
/// A framework's data about a model.
type OfPayload = fn(&Said<'_>, &mut Findings<'_>);
/// A metadata blob that cannot be read within its file's limits.
type OfUnreadable = fn(&Linked<Blob<'_>>, &Error, &mut Findings<'_>);
/// An opaque blob, with its pickle if it is one.
type OfOpaque = fn(&Set, &Linked<OpaqueBlob<'_>>, Option<&Pickle>, &mut Findings<'_>);
/// A pickle in an opaque blob or before the first blob.
type OfPickle = fn(&Set, &Pickled<'_>, &mut Findings<'_>);
/// An executable, with what its first bytes show.
type OfExecutable = fn(&Linked<ExecutableBlob<'_>>, &Stored, &mut Findings<'_>);
/// What reading the data of a blob found.
type OfData = fn(&Linked<Blob<'_>>, &Scanned, &mut Findings<'_>);

/// A model, and what a framework put into an opaque blob for its executable.
#[cfg_attr(
    not(any(feature = "popart", feature = "poptorch", feature = "tensorflow")),
    expect(dead_code, reason = "such a build reads no payload")
)]
pub(super) struct Said<'p> {
    pub(super) model: &'p Model,
    pub(super) opaque: Linked<OpaqueBlob<'p>>,
    pub(super) payload: &'p Payload<'p>,
}

/// A pickle, and where it is.
pub(super) struct Pickled<'p> {
    pub(super) pickle: &'p Pickle,
    /// Where its data begins.
    pub(super) start: Spot,
    /// The name of the opaque blob. `None` if it comes before the first blob.
    pub(super) name: Option<Text<'p>>,
}

impl Pickled<'_> {
    /// The place of a byte in the data.
    pub(super) fn place(&self, offset: u64) -> Spot {
        Spot { offset: self.start.offset.map(|start| start.saturating_add(offset)), ..self.start }
    }

    /// Whether it is where PopTorch puts its data.
    pub(super) fn is_poptorch(&self) -> bool {
        self.name.as_ref().is_none_or(|name| Framework::of_name(name) == Some(Framework::Poptorch))
    }

    /// What a finding calls a pickle in an archive, if it is in one.
    pub(super) fn named_in(&self, member: Option<&str>) -> String {
        let named = self.named();
        member.map_or_else(|| named.clone(), |member| format!("{} in {named}", quote(&member.into())))
    }

    /// What a finding calls it.
    pub(super) fn named(&self) -> String {
        self.name
            .as_ref()
            .map_or_else(|| "the start of the file".to_owned(), |name| format!("opaque blob {}", quote(name)))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) set: Option<OfSet>,
    pub(super) blob: Option<OfBlob>,
    pub(super) model: Option<OfModel>,
    pub(super) payload: Option<(Framework, OfPayload)>,
    pub(super) unreadable: Option<OfUnreadable>,
    pub(super) opaque: Option<OfOpaque>,
    pub(super) pickle: Option<OfPickle>,
    pub(super) executable: Option<OfExecutable>,
    pub(super) data: Option<OfData>,
}

const NOTHING: Run = Run {
    set: None,
    blob: None,
    model: None,
    payload: None,
    unreadable: None,
    opaque: None,
    pickle: None,
    executable: None,
    data: None,
};

pub(super) const fn set(run: OfSet) -> Run {
    Run { set: Some(run), ..NOTHING }
}

pub(super) const fn blob(run: OfBlob) -> Run {
    Run { blob: Some(run), ..NOTHING }
}

pub(super) const fn model(run: OfModel) -> Run {
    Run { model: Some(run), ..NOTHING }
}

pub(super) const fn payload(framework: Framework, run: OfPayload) -> Run {
    Run { payload: Some((framework, run)), ..NOTHING }
}

pub(super) const fn blob_and_model(blob: OfBlob, model: OfModel) -> Run {
    Run { blob: Some(blob), model: Some(model), ..NOTHING }
}

pub(super) const fn set_and_unreadable(set: OfSet, unreadable: OfUnreadable) -> Run {
    Run { set: Some(set), unreadable: Some(unreadable), ..NOTHING }
}

pub(super) const fn opaque(run: OfOpaque) -> Run {
    Run { opaque: Some(run), ..NOTHING }
}

pub(super) const fn pickle(run: OfPickle) -> Run {
    Run { pickle: Some(run), ..NOTHING }
}

pub(super) const fn opaque_pickle_and_set(opaque: OfOpaque, pickle: OfPickle, set: OfSet) -> Run {
    Run { opaque: Some(opaque), pickle: Some(pickle), set: Some(set), ..NOTHING }
}

pub(super) const fn executable(run: OfExecutable) -> Run {
    Run { executable: Some(run), ..NOTHING }
}

pub(super) const fn executable_and_data(executable: OfExecutable, data: OfData) -> Run {
    Run { executable: Some(executable), data: Some(data), ..NOTHING }
}

pub(super) const fn data(run: OfData) -> Run {
    Run { data: Some(run), ..NOTHING }
}

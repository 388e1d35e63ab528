//! What changes in which blob, and the file with the changes.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use popef::types::{BlobType, ElementSources, InfoRef, OpaqueInfo, TensorDataInfo, Text};
use popef::write::BlobCopy;
use popef::{Blob, File, Metadata};
use serde_json::json;

use super::compare::{FieldChange, compare};
use super::edited::Edited;
use super::findings::{NewFinding, new_findings};
use super::renames::Names;
use super::verify::Verify;
use super::weights::{Place, Weights, check_names, inputs, is_same, place, with_surplus};
use super::{BlobChange, Change, Changes, Outcome};
use crate::error::{Code, Error};
use crate::listed::name_of;
use crate::near::{self, quoted};
use crate::output::{Output, Target};
use crate::progress::Progress;

/// The changes to a file, found to be possible. Nothing is written before [`write`](Plan::write).
///
/// ```
/// use popef_ops::set::{Change, Changes, FieldPath, Plan};
/// use popef_ops::{Overwrite, Silent, Target};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.popef");
/// # let mut writer = popef::Writer::create(&path)?;
/// # writer.write_executable("model", b"its bytes")?;
/// # writer.write_metadata(&popef::Metadata { executable: "model".into(), ..Default::default() })?;
/// # writer.finish()?;
/// let file = popef::File::open(&path)?;
/// let (field, value) = FieldPath::parse_assignment("numIpus=4")?;
/// let changes = Changes { fields: vec![Change::Set(field, value)], ..Changes::default() };
///
/// let plan = Plan::of(&file, &changes, &|_| true, &Silent)?;
/// assert_eq!(plan.changes().next().unwrap().changes[0].field, "numIpus");
/// plan.write(Target::Path(&path, Overwrite::Inputs), false, &Silent)?;
/// assert_eq!(popef::File::open(&path)?.metadata().next().unwrap().read()?.num_ipus, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<'f> {
    pub(super) file: &'f File,
    pub(super) edits: BTreeMap<usize, Edit>,
    changes: BTreeMap<usize, BlobChange>,
    /// Tensors that come behind all other blobs.
    pub(super) added: Vec<(TensorDataInfo, Weights)>,
    /// The version that some blobs get, and for each blob whether it does. A file may have millions of them.
    version: Text<'static>,
    versioned: Vec<bool>,
}

/// What a blob gets.
#[derive(Default)]
pub(super) struct Edit {
    pub(super) name: Option<Text<'static>>,
    pub(super) info: Option<NewInfo>,
    /// New data, and how many bytes of the old data it replaces.
    pub(super) data: Option<(Weights, u64)>,
}

pub(super) enum NewInfo {
    Metadata(Box<Metadata>, ElementSources),
    Opaque(OpaqueInfo),
}

impl<'f> Plan<'f> {
    /// Finds what the changes come to. `chosen` are the blobs that may be renamed, or get another version.
    pub fn of(
        file: &'f File,
        changes: &Changes,
        chosen: &dyn Fn(&Blob<'_>) -> bool,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let mut plan = Plan {
            file,
            edits: BTreeMap::new(),
            changes: BTreeMap::new(),
            added: Vec::new(),
            version: Text::default(),
            versioned: Vec::new(),
        };
        plan.find(changes, chosen, progress).map_err(|error| error.in_file(file.path().unwrap_or("-".as_ref())))?;
        Ok(plan)
    }

    fn find(
        &mut self,
        changes: &Changes,
        chosen: &dyn Fn(&Blob<'_>) -> bool,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let old = self.old_metadata(changes)?;
        check_names(&changes.weights)?;
        let inputs = changes.add_missing.then(|| inputs(&old));
        for weights in &changes.weights {
            let placed = place(self.file, &weights.array, chosen, inputs.as_ref());
            let changed = placed.and_then(|place| self.change_data(weights, place, progress));
            changed.map_err(|error| error.in_file(&weights.path))?;
        }
        let names = Names::of(self.file, &changes.renames, !changes.keep_references, chosen, &old)?;
        let model = if changes.fields.is_empty() { None } else { Some(model(self.file, changes.model.as_ref())?) };
        for (index, metadata) in old {
            let fields = if model == Some(index) { changes.fields.as_slice() } else { &[] };
            if !fields.is_empty() || names.concern(&metadata) {
                self.change_metadata(index, &metadata, fields, &names)?;
            }
        }
        for blob in self.file.blobs() {
            self.change_names(&blob, &names);
        }
        if let Some(version) = &changes.version {
            let is_new = |blob: Blob<'_>| blob.version() != *version && chosen(&blob);
            self.versioned = self.file.blobs().map(is_new).collect();
            self.version = version.clone();
        }
        Ok(())
    }

    /// All metadata that may change.
    fn old_metadata(&self, changes: &Changes) -> Result<BTreeMap<usize, Metadata>, Error> {
        if changes.fields.is_empty() && changes.renames.is_empty() && !changes.add_missing {
            return Ok(BTreeMap::new());
        }
        let all = self.file.metadata();
        all.map(|metadata| Ok((metadata.blob().index(), metadata.read()?))).collect()
    }

    fn change_metadata(
        &mut self,
        index: usize,
        metadata: &Metadata,
        fields: &[Change],
        names: &Names,
    ) -> Result<(), Error> {
        let mut edited = Edited::of(metadata.clone());
        for change in fields {
            match change {
                Change::Set(path, given) => edited.set(&path.0, given)?,
                Change::Unset(path) => edited.unset(&path.0)?,
                Change::Merge(patch) => edited.merge(patch)?,
            }
        }
        let (mut new, sources) = edited.into_parts();
        names.follow(&mut new);
        let changes = compare(metadata, &new, &sources);
        if !changes.is_empty() {
            self.edit(index).info = Some(NewInfo::Metadata(Box::new(new), sources));
            self.tell(index, changes);
        }
        Ok(())
    }

    fn change_names(&mut self, blob: &Blob<'_>, names: &Names) {
        let index = blob.index();
        if let (Some(new), Some(old)) = (names.of_blob(index), blob.name())
            && *new != old
        {
            self.edit(index).name = Some(new.clone());
            self.tell(index, vec![FieldChange::of("name", json!(old.to_string()), json!(new.to_string()))]);
        }
        if let Some(opaque) = blob.as_opaque()
            && let Some(new) = names.of_executable(&opaque.executable())
        {
            let info = OpaqueInfo { executable: new.clone(), ..opaque.info() };
            let old = opaque.executable().to_string();
            if info.executable != opaque.executable() {
                self.edit(index).info = Some(NewInfo::Opaque(info));
                self.tell(index, vec![FieldChange::of("executable", old, new.to_string())]);
            }
        }
    }

    fn change_data(&mut self, weights: &Weights, place: Place, progress: &dyn Progress) -> Result<(), Error> {
        match place {
            Place::Blob(index, len) => {
                let Some(blob) = self.file.blob(index) else { return Ok(()) };
                if !is_same(&weights.array, blob.data(), len, progress)? {
                    self.edit(index).data = Some((weights.clone(), len));
                    let old = json!({ "sizeInBytes": len });
                    self.tell(index, vec![FieldChange::of("data", old, weights.described(len))]);
                }
            }
            Place::New(info) => {
                let index = self.file.len().saturating_add(self.added.len());
                let size = info.tensor_info.size_in_bytes()?;
                let changes = vec![FieldChange::of("data", json!(null), weights.described(size))];
                let (name, blob_type) = (info.name.clone().into(), BlobType::DataTensor.to_string());
                self.changes.insert(index, BlobChange { blob: index, blob_type, name, changes });
                self.added.push((info, weights.clone()));
            }
        }
        Ok(())
    }

    fn edit(&mut self, index: usize) -> &mut Edit {
        self.edits.entry(index).or_default()
    }

    fn tell(&mut self, index: usize, changes: Vec<FieldChange>) {
        let Some(blob) = self.file.blob(index) else { return };
        self.changes.entry(index).or_insert_with(|| unchanged(&blob)).changes.extend(changes);
    }

    /// All changes, in the order of the blobs.
    pub fn changes(&self) -> impl Iterator<Item = BlobChange> {
        let blobs = self.file.len().saturating_add(self.added.len());
        (0..blobs).filter_map(|index| self.change_of(index))
    }

    fn change_of(&self, index: usize) -> Option<BlobChange> {
        let change = self.changes.get(&index).cloned();
        let Some(version) = self.version_of(index) else { return change };
        let blob = self.file.blob(index)?;
        let mut change = change.unwrap_or_else(|| unchanged(&blob));
        change.changes.push(FieldChange::of("version", blob.version().to_string(), version.to_string()));
        Some(change)
    }

    /// The version that a blob gets, if it gets one.
    pub(super) fn version_of(&self, index: usize) -> Option<&Text<'static>> {
        self.versioned.get(index).is_some_and(|versioned| *versioned).then_some(&self.version)
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.added.is_empty() && !self.versioned.contains(&true)
    }

    /// Writes the file with the changes. Everything else is copied as it is. With `strict`, nothing is written if the
    /// library's checks find something in the new file that they do not find in the old one.
    pub fn write(&self, target: Target<'_>, strict: bool, progress: &dyn Progress) -> Result<Outcome, Error> {
        progress.expect(self.file.size());
        let mut output = Output::begin(target, [self.file], progress)?;
        output.prefix_of(self.file)?;
        self.write_blobs(&mut output)?;
        let verify = Verify { plan: self, progress };
        let mut found = None;
        let size = output.finish_checked(|written| {
            verify.check(written)?;
            let findings = new_findings(self.file, written);
            if strict && !findings.is_empty() {
                return Err(refused(&findings));
            }
            found = Some(findings);
            Ok(())
        })?;
        Ok(Outcome { size: size.size, new_findings: found })
    }

    /// Blobs whose data stays are copied together.
    fn write_blobs(&self, output: &mut Output<'_>) -> Result<(), Error> {
        let copies =
            |range: Range<usize>| range.filter_map(|index| self.file.blob(index)).map(|blob| self.copy_of(blob));
        let mut copied = 0;
        for (&index, edit) in &self.edits {
            let (Some((weights, len)), Some(blob)) = (&edit.data, self.file.blob(index)) else { continue };
            output.copy_all(copies(copied..index))?;
            let mut data = with_surplus(&weights.array, blob.data(), *len)?;
            output.refilled(self.copy_of(blob), &mut data).map_err(|error| error.in_file(&weights.path))?;
            copied = index.saturating_add(1);
        }
        output.copy_all(copies(copied..self.file.len()))?;
        for (info, weights) in &self.added {
            output.tensor(info, &mut weights.array.reader()?).map_err(|error| error.in_file(&weights.path))?;
        }
        Ok(())
    }

    fn copy_of<'b>(&'b self, blob: Blob<'b>) -> BlobCopy<'b> {
        let mut copy = BlobCopy::of(&blob);
        if let Some(version) = self.version_of(blob.index()) {
            copy = copy.version(version.by_ref());
        }
        let Some(edit) = self.edits.get(&blob.index()) else { return copy };
        copy = match &edit.info {
            Some(NewInfo::Metadata(metadata, sources)) => copy.info(InfoRef::Metadata(metadata)).sources(sources),
            Some(NewInfo::Opaque(info)) => copy.info(InfoRef::Opaque(info)),
            None => copy,
        };
        if let Some(name) = &edit.name {
            copy = copy.name(name.by_ref());
        }
        copy
    }
}

fn unchanged(blob: &Blob<'_>) -> BlobChange {
    let (name, blob_type) = (name_of(blob).into(), blob.blob_type().to_string());
    BlobChange { blob: blob.index(), blob_type, name, changes: Vec::new() }
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("file", &self.file).field("changes", &self.changes).finish_non_exhaustive()
    }
}

/// The index of the metadata that is meant.
fn model(file: &File, executable: Option<&Text<'_>>) -> Result<usize, Error> {
    let all: Vec<_> = file.blobs().filter_map(|blob| blob.as_metadata()).collect();
    let is_meant = |name: &Text<'_>| executable.is_none_or(|executable| executable == name);
    let meant: Vec<_> = all.iter().filter(|metadata| is_meant(&metadata.executable())).collect();
    let names = || all.iter().map(|metadata| metadata.executable().to_string());
    match (meant.as_slice(), executable) {
        ([only], _) => Ok(only.blob().index()),
        ([], None) => Err(Error::new(Code::NoSuchName, "the file has no metadata")),
        ([], Some(executable)) => {
            let near = near::hint(&executable.to_string(), names());
            let known = if near.is_empty() { format!("; there is metadata of {}", listed(names())) } else { near };
            Err(Error::new(
                Code::NoSuchName,
                format!("there is no metadata of executable {}{known}", quoted(executable)),
            ))
        }
        (several, _) => {
            let message =
                format!("the file has {} metadata, of {}; which one is meant?", several.len(), listed(names()));
            Err(Error::new(Code::Ambiguous, message))
        }
    }
}

/// Names, as many as can be read.
fn listed(names: impl Iterator<Item = String>) -> String {
    const MOST: usize = 20;
    let mut names: Vec<_> = names.map(|name| quoted(&name)).take(MOST.saturating_add(1)).collect();
    if names.len() > MOST {
        names.truncate(MOST);
        names.push("more".to_owned());
    }
    names.join(", ")
}

fn refused(findings: &[NewFinding]) -> Error {
    let all: Vec<_> =
        findings.iter().map(|finding| format!("{} {}: {}", finding.severity, finding.rule, finding.message)).collect();
    Error::new(
        Code::NewFindings,
        format!("nothing was written, because checks find more than before: {}", all.join("; ")),
    )
}

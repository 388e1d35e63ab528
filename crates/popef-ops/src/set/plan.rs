//! What changes in which blob.

use std::collections::BTreeMap;
use std::fmt;

use popef::types::{BlobType, OpaqueInfo, Text};
use popef::{Blob, File, Metadata};
use serde_json::json;

use super::arrays::Arrays;
use super::compare::{FieldChange, compare};
use super::edit::{Added, Edit, NewData, NewInfo};
use super::edited::Edited;
use super::place::{Inputs, Place, elements_len, inputs, is_same, place, surplus};
use super::renames::Names;
use super::{BlobChange, Change, Changes};
use crate::error::{Code, Error};
use crate::listed::name_of;
use crate::near::{did_you_mean, quoted};
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
    pub(super) wanted: &'f Changes,
    pub(super) weights: Arrays,
    /// New names and infos, by the blob's number.
    pub(super) edits: BTreeMap<usize, Edit>,
    /// New data, in the order of the blobs.
    pub(super) data: Vec<NewData>,
    pub(super) added: Vec<Added>,
    /// For each blob, whether it gets the wanted version. Empty if no version is wanted.
    versioned: Vec<bool>,
}

impl<'f> Plan<'f> {
    /// Works out the changes. `chosen` are the blobs that may be renamed or get new fields, data or another version.
    /// References to a renamed blob get its new name too, in all blobs.
    pub fn of(
        file: &'f File,
        changes: &'f Changes,
        chosen: &dyn Fn(&Blob<'_>) -> bool,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let weights = Arrays::of(&changes.weights, file)?;
        let (edits, data, added, versioned) = Default::default();
        let mut plan = Plan { file, wanted: changes, weights, edits, data, added, versioned };
        plan.find(chosen, progress).map_err(|error| match file.path() {
            Some(path) => error.in_file(path),
            None => error,
        })?;
        Ok(plan)
    }

    fn find(&mut self, chosen: &dyn Fn(&Blob<'_>) -> bool, progress: &dyn Progress) -> Result<(), Error> {
        let changes = self.wanted;
        let old = self.old_metadata(changes)?;
        let inputs = changes.add_missing.then(|| inputs(&old));
        progress.expect(self.weights.total());
        for number in 0..self.weights.len() {
            let changed = self.change_data(number, chosen, inputs.as_ref(), progress);
            changed.map_err(|error| self.weights.in_file(number, error))?;
        }
        self.data.sort_by_key(NewData::blob);
        if changes.drop_surplus {
            let has = |blob: &Blob<'_>| surplus(blob) > 0 && chosen(blob) && self.data_of(blob.index()).is_none();
            let more: Vec<_> =
                self.file.blobs().filter(has).map(|blob| NewData::without_surplus(blob.index())).collect();
            self.data.extend(more);
            self.data.sort_by_key(NewData::blob);
        }
        let names = Names::of(self.file, &changes.renames, !changes.keep_references, chosen, &old)?;
        let model =
            if changes.fields.is_empty() { None } else { Some(model(self.file, changes.model.as_ref(), chosen)?) };
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
                Change::Merge(patch, from) => edited.merge(patch).map_err(|error| match from {
                    Some(path) => error.in_file(path),
                    None => error,
                })?,
            }
        }
        let (mut new, sources) = edited.into_parts();
        names.follow(&mut new);
        let changes = compare(metadata, &new, &sources);
        if !changes.is_empty() {
            let edit = self.edit(index);
            edit.info = Some(NewInfo::Metadata(Box::new(new), sources));
            edit.changes.extend(changes);
        }
        Ok(())
    }

    fn change_names(&mut self, blob: &Blob<'_>, names: &Names) {
        let index = blob.index();
        if let (Some(new), Some(old)) = (names.of_blob(index), blob.name())
            && *new != old
        {
            let edit = self.edit(index);
            edit.name = Some(new.clone());
            edit.changes.push(FieldChange::of("name", old.to_string(), new.to_string()));
        }
        if let Some(opaque) = blob.as_opaque()
            && let Some(new) = names.of_executable(&opaque.executable())
        {
            let info = OpaqueInfo { executable: new.clone(), ..opaque.info() };
            let old = opaque.executable().to_string();
            if info.executable != opaque.executable() {
                let edit = self.edit(index);
                edit.info = Some(NewInfo::Opaque(info));
                edit.changes.push(FieldChange::of("executable", old, new.to_string()));
            }
        }
    }

    fn change_data(
        &mut self,
        number: usize,
        chosen: &dyn Fn(&Blob<'_>) -> bool,
        inputs: Option<&Inputs<'_>>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let array = self.weights.get(number)?;
        match place(self.file, &array, chosen, inputs)? {
            Place::Blob(blob) if is_same(&array, &blob, progress)? => {}
            Place::Blob(blob) => self.data.push(NewData::of(blob.index(), number)),
            Place::New(info) => {
                progress.add(info.tensor_info.size_in_bytes().unwrap_or(0))?;
                self.added.push(Added { info, weights: number });
            }
        }
        Ok(())
    }

    fn edit(&mut self, index: usize) -> &mut Edit {
        self.edits.entry(index).or_default()
    }

    /// A blob's new data, if it gets any.
    pub(super) fn data_of(&self, index: usize) -> Option<&NewData> {
        let found = self.data.binary_search_by_key(&index, NewData::blob).ok()?;
        self.data.get(found)
    }

    /// The length of the data that a blob gets.
    pub(super) fn new_data_len(&self, blob: &Blob<'_>) -> u64 {
        let drops = self.wanted.drop_surplus && self.data_of(blob.index()).is_some();
        if drops { elements_len(blob) } else { blob.data().len() }
    }

    /// The version that a blob gets, if it gets one.
    pub(super) fn version_of(&self, index: usize) -> Option<&Text<'static>> {
        self.wanted.version.as_ref().filter(|_| self.versioned.get(index) == Some(&true))
    }

    /// How many blobs change or are added.
    pub fn len(&self) -> usize {
        let is_changed = |index: &usize| {
            self.edits.contains_key(index) || self.data_of(*index).is_some() || self.version_of(*index).is_some()
        };
        (0..self.file.len()).filter(is_changed).count().saturating_add(self.added.len())
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.data.is_empty() && self.added.is_empty() && !self.versioned.contains(&true)
    }

    /// All changes, in the order of the blobs. They are made one by one: there may be millions.
    pub fn changes(&self) -> impl Iterator<Item = BlobChange> {
        let changed = self.file.blobs().filter_map(|blob| self.change_of(&blob));
        changed.chain(self.added.iter().enumerate().map(|(number, added)| self.addition(number, added)))
    }

    fn change_of(&self, blob: &Blob<'_>) -> Option<BlobChange> {
        let index = blob.index();
        let mut changes = Vec::new();
        let (old_len, new_len) = (blob.data().len(), self.new_data_len(blob));
        if new_len != old_len {
            changes.push(FieldChange::of("dataSize", old_len, new_len));
        }
        if let Some(weights) = self.data_of(index).and_then(NewData::weights) {
            let size = elements_len(blob);
            let new = self.weights.described(weights, size);
            changes.push(FieldChange::of("data", json!({ "dataSize": size }), new));
        }
        changes.extend(self.edits.get(&index).into_iter().flat_map(|edit| edit.changes.iter().cloned()));
        if let Some(version) = self.version_of(index) {
            changes.push(FieldChange::of("version", blob.version().to_string(), version.to_string()));
        }
        let name = name_of(blob).into();
        (!changes.is_empty()).then(|| BlobChange { index, blob_type: blob.blob_type(), name, changes })
    }

    fn addition(&self, number: usize, added: &Added) -> BlobChange {
        let index = self.file.len().saturating_add(number);
        let size = added.info.tensor_info.size_in_bytes().unwrap_or_default();
        let changes = vec![FieldChange::of("data", json!(null), self.weights.described(added.weights, size))];
        BlobChange { index, blob_type: BlobType::DataTensor, name: added.info.name.by_ref().into(), changes }
    }
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("file", &self.file).field("changed", &self.len()).finish_non_exhaustive()
    }
}

/// The index of the metadata to change.
fn model(file: &File, executable: Option<&Text<'_>>, chosen: &dyn Fn(&Blob<'_>) -> bool) -> Result<usize, Error> {
    let mut all: Vec<_> = file.blobs().filter_map(|blob| blob.as_metadata()).collect();
    if !all.is_empty() {
        all.retain(|metadata| chosen(metadata.blob()));
        if all.is_empty() {
            let message = "fields are those of metadata, and no metadata is among the chosen blobs";
            return Err(Error::new(Code::NothingChosen, message));
        }
    }
    let is_meant = |name: &Text<'_>| executable.is_none_or(|executable| executable == name);
    let meant: Vec<_> = all.iter().filter(|metadata| is_meant(&metadata.executable())).collect();
    let names = || all.iter().map(|metadata| metadata.executable().to_string());
    match (meant.as_slice(), executable) {
        ([only], _) => Ok(only.blob().index()),
        ([], None) => Err(Error::new(Code::NoSuchName, "the file has no metadata")),
        ([], Some(executable)) => {
            let near = did_you_mean(&executable.to_string(), names());
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

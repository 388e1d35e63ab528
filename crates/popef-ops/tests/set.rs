//! Changes of random models: what is named has its new value, and everything else is equal byte for byte.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use popef::types::{Anchor, EngineOption, Text};
use popef::{Blob, File, Metadata, Writer};
use popef_ops::set::{Change, Changes, FieldPath, Given, Plan, Rename};
use popef_ops::{Overwrite, Silent, Target};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

#[path = "../../../popef/tests/common/writing/models.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod models;

/// A change of metadata that works on any model, and what it comes to.
#[derive(Clone, Debug)]
enum Wanted {
    NumIpus(u32),
    Flag(bool),
    SeedHandle(String),
    Load(Vec<u32>),
    /// Of the option at this place, or of a new one.
    Option(usize, String),
    RemoveOption(usize),
    Repeats(usize, u32),
    Shape(usize, Vec<i64>),
    Handle(usize, String),
    RemoveAnchor(usize),
    AddAnchor(String),
    Programs(Vec<(u32, String)>),
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let text = || "\\PC{0,12}";
    prop_oneof![
        any::<u32>().prop_map(Wanted::NumIpus),
        any::<bool>().prop_map(Wanted::Flag),
        text().prop_map(Wanted::SeedHandle),
        vec(any::<u32>(), 0..4).prop_map(Wanted::Load),
        (0..6usize, text()).prop_map(|(at, value)| Wanted::Option(at, value)),
        (0..6usize).prop_map(Wanted::RemoveOption),
        (0..6usize, any::<u32>()).prop_map(|(at, repeats)| Wanted::Repeats(at, repeats)),
        (0..6usize, vec(0..i64::MAX, 0..4)).prop_map(|(at, shape)| Wanted::Shape(at, shape)),
        (0..6usize, text()).prop_map(|(at, handle)| Wanted::Handle(at, handle)),
        (0..6usize).prop_map(Wanted::RemoveAnchor),
        "[a-z]{30}".prop_map(Wanted::AddAnchor),
        vec((any::<u32>(), text()), 0..4).prop_map(Wanted::Programs),
    ]
}

/// How a name is typed: a part that is not UTF-8 as U+FFFD.
fn typed(name: &Text<'_>) -> String {
    name.to_string()
}

fn path(list: &str, name: &str, field: &str) -> FieldPath {
    FieldPath::parse(&format!("{list}[{}]{field}", Value::from(name))).unwrap()
}

impl Wanted {
    /// Changes a copy of the old metadata. Returns the change as it is asked for, if it is possible.
    fn apply(&self, old: &Metadata, new: &mut Metadata) -> Option<Change> {
        let word = |text: &str| Given::Word(text.to_owned());
        let set = |path: &str, given| Change::Set(FieldPath::parse(path).unwrap(), given);
        let anchor = |at: usize| old.anchors.get(at).map(|anchor| typed(&anchor.name));
        Some(match self {
            Wanted::NumIpus(number) => {
                new.num_ipus = *number;
                set("numIpus", word(&number.to_string()))
            }
            Wanted::Flag(flag) => {
                (new.is_pod, new.is_inference) = (*flag, !flag);
                Change::Merge(json!({ "isPOD": flag, "isInference": !flag }), None)
            }
            Wanted::SeedHandle(handle) => {
                new.seed_handle = handle.clone().into();
                set("seedHandle", word(handle))
            }
            Wanted::Load(programs) => {
                new.program_flow.load = programs.clone();
                let list = programs.iter().map(ToString::to_string).collect::<Vec<_>>();
                set("programFlow.load", word(&list.join(",")))
            }
            Wanted::Option(at, value) => {
                let known = old.engine_options.get(*at).map(|option| typed(&option.name));
                let name = known.clone().unwrap_or_else(|| "a new option".to_owned());
                let mut found = false;
                let is_meant = meant(new.engine_options.iter().map(|option| &option.name), &name);
                for option in new.engine_options.iter_mut().filter(|option| is_meant(&option.name)) {
                    option.value = value.clone().into();
                    found = true;
                }
                // It may have been removed.
                if !found {
                    new.engine_options.push(EngineOption { name: name.clone().into(), value: value.clone().into() });
                }
                Change::Set(path("engineOptions", &name, ""), word(value))
            }
            Wanted::RemoveOption(at) => {
                let name = typed(&old.engine_options.get(*at)?.name);
                let before = new.engine_options.len();
                let is_meant = meant(new.engine_options.iter().map(|option| &option.name), &name);
                new.engine_options.retain(|option| !is_meant(&option.name));
                (before > new.engine_options.len())
                    .then(|| Change::Merge(json!({ "engineOptions": { name: null } }), None))?
            }
            Wanted::Repeats(at, repeats) => {
                let name = anchor(*at)?;
                each(new, &name, |anchor| anchor.repeats = *repeats)?;
                Change::Set(path("anchors", &name, ".repeats"), word(&repeats.to_string()))
            }
            Wanted::Shape(at, shape) => {
                let name = anchor(*at)?;
                each(new, &name, |anchor| anchor.tensor_info.shape = shape.clone())?;
                Change::Merge(json!({ "anchors": { name: { "tensorInfo": { "shape": shape } } } }), None)
            }
            Wanted::Handle(at, handle) => {
                let name = anchor(*at)?;
                each(new, &name, |anchor| anchor.handle = handle.clone().into())?;
                Change::Set(path("anchors", &name, ".handle"), word(handle))
            }
            Wanted::RemoveAnchor(at) => {
                let name = anchor(*at)?;
                each(new, &name, |_| {})?;
                let is_meant = meant(new.anchors.iter().map(|anchor| &anchor.name), &name);
                new.anchors.retain(|anchor| !is_meant(&anchor.name));
                Change::Unset(path("anchors", &name, ""))
            }
            Wanted::AddAnchor(name) => {
                let is_meant = meant(new.anchors.iter().map(|anchor| &anchor.name), name);
                let is_new = !new.anchors.iter().any(|anchor| is_meant(&anchor.name));
                let added =
                    json!({ "type": "input", "handle": "h", "tensorInfo": { "dataType": "F16", "shape": [2, 3] } });
                let tensor_info = popef::TensorInfo::new(popef::DataType::F16, [2, 3]);
                let tensor_type = popef::types::TensorType::Input;
                let (name_text, handle) = (name.clone().into(), "h".into());
                new.anchors.push(Anchor { name: name_text, handle, tensor_info, tensor_type, ..Anchor::default() });
                is_new.then(|| Change::Set(path("anchors", name, ""), Given::Json(added)))?
            }
            Wanted::Programs(programs) => {
                let list = programs.iter().map(|(index, name)| json!({ "index": index, "name": name }));
                let programs = programs.iter().map(|(index, name)| (*index, Text::from(name.clone())));
                new.programs_map = programs.map(|(index, name)| popef::types::ProgramInfo { index, name }).collect();
                Change::Merge(json!({ "programsMap": list.collect::<Vec<_>>() }), None)
            }
        })
    }
}

/// Whether a name is meant: the very same if it is there, and otherwise all that are shown like it.
fn meant<'n>(names: impl Iterator<Item = &'n Text<'static>>, name: &str) -> Box<dyn Fn(&Text<'static>) -> bool> {
    let is_there = { names }.any(|other| *other == name);
    let name = name.to_owned();
    Box::new(move |other| if is_there { *other == *name } else { typed(other) == name })
}

fn each(new: &mut Metadata, name: &str, change: impl Fn(&mut Anchor)) -> Option<()> {
    let mut any = None;
    let is_meant = meant(new.anchors.iter().map(|anchor| &anchor.name), name);
    for anchor in new.anchors.iter_mut().filter(|anchor| is_meant(&anchor.name)) {
        change(anchor);
        any = Some(());
    }
    any
}

/// All of a blob, and its parts.
fn bytes(blob: &Blob<'_>) -> [Vec<u8>; 3] {
    [blob.header_bytes(), blob.info_bytes(), blob.data()].map(|bytes| bytes.read().unwrap().into_owned())
}

fn written(blobs: &[models::Planned]) -> Vec<u8> {
    let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new())).unwrap();
    blobs.iter().for_each(|blob| drop(blob.write(&mut writer)));
    writer.into_inner().unwrap().into_inner()
}

fn changed(file: &File, changes: &Changes) -> Result<File, popef_ops::Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.popef");
    Plan::of(file, changes, &|_| true, &Silent)?.write(Target::Path(&path, Overwrite::Never), false, &Silent)?;
    Ok(File::from_bytes(std::fs::read(path).unwrap()).unwrap())
}

/// Not in one go for each new name: files have tens of thousands of tensors.
#[test]
fn blobs_are_looked_through_a_few_times_however_many_are_renamed() {
    const COUNT: usize = 300;
    let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new())).unwrap();
    (0..COUNT).for_each(|at| _ = writer.write_executable(at.to_string(), b"").unwrap());
    let file = File::from_bytes(writer.into_inner().unwrap().into_inner()).unwrap();
    let rename = |at: usize| Rename { from: at.to_string().into(), to: format!("new {at}").into() };
    let changes = Changes { renames: (0..COUNT).map(rename).collect(), ..Changes::default() };
    let asked = AtomicUsize::new(0);
    let chosen = |_: &Blob<'_>| asked.fetch_add(1, Relaxed) < usize::MAX;
    let plan = Plan::of(&file, &changes, &chosen, &Silent).unwrap();
    assert!(asked.load(Relaxed) <= 10 * COUNT, "{} times", asked.load(Relaxed));
    drop(plan);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn fields_have_their_new_values_and_all_else_its_old_bytes(
        mut blobs in models::blobs(true),
        metadata in models::metadata(true),
        at in any::<prop::sample::Index>(),
        wanted in vec(wanted(), 1..6),
    ) {
        // Others do not have its executable, so that it can be chosen.
        let metadata = Metadata { executable: "the one that is meant".into(), ..metadata };
        let what = models::What::Metadata(metadata.clone().into());
        let place = at.index(blobs.len() + 1);
        blobs.insert(place, models::Planned { version: "9".into(), what, way: models::Way::Whole });
        let file = File::from_bytes(written(&blobs)).unwrap();

        let mut expected = metadata.clone();
        let mut changes = Changes { model: Some(metadata.executable.clone()), ..Changes::default() };
        for wanted in wanted {
            let mut next = expected.clone();
            if let Some(change) = wanted.apply(&metadata, &mut next) {
                changes.fields.push(change);
                expected = next;
            }
        }
        let new = changed(&file, &changes).unwrap();
        prop_assert_eq!(new.len(), file.len());
        for (old, new) in file.blobs().zip(new.blobs()) {
            match new.as_metadata() {
                Some(found) if found.executable() == metadata.executable => {
                    prop_assert_eq!(found.read().unwrap(), expected.clone());
                    prop_assert_eq!((new.version(), new.data().len()), (old.version(), old.data().len()));
                    if expected == metadata {
                        prop_assert_eq!(bytes(&old), bytes(&new));
                    }
                }
                _ => prop_assert_eq!(bytes(&old), bytes(&new)),
            }
        }
    }

    #[test]
    fn renamed_blobs_take_with_them_what_refers_to_them(
        blobs in models::blobs(true),
        chosen in any::<prop::sample::Index>(),
        keep_references in any::<bool>(),
    ) {
        let file = File::from_bytes(written(&blobs)).unwrap();
        let named: Vec<_> = file.blobs().filter(|blob| blob.name().is_some()).collect();
        prop_assume!(!named.is_empty());
        let chosen = named[chosen.index(named.len())];
        let old = chosen.name().unwrap().into_owned();
        let new_name = Text::from("a name that nothing has");
        let kind = |blob: &Blob<'_>| (blob.as_data().is_some(), blob.as_data().is_none().then(|| blob.blob_type()));
        let same: Vec<_> = named.iter().filter(|blob| blob.name().unwrap() == old).collect();
        let renames = vec![Rename { from: old.clone(), to: new_name.clone() }];
        let result = changed(&file, &Changes { renames, keep_references, ..Changes::default() });
        if same.iter().map(|blob| kind(blob)).collect::<HashSet<_>>().len() > 1 {
            prop_assert_eq!(result.unwrap_err().code(), "ambiguous");
            return Ok(());
        }
        let result = result.unwrap();
        let is_data = chosen.as_data().is_some();
        let is_executable = chosen.as_executable().is_some();
        for (before, after) in file.blobs().zip(result.blobs()) {
            let [_, old_info, old_data] = bytes(&before);
            prop_assert_eq!(&old_data, &bytes(&after)[2]);
            prop_assert_eq!(before.version(), after.version());
            let renamed = same.iter().any(|blob| blob.index() == before.index());
            prop_assert_eq!(after.name(), before.name().map(|name| if renamed { new_name.clone() } else { name.into_owned() }));
            let follow = |name: &Text<'_>, does: bool| if does && !keep_references && *name == old { new_name.clone() } else { name.clone().into_owned() };
            let mut changes = renamed;
            if let Some(metadata) = before.as_metadata() {
                let mut metadata = metadata.read().unwrap();
                let original = metadata.clone();
                metadata.executable = follow(&metadata.executable, is_executable);
                metadata.anchors.iter_mut().for_each(|anchor| anchor.name = follow(&anchor.name, is_data));
                prop_assert_eq!(after.as_metadata().unwrap().read().unwrap(), metadata.clone());
                changes |= metadata != original;
            }
            if let Some(opaque) = before.as_opaque() {
                let executable = follow(&opaque.executable(), is_executable);
                prop_assert_eq!(after.as_opaque().unwrap().executable(), executable.clone());
                changes |= executable != opaque.executable();
            }
            if !changes {
                prop_assert_eq!(before.header_bytes().read().unwrap(), after.header_bytes().read().unwrap());
                prop_assert_eq!(old_info, bytes(&after)[1].clone());
            }
        }
    }

    /// The checks of JSON values must not panic, whatever is asked for.
    #[test]
    fn no_path_and_no_value_breaks_anything(path in ".{0,40}", value in ".{0,20}", list in 0..6usize) {
        let lists = ["engineOptions", "deviceOptions", "programsMap", "anchors", "inputs", "outputs"];
        for text in [path.clone(), format!("{}[{path}={value}", lists[list]), format!("{}[{path}].{value}=", lists[list])] {
            let _ = FieldPath::parse_assignment(&text);
            let _ = FieldPath::parse(&text);
        }
        let name = FieldPath::element(lists[list], path.clone()).unwrap();
        let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/interop/executable.popef")).unwrap();
        for change in [Change::Set(name.clone(), Given::Word(value.clone())), Change::Unset(name), Change::Merge(json!({ path: value }), None)] {
            let _ = Plan::of(&file, &Changes { fields: vec![change], ..Changes::default() }, &|_| true, &Silent);
        }
    }
}

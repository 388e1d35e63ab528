//! Rules for the programs that load PopEF files, from their public sources.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::super::findings::{Findings, Spot};
use super::super::run::{Check, model, opaque, pickle, set};
use super::super::set::Set;
use super::super::words::{count, list, quote, shape};
use super::links::missing_weights;
use super::metadata::lacks_seed;
use popef::model::{Linked, Model};
use popef::read::{Data, OpaqueBlob};
use popef::seam::Key;
use popef::seam::{LONGEST_TABLE, message_len};
use popef::types::{Anchor, DataType, Text};
use popef_findings::{Loader, Rule, When};
use popef_payload::Framework;

pub(super) const RULES: &[Check] = &[
    Rule::error("PE601", "PopART: more than one PopART blob")
        .meaning(
            "PopART takes every opaque blob whose name contains \"popart\" as its own, and refuses a file with two. If \
             such a file is used as a cache, PopART silently skips it and compiles the model again each time.",
        )
        .fix("Give PopART one model at a time.")
        .when(When::Loader(Loader::Popart))
        .run(set(|set, out| {
            for opaque in popart_opaques(set).skip(1) {
                out.add(Spot::blob(opaque.file, opaque.blob.blob()), [opaque.name()], || {
                    format!("opaque blob {} is another one with \"popart\" in its name", quote(&opaque.name()))
                });
            }
        })),
    Rule::error("PE602", "PopART: its executable is missing or not unique")
        .meaning("PopART's opaque blob names an executable, and PopART requires exactly one with that name.")
        .fix(
            "If the executable is missing, give the file with it too. If there are two, give the files of one model \
             only.",
        )
        .when(When::Loader(Loader::Popart))
        .run(set(|set, out| {
            let Some(opaque) = popart_opaques(set).next().filter(|_| set.complete) else { return };
            let name = opaque.executable();
            let number = set.links.all(Key::EXECUTABLE, name.as_bytes()).count();
            if number != 1 {
                out.add(Spot::blob(opaque.file, opaque.blob.blob()), [name.clone()], || {
                    let have =
                        if number == 0 { "no executable has".to_owned() } else { format!("{number} executables have") };
                    format!("PopART's blob is for executable {}, but {have} this name", quote(&name))
                });
            }
        })),
    Rule::error("PE603", "PopART: not exactly one executable")
        .meaning(
            "If no opaque blob is PopART's, PopART takes the only executable. The files have none, or more than one.",
        )
        .fix("Give PopART the files of one model, with its executable.")
        .when(When::Loader(Loader::Popart))
        .run(set(|set, out| {
            if set.complete && popart_opaques(set).next().is_none() {
                exactly_one_executable(set, out, "PopART");
            }
        })),
    Rule::error("PE604", "PopART: two metadata blobs for its executable")
        .meaning("PopART refuses a file in which more than one metadata blob names the executable of its opaque blob.")
        .fix("Remove one of the metadata blobs.")
        .when(When::Loader(Loader::Popart))
        .run(set(|set, out| {
            let Some(opaque) = popart_opaques(set).next() else { return };
            let name = opaque.executable();
            let metadata = set.links.all(Key::METADATA_OF, name.as_bytes()).filter_map(|id| set.linked(id));
            for metadata in metadata.skip(1) {
                out.add(Spot::blob(metadata.file, &metadata), [name.clone()], || {
                    format!("another metadata blob for PopART's executable {}", quote(&name))
                });
            }
        })),
    Rule::error("PE605", "PopART: an executable's name that is not a number")
        .meaning(
            "PopART reads the executable's name as its hash, so the name has to begin with a number. PopART refuses \
             the file, or silently skips it if it is used as a cache.",
        )
        .fix("Export the model with PopART, or use the executable's hash in decimal digits as its name.")
        .when(When::Loader(Loader::Popart))
        .run(set(popart_hash)),
    Rule::warning("PE606", "PopART: a tensor that it ignores")
        .meaning(
            "PopART takes only tensors whose name is an anchor of its metadata, and silently ignores all others. The \
             weights of this tensor are not loaded.",
        )
        .fix("Compare the tensor's name with the names of the anchors.")
        .when(When::Loader(Loader::Popart))
        .run(set(popart_ignores)),
    Rule::warning("PE607", "PopART: its blob is missing")
        .meaning(
            "No opaque blob in the files has \"popart\" in its name. PopART can load the executable, but has no state \
             of its own for it, so it cannot run a session.",
        )
        .fix("Export the model with PopART.")
        .when(When::Loader(Loader::Popart))
        .run(set(|set, out| {
            missing(set, out, popart_opaques(set).next().is_none(), "no opaque blob has \"popart\" in its name");
        })),
    Rule::error("PE608", "PopART: its blob is not a valid message")
        .meaning(
            "PopART's opaque blob has to be exactly one Cap'n Proto message. This one is empty, cut, or something \
             else. PopART cannot load it, and silently skips the file if it is used as a cache.",
        )
        .fix("Export the model with PopART again.")
        .when(When::Loader(Loader::Popart))
        .run(opaque(|_, opaque, _, out| {
            if let Some(wrong) = is_popart(&opaque.name()).then(|| not_a_message(&opaque.data())).flatten() {
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [opaque.name()], || {
                    format!("opaque blob {}: {wrong}", quote(&opaque.name()))
                });
            }
        })),
    Rule::error("PE609", "PopART: metadata for another executable")
        .meaning(
            "PopART's opaque blob names an executable, and all metadata in the files is for other executables. So \
             PopART finds no anchors for its executable, and loads no weights.",
        )
        .fix("Give the file with the metadata too, or export the model again. Do not mix blobs of different exports.")
        .when(When::Loader(Loader::Popart))
        .run(set(|set, out| {
            let Some(opaque) = popart_opaques(set).next().filter(|_| set.complete) else { return };
            let name = opaque.executable();
            let other = set.metadata().next().map(|metadata| metadata.executable());
            if let Some(other) = other.filter(|_| set.links.first(Key::METADATA_OF, name.as_bytes()).is_none()) {
                out.add(Spot::blob(opaque.file, opaque.blob.blob()), [name.clone(), other.clone()], || {
                    let (name, other) = (quote(&name), quote(&other));
                    format!("PopART's blob is for executable {name}, but the metadata is for {other}")
                });
            }
        })),
    Rule::warning("PE610", "PopART: no input for the seed")
        .meaning(
            "The metadata names a handle for the random seed, and no input anchor has it. PopART always writes that \
             anchor, and sets the seed by it.",
        )
        .fix("Export the model with PopART again.")
        .when(When::Loader(Loader::Popart))
        .run(model(|set, model, out| {
            let handle = &model.metadata().seed_handle;
            if lacks_seed(model) && has_opaque(set, model, Framework::Popart, out) == Some(true) {
                out.add(Spot::model(model), [handle.by_ref()], || {
                    format!("no input has the seed's handle {}", quote(handle))
                });
            }
        })),
    Rule::error("PE611", "PopTorch: not exactly one executable")
        .meaning(
            "PopTorch requires exactly one executable in the file. It loads it with PopART, so check for popart as \
             well.",
        )
        .fix("Give PopTorch one file with one executable.")
        .when(When::Loader(Loader::Poptorch))
        .run(set(|set, out| exactly_one_executable(set, out, "PopTorch"))),
    Rule::error("PE612", "PopTorch: its blob is missing")
        .meaning(
            "No opaque blob is named \"poptorch\", and no file begins with PopTorch's pickle, as files of SDK 2.5 and \
             older do. PopTorch refuses the file.",
        )
        .fix("Export the model with PopTorch. Files from PopART do not have this blob.")
        .when(When::Loader(Loader::Poptorch))
        .run(set(|set, out| {
            missing(set, out, !set.has_poptorch(), "no opaque blob is named \"poptorch\"");
        })),
    Rule::note("PE613", "PopTorch: the required version")
        .meaning("PopTorch loads only files that the same version of PopTorch wrote. This is the version in the file.")
        .fix("Load the file with this version of PopTorch.")
        .when(When::Loader(Loader::Poptorch))
        .run(pickle(|_, pickled, out| {
            if let Some(version) = pickled.pickle.poptorch_version.as_deref().map(Text::from) {
                out.add(pickled.start, [version.clone()], || {
                    format!("PopTorch {} wrote the file, and only this version loads it", quote(&version))
                });
            }
        })),
    Rule::error("PE614", "PopTorch: its blob has no version")
        .meaning(
            "PopTorch first compares the version in its blob with its own, and refuses the file if they differ. This \
             blob is not a pickle, or it records no version.",
        )
        .fix("Export the model with PopTorch again.")
        .when(When::Loader(Loader::Poptorch))
        .run(opaque(|_, opaque, pickle, out| {
            if opaque.name() == "poptorch" && pickle.is_none_or(|pickle| pickle.poptorch_version.is_none()) {
                let what = if pickle.is_some() { "records no version of PopTorch" } else { "is not a pickle" };
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [opaque.name()], || {
                    format!("opaque blob \"poptorch\" {what}")
                });
            }
        })),
    Rule::error("PE621", "TensorFlow: its blob is missing")
        .meaning("No opaque blob is named \"tensorflow\". TensorFlow refuses the file.")
        .fix("Export the model with TensorFlow for the IPU.")
        .when(When::Loader(Loader::Tensorflow))
        .run(set(|set, out| unnamed(set, out, "tensorflow"))),
    Rule::error("PE622", "TensorFlow: its executable is missing")
        .meaning("TensorFlow looks for the executable that its opaque blob names, and it is not in the files.")
        .fix("Export the model again, or give the file with the executable too.")
        .when(When::Loader(Loader::Tensorflow))
        .run(set(|set, out| {
            for opaque in set.opaques().filter(|opaque| set.complete && opaque.name() == "tensorflow") {
                let name = opaque.executable();
                if set.links.first(Key::EXECUTABLE, name.as_bytes()).is_none() {
                    out.add(Spot::blob(opaque.file, opaque.blob.blob()), [name.clone()], || {
                        format!("TensorFlow's blob is for executable {}, which is not in the files", quote(&name))
                    });
                }
            }
        })),
    Rule::error("PE623", "TensorFlow: two anchors with one name")
        .meaning(
            "TensorFlow's export gives every anchor a unique name, inputs and outputs together, and programs that load \
             its files rely on it.",
        )
        .fix("Export the model with TensorFlow for the IPU.")
        .when(When::Loader(Loader::Tensorflow))
        .run(model(|_, model, out| {
            for (_, Anchor { name, .. }) in out.doubled(&model.metadata().anchors, |anchor| Some(&anchor.name)) {
                out.add(Spot::model(model), [name.by_ref()], || {
                    format!("more than one anchor is named {}", quote(name))
                });
            }
        })),
    Rule::error("PE624", "TensorFlow: its blob is empty")
        .meaning(
            "TensorFlow's opaque blob has no bytes, so it states no version of TensorFlow. TensorFlow loads only files \
             that its own version wrote.",
        )
        .fix("Export the model with TensorFlow for the IPU again.")
        .when(When::Loader(Loader::Tensorflow))
        .run(set(|set, out| {
            let is_empty = |opaque: &Linked<OpaqueBlob<'_>>| opaque.name() == "tensorflow" && opaque.data().is_empty();
            for opaque in set.opaques().filter(is_empty) {
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [opaque.name()], || {
                    "opaque blob \"tensorflow\" is empty".to_owned()
                });
            }
        })),
    Rule::error("PE631", "Triton: no metadata")
        .meaning("Triton's backend and the model runtimes find a model by its metadata, and the files have none.")
        .fix("Give the file with the metadata too, or export the model again.")
        .when(When::Loader(Loader::Triton))
        .run(set(|set, out| missing(set, out, set.metadata().next().is_none(), "none of the files has metadata"))),
    Rule::error("PE632", "Triton: no executable")
        .meaning("The files have no executable, so there is nothing to run.")
        .fix("Give the file with the executable too, or export the model again.")
        .when(When::Loader(Loader::Triton))
        .run(set(|set, out| {
            missing(set, out, set.executables().next().is_none(), "none of the files has an executable");
        })),
    Rule::note("PE633", "Triton: the inputs of a request")
        .meaning(
            "Each request must have these inputs, because the files have no data for them. For all other inputs, the \
             files have the data.",
        )
        .fix(
            "Compare the list with the inputs that your clients send. If it contains a weight, a file with data is \
             missing.",
        )
        .when(When::Loader(Loader::Triton))
        .run(model(request)),
    Rule::error("PE634", "Triton: weights without data")
        .meaning(
            "Inputs that only the load programs use are weights. Triton's backend uploads them before the first \
             request, and the files have no data for some of them.",
        )
        .fix("Give the file with the weights too, or export the model with its weights.")
        .when(When::Loader(Loader::Triton))
        .run(model(|set, model, out| {
            let number = u64::try_from(missing_weights(model).count()).unwrap_or(u64::MAX);
            if number > 0 && set.complete {
                out.add(Spot::model(model), missing_weights(model).map(|anchor| anchor.name.by_ref()), || {
                    let names = missing_weights(model).map(|anchor| &anchor.name);
                    format!(
                        "Triton needs {} that the files have no data for: {}",
                        count(number, "weight"),
                        list(names, number)
                    )
                });
            }
        })),
    Rule::warning("PE635", "Triton: a model for training")
        .meaning(
            "The metadata says that the model was compiled for training. Triton serves models for inference: each \
             request would train the model further. (TensorFlow does not record what a model is for, so its models are \
             not reported.)",
        )
        .fix("Compile and export the model for inference.")
        .when(When::Loader(Loader::Triton))
        .run(model(|set, model, out| {
            if !model.metadata().is_inference && has_opaque(set, model, Framework::Tensorflow, out) == Some(false) {
                out.add(Spot::model(model), [model.metadata().executable.by_ref()], || {
                    "the model was compiled for training".to_owned()
                });
            }
        })),
    Rule::error("PE636", "Triton: an input or output of 8 bit floats")
        .meaning(
            "An input or output that requests and responses carry is of type F8143 or F8152. Triton has no such type.",
        )
        .fix("Export the model with inputs and outputs of another type.")
        .when(When::Loader(Loader::Triton))
        .run(model(|_, model, out| {
            for anchor in model.inputs_from_user().chain(model.outputs_to_user()) {
                let data_type = anchor.tensor_info.data_type;
                if matches!(data_type, DataType::F8143 | DataType::F8152) {
                    out.add(Spot::model(model), [anchor.name.by_ref()], || {
                        format!("{} has the type {data_type}, which Triton does not have", quote(&anchor.name))
                    });
                }
            }
        })),
    Rule::error("PE637", "Triton: more than one model")
        .meaning(
            "The metadata in the files describes more than one model. Triton's backend serves one model, and which one \
             it takes is not known.",
        )
        .fix("Put each model into its own files and its own entry in the model repository.")
        .when(When::Loader(Loader::Triton))
        .run(set(|set, out| {
            let Some(first) = set.metadata().next().map(|metadata| metadata.executable()) else { return };
            // Another rule reports two metadata blobs for one executable.
            if let Some(other) = set.metadata().find(|metadata| metadata.executable() != first) {
                let names = [first.clone(), other.executable()];
                out.add(Spot::blob(other.file, other.blob.blob()), names, || {
                    let (first, other) = (quote(&first), quote(&other.executable()));
                    format!("the files have a model of executable {first} and a model of executable {other}")
                });
            }
        })),
];

/// Returns what is wrong with data that has to be one Cap'n Proto message, or `None` if it is correct.
pub(super) fn not_a_message(data: &Data<'_>) -> Option<String> {
    let len = data.len();
    let mut table = [0; LONGEST_TABLE];
    let table = table.get_mut(..usize::try_from(len).unwrap_or(usize::MAX).min(LONGEST_TABLE)).unwrap_or_default();
    if table.is_empty() {
        return Some("it is empty".to_owned());
    }
    // The search for a pickle has read these bytes. If they cannot be read now, the file changed, which is reported.
    data.read_at(0, table).ok()?;
    let Some(needed) = message_len(table) else { return Some("it is not a Cap'n Proto message".to_owned()) };
    match needed.cmp(&len) {
        Ordering::Equal => None,
        Ordering::Less => Some(format!("it has {} after its message", count(len.saturating_sub(needed), "byte"))),
        Ordering::Greater => Some(format!("it is cut, or not a Cap'n Proto message: it has {len} of {needed} bytes")),
    }
}

fn is_popart(name: &Text<'_>) -> bool {
    Framework::of_name(name) == Some(Framework::Popart)
}

/// Returns whether a model's executable has an opaque blob of a framework.
fn has_opaque(set: &Set, model: &Model, framework: Framework, out: &mut Findings<'_>) -> Option<bool> {
    let has = set.has_opaque(framework, &model.metadata().executable);
    if has.is_none() {
        out.no_memory();
    }
    has
}

fn popart_opaques(set: &Set) -> impl Iterator<Item = Linked<OpaqueBlob<'_>>> {
    set.opaques().filter(|opaque| is_popart(&opaque.name()))
}

/// Reports that no opaque blob has the name of a framework's own blob.
fn unnamed(set: &Set, out: &mut Findings<'_>, name: &str) {
    let is_missing = set.links.first(Key::OPAQUE, name.as_bytes()).is_none();
    missing(set, out, is_missing, &format!("no opaque blob is named \"{name}\""));
}

/// Reports something that is missing from all files, at the first file.
fn missing(set: &Set, out: &mut Findings<'_>, is_missing: bool, message: &str) {
    if is_missing && set.complete && !set.files().is_empty() {
        out.add(Spot::file(0), [], || message.to_owned());
    }
}

fn exactly_one_executable(set: &Set, out: &mut Findings<'_>, loader: &str) {
    let number = set.executables().count();
    let is_known = number > 1 || set.complete && !set.files().is_empty();
    if number != 1 && is_known {
        out.add(Spot::file(0), set.executables().map(|executable| executable.name()), || {
            let number = u64::try_from(number).unwrap_or(u64::MAX);
            format!("there are {}; {loader} requires exactly one", count(number, "executable"))
        });
    }
}

/// Reports a name from which PopART cannot read a hash.
fn popart_hash(set: &Set, out: &mut Findings<'_>) {
    let of_opaque = popart_opaques(set).next();
    let chosen = match of_opaque {
        Some(opaque) => Some((Spot::blob(opaque.file, opaque.blob.blob()), opaque.executable())),
        None => {
            let only = set.executables().next();
            only.map(|only| (Spot::blob(only.file, only.blob.blob()), only.name()))
        }
    };
    let begins = |name: &Text<'_>| name.as_bytes().trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
    if let Some((place, name)) = chosen.filter(|(_, name)| !begins(name)) {
        out.add(place, [name.clone()], || {
            format!(
                "PopART reads a hash from the executable's name {}, which does not begin with a digit",
                quote(&name)
            )
        });
    }
}

fn popart_ignores(set: &Set, out: &mut Findings<'_>) {
    let Some(opaque) = popart_opaques(set).next() else { return };
    let name = opaque.executable();
    let Some(metadata) = set.metadata().find(|metadata| metadata.executable() == name) else { return };
    // Another rule reports metadata that cannot be read.
    let Ok(metadata) = metadata.read() else { return };
    let mut anchors = HashSet::new();
    if anchors.try_reserve(metadata.anchors.len()).is_err() {
        return out.no_memory();
    }
    anchors.extend(metadata.anchors.iter().map(|anchor| anchor.name.as_bytes()));
    for blob in set.blobs() {
        let Some(name) = blob.named_by(Key::TENSOR).filter(|name| !anchors.contains(name)).map(Text::from) else {
            continue;
        };
        out.add(Spot::blob(blob.file, &blob), [name.clone()], || {
            format!("PopART ignores tensor {}: no anchor of its model has this name", quote(&name))
        });
    }
}

fn request(set: &Set, model: &Model, out: &mut Findings<'_>) {
    const MOST: usize = 8;
    if !set.complete {
        return;
    }
    let inputs = || model.inputs_from_user();
    out.add(Spot::model(model), inputs().map(|anchor| anchor.name.by_ref()), || {
        let shown = inputs().take(MOST).map(|anchor| {
            let info = &anchor.tensor_info;
            format!("{} {} {}", quote(&anchor.name), info.data_type, shape(info.shape.iter().copied()))
        });
        let shown: Vec<_> = shown.collect();
        if shown.is_empty() {
            return "a request needs no inputs".to_owned();
        }
        let number = inputs().count();
        let more = number.saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let number = count(u64::try_from(number).unwrap_or(u64::MAX), "input");
        format!("a request must have {number}: {}{more}", shown.join(", "))
    });
}

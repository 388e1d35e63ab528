//! Rules about blobs that belong together by name.

use super::super::alike::Wanted;
use super::super::findings::{Findings, Spot};
use super::super::run::{Check, blob, model, set};
use super::super::set::{Set, id_of};
use super::super::words::{count, list, quote};
use popef::model::{Linked, Model, Phase, Source};
use popef::read::{Blob, File, OpaqueBlob};
use popef::seam::{Key, Names};
use popef::types::{Anchor, TensorType, Text, escape};
use popef_findings::Rule;

pub(super) const RULES: &[Check] = &[
    Rule::error("PE101", "metadata for a missing executable")
        .meaning("The metadata names an executable that is not in the files, so the model cannot be loaded.")
        .fix("Give the file with the executable too, or export the model again.")
        .run(set(|set, out| {
            let missing = || set.metadata().filter(|metadata| lacks_executable(set, &metadata.executable()));
            let like = executables_like(set, missing().map(|metadata| metadata.executable()));
            for metadata in missing() {
                let name = metadata.executable();
                out.add(Spot::blob(metadata.file, metadata.blob.blob()), [name.clone()], || {
                    let (name, hint) = (quote(&name), like.hint(&name, "executable"));
                    format!("the metadata is for executable {name}, which is not in the files{hint}")
                });
            }
        })),
    Rule::warning("PE102", "an opaque blob for a missing executable")
        .meaning(
            "An opaque blob names an executable that is not in the files. The framework that wrote it will not find \
             its executable.",
        )
        .fix("Give the file with the executable too, or export the model again.")
        .run(set(|set, out| {
            let missing = || set.opaques().filter(|opaque| lacks_executable(set, &opaque.executable()));
            let like = executables_like(set, missing().map(|opaque| opaque.executable()));
            for opaque in missing() {
                let executable = opaque.executable();
                out.add(Spot::blob(opaque.file, opaque.blob.blob()), [opaque.name(), executable.clone()], || {
                    let hint = like.hint(&executable, "executable");
                    let (name, executable) = (quote(&opaque.name()), quote(&executable));
                    format!("opaque blob {name} is for executable {executable}, which is not in the files{hint}")
                });
            }
        })),
    Rule::warning("PE103", "an executable without metadata")
        .meaning(
            "No metadata names the executable. The model runtimes and Triton cannot run it. Perhaps the framework that \
             wrote it can, by its opaque blob.",
        )
        .fix(
            "Give the file with the metadata too. PopART writes no metadata for a model that it cannot describe, and \
             says so during the export.",
        )
        .run(set(|set, out| {
            for executable in set.executables().filter(|_| set.complete) {
                let name = executable.name();
                if set.links.first(Key::METADATA_OF, name.as_bytes()).is_none() {
                    out.add(Spot::blob(executable.file, executable.blob.blob()), [name.clone()], || {
                        format!("executable {} has no metadata", quote(&name))
                    });
                }
            }
        })),
    Rule::error("PE104", "two metadata blobs for one executable")
        .meaning(
            "More than one metadata blob names the same executable. PopART refuses this. Which one other loaders take \
             is not known.",
        )
        .fix("Give each model's files separately, or remove one of the metadata blobs.")
        .run(blob(|set, blob, out| {
            if let Some(first) = set.earlier(Key::METADATA_OF, blob) {
                let name = blob.named_by(Key::METADATA_OF).map(Text::from).unwrap_or_default();
                out.add(Spot::blob(blob.file, blob), [name.clone()], || {
                    format!("duplicate metadata for executable {}; the first is {}", quote(&name), at(set, &first))
                });
            }
        })),
    Rule::error("PE105", "two executables with one name")
        .meaning(
            "The name of an executable has to be unique. Which of the two a loader takes is not known. PopART refuses \
             the file.",
        )
        .fix(
            "Give each model's files separately, leave one of the two out with popef strip --drop and its number, or \
             export it under another name.",
        )
        .run(blob(|set, blob, out| same_name(set, blob, out, Key::EXECUTABLE, "executable"))),
    Rule::error("PE106", "two tensors with one name")
        .meaning(
            "Two tensor blobs have the same name. Which one is loaded is not known, and the model may run with the \
             wrong weights.",
        )
        .fix("Remove one of them. Files that are given together are one set: check unrelated models separately.")
        .run(blob(|set, blob, out| same_name(set, blob, out, Key::TENSOR, "tensor"))),
    Rule::error("PE107", "two feeds with one name")
        .meaning("Two feed blobs have the same name. Which one is fed is not known.")
        .fix("Remove one of them, or write one feed with the tensors of both.")
        .run(blob(|set, blob, out| same_name(set, blob, out, Key::FEED, "feed"))),
    Rule::warning("PE108", "a tensor without an anchor")
        .meaning(
            "No anchor of any model has the tensor's name, so nothing uses it. If the name is mistyped, the intended \
             anchor has no data, and a runtime asks the user for it.",
        )
        .fix(
            "Compare its name with the names of the anchors. If it is mistyped, use popef set --rename. If nothing \
             needs the tensor, remove it with popef strip --drop.",
        )
        .run(set(|set, out| without_anchor(set, out, Key::TENSOR, "tensor"))),
    Rule::warning("PE109", "a feed without an anchor")
        .meaning("No anchor of any model has the feed's name, so nothing is fed from it.")
        .fix(
            "Compare its name with the names of the anchors. If it is mistyped, use popef set --rename. If nothing \
             needs the feed, remove it with popef strip --drop.",
        )
        .run(set(|set, out| without_anchor(set, out, Key::FEED, "feed"))),
    Rule::error("PE110", "a tensor and a feed with one name")
        .meaning(
            "A tensor and a feed have the same name, so both are data for the same anchor. Which of the two a runtime \
             takes is not known.",
        )
        .fix("Remove one of them.")
        .run(blob(|set, blob, out| {
            let Some(name) = blob.named_by(Key::FEED) else { return };
            let tensor = set.links.first(Key::TENSOR, name).and_then(|first| set.linked(first));
            if let Some(tensor) = tensor {
                let name = Text::from(name);
                out.add(Spot::blob(blob.file, blob), [name.clone()], || {
                    format!("feed {} has the name of a tensor: {}", quote(&name), at(set, &tensor))
                });
            }
        })),
    Rule::warning("PE111", "data for an output")
        .meaning("All anchors with this name are outputs. A runtime writes to outputs and never reads this data.")
        .fix(
            "If it is an expected result, keep it in a separate file, and remove it here with popef strip --drop. If \
             it is a weight, the model lacks the input anchor that loads it.",
        )
        .run(set(data_for_output)),
    Rule::warning("PE112", "two opaque blobs with one name for one executable")
        .meaning(
            "A framework looks for its opaque blob by name and executable, and finds two. Which one it takes is not \
             known. PopART refuses the file.",
        )
        .fix("Remove the older one.")
        .run(set(same_opaque)),
    Rule::warning("PE113", "some weights without data")
        .meaning(
            "Inputs that only the load programs use are weights. The files have data for some of them, but not for \
             all, so a runtime asks the user for the others. (PopART leaves out the state of its random numbers if it \
             compiles without a device. That input is not reported.)",
        )
        .fix("Give the file with the missing weights too, or export the model again with all weights.")
        .run(model(|set, model, out| weights_without_data(set, model, out, true))),
    Rule::note("PE114", "no weights in the files")
        .meaning(
            "Inputs that only the load programs use are weights, and the files have data for none of them. The \
             framework that exported the model may provide the weights; other runtimes ask the user for them.",
        )
        .fix(
            "To run the model without its framework, give the file with the weights too, or export the model with its \
             weights.",
        )
        .run(model(|set, model, out| weights_without_data(set, model, out, false))),
    Rule::warning("PE115", "data that no load or main program reads")
        .meaning(
            "An input has data in the files, but the program flow runs none of the input's programs, neither to load \
             the model nor in a call. So the data is never uploaded.",
        )
        .fix("Compare the input's programs with the program flow, and export the model again.")
        .run(model(|_, model, out| {
            let is_read = |anchor: &Anchor| model.runs_in(anchor, Phase::Load) || model.runs_in(anchor, Phase::Main);
            for (anchor, source) in model.anchors().filter(|(anchor, _)| anchor.tensor_type == TensorType::Input) {
                if matches!(source, Source::Tensor(_) | Source::Feed(_))
                    && !anchor.programs.is_empty()
                    && !is_read(anchor)
                {
                    out.add(Spot::model(model), [anchor.name.by_ref()], || {
                        let (name, programs) = (quote(&anchor.name), numbers(&anchor.programs));
                        format!(
                            "input {name} has data, but its programs ({programs}) are neither load nor main programs"
                        )
                    });
                }
            }
        })),
];

/// Iterates over weights without data in the files: inputs that only load programs use, except the seed.
pub(super) fn missing_weights(model: &Model) -> impl Iterator<Item = &Anchor> {
    let weights = model.inputs_from_user().filter(|anchor| is_weight(model, anchor));
    weights.filter(|anchor| anchor.handle.is_empty() || anchor.handle != model.metadata().seed_handle)
}

fn is_weight(model: &Model, anchor: &Anchor) -> bool {
    model.runs_in(anchor, Phase::Load) && !model.runs_in(anchor, Phase::Main)
}

/// Returns whether PopART keeps the state of its random numbers in this input. It has no data in a model that was compiled without
/// a device.
fn is_random_state(anchor: &Anchor) -> bool {
    anchor.name.as_bytes() == b"rngStateTensor" && anchor.handle.as_bytes() == b"h2d_rngStateTensor"
}

fn weights_without_data(set: &Set, model: &Model, out: &mut Findings<'_>, beside_others: bool) {
    let missing = || missing_weights(model).filter(|anchor| !is_random_state(anchor));
    let number = u64::try_from(missing().count()).unwrap_or(u64::MAX);
    // In a damaged file, the data may be in the lost part.
    if number == 0 || !set.complete {
        return;
    }
    let has_others = model.tensors_to_upload().any(|(anchor, _)| is_weight(model, anchor));
    if has_others == beside_others {
        out.add(Spot::model(model), missing().map(|anchor| anchor.name.by_ref()), || {
            let names = list(missing().map(|anchor| &anchor.name), number);
            if beside_others {
                format!("the files have data for other weights, but not for {names}")
            } else {
                format!("the files have no data for {}: {names}", count(number, "weight"))
            }
        });
    }
}

/// Numbers on one line: the first few.
fn numbers(numbers: &[u32]) -> String {
    const MOST: usize = 5;
    let shown: Vec<_> = numbers.iter().take(MOST).map(u32::to_string).collect();
    let more = if numbers.len() > MOST { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Describes where a blob is, for a finding about another one.
fn at(set: &Set, blob: &Linked<Blob<'_>>) -> String {
    let file = match set.files().get(blob.file).and_then(File::path) {
        Some(path) if set.files().len() > 1 => format!(" of {}", escape(&path.display().to_string())),
        None if set.files().len() > 1 => format!(" of file {}", blob.file),
        _ => String::new(),
    };
    format!("blob {} at byte {}{file}", blob.index(), blob.offset())
}

fn same_name(set: &Set, blob: &Linked<Blob<'_>>, out: &mut Findings<'_>, key: Key, kind: &str) {
    if let Some(first) = set.earlier(key, blob) {
        told_already(set, blob, &first, out, kind);
    }
}

fn told_already(set: &Set, blob: &Linked<Blob<'_>>, first: &Linked<Blob<'_>>, out: &mut Findings<'_>, kind: &str) {
    let name = blob.name().unwrap_or_default();
    out.add(Spot::blob(blob.file, blob), [name.clone()], || {
        format!("duplicate {kind} {}; the first is {}", quote(&name), at(set, first))
    });
}

fn without_anchor(set: &Set, out: &mut Findings<'_>, key: Key, kind: &str) {
    let mut data = set.blobs().filter(|blob| blob.as_data().is_some()).peekable();
    if set.metadata().next().is_none() {
        if data.peek().is_some() {
            out.skip(
                "whether anything uses the tensors and feeds",
                "none of the files has metadata, which lists the anchors",
            );
        }
        return;
    }
    let is_unused = |blob: &Linked<Blob<'_>>| {
        let first = blob.named_by(key).and_then(|name| set.links.first(key, name));
        set.complete && first.is_some_and(|first| !set.uses.is_named(first))
    };
    let mut unused = data.filter(is_unused).peekable();
    if unused.peek().is_none() {
        return;
    }
    let mut like = Wanted::default();
    let mut places = Vec::new();
    for blob in unused {
        like.add(&blob.name().unwrap_or_default());
        if places.try_reserve(1).is_err() {
            return out.no_memory();
        }
        places.push(id_of(&blob));
    }
    see_unbound_anchors(set, &mut like);
    for blob in places.into_iter().filter_map(|id| set.linked(id)) {
        let name = blob.name().unwrap_or_default();
        out.add(Spot::blob(blob.file, &blob), [name.clone()], || {
            format!("{kind} {}: no anchor has this name{}", quote(&name), like.hint(&name, "anchor"))
        });
    }
}

/// Offers the anchors without data in the files. Another rule reports metadata that cannot be read.
fn see_unbound_anchors(set: &Set, like: &mut Wanted) {
    let has_data = |name: &Text<'_>| {
        [Key::TENSOR, Key::FEED].into_iter().any(|key| set.links.first(key, name.as_bytes()).is_some())
    };
    if like.is_empty() {
        return;
    }
    for metadata in set.metadata().filter_map(|metadata| metadata.read().ok()) {
        for anchor in metadata.anchors.iter().filter(|anchor| !has_data(&anchor.name)) {
            like.see(&anchor.name);
        }
    }
}

fn lacks_executable(set: &Set, name: &Text<'_>) -> bool {
    set.complete && set.links.first(Key::EXECUTABLE, name.as_bytes()).is_none()
}

/// Finds executables whose names look like names that were not found.
fn executables_like<'t>(set: &Set, names: impl Iterator<Item = Text<'t>>) -> Wanted {
    let mut like = Wanted::default();
    names.for_each(|name| like.add(&name));
    if !like.is_empty() {
        set.executables().for_each(|executable| like.see(&executable.name()));
    }
    like
}

fn data_for_output(set: &Set, out: &mut Findings<'_>) {
    for blob in set.blobs() {
        let Some(data) = blob.as_data() else { continue };
        let key = if data.is_feed() { Key::FEED } else { Key::TENSOR };
        let name = data.name();
        if set.links.first(key, name.as_bytes()).is_some_and(|first| set.uses.is_only_output(first)) {
            out.add(Spot::blob(blob.file, &blob), [name.clone()], || {
                format!("the data for {0} is never read: {0} is only an output", quote(&name))
            });
        }
    }
}

fn blob_of<'s>(opaque: &Linked<OpaqueBlob<'s>>) -> Linked<Blob<'s>> {
    Linked::new(opaque.file, *opaque.blob.blob())
}

/// Reports opaque blobs with the same name for the same executable.
fn same_opaque(set: &Set, out: &mut Findings<'_>) {
    let Ok(mut names) = Names::with_capacity(set.opaques().count()) else { return out.no_memory() };
    for opaque in set.opaques() {
        names.push((opaque.name().as_bytes(), opaque.executable().as_bytes()), id_of(&blob_of(&opaque)));
    }
    names.sort();
    for opaque in set.opaques() {
        let (name, executable, blob) = (opaque.name(), opaque.executable(), blob_of(&opaque));
        let same = names.candidates((name.as_bytes(), executable.as_bytes())).filter_map(|id| set.linked(id));
        let first = same.into_iter().find(|other| {
            other.name().as_ref() == Some(&name) && other.named_by(Key::OPAQUE_OF) == Some(executable.as_bytes())
        });
        if let Some(first) = first.filter(|first| id_of(first) != id_of(&blob)) {
            told_already(set, &blob, &first, out, "opaque blob");
        }
    }
}

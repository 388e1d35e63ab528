//! What belongs together by name.

use std::collections::HashSet;

use super::finding::{Out, Severity};
use super::quote::quote;
use super::rule::{Rule, When};
use super::set::{Place, Set, by_name, doubled};
use crate::model::Linked;
use crate::read::Blob;
use crate::types::{TensorType, Text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PE101",
        severity: Severity::Error,
        title: "metadata for an executable that is not there",
        meaning: "The metadata names an executable that none of the files has. The model cannot be loaded.",
        mend: "Give the file with the executable too, or export the model again.",
        when: When::Always,
        run: |set, out| {
            for model in set.models.iter().filter(|model| set.complete && model.executable().is_none()) {
                let (blob, name) = (model.metadata_blob(), &model.metadata().executable);
                out.add(Place::blob(blob.file, blob.blob.blob()), [name.clone()], || {
                    format!("the metadata is for executable {}, which is in none of the files", quote(name))
                });
            }
        },
    },
    Rule {
        id: "PE102",
        severity: Severity::Warning,
        title: "an opaque blob for an executable that is not there",
        meaning: "An opaque blob names an executable that none of the files has. The framework that wrote it will not \
                  find its executable.",
        mend: "Give the file with the executable too, or export the model again.",
        when: When::Always,
        run: |set, out| {
            for opaque in set.opaques().filter(|_| set.complete) {
                let executable = opaque.executable();
                if set.linker.executable(&executable, opaque.file).is_none() {
                    out.add(Place::blob(opaque.file, opaque.blob.blob()), [opaque.name(), executable.clone()], || {
                        let (name, executable) = (quote(&opaque.name()), quote(&executable));
                        format!("opaque blob {name} is for executable {executable}, which is in none of the files")
                    });
                }
            }
        },
    },
    Rule {
        id: "PE103",
        severity: Severity::Warning,
        title: "an executable without metadata",
        meaning: "No metadata names the executable. The model runtimes and Triton cannot run it; only the framework \
                  that wrote it may, by its opaque blob.",
        mend: "Give the file with the metadata too. PopART leaves it out where it cannot describe a model, and says so \
               when it exports.",
        when: When::Always,
        run: executable_without_metadata,
    },
    Rule {
        id: "PE104",
        severity: Severity::Error,
        title: "two metadata blobs for one executable",
        meaning: "More than one metadata blob names the same executable. PopART refuses such a set; which one others \
                  take is not known.",
        mend: "Give each model's files on their own, or leave one of the metadata blobs out.",
        when: When::Always,
        run: |set, out| {
            let metadata = set.linker.metadata().map(|blob| (blob.executable(), blob));
            for (first, blob) in doubled(metadata) {
                let name = blob.executable();
                out.add(Place::blob(blob.file, blob.blob.blob()), [name.clone()], || {
                    format!("executable {} has metadata already, {}", quote(&name), at(set, &first, first.blob.blob()))
                });
            }
        },
    },
    Rule {
        id: "PE105",
        severity: Severity::Error,
        title: "two executables of one name",
        meaning: "The name of an executable has to be its own. Which of the two a loader takes is not known; PopART \
                  refuses the file.",
        mend: "Give each model's files on their own, or export one of them under another name.",
        when: When::Always,
        run: |set, out| {
            for (first, blob) in doubled(set.executables().map(|blob| (blob.name(), blob))) {
                same_name(set, out, "executable", (&first, first.blob.blob()), (&blob, blob.blob.blob()));
            }
        },
    },
    Rule {
        id: "PE106",
        severity: Severity::Error,
        title: "two tensors of one name",
        meaning: "Two tensor blobs have the same name. Which one is loaded is not known, and the model may run with \
                  the wrong weights.",
        mend: "Leave one of them out. Files given together count as one set: check models that have nothing to do \
               with each other one by one.",
        when: When::Always,
        run: |set, out| {
            for (first, blob) in doubled(set.tensors().map(|blob| (blob.name(), blob))) {
                same_name(set, out, "tensor", (&first, first.blob.blob()), (&blob, blob.blob.blob()));
            }
        },
    },
    Rule {
        id: "PE107",
        severity: Severity::Error,
        title: "two feeds of one name",
        meaning: "Two feed blobs have the same name. Which one is fed is not known.",
        mend: "Leave one of them out, or write one feed with the tensors of both.",
        when: When::Always,
        run: |set, out| {
            for (first, blob) in doubled(set.feeds().map(|blob| (blob.name(), blob))) {
                same_name(set, out, "feed", (&first, first.blob.blob()), (&blob, blob.blob.blob()));
            }
        },
    },
    Rule {
        id: "PE108",
        severity: Severity::Warning,
        title: "a tensor that no anchor names",
        meaning: "No anchor of any model has the tensor's name, so nothing will use it. A slip in a name looks like \
                  this: the anchor that was meant then waits for data from the user.",
        mend: "Compare its name with the anchors'. If nothing needs it, leave it out.",
        when: When::Always,
        run: |set, out| {
            without_anchor(
                set,
                out,
                "tensor",
                set.tensors().map(|tensor| (tensor.name(), tensor.file, *tensor.blob.blob())),
            );
        },
    },
    Rule {
        id: "PE109",
        severity: Severity::Warning,
        title: "a feed that no anchor names",
        meaning: "No anchor of any model has the feed's name, so nothing will be fed from it.",
        mend: "Compare its name with the anchors'. If nothing needs it, leave it out.",
        when: When::Always,
        run: |set, out| {
            without_anchor(set, out, "feed", set.feeds().map(|feed| (feed.name(), feed.file, *feed.blob.blob())));
        },
    },
    Rule {
        id: "PE110",
        severity: Severity::Error,
        title: "a tensor and a feed of one name",
        meaning: "Both a tensor and a feed have the name of an anchor. Which of the two a runtime takes is not known.",
        mend: "Leave one of them out.",
        when: When::Always,
        run: tensor_and_feed,
    },
    Rule {
        id: "PE111",
        severity: Severity::Warning,
        title: "data for what is only an output",
        meaning: "The anchors of this name are outputs. A runtime writes to outputs and never reads the data.",
        mend: "If it is an expected result, keep it in a file of its own. If it is a weight, the model lacks the \
               input anchor that loads it.",
        when: When::Always,
        run: data_for_output,
    },
    Rule {
        id: "PE112",
        severity: Severity::Warning,
        title: "two opaque blobs of one name for one executable",
        meaning: "A framework looks for its opaque blob by name and executable, and finds two. Which one it takes is \
                  not known; PopART refuses the file.",
        mend: "Leave the older one out.",
        when: When::Always,
        run: |set, out| {
            let opaques = set.opaques().map(|blob| ((blob.name(), blob.executable()), blob));
            for (first, blob) in doubled(opaques) {
                same_name(set, out, "opaque blob", (&first, first.blob.blob()), (&blob, blob.blob.blob()));
            }
        },
    },
];

/// Where a blob is, for a finding about another one.
fn at<B>(set: &Set<'_>, linked: &Linked<B>, blob: &Blob<'_>) -> String {
    let file = match set.files.get(linked.file).and_then(|file| file.path()) {
        Some(path) if set.files.len() > 1 => format!(" of {}", path.display().to_string().escape_debug()),
        None if set.files.len() > 1 => format!(" of file {}", linked.file),
        _ => String::new(),
    };
    format!("in blob {} at byte {}{file}", blob.index(), blob.offset())
}

fn same_name<B>(
    set: &Set<'_>,
    out: &mut Out<'_>,
    kind: &str,
    first: (&Linked<B>, &Blob<'_>),
    other: (&Linked<B>, &Blob<'_>),
) {
    let name = other.1.name().unwrap_or_default();
    out.add(Place::blob(other.0.file, other.1), [name.clone()], || {
        format!("{kind} {} is there already, {}", quote(&name), at(set, first.0, first.1))
    });
}

fn executable_without_metadata(set: &Set<'_>, out: &mut Out<'_>) {
    let named: HashSet<_> = set.linker.metadata().map(|metadata| metadata.executable()).collect();
    for executable in set.executables().filter(|executable| set.complete && !named.contains(&executable.name())) {
        out.add(Place::blob(executable.file, executable.blob.blob()), [executable.name()], || {
            format!("no metadata is for executable {}", quote(&executable.name()))
        });
    }
}

/// The names of all anchors, or none if there is no metadata and so nothing to say.
fn anchor_names<'s>(set: &'s Set<'_>, out: &mut Out<'_>) -> Option<HashSet<&'s Text<'static>>> {
    if set.linker.metadata().next().is_none() {
        if set.tensors().next().is_some() || set.feeds().next().is_some() {
            out.skip("whether anything uses the tensors and feeds", "none of the files has metadata, and so anchors");
        }
        return None;
    }
    let anchors = set.models.iter().flat_map(|model| &model.metadata().anchors);
    set.complete.then(|| anchors.map(|anchor| &anchor.name).collect())
}

fn without_anchor<'f>(
    set: &Set<'f>,
    out: &mut Out<'_>,
    kind: &str,
    data: impl Iterator<Item = (Text<'f>, usize, Blob<'f>)>,
) {
    let Some(names) = anchor_names(set, out) else { return };
    for (name, file, blob) in data.filter(|(name, ..)| !names.contains(name)) {
        out.add(Place::blob(file, &blob), [name.clone()], || format!("no anchor is named as {kind} {}", quote(&name)));
    }
}

fn tensor_and_feed(set: &Set<'_>, out: &mut Out<'_>) {
    let tensors = by_name(set.tensors().map(|tensor| (tensor.name(), tensor)));
    for feed in set.feeds() {
        let Some(tensor) = tensors.get(&feed.name()).and_then(|tensors| tensors.first()) else { continue };
        out.add(Place::blob(feed.file, feed.blob.blob()), [feed.name()], || {
            let place = at(set, tensor, tensor.blob.blob());
            format!("feed {} has the name of a tensor, {place}", quote(&feed.name()))
        });
    }
}

fn data_for_output(set: &Set<'_>, out: &mut Out<'_>) {
    let anchors = set.models.iter().flat_map(|model| &model.metadata().anchors);
    let (outputs, others): (Vec<_>, Vec<_>) = anchors.partition(|anchor| anchor.tensor_type == TensorType::Output);
    let others: HashSet<_> = others.iter().map(|anchor| &anchor.name).collect();
    let only: HashSet<_> = outputs.iter().map(|anchor| &anchor.name).filter(|name| !others.contains(name)).collect();
    let tensors = set.tensors().map(|tensor| (tensor.name(), tensor.file, *tensor.blob.blob()));
    let feeds = set.feeds().map(|feed| (feed.name(), feed.file, *feed.blob.blob()));
    for (name, file, blob) in tensors.chain(feeds).filter(|(name, ..)| only.contains(name)) {
        out.add(Place::blob(file, &blob), [name.clone()], || {
            format!("the data of {} is never read: it is only an output", quote(&name))
        });
    }
}

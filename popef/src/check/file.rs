//! The file itself: damage, types that are not known, names.

use super::finding::{Out, Severity};
use super::quote::{count, is_control, quote};
use super::rule::{Rule, When};
use super::set::{Place, Set, in_groups};
use crate::error::{ErrorKind, Problem};
use crate::read::Content;
use crate::types::{BlobType, DataType, TensorType, Text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PE001",
        severity: Severity::Error,
        title: "bytes that are no blob at the end",
        meaning: "After the last whole blob there are bytes left, too few to begin another. The file was cut while it \
                  was written or copied, or something was appended to it. Loaders refuse such a file.",
        mend: "Copy or export the file again. If what is in front of the byte named is all you need, write those \
               blobs to a new file.",
        when: When::Always,
        run: |set, out| damage(set, out, |problem| matches!(problem, Problem::HeaderCut { .. })),
    },
    Rule {
        id: "PE002",
        severity: Severity::Error,
        title: "a blob is incomplete",
        meaning: "A blob's header gives it more bytes than the file has left: a download or copy that broke off, or a \
                  full disk.",
        mend: "Compare the file's size and checksum with the original's and copy it again.",
        when: When::Always,
        run: |set, out| damage(set, out, |problem| matches!(problem, Problem::SizePastEnd { .. } | Problem::Unwritten)),
    },
    Rule {
        id: "PE003",
        severity: Severity::Error,
        title: "a blob is smaller than its own messages",
        meaning: "A blob's header gives it fewer bytes than its header and info message take. Exporters write the \
                  size last, so the export was most likely interrupted.",
        mend: "Export the model again.",
        when: When::Always,
        run: |set, out| damage(set, out, |problem| matches!(problem, Problem::SizeTooSmall { .. })),
    },
    Rule {
        id: "PE004",
        severity: Severity::Error,
        title: "what should be a blob cannot be read",
        meaning: "A header or info message is not a Cap'n Proto message of PopEF's schema. The file is not a PopEF \
                  file, or bytes in it were overwritten, or something else was appended to it.",
        mend: "Make sure that this is the file you meant, and export it again.",
        when: When::Always,
        run: |set, out| {
            damage(set, out, |problem| {
                let told_apart = matches!(
                    problem,
                    Problem::HeaderCut { .. }
                        | Problem::SizePastEnd { .. }
                        | Problem::Unwritten
                        | Problem::SizeTooSmall { .. }
                );
                problem.kind() == ErrorKind::Damaged && !told_apart
            });
        },
    },
    Rule {
        id: "PE005",
        severity: Severity::Error,
        title: "a message beyond the limits",
        meaning: "Reading a message would cost far more than its length: no exporter writes such a message, but an \
                  attacker does, to fill a loader's memory.",
        mend: "Do not load the file. If you know where it is from and that its metadata is that large, open it with \
               higher limits.",
        when: When::Always,
        run: beyond_limits,
    },
    Rule {
        id: "PE006",
        severity: Severity::Warning,
        title: "a blob of unknown type",
        meaning: "The blob's type is none of the five that the format has. It comes from a later version, or its \
                  bytes are not what they were. What loaders do with it is not known.",
        mend: "Find out what wrote it. If nothing needs it, leave it out.",
        when: When::Always,
        run: |set, out| {
            for blob in set.blobs() {
                if let BlobType::Other(number) = blob.blob_type() {
                    out.add(Place::blob(blob.file, &blob), [], || {
                        format!("a blob of type {number}, of which only 0 to 4 are known")
                    });
                }
            }
        },
    },
    Rule {
        id: "PE007",
        severity: Severity::Warning,
        title: "a file without blobs",
        meaning: "The file holds nothing. That is a valid PopEF file, and no model.",
        mend: "Look whether the export failed, and export again.",
        when: When::Always,
        run: |set, out| {
            for (file, opened) in set.files.iter().enumerate() {
                if opened.is_empty() && opened.damage().is_none() {
                    out.add(Place::file(file), [], || {
                        format!("the file has {} and no blobs", count(opened.size(), "byte"))
                    });
                }
            }
        },
    },
    Rule {
        id: "PE008",
        severity: Severity::Note,
        title: "more data than the shape calls for",
        meaning: "A tensor or feed has bytes behind its last element. They are no part of it. The vendor's own \
                  listing shows such a file, so loaders take it; why it is so is not known.",
        mend: "Nothing needs to be done. Written anew, the blob comes out without them.",
        when: When::Always,
        run: surplus,
    },
    Rule {
        id: "PE009",
        severity: Severity::Warning,
        title: "data behind metadata",
        meaning: "A metadata blob has bytes behind its message. The format has none there; something was hidden or \
                  overwritten, or the size is wrong.",
        mend: "Export the model again.",
        when: When::Always,
        run: |set, out| {
            for metadata in set.linker.metadata() {
                let blob = metadata.blob.blob();
                if !blob.data().is_empty() {
                    out.add(Place::data(metadata.file, blob), [], || {
                        format!("{} behind the metadata, which has no data", count(blob.data().len(), "byte"))
                    });
                }
            }
        },
    },
    Rule {
        id: "PE010",
        severity: Severity::Error,
        title: "an executable without a name",
        meaning: "The name of an executable is empty. The format forbids that, and neither metadata nor opaque blobs \
                  can refer to it.",
        mend: "Export the model again with a name for its executable.",
        when: When::Always,
        run: |set, out| {
            for executable in set.executables().filter(|executable| executable.name().is_empty()) {
                out.add(Place::blob(executable.file, executable.blob.blob()), [], || {
                    "the executable's name is empty, so nothing can refer to it".to_owned()
                });
            }
        },
    },
    Rule {
        id: "PE011",
        severity: Severity::Warning,
        title: "data without a name",
        meaning: "The name of a tensor, feed or opaque blob is empty. Data is found by its name, so most likely \
                  nothing uses it.",
        mend: "Export it again under the name of its anchor, or leave it out.",
        when: When::Always,
        run: |set, out| {
            let unnamed = |blob_type| !matches!(blob_type, BlobType::PoplarExecutable);
            for blob in set.blobs().filter(|blob| unnamed(blob.blob_type())) {
                if blob.name().is_some_and(|name| name.is_empty()) {
                    out.add(Place::blob(blob.file, &blob), [], || {
                        format!("the blob of type {} has no name", blob.blob_type())
                    });
                }
            }
        },
    },
    Rule {
        id: "PE012",
        severity: Severity::Warning,
        title: "a name that is not UTF-8",
        meaning: "A name's bytes are no UTF-8 text. Programs in Python and most others cannot spell such a name, so \
                  they cannot ask for it.",
        mend: "Rename it in the model and export again.",
        when: When::Always,
        run: |set, out| {
            for_each_name(set, &mut |place, kind, name| {
                if let Err(error) = name.to_str() {
                    out.add(place, [name.clone()], || {
                        format!("{kind} {} is not UTF-8 from byte {} on", quote(name), error.valid_up_to())
                    });
                }
            });
        },
    },
    Rule {
        id: "PE013",
        severity: Severity::Warning,
        title: "a name with control characters",
        meaning: "A name holds characters that are not shown but act: line feeds, terminal escapes, zero bytes, or \
                  such that turn the direction of text around. It can look like another name, and do things to the \
                  terminal of whoever lists it.",
        mend: "Rename it in the model and export again. If you did not make the model, be careful with it.",
        when: When::Always,
        run: |set, out| {
            for_each_name(set, &mut |place, kind, name| {
                if let Some(letter) = name.to_string_lossy().chars().find(|&letter| is_control(letter)) {
                    out.add(place, [name.clone()], || {
                        format!("{kind} {} holds the control character U+{:04X}", quote(name), u32::from(letter))
                    });
                }
            });
        },
    },
    Rule {
        id: "PE014",
        severity: Severity::Note,
        title: "a blob with a version",
        meaning: "All files of the vendor's have an empty version. What loaders do with another one is not known.",
        mend: "If the file does not load, export it with an empty version.",
        when: When::Always,
        run: |set, out| {
            let versioned = set.blobs().filter(|blob| !blob.version().is_empty());
            let versioned = versioned.map(|blob| ((blob.file, blob.version()), blob));
            for blobs in in_groups(versioned) {
                let Some(first) = blobs.first() else { continue };
                out.add(Place::blob(first.file, first), [first.version()], || {
                    let number = count(u64::try_from(blobs.len()).unwrap_or(u64::MAX), "blob");
                    let version = quote(&first.version());
                    format!(
                        "of version {version}, where the vendor's files have none: {number}, of which this is the first"
                    )
                });
            }
        },
    },
    Rule {
        id: "PE015",
        severity: Severity::Warning,
        title: "an unknown data type",
        meaning: "A tensor's element type is none that the format has, so nobody can say how large its elements are. \
                  Its data was not checked.",
        mend: "Find out what wrote it, or export it with a type that is known.",
        when: When::Always,
        run: unknown_data_type,
    },
    Rule {
        id: "PE016",
        severity: Severity::Warning,
        title: "an anchor of unknown direction",
        meaning: "An anchor is neither input nor output, nor of the type that says so. Runtimes cannot connect it.",
        mend: "Find out what wrote it, and export the model again.",
        when: When::Always,
        run: |set, out| {
            for model in &set.models {
                for anchor in &model.metadata().anchors {
                    if let TensorType::Other(number) = anchor.tensor_type {
                        let blob = model.metadata_blob();
                        out.add(Place::blob(blob.file, blob.blob.blob()), [anchor.name.clone()], || {
                            format!(
                                "anchor {} is of type {number}, of which only 0 to 2 are known",
                                quote(&anchor.name)
                            )
                        });
                    }
                }
            }
        },
    },
    Rule {
        id: "PE017",
        severity: Severity::Warning,
        title: "an executable without bytes",
        meaning: "An executable blob has no data. No program can be loaded from it.",
        mend: "Export the model again; look whether the disk was full.",
        when: When::Always,
        run: |set, out| {
            for executable in set.executables().filter(|executable| executable.data().is_empty()) {
                out.add(Place::data(executable.file, executable.blob.blob()), [executable.name()], || {
                    format!("executable {} has no bytes", quote(&executable.name()))
                });
            }
        },
    },
];

/// Damage of the kinds of one rule, in files opened all the same and in files that were not.
fn damage(set: &Set<'_>, out: &mut Out<'_>, is_it: impl Fn(&Problem) -> bool) {
    let opened = set.files.iter().enumerate().filter_map(|(file, opened)| Some((file, opened.damage()?)));
    for (file, error) in opened.chain(set.damaged.iter().copied()).filter(|(_, error)| is_it(error.problem())) {
        out.add(Place::of_error(file, error), [], || error.reason());
    }
}

fn beyond_limits(set: &Set<'_>, out: &mut Out<'_>) {
    damage(set, out, |problem| problem.kind() == ErrorKind::Limit);
    for (place, error) in &set.unreadable {
        out.add(*place, [], || error.reason());
    }
}

fn surplus(set: &Set<'_>, out: &mut Out<'_>) {
    for blob in set.blobs() {
        let (surplus, name) = match blob.content() {
            Content::Tensor(tensor) => (tensor.surplus(), tensor.name()),
            Content::Feed(feed) => (feed.surplus(), feed.name()),
            _ => continue,
        };
        if surplus > 0 {
            let needed = blob.data().len().saturating_sub(surplus);
            out.add(Place::data(blob.file, &blob), [name.clone()], || {
                format!(
                    "{} has {} more than the {needed} that its shape calls for",
                    quote(&name),
                    count(surplus, "byte")
                )
            });
        }
    }
}

fn unknown_data_type(set: &Set<'_>, out: &mut Out<'_>) {
    let mut check = |place: Place, what: &str, name: &Text<'_>, data_type: DataType| {
        if let DataType::Other(number) = data_type {
            out.add(place, [name.clone()], || {
                format!("{what} {} is of data type {number}, of which only 0 to 14 are known", quote(name))
            });
        }
    };
    for tensor in set.tensors() {
        check(Place::blob(tensor.file, tensor.blob.blob()), "tensor", &tensor.name(), tensor.data_type());
    }
    for feed in set.feeds() {
        check(Place::blob(feed.file, feed.blob.blob()), "feed", &feed.name(), feed.data_type());
    }
    for model in &set.models {
        let blob = model.metadata_blob();
        for anchor in &model.metadata().anchors {
            check(Place::blob(blob.file, blob.blob.blob()), "anchor", &anchor.name, anchor.tensor_info.data_type);
        }
    }
}

/// Every name and every other text that is shown, with what it is.
fn for_each_name(set: &Set<'_>, see: &mut impl FnMut(Place, &'static str, &Text<'_>)) {
    for blob in set.blobs() {
        let place = Place::blob(blob.file, &blob);
        see(place, "the version", &blob.version());
        if let Some(name) = blob.name() {
            see(place, "the name", &name);
        }
        if let Content::Opaque(opaque) = blob.content() {
            see(place, "the executable's name", &opaque.executable());
        }
    }
    for model in &set.models {
        let blob = model.metadata_blob();
        let place = Place::blob(blob.file, blob.blob.blob());
        let metadata = model.metadata();
        see(place, "the executable's name", &metadata.executable);
        see(place, "the seed's handle", &metadata.seed_handle);
        for anchor in &metadata.anchors {
            see(place, "the anchor's name", &anchor.name);
            see(place, "the handle", &anchor.handle);
        }
        for option in metadata.engine_options.iter().chain(&metadata.device_options) {
            see(place, "the option", &option.name);
            see(place, "the option's value", &option.value);
        }
        metadata.programs_map.iter().for_each(|program| see(place, "the program's name", &program.name));
    }
}

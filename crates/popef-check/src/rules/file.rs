//! Rules about the file itself: damage, unknown types, names.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::findings::{Findings, Spot};
use super::super::run::{Check, blob, blob_and_model, executable_and_data, model, set, set_and_unreadable};
use super::super::scan::{Executable, Scanned};
use super::super::set::{Set, id_of};
use super::super::start::{Start, Stored};
use super::super::words::{count, quote};
use popef::error::{ErrorCode, ErrorKind};
use popef::model::{Linked, Model};
use popef::read::{Blob, Content, ExecutableBlob, File};
use popef::seam::Names;
use popef::types::{BlobType, DataType, TensorType, Text, escape, is_hidden};
use popef_findings::Rule;

pub(super) const RULES: &[Check] = &[
    Rule::error("PE001", "trailing bytes that are not a blob")
        .meaning(
            "There are bytes after the last whole blob, too few to be another blob. The file was cut while it was \
             written or copied, or something was appended to it. Loaders refuse such a file.",
        )
        .fix(
            "Copy or export the file again. If you need only the whole blobs, popef recover writes them to a new file.",
        )
        .run(set(|set, out| damage(set, out, |code| code == ErrorCode::HeaderCut))),
    Rule::error("PE002", "an incomplete blob")
        .meaning(
            "A blob's header states more bytes than the file has left. A download or copy was interrupted, or the disk \
             was full.",
        )
        .fix(
            "Compare the file's size and checksum with those of the original, and copy it again. If you need only the \
             whole blobs, popef recover writes them to a new file.",
        )
        .run(set(|set, out| {
            damage(set, out, |code| matches!(code, ErrorCode::BlobCut | ErrorCode::BlobUnwritten));
        })),
    Rule::error("PE003", "a blob smaller than its own messages")
        .meaning(
            "A blob's header states fewer bytes than its header and info message have. Exporters write the size last, \
             so the export was most likely interrupted.",
        )
        .fix("Export the model again. If you need only the whole blobs, popef recover writes them to a new file.")
        .run(set(|set, out| damage(set, out, |code| code == ErrorCode::BlobTooSmall))),
    Rule::error("PE004", "a blob that cannot be read")
        .meaning(
            "A header or info message is not a Cap'n Proto message of PopEF's schema. The file is not a PopEF file, \
             its bytes were overwritten, or something else was appended to it.",
        )
        .fix(
            "Check whether this is the right file. If it is, copy or export it again. If you need only the whole \
             blobs, popef recover writes them to a new file.",
        )
        .run(set(|set, out| {
            damage(set, out, |code| {
                let told_apart = matches!(
                    code,
                    ErrorCode::HeaderCut | ErrorCode::BlobCut | ErrorCode::BlobUnwritten | ErrorCode::BlobTooSmall
                );
                code.kind() == ErrorKind::Damaged && !told_apart
            });
        })),
    Rule::error("PE005", "a message beyond the limits")
        .meaning(
            "Reading a message would cost far more than its length. No exporter writes such a message. It can be made \
             to fill the memory of a loader.",
        )
        .fix(
            "Do not load the file. If you made it and its metadata has to be that large, a program that uses this \
             library can open it with higher limits (popef::read::Limits).",
        )
        .run(set_and_unreadable(
            |set, out| damage(set, out, |code| code.kind() == ErrorKind::Limit),
            |metadata, error, out| out.add(Spot::blob(metadata.file, metadata), [], || error.reason()),
        )),
    Rule::warning("PE006", "a blob of unknown type")
        .meaning(
            "The blob's type is not one of the five types of the format. Either a later version of the format has this \
             type, or the bytes were changed. What loaders do with the blob is not known.",
        )
        .fix("Find out which program wrote the blob. If nothing needs it, remove it.")
        .run(blob(|_, blob, out| {
            if let BlobType::Other(number) = blob.blob_type() {
                out.add(Spot::blob(blob.file, blob), [], || {
                    format!("the blob has the type {number}; only 0 to 4 are known")
                });
            }
        })),
    Rule::error("PE007", "an empty file")
        .meaning(
            "The file has no bytes. As a list of no blobs it can be opened, but there is nothing in it to load. Most \
             likely, an export, an upload or a download failed before it wrote anything.",
        )
        .fix("Copy or export the file again. If your files may be empty, set PE007 to note in a policy.")
        .run(set(|set, out| {
            for (file, opened) in set.files().iter().enumerate() {
                if opened.is_empty() && opened.damage().is_none() {
                    out.add(Spot::file(file), [], || "the file is empty: it has no bytes, and so no blobs".to_owned());
                }
            }
        })),
    Rule::note("PE008", "more data than the shape requires")
        .meaning(
            "A tensor or feed has bytes after its last element, which are not part of it. They do no harm: the \
             vendor's own listing shows such a file, so loaders accept it. Their cause is not known.",
        )
        .fix("To remove the bytes, use popef set --drop-surplus.")
        .run(blob(surplus)),
    Rule::warning("PE009", "data after metadata")
        .meaning(
            "A metadata blob has bytes after its message. The format has no data there: something was hidden there or \
             overwritten, or the blob's size is wrong.",
        )
        .fix("Remove the bytes with popef set --drop-surplus, or export the model again.")
        .run(blob(|_, blob, out| {
            if blob.blob_type() == BlobType::Metadata && !blob.data().is_empty() {
                out.add(Spot::data(blob.file, blob), [], || {
                    format!("{} after the metadata, which has no data", count(blob.data().len(), "byte"))
                });
            }
        })),
    Rule::error("PE010", "an executable without a name")
        .meaning(
            "The name of an executable is empty. The format forbids that: neither metadata nor opaque blobs can refer \
             to it.",
        )
        .fix("Give it a name with popef set --rename =NAME, or export the model again with one.")
        .run(blob(|_, blob, out| {
            if blob.blob_type() == BlobType::PoplarExecutable && is_unnamed(blob) {
                out.add(Spot::blob(blob.file, blob), [], || {
                    "the executable's name is empty, so nothing can refer to it".to_owned()
                });
            }
        })),
    Rule::warning("PE011", "data without a name")
        .meaning(
            "The name of a tensor, feed or opaque blob is empty. Tensors and feeds are found by the name of their \
             anchor, and opaque blobs by the name of their framework, so most likely nothing uses this blob.",
        )
        .fix("Export the blob again under its name, or remove it.")
        .run(blob(|_, blob, out| {
            if blob.blob_type() != BlobType::PoplarExecutable && is_unnamed(blob) {
                out.add(Spot::blob(blob.file, blob), [], || {
                    let (kind, found_by) = match blob.content() {
                        Content::Opaque(_) => ("opaque blob", "framework"),
                        Content::Feed(_) => ("feed", "anchor"),
                        _ => ("tensor", "anchor"),
                    };
                    format!("the {kind} has no name, so no {found_by} can find it")
                });
            }
        })),
    Rule::warning("PE012", "a name that is not UTF-8")
        .meaning(
            "The bytes of a name are not UTF-8 text. Programs in Python and most other languages cannot write such a \
             name, so they cannot ask for it.",
        )
        .fix("Rename it in the model, and export the model again.")
        .run(blob_and_model(
            |_, blob, out| names_of_blob(blob, &mut |place, kind, name| not_utf8(out, place, kind, name)),
            |_, model, out| names_of_model(model, &mut |place, kind, name| not_utf8(out, place, kind, name)),
        )),
    Rule::warning("PE013", "a name with control characters")
        .meaning(
            "A name has characters that are not visible but have an effect: line feeds, terminal escapes, NUL, or \
             characters that reverse the direction of text. It can look like another name, and affect the terminal \
             where it is listed.",
        )
        .fix(
            "Rename it with popef set --rename, or in the model before you export it again. If you did not make the \
             model, be careful with it.",
        )
        .run(blob_and_model(
            |_, blob, out| names_of_blob(blob, &mut |place, kind, name| controls(out, place, kind, name)),
            |_, model, out| names_of_model(model, &mut |place, kind, name| controls(out, place, kind, name)),
        )),
    Rule::note("PE014", "a blob with a version")
        .meaning(
            "The version of a blob is not empty. It is empty in all files from the vendor, and what loaders do with \
             another version is not known.",
        )
        .fix("If a loader refuses the file, empty the versions with popef set --set-version=.")
        .run(set(versions)),
    Rule::warning("PE015", "an unknown data type")
        .meaning(
            "The element type of a tensor is not a type of the format, so the size of its elements is not known. Its \
             data was not checked.",
        )
        .fix("Find out which program wrote it, or export it with a known type.")
        .run(blob_and_model(
            |_, blob, out| {
                if let Some(data) = blob.as_data() {
                    let kind = if data.is_feed() { "feed" } else { "tensor" };
                    unknown_data_type(out, Spot::blob(blob.file, blob), kind, &data.name(), data.data_type());
                }
            },
            |_, model, out| {
                for anchor in &model.metadata().anchors {
                    let data_type = anchor.tensor_info.data_type;
                    unknown_data_type(out, Spot::model(model), "anchor", &anchor.name, data_type);
                }
            },
        )),
    Rule::warning("PE016", "an anchor of unknown direction")
        .meaning("An anchor's type is not input, output or unknown. Runtimes cannot connect it.")
        .fix("Find out which program wrote it, and export the model again.")
        .run(model(|_, model, out| {
            for anchor in &model.metadata().anchors {
                if let TensorType::Other(number) = anchor.tensor_type {
                    out.add(Spot::model(model), [anchor.name.by_ref()], || {
                        let name = quote(&anchor.name);
                        format!("anchor {name} has the type {number}; only 0 to 2 are known")
                    });
                }
            }
        })),
    Rule::error("PE017", "an executable without bytes")
        .meaning("An executable blob has no data, so there is no program to load. The export has probably failed.")
        .fix("Export the model again. Check whether the disk was full.")
        .run(blob(|_, blob, out| {
            if blob.blob_type() == BlobType::PoplarExecutable && blob.data().is_empty() {
                let name = blob.name().unwrap_or_default();
                out.add(Spot::data(blob.file, blob), [name.clone()], || {
                    format!("executable {} has no bytes", quote(&name))
                });
            }
        })),
    Rule::error("PE018", "an executable that is something else")
        .meaning(
            "The first bytes of an executable are those of something else: zeros, a web page, a Git LFS pointer, a \
             zip, 7z or RAR archive, a pickle, or compressed data that is not declared as compressed. The download or \
             the export failed, or the file was made by hand. Inside compressed executables only a deep check finds \
             this.",
        )
        .fix("Get the executable again, and export the model again. For a Git LFS pointer, run git lfs pull first.")
        .run(executable_and_data(
            |executable, stored, out| {
                if let Stored::Plain(Start::Other(what)) = stored {
                    something_else(executable, what, out);
                }
            },
            |blob, scanned, out| {
                let Scanned::Executable(Ok(Executable { start: Start::Other(what), .. })) = scanned else { return };
                if let Some(executable) = blob.content().into_executable().filter(ExecutableBlob::is_compressed) {
                    something_else(&Linked::new(blob.file, executable), what, out);
                }
            },
        )),
    Rule::warning("PE019", "a file given twice")
        .meaning(
            "The same file was given more than once, by the same path or by another path or link. It is checked once.",
        )
        .fix("Give each file once.")
        .run(set(|set, out| {
            for (&file, again) in &set.again {
                out.add(Spot::file(file), [], || given_again(set.files().get(file).and_then(File::path), again));
            }
        })),
];

fn given_again(first: Option<&Path>, again: &[File]) -> String {
    const MOST: usize = 5;
    let times = again.len().saturating_add(1);
    let others: BTreeSet<&Path> = again.iter().filter_map(File::path).filter(|path| Some(*path) != first).collect();
    let mut shown: Vec<_> =
        others.iter().take(MOST).map(|path| escape(&path.display().to_string()).into_owned()).collect();
    if others.len() > MOST {
        shown.push("...".to_owned());
    }
    let also = if shown.is_empty() { String::new() } else { format!(", also as {}", shown.join(", ")) };
    format!("the file was given {times} times{also}; it is checked once")
}

fn something_else(executable: &Linked<ExecutableBlob<'_>>, what: &str, out: &mut Findings<'_>) {
    out.add(Spot::data(executable.file, executable.blob.blob()), [executable.name()], || {
        let (name, packed) = (quote(&executable.name()), if executable.is_compressed() { "unpacks to" } else { "is" });
        format!("executable {name} {packed} {what}")
    });
}

/// Reports damage of certain kinds, in opened files and in files that could not be opened. The rules have advice of their own.
fn damage(set: &Set, out: &mut Findings<'_>, is_it: impl Fn(ErrorCode) -> bool) {
    let opened = set.files().iter().enumerate().filter_map(|(file, opened)| Some((file, opened.damage()?)));
    let unopened = set.damaged.iter().map(|(file, error)| (*file, error));
    for (file, error) in opened.chain(unopened).filter(|(_, error)| is_it(error.code())) {
        out.add(Spot::of_error(file, error), [], || error.problem().to_string());
    }
}

fn is_unnamed(blob: &Blob<'_>) -> bool {
    blob.name().is_some_and(|name| name.is_empty())
}

fn surplus(_: &Set, blob: &Linked<Blob<'_>>, out: &mut Findings<'_>) {
    let Some(data) = blob.as_data() else { return };
    let surplus = data.surplus();
    if surplus > 0 {
        let (name, needed) = (data.name(), data.data().len().saturating_sub(surplus));
        out.add(Spot::data(blob.file, blob), [name.clone()], || {
            let (name, surplus) = (quote(&name), count(surplus, "byte"));
            format!("{name} has {surplus} more than the {needed} that its shape requires")
        });
    }
}

fn unknown_data_type(out: &mut Findings<'_>, place: Spot, what: &str, name: &Text<'_>, data_type: DataType) {
    if let DataType::Other(number) = data_type {
        out.add(place, [name.clone()], || {
            let last = DataType::ALL.last().map_or(0, |last| last.number());
            format!("{what} {} has the data type {number}; only 0 to {last} are known", quote(name))
        });
    }
}

/// Reports each version in each file once, with its first blob.
fn versions(set: &Set, out: &mut Findings<'_>) {
    let versioned = || set.blobs().filter(|blob| !blob.version().is_empty());
    let Ok(mut by_version) = Names::with_capacity(versioned().count()) else { return out.no_memory() };
    versioned().for_each(|blob| by_version.push((blob.file, blob.version().as_bytes()), id_of(&blob)));
    by_version.sort();
    for blob in versioned() {
        let version = blob.version();
        let same = by_version
            .candidates((blob.file, version.as_bytes()))
            .filter(|&id| set.linked(id).is_some_and(|other| other.file == blob.file && other.version() == version));
        let mut same = same.peekable();
        if same.peek() == Some(&id_of(&blob)) {
            out.add(Spot::blob(blob.file, &blob), [version.clone()], || {
                let (version, number) = (quote(&version), same.count());
                let first = match number {
                    1 => format!("the blob has the version {version}"),
                    _ => format!("{number} blobs have the version {version}, and this is the first of them"),
                };
                format!("{first}; in the vendor's files, versions are empty")
            });
        }
    }
}

fn not_utf8(out: &mut Findings<'_>, place: Spot, kind: &str, name: &Text<'_>) {
    if let Err(error) = name.to_str() {
        out.add(place, [name.clone()], || {
            format!("{kind} {} is not UTF-8 at byte {}", quote(name), error.valid_up_to())
        });
    }
}

fn controls(out: &mut Findings<'_>, place: Spot, kind: &str, name: &Text<'_>) {
    if let Some(letter) = name.chars().find(|&letter| is_hidden(letter)) {
        out.add(place, [name.clone()], || {
            let what = if letter.is_control() { "control" } else { "hidden" };
            format!("{kind} {} has the {what} character U+{:04X}", quote(name), u32::from(letter))
        });
    }
}

/// A function that is called with each name and a description of it.
type See<'s> = dyn FnMut(Spot, &'static str, &Text<'_>) + 's;

/// Calls `see` with every name and other text of a blob that listings show.
fn names_of_blob(blob: &Linked<Blob<'_>>, see: &mut See<'_>) {
    let place = Spot::blob(blob.file, blob);
    see(place, "the version", &blob.version());
    if let Some(name) = blob.name() {
        see(place, "the name", &name);
    }
    if let Content::Opaque(opaque) = blob.content() {
        see(place, "the executable's name", &opaque.executable());
    }
}

/// Calls `see` with every name and other text of metadata that listings show.
fn names_of_model(model: &Model, see: &mut See<'_>) {
    let (place, metadata) = (Spot::model(model), model.metadata());
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

//! Rules about shapes, and whether data fits them.

use std::collections::TryReserveError;
use std::num::NonZeroU32;

use super::super::findings::{Findings, Spot};
use super::super::run::{Check, blob, blob_and_model, model};
use super::super::set::{Set, id_of};
use super::super::words::{count, quote, shape};
use popef::error::ErrorCode;
use popef::model::{AnchorShape, FeedRuns, Linked, Model, Outer, Phase, ShapeMismatch, Source};
use popef::read::{Blob, DataBlob, Shape};
use popef::seam::BlobId;
use popef::types::{Anchor, Metadata, TensorType, Text};
use popef_findings::Rule;

pub(super) const RULES: &[Check] = &[
    Rule::error("PE301", "data with another type than its anchor")
        .meaning(
            "The elements of a tensor or feed have another type than its anchor. Runtimes copy the bytes as they are, \
             so the model computes with wrong numbers, or the copy fails.",
        )
        .fix("Convert the data to the type of the anchor, or export the model again.")
        .run(model(|set, model, out| {
            let differ = |anchor: &Anchor, data: &DataBlob<'_>| anchor.tensor_info.data_type != data.data_type();
            bound(set, model, out, differ, |anchor, data| {
                let (name, needed) = (quote(&anchor.name), anchor.tensor_info.data_type);
                format!("{} {name} has the type {}, but its anchor has {needed}", kind(data), data.data_type())
            });
        })),
    Rule::error("PE302", "data with another shape than its anchor")
        .meaning(
            "The shape of a tensor or feed does not fit its anchor. (The tensors of a feed may omit the batch, and the \
             dimensions for replicas and repeats.)",
        )
        .fix(
            "Export the data again with the anchor's shape, including the dimensions for replicas and repeats. If the \
             dimensions are only in another order, transpose the data: changing the shape alone would mix up its \
             elements.",
        )
        .run(model(|set, model, out| {
            let replicas = model.metadata().replication_factor;
            let differ = |anchor: &Anchor, data: &DataBlob<'_>| !fits(data, anchor, replicas);
            bound(set, model, out, differ, |anchor, data| {
                let (name, stored) = (quote(&anchor.name), shape(anchor.tensor_info.shape.iter().copied()));
                format!(
                    "{} {name} has the shape {}, but its anchor has {stored}",
                    kind(data),
                    shape(data.shape().iter())
                )
            });
        })),
    Rule::warning("PE303", "a shape without the replica dimension")
        .meaning(
            "An anchor has data of its own for each replica, so its shape has to begin with the replication factor, \
             or, if groups of replicas share a weight, with the number of groups. It begins with neither: the first \
             dimension is 1, or divides neither the replication factor nor the number of processes, or the anchor is \
             no weight. A runtime distributes the data wrongly.",
        )
        .fix("Export the model again.")
        .run(model(|_, model, out| outer(model, out, Outer::Replicas))),
    Rule::error("PE304", "a shape without the repeats dimension")
        .meaning(
            "An anchor uses a remote buffer of several blocks, so its shape must have the number of blocks as a \
             dimension, after the dimension for replicas. That dimension is missing, so a runtime copies the wrong \
             number of bytes.",
        )
        .fix("Export the model again.")
        .run(model(|_, model, out| outer(model, out, Outer::Repeats))),
    Rule::error("PE305", "a negative dimension")
        .meaning(
            "A shape has a dimension below zero. Exporters write -1 for a size that was not known when the model was \
             traced, but an executable has only fixed sizes.",
        )
        .fix("Compile the model with fixed sizes and export it again.")
        .run(blob_and_model(
            |_, blob, out| size(blob, out, ErrorCode::NegativeDimension),
            |_, model, out| anchor_size(model, out, ErrorCode::NegativeDimension),
        )),
    Rule::error("PE306", "less data than the shape requires")
        .meaning("A tensor or feed has fewer bytes than its shape and type require. Its last elements are missing.")
        .fix("Export the data again.")
        .run(blob(|_, blob, out| size(blob, out, ErrorCode::DataTooShort))),
    Rule::warning("PE307", "a feed without tensors")
        .meaning("A feed has 0 tensors. Its anchor counts as provided by the file, but there is nothing to feed.")
        .fix("Remove the feed with popef strip --drop, so that the user provides the data, or add the tensors.")
        .run(blob(|_, blob, out| {
            if let Some(feed) = blob.as_data().filter(|data| data.num_tensors() == 0) {
                out.add(Spot::blob(blob.file, blob), [feed.name()], || {
                    format!("feed {} has 0 tensors", quote(&feed.name()))
                });
            }
        })),
    Rule::warning("PE308", "a feed that ends within a call")
        .meaning(
            "A call takes device iterations × replication factor × batch samples of a feed. The number of samples in \
             the feed is not a multiple of that, so the last call lacks some. (With gradient accumulation, a call for \
             training takes more. The file does not state how many.)",
        )
        .fix("Cut or extend the feed to whole calls.")
        .run(model(feed_divides)),
    Rule::error("PE309", "a shape that is too large")
        .meaning(
            "The dimensions of a shape multiply to more bytes than a 64-bit number can count. The file is damaged, or \
             was made to crash loaders.",
        )
        .fix("Do not load the file. Export the model again.")
        .run(blob_and_model(
            |_, blob, out| size(blob, out, ErrorCode::ShapeTooLarge),
            |_, model, out| anchor_size(model, out, ErrorCode::ShapeTooLarge),
        )),
    Rule::warning("PE310", "feeds of different lengths for one program")
        .meaning(
            "Two inputs of one main program have feeds for different numbers of calls. The program runs only as often \
             as the shorter feed allows, and the rest of the longer feed is not used.",
        )
        .fix("Export the feeds again for the same number of calls.")
        .run(model(feeds_differ)),
];

fn kind(data: &DataBlob<'_>) -> &'static str {
    if data.is_feed() { "feed" } else { "tensor" }
}

/// Returns whether data has the shape of its anchor. Many anchors can have the name of one blob, so the work for an anchor
/// depends only on its own length.
fn fits(data: &DataBlob<'_>, anchor: &Anchor, replication_factor: u32) -> bool {
    if same(data.shape().iter(), &anchor.tensor_info.shape) {
        return true;
    }
    match AnchorShape::of(anchor, replication_factor) {
        Ok(parts) if data.is_feed() => fits_in_parts(data.shape(), &parts),
        _ => false,
    }
}

fn same(shape: impl ExactSizeIterator<Item = i64>, extents: &[i64]) -> bool {
    shape.len() == extents.len() && shape.eq(extents.iter().copied())
}

/// Returns whether the tensors of a feed have the model's own shape: with any batch, without one, or with replicas.
fn fits_in_parts(shape: Shape<'_>, parts: &AnchorShape) -> bool {
    let inner = parts.own.get(1..).unwrap_or_default();
    let with_replicas = || parts.clone().without_repeats().stored();
    let other_batch = shape.len() == parts.own.len() && same(shape.iter().skip(1), inner);
    same(shape.iter(), inner) || other_batch || same(shape.iter(), &with_replicas())
}

/// Iterates over the anchors whose data is in the files, with their data.
fn with_data(model: &Model) -> impl Iterator<Item = (&Anchor, Linked<DataBlob<'_>>)> {
    model.anchors().filter_map(|(anchor, source)| {
        let data = match source {
            Source::Tensor(tensor) => Linked::new(tensor.file, tensor.blob.as_data()),
            Source::Feed(feed) => Linked::new(feed.file, feed.blob.as_data()),
            _ => return None,
        };
        Some((anchor, data))
    })
}

/// Reports each blob of data that differs from an anchor, with the first such anchor.
fn bound(
    set: &Set,
    model: &Model,
    out: &mut Findings<'_>,
    differ: impl Fn(&Anchor, &DataBlob<'_>) -> bool,
    message: impl Fn(&Anchor, &DataBlob<'_>) -> String,
) {
    for (anchor, data) in with_data(model) {
        let blob = Linked::new(data.file, *data.blob.blob());
        if differ(anchor, &data) && out.is_first_of(set.files(), id_of(&blob)) {
            out.add(Spot::blob(blob.file, &blob), [anchor.name.by_ref()], || message(anchor, &data));
        }
    }
}

/// Reports anchors whose stored shape lacks one of the outer dimensions.
fn outer(model: &Model, out: &mut Findings<'_>, which: Outer) {
    for anchor in &model.metadata().anchors {
        if let Some(mismatch) = lacks_outer(model, anchor).filter(|mismatch| mismatch.outer == which) {
            out.add(Spot::model(model), [anchor.name.by_ref()], || {
                let stored = shape(anchor.tensor_info.shape.iter().copied());
                format!("anchor {} has the shape {stored}: {mismatch}", quote(&anchor.name))
            });
        }
    }
}

/// Returns the outer dimension that an anchor's stored shape lacks. Where groups of replicas share a weight, PopART writes the
/// number of groups in place of the number of replicas; a group may contain replicas of several processes. A weight with a single
/// group is not per replica.
fn lacks_outer(model: &Model, anchor: &Anchor) -> Option<ShapeMismatch> {
    let mismatch = model.shape_of(anchor).err()?;
    let Metadata { replication_factor, num_processes, .. } = *model.metadata();
    let is_groups = |found: i64| {
        let divides = |replicas: u32| i64::from(replicas).checked_rem(found) == Some(0);
        found > 1 && !model.runs_in(anchor, Phase::Main) && (divides(replication_factor) || divides(num_processes))
    };
    if mismatch.outer != Outer::Replicas || !mismatch.found.is_some_and(is_groups) {
        return Some(mismatch);
    }
    let needed = AnchorShape::join([], anchor, replication_factor).repeats?;
    let found = anchor.tensor_info.shape.get(1).copied();
    (found != Some(needed.into())).then_some(ShapeMismatch::new(Outer::Repeats, 1, needed, found))
}

/// Reports invalid shapes of data, and data that is too short for its shape.
fn size(blob: &Linked<Blob<'_>>, out: &mut Findings<'_>, code: ErrorCode) {
    let Some(data) = blob.as_data() else { return };
    if let Err(error) = data.check_size()
        && error.code() == code
    {
        let place = Spot { offset: error.offset(), ..Spot::blob(blob.file, blob) };
        out.add(place, [data.name()], || format!("{} {}: {}", kind(&data), quote(&data.name()), error.reason()));
    }
}

/// Reports invalid shapes of anchors.
fn anchor_size(model: &Model, out: &mut Findings<'_>, code: ErrorCode) {
    for anchor in &model.metadata().anchors {
        if let Err(error) = anchor.tensor_info.size_in_bytes()
            && error.code() == code
        {
            out.add(Spot::model(model), [anchor.name.by_ref()], || {
                format!("anchor {}: {}", quote(&anchor.name), error.reason())
            });
        }
    }
}

/// Iterates over the inputs with a feed, with the feed and the number of calls that it is enough for, if that is known.
fn with_feed<'m>(set: &Set, model: &'m Model) -> impl Iterator<Item = (&'m Anchor, Linked<DataBlob<'m>>, FeedRuns)> {
    let inputs = with_data(model).filter(|(anchor, _)| anchor.tensor_type == TensorType::Input);
    inputs.filter(|(_, data)| data.blob.is_feed()).filter_map(|(anchor, feed)| {
        let runs = model.metadata().runs_of(anchor, set.numbers_of(&feed)?, NonZeroU32::MIN)?;
        Some((anchor, feed, runs))
    })
}

/// A feed for an input of the main programs.
struct MainFeed<'m> {
    anchor: &'m Anchor,
    blob: BlobId,
    runs: u64,
}

/// Feeds, and pairs of a program and the place of one of its feeds in the list.
type FeedsOfPrograms<'m> = (Vec<MainFeed<'m>>, Vec<(u32, u32)>);

fn feeds_differ(set: &Set, model: &Model, out: &mut Findings<'_>) {
    let Ok((feeds, mut used)) = main_feeds(set, model) else { return out.no_memory() };
    used.sort_unstable();
    for of_program in used.chunk_by(|one, other| one.0 == other.0) {
        let mut of_program =
            of_program.iter().filter_map(|&(program, feed)| Some((program, feeds.get(feed as usize)?)));
        let Some((_, first)) = of_program.next() else { continue };
        for (program, feed) in of_program.filter(|(_, feed)| feed.runs != first.runs) {
            let Some(blob) = set.linked(feed.blob).filter(|_| out.is_first_of(set.files(), feed.blob)) else {
                continue;
            };
            out.add(Spot::blob(blob.file, &blob), [&feed.anchor.name, &first.anchor.name].map(Text::by_ref), || {
                let (name, other) = (quote(&feed.anchor.name), quote(&first.anchor.name));
                let (calls, others) = (count(feed.runs, "call"), first.runs);
                format!("feed {name} is enough for {calls} of program {program}, feed {other} for {others}")
            });
        }
    }
}

fn main_feeds<'m>(set: &Set, model: &'m Model) -> Result<FeedsOfPrograms<'m>, TryReserveError> {
    let (mut feeds, mut used) = (Vec::new(), Vec::new());
    let of_main = with_feed(set, model).filter(|(anchor, ..)| model.runs_in(anchor, Phase::Main));
    for ((anchor, feed, FeedRuns { runs, .. }), place) in of_main.zip(0..) {
        let blob = id_of(&Linked::new(feed.file, *feed.blob.blob()));
        feeds.try_reserve(1)?;
        feeds.push(MainFeed { anchor, blob, runs });
        used.try_reserve(anchor.programs.len())?;
        used.extend(anchor.programs.iter().map(|&program| (program, place)));
    }
    Ok((feeds, used))
}

fn feed_divides(set: &Set, model: &Model, out: &mut Findings<'_>) {
    let metadata = model.metadata();
    for (anchor, feed, runs) in with_feed(set, model) {
        if runs.left_over > 0 {
            out.add(Spot::blob(feed.file, feed.blob.blob()), [anchor.name.by_ref()], || {
                let needed = metadata.elements_per_call(anchor).unwrap_or_default();
                let samples = runs.runs.saturating_mul(needed).saturating_add(runs.left_over);
                let (name, samples) = (quote(&anchor.name), count(samples, "sample"));
                let lacking = needed.saturating_sub(runs.left_over);
                format!("feed {name} has {samples}, and each call takes {needed}: the last call lacks {lacking}")
            });
        }
    }
}

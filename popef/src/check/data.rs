//! Shapes, and whether the data fits them.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use super::finding::{Out, Severity};
use super::quote::{count, quote, shape};
use super::rule::{Rule, When};
use super::set::{Place, Set};
use crate::error::{Error, Problem};
use crate::model::{AnchorShape, Model, Outer, Source, numbers_of};
use crate::read::{Blob, Content, Shape};
use crate::types::{Anchor, DataType, TensorType, Text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PE301",
        severity: Severity::Error,
        title: "data of another type than its anchor's",
        meaning: "The elements of a tensor or feed are of another type than the anchor that it is for. Runtimes copy \
                  bytes, so the model computes with nonsense, or the copy fails.",
        mend: "Convert the data to the anchor's type, or export the model again.",
        when: When::Always,
        run: |set, out| {
            let differ = |anchor: &Anchor, data: &Held<'_>, _| anchor.tensor_info.data_type != data.data_type;
            bound(set, out, differ, |anchor, data| {
                let (name, needed) = (quote(&anchor.name), anchor.tensor_info.data_type);
                format!("{} {name} is of type {}, its anchor of {needed}", data.kind, data.data_type)
            });
        },
    },
    Rule {
        id: "PE302",
        severity: Severity::Error,
        title: "data of another shape than its anchor's",
        meaning: "The shape of a tensor is not that of the anchor that it is for. A feed's tensors may leave out the \
                  dimensions for replicas and repeats, and the batch; this one's fit in no such way.",
        mend: "Reshape the data to the anchor's shape, with all replicas and repeats in it, or export the model again.",
        when: When::Always,
        run: |set, out| {
            let differ = |anchor: &Anchor, data: &Held<'_>, replicas| !data.fits(anchor, replicas);
            bound(set, out, differ, |anchor, data| {
                let (name, stored) = (quote(&anchor.name), shape(&anchor.tensor_info.shape));
                format!("{} {name} has the shape {}, its anchor {stored}", data.kind, shape(&data.shape.to_vec()))
            });
        },
    },
    Rule {
        id: "PE303",
        severity: Severity::Warning,
        title: "a shape without its replicas",
        meaning: "An anchor has data of its own for each replica, so its shape has to begin with the replication \
                  factor. It does not. Where groups of replicas share a weight, PopART writes the number of groups \
                  there; else a runtime deals out the data wrongly.",
        mend: "If the model has no groups of replicas, export it again.",
        when: When::Always,
        run: |set, out| outer(set, out, Outer::Replicas),
    },
    Rule {
        id: "PE304",
        severity: Severity::Error,
        title: "a shape without its repeats",
        meaning: "An anchor uses a remote buffer of several blocks, so its shape has to have their number as a \
                  dimension, behind that of the replicas. It has not, and a runtime copies the wrong number of bytes.",
        mend: "Export the model again.",
        when: When::Always,
        run: |set, out| outer(set, out, Outer::Repeats),
    },
    Rule {
        id: "PE305",
        severity: Severity::Error,
        title: "a negative dimension",
        meaning: "A shape has a dimension below zero. Exporters write -1 for a size that was not known when the model \
                  was traced; an executable has no such sizes.",
        mend: "Compile the model with fixed sizes and export it again.",
        when: When::Always,
        run: |set, out| size(set, out, |problem| matches!(problem, Problem::NegativeDimension { .. })),
    },
    Rule {
        id: "PE306",
        severity: Severity::Error,
        title: "less data than the shape calls for",
        meaning: "A tensor or feed has fewer bytes than its shape and type call for. Its last elements are missing.",
        mend: "Export the data again.",
        when: When::Always,
        run: |set, out| size(set, out, |problem| matches!(problem, Problem::DataShort { .. })),
    },
    Rule {
        id: "PE307",
        severity: Severity::Warning,
        title: "a feed of no tensors",
        meaning: "A feed has 0 tensors. Its anchor counts as provided by the file, and there is nothing to feed.",
        mend: "Leave the feed out, so that its data is asked from the user, or put the data in.",
        when: When::Always,
        run: |set, out| {
            for feed in set.feeds().filter(|feed| feed.num_tensors() == 0) {
                out.add(Place::blob(feed.file, feed.blob.blob()), [feed.name()], || {
                    format!("feed {} has 0 tensors", quote(&feed.name()))
                });
            }
        },
    },
    Rule {
        id: "PE308",
        severity: Severity::Warning,
        title: "a feed that does not divide into calls",
        meaning: "A feed's elements are no multiple of what one call takes: device iterations × replication factor × \
                  batch. The last call lacks some. (For training with gradient accumulation, which no file tells, a \
                  call takes more.)",
        mend: "Cut or fill the feed to whole calls.",
        when: When::Always,
        run: feed_divides,
    },
    Rule {
        id: "PE309",
        severity: Severity::Error,
        title: "a shape beyond all memory",
        meaning: "The dimensions of a shape multiply to more bytes than 64 bits can count. The file is damaged, or \
                  made to trip loaders.",
        mend: "Do not load the file; export the model again.",
        when: When::Always,
        run: |set, out| size(set, out, |problem| matches!(problem, Problem::ShapeTooLarge)),
    },
];

/// What tensors and feeds have in common, for comparing them with their anchors.
///
/// Many anchors can have the name of one blob: for each of them no more may be done than its own length calls for.
struct Held<'f> {
    kind: &'static str,
    data_type: DataType,
    shape: Shape<'f>,
}

impl Held<'_> {
    fn fits(&self, anchor: &Anchor, replication_factor: u32) -> bool {
        if same(self.shape.iter(), &anchor.tensor_info.shape) {
            return true;
        }
        match AnchorShape::of(anchor, replication_factor) {
            Ok(parts) if self.kind == "feed" => fits_in_parts(self.shape, &parts),
            _ => false,
        }
    }
}

fn same(shape: impl ExactSizeIterator<Item = i64>, extents: &[i64]) -> bool {
    shape.len() == extents.len() && shape.eq(extents.iter().copied())
}

/// Whether the tensors of a feed are the model's own, with any batch, without one, or with the replicas.
fn fits_in_parts(shape: Shape<'_>, parts: &AnchorShape) -> bool {
    let inner = parts.own.get(1..).unwrap_or_default();
    let with_replicas = || AnchorShape { repeats: None, ..parts.clone() }.stored();
    let other_batch = shape.len() == parts.own.len() && same(shape.iter().skip(1), inner);
    same(shape.iter(), inner) || other_batch || same(shape.iter(), &with_replicas())
}

/// Each blob of data that has an anchor, with the first anchor that it is wrong for.
fn bound(
    set: &Set<'_>,
    out: &mut Out<'_>,
    differ: impl Fn(&Anchor, &Held<'_>, u32) -> bool,
    message: impl Fn(&Anchor, &Held<'_>) -> String,
) {
    let mut told = HashSet::new();
    for model in &set.models {
        for (anchor, source) in model.anchors() {
            let (file, blob, held) = match source {
                Source::Tensor(tensor) => {
                    let held = Held { kind: "tensor", data_type: tensor.data_type(), shape: tensor.shape() };
                    (tensor.file, *tensor.blob.blob(), held)
                }
                Source::Feed(feed) => {
                    let held = Held { kind: "feed", data_type: feed.data_type(), shape: feed.shape() };
                    (feed.file, *feed.blob.blob(), held)
                }
                Source::User => continue,
            };
            let differ = differ(anchor, &held, model.metadata().replication_factor);
            if differ && told.insert((file, blob.index())) {
                out.add(Place::blob(file, &blob), [anchor.name.clone()], || message(anchor, &held));
            }
        }
    }
}

/// Anchors whose stored shape lacks one of the outer dimensions.
fn outer(set: &Set<'_>, out: &mut Out<'_>, which: Outer) {
    for model in &set.models {
        for anchor in &model.metadata().anchors {
            match model.shape_of(anchor) {
                Err(mismatch) if mismatch.outer == which => {
                    out.add(place_of(model), [anchor.name.clone()], || {
                        let stored = shape(&anchor.tensor_info.shape);
                        format!("anchor {} has the shape {stored}: {mismatch}", quote(&anchor.name))
                    });
                }
                _ => {}
            }
        }
    }
}

fn place_of(model: &Model<'_>) -> Place {
    let blob = model.metadata_blob();
    Place::blob(blob.file, blob.blob.blob())
}

/// Shapes that are wrong by themselves, and data that is too short for its shape.
fn size(set: &Set<'_>, out: &mut Out<'_>, is_it: impl Fn(&Problem) -> bool) {
    for blob in set.blobs() {
        if let Some((kind, name, Err(error))) = sized(&blob)
            && is_it(error.problem())
        {
            let place = Place { offset: error.offset(), ..Place::blob(blob.file, &blob) };
            out.add(place, [name.clone()], || format!("{kind} {}: {}", quote(&name), error.reason()));
        }
    }
    for model in &set.models {
        for anchor in &model.metadata().anchors {
            if let Err(error) = anchor.tensor_info.size_in_bytes()
                && is_it(error.problem())
            {
                out.add(place_of(model), [anchor.name.clone()], || {
                    format!("anchor {}: {}", quote(&anchor.name), error.reason())
                });
            }
        }
    }
}

/// Whether the data of a tensor or feed is all there.
fn sized<'f>(blob: &Blob<'f>) -> Option<(&'static str, Text<'f>, Result<(), Error>)> {
    match blob.content() {
        Content::Tensor(tensor) => Some(("tensor", tensor.name(), tensor.elements().map(drop))),
        // A feed of no tensors has a shape all the same.
        Content::Feed(feed) if feed.num_tensors() == 0 => Some(("feed", feed.name(), feed.size_in_bytes().map(drop))),
        Content::Feed(feed) => Some(("feed", feed.name(), feed.item(0).map(drop))),
        _ => None,
    }
}

fn feed_divides(set: &Set<'_>, out: &mut Out<'_>) {
    // Once for each feed, of which many anchors can have the name.
    let mut in_feed = HashMap::new();
    for model in &set.models {
        let metadata = model.metadata();
        for (anchor, source) in model.anchors().filter(|(anchor, _)| anchor.tensor_type == TensorType::Input) {
            let Source::Feed(feed) = source else { continue };
            let place = Place::blob(feed.file, feed.blob.blob());
            let numbers = in_feed.entry((feed.file, place.blob)).or_insert_with(|| numbers_of(&feed.blob));
            let runs = numbers.and_then(|numbers| metadata.runs_of(anchor, numbers, NonZeroU32::MIN));
            if let Some(runs) = runs.filter(|runs| runs.left_over > 0) {
                out.add(place, [anchor.name.clone()], || {
                    let needed = count(metadata.elements_per_call(anchor).unwrap_or_default(), "element");
                    let (name, calls) = (quote(&anchor.name), count(runs.runs, "call"));
                    format!("feed {name} is enough for {calls} of {needed}, with {} left over", runs.left_over)
                });
            }
        }
    }
}

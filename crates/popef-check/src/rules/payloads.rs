//! Rules for what PopART and TensorFlow put into opaque blobs, by itself and compared with the metadata of the same
//! executable. The frameworks' public sources define the fields. A difference between two statements is certain, its
//! effect is not, so these findings are never errors.

use super::super::findings::{Findings, Spot};
use super::super::run::{Check, Said, opaque, payload};
use super::loaders::not_a_message;
use popef::model::Linked;
#[cfg(any(feature = "popart", feature = "tensorflow"))]
use popef::model::Model;
use popef::read::OpaqueBlob;
#[cfg(any(feature = "popart", feature = "tensorflow"))]
use popef::types::Anchor;
use popef_findings::{Loader, Rule, When};
use popef_payload::{Framework, Payload};

pub(super) const RULES: &[Check] = &[
    Rule::warning("PE721", "PopART: its blob cannot be read")
        .meaning(
            "PopART's opaque blob is a Cap'n Proto message, but its fields cannot be read. PopART most likely refuses \
             it, too.",
        )
        .fix("Copy the file again, or export the model with PopART again.")
        .when(When::Loader(Loader::Popart))
        .run(opaque(|_, blob, _, out| unreadable(Framework::Popart, blob, out))),
    Rule::warning("PE722", "TensorFlow: its blob cannot be read")
        .meaning(
            "TensorFlow's opaque blob has to be a protobuf message, and this one cannot be read. TensorFlow most \
             likely refuses it, too.",
        )
        .fix("Copy the file again, or export the model with TensorFlow again.")
        .when(When::Loader(Loader::Tensorflow))
        .run(opaque(|_, blob, _, out| unreadable(Framework::Tensorflow, blob, out))),
    Rule::warning("PE723", "PopART's blob: another mode than the metadata")
        .meaning(
            "PopART's opaque blob and the metadata of the same executable disagree about what the model was compiled \
             for. They probably come from different models.",
        )
        .fix("Export the model again, so that both come from one run of PopART.")
        .run(payload(Framework::Popart, popart::mode)),
    Rule::warning("PE724", "PopART's blob: a random seed that the metadata lacks")
        .meaning(
            "PopART's opaque blob says that the model needs a random seed from the host, but the metadata of the same \
             executable names no handle for a seed.",
        )
        .fix("Export the model again, so that both come from one run of PopART.")
        .run(payload(Framework::Popart, popart::seed)),
    Rule::warning("PE725", "PopART's blob: another type or shape than an anchor")
        .meaning(
            "A tensor in PopART's opaque blob and an anchor of the same name have different types, or shapes of which \
             neither ends with the other. The blob and the metadata probably come from different models.",
        )
        .fix("Export the model again, so that both come from one run of PopART.")
        .run(payload(Framework::Popart, popart::tensors)),
    Rule::warning("PE726", "TensorFlow's blob: other replicas or IPUs than the metadata")
        .meaning(
            "TensorFlow's opaque blob and the metadata of the same executable disagree about how many replicas or IPUs \
             it runs on. They probably come from different models.",
        )
        .fix("Export the model again, so that both come from one run of TensorFlow.")
        .run(payload(Framework::Tensorflow, tensorflow::numbers)),
    Rule::note("PE727", "TensorFlow's blob: an input or output without an anchor")
        .meaning(
            "The signature in TensorFlow's opaque blob has an input or output with a handle that is neither the handle \
             nor the name of an anchor. TensorFlow's embedded runtime may not find it.",
        )
        .fix("Compare the handles of the signature with those of the anchors.")
        .run(payload(Framework::Tensorflow, tensorflow::signature)),
    Rule::note("PE728", "PopART's blob: an anchor without a tensor")
        .meaning(
            "PopART's opaque blob has a tensor for some anchors of the model, but none for this one. The blob and the \
             metadata may come from different models.",
        )
        .fix("Check whether the metadata and the opaque blob are from the same export.")
        .run(payload(Framework::Popart, popart::names)),
    Rule::warning("PE729", "TensorFlow's blob: another type or shape than an anchor")
        .meaning(
            "An input or output in TensorFlow's signature, or a feed, has another type or shape than the anchor with \
             its handle. The blob and the metadata probably come from different models.",
        )
        .fix("Export the model again, so that both come from one run of TensorFlow.")
        .run(payload(Framework::Tensorflow, tensorflow::shapes)),
];

/// Reports a framework's blob that cannot be read.
fn unreadable(framework: Framework, blob: &Linked<OpaqueBlob<'_>>, out: &mut Findings<'_>) {
    // PE608 reports blobs of PopART that are not a message at all.
    let is_other = framework == Framework::Popart && not_a_message(&blob.blob.data()).is_some();
    if Framework::of_blob(&blob.blob) != Some(framework) || is_other {
        return;
    }
    match Payload::read(&blob.blob) {
        Err(error) if error.is_about_the_file() => {
            out.add(Spot::of_error(blob.file, &error), [blob.blob.name()], || error.reason());
        }
        // The pass has read the data before, and reports a failure itself.
        Err(error) => out.skip(&format!("the fields of {}'s blob", framework.title()), &error.reason()),
        Ok(_) => {}
    }
}

/// For a build without a framework's feature, which never reads that framework's payloads.
#[cfg(not(all(feature = "popart", feature = "poptorch", feature = "tensorflow")))]
pub(super) fn not_built(_: &Said<'_>, _: &mut Findings<'_>) {}

#[cfg(not(feature = "popart"))]
mod popart {
    pub(super) use super::{not_built as mode, not_built as names, not_built as seed, not_built as tensors};
}

#[cfg(not(feature = "tensorflow"))]
mod tensorflow {
    pub(super) use super::{not_built as numbers, not_built as shapes, not_built as signature};
}

#[cfg(feature = "popart")]
mod popart {
    use std::collections::{HashMap, HashSet};

    use super::super::super::words::{quote, shape};
    use super::{Anchor, Findings, Said, Spot, ends_alike, own_shape};
    use popef::DataType;
    use popef::types::Text;
    use popef_payload::Payload;
    use popef_payload::popart::{Executable, ExecutionMode, Tensor};

    /// PopART's data about a model. `None` for a message without tensors, which does not describe a real model.
    fn of<'p>(said: &'p Said<'_>) -> Option<&'p Executable> {
        match said.payload {
            Payload::Popart(executable) if !executable.tensors.is_empty() => Some(executable),
            _ => None,
        }
    }

    pub(super) fn mode(said: &Said<'_>, out: &mut Findings<'_>) {
        let Some(executable) = of(said) else { return };
        let Said { model, opaque, .. } = said;
        let metadata = model.metadata();
        let is_inference = match executable.execution_mode {
            ExecutionMode::Inference => true,
            ExecutionMode::Training => false,
            _ => return,
        };
        if is_inference != metadata.is_inference {
            let said = if metadata.is_inference { "inference" } else { "training" };
            out.add(Spot::data(opaque.file, opaque.blob.blob()), [metadata.executable.by_ref()], || {
                format!("PopART's blob is for {}, the metadata is for {said}", executable.execution_mode)
            });
        }
    }

    pub(super) fn seed(said: &Said<'_>, out: &mut Findings<'_>) {
        let Some(executable) = of(said) else { return };
        let Said { model, opaque, .. } = said;
        let metadata = model.metadata();
        if executable.requires_random_seed && metadata.seed_handle.is_empty() {
            out.add(Spot::data(opaque.file, opaque.blob.blob()), [metadata.executable.by_ref()], || {
                "PopART's blob needs a random seed, and the metadata has no handle for one".to_owned()
            });
        }
    }

    pub(super) fn tensors(said: &Said<'_>, out: &mut Findings<'_>) {
        let Some(executable) = of(said) else { return };
        let Said { model, opaque, .. } = said;
        let mut by_name = HashMap::new();
        if by_name.try_reserve(executable.tensors.len()).is_err() {
            return out.no_memory();
        }
        by_name.extend(executable.tensors.iter().map(|tensor| (tensor.id.as_bytes(), tensor)));
        for anchor in &model.metadata().anchors {
            let Some(&tensor) = by_name.get(anchor.name.as_bytes()).filter(|_| !anchor.name.is_empty()) else {
                continue;
            };
            let own = own_shape(model, anchor);
            if has_other_type(tensor, anchor) || !tensor.sharded && !ends_alike(&tensor.shape, &own) {
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [anchor.name.by_ref()], || {
                    let found = format!("{} {}", tensor.type_name, shape(tensor.shape.iter().copied()));
                    let expected = format!("{} {}", anchor.tensor_info.data_type, shape(own.iter().copied()));
                    format!("PopART's tensor {} is {found}, the anchor is {expected}", quote(&anchor.name))
                });
                // Two anchors can have the same tensor, one as input and one as output. It is reported once.
                by_name.remove(anchor.name.as_bytes());
            }
        }
    }

    /// The type F8 can be any type of 8-bit floats.
    fn has_other_type(tensor: &Tensor, anchor: &Anchor) -> bool {
        let expected = anchor.tensor_info.data_type;
        expected.size().is_some()
            && expected != DataType::F8
            && tensor.popef_type().is_some_and(|found| found != expected)
    }

    pub(super) fn names(said: &Said<'_>, out: &mut Findings<'_>) {
        let Some(executable) = of(said) else { return };
        let Said { model, opaque, .. } = said;
        let mut known = HashSet::new();
        if known.try_reserve(executable.tensors.len().saturating_add(executable.cycle_count_ids.len())).is_err() {
            return out.no_memory();
        }
        known.extend(executable.tensors.iter().map(|tensor| tensor.id.as_bytes()));
        let metadata = model.metadata();
        // If no name is known, the two do not name tensors in the same way, and nothing follows from that.
        if !metadata.anchors.iter().any(|anchor| !anchor.name.is_empty() && known.contains(anchor.name.as_bytes())) {
            return;
        }
        known.extend(executable.cycle_count_ids.iter().map(Text::as_bytes));
        let is_seed = |anchor: &Anchor| !anchor.handle.is_empty() && anchor.handle == metadata.seed_handle;
        for anchor in metadata.anchors.iter().filter(|anchor| !anchor.name.is_empty() && !is_seed(anchor)) {
            // Two anchors can have the same tensor, one as input and one as output. It is reported once.
            if known.insert(anchor.name.as_bytes()) {
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [anchor.name.by_ref()], || {
                    format!("PopART's blob has no tensor for the anchor {}", quote(&anchor.name))
                });
            }
        }
    }
}

/// Whether one shape is the other with more dimensions in front.
#[cfg(any(feature = "popart", feature = "tensorflow"))]
fn ends_alike(one: &[i64], other: &[i64]) -> bool {
    one.ends_with(other) || other.ends_with(one)
}

/// The shape of an anchor in one call, or the stated one if that cannot be worked out.
#[cfg(any(feature = "popart", feature = "tensorflow"))]
fn own_shape(model: &Model, anchor: &Anchor) -> Vec<i64> {
    model.shape_of(anchor).map_or_else(|_| anchor.tensor_info.shape.clone(), |shape| shape.own)
}

#[cfg(feature = "tensorflow")]
mod tensorflow {
    use std::collections::{HashMap, HashSet};

    use super::super::super::words::{count, quote, shape};
    use super::{Anchor, Findings, Said, Spot, ends_alike, own_shape};
    use popef::DataType;
    use popef::types::Text;
    use popef_payload::Payload;
    use popef_payload::tensorflow::{Executable, PrimitiveType, Shape};

    /// TensorFlow's data about a model, if the message is TensorFlow's and not empty.
    fn of<'p>(said: &'p Said<'_>) -> Option<&'p Executable<'p>> {
        match said.payload {
            Payload::Tensorflow(executable) if executable.is_plausible() && executable.tf_version().is_some() => {
                Some(executable)
            }
            _ => None,
        }
    }

    pub(super) fn numbers(said: &Said<'_>, out: &mut Findings<'_>) {
        let Some(executable) = of(said) else { return };
        let Said { model, opaque, .. } = said;
        let (message, metadata) = (executable.message(), model.metadata());
        let ipus = message.embedded_runtime_config().map_or(0, |config| config.num_ipus());
        let pairs = [
            ("replica", message.replication_factor().into(), metadata.replication_factor),
            ("IPU", ipus, metadata.num_ipus),
        ];
        // A field of 0 was not set.
        for (what, found, expected) in pairs.into_iter().filter(|(_, found, expected)| *found != 0 && *expected != 0) {
            if found != i64::from(expected) {
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [metadata.executable.by_ref()], || {
                    let expected = count(expected.into(), what);
                    format!("TensorFlow's blob is for {found} {what}s, the metadata is for {expected}")
                });
            }
        }
    }

    pub(super) fn signature(said: &Said<'_>, out: &mut Findings<'_>) {
        let Some(executable) = of(said) else { return };
        let Said { model, opaque, .. } = said;
        let config = executable.message().embedded_runtime_config();
        let Some(signature) = config.and_then(|config| config.signature()) else { return };
        let anchors = &model.metadata().anchors;
        let mut known = HashSet::new();
        if known.try_reserve(anchors.len().saturating_mul(2)).is_err() {
            return out.no_memory();
        }
        known.extend(anchors.iter().flat_map(|anchor| [anchor.name.as_bytes(), anchor.handle.as_bytes()]));
        let inputs = signature.inputs().chain(signature.streamed_inputs()).map(|input| (input.name(), input.handle()));
        let outputs = signature.outputs().chain(signature.streamed_outputs());
        let outputs = outputs.map(|output| (output.name(), output.handle()));
        for (name, handle) in inputs.chain(outputs).filter(|(_, handle)| !known.contains(handle.as_bytes())) {
            out.add(Spot::data(opaque.file, opaque.blob.blob()), [Text::from(name)], || {
                let (name, handle) = (quote(&Text::from(name)), quote(&Text::from(handle)));
                format!("{name} of TensorFlow's signature has the handle {handle}, which no anchor has")
            });
        }
    }

    pub(super) fn shapes(said: &Said<'_>, out: &mut Findings<'_>) {
        let Some(executable) = of(said) else { return };
        let Said { model, opaque, .. } = said;
        let anchors = &model.metadata().anchors;
        let mut by_handle: HashMap<&[u8], &Anchor> = HashMap::new();
        if by_handle.try_reserve(anchors.len()).is_err() {
            return out.no_memory();
        }
        by_handle.extend(anchors.iter().map(|anchor| (anchor.handle.as_bytes(), anchor)));
        let mut compare = |what: &str, name: &str, handle: &str, stated: Shape<'_>| {
            let Some(anchor) = by_handle.get(handle.as_bytes()) else { return };
            let Some(found) = data_type(stated.element_type()) else { return };
            let (extents, own) = (extents_of(&stated, anchor), own_shape(model, anchor));
            let expected = anchor.tensor_info.data_type;
            if expected.size().is_some() && found != expected || !ends_alike(&extents, &own) {
                out.add(Spot::data(opaque.file, opaque.blob.blob()), [Text::from(name)], || {
                    let name = quote(&Text::from(name));
                    let (extents, own) = (shape(extents.iter().copied()), shape(own.iter().copied()));
                    format!("{name} of TensorFlow's {what} is {found} {extents}, the anchor is {expected} {own}")
                });
            }
        };
        let message = executable.message();
        if let Some(signature) = message.embedded_runtime_config().and_then(|config| config.signature()) {
            for input in signature.inputs().chain(signature.streamed_inputs()) {
                input.shape().into_iter().for_each(|shape| compare("signature", input.name(), input.handle(), shape));
            }
            for output in signature.outputs().chain(signature.streamed_outputs()) {
                output
                    .shape()
                    .into_iter()
                    .for_each(|shape| compare("signature", output.name(), output.handle(), shape));
            }
        }
        let infeeds = message.infeeds().map(|feed| ("infeed", feed));
        for (direction, feed) in infeeds.chain(message.outfeeds().map(|feed| ("outfeed", feed))) {
            let id = feed.config().map_or("", |config| config.feed_id());
            for (index, shape) in feed.shape().into_iter().flat_map(tensors_of).enumerate() {
                compare("feeds", id, &format!("{direction}_{id}.{index}"), shape);
            }
        }
    }

    /// The tensors that a feed carries in one step. Its shape can be a tuple of tensors, which can itself be in a tuple
    /// with a token.
    fn tensors_of(shape: Shape<'_>) -> impl Iterator<Item = Shape<'_>> {
        const MOST: usize = 1024;
        let is_tuple = |shape: &Shape<'_>| shape.element_type() == PrimitiveType::Tuple;
        let inner = shape.tuple_shapes().next().filter(|first| is_tuple(&shape) && is_tuple(first));
        let outer = inner.unwrap_or(shape);
        let alone = (!is_tuple(&outer)).then_some(outer);
        let parts = is_tuple(&outer).then(|| outer.tuple_shapes());
        alone.into_iter().chain(parts.into_iter().flatten()).take(MOST)
    }

    /// The dimensions of a shape. No more than can matter: a message can state very many.
    fn extents_of(stated: &Shape<'_>, anchor: &Anchor) -> Vec<i64> {
        let most = anchor.tensor_info.shape.len().saturating_add(8);
        stated.dimensions().take(most).collect()
    }

    /// The type in PopEF's terms. `None` if PopEF has no such type, or if tensors cannot have it.
    fn data_type(found: PrimitiveType) -> Option<DataType> {
        Some(match found {
            PrimitiveType::Pred => DataType::Bool,
            PrimitiveType::S8 => DataType::S8,
            PrimitiveType::S16 => DataType::S16,
            PrimitiveType::S32 => DataType::S32,
            PrimitiveType::S64 => DataType::S64,
            PrimitiveType::U8 => DataType::U8,
            PrimitiveType::U16 => DataType::U16,
            PrimitiveType::U32 => DataType::U32,
            PrimitiveType::U64 => DataType::U64,
            PrimitiveType::F16 => DataType::F16,
            PrimitiveType::F32 => DataType::F32,
            PrimitiveType::F64 => DataType::F64,
            _ => return None,
        })
    }
}

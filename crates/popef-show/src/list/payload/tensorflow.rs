use std::io;

use popef_payload::tensorflow::{
    Executable, ExecutableMessage, Feed, HostEmbedding, Input, Output, PrimitiveType, RemoteParameter, RuntimeConfig,
    Shape,
};

use super::facts::Facts;
use super::{joined, shape as extents};

pub(super) fn headline(executable: &Executable<'_>) -> String {
    if executable.bytes().is_empty() {
        return "TensorFlow, an empty message".to_owned();
    }
    if !executable.is_plausible() {
        return "protobuf, but probably not TensorFlow's message".to_owned();
    }
    let version = executable.tf_version().map_or_else(|| "of unknown version".to_owned(), version);
    let config = executable.message().embedded_runtime_config();
    let target = config.map_or_else(String::new, |config| format!(", for serving on {}", target(&config)));
    format!("TensorFlow {version}{target}")
}

fn version((major, minor): (u32, u32)) -> String {
    format!("{major}.{minor}")
}

/// `ipu2`, or another fact about the target.
fn target(config: &RuntimeConfig<'_>) -> String {
    let (target_type, arch) = (config.target_type(), config.target_arch());
    match (target_type, arch) {
        ("", "") => "an unknown target".to_owned(),
        ("IPU" | "", arch) if !arch.is_empty() => arch.to_owned(),
        (target_type, "") => target_type.to_owned(),
        (target_type, arch) => format!("{target_type} {arch}"),
    }
}

pub(super) fn write(facts: &mut Facts<'_>, executable: &Executable<'_>) -> io::Result<()> {
    let message = executable.message();
    facts.str("TensorFlow in git", message.tf_git_version())?;
    facts.str("Poplar package hash", message.poplar_package_hash())?;
    if let Some(config) = message.embedded_runtime_config() {
        facts.str("Target", config.target_type())?;
        facts.str("Architecture", config.target_arch())?;
        facts.fact("IPUs", config.num_ipus())?;
    }
    match message.replication_factor() {
        0 => facts.fact("Replicas", "not stated")?,
        replicas => facts.fact("Replicas", replicas)?,
    }
    facts.flag("Can stall", executable.can_stall() == Some(true))?;
    facts.flag("Remote entry parameters", executable.has_remote_entry_parameters() == Some(true))?;
    facts.flag("Counts cycles", message.logging_cycle_count())?;
    if let Some(config) = message.embedded_runtime_config() {
        facts.flag("Gateway mode", config.gateway_mode())?;
        facts.flag("Supports remote buffers", config.supports_remote_buffers())?;
    }
    signature(facts, &message)?;
    list(facts, "Infeeds", message.infeeds(), feed)?;
    list(facts, "Outfeeds", message.outfeeds(), feed)?;
    list(facts, "Engine options to be set again", message.option_flags(), |option| {
        (option.option().to_owned(), option.value().to_owned())
    })?;
    list(facts, "Remote parameters", message.remote_parameters(), remote)?;
    let transfer = |shape: Option<Shape<'_>>| shape.map_or_else(String::new, |shape| of(&shape));
    list(facts, "Sends to the host", message.sends(), |one| (one.stream_handle().to_owned(), transfer(one.shape())))?;
    list(facts, "Receives from the host", message.recvs(), |one| {
        (one.stream_handle().to_owned(), transfer(one.shape()))
    })?;
    list(facts, "Embedding lookups", message.lookups(), embedding)?;
    list(facts, "Embedding updates", message.updates(), embedding)?;
    list(facts, "Embedding notifications", message.notifications(), embedding)?;
    list(facts, "Rearrangements on the host", message.collective_balanced_host_rearrangements(), |one| {
        let (replicas, elements) = (one.replication_factor(), one.total_elements_per_replica());
        (format!("Rearrangement {}", one.id()), format!("{replicas} replicas, {elements} elements each"))
    })?;
    unknown_fields(facts, executable)
}

fn signature(facts: &mut Facts<'_>, message: &ExecutableMessage<'_>) -> io::Result<()> {
    let Some(signature) = message.embedded_runtime_config().and_then(|config| config.signature()) else {
        return Ok(());
    };
    let input = |one: Input<'_>| (one.name().to_owned(), handled(one.shape(), one.handle()));
    let output = |one: Output<'_>| (one.name().to_owned(), handled(one.shape(), one.handle()));
    list(facts, "Inputs", signature.inputs(), input)?;
    list(facts, "Outputs", signature.outputs(), output)?;
    list(facts, "Streamed inputs", signature.streamed_inputs(), input)?;
    list(facts, "Streamed outputs", signature.streamed_outputs(), output)
}

fn list<T>(
    facts: &mut Facts<'_>,
    label: &'static str,
    things: impl Iterator<Item = T> + Clone,
    describe: impl Fn(T) -> (String, String),
) -> io::Result<()> {
    facts.list(label, things.clone().count(), &mut things.map(describe))
}

fn handled(shape: Option<Shape<'_>>, handle: &str) -> String {
    let shape = shape.map_or_else(|| "shape unknown".to_owned(), |shape| of(&shape));
    format!("{shape}, handle {handle}")
}

/// `F16 [4, 784]`, or the parts of a tuple.
fn of(shape: &Shape<'_>) -> String {
    // Nested tuples are rare: only the parts of the outer one are shown.
    let plain = |shape: &Shape<'_>| format!("{} {}", shape.element_type(), extents(shape.dimensions()));
    match shape.element_type() {
        PrimitiveType::Tuple => {
            format!("tuple of {}", joined(shape.tuple_shapes().map(|part| plain(&part))))
        }
        PrimitiveType::Token => "token".to_owned(),
        _ => plain(shape),
    }
}

fn feed(feed: Feed<'_>) -> (String, String) {
    let config = feed.config();
    let id = config.map_or("", |config| config.feed_id());
    let mut what: Vec<String> = feed.shape().iter().map(of).collect();
    if let Some(config) = config {
        let types = joined(config.tf_data_types());
        what.extend((!types.is_empty()).then_some(types));
        what.push(config.mode().to_string());
        what.push(format!("prefetch {}", config.prefetch_depth()));
        what.extend(config.reusable().then(|| "reusable".to_owned()));
        what.extend(config.optimise_latency().then(|| "low latency".to_owned()));
    }
    (id.to_owned(), what.join(", "))
}

fn remote(parameter: RemoteParameter<'_>) -> (String, String) {
    let part = if parameter.is_replica_partitioned() { ", partitioned over replicas" } else { "" };
    let (buffer, offset) = (parameter.buffer_name(), parameter.buffer_offset());
    (format!("Parameter {}", parameter.parameter_number()), format!("buffer {buffer}, offset {offset}{part}"))
}

fn embedding(embedding: HostEmbedding<'_>) -> (String, String) {
    let shape = |label: &'static str, shape: Option<Shape<'_>>| shape.map(|shape| format!("{label} {}", of(&shape)));
    let shapes = [shape("indices", embedding.indices_shape()), shape("activations", embedding.activations_shape())];
    let shapes: Vec<_> = shapes.into_iter().flatten().collect();
    (
        embedding.embedding_id().to_owned(),
        [vec![format!("handle {}", embedding.stream_handle())], shapes].concat().join(", "),
    )
}

fn unknown_fields(facts: &mut Facts<'_>, executable: &Executable<'_>) -> io::Result<()> {
    let numbers: Vec<_> = executable.unknown_fields().iter().map(ToString::to_string).collect();
    if !numbers.is_empty() {
        facts.fact("Unknown fields", numbers.join(", "))?;
    }
    match executable.unknown_fields_inside() {
        0 => Ok(()),
        count => facts.fact("Unknown fields inside messages", count),
    }
}

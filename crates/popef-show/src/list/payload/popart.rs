use std::collections::BTreeMap;
use std::io;

use popef_payload::popart::{Executable, Tensor, VariableSettings};

use super::facts::Facts;
use super::shape;
use crate::output::units;

pub(super) fn headline(executable: &Executable) -> String {
    let sdk = executable.layout.map_or("unknown", |layout| layout.sdk());
    format!("PopART, SDK {sdk}, {}", executable.execution_mode)
}

pub(super) fn write(facts: &mut Facts<'_>, executable: &Executable) -> io::Result<()> {
    match executable.layout {
        Some(layout) => facts.fact("Layout", format_args!("{layout}, by the form of the tensors"))?,
        None if executable.tensors.is_empty() => facts.fact("Layout", "unknown, as there are no tensors")?,
        None => facts.fact("Layout", "unknown, as the tensors have a form of no released SDK")?,
    }
    facts.fact("Random seed", if executable.requires_random_seed { "needed" } else { "not needed" })?;
    tensors(facts, &executable.tensors)?;
    facts.names("Inputs laid out linearly", executable.linearly_created.iter().cloned())?;
    facts.names("Inputs laid out for an operation", executable.efficiently_created.iter().cloned())?;
    facts.names("Cycle counters", executable.cycle_count_ids.iter().cloned())?;
    facts.names("Tensors added to the ONNX model", executable.additional_proto_tensors.iter().cloned())?;
    if !executable.custom_programs.is_empty() {
        facts.fact("Custom programs", executable.custom_programs.len())?;
        let mut below = facts.below();
        executable
            .custom_programs
            .iter()
            .try_for_each(|program| below.named(&program.handle, format_args!("program {}", program.index)))?;
    }
    rearrangements(facts, executable)?;
    if executable.surplus > 0 {
        facts.fact(
            "After the message",
            format_args!("{} that PopART does not write", units::size(executable.surplus)),
        )?;
    }
    Ok(())
}

fn tensors(facts: &mut Facts<'_>, tensors: &[Tensor]) -> io::Result<()> {
    let mut kinds = BTreeMap::new();
    let named = || tensors.iter().filter(|tensor| !tensor.is_empty_place());
    named().for_each(|tensor| *kinds.entry(tensor.kind.to_string()).or_insert(0u64) += 1);
    let kinds: Vec<_> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let empty = tensors.len() - named().count();
    facts.fact("Tensors", if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") })?;
    let mut below = facts.below();
    named().try_for_each(|tensor| below.named(&tensor.id, describe(tensor)))?;
    if empty > 0 { facts.fact("Unused places for tensors", empty) } else { Ok(()) }
}

/// `float16 [784, 10], variable, remote (buffer 3, index 0), sharded`
fn describe(tensor: &Tensor) -> String {
    let lower = tensor.lower_name.to_string_lossy();
    let type_name = if lower.is_empty() { tensor.data_type.to_string() } else { lower.into_owned() };
    let mut text = format!("{type_name} {}, {}", shape(tensor.shape.iter().copied()), tensor.kind);
    if let Some(remote) = tensor.remote {
        text += &format!(", remote (buffer {}, index {})", remote.id, remote.index);
    }
    text += if tensor.sharded { ", sharded" } else { "" };
    text += &tensor.variable_settings.as_ref().map_or_else(String::new, groups);
    if let Some(data) = tensor.data {
        text += &format!(", {} of data inside", units::size(data.len));
    }
    text
}

/// How replicas share a variable, unless all have the same value.
fn groups(settings: &VariableSettings) -> String {
    use popef_payload::popart::{CommGroupKind, RetrievalMode};

    let groups = match settings {
        VariableSettings { use_comm_group: true, comm_group: CommGroupKind::All, .. } => String::new(),
        VariableSettings { use_comm_group: true, comm_group, group_size, .. } => {
            format!(", replica groups {comm_group} of {group_size}")
        }
        // All fields are at their defaults.
        VariableSettings { stride: 0, group_size: 0, .. } => String::new(),
        VariableSettings { stride, group_size, .. } => format!(", replica groups of {group_size}, stride {stride}"),
    };
    match settings.retrieval {
        RetrievalMode::OnePerGroup => groups,
        other => format!("{groups}, read back {other}"),
    }
}

fn rearrangements(facts: &mut Facts<'_>, executable: &Executable) -> io::Result<()> {
    if executable.rearrange_ids.is_empty() && executable.rearrangements.is_empty() {
        return Ok(());
    }
    facts.fact("Rearrangements on the host", executable.rearrangements.len())?;
    let mut below = facts.below();
    for rearrangement in &executable.rearrangements {
        let (replicas, elements) = (rearrangement.replication_factor, rearrangement.elements_per_replica);
        let label = shown!("Rearrangement {}", rearrangement.number);
        below.fact(label, format_args!("{replicas} replicas, {elements} elements each"))?;
    }
    executable
        .rearrange_ids
        .iter()
        .try_for_each(|one| below.named(&one.id, format_args!("rearrangement {}", one.number)))
}

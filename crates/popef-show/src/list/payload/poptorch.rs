use std::fmt::Display;
use std::io;

use popef::types::Text;
use popef_payload::poptorch::{NamedTensor, PoptorchData, Value};

use super::facts::Facts;

pub(super) fn headline(data: &PoptorchData) -> String {
    let version = data.version.as_deref().unwrap_or("of unknown version");
    let mode = match (data.exported_model, data.training) {
        (_, Some(true)) => "training",
        (_, Some(false)) => "inference",
        (Some(false), None) => "mode not stated, without the model",
        _ => "mode unknown",
    };
    let damaged = if data.fault.is_some() { ", incomplete" } else { "" };
    format!("PopTorch {version}, {mode}{damaged}")
}

pub(super) fn write(facts: &mut Facts<'_>, data: &PoptorchData) -> io::Result<()> {
    // The class that PopTorch writes needs no mention.
    if let Some(class) = data.class.as_deref().filter(|class| *class != "poptorch._poptorch_data.PoptorchData") {
        facts.str("Class", class)?;
    }
    maybe(facts, "Model", data.model_class.as_ref())?;
    maybe(facts, "Optimizer", data.optimizer_class.as_ref())?;
    maybe(facts, "Model name", data.model_name.as_ref())?;
    maybe(facts, "Loss scaling", data.loss_scaling)?;
    inputs(facts, data)?;
    maybe(facts, "Replicas", data.replication_factor)?;
    maybe(facts, "Device iterations", data.device_iterations)?;
    maybe(facts, "Gradient accumulation", data.gradient_accumulation)?;
    maybe(facts, "Output mode", data.output_mode)?;
    maybe(facts, "Output return period", data.output_return_period)?;
    maybe(facts, "IPU version", data.ipu_version)?;
    maybe(facts, "IPU id", data.ipu_id)?;
    maybe(facts, "Connection type", data.connection_type)?;
    maybe(facts, "Sync pattern", data.sync_pattern)?;
    maybe(facts, "Processes", data.processes)?;
    maybe(facts, "Execution strategy", data.execution_strategy.as_ref())?;
    maybe(facts, "Autocast", data.autocast_enabled.map(|enabled| if enabled { "on" } else { "off" }))?;
    maybe(facts, "Random seed", data.random_seed)?;
    maybe(facts, "Compiled at", data.compiled_at.as_ref())?;
    maybe(facts, "Compilation took", data.compile_seconds.map(|seconds| format!("{seconds} s")))?;
    values(facts, "Available memory proportion", &data.available_memory_proportion)?;
    values(facts, "Tensor locations", &data.tensor_locations)?;
    values(facts, "PopART options", &data.popart_options)?;
    tensors(facts, "Parameters", &data.parameters)?;
    tensors(facts, "Buffers", &data.buffers)?;
    imports(facts, data)?;
    if data.left_out {
        facts.fact("Left out", "parts that would take much more space than the pickle itself")?;
    }
    match &data.fault {
        Some(fault) => facts.fact("Incomplete", format_args!("byte {} of the pickle: {}", fault.offset, fault.reason)),
        None => Ok(()),
    }
}

fn maybe(facts: &mut Facts<'_>, label: &'static str, value: Option<impl Display>) -> io::Result<()> {
    value.map_or(Ok(()), |value| facts.fact(label, value))
}

fn inputs(facts: &mut Facts<'_>, data: &PoptorchData) -> io::Result<()> {
    let mut inputs = data.inputs.iter().enumerate().map(|(index, input)| {
        let name = input.name.clone().unwrap_or_else(|| format!("input {index}"));
        (name, input.value.to_string())
    });
    facts.list("Inputs", data.inputs.len(), &mut inputs)?;
    values(facts, "Inputs by name", &data.kwargs)
}

fn values(facts: &mut Facts<'_>, label: &'static str, values: &[(String, Value)]) -> io::Result<()> {
    facts.list(label, values.len(), &mut values.iter().map(|(name, value)| (name.clone(), value.to_string())))
}

fn tensors(facts: &mut Facts<'_>, label: &'static str, tensors: &[NamedTensor]) -> io::Result<()> {
    facts.list(label, tensors.len(), &mut tensors.iter().map(|one| (one.name.clone(), one.tensor.to_string())))
}

/// Writes the imports of the pickle.
fn imports(facts: &mut Facts<'_>, data: &PoptorchData) -> io::Result<()> {
    facts.names("Imports", data.globals.iter().map(|name| Text::from(name.as_str())))?;
    facts.names("Imports of pickles inside", data.nested_globals.iter().map(|name| Text::from(name.as_str())))
}

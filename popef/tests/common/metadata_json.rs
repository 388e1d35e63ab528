//! Metadata as JSON under the names of the schema.

use popef::Metadata;
use popef::types::{Anchor, EngineOption, ProgramInfo, Text};
use serde_json::{Value, json};

/// `type_and_info` gives the type of an anchor and its tensor info: documents differ in how they show enumerations.
pub fn metadata_json(metadata: &Metadata, type_and_info: impl Fn(&Anchor) -> [Value; 2]) -> Value {
    let option = |option: &EngineOption| json!({ "name": utf8(&option.name), "value": utf8(&option.value) });
    let program = |program: &ProgramInfo| json!({ "index": program.index, "name": utf8(&program.name) });
    let anchor = |anchor: &Anchor| anchor_json(anchor, type_and_info(anchor));
    let flow = &metadata.program_flow;
    json!({
        "replicationFactor": metadata.replication_factor,
        "numIpus": metadata.num_ipus,
        "numProcesses": metadata.num_processes,
        "ipuVersion": metadata.ipu_version,
        "isPOD": metadata.is_pod,
        "isInference": metadata.is_inference,
        "deviceIterations": metadata.device_iterations,
        "executable": utf8(&metadata.executable),
        "seedHandle": utf8(&metadata.seed_handle),
        "engineOptions": metadata.engine_options.iter().map(option).collect::<Vec<_>>(),
        "deviceOptions": metadata.device_options.iter().map(option).collect::<Vec<_>>(),
        "programFlow": { "load": flow.load, "main": flow.main, "save": flow.save },
        "programsMap": metadata.programs_map.iter().map(program).collect::<Vec<_>>(),
        "anchors": metadata.anchors.iter().map(anchor).collect::<Vec<_>>(),
    })
}

fn anchor_json(anchor: &Anchor, [tensor_type, tensor_info]: [Value; 2]) -> Value {
    json!({
        "name": utf8(&anchor.name),
        "type": tensor_type,
        "handle": utf8(&anchor.handle),
        "tensorInfo": tensor_info,
        "programs": anchor.programs,
        "isPerReplica": anchor.is_per_replica,
        "useRemoteBuffers": anchor.use_remote_buffers,
        "repeats": anchor.repeats,
    })
}

pub fn utf8(text: &Text<'_>) -> String {
    text.to_str().unwrap().to_owned()
}

//! Serialisation of plain values and of borrowed views of a file. Both use one list of fields.

use crate::read::{FeedDataRef, OpaqueRef, TensorDataRef};
use crate::types::object::object;
use crate::types::{
    Anchor, EngineOption, ExecutableInfo, FeedDataInfo, Metadata, OpaqueInfo, ProgramFlow, ProgramInfo, TensorDataInfo,
    TensorInfo, TensorType, Text,
};
use crate::wire::{AnchorRef, MetadataRef, OptionRef, ProgramRef};

object! {
    #[serde(default, deny_unknown_fields)]
    Metadata, [MetadataRef<'_>] {
        replication_factor: u32 = "replicationFactor";
        num_ipus: u32 = "numIpus";
        num_processes: u32 = "numProcesses";
        ipu_version: u32 = "ipuVersion";
        is_pod: bool = "isPOD";
        is_inference: bool = "isInference";
        device_iterations: u32 = "deviceIterations";
        executable / executable_bytes: Text<'static> = "executable" / "executableBytes";
        seed_handle / seed_handle_bytes: Text<'static> = "seedHandle" / "seedHandleBytes";
        engine_options: Vec<EngineOption> = "engineOptions";
        device_options: Vec<EngineOption> = "deviceOptions";
        program_flow: ProgramFlow = "programFlow";
        programs_map: Vec<ProgramInfo> = "programsMap";
        anchors: Vec<Anchor> = "anchors";
    }
}

object! {
    #[serde(default, deny_unknown_fields)]
    Anchor, [AnchorRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        tensor_type: TensorType = "type";
        handle / handle_bytes: Text<'static> = "handle" / "handleBytes";
        tensor_info: TensorInfo = "tensorInfo";
        programs: Vec<u32> = "programs";
        is_per_replica: bool = "isPerReplica";
        use_remote_buffers: bool = "useRemoteBuffers";
        repeats: u32 = "repeats";
    }
}

object! {
    #[serde(deny_unknown_fields)]
    EngineOption, [OptionRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        value / value_bytes: Text<'static> = "value" / "valueBytes";
    }
}

object! {
    #[serde(deny_unknown_fields)]
    ProgramInfo, [ProgramRef<'_>] {
        index: u32 = "index";
        name / name_bytes: Text<'static> = "name" / "nameBytes";
    }
}

object! {
    #[serde(deny_unknown_fields)]
    ExecutableInfo, [] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        uncompressed_size: Option<u64> = "uncompressedSize";
    }
}

object! {
    #[serde(deny_unknown_fields)]
    TensorDataInfo, [TensorDataRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        tensor_info: TensorInfo = "tensorInfo";
    }
}

object! {
    #[serde(deny_unknown_fields)]
    FeedDataInfo, [FeedDataRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        tensor_info: TensorInfo = "tensorInfo";
        num_tensors: u32 = "numTensors";
    }
}

object! {
    #[serde(deny_unknown_fields)]
    OpaqueInfo, [OpaqueRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        executable / executable_bytes: Text<'static> = "executable" / "executableBytes";
    }
}

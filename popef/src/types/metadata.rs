use crate::types::{TensorInfo, TensorType, Text};

/// Everything a runtime needs to load and run an executable.
///
/// [`MetadataBlob::read`](crate::read::MetadataBlob::read) returns it: every field of the schema, with lists in the
/// file's order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// How many copies of the model run side by side.
    pub replication_factor: u32,
    /// How many IPUs one run needs.
    pub num_ipus: u32,
    /// How many host processes share the replicas.
    pub num_processes: u32,
    /// The version of the IPU that the executable was compiled for: 1, 2 or 21.
    pub ipu_version: u32,
    /// Whether the target is a Pod.
    pub is_pod: bool,
    /// Whether the model only infers, or also trains.
    pub is_inference: bool,
    /// How many batches one call runs.
    pub device_iterations: u32,
    /// The name of the executable that this describes.
    pub executable: Text<'static>,
    /// The handle of the input that takes the random seed; empty if none does.
    pub seed_handle: Text<'static>,
    /// Options for the Poplar engine.
    pub engine_options: Vec<EngineOption>,
    /// Options for the device.
    pub device_options: Vec<EngineOption>,
    /// Which programs load, run and save the model.
    pub program_flow: ProgramFlow,
    /// The names of the executable's programs.
    pub programs_map: Vec<ProgramInfo>,
    /// The model's inputs and outputs.
    pub anchors: Vec<Anchor>,
}

impl Metadata {
    /// Returns a copy without options, programs and anchors.
    pub fn without_lists(&self) -> Metadata {
        Metadata {
            executable: self.executable.clone(),
            seed_handle: self.seed_handle.clone(),
            program_flow: self.program_flow.clone(),
            engine_options: Vec::new(),
            device_options: Vec::new(),
            programs_map: Vec::new(),
            anchors: Vec::new(),
            ..*self
        }
    }
}

/// The smallest model: one IPU of version 2, one replica, one process, one iteration, inference.
impl Default for Metadata {
    fn default() -> Self {
        Metadata {
            replication_factor: 1,
            num_ipus: 1,
            num_processes: 1,
            ipu_version: 2,
            is_pod: false,
            is_inference: true,
            device_iterations: 1,
            executable: Text::default(),
            seed_handle: Text::default(),
            engine_options: Vec::new(),
            device_options: Vec::new(),
            program_flow: ProgramFlow::default(),
            programs_map: Vec::new(),
            anchors: Vec::new(),
        }
    }
}

/// An input or output of a model. It connects the tensor's name, the handle in the executable, and the data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The tensor's name in the original model; tensor and feed blobs of this name hold its data.
    pub name: Text<'static>,
    /// The handle by which the executable refers to the tensor when it calls the host.
    pub handle: Text<'static>,
    /// The shape and element type, including the outer dimensions that replicas and repeats add.
    pub tensor_info: TensorInfo,
    /// Whether the anchor is an input or an output.
    pub tensor_type: TensorType,
    /// The indices of the programs that use the anchor.
    pub programs: Vec<u32>,
    /// Whether each replica has its own data.
    pub is_per_replica: bool,
    /// Whether the data goes through a remote buffer.
    pub use_remote_buffers: bool,
    /// How many blocks of data the remote buffer holds.
    pub repeats: u32,
}

/// An anchor of unknown type without name, handle or programs, repeated once.
impl Default for Anchor {
    fn default() -> Self {
        Anchor {
            name: Text::default(),
            handle: Text::default(),
            tensor_info: TensorInfo::default(),
            tensor_type: TensorType::Unknown,
            programs: Vec::new(),
            is_per_replica: false,
            use_remote_buffers: false,
            repeats: 1,
        }
    }
}

/// An option for the Poplar engine or for a device, as a name and a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EngineOption {
    /// The option's name, for example `target.syncReplicasIndependently`.
    pub name: Text<'static>,
    /// The option's value, as text.
    pub value: Text<'static>,
}

/// The indices of the programs to run in each phase of a model's life, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ProgramFlow {
    /// Programs that run once before the first call. They load the weights.
    pub load: Vec<u32>,
    /// Programs that run for every call.
    pub main: Vec<u32>,
    /// Programs that run once at the end. They read trained weights back.
    pub save: Vec<u32>,
}

/// The name of one program of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramInfo {
    /// The program's index, which the program flow and the anchors refer to.
    pub index: u32,
    /// The program's name, for example `WeightsFromHost`.
    pub name: Text<'static>,
}

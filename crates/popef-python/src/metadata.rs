//! Metadata and what it consists of.

#![allow(non_snake_case, reason = "getters have the names of the vendor's API")]

use std::ffi::CString;

use popef::types::{self, Text};
use pyo3::exceptions::PyDeprecationWarning;
use pyo3::prelude::*;

use crate::enums::TensorType;
use crate::field::{List, Programs, value_class};
use crate::info::TensorInfo;

value_class! {
    /// An option for the Poplar engine or for a device, as a name and a value.
    ///
    /// >>> import popef
    /// >>> option = popef.Option("target.deterministicWorkers", "false")
    /// >>> option.name(), option.value()
    /// ('target.deterministicWorkers', 'false')
    EngineOption ("Option", "(name=None, value=None)") of types::EngineOption {
        /// The option's name, for example `target.syncReplicasIndependently`.
        name: Text<'static> = name, set_name ("setName");
        /// The option's value, as text.
        value: Text<'static> = value, set_value ("setValue");
    }
}

value_class! {
    /// The indices of the programs to run in each phase of a model's life, in order.
    ///
    /// >>> import popef
    /// >>> flow = popef.ProgramFlow(load=[0], main=[1])
    /// >>> flow.main().append(2)
    /// >>> flow.load(), flow.main(), flow.save()
    /// ([0], [1, 2], [])
    ProgramFlow ("ProgramFlow", "(load=None, main=None, save=None)") of types::ProgramFlow {
        /// Programs that run once before the first call. They load the weights.
        load: List<u32> = load, set_load ("setLoad");
        /// Programs that run for every call.
        main: List<u32> = main, set_main ("setMain");
        /// Programs that run once at the end. They read trained weights back.
        save: List<u32> = save, set_save ("setSave");
    }
}

value_class! {
    /// An input or output of a model. It connects the tensor's name, the handle in the executable, and the data.
    ///
    /// >>> import popef
    /// >>> shape = popef.TensorInfo([8, 224, 224, 3], popef.DataType.F16)
    /// >>> anchor = popef.Anchor("image", "h2d_image", shape, popef.TensorType.INPUT, programs=[1])
    /// >>> anchor.setIsPerReplica(True)
    /// >>> anchor.name(), anchor.tensorInfo().sizeInBytes(), anchor.programs()
    /// ('image', 2408448, [1])
    Anchor ("Anchor", "(name=None, handle=None, tensorInfo=None, type=None, programs=None, isPerReplica=None, useRemoteBuffers=None, repeats=None)") of types::Anchor {
        /// The tensor's name in the original model. Tensors and feeds of this name hold its data.
        name: Text<'static> = name, set_name ("setName");
        /// The handle by which the executable refers to the tensor when it calls the host.
        handle: Text<'static> = handle, set_handle ("setHandle");
        /// The shape and element type, including the outer dimensions that replicas and repeats add.
        tensor_info: Py<TensorInfo> = tensorInfo, set_tensor_info ("setTensorInfo");
        /// Whether the anchor is an input or an output.
        tensor_type: TensorType = r#type, set_type ("setType");
        /// The indices of the programs that use the anchor.
        programs: List<u32> = programs, set_programs ("setPrograms");
        /// Whether each replica has its own data.
        is_per_replica: bool = isPerReplica, set_is_per_replica ("setIsPerReplica");
        /// Whether the data goes through a remote buffer.
        use_remote_buffers: bool = useRemoteBuffers, set_use_remote_buffers ("setUseRemoteBuffers");
        /// How many blocks of data the remote buffer holds.
        repeats: u32 = repeats, set_repeats ("setRepeats");
    }
}

value_class! {
    /// Everything a runtime needs to load and run an executable.
    ///
    /// >>> import popef
    /// >>> metadata = popef.Metadata(executable="model", numIpus=2)
    /// >>> metadata.engineOptions().append(popef.Option("debug.trace", "false"))
    /// >>> metadata.programsMap()[1] = "main"
    /// >>> metadata.setReplicationFactor(4)
    /// >>> metadata.executable(), metadata.numIpus(), metadata.replicationFactor(), metadata.programsMap()
    /// ('model', 2, 4, {1: 'main'})
    Metadata ("Metadata", "(replicationFactor=None, numIpus=None, seedHandle=None, anchors=None, executable=None, numProcesses=None, ipuVersion=None, isPOD=None, isInference=None, engineOptions=None, deviceOptions=None, programFlow=None, programsMap=None, deviceIterations=None)") of popef::Metadata {
        /// How many copies of the model run side by side.
        replication_factor: u32 = replicationFactor, set_replication_factor ("setReplicationFactor");
        /// How many IPUs one run needs.
        num_ipus: u32 = numIpus, set_num_ipus ("setNumIpus");
        /// The handle of the input that takes the random seed; empty if none does.
        seed_handle: Text<'static> = seedHandle, set_seed_handle ("setSeedHandle");
        /// The model's inputs and outputs.
        anchors: List<Py<Anchor>> = anchors, set_anchors ("setAnchors");
        /// The name of the executable that this describes.
        executable: Text<'static> = executable, set_executable ("setExecutable");
        /// How many host processes share the replicas.
        num_processes: u32 = numProcesses, set_num_processes ("setNumProcesses");
        /// The version of the IPU that the executable was compiled for: 1, 2 or 21.
        ipu_version: u32 = ipuVersion, set_ipu_version ("setIpuVersion");
        /// Whether the target is a Pod.
        is_pod: bool = isPOD, set_is_pod ("setIsPOD");
        /// Whether the model only infers, or also trains.
        is_inference: bool = isInference, set_is_inference ("setIsInference");
        /// Options for the Poplar engine, in the order of the file.
        engine_options: List<Py<EngineOption>> = engineOptions, set_engine_options ("setEngineOptions");
        /// Options for the device, in the order of the file.
        device_options: List<Py<EngineOption>> = deviceOptions, set_device_options ("setDeviceOptions");
        /// Which programs load, run and save the model.
        program_flow: Py<ProgramFlow> = programFlow, set_program_flow ("setProgramFlow");
        /// The names of the executable's programs, by their indices.
        programs_map: Programs = programsMap, set_programs_map ("setProgramsMap");
        /// How many batches one call runs.
        device_iterations: u32 = deviceIterations, set_device_iterations ("setDeviceIterations");
    }

    /// The old name of `deviceIterations`.
    #[pyo3(name = "deviceIteration")]
    fn device_iteration(&self, py: Python<'_>) -> PyResult<u32> {
        warn_of_old_name(py)?;
        Ok(self.device_iterations)
    }

    /// The old name of `setDeviceIterations`.
    #[pyo3(name = "setDeviceIteration")]
    fn set_device_iteration(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        warn_of_old_name(value.py())?;
        Self::set_device_iterations(slf, value)
    }
}

fn warn_of_old_name(py: Python<'_>) -> PyResult<()> {
    let words = CString::new("the field is called deviceIterations since SDK 3.3")?;
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), &words, 1)
}

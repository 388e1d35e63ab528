//! The messages of the schema: one table, from which the views and the descriptions of their fields are made.

use super::kinds::{FeedMode, Format, PrimitiveType, TfType};
use super::raw::Raw;
use super::schema::{Described, Kind, Message};
use super::wire::low_half;

/// Defines a view of each message. A field has its documentation, its name, its kind, its number, and its key in JSON.
/// The kind is that of a field which comes once (`text`, `bool`, `i64`, `u32`, `named TYPE`, `message TYPE`), or the
/// same in brackets for one which can come several times.
macro_rules! messages {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $( $(#[$about:meta])* $field:ident: $kind:tt $($type:ident)? = $number:literal, $key:literal; )*
        }
    )*) => { $(
        $(#[$meta])*
        ///
        /// The view borrows from the payload, and reads a field when it is asked for it.
        #[derive(Clone, Copy)]
        pub struct $name<'m>(pub(super) Raw<'m>);

        impl<'m> $name<'m> {
            pub(super) const MESSAGE: &'static Message = &Message {
                fields: &[ $( Described {
                    number: $number,
                    key: $key,
                    kind: messages!(@kind $kind $($type)?),
                    is_repeated: messages!(@repeated $kind),
                }, )* ],
            };

            $( messages!(@method [$(#[$about])*] $field, $kind $($type)?, $number); )*
        }

        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        /// Serialises as protobuf's JSON, with 64-bit integers as numbers.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                super::serialize::Object { message: Self::MESSAGE, raw: self.0 }.serialize(serializer)
            }
        }
    )* };

    (@kind text) => { Kind::Text };
    (@kind bool) => { Kind::Bool };
    (@kind i64) => { Kind::I64 };
    (@kind u32) => { Kind::U32 };
    (@kind named $type:ident) => { Kind::Named(|number| $type::from_number(number).name()) };
    (@kind message $type:ident) => { Kind::Message(|| $type::MESSAGE) };
    (@kind [$($kind:tt)*]) => { messages!(@kind $($kind)*) };

    (@repeated [$($kind:tt)*]) => { true };
    (@repeated $kind:tt) => { false };

    (@method [$($about:tt)*] $field:ident, text, $number:literal) => {
        $($about)*
        pub fn $field(&self) -> &'m str {
            self.0.text($number)
        }
    };
    (@method [$($about:tt)*] $field:ident, bool, $number:literal) => {
        $($about)*
        pub fn $field(&self) -> bool {
            self.0.number($number) != 0
        }
    };
    (@method [$($about:tt)*] $field:ident, i64, $number:literal) => {
        $($about)*
        pub fn $field(&self) -> i64 {
            self.0.number($number).cast_signed()
        }
    };
    (@method [$($about:tt)*] $field:ident, u32, $number:literal) => {
        $($about)*
        pub fn $field(&self) -> u32 {
            low_half(self.0.number($number))
        }
    };
    (@method [$($about:tt)*] $field:ident, named $type:ident, $number:literal) => {
        $($about)*
        pub fn $field(&self) -> $type {
            $type::from_number(low_half(self.0.number($number)).cast_signed())
        }
    };
    (@method [$($about:tt)*] $field:ident, message $type:ident, $number:literal) => {
        $($about)*
        pub fn $field(&self) -> Option<$type<'m>> {
            self.0.message($number).map($type)
        }
    };
    (@method [$($about:tt)*] $field:ident, [bool], $number:literal) => {
        $($about)*
        pub fn $field(&self) -> impl Iterator<Item = bool> + Clone + use<'m> {
            self.0.numbers($number).map(|number| number != 0)
        }
    };
    (@method [$($about:tt)*] $field:ident, [i64], $number:literal) => {
        $($about)*
        pub fn $field(&self) -> impl Iterator<Item = i64> + Clone + use<'m> {
            self.0.numbers($number).map(u64::cast_signed)
        }
    };
    (@method [$($about:tt)*] $field:ident, [u32], $number:literal) => {
        $($about)*
        pub fn $field(&self) -> impl Iterator<Item = u32> + Clone + use<'m> {
            self.0.numbers($number).map(low_half)
        }
    };
    (@method [$($about:tt)*] $field:ident, [named $type:ident], $number:literal) => {
        $($about)*
        pub fn $field(&self) -> impl Iterator<Item = $type> + Clone + use<'m> {
            self.0.numbers($number).map(|number| $type::from_number(low_half(number).cast_signed()))
        }
    };
    (@method [$($about:tt)*] $field:ident, [message $type:ident], $number:literal) => {
        $($about)*
        pub fn $field(&self) -> impl Iterator<Item = $type<'m>> + Clone + use<'m> {
            self.0.messages($number).map($type)
        }
    };
}

messages! {
    /// The whole message.
    ExecutableMessage {
        /// The number of replicas of the model.
        replication_factor: u32 = 1, "replicationFactor";
        /// The feeds that the host fills, in the order of their ids.
        infeeds: [message Feed] = 2, "infeeds";
        /// The feeds that the host empties, in the order of their ids.
        outfeeds: [message Feed] = 3, "outfeeds";
        /// The engine options that must be set again on loading. Empty in files for serving.
        option_flags: [message OptionFlag] = 4, "optionFlags";
        /// What the device sends to operations on the host.
        sends: [message Transfer] = 5, "sends";
        /// What operations on the host send to the device.
        recvs: [message Transfer] = 6, "recvs";
        /// The lookups in embeddings on the host.
        lookups: [message HostEmbedding] = 7, "lookups";
        /// The updates of embeddings on the host.
        updates: [message HostEmbedding] = 8, "updates";
        /// The notifications of embeddings on the host, without shapes.
        notifications: [message HostEmbedding] = 9, "notifications";
        /// The parameters in remote memory.
        remote_parameters: [message RemoteParameter] = 10, "remoteParameters";
        /// Whether cycles are counted.
        logging_cycle_count: bool = 11, "loggingCycleCount";
        /// What the embedded runtime needs, in files for serving.
        embedded_runtime_config: message RuntimeConfig = 12, "embeddedRuntimeConfig";
        /// The first number of TensorFlow's version.
        tf_major_version: u32 = 13, "tfMajorVersion";
        /// The second number of TensorFlow's version.
        tf_minor_version: u32 = 14, "tfMinorVersion";
        /// TensorFlow's version in git. It must be equal on loading.
        tf_git_version: text = 15, "tfGitVersion";
        /// How the host must reorder partitioned parameters.
        collective_balanced_host_rearrangements: [message Rearrangement] = 16, "collectiveBalancedHostRearrangements";
        /// The hash of the Poplar package. It must be equal on loading, unless the check is turned off.
        poplar_package_hash: text = 17, "poplarPackageHash";
    }

    /// An engine option.
    OptionFlag {
        /// Its name.
        option: text = 1, "option";
        /// Its value.
        value: text = 2, "value";
    }

    /// A feed: a queue between host and device.
    Feed {
        /// How the feed works.
        config: message FeedConfig = 1, "config";
        /// The shape of its elements. It can be a tuple of data and a token.
        shape: message Shape = 2, "shape";
    }

    /// How a feed works.
    FeedConfig {
        /// Its id.
        feed_id: text = 2, "feedId";
        /// Which values are kept.
        mode: named FeedMode = 3, "mode";
        /// TensorFlow's types of what it carries.
        tf_data_types: [named TfType] = 4, "tfDataTypes";
        /// The number of elements that are fetched ahead.
        prefetch_depth: i64 = 5, "prefetchDepth";
        /// Whether several engines may use it.
        reusable: bool = 6, "reusable";
        /// Whether it is made for low latency. SDK 2.5 and newer.
        optimise_latency: bool = 7, "optimiseLatency";
    }

    /// A stream between the device and an operation on the host.
    Transfer {
        /// The handle of the stream in Poplar.
        stream_handle: text = 1, "streamHandle";
        /// The key by which both sides find each other.
        rendezvous_key: text = 2, "rendezvousKey";
        /// What is sent.
        shape: message Shape = 3, "shape";
    }

    /// An embedding on the host.
    HostEmbedding {
        /// The handle of the stream in Poplar.
        stream_handle: text = 1, "streamHandle";
        /// The embedding.
        embedding_id: text = 2, "embeddingId";
        /// The shape of the indices.
        indices_shape: message Shape = 3, "indicesShape";
        /// The shape of the activations.
        activations_shape: message Shape = 4, "activationsShape";
    }

    /// A parameter in remote memory.
    RemoteParameter {
        /// The parameter's number.
        parameter_number: i64 = 1, "parameterNumber";
        /// Whether each replica holds a part of it.
        is_replica_partitioned: bool = 2, "isReplicaPartitioned";
        /// The remote buffer.
        buffer_name: text = 3, "bufferName";
        /// The place in the buffer.
        buffer_offset: i64 = 4, "bufferOffset";
        /// The number of parameters that share the buffer.
        num_merged: i64 = 5, "numMerged";
        /// The parameters that share the buffer.
        merged_params: [i64] = 6, "mergedParams";
        /// The rearrangement that it needs. 0 can mean none, or the first one.
        host_rearrangement_id: i64 = 7, "hostRearrangementId";
    }

    /// How the host must reorder a partitioned parameter.
    Rearrangement {
        /// Its number.
        id: i64 = 1, "id";
        /// The number of elements that each replica holds.
        total_elements_per_replica: i64 = 2, "totalElementsPerReplica";
        /// The number of replicas.
        replication_factor: i64 = 3, "replicationFactor";
        /// The parts of the gathered tensor that belong to the original one.
        gathered_to_ref_slices: [message Slice] = 4, "gatheredToRefSlices";
        /// For each element, where it goes. Can be as long as the tensor.
        element_map: [u32] = 5, "elementMap";
    }

    /// A range of elements.
    Slice {
        /// The first one.
        begin: i64 = 1, "begin";
        /// The one after the last.
        end: i64 = 2, "end";
    }

    /// What the embedded runtime needs.
    RuntimeConfig {
        /// The inputs and outputs.
        signature: message Signature = 1, "signature";
        /// The number of IPUs.
        num_ipus: i64 = 2, "numIpus";
        /// The type of target: `IPU`, `IPU_MODEL` and others.
        target_type: text = 3, "targetType";
        /// The architecture: `ipu2`, `ipu21` and others.
        target_arch: text = 4, "targetArch";
        /// Whether a gateway is used.
        gateway_mode: bool = 5, "gatewayMode";
        /// Whether the target has remote buffers.
        supports_remote_buffers: bool = 6, "supportsRemoteBuffers";
        /// Has two meanings: [`Executable::flag7_meaning`](super::Executable::flag7_meaning).
        flag7: bool = 7, "flag7";
        /// Whether the executable can stall. TensorFlow 2.6 only: see
        /// [`Executable::can_stall`](super::Executable::can_stall).
        executable_can_stall: bool = 8, "executableCanStall";
    }

    /// The inputs and outputs of a model for serving.
    Signature {
        /// The inputs that stay between runs, such as weights.
        inputs: [message Input] = 1, "inputs";
        /// The outputs that stay between runs.
        outputs: [message Output] = 2, "outputs";
        /// The inputs of each run.
        streamed_inputs: [message Input] = 3, "streamedInputs";
        /// The outputs of each run.
        streamed_outputs: [message Output] = 4, "streamedOutputs";
    }

    /// An input.
    Input {
        /// Its name.
        name: text = 1, "name";
        /// Its handle in Poplar.
        handle: text = 2, "handle";
        /// The argument of the computation.
        argument: i64 = 3, "argument";
        /// The place in the argument, if that is a tuple.
        tuple_index: i64 = 4, "tupleIndex";
        /// Its shape.
        shape: message Shape = 5, "shape";
    }

    /// An output.
    Output {
        /// Its name.
        name: text = 1, "name";
        /// Its handle in Poplar.
        handle: text = 2, "handle";
        /// The place in the result, if that is a tuple.
        tuple_index: i64 = 3, "tupleIndex";
        /// Its shape.
        shape: message Shape = 4, "shape";
    }

    /// An XLA shape.
    Shape {
        /// The type of the elements.
        element_type: named PrimitiveType = 2, "elementType";
        /// The extents.
        dimensions: [i64] = 3, "dimensions";
        /// The parts of a tuple.
        tuple_shapes: [message Shape] = 4, "tupleShapes";
        /// Its layout in memory.
        layout: message Layout = 5, "layout";
        /// Which extents are only upper limits.
        is_dynamic_dimension: [bool] = 6, "isDynamicDimension";
    }

    /// The layout of a shape in memory.
    Layout {
        /// The order of the dimensions.
        minor_to_major: [i64] = 1, "minorToMajor";
        /// Dense or sparse.
        format: named Format = 4, "format";
        /// The most elements of a sparse shape. TensorFlow 1.15 only.
        max_sparse_elements: i64 = 5, "maxSparseElements";
        /// The tiles.
        tiles: [message Tile] = 6, "tiles";
        /// The size of an element, if it is not that of its type.
        element_size_in_bits: i64 = 7, "elementSizeInBits";
        /// The memory space.
        memory_space: i64 = 8, "memorySpace";
    }

    /// A tile of a layout.
    Tile {
        /// Its extents.
        dimensions: [i64] = 1, "dimensions";
    }
}

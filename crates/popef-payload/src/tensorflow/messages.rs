//! The messages of the schema: one table, from which the views and the descriptions of their fields are made.

use super::kinds::{FeedMode, Format, PrimitiveType, TfType};
use super::raw::Raw;
use super::schema::{Described, Kind, Message};
use super::wire::low_half;

/// Defines a view of each message. A field has its name, its kind, its number, its key in JSON, and its documentation.
/// The kind is that of a field which comes once (`text`, `bool`, `i64`, `u32`, `named TYPE`, `message TYPE`), or the
/// same in brackets for one which can come several times.
macro_rules! messages {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $( $field:ident: $kind:tt $($type:ident)? = $number:literal, $key:literal, $about:literal; )*
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

            $(
                #[doc = $about]
                pub fn $field(&self) -> messages!(@type $kind $($type)?) {
                    messages!(@read self.0, $number, $kind $($type)?)
                }
            )*
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

    (@type text) => { &'m str };
    (@type bool) => { bool };
    (@type i64) => { i64 };
    (@type u32) => { u32 };
    (@type named $type:ident) => { $type };
    (@type message $type:ident) => { Option<$type<'m>> };
    (@type [message $type:ident]) => { impl Iterator<Item = $type<'m>> + Clone + use<'m> };
    (@type [$($kind:tt)*]) => { impl Iterator<Item = messages!(@type $($kind)*)> + Clone + use<'m> };

    (@read $raw:expr, $number:literal, text) => { $raw.text($number) };
    (@read $raw:expr, $number:literal, message $type:ident) => { $raw.message($number).map($type) };
    (@read $raw:expr, $number:literal, [message $type:ident]) => { $raw.messages($number).map($type) };
    (@read $raw:expr, $number:literal, [$($kind:tt)*]) => {
        $raw.numbers($number).map(|number| messages!(@of number, $($kind)*))
    };
    (@read $raw:expr, $number:literal, $($kind:tt)*) => { messages!(@of $raw.number($number), $($kind)*) };

    (@of $number:expr, bool) => { $number != 0 };
    (@of $number:expr, i64) => { $number.cast_signed() };
    (@of $number:expr, u32) => { low_half($number) };
    (@of $number:expr, named $type:ident) => { $type::from_number(low_half($number).cast_signed()) };
}

messages! {
    /// The whole message.
    ExecutableMessage {
        replication_factor: u32 = 1, "replicationFactor", "The number of replicas of the model.";
        infeeds: [message Feed] = 2, "infeeds", "The feeds that the host fills, in the order of their ids.";
        outfeeds: [message Feed] = 3, "outfeeds", "The feeds that the host empties, in the order of their ids.";
        option_flags: [message OptionFlag] = 4, "optionFlags",
            "The engine options that must be set again on loading. Empty in files for serving.";
        sends: [message Transfer] = 5, "sends", "What the device sends to operations on the host.";
        recvs: [message Transfer] = 6, "recvs", "What operations on the host send to the device.";
        lookups: [message HostEmbedding] = 7, "lookups", "The lookups in embeddings on the host.";
        updates: [message HostEmbedding] = 8, "updates", "The updates of embeddings on the host.";
        notifications: [message HostEmbedding] = 9, "notifications",
            "The notifications of embeddings on the host, without shapes.";
        remote_parameters: [message RemoteParameter] = 10, "remoteParameters", "The parameters in remote memory.";
        logging_cycle_count: bool = 11, "loggingCycleCount", "Whether cycles are counted.";
        embedded_runtime_config: message RuntimeConfig = 12, "embeddedRuntimeConfig",
            "What the embedded runtime needs, in files for serving.";
        tf_major_version: u32 = 13, "tfMajorVersion", "The first number of TensorFlow's version.";
        tf_minor_version: u32 = 14, "tfMinorVersion", "The second number of TensorFlow's version.";
        tf_git_version: text = 15, "tfGitVersion", "TensorFlow's version in git. It must be equal on loading.";
        collective_balanced_host_rearrangements: [message Rearrangement] = 16, "collectiveBalancedHostRearrangements",
            "How the host must reorder partitioned parameters.";
        poplar_package_hash: text = 17, "poplarPackageHash",
            "The hash of the Poplar package. It must be equal on loading, unless the check is turned off.";
    }

    /// An engine option.
    OptionFlag {
        option: text = 1, "option", "Its name.";
        value: text = 2, "value", "Its value.";
    }

    /// A feed: a queue between host and device.
    Feed {
        config: message FeedConfig = 1, "config", "How the feed works.";
        shape: message Shape = 2, "shape", "The shape of its elements. It can be a tuple of data and a token.";
    }

    /// How a feed works.
    FeedConfig {
        feed_id: text = 2, "feedId", "Its id.";
        mode: named FeedMode = 3, "mode", "Which values are kept.";
        tf_data_types: [named TfType] = 4, "tfDataTypes", "TensorFlow's types of what it carries.";
        prefetch_depth: i64 = 5, "prefetchDepth", "The number of elements that are fetched ahead.";
        reusable: bool = 6, "reusable", "Whether several engines may use it.";
        optimise_latency: bool = 7, "optimiseLatency", "Whether it is made for low latency. SDK 2.5 and newer.";
    }

    /// A stream between the device and an operation on the host.
    Transfer {
        stream_handle: text = 1, "streamHandle", "The handle of the stream in Poplar.";
        rendezvous_key: text = 2, "rendezvousKey", "The key by which both sides find each other.";
        shape: message Shape = 3, "shape", "What is sent.";
    }

    /// An embedding on the host.
    HostEmbedding {
        stream_handle: text = 1, "streamHandle", "The handle of the stream in Poplar.";
        embedding_id: text = 2, "embeddingId", "The embedding.";
        indices_shape: message Shape = 3, "indicesShape", "The shape of the indices.";
        activations_shape: message Shape = 4, "activationsShape", "The shape of the activations.";
    }

    /// A parameter in remote memory.
    RemoteParameter {
        parameter_number: i64 = 1, "parameterNumber", "The parameter's number.";
        is_replica_partitioned: bool = 2, "isReplicaPartitioned", "Whether each replica holds a part of it.";
        buffer_name: text = 3, "bufferName", "The remote buffer.";
        buffer_offset: i64 = 4, "bufferOffset", "The place in the buffer.";
        num_merged: i64 = 5, "numMerged", "The number of parameters that share the buffer.";
        merged_params: [i64] = 6, "mergedParams", "The parameters that share the buffer.";
        host_rearrangement_id: i64 = 7, "hostRearrangementId",
            "The rearrangement that it needs. 0 can mean none, or the first one.";
    }

    /// How the host must reorder a partitioned parameter.
    Rearrangement {
        id: i64 = 1, "id", "Its number.";
        total_elements_per_replica: i64 = 2, "totalElementsPerReplica",
            "The number of elements that each replica holds.";
        replication_factor: i64 = 3, "replicationFactor", "The number of replicas.";
        gathered_to_ref_slices: [message Slice] = 4, "gatheredToRefSlices",
            "The parts of the gathered tensor that belong to the original one.";
        element_map: [u32] = 5, "elementMap", "For each element, where it goes. Can be as long as the tensor.";
    }

    /// A range of elements.
    Slice {
        begin: i64 = 1, "begin", "The first one.";
        end: i64 = 2, "end", "The one after the last.";
    }

    /// What the embedded runtime needs.
    RuntimeConfig {
        signature: message Signature = 1, "signature", "The inputs and outputs.";
        num_ipus: i64 = 2, "numIpus", "The number of IPUs.";
        target_type: text = 3, "targetType", "The type of target: `IPU`, `IPU_MODEL` and others.";
        target_arch: text = 4, "targetArch", "The architecture: `ipu2`, `ipu21` and others.";
        gateway_mode: bool = 5, "gatewayMode", "Whether a gateway is used.";
        supports_remote_buffers: bool = 6, "supportsRemoteBuffers", "Whether the target has remote buffers.";
        flag7: bool = 7, "flag7", "Has two meanings: [`Executable::flag7_meaning`](super::Executable::flag7_meaning).";
        executable_can_stall: bool = 8, "executableCanStall",
            "Whether the executable can stall. TensorFlow 2.6 only: see [`Executable::can_stall`](super::Executable::can_stall).";
    }

    /// The inputs and outputs of a model for serving.
    Signature {
        inputs: [message Input] = 1, "inputs", "The inputs that stay between runs, such as weights.";
        outputs: [message Output] = 2, "outputs", "The outputs that stay between runs.";
        streamed_inputs: [message Input] = 3, "streamedInputs", "The inputs of each run.";
        streamed_outputs: [message Output] = 4, "streamedOutputs", "The outputs of each run.";
    }

    /// An input.
    Input {
        name: text = 1, "name", "Its name.";
        handle: text = 2, "handle", "Its handle in Poplar.";
        argument: i64 = 3, "argument", "The argument of the computation.";
        tuple_index: i64 = 4, "tupleIndex", "The place in the argument, if that is a tuple.";
        shape: message Shape = 5, "shape", "Its shape.";
    }

    /// An output.
    Output {
        name: text = 1, "name", "Its name.";
        handle: text = 2, "handle", "Its handle in Poplar.";
        tuple_index: i64 = 3, "tupleIndex", "The place in the result, if that is a tuple.";
        shape: message Shape = 4, "shape", "Its shape.";
    }

    /// An XLA shape.
    Shape {
        element_type: named PrimitiveType = 2, "elementType", "The type of the elements.";
        dimensions: [i64] = 3, "dimensions", "The extents.";
        tuple_shapes: [message Shape] = 4, "tupleShapes", "The parts of a tuple.";
        layout: message Layout = 5, "layout", "Its layout in memory.";
        is_dynamic_dimension: [bool] = 6, "isDynamicDimension", "Which extents are only upper limits.";
    }

    /// The layout of a shape in memory.
    Layout {
        minor_to_major: [i64] = 1, "minorToMajor", "The order of the dimensions.";
        format: named Format = 4, "format", "Dense or sparse.";
        max_sparse_elements: i64 = 5, "maxSparseElements", "The most elements of a sparse shape. TensorFlow 1.15 only.";
        tiles: [message Tile] = 6, "tiles", "The tiles.";
        element_size_in_bits: i64 = 7, "elementSizeInBits", "The size of an element, if it is not that of its type.";
        memory_space: i64 = 8, "memorySpace", "The memory space.";
    }

    /// A tile of a layout.
    Tile {
        dimensions: [i64] = 1, "dimensions", "Its extents.";
    }
}

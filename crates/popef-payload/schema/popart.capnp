# The message PopART keeps in the PopEF opaque blob "popart".
#
# Written from the facts of the public MIT sources (graphcore/popart, tags sdk/poplar/2.5.1 .. 3.4.0);
# layout, order, names of helper types and all comments are our own. Field ordinals, field types and
# enum numbers agree with the vendor's, so the bytes are interchangeable; type ids do not travel in a
# message and are fresh here.
#
# Three layouts exist in PopEF files and cannot be told apart by any version number in the message:
#
#   layout  SDK          Executable.tensors element     sizes of the Tensor struct (words, pointers)
#   L25     2.5          TensorL25                      (1, 4)   pointer 3 = data or null
#   L26     2.6          TensorL26                      (1, 5)   pointer 3 = data or null, 4 = struct (1, 1)
#   L30     3.0 .. 3.4   Tensor                         (1, 4)   pointer 3 = struct (2, 0), never null
#
# ExecutableAny reads all three. docs/FORMAT.md ("Inside opaque blobs") says how the layout is decided.

@0xeefc1c6e214f97e8;

# ------------------------------------------------------------------------------------------------
# Roots

struct Executable {            # vendor: Executablex. SDK 3.0 and newer
  lowering       @0 :Lowering;
  tensors        @1 :List(Tensor);
  rearrangeIds   @2 :RearrangeIds;     # tensor -> rearrangement number
  rearrangements @3 :Rearrangements;   # rearrangement number -> how the host must shuffle it
}

struct ExecutableL26 {         # the same root with the tensor layout of SDK 2.6
  lowering       @0 :Lowering;
  tensors        @1 :List(TensorL26);
  rearrangeIds   @2 :RearrangeIds;
  rearrangements @3 :Rearrangements;
}

struct ExecutableL25 {         # the same root with the tensor layout of SDK 2.5
  lowering       @0 :Lowering;
  tensors        @1 :List(TensorL25);
  rearrangeIds   @2 :RearrangeIds;
  rearrangements @3 :Rearrangements;
}

struct ExecutableAny {         # the same root, deciding nothing about pointers 3 and 4 of a tensor
  lowering       @0 :Lowering;
  tensors        @1 :List(TensorAny);
  rearrangeIds   @2 :RearrangeIds;
  rearrangements @3 :Rearrangements;
}

# ------------------------------------------------------------------------------------------------
# What PopART remembers of lowering its graph to Poplar

struct Lowering {              # vendor: IrLowering
  ir                       @0 :Ir;
  linearlyCreatedInputs    @1 :List(Text);   # inputs laid out linearly over the tiles, sorted
  efficientlyCreatedInputs @2 :List(Text);   # inputs laid out by an op that knew better, sorted
  cycleCountIds            @3 :List(Text);   # names of the cycle counter outputs
  customPrograms           @4 :CustomPrograms;
}

struct CustomPrograms {        # vendor: ProgramHandleIndices
  pairs @0 :List(Pair);                      # in order of handle
  struct Pair {
    index  @0 :UInt32;                       # Poplar program number
    handle @1 :Text;
  }
}

struct Ir {
  dataFlow              @0 :DataFlow;        # never written by any public PopART: expect null
  sessionOptions        @1 :SessionOptions;  # never written by any public PopART: expect null
  requiresRandomSeed    @2 :Bool;
  executionMode         @3 :ExecutionMode;
  additionalProtoTensors @4 :List(Text);     # tensors PopART added to the ONNX model itself

  enum ExecutionMode {
    inference @0;
    training  @1;
  }
}

# ------------------------------------------------------------------------------------------------
# Declared by the vendor, filled by nobody (a foreign writer may)

struct DataFlow {
  batchesPerStep @0 :Int32;
  anchorMap      @1 :AnchorMap;

  struct AnchorMap {
    anchors @0 :List(Entry);
    struct Entry {
      id         @0 :Text;
      returnType @1 :AnchorReturnType;
    }
  }
}

struct AnchorReturnType {
  text         @0 :Text;
  kind         @1 :Kind;
  returnPeriod @2 :Int32;

  enum Kind {
    final  @0;
    everyN @1;
    all    @2;
    sum    @3;
  }
}

struct SessionOptions {        # no fields of its own
  struct PoplarOptions {
    options @0 :List(Option);
    struct Option {
      key   @0 :Text;
      value @1 :Text;
    }
  }
}

enum SyntheticDataMode {       # declared, used by no field
  off          @0;
  zeros        @1;
  randomNormal @2;
  n            @3;
}

# ------------------------------------------------------------------------------------------------
# Tensors

struct Tensor {                # layout L30
  id               @0 :Text;
  kind             @1 :TensorKind;
  info             @2 :TensorInfo;
  location         @3 :Location;
  variableSettings @4 :VariableSettings;
}

struct TensorL26 {
  id               @0 :Text;
  kind             @1 :TensorKind;
  info             @2 :TensorInfo;
  location         @3 :Location;
  data             @4 :Data;                 # the tensor's value, or null
  variableSettings @5 :VariableSettingsL26;
}

struct TensorL25 {
  id       @0 :Text;
  kind     @1 :TensorKind;
  info     @2 :TensorInfo;
  location @3 :Location;
  data     @4 :Data;                         # the tensor's value, or null
}

struct TensorAny {
  id       @0 :Text;
  kind     @1 :TensorKind;
  info     @2 :TensorInfo;
  location @3 :Location;
  pointer3 @4 :AnyPointer;                   # L25, L26: Data or null; L30: VariableSettings
  pointer4 @5 :AnyPointer;                   # L26: VariableSettingsL26; else absent
}

enum TensorKind {              # vendor: TensorType
  actGrad  @0;                 # activation or gradient
  constant @1;
  stream   @2;
  unknown  @3;
  variable @4;
  n        @5;                 # count marker, not a kind
}

struct TensorInfo {
  type  @0 :TypeInfo;
  shape @1 :List(Int64);

  struct TypeInfo {
    dataType     @0 :DataType;
    tensorBytes  @1 :Int32;    # vendor: nbytes. The WHOLE tensor's bytes cut to 32 bits, not the type's
    isFixedPoint @2 :Bool;
    name         @3 :Text;     # "FLOAT16", "FLOAT8_143", ...
    lowerName    @4 :Text;     # "float16", "float8_143", ...; FLOAT gives "float32", DOUBLE "float64"
  }
}

enum DataType {
  uint8      @0;
  int8       @1;
  uint16     @2;
  int16      @3;
  int32      @4;
  int64      @5;
  uint32     @6;
  uint64     @7;
  bool       @8;
  float      @9;
  float16    @10;
  bfloat16   @11;
  double     @12;
  complex64  @13;
  complex128 @14;
  string     @15;
  undefined  @16;              # also what both float8 kinds are written as: then look at TypeInfo.name
}

struct Location {              # vendor: TensorLocationInfo
  remote  @0 :Bool;            # lives in Streaming Memory
  sharded @1 :Bool;            # replicated tensor sharding
  buffer  @2 :RemoteBuffer;    # (0, 0) when not remote

  struct RemoteBuffer {
    id    @0 :Int64;
    index @1 :Int64;
  }
}

struct VariableSettings {      # layout L30
  useCommGroup  @0 :Bool;      # true: kind and groupSize count; false: stride and groupSize
  commGroupKind @1 :CommGroupKind;
  stride        @2 :Int32;
  groupSize     @3 :Int32;
  retrievalMode @4 :RetrievalMode;
}

struct VariableSettingsL26 {
  sharedDomain  @0 :CommGroup;
  retrievalMode @1 :RetrievalMode;
}

struct CommGroup {
  kind             @0 :CommGroupKind;
  replicaGroupSize @1 :Int32;
}

enum CommGroupKind {
  all         @0;
  consecutive @1;
  orthogonal  @2;
  none        @3;
  n           @4;              # count marker, never written, refused by the loader
}

enum RetrievalMode {
  onePerGroup       @0;
  allReduceReplicas @1;
  allReplicas       @2;
}

# ------------------------------------------------------------------------------------------------
# Host side reordering of sharded tensors (collective balanced reorder)

struct RearrangeIds {
  pairs @0 :List(Pair);
  struct Pair {
    id     @0 :Text;
    number @1 :UInt32;
  }
}

struct Rearrangements {
  items @0 :List(Item);
  struct Item {
    number        @0 :UInt32;
    rearrangement @1 :Rearrangement;
  }
}

struct Rearrangement {
  replicationFactor       @0 :UInt32;
  elementsPerReplica      @1 :UInt64;
  gatheredToReference     @2 :List(Interval);
}

struct Interval {              # [begin, end) of elements
  begin @0 :UInt64;
  end   @1 :UInt64;
}

# ------------------------------------------------------------------------------------------------
# Declared by the vendor, reachable from nothing

struct TensorInterval {
  start @0 :UInt64;
  end   @1 :UInt64;
}

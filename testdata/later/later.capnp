# What a later version of the schema could be: fields behind those that popef/schema/popef.capnp has.
@0xb7c1a5de9f0e3a11;

struct BlobHeader {
  version @0 :Text;
  type @1 :UInt16;
  size @2 :UInt64;
  checksum @3 :UInt64;
  writer @4 :Text;
}

struct TensorInfo {
  shape @0 :List(Int64);
  dataType @1 :UInt16;
  layout @2 :Text;
}

struct TensorDataInfo {
  name @0 :Text;
  tensorInfo @1 :TensorInfo;
  scale @2 :Float64;
  comment @3 :Text;
}

struct PoplarExecutable {
  name @0 :Text;
  uncompressedSize @1 :UInt64;
  target @2 :Text;
  checksum @3 :UInt64;
}

struct Metadata {
  replicationFactor @0 :UInt32;
  numIpus @1 :UInt32;
  seedHandle @2 :Text;
  anchors @3 :List(Anchor);
  executable @4 :Text;
  numProcesses @5 :UInt32;
  ipuVersion @6 :UInt32;
  isPOD @7 :Bool;
  isInference @8 :Bool;
  engineOptions @9 :List(Option);
  deviceOptions @10 :List(Option);
  programFlow @11 :ProgramFlow;
  programsMap @12 :List(ProgramInfo);
  deviceIterations @13 :UInt32;
  energy @14 :Float64;
  sites @15 :List(Text);
}

struct Anchor {
  name @0 :Text;
  programs @1 :List(UInt32);
  handle @2 :Text;
  tensorInfo @3 :TensorInfo;
  type @4 :UInt16;
  isPerReplica @5 :Bool;
  useRemoteBuffers @6 :Bool;
  repeats @7 :UInt32;
  tile @8 :UInt64;
  unit @9 :Text;
}

struct Option {
  name @0 :Text;
  value @1 :Text;
  source @2 :Text;
}

struct ProgramInfo {
  index @0 :UInt32;
  name @1 :Text;
  cycles @2 :UInt64;
}

struct ProgramFlow {
  load @0 :List(UInt32);
  main @1 :List(UInt32);
  save @2 :List(UInt32);
  check @3 :List(UInt32);
}

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

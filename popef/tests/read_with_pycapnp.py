"""Prints what the official Cap'n Proto library reads from PopEF files, one line of JSON for each file.

    python read_with_pycapnp.py SCHEMA FILE...

It shares no code with this project: the sizes in the headers lead from blob to blob, pycapnp decodes the messages, and
Python's own zlib unpacks compressed executables. Enumerations are printed as numbers, data in hexadecimal.
"""

import json
import struct
import sys
import zlib

import capnp

NOT_COMPRESSED = 2**64 - 1
ROOTS = ["PoplarExecutable", "Metadata", "TensorDataInfo", "FeedDataInfo", "Opaque"]


def message_length(data):
    segments = struct.unpack_from("<I", data)[0] + 1
    table = (segments // 2 + 1) * 8
    return table + 8 * sum(struct.unpack_from(f"<{segments}I", data, 4))


def read(struct_type, data):
    length = message_length(data)
    # A copy is aligned, which the start of a blob need not be.
    with struct_type.from_bytes(bytes(data[:length]), traversal_limit_in_words=2**30) as root:
        return plain(root), length


def plain(value):
    kind = type(value).__name__
    if kind == "_DynamicStructReader":
        return {name: plain(getattr(value, name)) for name in value.schema.fieldnames}
    if kind == "_DynamicListReader":
        return [plain(item) for item in value]
    if kind == "_DynamicEnum":
        return value.raw
    return value


def blobs(schema, data):
    offset = 0
    while offset < len(data):
        header, length = read(schema.BlobHeader, data[offset:])
        info, info_length = read(getattr(schema, ROOTS[header["type"]]), data[offset + length :])
        content = bytes(data[offset + length + info_length : offset + header["size"]])
        if info.get("uncompressedSize", NOT_COMPRESSED) != NOT_COMPRESSED:
            content = zlib.decompress(content, wbits=47)  # zlib or gzip, as the data says
            assert len(content) == info["uncompressedSize"]
        yield {"offset": offset, "header": header, "info": info, "data": content.hex()}
        offset += header["size"]
    assert offset == len(data)


def main(schema_path, *paths):
    schema = capnp.load(schema_path)
    for path in paths:
        with open(path, "rb") as file:
            print(json.dumps(list(blobs(schema, memoryview(file.read())))))


if __name__ == "__main__":
    main(*sys.argv[1:])

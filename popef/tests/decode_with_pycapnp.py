"""Decodes messages with the official Cap'n Proto library, one line for each.

    python decode_with_pycapnp.py SCHEMA

Standard input is a sequence of records: a u32 length, and that many bytes from the start of a blob. For each record this
prints the fields of header and info, or "error" if the library finds one, or "text" if a text is not UTF-8, which the
library cannot give. It shares no code with this project.
"""

import struct
import sys

import capnp

schema = capnp.load(sys.argv[1])
ROOTS = [schema.PoplarExecutable, schema.Metadata, schema.TensorDataInfo, schema.FeedDataInfo, schema.Opaque]


def message_length(data, start):
    segments = struct.unpack_from("<I", data, start)[0] + 1
    if segments > 511:
        raise ValueError("segments")
    table = (segments // 2 + 1) * 8
    length = table + 8 * sum(struct.unpack_from(f"<{segments}I", data, start + 4))
    if start + length > len(data):
        raise ValueError("length")
    return length


def fields(value):
    kind = type(value).__name__
    if kind == "_DynamicStructReader":
        return "(" + " ".join(fields(getattr(value, name)) for name in value.schema.fieldnames) + ")"
    if kind == "_DynamicListReader":
        return "[" + " ".join(map(fields, value)) + "]"
    if kind == "_DynamicEnum":
        return str(value.raw)
    if isinstance(value, str):
        return "'" + value.encode().hex()
    return str(int(value))


def decode(data):
    length = message_length(data, 0)
    with schema.BlobHeader.from_bytes(data[:length]) as header:
        line, blob_type, size = fields(header), header.type.raw, header.size
    if blob_type < len(ROOTS):
        # The header says where the blob ends.
        data = data[:size]
        end = length + message_length(data, length)
        with ROOTS[blob_type].from_bytes(data[length:end]) as info:
            line += fields(info)
    return line


def main():
    records = sys.stdin.buffer
    while prefix := records.read(4):
        data = records.read(*struct.unpack("<I", prefix))
        try:
            print(decode(data))
        except UnicodeDecodeError:
            print("text")
        except (capnp.KjException, ValueError, struct.error):
            print("error")


main()

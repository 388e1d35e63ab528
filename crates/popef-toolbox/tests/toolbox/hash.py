"""Computes the manifest of files anew, from docs/TOOLBOX.md and the JSON of popef dump, with Python's own hashes and inflaters.

Arguments: the document of `popef hash --format json`, with or without `--whole`, that of `popef dump --format json`, and the folder of the files.
"""

import hashlib
import json
import os
import struct
import sys
import zlib

TYPES = {"poplarExecutable": 0, "metadata": 1, "dataTensor": 2, "dataFeed": 3, "opaque": 4}
DATA_TYPES = ["BOOL", "F8", "F16", "F32", "F64", "S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64", "F8143", "F8152"]
DIRECTIONS = {"UNKNOWN": 0, "INPUT": 1, "OUTPUT": 2}


def sha256(data):
    return hashlib.sha256(data).digest()


def number(value):
    return struct.pack("<Q", value % 2**64)


def text(data):
    return number(len(data)) + data


def listed(items):
    return number(len(items)) + b"".join(items)


def bytes_of(data):
    return number(len(data)) + sha256(data)


def name(item, key="name"):
    raw = item.get(key + "Bytes")
    return item[key].encode() if raw is None else bytes.fromhex(raw)


def named_number(value, names):
    return number(value if isinstance(value, int) else names[value])


def data_type(value):
    return number(value if isinstance(value, int) else DATA_TYPES.index(value))


def numbers(values):
    return listed([number(value) for value in values])


def options(values):
    pairs = sorted(((name(option), name(option, "value")) for option in values), key=lambda pair: pair[0])
    return listed([text(key) + text(value) for key, value in pairs])


def metadata(info):
    form = text(name(info, "executable"))
    for key in ("replicationFactor", "numIpus", "numProcesses", "ipuVersion", "isPOD", "isInference", "deviceIterations"):
        form += number(int(info[key]))
    form += text(name(info, "seedHandle")) + options(info["engineOptions"]) + options(info["deviceOptions"])
    for key in ("load", "main", "save"):
        form += numbers(info["programFlow"][key])
    programs = sorted(info["programsMap"], key=lambda program: program["index"])
    form += listed([number(program["index"]) + text(name(program)) for program in programs])
    direction = lambda anchor: anchor["type"] if isinstance(anchor["type"], int) else DIRECTIONS[anchor["type"]]
    anchors = []
    for anchor in sorted(info["anchors"], key=lambda anchor: (name(anchor), direction(anchor))):
        tensor = anchor["tensorInfo"]
        anchors.append(
            text(name(anchor)) + number(direction(anchor)) + text(name(anchor, "handle")) + data_type(tensor["dataType"])
            + numbers(tensor["shape"]) + numbers(anchor["programs"]) + number(int(anchor["isPerReplica"]))
            + number(int(anchor["useRemoteBuffers"])) + number(anchor["repeats"])
        )
    return form + listed(anchors)


def content(blob, data):
    kind, info = blob["type"], blob["info"]
    form = text(b"popef-content-1") + number(kind if isinstance(kind, int) else TYPES[kind])
    if kind == "metadata":
        return sha256(form + metadata(info))
    if kind == "poplarExecutable":
        if info["isCompressed"]:
            # Either zlib or gzip, possibly of several members.
            unpacked = b""
            while data:
                inflater = zlib.decompressobj(47)
                unpacked += inflater.decompress(data)
                data = inflater.unused_data
            data = unpacked
        form += text(name(info))
    elif kind in ("dataTensor", "dataFeed"):
        tensor = info["tensorInfo"]
        form += text(name(info)) + data_type(tensor["dataType"]) + numbers(tensor["shape"])
        count = 1
        if kind == "dataFeed":
            count = info["numTensors"]
            form += number(count)
        if tensor["sizeInBytes"] is not None and tensor["sizeInBytes"] * count <= len(data):
            data = data[: tensor["sizeInBytes"] * count]
    elif kind == "opaque":
        form += text(name(info)) + text(name(info, "executable"))
    return sha256(form + bytes_of(data))


def place(blob):
    kind, info = blob["type"], blob["info"] or {}
    names = {"metadata": [name(info, "executable"), b""]} if kind == "metadata" else {}
    if kind == "opaque":
        names[kind] = [name(info), name(info, "executable")]
    return [kind if isinstance(kind, int) else TYPES[kind]] + names.get(kind, [name(info) if "name" in info else b"", b""])


def main():
    manifest, dump = (json.load(open(path)) for path in sys.argv[1:3])
    blobs = 0
    assert len(manifest["files"]) == len(dump["files"])
    for entry, described in zip(manifest["files"], dump["files"]):
        path = entry["path"]
        data = open(os.path.join(sys.argv[3], path), "rb").read()
        if "whole" in entry:
            assert entry["whole"] == {"sha256": sha256(data).hex()}, path
        contents = []
        headers = []
        assert len(entry["blobs"]) == len(described["blobs"])
        for digests, blob in zip(entry["blobs"], described["blobs"]):
            start = blob["dataOffset"]
            headers.append(bytes_of(data[blob["offset"] : start]) + number(blob["dataSize"]))
            stored = data[start : start + blob["dataSize"]]
            where = (path, blob["index"])
            assert digests["data"] == {"sha256": sha256(stored).hex()}, where
            expected = content(blob, stored)
            assert digests["content"] == {"sha256": expected.hex()}, where
            contents.append((place(blob), expected))
            blobs += 1
        if "headers" in entry:
            form = text(b"popef-headers-1") + listed(headers)
            assert entry["headers"] == {"sha256": sha256(form).hex()}, path
        assert ("whole" in entry) != ("headers" in entry), path
        prefix = data[: described["blobs"][0]["offset"]] if described["blobs"] else b""
        contents.sort(key=lambda content: content[0])
        form = text(b"popef-content-1") + number(2**64 - 1) + bytes_of(prefix)
        form += listed([digest for _, digest in contents])
        assert entry["content"] == {"sha256": sha256(form).hex()}, path
    print(blobs)


main()

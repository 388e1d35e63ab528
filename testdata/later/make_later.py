"""Writes files of a later version of the format with the official Cap'n Proto library.

    python make_later.py

`tensor.popef` has a tensor whose header and info have fields that today's schema does not know, in messages of several
segments. `renamed.popef` has the same tensor under another name and version, in messages of one segment: what a program
of today is to make of the first one. `compressed.popef` and `unpacked.popef` are the same for an executable that a program
of today decompresses. `metadata.popef` has Metadata with such fields in every struct, and `metadata-set.popef` what a
program of today is to make of it when it changes, adds, removes and moves elements of the lists. Shares no code with this
project.
"""

import pathlib
import struct
import zlib

import capnp

HERE = pathlib.Path(__file__).parent
later = capnp.load(str(HERE / "later.capnp"))
DATA = struct.pack("<2f", 1.5, -2.25) + b"surplus"
EXECUTABLE = b"what the IPUs run, " * 1000
NOT_COMPRESSED = 2**64 - 1


def info(name):
    # The fields are set in the order of their pointers, in which a copy of a message has them.
    info = later.TensorDataInfo.new_message()
    info.name = name
    info.init("tensorInfo")
    info.tensorInfo.shape = [2]
    info.tensorInfo.layout = "column major"
    info.tensorInfo.dataType = 3
    info.scale = 0.5
    info.comment = "made by a later version"
    return info


def executable(uncompressed_size):
    executable = later.PoplarExecutable.new_message()
    executable.name = "model"
    executable.target = "ipu21"
    executable.uncompressedSize = uncompressed_size
    executable.checksum = 0xFEDCBA9876543210
    return executable


def header(kind, version, size):
    header = later.BlobHeader.new_message()
    header.version = version
    header.writer = "a later exporter"
    header.type = kind
    header.size = size
    header.checksum = 0x0123456789ABCDEF
    return header


def segments(message, pieces):
    """The message, of one segment, cut into as many as `pieces`: a first one of a far pointer, and the rest."""
    data = message.to_bytes()
    if pieces == 1:
        return data
    words = len(data) // 8 - 1
    (root,) = struct.unpack_from("<Q", data, 8)
    # The root pointer's struct follows it directly; it stays the landing pad, at word 0 of the second segment.
    assert root & 0xFFFFFFFF == 0
    far = 2 | 0 << 3 | 1 << 32
    return struct.pack("<IIIIQ", 1, 1, words, 0, far) + data[8:]


def blob(kind, info, version, data, pieces):
    info_bytes = segments(info, pieces)
    length = len(segments(header(kind, version, 0), pieces))
    return segments(header(kind, version, length + len(info_bytes) + len(data)), pieces) + info_bytes + data


def tensor(name, version, pieces):
    return blob(2, info(name), version, DATA, pieces)


def metadata(**fields):
    """Metadata as the library lays out the copy of a message: each pointer's target behind the last one's."""
    return later.Metadata.new_message(**fields).as_reader().as_builder()


def option(name, value, source):
    return {"name": name, "value": value, "source": source}


def anchor(name, handle, shape, kind, **more):
    info = {"shape": shape, "dataType": 3, "layout": "layout of " + handle}
    return {"name": name, "handle": handle, "tensorInfo": info, "type": kind, "programs": [5], "repeats": 1, **more}


OLD = {
    "replicationFactor": 1, "numIpus": 2, "numProcesses": 1, "ipuVersion": 2, "isInference": True, "deviceIterations": 1,
    "executable": "model", "seedHandle": "seed", "energy": 1.5, "sites": ["here", "there"],
    "programFlow": {"load": [1], "main": [5], "save": [], "check": [7, 8]},
    "programsMap": [{"index": 1, "name": "load", "cycles": 10}, {"index": 5, "name": "main", "cycles": 50}],
    "engineOptions": [option("a", "1", "by hand"), option("b", "2", "by default"), option("c", "3", "measured")],
    "deviceOptions": [option("e", "4", "the driver")],
    "anchors": [
        anchor("in", "h2d", [2, 3], 1, tile=11, unit="m"),
        anchor("weights", "h2d_w", [4], 1, tile=12, unit="kg"),
        anchor("weights", "d2h_w", [4], 2, tile=13, unit="s"),
    ],
}
# The option a is removed and b changed; the option d is added. The first anchor is removed, the others have another name.
NEW = OLD | {
    "numIpus": 4, "isPOD": True, "seedHandle": "another, longer seed",
    "programFlow": {"load": [1, 2, 3], "main": [5], "save": [6], "check": [7, 8]},
    "programsMap": [{"index": 5, "name": "the main program", "cycles": 50}],
    "engineOptions": [option("b", "20", "by default"), option("c", "3", "measured"), {"name": "d", "value": "4"}],
    "deviceOptions": [option("e", "5", "the driver")],
    "anchors": [
        anchor("w", "h2d_w", [4], 1, tile=12, unit="kg"),
        anchor("w", "d2h_w", [2, 2], 2, tile=13, unit="s"),
    ],
}


(HERE / "tensor.popef").write_bytes(tensor("weights", "9.0", 2))
(HERE / "renamed.popef").write_bytes(tensor("the weights of the first layer", "10.0-rc.1", 1))
packed = blob(0, executable(len(EXECUTABLE)), "9.0", zlib.compress(EXECUTABLE), 2)
(HERE / "compressed.popef").write_bytes(packed)
(HERE / "unpacked.popef").write_bytes(blob(0, executable(NOT_COMPRESSED), "9.0", EXECUTABLE, 1))
(HERE / "metadata.popef").write_bytes(blob(1, metadata(**OLD), "9.0", b"", 2))
(HERE / "metadata-set.popef").write_bytes(blob(1, metadata(**NEW), "9.0", b"", 1))

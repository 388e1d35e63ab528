"""Writes the .popef files of this folder.

Their messages are written by pycapnp (the official Cap'n Proto C++ library).
What no such library writes, as a name that is not UTF-8 or a type that the
schema does not know, is patched into its bytes afterwards. README.md one
folder up says what each file holds. To make them again:

    pip install pycapnp==2.2.4 numpy==2.4.6
    python make_golden.py
"""

import json
import struct
from fractions import Fraction
from pathlib import Path

import capnp
import numpy

FOLDER = Path(__file__).parent
popef = capnp.load(str(FOLDER / "../../popef/schema/popef.capnp"))

# Texts that are replaced by bytes of the same length, which are not UTF-8.
NOT_UTF8 = {b"<latin1>": b"caf\xe9 \xff\xfe\x80"}


def header(blob_type, size, version=""):
    return popef.BlobHeader.new_message(version=version, type=blob_type, size=size).to_bytes()


def blob(blob_type, info, data=b"", version=""):
    content = info.to_bytes() + data
    for text, bytes_ in NOT_UTF8.items():
        content = content.replace(text, bytes_)
    # The header's length does not depend on the size it states.
    return header(blob_type, len(header(blob_type, 0, version)) + len(content), version) + content


def executable(name, data, uncompressed_size=2**64 - 1):
    return blob("poplarExecutable", popef.PoplarExecutable.new_message(name=name, uncompressedSize=uncompressed_size), data)


def opaque(name, of, data=b""):
    return blob("opaque", popef.Opaque.new_message(name=name, executable=of), data)


def tensor_info(data_type, shape):
    return {"dataType": data_type, "shape": shape}


def tensor(name, data_type, shape, data):
    return blob("dataTensor", popef.TensorDataInfo.new_message(name=name, tensorInfo=tensor_info(data_type, shape)), data)


def feed(name, data_type, shape, count, data):
    info = popef.FeedDataInfo.new_message(name=name, tensorInfo=tensor_info(data_type, shape), numTensors=count)
    return blob("dataFeed", info, data)


def anchor(name, direction, data_type, shape, handle, programs=()):
    return {
        "name": name,
        "type": direction,
        "tensorInfo": tensor_info(data_type, shape),
        "handle": handle,
        "programs": list(programs),
        "repeats": 1,
    }


def metadata(of, anchors, **fields):
    usual = {"replicationFactor": 1, "numIpus": 1, "numProcesses": 1, "ipuVersion": 2, "isInference": True, "deviceIterations": 1}
    return blob("metadata", popef.Metadata.new_message(executable=of, anchors=anchors, **{**usual, **fields}))


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def patched(blob_bytes, old, new):
    """The only place where `old` stands, replaced by `new`."""
    assert blob_bytes.count(old) == 1 and len(old) == len(new), (blob_bytes.count(old), old)
    return blob_bytes.replace(old, new)


def hostile_names():
    override = "safe\u202etxt.exe"
    return [
        executable("evil\x1b[2J\x1b]0;title\x07", b"bytes"),
        metadata(
            "evil\x1b[2J\x1b]0;title\x07",
            [
                anchor(override, "input", "f32", [1], 'say "h2d" \\ \n', [0]),
                anchor("<latin1>", "output", "f32", [1], "<latin1>", [0]),
            ],
            seedHandle="seed\r",
            engineOptions=[{"name": "opt\nion", "value": "\x9b31mred"}],
            deviceOptions=[{"name": "<latin1>", "value": "<latin1>"}],
            programsMap=[{"index": 0, "name": "zero\u200bwidth\ufeff"}],
            programFlow={"load": [], "main": [0], "save": []},
        ),
        tensor(override, "f32", [1], floats(1.0)),
        tensor("<latin1>", "f32", [1], floats(1.0)),
        tensor('quoted "name": \\n', "f32", [1], floats(1.0)),
        tensor("größe/вес/重み/हिन्दी", "f32", [1], floats(1.0)),
        feed("tab\tnul\x00end", "f32", [1], 1, floats(1.0)),
        opaque("\u2066iso\u2069late", "line\nPopEF file: forged.popef"),
    ]


def broken_data():
    return [
        tensor("good", "f32", [2], floats(1.0, 2.0)),
        tensor("short", "f32", [2, 3], floats(1.0, 2.0)),
        tensor("negative", "f32", [4, -3], floats(1.0)),
        tensor("huge", "f32", [2**62, 16], floats(1.0)),
        tensor("surplus", "u8", [3], bytes(10)),
        feed("short_feed", "f32", [2], 3, floats(1.0, 2.0, 3.0)),
        feed("no_items", "f32", [2], 0, b""),
        feed("negative_feed", "s8", [-1], 2, b""),
        tensor("not_bool", "bool", [4], bytes([0, 1, 7, 1])),
        metadata("x", [anchor("in", "input", "f32", [-2, 3], "h2d"), anchor("out", "output", "f64", [2], "d2h")]),
        tensor("last", "u8", [1], b"\x05"),
    ]


def unknown_types():
    """Type 9 of blobs, 99 of data and 7 of anchors: what a later version might bring."""
    number = struct.Struct("<H")
    strange = patched(tensor("strange", "u16", [65], bytes(10)), struct.pack("<HxxxxxxIIq", 8, 1, 13, 65), struct.pack("<HxxxxxxIIq", 99, 1, 13, 65))
    anchors = [anchor("in", "input", "f32", [1], "h2d"), anchor("side", "output", "f32", [1], "aux")]
    with_type = bytearray(metadata("x", anchors))
    # The second anchor begins with its type (2), no flags, and one repeat.
    place = bytes(with_type).rindex(struct.pack("<HHI", 2, 0, 1))
    number.pack_into(with_type, place, 7)
    later = bytearray(header("opaque", 48 + 5) + b"12345")
    assert later[16:18] == number.pack(4)
    number.pack_into(later, 16, 9)
    return [tensor("known", "u8", [1], b"\x05"), bytes(later), strange, bytes(with_type), opaque("after", "")]


NAN, INF = float("nan"), float("inf")


def value_arrays():
    """The tensors of values.popef that NumPy knows, by name, with their data types."""
    ramp = numpy.arange(-40_000, 60_000, dtype="<f4") / 8
    ramp[[5, 70_000]] = [NAN, INF]
    ints = lambda kind: numpy.array([numpy.iinfo(kind).min, 0, 1, numpy.iinfo(kind).max], dtype=kind)
    floats_ = lambda kind: numpy.array([1.5, -0.25, 0.0, -0.0, NAN, INF, -INF, numpy.finfo(kind).max], dtype=kind)
    return {
        **{f"f{bits}": (f"f{bits}", floats_(f"<f{bits // 8}")) for bits in (16, 32, 64)},
        **{f"s{bits}": (f"s{bits}", ints(f"<i{bits // 8}")) for bits in (8, 16, 32, 64)},
        **{f"u{bits}": (f"u{bits}", ints(f"<u{bits // 8}")) for bits in (8, 16, 32, 64)},
        "bool": ("bool", numpy.array([True, False, True])),
        "empty": ("f32", numpy.zeros((0, 3), "<f4")),
        "only_nan": ("f32", numpy.full(2, NAN, "<f4")),
        "scalar": ("f32", numpy.array(0.1, "<f4")),
        "large": ("f64", numpy.full(4, 1.5e308, "<f8")),
        "ramp": ("f32", ramp.reshape(1000, 100)),
    }


def values():
    return [
        *(tensor(name, kind, list(array.shape), array.tobytes()) for name, (kind, array) in value_arrays().items()),
        tensor("f8143", "f8143", [4], bytes([0x40, 0xC0, 0x80, 0x00])),
        tensor("f8152", "f8152", [4], bytes([0x40, 0x7F, 0x80, 0x00])),
        tensor("f8", "f8", [4], bytes([0x40, 0x7F, 0x80, 0x00])),
        feed("feed", "s16", [3], 2, struct.pack("<6h", 1, 2, 3, 100, 200, 300)),
    ]


def figures(array):
    """The statistics of --values: minimum and maximum by NumPy, and the mean exact but for one rounding."""
    is_float = array.dtype.kind == "f"
    numbers = array[~numpy.isnan(array)] if is_float else array.ravel()
    finite = numbers[numpy.isfinite(numbers)] if is_float else numbers
    return {
        "count": array.size,
        "min": json_value(finite.min()) if finite.size else None,
        "max": json_value(finite.max()) if finite.size else None,
        "mean": float(sum(map(Fraction, finite.tolist())) / finite.size) if finite.size else None,
        "nan": array.size - numbers.size,
        "infinite": numbers.size - finite.size,
        "zeros": int((array == 0).sum()),
    }


def json_value(value):
    """As short as tells it from its neighbours of the same type: 0.1, and not 0.10000000149011612."""
    return float(str(value)) if value.dtype == "f4" else value.item()


def natural():
    sizes = {"layer.10.weight": 3, "layer.2.weight": 30, "layer.1.weight": 1, "bias": 200, "layer.2.bias": 2}
    return [tensor(name, "u8", [size], bytes(size)) for name, size in sizes.items()]


def long_names():
    return [
        executable("12345678901234567890", b"bytes"),
        tensor("model/encoder/layer_23/attention/self/query/kernel:replica_0/of/16/shard/3/weights", "f32", [1], floats(1.0)),
        tensor("モデル/エンコーダ/レイヤー_23/アテンション/クエリ/カーネル/重み", "f16", [1, 1, 1, 1, 1, 1, 1, 1], b"\0\0"),
        feed("short", "s32", [1], 2, bytes(8)),
    ]


def damaged():
    """Two whole blobs, and half of a third."""
    return [opaque("first", "x", b"abc"), tensor("second", "f32", [1], floats(1.0)), opaque("third", "x", bytes(100))[:-50]]


def main():
    for make in (hostile_names, broken_data, unknown_types, values, natural, long_names, damaged):
        (FOLDER / f"{make.__name__.replace('_', '-')}.popef").write_bytes(b"".join(make()))
    expected = {name: figures(array) for name, (_, array) in value_arrays().items()}
    (FOLDER / "values.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()

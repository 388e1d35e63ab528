"""Writes elements.popef, elements.json and float32.json: tensors and feeds of every data type, and their values.

The messages are written by pycapnp (the official Cap'n Proto C++ library), the
elements by NumPy and ml_dtypes, which also say what each one is as a double and
as the nearest float32.
To make them again:

    pip install pycapnp==2.2.4 numpy==2.4.6 ml_dtypes==0.6.0
    python make_elements.py
"""

import json
from pathlib import Path

import capnp
import ml_dtypes
import numpy as np

FOLDER = Path(__file__).parent
popef = capnp.load(str(FOLDER / "../../popef/schema/popef.capnp"))

EVERY_BYTE = np.arange(256, dtype=np.uint8)


def integers(dtype):
    info = np.iinfo(dtype)
    return np.array([0, 1, info.min, info.max, info.max // 3, 42], dtype)


def floats(dtype):
    info = np.finfo(dtype)
    tiny = [info.smallest_subnormal, info.tiny]
    return np.array([0, -0.0, 1, -1.5, info.max, info.min, np.inf, -np.inf, np.nan, 0.1, *tiny], dtype)


ARRAYS = {
    "bool": np.array([True, False, False, True, True]),
    "f16": floats(np.float16),
    "f32": floats(np.float32),
    "f64": floats(np.float64),
    "s8": EVERY_BYTE.view(np.int8),
    "u8": EVERY_BYTE,
    "s16": integers(np.int16),
    "u16": integers(np.uint16),
    "s32": integers(np.int32),
    "u32": integers(np.uint32),
    "s64": integers(np.int64),
    "u64": integers(np.uint64),
    "f8143": EVERY_BYTE.view(ml_dtypes.float8_e4m3fnuz),
    "f8152": EVERY_BYTE.view(ml_dtypes.float8_e5m2fnuz),
}


def blob(kind, info, data):
    content = info.to_bytes() + data

    def header(size):
        return popef.BlobHeader.new_message(type=kind, size=size).to_bytes()

    return header(len(header(0)) + len(content)) + content


def tensor(name, kind, array):
    info = popef.TensorDataInfo.new_message(name=name)
    info.tensorInfo.shape = list(array.shape)
    info.tensorInfo.dataType = kind
    return blob("dataTensor", info, array.tobytes())


def feed(name, kind, array, items):
    info = popef.FeedDataInfo.new_message(name=name, numTensors=items)
    info.tensorInfo.shape = list(array.shape)
    info.tensorInfo.dataType = kind
    # Item n is the array turned by n places.
    return blob("dataFeed", info, b"".join(np.roll(array, -n).tobytes() for n in range(items)))


def as_double(value):
    bits = np.float64(value).view(np.uint64)
    return "nan" if np.isnan(np.float64(value)) else f"{int(bits):016x}"


def as_floats(array):
    with np.errstate(over="ignore"):
        floats = array.astype(np.float32)
    return ["nan" if np.isnan(value) else f"{int(value.view(np.uint32)):08x}" for value in floats]


def main():
    file = b""
    for kind, array in ARRAYS.items():
        # Whatever came before: first at a multiple of 8, then one byte behind it.
        file += blob("opaque", popef.Opaque.new_message(name="padding"), bytes(-len(file) % 8))
        file += tensor(f"{kind} aligned", kind, array)
        file += blob("opaque", popef.Opaque.new_message(name="padding"), bytes((1 - len(file)) % 8))
        file += tensor(f"{kind} odd", kind, array)
        file += feed(f"{kind} feed", kind, array, 3)
    (FOLDER / "elements.popef").write_bytes(file)
    values = {kind: [as_double(value) for value in array] for kind, array in ARRAYS.items()}
    (FOLDER / "elements.json").write_text(json.dumps(values, indent=1) + "\n")
    floats = {kind: as_floats(array) for kind, array in ARRAYS.items()}
    (FOLDER / "float32.json").write_text(json.dumps(floats, indent=1) + "\n")


if __name__ == "__main__":
    main()

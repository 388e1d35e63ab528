"""Makes arrays as numpy and safetensors save them, and arrays.json, which has what they hold.

    python make_arrays.py

Each line of arrays.json has a file, and of each of its arrays the name, the type, the shape, and the bytes in hexadecimal,
little-endian, the last dimension running fastest; or why the file must be refused.

Made with Python 3.11.7, numpy 2.4.6, safetensors 0.8.0 and ml_dtypes 0.6.0.
"""

import io
import json
import struct
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import safetensors.numpy

HERE = Path(__file__).parent
TYPES = {"?": "BOOL", "f2": "F16", "f4": "F32", "f8": "F64", "i1": "S8", "u1": "U8", "i2": "S16", "u2": "U16", "i4": "S32",
         "u4": "U32", "i8": "S64", "u8": "U64"}
lines = []


def held(name, array, data_type=None):
    plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    data_type = data_type or TYPES.get("?" if array.dtype == bool else plain.dtype.str[1:])
    return {"name": name, "type": data_type, "shape": list(array.shape), "bytes": plain.tobytes().hex()}


def keep(file, *arrays):
    lines.append({"file": file, "arrays": list(arrays)})


def refuse(file, code):
    lines.append({"file": file, "code": code})


def values(dtype, *shape):
    count = int(np.prod(shape))
    if dtype == "?":
        return (np.arange(count) % 3 == 0).reshape(shape)
    return (np.arange(count) * 37 % 251 - (0 if dtype[0] == "u" else 100)).astype(dtype).reshape(shape)


def npy(file, array, data_type=None, **options):
    with open(HERE / file, "wb") as out:
        np.lib.format.write_array(out, array, **options)
    keep(file, held(file.removesuffix(".npy"), array, data_type))


for code, name in TYPES.items():
    npy(f"{name.lower()}.npy", values(code, 2, 3))
npy("scalar.npy", np.array(1.5, "f4"))
npy("none.npy", np.zeros((3, 0, 2), "i2"))
npy("big-endian.npy", values("i4", 2, 3).astype(">i4"))
npy("fortran.npy", np.asfortranarray(values("f4", 2, 3, 4)))
npy("fortran-big-endian.npy", np.asfortranarray(values("u2", 5, 4).astype(">u2")))
npy("version-2.npy", values("f8", 4), version=(2, 0))
npy("version-3.npy", values("f8", 4), version=(3, 0))
npy("dimensions.npy", values("u1", *[1] * 20, 2, 3))
npy("ml-dtypes.npy", np.array([1, -2.5, 0], ml_dtypes.float8_e4m3fnuz), "F8")

arrays = {"weights": values("f4", 3, 5), "model/bias:0": values("f2", 5), "empty": np.zeros((0,), "i8"), "é": values("u2", 2)}
keys = [held(name, array) for name, array in arrays.items()]
np.savez(HERE / "stored.npz", **arrays)
keep("stored.npz", *keys)
np.savez_compressed(HERE / "deflated.npz", **arrays, order=np.asfortranarray(values(">i4", 3, 2)))
keep("deflated.npz", *keys, held("order", np.asfortranarray(values(">i4", 3, 2))))
np.savez(HERE / "no-arrays.npz")
keep("no-arrays.npz")

arrays = {name: values(code, 2, 3) for code, name in TYPES.items()} | {"scalar": np.array(7, "i4"), "none": np.zeros((0, 2), "f4")}
safetensors.numpy.save_file(arrays, HERE / "numpy.safetensors", {"made": "by safetensors"})
order = safetensors.numpy.load_file(HERE / "numpy.safetensors")
header = json.loads((HERE / "numpy.safetensors").read_bytes()[8:].split(b"}}")[0] + b"}}")
places = sorted((tensor["data_offsets"], name) for name, tensor in header.items() if name != "__metadata__")
keep("numpy.safetensors", *[held(name, order[name]) for _, name in places])


def safe(file, header, data):
    text = json.dumps(header).encode()
    (HERE / file).write_bytes(struct.pack("<Q", len(text)) + text + data)


floats = {"a": {"dtype": "F8_E4M3FNUZ", "shape": [2], "data_offsets": [0, 2]},
          "b": {"dtype": "F8_E5M2FNUZ", "shape": [1, 1], "data_offsets": [2, 3]}}
safe("float8.safetensors", floats, b"\x01\x80\x7f")
keep("float8.safetensors", {"name": "a", "type": "F8143", "shape": [2], "bytes": "0180"},
     {"name": "b", "type": "F8152", "shape": [1, 1], "bytes": "7f"})
safe("empty.safetensors", {}, b"")
keep("empty.safetensors")

# What PopEF cannot have.
for file, array in {"complex": values("c8", 2), "text": np.array(["ab", "c"]), "structures": np.zeros(2, "i4,f4"),
                    "objects": np.array([None, {}]), "time": np.zeros(2, "M8[s]"), "bfloat16": np.zeros(2, ml_dtypes.bfloat16)}.items():
    with open(HERE / f"{file}.npy", "wb") as out:
        np.lib.format.write_array(out, array, allow_pickle=True)
    refuse(f"{file}.npy", "unsupported-array")
for dtype, size in {"BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "C64": 8}.items():
    file = f"{dtype.lower().replace('_', '-')}.safetensors"
    safe(file, {"a": {"dtype": dtype, "shape": [1], "data_offsets": [0, size]}}, bytes(size))
    refuse(file, "unsupported-array")


# What is damaged.
def broken(file, data):
    (HERE / file).write_bytes(data)
    refuse(file, "bad-array")


whole = (HERE / "f32.npy").read_bytes()
broken("cut.npy", whole[:-1])
broken("surplus.npy", whole + b"\0")
broken("header-cut.npy", whole[:60])
broken("header-4-gib.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + whole[10:])
huge = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 2), }"
broken("product-wraps.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(huge)) + huge)
broken("no-array.npy", b"not an array\n")
broken("nothing.npy", b"")
stored = (HERE / "stored.npz").read_bytes()
broken("directory-cut.npz", stored[:-40])
at = stored.index(values("f4", 3, 5).tobytes())
(HERE / "checksum.npz").write_bytes(stored[:at] + bytes([stored[at] ^ 1]) + stored[at + 1:])
lines.append({"file": "checksum.npz", "code": "bad-array", "when": "read"})
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as archive:
    archive.writestr("a.npy", whole)
    archive.writestr("b.txt", "no array")
broken("foreign-entry.npz", packed.getvalue())
# The directory says that the second entry begins where the first does.
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as archive:
    archive.writestr("a.npy", whole)
    archive.writestr("b.npy", whole)
    second = archive.getinfo("b.npy").header_offset
at = packed.getvalue().rindex(struct.pack("<I", second) + b"b.npy")
packed.seek(at)
packed.write(bytes(4))
(HERE / "overlap.npz").write_bytes(packed.getvalue())
refuse("overlap.npz", "bad-array")
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
    archive.writestr("a.npy", whole)
(HERE / "bzip2.npz").write_bytes(packed.getvalue())
refuse("bzip2.npz", "unsupported-array")
(HERE / "length-2-63.safetensors").write_bytes(struct.pack("<Q", 2**63) + b"{}")
refuse("length-2-63.safetensors", "bad-array")
(HERE / "length-wraps.safetensors").write_bytes(struct.pack("<Q", 2**64 - 8) + b"{}")
refuse("length-wraps.safetensors", "bad-array")
for file, offsets, shape in [("outside", [0, 8], [2]), ("backwards", [4, 0], [1]), ("gap", [4, 8], [1]), ("shape", [0, 4], [2]),
                             ("offset-2-64", [0, 2**64 - 1], [1]), ("shape-2-63", [0, 4], [2**63, 2])]:
    safe(f"{file}.safetensors", {"a": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}, bytes(4))
    refuse(f"{file}.safetensors", "bad-array")

(HERE / "arrays.json").write_text("[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n")

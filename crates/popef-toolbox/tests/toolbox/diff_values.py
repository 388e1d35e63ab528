"""Compares the figures of `popef diff` with those of numpy, for random elements of each data type.

Arguments: the tool, a folder with `zeros.popef`, and the folder of the tables of 8-bit floats. Prints how many comparisons it made.
"""

import json
import os
import subprocess
import sys

import numpy as np

TOOL, FOLDER, TABLES = sys.argv[1:4]
TYPES = {
    "F16": "<f2", "F32": "<f4", "F64": "<f8", "S8": "<i1", "U8": "<u1", "S16": "<i2", "U16": "<u2",
    "S32": "<i4", "U32": "<u4", "S64": "<i8", "U64": "<u8", "BOOL": "<u1", "F8": "<u1", "F8143": "<u1", "F8152": "<u1",
}
RULES = [(0.0, 0.0, False), (1e-3, 0.0, False), (0.0, 0.05, True), (3.0, 0.25, True), (1e9, 0.0, True)]
random = np.random.default_rng(20260102)


def table(name):
    lines = [line.split() for line in open(os.path.join(TABLES, name)) if line.startswith("0x")]
    bits = np.array([int(bits, 16) for _, bits in lines], dtype="<u4")
    assert len(bits) == 256
    return bits.view("<f4").astype(np.float64)


FLOAT8 = {"F8143": table("e4m3fnuz.txt"), "F8152": table("e5m2fnuz.txt")}


def tool(*args):
    return json.loads(subprocess.run([TOOL, *args], cwd=FOLDER, capture_output=True).stdout)


def elements(data_type, count):
    """Random elements, and others of which one in ten is not the same."""
    dtype = np.dtype(TYPES[data_type])
    with np.errstate(all="ignore"):
        if data_type in ("F16", "F32", "F64"):
            a = (random.normal(size=count) * 10.0 ** random.integers(-3, 4, count)).astype(dtype)
            odd = [np.nan, np.inf, -np.inf, 0.0, -0.0]
            a = np.where(random.random(count) < 0.1, random.choice(odd, count), a).astype(dtype)
            b = (a * (1 + random.choice([1e-4, 0.02, 0.5], count)) + random.choice([0, 1e-4, 2], count)).astype(dtype)
            b = np.where(random.random(count) < 0.2, random.choice(odd, count), b).astype(dtype)
            # NaN with other bits, too.
            b = np.where(np.isnan(b) & (random.random(count) < 0.5), -b, b)
        else:
            most = 2 if data_type == "BOOL" else 256 ** dtype.itemsize
            a, b = (random.integers(0, most, count, dtype=np.uint64, endpoint=False) if most < 2**64
                    else random.integers(0, 2**64 - 1, count, dtype=np.uint64, endpoint=True) for _ in range(2))
            a, b = (values.astype("<u8").view("<u1").reshape(count, 8)[:, : dtype.itemsize].copy().view(dtype)[:, 0] for values in (a, b))
            near = (a.astype(object) + random.integers(-3, 4, count)).tolist()
            info = np.iinfo(dtype)
            near = np.array([min(max(value, info.min), 1 if data_type == "BOOL" else info.max) for value in near], dtype=dtype)
            b = np.where(random.random(count) < 0.8, near, b)
    return a, np.where(random.random(count) < 0.9, a, b)


def expected(data_type, a, b, rule):
    atol, rtol, equal_nan = rule
    width = a.dtype.itemsize
    unequal = (a.view("<u1").reshape(-1, width) != b.view("<u1").reshape(-1, width)).any(axis=1)
    if data_type in ("BOOL", "F8"):
        return dict(unequal=unequal, different=unequal, max_abs=None, max_rel=None, nan=0)
    if data_type in FLOAT8:
        a, b = FLOAT8[data_type][a], FLOAT8[data_type][b]
    if a.dtype.kind in "iu":
        gaps = np.array([abs(int(x) - int(y)) for x, y in zip(a, b)], dtype=object)
        max_abs = int(gaps.max()) if unequal.any() else None
        gaps, a, b = gaps.astype(np.float64), a.astype(np.float64), b.astype(np.float64)
        # Large integers round to the same floats, and are still not the same.
        different = unequal & ~(gaps <= atol + rtol * np.abs(b))
        counted = unequal
        nan = np.zeros(len(a), dtype=bool)
    else:
        a, b = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(all="ignore"):
            different = unequal & ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
            gaps = np.abs(a - b)
        nan = different & (np.isnan(a) | np.isnan(b))
        counted = unequal & ~np.isnan(a) & ~np.isnan(b) & (a != b)
        max_abs = gaps[counted].max() if counted.any() else None
    relative = counted & (b != 0) & np.isfinite(b)
    max_rel = (gaps[relative] / np.abs(b[relative])).max() if relative.any() else None
    return dict(unequal=unequal, different=different, max_abs=max_abs, max_rel=max_rel, nan=int(nan.sum()))


def number(value):
    if isinstance(value, str):
        return float(value.replace("Infinity", "inf"))
    return value


def check(blob, name, info, a, b, rule):
    shape = info["tensorInfo"]["shape"]
    tensors = info.get("numTensors")
    found = expected(info["tensorInfo"]["dataType"], a, b, rule)
    if not found["unequal"].any():
        assert blob is None, (name, rule)
        return
    values = blob["values"]
    different = found["different"]
    assert blob["status"] == ("changed" if different.any() else "close"), (name, rule, blob["status"])
    assert values["elements"] == len(a)
    assert values["different"] == different.sum(), (name, rule, values, different.sum())
    assert values["notANumber"] == found["nan"], (name, rule)
    assert number(values["maxAbs"]) == found["max_abs"], (name, rule, values["maxAbs"], found["max_abs"])
    assert number(values["maxRel"]) == found["max_rel"], (name, rule, values["maxRel"], found["max_rel"])
    if not different.any():
        assert values["first"] is None
        return
    first = int(np.argmax(different))
    whole = shape if tensors is None else [tensors] + shape
    index = [int(at) for at in np.unravel_index(first, whole)]
    if tensors is not None:
        assert values["first"].pop("tensor") == index.pop(0)
        assert values["differentTensors"] == different.reshape(tensors, -1).any(axis=1).sum()
    assert values["first"]["index"] == index, (name, rule)
    for side, elements in (("a", a), ("b", b)):
        data_type = info["tensorInfo"]["dataType"]
        if data_type == "F8":
            assert values["first"][side] == f"{int(elements[first]):#04x}"
            continue
        value = number(values["first"][side])
        exact = np.float32(FLOAT8[data_type][elements[first]]) if data_type in FLOAT8 else elements[first]
        # The shortest text that identifies a number of its own type.
        exact, value = np.asarray(exact), np.asarray(value).astype(np.asarray(exact).dtype)
        assert value == exact or (np.isnan(value) and np.isnan(exact)), (name, rule, value, exact)


def main():
    blobs = tool("dump", "--format", "json", "zeros.popef")["files"][0]["blobs"]
    zeros = open(os.path.join(FOLDER, "zeros.popef"), "rb").read()
    compared = 0
    for _ in range(4):
        files, data = [bytearray(zeros), bytearray(zeros)], {}
        for blob in blobs:
            info = blob["info"]
            dtype = np.dtype(TYPES[info["tensorInfo"]["dataType"]])
            pair = elements(info["tensorInfo"]["dataType"], blob["dataSize"] // dtype.itemsize)
            data[info["name"]] = info, *pair
            for file, values in zip(files, pair):
                file[blob["dataOffset"] : blob["dataOffset"] + blob["dataSize"]] = values.astype(dtype).tobytes()
        for name, file in zip("ab", files):
            open(os.path.join(FOLDER, name), "wb").write(file)
        for rule in RULES:
            options = ["--atol", str(rule[0]), "--rtol", str(rule[1])] + (["--equal-nan"] if rule[2] else [])
            report = tool("diff", "--format", "json", "a", "b", *options)
            found = {blob["name"]: blob for blob in report["blobs"]}
            for name, (info, a, b) in data.items():
                check(found.get(name), name, info, a, b, rule)
                compared += 1
    print(compared)


main()

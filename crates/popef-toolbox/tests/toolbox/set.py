"""Changes files with `popef set`, and reads them before and after with the official Cap'n Proto library.

    python -c SCRIPT POPEF SCHEMA LATER_SCHEMA MODEL LATER_MODEL FEEDS FOLDER

Only what was asked for may differ, field by field and byte by byte. Weights are written by numpy and safetensors.
"""

import json
import pathlib
import struct
import subprocess
import sys

import capnp
import numpy
from safetensors.numpy import save_file

popef, schema, later_schema, model, later_model, feeds, folder = sys.argv[1:]
folder = pathlib.Path(folder)
today, later = capnp.load(schema), capnp.load(later_schema)
KINDS = ["PoplarExecutable", "Metadata", "TensorDataInfo", "FeedDataInfo", "Opaque"]


def plain(value):
    kind = type(value).__name__
    if kind == "_DynamicStructReader":
        return {name: plain(getattr(value, name)) for name in value.schema.fieldnames}
    if kind == "_DynamicListReader":
        return [plain(item) for item in value]
    return value.raw if kind == "_DynamicEnum" else value


def read(struct_type, data):
    segments = struct.unpack_from("<I", data)[0] + 1
    length = (segments // 2 + 1) * 8 + 8 * sum(struct.unpack_from(f"<{segments}I", data, 4))
    with struct_type.from_bytes(bytes(data[:length])) as root:
        return plain(root), length


def blobs(path, schema):
    """Every blob: its header without the size, its info, its data, and all its bytes. Enumerations are numbers."""
    data = pathlib.Path(path).read_bytes()
    at, found = 0, []
    while at < len(data):
        header, length = read(schema.BlobHeader, data[at:])
        info, info_length = read(getattr(schema, KINDS[header["type"]]), data[at + length:])
        end = at + header.pop("size")
        found.append([header, info, data[at + length + info_length:end], data[at:end]])
        at = end
    assert at == len(data)
    return found


def tool(*args, given=None):
    subprocess.run([popef, "set", *map(str, args)], check=True, stdout=subprocess.PIPE, input=given)


def assert_changed(path, expected, schema):
    found = blobs(path, schema)
    assert len(found) == len(expected)
    for now, then in zip(found, expected):
        assert now[:3] == then[:3], (now[:2], then[:2])
        # Blobs of which nothing was changed are the same bytes; those of changed ones were taken away.
        assert then[3] is None or now[3] == then[3]


def index(blobs, kind):
    return next(i for i, blob in enumerate(blobs) if blob[0]["type"] in kind)


# Fields of metadata, by flags and by a patch.
new = folder / "new.popef"
patch = {"isPOD": True, "programFlow": {"main": [1, 2]}, "deviceOptions": [{"name": "d", "value": "e"}],
         "outputs": {"input_parameter": {"handle": "another"}}, "programsMap": {"77": "seventy-seven"}}
tool(model, "--set", "numIpus=4", "--engine-option", "target.x=a=b", "--set", "inputs[user_input].tensorInfo.shape=3,4",
     "--set", "inputs[user_input].tensorInfo.dataType=F16", "--unset", "anchors[input_parameter].programs",
     "--merge", "-", "-o", new, given=json.dumps(patch).encode())
expected = blobs(model, today)
at = index(expected, [1])
metadata = expected[at][1]
metadata.update(numIpus=4, isPOD=True, deviceOptions=[{"name": "d", "value": "e"}])
metadata["programFlow"]["main"] = [1, 2]
metadata["engineOptions"].append({"name": "target.x", "value": "a=b"})
metadata["programsMap"].append({"index": 77, "name": "seventy-seven"})
for anchor in metadata["anchors"]:
    if anchor["name"] == "user_input" and anchor["type"] == 1:
        anchor["tensorInfo"] = {"shape": [3, 4], "dataType": 2}
    if anchor["name"] == "input_parameter":
        anchor["programs"] = []
        if anchor["type"] == 2:
            anchor["handle"] = "another"
expected[at][3] = None
assert_changed(new, expected, today)

# Names, and what refers to them.
executable = metadata["executable"]
tool(model, "--rename", "input_parameter=weights", "--rename", f"{executable}=model", "--set-version", "7", "--type", "opaque",
     "--type", "executable,tensor", "-o", new, "--force")
expected = blobs(model, today)
for blob in expected:
    header, info, _, _ = blob
    blob[3] = None
    if header["type"] == 1:
        info["executable"] = "model"
        for anchor in info["anchors"]:
            if anchor["name"] == "input_parameter":
                anchor["name"] = "weights"
    else:
        header["version"] = "7"
        if header["type"] == 4:
            info["executable"] = "model"
        else:
            info["name"] = {"input_parameter": "weights", executable: "model"}[info["name"]]
assert_changed(new, expected, today)

# Weights, in every format; the surplus behind them stays.
values = numpy.array([3.5, -0.25], "<f4")
save_file({"input_parameter": values}, folder / "w.safetensors")
numpy.savez(folder / "w.npz", input_parameter=values)
numpy.savez_compressed(folder / "c.npz", input_parameter=values)
numpy.save(folder / "input_parameter.npy", values)
numpy.savez(folder / "big.npz", input_parameter=values.astype(">f4"))
for arrays in ["w.safetensors", "w.npz", "c.npz", "input_parameter.npy", "big.npz", "."]:
    tool(model, "--tensors", folder / arrays, "-o", new, "--force")
    expected = blobs(model, today)
    at = index(expected, [2])
    old = expected[at][2]
    assert len(old) == 16
    expected[at][2:] = [values.tobytes() + old[8:], None]
    assert_changed(new, expected, today)

# A feed, with the runs in front.
expected = blobs(feeds, today)
at = index(expected, [3])
info = expected[at][1]
shape = [info["numTensors"], *info["tensorInfo"]["shape"]]
assert info["tensorInfo"]["dataType"] == 3
values = numpy.arange(numpy.prod(shape), dtype="f4").reshape(shape)
numpy.savez(folder / "feeds.npz", **{info["name"]: values})
tool(feeds, "--tensors", folder / "feeds.npz", "-o", new, "--force")
expected[at][2:] = [values.tobytes(), None]
assert_changed(new, expected, today)

# A later version of the format: fields that are not known stay, also where elements are removed, added and renamed.
tool(later_model, "--set", "numIpus=9", "--rename", "weights=w", "--unset", "inputs[in]", "--engine-option", "d=4",
     "--drop-engine-option", "a", "--set", "outputs[weights].tensorInfo.shape=2,2", "--set", "programsMap[1]=new name",
     "-o", new, "--force")
expected = blobs(later_model, later)
[[_, metadata, _, _]] = expected
metadata["numIpus"] = 9
metadata["anchors"] = metadata["anchors"][1:]
for anchor in metadata["anchors"]:
    anchor["name"] = "w"
    assert anchor["tile"] and anchor["unit"] and anchor["tensorInfo"]["layout"]
metadata["anchors"][1]["tensorInfo"]["shape"] = [2, 2]
metadata["engineOptions"] = metadata["engineOptions"][1:] + [{"name": "d", "value": "4", "source": ""}]
metadata["programsMap"][0]["name"] = "new name"
expected[0][3] = None
assert_changed(new, expected, later)
assert metadata["sites"] and metadata["energy"] and metadata["programFlow"]["check"]
print("all as expected")

"""Writes the .popef files of this folder: for each rule of docs/CHECKS.md one
that breaks it, and as little else as can be.

Each is the same small model with one thing wrong. The messages are written by
pycapnp (the official Cap'n Proto C++ library), so no byte here comes from this
project's own code; where that library refuses to write what is wrong, bytes
are changed afterwards. What the rules say of each file stands in the .txt file
beside it. To make the files again:

    pip install pycapnp==2.2.4 lz4==4.4.5
    python make_checks.py
"""

import collections
import io
import os
import pickle
import struct
import unicodedata
import zipfile
import zlib
from pathlib import Path

import capnp
import lz4.frame

FOLDER = Path(__file__).parent
popef = capnp.load(str(FOLDER / "../../popef/schema/popef.capnp"))
# PopART's own message, as far as it is looked at.
PAYLOAD = capnp.load(str(FOLDER / "../../crates/popef-payload/schema/popart.capnp"))
POPART = capnp.load(str(FOLDER / "popart.capnp")).Executable.new_message().to_bytes()

NOT_COMPRESSED = 2**64 - 1
# PopART names an executable by its hash.
NAME = "12345"


# ---- blobs -------------------------------------------------------------------


def header(kind, size, version=""):
    return popef.BlobHeader.new_message(version=version, type=kind, size=size).to_bytes()


def blob(kind, info, data=b"", version=""):
    content = info.to_bytes() + data
    return header(kind, len(header(kind, 0, version)) + len(content), version) + content


def executable(name=NAME, data=b"program", size=NOT_COMPRESSED):
    return blob("poplarExecutable", popef.PoplarExecutable.new_message(name=name, uncompressedSize=size), data)


def opaque(name, data=b"\x0a\x00", executable=NAME):
    return blob("opaque", popef.Opaque.new_message(name=name, executable=executable), data)


def info(data_type="f32", shape=(2,)):
    return {"dataType": data_type, "shape": list(shape)}


def tensor(name="w", data=struct.pack("<2f", 1.5, -2.25), **tensor_info):
    return blob("dataTensor", popef.TensorDataInfo.new_message(name=name, tensorInfo=info(**tensor_info)), data)


def feed(name="x", number=1, data=None, **tensor_info):
    message = popef.FeedDataInfo.new_message(name=name, numTensors=number, tensorInfo=info(**tensor_info))
    return blob("dataFeed", message, bytes(8 * number) if data is None else data)


def anchor(name, kind, program, /, **changes):
    way = "h2d" if kind == "input" else "d2h"
    fields = {"name": name, "handle": f"{way}_{name}", "type": kind, "programs": [program], "repeats": 1}
    fields["tensorInfo"] = info(**{key: changes.pop(key) for key in ("data_type", "shape") if key in changes})
    return {**fields, **changes}


def anchors(**changed):
    """x is fed by the user, w has a tensor and is saved, y comes out. Changes
    are by name and, for w's output, under w_out."""
    return [
        anchor("x", "input", 1, **changed.get("x", {})),
        anchor("w", "input", 0, **changed.get("w", {})),
        anchor("w", "output", 2, **changed.get("w_out", {})),
        anchor("y", "output", 1, **changed.get("y", {})),
    ]


def metadata(**changes):
    fields = {
        "replicationFactor": 1,
        "numIpus": 1,
        "numProcesses": 1,
        "ipuVersion": 2,
        "isInference": True,
        "deviceIterations": 1,
        "executable": NAME,
        "engineOptions": [{"name": "debug.retainDebugInformation", "value": "true"}],
        "programFlow": {"load": [0], "main": [1], "save": [2]},
        "programsMap": [{"index": i, "name": name} for i, name in enumerate(["load", "main", "save"])],
        "anchors": anchors(),
    }
    return blob("metadata", popef.Metadata.new_message(**{**fields, **changes}))


def flow(**changes):
    return {"programFlow": {"load": [0], "main": [1], "save": [2], **changes}}


def whole(**changes):
    return executable() + metadata(**changes) + tensor()


def with_anchors(**changed):
    return whole(anchors=anchors(**changed))


# ---- what no library writes ----------------------------------------------------


def patched(data, old, new):
    assert data.count(old) == 1 and len(old) == len(new), (data.count(old), old, new)
    return data.replace(old, new)


def of_type(number):
    data = bytearray(opaque("later"))
    # The header's segment table and root pointer are 16 bytes.
    struct.pack_into("<H", data, 16, number)
    return bytes(data)


def claims_many_anchors():
    """A Metadata message whose list of anchors has elements of no bytes, a
    million of them."""
    words = [struct.pack("<IHH", 0, 3, 7)] + [bytes(8)] * 10
    words[5] = struct.pack("<II", 5 << 2 | 1, 0 << 3 | 7)
    words.append(struct.pack("<II", (1 << 20) << 2, 0))
    message = struct.pack("<II", 0, len(words)) + b"".join(words)
    return header("metadata", len(header("metadata", 0)) + len(message)) + message


class Data:
    """Stands for PopTorch's class; only its name gets into the pickle."""


Data.__module__, Data.__qualname__, Data.__name__ = "poptorch._poptorch_data", "PoptorchData", "PoptorchData"


def poptorch(version="3.3.0"):
    # What Python's pickler writes for such an object, the class's name put in
    # by hand, as there is no such module here.
    def text(value):
        return b"\x8c" + bytes([len(value)]) + value.encode()

    new = text("poptorch._poptorch_data") + text("PoptorchData") + b"\x93)\x81"
    return b"\x80\x04" + new + b"}" + text("version") + text(version) + b"sb."


class Runs:
    def __reduce__(self):
        return os.system, ("true",)


LZ4 = b"\x04\x22\x4d\x18"


def poplar(archive, metadata_size, data):
    return b"GC_EXE_3" + struct.pack("<4Q", 100, archive, 100, metadata_size) + data


def tile(memory):
    """An ELF file for an IPU, of one section that has no bytes in the file."""
    names = b"\0.bss\0.shstrtab\0"
    sections = [(0,) * 6, (1, 8, 3, 0x4C000, 0, memory), (6, 3, 0, 0, 52, len(names))]
    headers = b"".join(struct.pack("<10I", *section, 0, 0, 1, 0) for section in sections)
    ident = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    start = 52 + len(names)
    return ident + struct.pack("<HHIIIIIHHHHHH", 2, 248, 1, 0x4C000, 0, start, 0, 52, 0, 0, 40, 3, 2) + names + headers


def archive(tiles):
    """A Unix archive of ELF files."""
    members = b""
    for number, content in enumerate(tiles):
        header = f"{f'tile{number}.elf/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n"
        members += header.encode() + content + b"\n" * (len(content) % 2)
    return b"!<arch>\n" + members


def of_archive(content):
    """A Poplar executable, whose own metadata is empty: what Poplar puts there is not known."""
    parts = [lz4.frame.compress(part) for part in [content, b""]]
    sizes = struct.pack("<4Q", len(content), len(parts[0]), 0, len(parts[1]))
    return b"GC_EXE_3" + sizes + b"".join(parts)


# ---- the files -------------------------------------------------------------------


def write(name, data):
    (FOLDER / f"{name}.popef").write_bytes(data)


def the_file_itself():
    write("PE001", whole() + b"\x00\x00\x00")
    write("PE002", whole()[:-1])
    write("PE003", whole() + header("opaque", 8))
    write("PE004", whole() + b"\xff" * 16)
    write("PE005", executable() + claims_many_anchors())
    write("PE006", whole() + of_type(9))
    write("PE007", b"")
    write("PE008", executable() + metadata() + tensor(data=bytes(16)))
    described = metadata()
    longer = struct.pack("<Q", len(described) + 4)
    write("PE009", executable() + patched(described, struct.pack("<Q", len(described)), longer) + b"more" + tensor())
    write("PE010", executable(name="") + metadata(executable="") + tensor())
    write("PE011", whole() + opaque(""))
    write("PE012", whole() + patched(opaque("cafX"), b"cafX", b"caf\xe9"))
    write("PE013", whole() + opaque("clear\x1b[2J"))
    write("PE014", executable() + metadata() + blob("opaque", popef.Opaque.new_message(name="n", executable=NAME), b"", "2") + tensor())
    write("PE015", patched(tensor(data_type="f8152"), struct.pack("<Q", 14), struct.pack("<Q", 99)))
    write("PE016", with_anchors(y={"type": 7}))
    write("PE017", executable(data=b"") + metadata() + tensor())
    # Given twice.
    write("PE019", whole())
    write("PE018", executable(data=b"<!DOCTYPE html><title>404</title>") + metadata() + tensor())


def links():
    write("PE101", metadata() + tensor())
    write("PE102", whole() + opaque("notes", executable="other"))
    write("PE103", executable())
    write("PE104", whole() + metadata())
    write("PE105", whole() + executable())
    write("PE106", whole() + tensor())
    write("PE107", whole() + feed() + feed())
    write("PE108", whole() + tensor("v"))
    write("PE109", whole() + feed("v"))
    write("PE110", whole() + feed("w"))
    write("PE111", whole() + tensor("y"))
    write("PE112", whole() + opaque("notes") + opaque("notes"))
    more = anchor("v", "input", 0)
    write("PE113", whole(anchors=[*anchors(), more]))
    # Without the weights of another model of the set.
    write("PE114", executable() + metadata())
    write("PE115", with_anchors(w={"programs": [2]}))


def metadata_alone():
    write("PE201", whole(numIpus=0))
    write("PE202", whole(replicationFactor=0))
    write("PE203", whole(numProcesses=0))
    write("PE204", whole(deviceIterations=0))
    write("PE205", whole(replicationFactor=3, numIpus=3, numProcesses=2))
    write("PE206", whole(ipuVersion=3))
    write("PE207", whole(**flow(load=[0, 9])))
    write("PE208", with_anchors(x={"programs": [1, 9]}))
    names = [{"index": i, "name": name} for i, name in [(0, "load"), (1, "main"), (2, "save"), (1, "other")]]
    write("PE209", whole(programsMap=names))
    write("PE210", whole(**flow(load=[0, 0])))
    write("PE211", whole(**flow(main=[])))
    write("PE212", with_anchors(x={"handle": ""}))
    write("PE213", with_anchors(x={"programs": []}))
    write("PE214", with_anchors(x={"handle": "h2d_w"}))
    write("PE215", whole(seedHandle="seed_stream"))
    write("PE216", with_anchors(x={"repeats": 0}, y={"repeats": 0}))
    write("PE217", with_anchors(x={"repeats": 3}))
    write("PE218", with_anchors(x={"name": ""}))
    write("PE219", whole(anchors=[*anchors(), anchor("y", "output", 2, handle="again_y")]))
    twice = [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]
    write("PE220", whole(deviceOptions=twice))
    write("PE221", whole(replicationFactor=2, numIpus=3))
    write("PE226", whole(replicationFactor=2, numIpus=1))
    write("PE222", whole(anchors=[*anchors(), anchor("x", "input", 1, data_type="f16", handle="again_x")]))
    composed, decomposed = (unicodedata.normalize(form, "caf\u00e9") for form in ("NFC", "NFD"))
    alike = [anchor(composed, "input", 1), anchor(decomposed, "input", 1)]
    write("PE224", whole(anchors=[*anchors(), *alike]))
    write("PE223", whole(anchors=anchors()[:-1]))
    # The last value counts, and a report that is only about the graph measures nothing.
    on = ["debug.instrumentCompute", "autoReport.outputExecutionProfile", "autoReport.outputGraphProfile"]
    measured = [{"name": name, "value": "true"} for name in on]
    write("PE225", whole(engineOptions=[*measured, {"name": "debug.instrument", "value": "false"}]))


def shapes_and_data():
    write("PE301", executable() + metadata() + tensor(data=bytes(4), data_type="f16"))
    write("PE302", executable() + metadata() + tensor(data=bytes(16), shape=(2, 2)))
    write("PE303", whole(replicationFactor=2, numIpus=2, anchors=anchors(x={"isPerReplica": True, "shape": (3,)})))
    write("PE304", with_anchors(x={"useRemoteBuffers": True, "repeats": 3, "shape": (2,)}))
    write("PE305", with_anchors(x={"shape": (-1, 3)}))
    write("PE306", executable() + metadata() + tensor(data=bytes(4)))
    write("PE307", whole() + feed(number=0))
    write("PE308", with_anchors(x={"shape": (4,)}) + feed(number=6, data=bytes(24), shape=(1,)))
    write("PE309", with_anchors(x={"shape": (2**62, 8)}))
    two = [*anchors(x={"shape": (1,)}), anchor("z", "input", 1, shape=(1,))]
    fed = [feed(name, number, bytes(4 * number), shape=(1,)) for name, number in [("x", 2), ("z", 3)]]
    write("PE310", whole(anchors=two) + fed[0] + fed[1])


def contents():
    packed = zlib.compress(b"program" * 10)
    write("PE401", executable(data=packed, size=71) + metadata() + tensor())
    write("PE402", executable(data=b"program", size=7) + metadata() + tensor())
    booleans = anchors(w={"data_type": "bool"}, w_out={"data_type": "bool"})
    write("PE403", executable() + metadata(anchors=booleans) + tensor(data=b"\x01\x02", data_type="bool"))
    write("PE404", executable() + metadata() + tensor(data=struct.pack("<2f", 1, float("nan"))))
    write("PE405", executable() + metadata() + tensor(data=struct.pack("<2f", float("-inf"), 1)))
    write("PE406", executable(data=poplar(50, 20, LZ4 + bytes(56))) + metadata() + tensor())
    write("PE407", executable(data=poplar(50, 20, bytes(70))) + metadata() + tensor())
    larger = anchors(w={"shape": (4, 4)}, w_out={"shape": (4, 4)})
    write("PE408", executable() + metadata(anchors=larger) + tensor(data=bytes(64), shape=(4, 4)))
    weights = struct.pack(">16f", *(0.01 * (number + 1) for number in range(16)))
    write("PE410", executable(data=b"random bytes, or a text") + metadata() + tensor())
    write("PE409", executable() + metadata(anchors=larger) + tensor(data=weights, shape=(4, 4)))


def safety():
    write("PE501", whole() + opaque("notes", pickle.dumps(collections.OrderedDict(a=1), 4)))
    write("PE502", whole() + opaque("notes", pickle.dumps(Runs(), 4)))
    write("PE503", whole() + opaque("notes", b"\x80\x04\x8c\x06mycode\x8c\x05Model\x93)\x81."))
    write("PE504", whole() + opaque("notes", pickle.dumps([1, 2], 4)[:-2]))
    write("PE505", whole() + opaque("notes", encrypted_archive()))
    write("PE506", whole(engineOptions=[{"name": "cache.password", "value": "hunter2"}]))


def encrypted_archive():
    """An archive that says that its member is encrypted."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(zipfile.ZipInfo("archive/data.pkl"), pickle.dumps([1], 2))
    data = bytearray(file.getvalue())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def popart(name="popart", executable=NAME):
    return opaque(name, POPART, executable)


def loaders():
    second = executable("67890") + metadata(executable="67890", anchors=anchors())
    write("PE601", whole() + popart() + popart("popart-too"))
    write("PE602", whole() + executable() + popart())
    write("PE603", whole() + second)
    write("PE604", whole() + metadata() + popart())
    named = executable("model") + metadata(executable="model") + tensor()
    write("PE605", named + popart(executable="model"))
    write("PE606", whole() + tensor("v") + popart())
    write("PE607", whole())
    write("PE608", whole() + opaque("popart", POPART[:-8]))
    write("PE609", whole() + executable("67890") + popart(executable="67890"))
    write("PE610", whole(seedHandle="seed_stream") + popart())
    write("PE611", whole() + second + opaque("poptorch", poptorch()))
    write("PE612", whole())
    write("PE613", whole() + opaque("poptorch", poptorch("3.3.0+7857")))
    write("PE614", whole() + opaque("poptorch"))
    apart = anchors(w_out={"name": "w1"})
    write("PE621", whole(anchors=apart))
    write("PE622", whole(anchors=apart) + opaque("tensorflow", executable="other"))
    write("PE623", whole() + opaque("tensorflow"))
    write("PE624", whole(anchors=apart) + opaque("tensorflow", b""))
    write("PE631", executable())
    write("PE632", metadata() + tensor())
    write("PE633", whole())
    write("PE634", executable() + metadata())
    write("PE635", whole(isInference=False))
    write("PE636", with_anchors(x={"data_type": "f8143"}))
    write("PE637", whole() + second)


def policy():
    for rule in range(701, 712):
        write(f"PE{rule}", whole())
    write("PE710", apart_for_tensorflow() + opaque("tensorflow", SERVING))
    write("PE711", apart_for_tensorflow() + opaque("tensorflow", SERVING))
    write("PE703", whole() + opaque("notes", pickle.dumps(collections.OrderedDict(a=1), 4)))
    write("PE704", whole() + opaque("notes"))


def inside():
    def model(content, **changes):
        return executable(data=of_archive(content)) + metadata(**changes) + tensor()

    write("PE801", model(archive([tile(1000), tile(2000)])[:-1]))
    write("PE802", model(archive([tile(1000)] * 3)))
    sizes = [1000] * 1216
    sizes[7] = (256 << 10) + 4
    write("PE803", model(archive(map(tile, sizes)), ipuVersion=1))


# ---- payloads ----------------------------------------------------------------


def popart_payload(**changed):
    """A payload that agrees with whole(), apart from what is changed."""
    said = {"mode": "inference", "seed": False, "type": "float", "shape": [2], "input": "x", **changed}
    root = PAYLOAD.Executable.new_message()
    ir = root.init("lowering").init("ir")
    ir.executionMode, ir.requiresRandomSeed = said["mode"], said["seed"]
    for tensor, name in zip(root.init("tensors", 3), [said["input"], "w", "y"]):
        tensor.id, tensor.kind = name, "variable" if name == "w" else "stream"
        kind = tensor.init("info").init("type")
        tensor.info.shape = said["shape"] if name == "w" else [2]
        kind.dataType = said["type"] if name == "w" else "float"
        kind.name, kind.lowerName = str(kind.dataType).upper(), str(kind.dataType)
        tensor.init("variableSettings")
    return opaque("popart", root.to_bytes())


def field(number, content):
    """A field of a protobuf message: a small number, or bytes."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    tag = number << 3 | 2
    return (bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])) + bytes([len(content)]) + content


def tensorflow_payload(replicas=1, ipus=1, handle=b"h2d_x", shape=b"", feed=b""):
    inputs = field(3, field(1, b"x") + field(2, handle) + shape)
    config = field(1, inputs) + field(2, ipus) + field(3, b"IPU") + field(4, b"ipu2")
    return field(1, replicas) + feed + field(12, config) + field(13, 2) + field(14, 6) + field(17, b"0f1e2d3c4b")


SERVING = tensorflow_payload()


def poptorch_payload(name):
    """A pickle that ../opaque/poptorch/make_poptorch.py wrote."""
    return (FOLDER / f"../opaque/poptorch/{name}.pickle").read_bytes()


def apart_for_tensorflow():
    return whole(anchors=anchors(w_out={"name": "w1"}))


def payloads():
    broken = bytearray(popart_payload())
    # The tensors' names claim more letters than there are.
    broken = bytes(broken).replace(b"x\0\0\0\0\0\0\0", b"xxxxxxxx", 1)
    write("PE721", whole() + broken)
    write("PE722", apart_for_tensorflow() + opaque("tensorflow", SERVING[:-3]))
    write("PE723", whole() + popart_payload(mode="training"))
    write("PE724", whole() + popart_payload(seed=True))
    write("PE725", whole() + popart_payload(type="int32", shape=[3]))
    write("PE726", whole() + opaque("tensorflow", tensorflow_payload(replicas=2, ipus=4)))
    write("PE727", whole() + opaque("tensorflow", tensorflow_payload(handle=b"infeed.0")))
    write("PE728", whole() + popart_payload(input="z"))
    # An S32 of 3 elements, in the signature and in a feed of it and a token.
    other = field(2, 4) + field(3, 3)
    carried = field(2, 13) + field(4, field(2, 13) + field(4, other)) + field(4, field(2, 17))
    feed = field(2, field(1, field(2, b"0")) + field(2, carried))
    fed = anchors(x={"handle": "infeed_0.0"})
    payload = tensorflow_payload(handle=b"infeed_0.0", shape=field(5, other), feed=feed)
    write("PE729", whole(anchors=fed) + opaque("tensorflow", payload))
    for rule in 731, 732, 733:
        write(f"PE{rule}", whole(deviceIterations=4) + opaque("poptorch", poptorch_payload(f"check-{rule}")))
    # What agrees is no finding.
    write("as-poptorch-payload", whole(deviceIterations=4) + opaque("poptorch", poptorch_payload("check-agrees")))
    write("as-popart-payload", whole() + popart_payload())
    write("as-tensorflow-payload", apart_for_tensorflow() + opaque("tensorflow", SERVING))


# ---- files as the frameworks write them, by their public source -------------------


def as_tensorflow():
    """Opaque, executable, metadata; nothing for what TensorFlow never sets."""
    names = [("infeed.0", "input", 1), ("weight0", "input", 0), ("outfeed.0", "output", 1), ("weight1", "output", 0)]
    name = "UNHASHED_EXECUTABLE"
    fields = {
        "replicationFactor": 2,
        "numIpus": 4,
        "numProcesses": 1,
        "ipuVersion": 21,
        "executable": name,
        "seedHandle": "__seed_stream",
        "engineOptions": [{"name": "target.workerStackSizeInBytes", "value": "512"}],
        "programFlow": {"load": [0], "main": [1], "save": [2]},
        "programsMap": [{"index": i, "name": f"{n}_program"} for i, n in [(1, "main"), (2, "save"), (0, "load")]],
        "anchors": [{**anchor(n, kind, program, shape=(4, 3)), "repeats": 0} for n, kind, program in names],
    }
    described = blob("metadata", popef.Metadata.new_message(**fields))
    write("as-tensorflow", opaque("tensorflow", executable=name) + executable(name) + described)


def popart_model():
    """A model for training on two replicas, with weights, an optimizer, a
    random seed, and a tensor kept only to restore the session."""

    def both(name, program_in, program_out, **changes):
        out = {**changes, "handle": f"weight_d2h_{name}"}
        return [anchor(name, "input", program_in, **changes), anchor(name, "output", program_out, **out)]

    replicated = {"shape": (2, 8, 3), "isPerReplica": True}
    seed = both("randomSeed___fromHost", 2, 3, data_type="u32")
    kept = {**anchor("kept", "unknown", 0), "handle": "", "programs": []}
    programs = ["WeightsFromHost", "OptimizerFromHost", "RandomSeedFromHost", "RandomSeedToHost"]
    programs += ["RngStateFromHost", "Program", "RngStateToHost", "WeightsToHost"]
    described = metadata(
        replicationFactor=2,
        numIpus=2,
        isInference=False,
        deviceIterations=16,
        seedHandle="h2d_randomSeed___fromHost",
        programFlow={"load": [0, 1, 2], "main": [5], "save": [7, 3]},
        programsMap=[{"index": i, "name": name} for i, name in enumerate(programs)],
        anchors=[
            anchor("input", "input", 5, **replicated),
            anchor("loss", "output", 5, **replicated),
            *both("w", 0, 7),
            anchor("learningRate", "input", 1, shape=()),
            *seed,
            kept,
        ],
    )
    data = tensor() + tensor("learningRate", bytes(4), shape=()) + tensor("kept")
    data += tensor("randomSeed___fromHost", bytes(8), data_type="u32")
    return popart() + described + data + executable()


def as_the_frameworks_write():
    as_tensorflow()
    write("as-popart", popart_model())
    # One of those with the most imports.
    pickled = (FOLDER / "../pickles/poptorch-2.6-training.pickle").read_bytes()
    write("as-poptorch", popart_model() + opaque("poptorch", pickled))


def main():
    as_the_frameworks_write()
    the_file_itself()
    links()
    metadata_alone()
    shapes_and_data()
    contents()
    safety()
    loaders()
    policy()
    inside()
    payloads()


if __name__ == "__main__":
    main()

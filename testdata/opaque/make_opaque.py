"""Writes payloads of opaque blobs, and what they hold, with the official libraries of Cap'n Proto and protobuf.

    python make_opaque.py

`popart-random.jsonl` and `tf-random.jsonl` have one payload per line: its bytes in hexadecimal, and as JSON what it holds.
`opaque.popef` has a payload of each kind in an opaque blob, and `samples.popef` most payloads of this folder, two that
are damaged among them, each for the executable that has the name of the payload's file. Shares no code with this project. Needs the packages pycapnp and
protobuf, and the command protoc.
"""

import json
import pathlib
import random
import struct
import subprocess
import tempfile

import capnp
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, unknown_fields

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
popart = capnp.load(str(ROOT / "crates/popef-payload/schema/popart.capnp"))
popef = capnp.load(str(ROOT / "popef/schema/popef.capnp"))
R = random.Random(20261122)

# ---- PopART ------------------------------------------------------------------

KINDS = ["actGrad", "constant", "stream", "unknown", "variable", "n"]
TYPES = {
    "uint8": ("UINT8", "uint8", 1), "int8": ("INT8", "int8", 1), "uint16": ("UINT16", "uint16", 2),
    "int16": ("INT16", "int16", 2), "int32": ("INT32", "int32", 4), "int64": ("INT64", "int64", 8),
    "uint32": ("UINT32", "uint32", 4), "uint64": ("UINT64", "uint64", 8), "bool": ("BOOL", "bool", 1),
    "float": ("FLOAT", "float32", 4), "float16": ("FLOAT16", "float16", 2), "bfloat16": ("BFLOAT16", "bfloat16", 2),
    "double": ("DOUBLE", "float64", 8), "complex64": ("COMPLEX64", "complex64", 8),
    "complex128": ("COMPLEX128", "complex128", 16), "string": ("STRING", "string", None),
}
GROUPS = ["all", "consecutive", "orthogonal", "none", "n"]
RETRIEVALS = ["onePerGroup", "allReduceReplicas", "allReplicas"]
RETURNS = ["final", "everyN", "all", "sum"]


def words(most):
    return ["".join(R.choice("abc/_:é名.") for _ in range(R.randint(0, 12))) for _ in range(R.randint(0, most))]


def number(bits, signed=True):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return R.choice([low, high, 0, 1, R.randint(low, high), R.randint(max(low, -9), 9)])


def tensor_values(layout):
    data_type = R.choice([*TYPES, "undefined", "undefined"])
    kind = R.choice(["FLOAT8_143", "FLOAT8_152", "UNDEFINED"])
    name, lower, size = TYPES.get(data_type, (kind, kind.lower(), 1 if kind.startswith("FLOAT8") else None))
    shape = [R.choice([0, 1, 2, 7, 1000, -1, 1 << 40]) if R.random() < 0.3 else R.randint(1, 9) for _ in range(R.randint(0, 4))]
    true = size
    for extent in shape:
        if true is not None:
            true = None if extent < 0 or true * extent >= 1 << 64 else true * extent
    remote = [number(64), number(64)] if R.random() < 0.3 else None
    settings = {
        "commGroup": R.choice(GROUPS), "groupSize": number(32), "retrieval": R.choice(RETRIEVALS),
        "stride": number(32) if layout == "L30" else 0, "useCommGroup": R.random() < 0.5 if layout == "L30" else True,
    }
    return {
        "id": R.choice(words(3) or ["x"]), "kind": R.choice(KINDS), "dataType": data_type, "typeName": name,
        "lowerName": lower, "isFixedPoint": R.random() < 0.5, "shape": shape, "storedBytes": number(32),
        "trueBytes": true, "remote": remote, "sharded": R.random() < 0.3,
        "variableSettings": None if layout == "L25" else settings,
        "dataBytes": R.choice([None, 0, 8, 12]) if layout != "L30" else None,
    }


def put_tensor(tensor, values, layout):
    tensor.id = values["id"]
    tensor.kind = values["kind"]
    info = tensor.init("info")
    info.shape = values["shape"]
    kind = info.init("type")
    kind.dataType, kind.tensorBytes = values["dataType"], values["storedBytes"]
    kind.isFixedPoint, kind.name, kind.lowerName = values["isFixedPoint"], values["typeName"], values["lowerName"]
    location = tensor.init("location")
    location.sharded = values["sharded"]
    buffer = location.init("buffer")
    if values["remote"]:
        location.remote = True
        buffer.id, buffer.index = values["remote"]
    settings = values["variableSettings"]
    if layout == "L30":
        put = tensor.init("variableSettings")
        put.useCommGroup, put.commGroupKind = settings["useCommGroup"], settings["commGroup"]
        put.stride, put.groupSize, put.retrievalMode = settings["stride"], settings["groupSize"], settings["retrieval"]
        return
    if values["dataBytes"] is not None:
        tensor.data = bytes(range(values["dataBytes"]))
    if layout == "L26":
        put = tensor.init("variableSettings")
        put.retrievalMode = settings["retrieval"]
        group = put.init("sharedDomain")
        group.kind, group.replicaGroupSize = settings["commGroup"], settings["groupSize"]


EMPTY = {
    "id": "", "kind": "actGrad", "dataType": "uint8", "typeName": "", "lowerName": "", "isFixedPoint": False, "shape": [],
    "storedBytes": 0, "trueBytes": 1, "remote": None, "sharded": False, "variableSettings": None, "dataBytes": None,
}


def random_popart():
    layout = R.choice(["L25", "L26", "L30"])
    root = {"L25": popart.ExecutableL25, "L26": popart.ExecutableL26, "L30": popart.Executable}[layout].new_message()
    lowering = root.init("lowering")
    ir = lowering.init("ir")
    ir.requiresRandomSeed, ir.executionMode = R.random() < 0.5, R.choice(["inference", "training"])
    holds = {
        "kind": "popart", "layout": layout, "requiresRandomSeed": ir.requiresRandomSeed,
        "executionMode": str(ir.executionMode), "dataFlow": None, "surplusBytes": 0,
        "additionalProtoTensors": words(3), "linearlyCreated": words(4), "efficientlyCreated": words(4),
        "cycleCountIds": words(2), "customPrograms": [], "rearrangeIds": [], "rearrangements": [],
    }
    ir.additionalProtoTensors = holds["additionalProtoTensors"]
    lowering.linearlyCreatedInputs = holds["linearlyCreated"]
    lowering.efficientlyCreatedInputs = holds["efficientlyCreated"]
    lowering.cycleCountIds = holds["cycleCountIds"]
    if R.random() < 0.3:
        anchors = [{"id": name, "kind": R.choice(RETURNS), "returnPeriod": number(32)} for name in words(3)]
        holds["dataFlow"] = {"batchesPerStep": number(32), "anchors": anchors}
        flow = ir.init("dataFlow")
        flow.batchesPerStep = holds["dataFlow"]["batchesPerStep"]
        for put, anchor in zip(flow.init("anchorMap").init("anchors", len(anchors)), anchors):
            put.id = anchor["id"]
            returned = put.init("returnType")
            returned.text, returned.kind, returned.returnPeriod = "All", anchor["kind"], anchor["returnPeriod"]
    programs = words(3)
    holds["customPrograms"] = [{"index": number(32, False), "handle": name} for name in programs]
    for put, program in zip(lowering.init("customPrograms").init("pairs", len(programs)), holds["customPrograms"]):
        put.index, put.handle = program["index"], program["handle"]
    ids = words(4)
    holds["rearrangeIds"] = [{"id": name, "number": number(32, False)} for name in ids]
    for put, pair in zip(root.init("rearrangeIds").init("pairs", len(ids)), holds["rearrangeIds"]):
        put.id, put.number = pair["id"], pair["number"]
    count = R.randint(0, 2)
    for put in root.init("rearrangements").init("items", count):
        intervals = [[number(64, False), number(64, False)] for _ in range(R.randint(0, 3))]
        item = {
            "number": number(32, False), "replicationFactor": number(32, False), "elementsPerReplica": number(64, False),
            "gatheredToReference": intervals,
        }
        holds["rearrangements"].append(item)
        put.number = item["number"]
        put = put.init("rearrangement")
        put.replicationFactor, put.elementsPerReplica = item["replicationFactor"], item["elementsPerReplica"]
        for interval, (begin, end) in zip(put.init("gatheredToReference", len(intervals)), intervals):
            interval.begin, interval.end = begin, end
    holds["tensors"] = [tensor_values(layout) for _ in range(R.randint(1, 4))]
    empty = R.randint(0, 3) if layout != "L30" else 0
    tensors = root.init("tensors", len(holds["tensors"]) + empty)
    for put, values in zip(tensors, holds["tensors"]):
        put_tensor(put, values, layout)
    holds["tensors"] += [EMPTY] * empty
    data = root.to_bytes()
    return data, holds | {"bytes": len(data), "segments": 1 + struct.unpack_from("<I", data)[0]}


# ---- TensorFlow --------------------------------------------------------------


def tensorflow_messages():
    with tempfile.NamedTemporaryFile() as descriptors:
        subprocess.run(["protoc", f"-I{HERE}", f"-o{descriptors.name}", str(HERE / "tensorflow.proto")], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(descriptors.name).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("popef.opaque.tensorflow.Executable"))


Executable = tensorflow_messages()


def fill(message, depth):
    """Sets random fields of a message, some of them in the messages that it holds."""
    for field in message.DESCRIPTOR.fields:
        if R.random() > (0.4 if depth else 0.5):
            continue
        repeated = field.is_repeated
        if field.type == field.TYPE_MESSAGE:
            if depth > 5:
                continue
            if repeated:
                for _ in range(R.randint(1, 2)):
                    fill(getattr(message, field.name).add(), depth + 1)
            else:
                getattr(message, field.name).SetInParent()
                fill(getattr(message, field.name), depth + 1)
            continue

        def value():
            if field.type == field.TYPE_STRING:
                return R.choice(words(3) or ["IPU"])
            if field.type == field.TYPE_BOOL:
                return R.random() < 0.5
            if field.type == field.TYPE_ENUM:
                return R.choice([0, 1, 2, 3, 11, 77, 1000, -1])
            return number(32 if field.type == field.TYPE_UINT32 else 64, field.type != field.TYPE_UINT32)

        if repeated:
            getattr(message, field.name).extend(value() for _ in range(R.randint(0, 3)))
        else:
            setattr(message, field.name, value())


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, wire_type, payload):
    return varint(number << 3 | wire_type) + payload


def delimited(number, payload):
    return field(number, 2, varint(len(payload)) + payload)


def unknown():
    n = R.choice([18, 99, 5000, (1 << 29) - 1])
    return R.choice([
        field(n, 0, varint(number(64))), field(n, 1, bytes(8)), field(n, 5, bytes(4)), delimited(n, b"\xff\x00"),
        field(n, 3, field(2, 0, b"\x07") + field(3, 3, field(3, 4, b"")) + field(n, 4, b"")),
        # A known field of another wire type is unknown too.
        field(1, 5, bytes(4)), field(12, 0, b"\x01"), delimited(13, b"xy"),
    ])


def random_tensorflow():
    """One message, or two joined, which merges them; with what a serialiser does not write, but a parser accepts."""
    parts = []
    for _ in range(R.choice([1, 1, 2])):
        message = Executable()
        fill(message, 0)
        parts.append(message.SerializeToString())
        if R.random() < 0.4:
            parts.append(unknown())
    if R.random() < 0.3:
        # Numbers one by one that are usually packed, and packed where single ones would do; a number that is longer than needed.
        shape = field(3, 0, varint(number(64))) + field(3, 0, varint(5)) + delimited(3, varint(6) + varint(7))
        parts.append(delimited(2, delimited(2, shape)))
        parts.append(delimited(10, field(6, 0, varint(number(64)))))
        parts.append(field(13, 0, b"\x82\x80\x80\x00"))
        parts.append(field(11, 0, varint(1 << 35)))
    if R.random() < 0.15:
        shape = b""
        for _ in range(R.choice([3, 30, 95, 97, 98, 99, 100, 101])):
            shape = delimited(4, shape)
        parts.append(delimited(3, delimited(2, shape)))
    data = b"".join(parts)
    if R.random() < 0.35 and data:
        data = bytearray(data)
        for _ in range(R.choice([1, 1, 2])):
            data[R.randrange(len(data))] = R.choice([0, 0x80, 0xFF, R.randrange(256)])
        data = bytes(data[: R.choice([len(data), len(data), R.randrange(len(data) + 1)])])
    return data


def held_by_tensorflow(data):
    message = Executable()
    try:
        message.ParseFromString(data)
    except Exception:
        return {"error": True}
    holds = {"kind": "tensorflow", "bytes": len(data)}
    # Readers of JSON refuse what nests too deep.
    if json.dumps(read := json_format.MessageToDict(message)).count("[{") < 50:
        holds["message"] = read
    numbers = sorted({field.field_number for field in unknown_fields.UnknownFieldSet(message)})
    return holds | ({"unknownFields": numbers} if numbers else {})


# ---- files -------------------------------------------------------------------


def write_lines(name, payloads):
    lines = (json.dumps({"hex": data.hex(), "holds": holds}, ensure_ascii=False) for data, holds in payloads)
    (HERE / name).write_text("\n".join(lines) + "\n")


def blob(name, data, executable="model"):
    info = popef.Opaque.new_message(name=name, executable=executable).to_bytes()
    length = len(popef.BlobHeader.new_message(type="opaque", size=0).to_bytes()) + len(info) + len(data)
    return popef.BlobHeader.new_message(type="opaque", size=length).to_bytes() + info + data


write_lines("popart-random.jsonl", (random_popart() for _ in range(60)))
payloads = [random_tensorflow() for _ in range(300)]
write_lines("tf-random.jsonl", ((data, held_by_tensorflow(data)) for data in payloads if len(data) < 1500))
(HERE / "opaque.popef").write_bytes(
    blob("popart", (HERE / "popart-infer.bin").read_bytes())
    + blob("tensorflow", (HERE / "tf26-serving.bin").read_bytes())
    + blob("runner", b'{"batch": [1, 2.5, "x"]}\n')
    + blob("note", "made for a test: naïve\n".encode())
    + blob("key", bytes(range(64)))
)

FRAMEWORKS = {"popart": "popart", "tf": "tensorflow", "poptorch": "poptorch"}
samples = sorted([*HERE.glob("*.bin"), *(HERE / "poptorch").glob("*.pickle")])
(HERE / "samples.popef").write_bytes(
    b"".join(
        blob(name, sample.read_bytes(), sample.stem)
        for prefix, name in FRAMEWORKS.items()
        for sample in samples
        if sample.name.startswith(prefix) and sample.stat().st_size < 10_000
    )
    + blob("popart", (HERE / "popart-infer.bin").read_bytes()[:500], "popart-cut")
    + blob("tensorflow", b"\x0a\x05ab", "tf-cut")
)

"""Writes the files of this folder that Python's own pickle module makes, and
what each one holds as JSON.

There is no torch and no PopTorch here, but stand-ins for their classes: the
pickles hold their names, their attributes in the order of PopTorch's source, and
what torch's older `save` writes for a storage. One file runs `true` when it is
loaded; do not load any of them. To make them again:

    python make_poptorch.py        (written with Python 3.11.7)

The files poptorch*-*.pickle were made in the same way by another script, after
which this one was written.
"""

import collections
import datetime
import io
import json
import os
import pickle
import random
import struct
import sys
import types
from pathlib import Path

FOLDER = Path(__file__).parent
INTEROP = FOLDER.parent.parent / "interop"


# ---- stand-ins ----------------------------------------------------------------


def stand_in(path, base=object):
    """A class that pickles by its path."""
    module, name = path.rsplit(".", 1)
    made = type(name, (base,), {"__module__": module, "__qualname__": name})
    add(module, name, made)
    return made


def add(module, name, value):
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
    setattr(sys.modules[module], name, value)


def function(path):
    module, name = path.rsplit(".", 1)

    def made(*_):
        raise RuntimeError("nothing here is to be loaded")

    made.__module__, made.__qualname__, made.__name__ = module, name, name
    add(module, name, made)
    return made


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def filled(kind, **attributes):
    made = kind()
    made.__dict__.update(attributes)
    return made


DATA = stand_in("poptorch._poptorch_data.PoptorchData")
OPTIONS = stand_in("poptorch.options.Options")
GROUPS = {name: stand_in(f"poptorch.options.{name}") for name in ("_JitOptions", "_PopartOptions", "_PrecisionOptions",
          "_TrainingOptions", "_DistributedOptions", "_TensorLocationOptions", "ShardedExecution")}
PROGRESS = stand_in("poptorch._options_impl.ProgressBar")
REDUCTION = stand_in("poptorch.enums.ReductionType", int)
MODE = stand_in("poptorch.enums.OutputMode", int)
MODULE = stand_in("models.Net")
LINEAR = stand_in("torch.nn.modules.linear.Linear")
SGD = stand_in("torch.optim.sgd.SGD")
STORAGES = {name: (stand_in(f"torch.{name}Storage"), code) for name, code in
            {"Float": "f", "Half": "e", "BFloat16": "H", "Long": "q", "Bool": "?"}.items()}
DTYPES = {"Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64", "Bool": "bool"}
REBUILD = function("torch._utils._rebuild_tensor_v2")
PARAMETER = function("torch._utils._rebuild_parameter")
LOAD = function("torch.storage._load_from_bytes")
WRAPPER = function("poptorch._impl._restoreWrapperIfNecessary")


class Args:
    __module__, __qualname__ = "poptorch._args_parser", "ArgsParser.Args"


add("poptorch._args_parser", "ArgsParser", types.SimpleNamespace(Args=Args))


# ---- tensors ------------------------------------------------------------------


def saved(kind, number, key):
    """What torch's older `save` writes for a storage: five pickles, the number of elements, and the elements."""
    storage, code = STORAGES[kind]
    out = io.BytesIO()
    sizes = {"short": 2, "int": 4, "long": 4}
    for value in 0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": sizes}:
        pickle.dump(value, out, 2)

    class Ids(pickle.Pickler):
        def persistent_id(self, value):
            return ("storage", storage, key, "cpu", number, None) if value is storage_object else None

    storage_object = object()
    Ids(out, 2).dump(storage_object)
    pickle.dump([key], out, 2)
    out.write(struct.pack(f"<q{number}{code}", number, *[0] * number))
    return out.getvalue()


KEYS = iter(range(1000, 2000))


def tensor(kind, *shape):
    number = 1
    for extent in shape:
        number *= extent
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    storage = Call(LOAD, saved(kind, number, str(next(KEYS))))
    return Call(REBUILD, storage, 0, tuple(shape), tuple(strides[: len(shape)]), False, collections.OrderedDict())


def parameter(kind, *shape):
    return Call(PARAMETER, tensor(kind, *shape), True, collections.OrderedDict())


def described(kind, *shape, name=None):
    size = struct.calcsize(STORAGES[kind][1])
    number = 1
    for extent in shape:
        number *= extent
    named = {"name": name} if name is not None else {}
    return {**named, "dtype": DTYPES[kind], "shape": list(shape), "storageBytes": number * size}


# ---- PopTorch's data ----------------------------------------------------------


def module(kind, parameters=(), buffers=(), modules=()):
    return filled(kind, training=True, _parameters=collections.OrderedDict(parameters),
                  _buffers=collections.OrderedDict(buffers), _modules=collections.OrderedDict(modules))


def options(progress=None, popart=(), training=(), distributed=(), locations=(), **values):
    def group(name, values, **more):
        return filled(GROUPS[name], **more, _warnings={}, _warnings_disabled=set(), _is_frozen=True, _values=dict(values))

    popart = filled(GROUPS["_PopartOptions"], _is_frozen=True, options=dict(popart))
    made = filled(
        OPTIONS,
        _jit=group("_JitOptions", ()),
        _popart=popart,
        _graphProcessing=group("_PrecisionOptions", (), _popart_options=popart),
        _training=group("_TrainingOptions", training, _popart_options=popart),
        _distributed=group("_DistributedOptions", distributed, _gcd_mappings={}),
        _tensor_locations=group("_TensorLocationOptions", locations),
        _execution_strategy=filled(GROUPS["ShardedExecution"], _block_map={}),
        **({"_progress_bar": progress} if progress else {}),
        _warnings={},
        _warnings_disabled=set(),
        _is_frozen=True,
        _values=values,
    )
    return made


def arguments(args, names=None, kwargs=None):
    made = Args()
    made._args = args
    if names is not None:
        made._arg_names, made._kwargs = names, kwargs or {}
    made.first_none = None
    return made


def write(name, data, expected, protocol=4):
    pickled = pickle.dumps(data, protocol)
    (FOLDER / f"{name}.pickle").write_bytes(pickled)
    expected = {"kind": "poptorch", "bytes": len(pickled), **expected}
    (FOLDER / f"{name}.json").write_text(json.dumps(expected, indent=1) + "\n")
    return pickled


def modules():
    """Modules in modules, one of them twice; parameters and buffers of several types; tensors in inputs of any form."""
    shared = module(LINEAR, [("weight", parameter("Half", 3, 3)), ("bias", None)])
    model = module(
        MODULE,
        [("scale", parameter("BFloat16"))],
        [("steps", tensor("Long", 1))],
        [("first", shared), ("none", None), ("again", shared), ("block", module(MODULE, modules=[("0", module(LINEAR,
            [("weight", Call(WRAPPER, parameter("Float", 2, 0, 5)))]))]))],
    )
    start = datetime.datetime(2024, 2, 29, 23, 59, 59)
    values = dict(replication_factor=16, device_iterations=1, output_mode=MODE(3), output_return_period=1, connection_type=7,
                  sync_pattern=2, available_memory_proportion={0: 0.25, 1: 0.5}, model_name="ünicode \n name", ipu_id=3,
                  random_seed=-1)
    progress = filled(PROGRESS, compilation_time=datetime.timedelta(days=1, microseconds=-1), _start_time=start)
    optimizer = filled(SGD, defaults={"lr": 0.1}, loss_scaling=2)
    data = filled(
        DATA,
        options=options(progress, popart={"engineOptions": {"debug.allowOutOfMemory": "true"}, "cachePath": "x" * 300},
                        training={"gradient_accumulation": 8}, distributed={"num_distributed_processes": 4,
                        "distributed_process_id": 2}, locations={"location_weight": {"onChip": 1}}, **values),
        training=False,
        model=model,
        version="3.4.0",
        _optimizer=optimizer,
        optimizer_state={"state": {}},
        executable_inputs=arguments([tensor("Bool", 7), (1, [tensor("Float")], {"a": None}), 2.5], ["mask", "more", "rate"],
                                    {"extra": tensor("Half", 1, 2), "flag": True}),
        random_seed=None,
        rng_state=[2**64 - 1, 0, 2**63],
    )
    tensors = [described("BFloat16", name="scale"), described("Half", 3, 3, name="first.weight"),
               described("Float", 2, 0, 5, name="block.0.weight")]
    write("modules", data, {
        "class": "poptorch._poptorch_data.PoptorchData", "version": "3.4.0", "exportedModel": True, "training": False,
        "modelClass": "models.Net", "optimizerClass": "torch.optim.sgd.SGD", "lossScaling": 2.0, "parameters": tensors,
        "buffers": [described("Long", 1, name="steps")],
        "inputs": [described("Bool", 7, name="mask"),
                   {"name": "more", "value": [1, [described("Float")], {"a": None}]}, {"name": "rate", "value": 2.5}],
        "kwargs": {"extra": described("Half", 1, 2), "flag": True}, "rngState": [2**64 - 1, 0, 2**63],
        "replicationFactor": 16, "deviceIterations": 1, "gradientAccumulation": 8, "outputMode": "Sum",
        "outputReturnPeriod": 1, "connectionType": 7, "syncPattern": "ReplicaAndLadder", "ipuId": 3,
        "availableMemoryProportion": {"0": 0.25, "1": 0.5}, "modelName": "ünicode \n name", "randomSeed": -1,
        "processes": 4, "processId": 2, "executionStrategy": "ShardedExecution",
        "tensorLocations": {"locationWeight": {"onChip": 1}},
        "popartOptions": {"engineOptions": {"debug.allowOutOfMemory": "true"}, "cachePath": "x" * 300},
        "compiledAt": "2024-02-29T23:59:59", "compileSeconds": 86399.999999,
    })


def protocols():
    """The same in all protocols that can hold it. PopTorch uses 4."""
    for protocol in 3, 4, 5:
        data = filled(DATA, options=options(replication_factor=2), training=None, model=None, version="3.1.0",
                      executable_inputs=arguments([tensor("Float", 2)], ["x"]), rng_state=None)
        write(f"protocol-{protocol}", data, {
            "version": "3.1.0", "exportedModel": False, "training": None, "inputs": [described("Float", 2, name="x")],
            "kwargs": {}, "replicationFactor": 2, "rngState": None,
        }, protocol)


def later():
    """Keys that are missing, that are new, and that hold something else."""
    values = filled(OPTIONS, _values={"replication_factor": "two", "device_iterations": None, "output_mode": 9, "new": [1]})
    data = filled(DATA, options=values, model="text", version=7, executable_inputs=[1], rng_state="abc", more={"a": 1})
    write("later", data, {
        "exportedModel": True, "training": None, "rngState": None, "outputMode": 9, "kwargs": {},
        "options": {"class": "poptorch.options.Options", "state": {"_values": {
            "replication_factor": "two", "device_iterations": None, "output_mode": 9, "new": [1]}}},
    })


def old_files():
    """Files like those of SDK 2.5: a pickle, then PopEF. In 2.5, inputs have no names."""
    data = filled(DATA, options=options(replication_factor=1, device_iterations=4), training=None, model=None, version="2.5.0",
                  executable_inputs=arguments([tensor("Float", 2, 2)]), random_seed=None, rng_state=None)
    pickled = write("poptorch25", data, {
        "version": "2.5.0", "exportedModel": False, "training": None, "inputs": [described("Float", 2, 2)], "kwargs": {},
        "replicationFactor": 1, "deviceIterations": 4, "rngState": None,
    })
    popef = (INTEROP / "split-executable.popef").read_bytes()
    (FOLDER / "poptorch25.poptorch").write_bytes(pickled + popef)
    data.random_seed = Call(os.system, "true")
    (FOLDER / "poptorch25-hostile.poptorch").write_bytes(pickle.dumps(data, 4) + popef)


def for_checks():
    """For ../../checks: data that agrees with a model for inference, one replica and four device iterations, and data that
    does not."""
    for name, version, training, changed in [
        ("agrees", "3.4.0", False, {}),
        ("731", "3.3.0", False, {}),
        ("732", "3.4.0", False, {"replication_factor": 2, "device_iterations": 5}),
        ("733", "3.4.0", True, {}),
    ]:
        values = {"replication_factor": 1, "device_iterations": 4, **changed}
        net = module(LINEAR, [("w", parameter("Float", 2))])
        data = filled(DATA, options=options(**values, distributed={"num_distributed_processes": 1}), training=training,
                      model=net, version=version, _optimizer=None, executable_inputs=arguments([tensor("Float", 2)], ["x"]),
                      random_seed=None, rng_state=None)
        write(f"check-{name}", data, {
            "version": version, "exportedModel": True, "training": training, "modelClass": "torch.nn.modules.linear.Linear", "kwargs": {},
            "inputs": [described("Float", 2, name="x")], "parameters": [described("Float", 2, name="w")], "rngState": None,
            "replicationFactor": values["replication_factor"], "deviceIterations": values["device_iterations"], "processes": 1,
        })


def random_values():
    """Any plain values as options, in all protocols: one line of JSON each, with the pickle in hexadecimal."""
    chance = random.Random(25)
    letters = ["a", "Z", " ", "'", '"', "\\", "\n", "\r", "\t", "\0", "\x7f", "\x80", "\xff", "é", "€", "\u2028", "\U0001f600"]
    ints = [0, 1, -1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]

    def text(most):
        return "".join(chance.choice(letters) for _ in range(chance.randrange(most)))

    def value(depth):
        kind = chance.randrange(9 if depth else 5)
        match kind:
            case 0:
                return chance.choice([None, True, False])
            case 1:
                return chance.choice([chance.choice(ints), chance.randrange(-(2**63), 2**64)])
            case 2:
                return chance.choice([0.5, -0.0, 1e300, 5e-324, 0.1, chance.uniform(-1e6, 1e6)])
            case 3 | 4:
                return text(chance.choice([3, 20, 900]))
            case 5:
                return [value(depth - 1) for _ in range(chance.randrange(5))]
            case 6:
                return tuple(value(depth - 1) for _ in range(chance.randrange(5)))
            case 7:
                return {text(8): value(depth - 1) for _ in range(chance.randrange(5))}
            case 8:
                shared = value(depth - 1)
                return [shared, [shared], {"again": shared}]

    with (FOLDER / "random.jsonl").open("w") as file:
        for number in range(300):
            made = value(4)
            data = filled(DATA, options=made, version=str(number))
            pickled = pickle.dumps(data, number % 6).hex()
            file.write(json.dumps({"pickle": pickled, "options": made, "version": str(number)}) + "\n")


modules()
protocols()
later()
old_files()
for_checks()
random_values()

"""Writes the files of this folder: what honest programs pickle, made by the packages themselves.

No check may say a word against any of them. A file is named after what it holds,
the package's version and the pickle's protocol. To make them again:

    python make_honest.py

With Python 3.10.13: torch 1.12.1, numpy 1.26.4, pandas 1.5.3 and transformers
4.36.2. With Python 3.11.7: numpy 2.4.6, pandas 3.1.1 and tensorflow
2.21.0. With Python 3.8.18 and 3.13.0, only the library. What cannot be imported
is left out. Files of other versions stay. PopTorch cannot be had; what it writes
is in ../opaque/poptorch and ../pickles, from its public source.
"""

import argparse
import array
import cmath
import collections
import csv
import datetime
import decimal
import fractions
import functools
import http
import inspect
import io
import ipaddress
import itertools
import json
import logging
import math
import operator
import pathlib
import pickle
import random
import re
import signal
import statistics
import string
import sys
import types
import urllib.parse
import uuid
import zipfile
import zoneinfo
from pathlib import Path

FOLDER = Path(__file__).parent


def write(name, data):
    (FOLDER / name).write_bytes(data)


def dump(name, value, protocols=(0, 2, 4, 5)):
    for protocol in protocols:
        write(f"{name}-{protocol}.pickle", pickle.dumps(value, protocol))


def of_python():
    version = "python-" + ".".join(map(str, sys.version_info[:2]))
    record = logging.LogRecord("a", 20, "b.py", 1, "text %s", ("x",), None)
    record.process = record.thread = record.created = record.msecs = record.relativeCreated = 0
    moment = datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)
    dump(f"{version}-library", [
        http.HTTPStatus.OK, http.HTTPStatus.NOT_FOUND, re.compile("a+", re.I), math.sqrt, math.tanh, cmath.phase, record,
        logging.getLogger("a"), collections.OrderedDict(a=1), collections.Counter("ab"), collections.deque([1], 3),
        collections.defaultdict(list), collections.ChainMap({}), collections.UserDict(a=1), moment, datetime.timedelta(1),
        decimal.Decimal("1.5"), fractions.Fraction(1, 3), types.SimpleNamespace(a=1), argparse.Namespace(a=1),
        uuid.UUID(int=1), array.array("f", [1.0]), pathlib.PurePosixPath("a/b"), ipaddress.ip_address("127.0.0.1"),
        range(3), slice(1), complex(1, 2), bytearray(b"x"), max, len, ValueError("x"), KeyError("k"), {1}, frozenset([2]),
    ])
    dump(f"{version}-more", [
        type(None), decimal.Context(), signal.Signals(2), datetime.datetime(2024, 1, 2, tzinfo=zoneinfo.ZoneInfo("UTC")),
    ], (2, 4))
    dump(f"{version}-user", [collections.UserString("a"), collections.UserList("a"), collections.UserDict(a=1)], (0, 2, 4))
    dump(f"{version}-buffers", [io.BytesIO(b"a"), io.StringIO("b")], (2, 4))
    dump(f"{version}-random", random.Random(1), (4,))
    values = [
        statistics.NormalDist(1, 2), string.Template("$a"), urllib.parse.urlparse("http://a/b?c#d"), urllib.parse.urlsplit("//a"),
        urllib.parse.urldefrag("a#b"), csv.excel(), json.JSONEncoder(), logging.Formatter(), logging.Formatter("{a}", style="{"),
    ]
    dump(f"{version}-values", values, (0, 2, 4))
    functions = [
        functools.partial(int, base=2), functools.partial(collections.OrderedDict, [("a", 1)]), operator.itemgetter("a"),
        operator.itemgetter(0, "b"), itertools.groupby, inspect.signature(lambda a, b=1: None), inspect.Parameter.empty,
    ]
    # From Python 3.14 on, these cannot be pickled.
    if sys.version_info < (3, 14):
        functions += [itertools.count(3), itertools.repeat("a", 2)]
    dump(f"{version}-functions", functions, (0, 2, 4))


def of_numpy():
    import numpy

    version = f"numpy-{numpy.__version__}"
    record = numpy.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    dump(f"{version}-arrays", [
        numpy.arange(6, dtype="f4").reshape(2, 3), numpy.float32(1), numpy.int64(2), numpy.bool_(True), numpy.dtype("f2"),
        numpy.array(["a", None], dtype=object), numpy.ma.masked_array([1, 2], [True, False]), record, numpy.float16,
        numpy.array(["2024-01-01"], dtype="M8[D]"), numpy.array(["ab"]), numpy.asfortranarray(numpy.ones((2, 2))),
    ])
    # A view shares the fields of its array.
    fields = numpy.zeros(2, [("a", "i4"), ("b", "f8")])
    views = [fields, fields.view(numpy.recarray), fields.view(numpy.recarray)[0], fields.view(fields.dtype)]
    dump(f"{version}-views", [*views, numpy.recarray((2,), [("a", "i4"), ("b", object)])], (0, 2, 4))
    fields = numpy.zeros(1, [(("title", "a"), object), ("__index_level_0__", "i8"), ("x y", "U3")])
    dump(f"{version}-fields", [fields, fields[["x y"]], fields[["a", "x y"]]], (0, 2, 4))
    inner = numpy.dtype([("a", "i1"), ("b", object)], align=True)
    kinds = [
        [("a", "f8"), ("b", "f8")], inner, [("a", inner, (2,)), ("b", "U3")], (object, (2,)), ("f4", (2, 3)), [(("title", "a"), "f4")],
        (numpy.record, [("a", "i4", (2,)), ("b", object)]), [], "U2", "S5", "V8", "O", ">f8", "M8[ns]",
        {"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [0, 2]}, numpy.dtype("f8", metadata={"a": 1}),
    ]
    kinds = [numpy.dtype(kind) for kind in kinds]
    dump(f"{version}-types", [kinds, [numpy.zeros(2, kind) for kind in kinds]], (0, 2, 4))
    if hasattr(numpy.dtypes, "StringDType"):
        kinds = numpy.dtypes.StringDType(), numpy.dtypes.StringDType(na_object=None)
        dump(f"{version}-strings", [*kinds, *(numpy.array(["a", "bc"], kind) for kind in kinds)], (0, 2, 4))
    # The other forms in which NumPy writes types, values and arrays.
    pair = numpy.rec.array([(1, "a")], dtype=[("a", "i4"), ("b", object)])[0]
    cycle = numpy.array([None, [1]], dtype=object)
    cycle[0] = [cycle]
    wide = numpy.zeros((1, 2, 3) + (1,) * 12, "i1")
    kinds = [numpy.dtype("f4", metadata={"a": 1}), *(numpy.dtype(f"m8[{unit}]") for unit in ("Y", "7D", "25s", "as")), numpy.dtype("M8"), numpy.dtype("g")]
    forms = [pair, numpy.zeros(1, [("a", object)])[0], cycle, wide, wide.T, wide.swapaxes(0, 1), numpy.array(7), numpy.zeros(0), numpy.ma.masked]
    forms += [*kinds, *(numpy.zeros(2, kind) for kind in kinds), numpy.zeros(99, "U1"), numpy.str_("a" * 99), numpy.void(b"ab"), numpy.int64(0x2E4E0380)]
    forms += [numpy.ma.masked_array([(1, "a")], [(1, 0)], [("a", "i4"), ("b", object)]), numpy.matrix([[1]]), numpy.iinfo("i4"), numpy.finfo("f8")]
    dump(f"{version}-forms", forms)
    more = [numpy.poly1d([1, 2]), numpy.char.array(["a"]), numpy.finfo(numpy.float32), numpy.add, numpy.sin]
    dump(f"{version}-more", more, (4,))
    series = [numpy.polynomial.Polynomial([1, 2]), numpy.polynomial.Chebyshev([1]), numpy.polynomial.HermiteE([1])]
    dump(f"{version}-series", series, (0, 2, 4))
    dump(f"{version}-functions", [numpy.mean, numpy.sum, numpy.argmax, functools.partial(numpy.float32, 3)], (4,))
    if numpy.__version__ >= "2.4":
        dump(f"{version}-indices", [numpy.ndindex, numpy.ndindex(2, 3)], (2, 4))
    generators = [numpy.random.Generator(numpy.random.PCG64(1)), numpy.random.Generator(numpy.random.SFC64(1))]
    dump(f"{version}-generators", generators, (2, 4))


def of_pandas():
    import pandas

    version = f"pandas-{pandas.__version__}"
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": ["x", "y"], "d": pandas.to_datetime(["2024-01-01", "2024-01-02"])})
    more = [
        pandas.NaT, pandas.NA, pandas.Period("2020-01"), pandas.interval_range(0, 3), pandas.Series(pandas.interval_range(0, 3)),
        pandas.period_range("2020", periods=2, freq="M"), pandas.timedelta_range("1D", periods=2), pandas.offsets.Day(2),
        pandas.offsets.MonthEnd(), pandas.offsets.DateOffset(months=2), pandas.Series(pandas.arrays.SparseArray([0, 1])),
    ]
    dump(f"{version}-more", more, (2, 4))
    dump(f"{version}-years", [pandas.offsets.FY5253(), pandas.offsets.FY5253Quarter()], (2, 4))
    kinds = [pandas.Series([1, 2], dtype="Int64"), pandas.Series(["a", "b"], dtype="category"), pandas.Timestamp(0), pandas.Timedelta(1)]
    dump(f"{version}-records", [frame.to_records(), frame.to_records(index=False), frame.to_records()], (2, 4))
    dump(f"{version}-frames", [frame, frame.set_index(["a", "c"]), frame.set_index("d"), *kinds], (2, 4))


def of_torch():
    import torch
    from torch import nn

    version = f"torch-{torch.__version__.split('+')[0]}"
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout(), nn.Flatten(), nn.Linear(2, 2), nn.LSTM(2, 2),
        nn.MultiheadAttention(2, 1), nn.TransformerEncoderLayer(2, 1, 2), nn.Embedding(3, 2), nn.LayerNorm(2), nn.GELU(), nn.CrossEntropyLoss(),
        nn.utils.weight_norm(nn.Linear(2, 2)), nn.utils.spectral_norm(nn.Linear(2, 2)), nn.ModuleDict({"a": nn.Identity()}),
    )
    optimizers = [torch.optim.Adam(model.parameters(), 0.1), torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)]
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizers[0].step()
    kinds = [
        torch.zeros(2, dtype=kind) for kind in (torch.float16, torch.bfloat16, torch.int8, torch.bool, torch.complex64, torch.float64)
    ]
    kinds += [torch.zeros(2, 2).to_sparse(), torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.qint8), torch.zeros(2).t()]
    checkpoint = {
        "model": model.state_dict(), "optimizer": optimizers[0].state_dict(), "epoch": 3, "args": argparse.Namespace(lr=0.1),
        "rng": torch.get_rng_state()[:16], "python_rng": random.Random(1).getstate()[0], "device": torch.device("cpu"), "dtype": torch.float16,
        "functions": [torch.relu, nn.functional.gelu, torch.tanh], "size": torch.Size([1, 2]),
        "scheduler": torch.optim.lr_scheduler.StepLR(optimizers[1], 1).state_dict(),
    }
    for name, value in ("model", model), ("checkpoint", checkpoint), ("tensors", kinds), ("optimizer", optimizers):
        for kind, is_zip in ("zip", True), ("legacy", False):
            if not is_zip:
                # The older format also has the source of each class.
                value = {"model": nn.Linear(2, 2), "tensors": kinds[:6]}.get(name, value)
            file = io.BytesIO()
            torch.save(value, file, _use_new_zipfile_serialization=is_zip)
            write(f"{version}-{name}.{kind}", file.getvalue())
    dump(f"{version}-plain", [model[5], torch.zeros(3), *kinds[:5]], (2, 4))
    partials = [functools.partial(nn.LayerNorm, eps=1e-6), functools.partial(nn.Conv2d, bias=False), functools.partial(nn.GELU)]
    dump(f"{version}-functions", partials, (2, 4))
    # The numbers behind the pickles look like an import, because their count begins with the byte of that opcode: one
    # with lines, and one of which the first line has no end.
    for name, numbers in ("lines", torch.full((99,), 10, dtype=torch.uint8)), ("zeros", torch.zeros(1123)):
        file = io.BytesIO()
        torch.save(numbers, file, _use_new_zipfile_serialization=False)
        write(f"{version}-{name}.legacy", file.getvalue())
    # An archive that somebody has compressed again, and one in another.
    file = io.BytesIO()
    torch.save(checkpoint, file)
    packed, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            new.writestr(zipfile.ZipInfo(entry), old.read(entry), zipfile.ZIP_DEFLATED)
    write(f"{version}-deflated.zip", packed.getvalue())
    with zipfile.ZipFile(outer, "w") as new:
        new.writestr(zipfile.ZipInfo("inner.pt"), packed.getvalue())
        new.writestr(zipfile.ZipInfo("readme.txt"), "what it is")
    write(f"{version}-nested.zip", outer.getvalue())


def of_transformers():
    import torch
    import transformers

    version = f"transformers-{transformers.__version__}"
    configs = [transformers.BertConfig(torch_dtype=torch.float16), transformers.GPT2Config(), transformers.ViTConfig(), transformers.T5Config()]
    dump(f"{version}-configs", [*configs, transformers.GenerationConfig()], (4,))


def of_tensorflow():
    import tensorflow

    version = f"tensorflow-{tensorflow.__version__}"
    shape = tensorflow.TensorShape([1, None])
    specs = [tensorflow.TensorSpec(shape, tensorflow.float32, "x"), tensorflow.RaggedTensorSpec([None, None])]
    dump(f"{version}-values", [tensorflow.bfloat16, shape, *specs, tensorflow.constant([1.0])], (2, 4))


def main():
    for make in of_python, of_numpy, of_pandas, of_torch, of_transformers, of_tensorflow:
        try:
            make()
        except ImportError as error:
            print("left out:", error)


if __name__ == "__main__":
    main()

"""Writes the .pickle files of this folder, and what each one is in expected.txt.

Made by Python's own pickle module (or, where no pickler would write such a
thing, opcode by opcode), with stand-ins for torch and poptorch: the pickles
hold their names, not their code. None of these files does anything but run
`true` when it is loaded; do not load them all the same. To make them again:

    python make_pickles.py        (written with Python 3.11.7)

A line of expected.txt is: file, verdict, the imports that decide it.
"""

import _compat_pickle
import argparse
import builtins
import collections
import contextlib
import copyreg
import datetime
import enum
import functools
import http
import io
import logging
import operator
import os
import pathlib
import pickle
import struct
import sys
import tarfile
import types
import uuid
import zipfile
import zlib
from pathlib import Path

FOLDER = Path(__file__).parent
PROTOCOLS = range(6)
EXPECTED = []


def write(name, data, verdict, *imports):
    (FOLDER / f"{name}.pickle").write_bytes(data)
    EXPECTED.append(" ".join([f"{name}.pickle", verdict, *imports]))


def imported(data):
    """What Python imports before it stops or fails. Nothing of it is run."""
    names = []

    class Asking(pickle.Unpickler):
        def find_class(self, module, name):
            names.append(f"{module}.{name}")
            return list

    with contextlib.suppress(pickle.UnpicklingError, EOFError):
        Asking(io.BytesIO(data)).load()
    return names


UNPICKLERS = [pickle.Unpickler, pickle._Unpickler]
RUN = []
sys.addaudithook(lambda event, _: RUN.append(event) if event == "os.system" else None)


def runs(data, pickles=1):
    """Whether both of Python's unpicklers run `true`, at the latest in the last of the pickles."""
    for unpickler in UNPICKLERS:
        RUN.clear()
        file = io.BytesIO(data)
        with contextlib.suppress(pickle.UnpicklingError, EOFError):
            for _ in range(pickles):
                unpickler(file).load()
        if not RUN:
            return False
    return True


def load_from_bytes(data):
    """As torch's function does it: one pickle after the other."""
    file = io.BytesIO(data)
    while file.tell() < len(data):
        pickle.Unpickler(file).load()


# ---- stand-ins ---------------------------------------------------------------


def module(name, **content):
    made = types.ModuleType(name)
    for key, value in content.items():
        setattr(made, key, value)
        if isinstance(value, (type, types.FunctionType)):
            value.__module__ = name
            value.__qualname__ = key
    sys.modules[name] = made
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, made)
    return made


class Tensor:
    def __init__(self, shape):
        self.shape = shape

    def __reduce_ex__(self, protocol):
        storage = ("storage", sys.modules["torch"].FloatStorage, "0", "cpu", 6)
        hooks = collections.OrderedDict()
        return (sys.modules["torch._utils"]._rebuild_tensor_v2, (storage, 0, self.shape, (3, 1), False, hooks))


class Linear:
    def __init__(self):
        self._parameters = collections.OrderedDict(weight=Tensor((2, 3)))
        self.training = False


class PoptorchData:
    pass


class Options:
    pass


def make_stand_ins():
    module("torch", Tensor=Tensor, FloatStorage=type("FloatStorage", (), {}), Size=type("Size", (tuple,), {}))
    module("torch._utils", _rebuild_tensor_v2=lambda *args: None)
    module("torch.storage", _load_from_bytes=load_from_bytes)
    module("torch.nn")
    module("torch.nn.modules")
    module("torch.nn.modules.linear", Linear=Linear)
    module("poptorch")
    module("poptorch._poptorch_data", PoptorchData=PoptorchData)
    module("poptorch.options", Options=Options)
    module("poptorch.enums", ConnectionType=enum.Enum("ConnectionType", "Always OnDemand Never"))
    sys.modules["poptorch.enums"].ConnectionType.__module__ = "poptorch.enums"


def poptorch_data(version="3.3.0+7857"):
    """What PopTorch pickles beside an executable: the fields of its own class
    in their order, the version not the first."""
    data = PoptorchData()
    data.options = Options()
    data.options._values = {"version": "not this one", "connection_type": 1, "seed": None}
    data.training = False
    data.model = Linear()
    data.version = version
    data._optimizer = None
    data.optimizer_state = None
    data.executable_inputs = [Tensor((2, 3)), 0.5, b"\x00\x01", {1, 2}, frozenset([3])]
    data.random_seed = 42
    data.rng_state = list(range(300))
    return data


class Runs:
    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


# ---- what PopTorch's own files import ----------------------------------------

# As its public source pickles them; each list is complete.
OPTIONS = """poptorch.options.Options poptorch.options._JitOptions poptorch.options._PopartOptions
    poptorch.options._PrecisionOptions poptorch.options._TrainingOptions poptorch.options._DistributedOptions
    poptorch.options._TensorLocationOptions poptorch.options.PipelinedExecution poptorch.options._DefaultStageManager
    poptorch.enums.ReductionType poptorch.enums.MeanReductionStrategy poptorch.enums.AutoStage
    poptorch._args_parser.ArgsParser.Args torch._utils._rebuild_tensor_v2""".split()
OF_VERSION = {
    "2.6": """poptorch.autocasting.Policy poptorch.enums.HalfFloatCastingBehavior torch._C._VariableFunctionsClass
        torch.functional.chain_matmul torch.functional.tensordot torch.nn.modules.conv.Conv2d""".split(),
    "3.2": ["poptorch.enums.CommGroupType"],
    "3.4": ["poptorch.enums.CommGroupType", "poptorch._options_impl.ProgressBar"],
}
TRAINING = """poptorch._impl._restoreWrapperIfNecessary torch.nn.modules.linear.Linear torch._utils._rebuild_parameter
    poptorch.optim.AdamW poptorch.optim.VariableAttributes torch.float32""".split()
# What a model can keep beside its weights.
KEPT = """torch._C._nn.gelu torch.nn.functional.relu torch._C.Generator numpy.random._mt19937.MT19937""".split()


def by_path(path):
    """A stand-in of that module and name, which Python pickles by them."""
    where, name = path, ""
    while where == path or where.rpartition(".")[2][:1].isupper():
        where, _, last = where.rpartition(".")
        name = f"{last}.{name}".strip(".")
    made = type(name, (), {})
    made.__module__, made.__qualname__ = where, name
    parents = where.split(".")
    for depth in range(1, len(parents) + 1):
        if ".".join(parents[:depth]) not in sys.modules:
            module(".".join(parents[:depth]))
    holder = sys.modules[where]
    *outer, last = name.split(".")
    for part in outer:
        if not hasattr(holder, part):
            setattr(holder, part, type(part, (), {}))
        holder = getattr(holder, part)
    if not hasattr(holder, last):
        setattr(holder, last, made)
    return getattr(holder, last)


def poptorch_file(version, *more):
    data = PoptorchData()
    data.version = version
    data.imports = [by_path(path) for path in [*OPTIONS, *OF_VERSION[version], *more]]
    if version == "2.6":
        functions = sys.modules["torch._C"]._VariableFunctionsClass
        functions.addmm = functions.select = None
        data.lists = [Runs(getattr, functions, "addmm"), Runs(getattr, functions, "select")]
    if version == "3.4":
        data.times = [datetime.timedelta(seconds=7), datetime.datetime(2024, 1, 2)]
    data.defaults = collections.defaultdict(dict)
    return data


# ---- opcodes, for what no pickler writes ---------------------------------------


def text(value):
    raw = value.encode()
    return b"\x8c" + struct.pack("<B", len(raw)) + raw


def frame(body):
    return b"\x80\x04\x95" + struct.pack("<Q", len(body)) + body


# What runs is a call that is only recorded.
RECORD = "__import__('sys').audit('os.system')"


def imported_name(module, name):
    return text(module) + text(name) + b"\x93"


def counted(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def attacks():
    """Pickles that run code although they import no name that stands for danger."""
    # The dictionary of a module, copied into a namespace and taken out of it again.
    namespace = b"\x80\x04" + imported_name("argparse", "Namespace") + b")R\x940"
    namespace += imported_name("functools", "update_wrapper") + b"(h\x00" + imported_name("locale", "encodings") + b")"
    namespace += text("__dict__") + b"\x85tR0" + imported_name("copyreg", "_reduce_ex") + b"h\x00K\x00\x86R\x940"
    item = lambda key, of: imported_name("operator", "itemgetter") + key + b"\x85R" + of + b"\x85R"
    namespace += item(b"K\x02", b"h\x01") + b"\x940" + item(text("__builtins__"), b"h\x02") + b"\x940"
    namespace += item(text("exec"), b"h\x03") + text(RECORD) + b"\x85R."
    assert runs(namespace)
    chain = ["functools.update_wrapper", "locale.encodings", "copyreg._reduce_ex", "operator.itemgetter"]
    write("attack-namespace", namespace, "dangerous", "(call of argparse.Namespace)", *chain, "(call of a value)")
    # A function of Python 2's library that follows dots.
    dotted = b"\x80\x02cSimpleXMLRPCServer\nresolve_dotted_attribute\n(clocale\nencodings\n"
    dotted += counted("codecs.builtins.exec") + b"\x88tR(" + counted(RECORD) + b"tR."
    assert runs(dotted)
    write("attack-dotted", dotted, "dangerous", "SimpleXMLRPCServer.resolve_dotted_attribute", "locale.encodings", "(call of a value)")
    # The same in words that text can have, without a mark and without an end.
    bare = dotted[2:-1]
    assert runs(bare)
    write("attack-dotted-bare", pickle.dumps(bare, 4), "dangerous-odd", "SimpleXMLRPCServer.resolve_dotted_attribute", "locale.encodings", "(call of a value)")
    # They write a file and listen, if they are called.
    for module, name in ("dumbdbm", "_Database"), ("SocketServer", "TCPServer"), ("commands", "getoutput"), ("urllib", "urlopen"):
        write(f"attack-{module}", f"c{module}\n{name}\n.".encode(), "dangerous", f"{module}.{name}")
    # The name of a module and its attribute through a harmless one.
    for of, name in ("random", "_os.system"), ("torch", "os"), ("numpy", "f2py"), ("logging", "os.system"):
        write(f"attack-{of}-attribute", b"\x80\x04" + imported_name(of, name) + b".", "dangerous", f"{of}.{name}")
    # A second statement of the protocol: for the names of Python 2, and for those of Python 3.
    back = b"\x80\x04\x80\x02c__builtin__\nreduce\n."
    assert imported(back) == ["__builtin__.reduce"]
    write("attack-protocol-back", back, "dangerous", "__builtin__.reduce")
    # The state of an object is what it is called by.
    logger = b"\x80\x04" + imported_name("logging", "getLogger") + b")R}" + text("handlers") + b"]sb."
    write("attack-logger", logger, "dangerous", "(change of a result of logging.getLogger)")


# ---- pickles whose names are harmless, and that do with them what no pickler does


def called(function, *arguments):
    return function + b"(" + b"".join(arguments) + b"tR"


def listed(*values):
    return b"](" + b"".join(values) + b"e"


def dictionary(**items):
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def new(path):
    return imported_name(*path.rsplit(".", 1)) + b")\x81"


ATTRIBUTE = "(change of an attribute of Python's own)"


def shapes():
    """Attributes that Python looks up by itself, changes of classes and calls of values."""
    namespace, recorded = imported_name("argparse", "Namespace"), imported_name("builtins", "print")
    shape = lambda name, body, *imports: write(f"shape-{name}", b"\x80\x04" + body + b".", "dangerous", *imports)
    shape("state-getattr", new("argparse.Namespace") + dictionary(__getattr__=recorded) + b"b", ATTRIBUTE)
    shape("state-of-two", new("argparse.Namespace") + b"N" + dictionary(__class__=namespace) + b"\x86b", ATTRIBUTE)
    shape("state-first", new("argparse.Namespace") + dictionary(__new__=namespace) + b"N\x86b", ATTRIBUTE)
    shape("state-marked", new("argparse.Namespace") + b"(" + text("__reduce__") + recorded + b"db", ATTRIBUTE)
    # The key comes from a call, or the dictionary does.
    key = called(imported_name("builtins", "str"), b"C\x09__class__" + text("ascii"))
    shape("state-computed", new("argparse.Namespace") + b"}" + key + namespace + b"sb", ATTRIBUTE)
    made = called(imported_name("builtins", "dict"), listed(text("__class__") + namespace + b"\x86"))
    shape("state-called", new("argparse.Namespace") + made + b"b", ATTRIBUTE)
    shape("state-called-two", new("argparse.Namespace") + b"N" + made + b"\x86b", ATTRIBUTE)
    # The dictionary is changed where it cannot be seen that it is a state.
    item = text("__class__") + namespace + b"s"
    shape("state-through-memo", b"}q\x000" + new("argparse.Namespace") + b"h\x00" + item + b"0}b", ATTRIBUTE)
    shape("state-from-memo", b"}q\x00" + item + b"0" + new("argparse.Namespace") + b"h\x00b", ATTRIBUTE)
    shape("state-pair-from-memo", b"}q\x00" + item + b"0" + new("argparse.Namespace") + b"Nh\x00\x86b", ATTRIBUTE)
    shape("state-changed-later", b"}q\x000" + new("argparse.Namespace") + b"h\x00b0}q\x01" + item, ATTRIBUTE)
    container = "torch.nn.modules.container.ParameterDict"
    shape("item", new(container) + item, ATTRIBUTE, f"(call of {container})")
    shape("item-of-class", new("argparse.Namespace") + item, ATTRIBUTE, "(call of argparse.Namespace)")
    # What a function returns may be what it was given.
    largest = imported_name("builtins", "max")
    of_list = lambda value: called(largest, listed(value))
    shape("max", of_list(b"K\x01"), "(call of builtins.max)")
    shape("max-change", of_list(namespace) + b"}b", "(call of builtins.max)", "(change of a value)")
    shape("function-change", called(imported_name("math", "sqrt"), b"K\x01") + b"}b", "(call of math.sqrt)", "(change of a value)")
    shape("value-change", b"]}b", "(change of a value)")
    # What is called is no import.
    value = called(imported_name("builtins", "list"), b"K\x01\x85")
    shape("value-call", called(value), "(call of a value)")
    shape("value-new", value + b")\x81", "(call of a value)")
    shape("value-new-names", value + b")}\x92", "(call of a value)")
    shape("value-object", b"(" + value + b"o", "(call of a value)")
    shape("new-names", called(imported_name("copyreg", "__newobj_ex__"), value, b")", b"}"), "copyreg.__newobj_ex__")
    shape("new", called(imported_name("copyreg", "__newobj__"), value), "copyreg.__newobj__")
    shape("arguments", imported_name("collections", "defaultdict") + value + b"R", "(call of collections.defaultdict)")
    # Classes that call or look up what they are given, and a function that calls it.
    scheduler = "torch.optim.lr_scheduler.LambdaLR"
    shape("class-call", called(imported_name(*scheduler.rsplit(".", 1)), b"N"), f"(call of {scheduler})")
    shape("class-inst", f"(Nitorch.optim.lr_scheduler\nLambdaLR\n".encode(), f"(call of {scheduler})")
    base = imported_name("copyreg", "_reconstructor"), namespace, imported_name(*scheduler.rsplit(".", 1)), b"N"
    shape("reconstruct-base", called(*base), "(call of copyreg._reconstructor)")
    index = b"cpandas.core.indexes.base\n_new_Index\n(cbuiltins\nlist\n}tR"
    shape("index", index, "(call of pandas.core.indexes.base._new_Index)")
    shape("type", called(imported_name("builtins", "type"), text("N"), b")", b"}"), "builtins.type")
    shape("type-call", called(imported_name("builtins", "type"), b"N") + b")R", "(call of a value)")
    write("shape-type-of-none", b"\x80\x04" + called(imported_name("builtins", "type"), b"N") + b".", "ordinary")
    shape("views", called(imported_name("collections.abc", "ValuesView"), b"}"), "(call of collections.abc.ValuesView)")
    rebuild = imported_name("torch._tensor", "_rebuild_from_type_v2")
    tensor = imported_name("torch", "Tensor")
    shape("rebuild", called(rebuild, recorded, tensor, b")", b"}"), "(call of torch._tensor._rebuild_from_type_v2)")
    real = imported_name("torch._utils", "_rebuild_tensor_v2")
    reserved = dictionary(__class__=namespace)
    shape("rebuild-state", called(rebuild, real, tensor, b")", reserved), "(call of torch._tensor._rebuild_from_type_v2)")
    # Whole attacks. The second needs no package but torch.
    first = lambda holder: called(largest, holder)
    bert = dictionary(__new__=imported_name("transformers.models.bert.configuration_bert", "BertConfig"))
    made = called(imported_name("copyreg", "__newobj_ex__"), new("argparse.Namespace") + bert + b"b", b")", dictionary(torch_dtype=text("__builtins__")))
    container = imported_name("torch.nn.modules.container", "ParameterDict")
    looked_up = made + dictionary(_keys=dictionary(torch_dtype=b"N")) + dictionary(__class__=container) + b"\x86b"
    everything = first(called(imported_name("collections.abc", "ValuesView"), looked_up))
    run = first(called(imported_name("torch.utils.data.dataset", "Subset"), everything, listed(text("exec"))))
    denied = ["(call of collections.abc.ValuesView)", "(call of builtins.max)"]
    shape("configuration", called(run, text(RECORD)), "torch.utils.data.dataset.Subset", "copyreg.__newobj_ex__", ATTRIBUTE, "(change of a result of copyreg.__newobj_ex__)", *denied, "(call of a value)")
    # Pandas calls a key that is a function, and torch's function calls a method of its argument.
    series = called(imported_name("pandas", "Series"), b"]")
    shape("item-function", series + recorded + b"K\x01s", "(call of pandas.Series)")
    shape("appended", new("torch.nn.modules.container.ModuleList") + b"Na", "(call of torch.nn.modules.container.ModuleList)")
    for name, attribute, items in ("append", "append", text("x") + b"a"), ("extend", "extend", b"(" + text("x") + b"e"), ("add", "add", b"(" + text("x") + b"\x90"):
        body = new("argparse.Namespace") + dictionary(**{attribute: recorded}) + b"b" + items
        for unpickler in UNPICKLERS:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                unpickler(io.BytesIO(b"\x80\x04" + body + b".")).load()
            assert "x" in printed.getvalue()
        shape(f"method-{name}", body, "(call of argparse.Namespace)")
    softmax = "torch.nn.functional.softmax"
    shape("method-call", called(imported_name(*softmax.rsplit(".", 1)), b"N", b"N"), f"(call of {softmax})")
    # What functions return as a state, which they may have been given.
    wrapped = called(imported_name("poptorch._impl", "_restoreWrapperIfNecessary"), b"N" + dictionary(__class__=namespace) + b"0")
    shape("state-returned", new("argparse.Namespace") + wrapped + b"b", ATTRIBUTE)
    inner = b"\x80\x04" + dictionary(__class__=namespace) + b"."
    loaded = called(imported_name("torch.storage", "_load_from_bytes"), b"C" + bytes([len(inner)]) + inner)
    shape("state-loaded", new("argparse.Namespace") + b"N" + loaded + b"\x86b", ATTRIBUTE)
    # The unpickler that is written in Python calls the method `items` of a state.
    pairs = called(imported_name("functools", "partial"), imported_name("builtins", "list"))
    pairs += b"(" + imported_name("builtins", "list") + listed(text("__class__") + imported_name("poptorch.options", "Options") + b"\x86") + b"\x85}Ntb"
    state = new("argparse.Namespace") + dictionary(items=pairs) + b"b"
    changed = new("argparse.Namespace") + b"N" + state + b"\x86b"
    assert type(pickle._Unpickler(io.BytesIO(b"\x80\x04" + changed + b".")).load()) is Options
    shape("state-items", changed, ATTRIBUTE)
    # What an unknown function returned may be shared. An object of an unknown class is the pickle's own.
    made = imported_name("mymodel", "make")
    for name, body in ("called", made + b")R"), ("instance", b"(imymodel\nmake\n"), ("object", b"(" + made + b"o"):
        body = b"\x80\x04" + body + dictionary(a=b"N") + b"b."
        write(f"shape-result-{name}", body, "unknown", "mymodel.make", "(change of a result of mymodel.make)")
    write("shape-result-new", b"\x80\x04" + new("mymodel.net") + dictionary(a=b"N") + b"b.", "unknown", "mymodel.net")
    # A kept note on an exception is none, nor is a key of a dictionary that is no state.
    noted = imported_name("builtins", "ValueError") + b")R" + dictionary(__notes__=listed(text("a"))) + b"b"
    write("shape-note", b"\x80\x04" + noted + b".", "ordinary")
    versioned = new("argparse.Namespace") + dictionary(__version__=text("1")) + b"b"
    write("shape-own-version", b"\x80\x04" + versioned + b".", "ordinary")
    plain = b"}q\x00" + text("__name__") + b"K\x01s0h\x00h\x00\x86"
    write("shape-plain-key", b"\x80\x04" + plain + b".", "ordinary")


def prints(data):
    """Whether both unpicklers print. The values of some pickles are for packages that are not here."""
    for unpickler in UNPICKLERS:
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(Exception):
            unpickler(io.BytesIO(data)).load()
        if not printed.getvalue():
            return False
    return True


def owned():
    """Changes of what a call returned, keys that a call returned, and functions that call what they are given."""
    by_path = lambda path: imported_name(*path.rsplit(".", 1))
    call = lambda path, *arguments: called(by_path(path), *arguments)
    printing, namespace, record = by_path("builtins.print"), new("argparse.Namespace"), by_path("logging.LogRecord")
    both = lambda state: b"N" + state + b"\x86b"
    a_class = text("__class__") + record

    def own(name, body, *imports, verdict="dangerous", prints_too=False):
        data = b"\x80\x04" + body + b"."
        assert not prints_too or prints(data), name
        write(f"own-{name}", data, verdict, *imports)

    # The first runs code with NumPy 2.4.6 and pandas 3.1.1, in both unpicklers.
    given = lambda value: call("numpy.object_", value)
    changed = lambda of, key, value: given(by_path(of)) + both(b"}" + given(text(key)) + value + b"s") + b"0"
    pair = lambda *items: b"}(" + b"".join(items) + b"u"
    words = call("collections.UserString", text("@__builtins__.get('exec').__self__.exec(%r)" % RECORD)) + b"q\x010"
    lists = pair(text("_metadata"), text("eval") + b"\x85", text("_get_index_resolvers"), by_path("builtins.dict"), text("_get_cleaned_column_resolvers"), by_path("builtins.dict"))
    kind = by_path("pandas.BooleanDtype") + b")\x81"
    chain = words + kind + lists + b"bq\x020" + kind + pair(text("eval"), b"h\x01") + b"bq\x030"
    chain += changed("collections.UserString", "__eq__", by_path("numpy.random._pickle.__generator_ctor"))
    chain += changed("pandas.BooleanDtype", "__hash__", by_path("builtins.int"))
    chain += changed("pandas.BooleanDtype", "__bases__", by_path("pandas.Int64Dtype") + by_path("pandas.DataFrame") + b"\x86")
    own("chain", chain + b"}(h\x02Nh\x03Nu", "(call of collections.UserString)", "numpy.random._pickle.__generator_ctor", ATTRIBUTE, "(change of a result of numpy.object_)", "(call of pandas.BooleanDtype)")
    lazy = by_path("itertools.accumulate") + listed(text("a"), text("b")) + printing + b"\x86\x81"
    own("accumulate", call("builtins.list", lazy), "(call of itertools.accumulate)", prints_too=True)
    # What a call returns may be its argument, or shared by the whole process.
    own("argument", call("numpy.object_", record) + both(dictionary(getMessage=printing)), "(change of a result of numpy.object_)")
    status = call("http.HTTPStatus", b"K\xc8") + both(dictionary(phrase=text("changed")))
    for unpickler in UNPICKLERS:
        phrase = vars(http.HTTPStatus.OK)["phrase"]
        assert unpickler(io.BytesIO(b"\x80\x04" + status + b".")).load() is http.HTTPStatus.OK and http.HTTPStatus.OK.phrase == "changed"
        http.HTTPStatus.OK.phrase = phrase
    own("enum", status, "(change of a result of http.HTTPStatus)")
    made = by_path("http.HTTPStatus") + b"K\xc8\x85\x81" + both(dictionary(phrase=text("changed")))
    own("enum-new", made, "(call of http.HTTPStatus)", "(change of a result of http.HTTPStatus)")
    for name, path, argument in (
        ("signal", "signal.Signals", b"K\x02"), ("flag", "re.RegexFlag", b"K\x02"), ("uuid", "uuid.SafeUUID", b"K\x00"),
        ("zone", "zoneinfo.ZoneInfo", text("UTC")), ("pattern", "re._compile", text("a")), ("type", "pandas.PeriodDtype", text("D")),
        ("number", "numpy.dtypes.Float64DType", b""),
        ("option", "poptorch.enums.ConnectionType", b"K\x01"), ("tensor", "torch._utils._rebuild_tensor_v2", b"N"),
        ("missing", "pandas._libs.missing.NAType", b""),
    ):
        own(f"shared-{name}", call(path, argument) + dictionary(a=b"N") + b"b", f"(change of a result of {path})")
    own("fresh", call("types.SimpleNamespace") + dictionary(a=b"N") + b"b" + call("inspect.Parameter", text("a"), b"K\x01") + dictionary(_default=b"N") + b"b\x86", verdict="ordinary")
    # A key that a call returns can be any text.
    hidden = call("_codecs.encode", text("__pynff__"), text("rot13"))
    own("key-recoded", namespace + both(b"}" + hidden + record + b"s"), ATTRIBUTE)
    for unpickler in UNPICKLERS:
        assert isinstance(unpickler(io.BytesIO(b"\x80\x04" + namespace + both(b"}" + hidden + record + b"s") + b".")).load(), logging.LogRecord)
    for name, key in ("given", given(text("__class__"))), ("user", new("collections.UserString")), ("made", call("mymodel.make")):
        own(f"key-{name}", namespace + b"}" + key + record + b"sb", ATTRIBUTE)
    own("key-of-two", namespace + both(b"(" + text("a") + b"N" + hidden + record + b"d"), ATTRIBUTE)
    own("key-item", new("mymodel.Registry") + hidden + record + b"s", ATTRIBUTE)
    date = call("datetime.date", b"K\x01", b"K\x01", b"K\x01")
    own("key-plain", new("mymodel.Registry") + date + b"Ns" + call("mymodel.Kind", b"K\x01") + b"Ns" + b"}" + date + b"Nsb", "mymodel.Registry", "mymodel.Kind", verdict="unknown")
    own("state-given", namespace + both(given(b"}" + a_class + b"s")), ATTRIBUTE)
    backed = call("pandas._libs.arrays.__pyx_unpickle_NDArrayBacked", by_path("pandas.arrays.StringArray"), b"K\x00", b"N")
    for name, part in ("three", b"}" + a_class + b"s"), ("three-given", given(b"}" + a_class + b"s")), ("three-deep", b"}" + hidden + record + b"s\x85"):
        own(f"state-{name}", backed + b"NN" + part + b"\x87b", ATTRIBUTE)
    own("state-plain", new("mymodel.Net") + call("builtins.set", listed(b"K\x01")) + b"b" + new("mymodel.Net") + call("torch._utils._rebuild_tensor_v2", b"N") + date + b"\x86b\x86", "mymodel.Net", verdict="unknown")
    # Functions of NumPy and torch that call what they are given, or set its attributes.
    random = "numpy.random._pickle."
    maker, twister = by_path(random + "__bit_generator_ctor"), by_path("numpy.random._mt19937.MT19937")
    for name in "__generator_ctor", "__randomstate_ctor":
        for number, arguments in enumerate(((text("a"), printing), (maker, maker), (twister, printing), (text("a"), called(maker, twister)))):
            kept = [random + "__bit_generator_ctor"] * (arguments == (maker, maker))
            own(f"maker-{name.split('_')[2]}-{number}", call(random + name, *arguments), *kept, f"(call of {random}{name})")
    own("maker-of-class", called(maker, by_path("torch.optim.lr_scheduler.LambdaLR")), f"(call of {random}__bit_generator_ctor)")
    own("maker-instance", b"(" + text("a") + printing + f"i{random[:-1]}\n__generator_ctor\n".encode(), random + "__generator_ctor", f"(call of {random}__generator_ctor)")
    kinds = text("MT19937") + b"\x85", text("MT19937") + maker + b"\x86", called(maker, twister) + b"}b" + b"\x85", called(maker, twister) + maker + b"\x86"
    own("maker-plain", listed(*(by_path(random + "__randomstate_ctor") + kind + b"R}b" for kind in kinds)), verdict="ordinary")
    parameter = "torch._utils._rebuild_parameter_with_state"
    tensor = call("torch._utils._rebuild_tensor_v2", b"N")
    own("parameter", call(parameter, tensor, b"\x88", call("collections.OrderedDict"), dictionary(a=b"N")), verdict="ordinary")
    own("parameter-class", call(parameter, tensor, b"\x88", b"N", b"}" + a_class + b"s"), f"(call of {parameter})")
    # Other opcodes that call, and `__new__` with arguments.
    own("index-instance", b"(" + by_path("argparse.Namespace") + b"}ipandas.core.indexes.base\n_new_Index\n", "pandas.core.indexes.base._new_Index", "(call of pandas.core.indexes.base._new_Index)")
    own("new-arguments", by_path("pandas.DataFrame") + b"N\x85\x81", "(call of pandas.DataFrame)")
    own("new-names", by_path("pandas.DataFrame") + b")}\x92", "(call of pandas.DataFrame)")
    own("new-text", by_path("collections.UserString") + text("a") + b"\x85\x81" + dictionary(data=text("a")) + b"b", verdict="ordinary")
    own("new-text-made", by_path("collections.UserString") + namespace + b"\x85\x81", "(call of collections.UserString)")
    own("call-made", call("pandas.DataFrame", b"N"), "(call of pandas.DataFrame)")


def kept():
    """Objects that call when they are called: partial and itemgetter, used as picklers use them and otherwise."""
    partial, getter = imported_name("functools", "partial"), imported_name("operator", "itemgetter")
    system, a_list = imported_name("posix", "system"), imported_name("builtins", "list")
    state = lambda function, arguments=b")", keywords=b"}": b"(" + function + arguments + keywords + b"Ntb"
    of_list = called(partial, a_list)

    def keep(name, body, verdict, *imports, run=False):
        data = b"\x80\x04" + body + b"."
        assert not run or runs(data), name
        write(f"kept-{name}", data, verdict, *imports)

    keep("partial", of_list + state(a_list, b"]\x85"), "ordinary")
    keep("partial-unknown", called(partial, imported_name("mymodel", "f")) + state(imported_name("mymodel", "f")), "unknown", "mymodel.f")
    keep("partial-called", called(partial, system) + state(system, text("true") + b"\x85") + b")R", "dangerous", "functools.partial", "posix.system", "(call of a value)", run=True)
    # The state takes the place of the function that was looked at.
    replaced = of_list + state(system, text("true") + b"\x85")
    keep("partial-replaced", replaced, "dangerous", "functools.partial", "posix.system")
    keep("partial-replaced-called", replaced + b")R", "dangerous", "functools.partial", "posix.system", "(call of a value)", run=True)
    keep("partial-replaced-twice", of_list + state(a_list) + state(system, text("true") + b"\x85") + b")R", "dangerous", "functools.partial", "posix.system", "(call of a value)", run=True)
    again = of_list + b"\x940h\x00" + state(system, text("true") + b"\x85") + b"0h\x00)R"
    keep("partial-replaced-by-memo", again, "dangerous", "functools.partial", "posix.system", "(call of a value)", run=True)
    # Calls of a partial whose function was never named dangerous.
    executed = called(partial, imported_name("builtins", "getattr")) + state(imported_name("builtins", "getattr"))
    keep("partial-getattr", executed, "dangerous", "functools.partial", "builtins.getattr")
    keep("partial-getter", called(partial, getter) + state(getter), "dangerous", "functools.partial", "operator.itemgetter")
    keep("partial-partial", called(partial, partial), "dangerous", "functools.partial")
    keep("partial-named", called(partial, imported_name("builtins", "max")), "dangerous", "functools.partial")
    keep("partial-attributes", of_list + b"(" + a_list + b")}" + dictionary(a=b"N") + b"tb", "dangerous", "functools.partial")
    keep("partial-of-class", called(partial, imported_name("torch.nn.modules.normalization", "LayerNorm")), "ordinary")
    keep("partial-of-container", called(partial, imported_name("torch.nn.modules.container", "Sequential")), "dangerous", "functools.partial")
    # Other opcodes that make an object, and other ways to the class.
    for name, body in (
        ("new", partial + a_list + b"\x85\x81"),
        ("new-names", partial + a_list + b"\x85}\x92"),
        ("object", b"(" + partial + a_list + b"o"),
        ("instance", b"(" + a_list + b"ifunctools\npartial\n"),
        ("reconstructed", called(imported_name("copyreg", "_reconstructor"), partial, imported_name("builtins", "object"), b"N")),
        ("listed", listed(partial)),
        ("alias", imported_name("_functools", "partial")),
    ):
        keep(f"partial-{name}", body, "dangerous", "_functools.partial" if name == "alias" else "functools.partial")
    keep("partial-persistent", called(partial, a_list) + b"0" + partial + b"Q", "dangerous", "functools.partial")
    keep("getter", called(getter, text("a")), "ordinary")
    keep("getter-of-two", called(getter, text("a"), b"K\x01"), "ordinary")
    keep("getter-named", getter, "dangerous", "operator.itemgetter")
    keep("getter-reserved", called(getter, text("__class__")), "dangerous", "operator.itemgetter")
    keep("getter-reserved-second", called(getter, b"N", text("__dict__")), "dangerous", "operator.itemgetter")
    keep("getter-of-function", called(getter, a_list), "dangerous", "operator.itemgetter")
    keep("getter-called", called(getter, b"K\x00") + listed(b"N") + b"\x85R", "dangerous", "(call of a value)")
    keep("getter-changed", called(getter, b"K\x00") + b"}b", "dangerous", "(change of a result of operator.itemgetter)")
    keep("attrgetter", called(imported_name("operator", "attrgetter"), text("a")), "dangerous", "operator.attrgetter")
    keep("groupby-called", called(imported_name("itertools", "groupby"), b"]"), "dangerous", "(call of itertools.groupby)")
    keep("count", called(imported_name("itertools", "count"), b"K\x01"), "ordinary")


def passed_on():
    """Items that a dictionary passes on to another object, and keys that are changed when they are keys already. With
    pandas 3.1.1, the first five call what they are given."""
    by_path = lambda path: imported_name(*path.rsplit(".", 1))
    printing, maker, item = by_path("builtins.print"), by_path("numpy.random._pickle.__generator_ctor"), text("k") + b"K\x01s"
    series = new("pandas.Series") + dictionary(_typ=text("series"), _set_with_engine=printing) + b"b"
    weak = lambda path: new(path) + dictionary(_pending_removals=b"]", _remove=printing, data=b"}") + b"b" + item
    kind, pandas = by_path("pandas.BooleanDtype") + b")\x81", "pandas.BooleanDtype"
    changed = b"}" + text("_metadata") + text("a") + b"\x85sb"
    for name, body, *imports in (
        ("chain", called(by_path("collections.ChainMap"), series) + item, "(call of collections.ChainMap)"),
        ("user", new("collections.UserDict") + dictionary(data=series) + b"b" + item, "(call of collections.UserDict)"),
        ("weak-values", weak("weakref.WeakValueDictionary"), "(change of weakref.WeakValueDictionary)", "(call of weakref.WeakValueDictionary)"),
        ("weak-keys", weak("weakref.WeakKeyDictionary"), "(change of weakref.WeakKeyDictionary)", "(call of weakref.WeakKeyDictionary)"),
        ("key-changed", kind + b"}b\x94" + b"0\x8f(h\x00\x90h\x00" + changed, f"(call of {pandas})", f"(change of {pandas})"),
        ("key-later", b"(" + kind + b"}b\x94t0h\x00" + changed, f"(change of {pandas})"),
        ("key-of-dict", b"}" + kind + b"}bNs", f"(call of {pandas})"),
        ("key-of-marked", b"(" + kind + b"}bNd", f"(call of {pandas})"),
        ("key-of-frozen", b"(" + kind + b"}b\x91", f"(call of {pandas})"),
        ("weak-arguments", called(by_path("weakref.WeakKeyDictionary"), b"}"), "(call of weakref.WeakKeyDictionary)"),
        ("weak-instance", b"(}iweakref\nWeakKeyDictionary\n", "(call of weakref.WeakKeyDictionary)"),
        ("maker", new("types.SimpleNamespace") + dictionary(a=maker) + b"b", "numpy.random._pickle.__generator_ctor"),
        ("maker-listed", listed(by_path("numpy.random._pickle.__bit_generator_ctor")), "numpy.random._pickle.__bit_generator_ctor"),
        ("maker-argument", called(by_path("builtins.list"), maker), "numpy.random._pickle.__generator_ctor"),
        ("maker-loaded", listed(called(by_path("torch.storage._load_from_bytes"), b"C" + bytes([len(maker) + 3]) + b"\x80\x04" + maker + b".")), "numpy.random._pickle.__generator_ctor"),
        ("rebuild", listed(by_path("torch._tensor._rebuild_from_type_v2")), "torch._tensor._rebuild_from_type_v2"),
        ("index", listed(by_path("pandas.core.indexes.base._new_Index")), "pandas.core.indexes.base._new_Index"),
    ):
        write(f"passed-{name}", b"\x80\x04" + body + b".", "dangerous", *imports)
    honest = new("collections.ChainMap") + dictionary(maps=listed(b"}")) + b"b" + new("weakref.WeakKeyDictionary") + b"\x86"
    write("passed-nothing", b"\x80\x04" + honest + b".", "ordinary")


def endless():
    """Loads that never end, because something reads all that an iterator gives. Kept as a value, it does no harm."""
    by_path = lambda path: imported_name(*path.rsplit(".", 1))
    call = lambda path, *arguments: called(by_path(path), *arguments)
    count, counted = call("itertools.count"), "(loop over itertools.count)"
    for name, body, imports in (
        ("list", call("builtins.list", count), [counted]),
        ("repeat", call("collections.deque", call("itertools.repeat", b"N")), ["(loop over itertools.repeat)"]),
        ("range", call("builtins.tuple", call("builtins.range", b"J\xff\xff\xff\x7f")), ["(loop over builtins.range)"]),
        ("new", call("builtins.dict", by_path("itertools.count") + b")\x81"), [counted]),
        ("again", count + b"\x940" + call("builtins.frozenset", b"h\x00"), [counted]),
        ("object", b"(" + by_path("builtins.set") + count + b"o", [counted]),
        ("instance", b"(" + count + b"ibuiltins\nset\n", [counted]),
        ("reconstructor", call("copyreg._reconstructor", by_path("builtins.list"), by_path("builtins.list"), count), [counted, "(call of copyreg._reconstructor)"]),
        ("state", call("random.Random") + b"(K\x03" + count + b"Ntb", [counted]),
        ("sum", call("builtins.sum", count), [counted, "(call of builtins.sum)"]),
        ("product", call("itertools.product", count), [counted]),
        ("cycle", call("builtins.list", call("itertools.cycle", listed(b"N"))), ["(call of itertools.cycle)"]),
        ("kept", listed(count, call("builtins.ValueError", count), call("itertools.repeat", count), dictionary(a=count), count + b"\x85"), []),
        ("partial", call("functools.partial", by_path("builtins.list")) + b"(" + by_path("builtins.list") + count + b"\x85}Ntb", []),
    ):
        write(f"endless-{name}", b"\x80\x04" + body + b".", "dangerous" if imports else "ordinary", *imports)


def types_of_numpy():
    """States that make NumPy's types lie about sizes, offsets and pointers. NumPy 2.4.6 then reads and writes elsewhere."""
    kind = lambda spelt: called(imported_name("numpy", "dtype"), text(spelt), b"\x89", b"\x88")
    number = lambda value: b"J" + struct.pack("<i", value)
    state = lambda sub, names, fields, size, flags, order="|": b"(K\x03" + text(order) + sub + names + fields + number(size) + number(min(size, 1)) + number(flags) + b"tb"
    plain = lambda size, flags, order="|": state(b"N", b"N", b"N", size, flags, order)
    objects, numbers = kind("O8") + plain(-1, 63), kind("f8") + plain(-1, 0, "<")
    fields = lambda of, at: b"}" + text("a") + of + number(at) + b"\x86s"
    with_fields = lambda of, at, flags, size=8: state(b"N", text("a") + b"\x85", fields(of, at), size, flags)
    texts = lambda names: b"(" + b"".join(map(text, names)) + b"t"
    placed = lambda name, of, at: text(name) + of + number(at) + b"\x86"
    names = lambda *all, of=None, size=8, flags=16: state(b"N", texts([name for name, *_ in all] if of is None else of), b"}(" + b"".join(placed(*each) for each in all) + b"u", size, flags)
    two_names = lambda first, second: state(b"N", first + text("b") + b"\x86", b"}(" + second + objects + number(0) + b"\x86" + placed("b", numbers, 8) + b"u", 16, 27)
    times_of = lambda count: b"(K\x04" + text("<") + b"NNN" + number(-1) * 2 + b"K\x00N" + b"(C\x01D" + count + b"K\x01K\x01t\x86tb"
    again = lambda fields, size=8: kind(f"V{size}") + state(b"N", text("a") + b"\x85", fields, size, 16)
    shared = again(b"}\x94" + text("a") + numbers + b"K\x00\x86s")
    change = "(change of {})"
    times = lambda of, count: of + b"K" + bytes([count]) + b"\x85\x86"
    # NumPy takes as many objects out of the list as the shape says.
    made = called(imported_name("numpy._core.multiarray", "_reconstruct"), imported_name("numpy", "ndarray"), b"K\x00\x85", b"C\x01b")
    array = lambda values: made + b"(K\x01K\x02\x85" + objects + b"\x89" + values + b"tb"
    for name, body, verdict in (
        ("honest", kind("V8") + with_fields(objects, 0, 27) + kind("V16") + state(times(objects, 2), b"N", b"N", 16, 63) + b"\x86", "ordinary"),
        ("pointers", kind("V8") + with_fields(objects, 0, 0), "dangerous"),
        ("pointers-of-sub", kind("V8") + state(times(objects, 1), b"N", b"N", 8, 0), "dangerous"),
        ("far", kind("V8") + with_fields(numbers, 64, 16), "dangerous"),
        ("before", kind("V8") + with_fields(numbers, -8, 16), "dangerous"),
        ("long-sub", kind("V8") + state(times(numbers, 9), b"N", b"N", 8, 0), "dangerous"),
        ("size", kind("V8") + with_fields(numbers, 64, 16, 80), "dangerous"),
        ("text-size", kind("S8") + plain(800, 0), "dangerous"),
        ("no-pointers", kind("O8") + plain(-1, 0), "dangerous"),
        ("number-pointers", kind("f8") + plain(-1, 63, "<"), "dangerous"),
        ("twice", numbers + plain(-1, 0, "<"), "dangerous"),
        ("order", kind("O8") + plain(-1, 63, ">"), "dangerous"),
        ("alignment", (kind("V8") + plain(8, 0)).replace(number(1), number(0)), "dangerous"),
        # Python takes a line that begins with a zero for an octal number.
        ("octal-offset", (kind("V48") + names(("a", objects, 32), ("b", numbers, 40), size=48, flags=27)).replace(number(40), b"I040\n"), "dangerous"),
        ("octal-flags", (kind("V8") + with_fields(objects, 0, 27)).replace(number(27), b"I027\n"), "dangerous"),
        ("line", (kind("V8") + with_fields(objects, 0, 27)).replace(number(27), b"I27\n"), "ordinary"),
        # One text for whoever takes lone surrogates for unknown characters, or does not choose the same encoding as the program.
        ("name-surrogate", kind("V16") + two_names(b"\x8c\x03\xed\xa0\x80", b"\x8c\x03\xed\xa0\x81"), "dangerous"),
        ("name-of-python-2", kind("V16") + two_names(text("\xe9"), b"U\x02\xc3\xa9"), "dangerous"),
        ("unit", kind("M8") + times_of(b"K\x07"), "ordinary"),
        ("unit-zero", kind("M8") + times_of(b"K\x00"), "dangerous"),
        ("unit-missing", kind("M8") + plain(-1, 0, "<"), "dangerous"),
        # Whoever has the type already does not know of its fields.
        ("later", kind("V8") + b"\x94h\x00" + with_fields(objects, 0, 27), "dangerous"),
        ("field-later", kind("V8") + b"\x94" + with_fields(kind("V4") + b"\x94" + plain(4, 0), 0, 16) + b"0h\x01" + plain(8, 0), "dangerous"),
        # A view of an array has a type of its own, with the same fields.
        ("fields-again", shared + again(b"h\x00"), "ordinary"),
        ("array", array(b"](NNe"), "ordinary"),
        ("array-listed", array(b"(NNl"), "ordinary"),
        ("array-short", array(b"]Na"), "dangerous"),
        ("array-cut", b"](NNe\x940" + array(b"h\x00"), "dangerous"),
        ("array-called", array(called(imported_name("builtins", "list"), b"]")), "dangerous"),
        ("array-more", array(b"](NNNe"), "dangerous"),
        ("array-bytes", array(b"C\x10" + bytes(16)), "dangerous"),
        ("array-of-sub", made + b"(K\x01K\x02\x85" + kind("V8") + state(times(numbers, 1), b"N", b"N", 8, 0) + b"\x89C\x10" + bytes(16) + b"tb", "dangerous"),
        ("array-twice", array(b"](NNe") + b"(K\x01K\x02\x85" + objects + b"\x89](NNetb", "dangerous"),
        ("array-again", array(b"](NNe") + b"\x940h\x00(K\x01K\x02\x85" + objects + b"\x89](NNetb", "dangerous"),
        # Objects of an array lead back to it.
        ("array-cycle", made + b"\x94(K\x01K\x02\x85" + objects + b"\x89](Nh\x00\x85etb", "ordinary"),
        # A number and a pointer in one place, and names that are no fields or two of one.
        ("overlap", kind("V8") + names(("a", objects, 0), ("b", numbers, 0), flags=27), "dangerous"),
        ("overlap-of-sub", kind("V16") + names(("a", times(kind("O8") + plain(-1, 63), 2), 0), ("b", numbers, 8), size=16, flags=27), "dangerous"),
        ("overlap-numbers", kind("V8") + names(("a", numbers, 0), ("b", numbers, 0)), "ordinary"),
        ("view", kind("V16") + names(("a", numbers, 0), size=16, flags=27), "ordinary"),
        ("no-zeros", kind("V8") + with_fields(objects, 0, 19), "dangerous"),
        ("name-missing", kind("V8") + names(("a", objects, 0), of=("a", "b"), flags=27), "dangerous"),
        ("name-of-none", kind("V8") + names(("a", objects, 0), of=("b",), flags=27), "dangerous"),
        ("name-twice", kind("V16") + names(("a", objects, 0), ("a", objects, 8), of=("a", "a"), size=16, flags=27), "dangerous"),
        ("names-more", kind("V16") + names(("a", objects, 0), ("b", objects, 8), of=("a",), size=16, flags=27), "dangerous"),
        ("names-none", kind("V8") + names(("a", objects, 0), of=(), flags=27), "dangerous"),
        ("names-other-order", kind("V16") + names(("a", numbers, 0), ("b", numbers, 8), of=("b", "a"), size=16), "ordinary"),
    ):
        write(f"type-{name}", b"\x80\x04" + body + b".", verdict, *[change.format("numpy._core.multiarray._reconstruct" if "array" in name else "numpy.dtype")] * (verdict == "dangerous"))
    # Fields that change when a type has them.
    for name, body in (
        ("fields-later", kind("V8") + state(b"N", text("a") + b"\x85", b"}\x94" + text("a") + numbers + b"K\x00\x86s", 8, 16) + b"0h\x00" + text("a") + numbers + b"K\x40\x86s"),
        ("fields-again-later", shared + again(b"h\x00") + b"0h\x00" + text("a") + numbers + b"K\x40\x86s"),
    ):
        write(f"type-{name}", b"\x80\x04" + body + b".", "dangerous", "(change of a value)")
    # A dictionary through the memo is also a state that may be changed.
    for name, body in (
        ("far", shared + again(b"h\x00", 4)),
        ("open", again(b"}\x94" + text("a") + again(b"h\x00") + b"K\x00\x86s")),
    ):
        write(f"type-fields-again-{name}", b"\x80\x04" + body + b".", "dangerous", ATTRIBUTE, change.format("numpy.dtype"))
    # A second name of a field. One that is none of its titles is a field of its own.
    field = lambda title: objects + b"K\x00" + text(title) + b"\x87\x94"
    for name, both, verdict in (
        ("title", text("a") + field("b") + text("b") + b"h\x00", "ordinary"),
        ("title-first", text("b") + field("b") + text("a") + b"h\x00", "ordinary"),
        ("title-other", text("a") + field("d") + text("b") + b"h\x00", "dangerous"),
        ("title-alone", text("a") + numbers + b"K\x08\x86" + text("b") + field("b"), "dangerous"),
        ("title-later", text("a") + field("b") + text("c") + objects + b"K\x08\x86" + text("b") + b"h\x00", "dangerous"),
    ):
        of = text("a") + b"\x85" if text("c") not in both else text("a") + text("c") + b"\x86"
        write(f"type-{name}", b"\x80\x04" + kind("V16") + state(b"N", of, b"}(" + both + b"u", 16, 27) + b".", verdict, *[change.format("numpy.dtype")] * (verdict == "dangerous"))
    # Arguments that NumPy's picklers never give: NumPy takes few bytes for many pointers, makes memory that it frees while
    # others look at it, or gives a type that the whole process has.
    function = lambda name, *arguments: called(imported_name("numpy._core." + name.rpartition(".")[0], name.rpartition(".")[2]), *arguments)
    pointers = kind("V8000") + state(b"N", text("a") + b"\x85", fields(kind("V8000") + state(b"(" + objects + b"M\xe8\x03\x85t", b"N", b"N", 8000, 63), 0), 8000, 27)
    filled = array(b"](NNe")
    one = made + b"(K\x01)" + kind("V8") + with_fields(objects, 0, 27) + b"\x89](N\x85etb"
    for name, body, path in (
        ("type-short", called(imported_name("numpy", "dtype"), text("O4"), b"\x89", b"\x88"), "numpy.dtype"),
        ("type-listed", called(imported_name("numpy", "dtype"), listed(text("a") + text("O") + b"\x86")), "numpy.dtype"),
        ("type-of-all", called(imported_name("numpy", "dtype"), text("f8"), b"\x89", b"\x89"), "numpy.dtype"),
        ("type-computed", called(imported_name("numpy", "dtype"), called(imported_name("builtins", "str"), b"K\x01"), b"\x89", b"\x88"), "numpy.dtype"),
        ("type-instance", b"(" + text("V8") + b"\x89\x88inumpy\ndtype\n", "numpy.dtype"),
        ("scalar-of-array", function("multiarray.scalar", pointers, made), "numpy._core.multiarray.scalar"),
        ("scalar-of-many", function("multiarray.scalar", pointers, filled), "numpy._core.multiarray.scalar"),
        ("scalar-of-bytes", function("multiarray.scalar", objects, b"C\x08AAAAAAAA"), "numpy._core.multiarray.scalar"),
        ("scalar-of-one", function("multiarray.scalar", kind("V8") + with_fields(objects, 0, 27), one), None),
        ("buffer-of-array", function("numeric._frombuffer", filled, numbers, b"K\x02\x85", text("C")), "numpy._core.numeric._frombuffer"),
        ("buffer-of-objects", function("numeric._frombuffer", b"C\x08AAAAAAAA", objects, b"K\x01\x85", text("C")), "numpy._core.numeric._frombuffer"),
        ("buffer", function("numeric._frombuffer", b"C\x08AAAAAAAA", numbers, b"K\x01K\x01\x86", text("K"), b"K\x01K\x00\x86"), None),
        ("made-long", function("multiarray._reconstruct", imported_name("numpy", "ndarray"), b"J\x00\x00\x40\x00\x85", text("b")), "numpy._core.multiarray._reconstruct"),
        ("made-wide", function("multiarray._reconstruct", imported_name("numpy", "ndarray"), b"K\x00\x85", text("V9")), "numpy._core.multiarray._reconstruct"),
        ("made-of-dict", function("multiarray._reconstruct", imported_name("builtins", "dict"), b"K\x00\x85", text("b")), "numpy._core.multiarray._reconstruct"),
        ("made-again", imported_name("numpy._core.multiarray", "_reconstruct") + b"\x94(" + imported_name("numpy", "ndarray") + b"K\x00\x85" + text("b") + b"t\x94R0h\x00h\x01R", "numpy._core.multiarray._reconstruct"),
        ("seed-of-array", called(imported_name("numpy.random.bit_generator", "__pyx_unpickle_SeedSequence"), imported_name("numpy", "ndarray"), b"K\x00", b"N"), "numpy.random.bit_generator.__pyx_unpickle_SeedSequence"),
        ("void", called(imported_name("numpy", "void"), b"C\x08AAAAAAAA", objects), "numpy.void"),
    ):
        write(f"form-{name}", b"\x80\x04" + body + b".", "dangerous" if path else "ordinary", *[f"(call of {path})"] * bool(path))
    for path in "torch.Tensor", "torch.UntypedStorage":
        of = imported_name(*path.rsplit(".", 1))
        keyword = called(imported_name("functools", "partial"), of) + b"(" + of + b")" + dictionary(cdata=b"K\x01") + b"Ntb"
        write(f"form-{path.lower()}", b"\x80\x04" + keyword + called(of, b"K\x01") + b"\x86.", "dangerous", "functools.partial", f"(call of {path})")
    # A key of a state that hides a method of the class.
    series = new("numpy.polynomial.polynomial.Polynomial")
    for name, body in (
        ("key", dictionary(coef=b"N", _add=b"N")), ("key-listed", b"(" + text("_add") + b"Nd"), ("key-again", dictionary(_add=b"N") + b"\x940" + series + b"h\x00"),
        ("two", b"N" + dictionary(coef=b"N") + b"\x86"),
    ):
        write(f"form-series-{name}", b"\x80\x04" + series + body + b"b.", "dangerous", "(change of numpy.polynomial.polynomial.Polynomial)")
    # Picklers name the class of an array, and never call it. With a buffer, NumPy takes its bytes for pointers.
    buffer = b"C\x08AAAAAAAA"
    for name, body, path in (
        ("call", called(imported_name("numpy", "ndarray"), b"K\x01", objects, buffer), "numpy.ndarray"),
        ("call-offset", called(imported_name("numpy", "ndarray"), b"K\x01", numbers, buffer, b"J\x00\xf0\xff\xff"), "numpy.ndarray"),
        ("call-record", called(imported_name("numpy.rec", "recarray"), b"K\x01", objects, buffer), "numpy.rec.recarray"),
        ("call-text", called(imported_name("numpy", "chararray"), b"K\x01", b"K\x08", b"\x89", buffer), "numpy.chararray"),
        ("call-matrix", called(imported_name("numpy", "matrix"), buffer), "numpy.matrix"),
        ("call-masked", called(imported_name("numpy.ma", "MaskedArray"), buffer), "numpy.ma.MaskedArray"),
        ("call-new", imported_name("numpy", "ndarray") + b"K\x01" + objects + buffer + b"\x87\x81", "numpy.ndarray"),
        ("call-new-names", imported_name("numpy", "ndarray") + b"K\x01\x85" + dictionary(dtype=objects, buffer=buffer) + b"\x92", "numpy.ndarray"),
        ("call-object", b"(" + imported_name("numpy", "ndarray") + b"K\x01" + objects + buffer + b"o", "numpy.ndarray"),
        ("call-instance", b"(K\x01" + objects + buffer + b"inumpy\nndarray\n", "numpy.ndarray"),
    ):
        write(f"array-{name}", b"\x80\x04" + body + b".", "dangerous", f"(call of {path})")
    partial = called(imported_name("functools", "partial"), imported_name("numpy", "ndarray"), b"K\x01")
    write("array-partial", b"\x80\x04" + partial + b".", "dangerous", "functools.partial")
    write("array-named", b"\x80\x04" + imported_name("numpy", "ndarray") + b".", "ordinary")
    cut = b"](NNe" + called(imported_name("builtins", "slice"), b"N") + b"]s"
    write("type-array-sliced", b"\x80\x04" + array(cut) + b".", "dangerous", "(change of a value)")


def archive(*members, method=zipfile.ZIP_STORED, comment=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members:
            made.writestr(zipfile.ZipInfo(name), data, method)
        made.comment = comment
    return file.getvalue()


def found_in(data):
    """What the pickles in an archive import, as Python's own reader finds them."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return [name for entry in opened.namelist() for name in imported(opened.read(entry))]


def archives():
    """Archives with pickles in them."""
    harmful, harmless = pickle.dumps(Runs(os.system, "true"), 2), pickle.dumps([1], 2)
    numbers = bytes(range(256)) * 300
    found = archive(("a/data.pkl", harmful), ("a/data/0", numbers), ("a/version", b"3\n"))
    assert found_in(found) == ["posix.system"]
    write("archive-stored", found, "dangerous", "posix.system")
    deflated = archive(("a/data/0", numbers), ("a/data.pkl", harmful), method=zipfile.ZIP_DEFLATED)
    assert found_in(deflated) == ["posix.system"]
    write("archive-deflated", deflated, "dangerous", "posix.system")
    write("archive-harmless", archive(("a/data.pkl", harmless), ("a/data/0", numbers)), "ordinary")
    write("archive-other-name", archive(("a/weights.bin", harmful)), "dangerous", "posix.system")
    write("archive-no-mark", archive(("a/x", pickle.dumps(Runs(os.system, "true"), 0))), "dangerous", "posix.system")
    write("archive-nested", archive(("b.pt", archive(("c.pt", found)))), "dangerous", "posix.system")
    write("archive-nested-deflated", archive(("b.pt", deflated), method=zipfile.ZIP_DEFLATED), "dangerous", "posix.system")
    deep = found
    for _ in range(8):
        deep = archive(("in.pt", deep))
    write("archive-too-deep", deep, "unseen")
    write("archive-in-pickle", pickle.dumps({"weights": found}, 4), "dangerous", "posix.system")
    write("archive-no-pickle", archive(("a.txt", b"a text")), "none")
    write("archive-cut", found[: len(found) // 2], "odd")
    # What cannot be read.
    write("archive-method", archive(("a/data.pkl", harmless), method=zipfile.ZIP_LZMA), "unseen")
    encrypted = bytearray(archive(("a/data.pkl", harmless)))
    for at in encrypted.index(b"PK\x03\x04") + 6, encrypted.index(b"PK\x01\x02") + 8:
        encrypted[at] |= 1
    write("archive-encrypted", bytes(encrypted), "unseen")
    bomb = archive(("a/data.pkl", b"\x80\x02" + b"N0" * 200_000 + b"N."), method=zipfile.ZIP_DEFLATED)
    write("archive-bomb", bomb, "unseen")
    # What readers read differently. The pickle that only some of them find is told all the same.
    behind = harmless + found
    write("archive-behind-pickle", behind, "dangerous-odd", "posix.system")
    write("archive-bytes-before", b"#!/bin/sh\n" + found, "dangerous-odd", "posix.system")
    write("archive-bytes-behind", found + b"tail", "odd")
    hidden = archive(("a/data.pkl", harmless), comment=archive(("a/data.pkl", harmful)))
    assert found_in(hidden) == ["posix.system"]
    write("archive-two-ends", hidden, "dangerous-odd", "posix.system")
    other = bytearray(found)
    other[other.index(b"a/data.pkl")] = ord("b")
    write("archive-other-local-name", bytes(other), "odd")
    sizes = bytearray(found)
    struct.pack_into("<II", sizes, 18, 4, 4)
    write("archive-other-local-length", bytes(sizes), "odd")
    whole = archive(("a/data.pkl", harmless), ("b/data.pkl", harmful))
    entry = whole.rindex(b"PK\x01\x02")
    overlapping = whole[: entry + 42] + struct.pack("<I", 0) + whole[entry + 46 :]
    write("archive-overlap", overlapping, "odd")
    directory = whole.index(b"PK\x01\x02")
    dropped = bytearray(whole[:directory] + whole[entry:])
    struct.pack_into("<HHII", dropped, len(dropped) - 14, 1, 1, len(whole) - 22 - entry, directory)
    assert found_in(bytes(dropped)) == ["posix.system"]
    write("archive-gap", bytes(dropped), "dangerous-odd", "posix.system")
    # Torch's oldest format.
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:", format=tarfile.PAX_FORMAT) as made:
        for name, data in ("sys_info", harmless), ("pickle", harmful), ("storages", harmless):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), 1.5
            made.addfile(entry, io.BytesIO(data))
    write("archive-tar", tar.getvalue(), "dangerous", "posix.system")
    # Torch's older format, with numbers that look like an import of something.
    legacy = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, [1], ["0"]))
    write("torch-numbers", legacy + struct.pack("<q", 99) + b"a\nb\n" * 99, "ordinary")
    write("torch-behind-numbers", legacy + b"cposix\nsystem\n(S'true'\ntR.", "dangerous", "posix.system")


def tar_member(name, data, kind=b"0", signed=False, size=None, sum_form="%06o\0 ", more=0):
    header = bytearray(512)
    header[: len(name)] = name
    header[100:108] = header[108:116] = header[116:124] = b"0000000\0"
    header[124:136] = size or b"%011o\0" % len(data)
    header[136:148], header[148:156], header[156:157], header[257:265] = b"00000000000\0", b" " * 8, kind, b"ustar\x0000"
    header[482] = more
    total = sum(struct.unpack("512b", header)) if signed else sum(header)
    header[148:156] = (sum_form % total).encode().ljust(8, b"\0")[:8]
    return bytes(header) + data + bytes(-len(data) % 512)


def found_in_tar(data):
    """What the members of a tar archive import that have the name which torch reads."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as opened:
        return imported(opened.extractfile("pickle").read())


def odd_archives():
    """Archives that Python reads although other readers may not, and those that it reads in its own way."""
    harmful, end = pickle.dumps(Runs(os.system, "true"), 0), bytes(1024)
    member = tar_member(b"pickle", harmful)
    # A pickle with so much before its import that it is not tried unless its name says so.
    long = b"(" + b"N0" * 40_000 + b"1" + harmful
    sizes = b"%d size=%d\n" % (len(f"{len(harmful)}") + 9, len(harmful))
    sized = b"\x80" + len(harmful).to_bytes(11, "big")
    for name, data, verdict in (
        ("signed", tar_member(b"\xff", b"", signed=True) + member, "dangerous"),
        ("underscore", tar_member(b"a", b"", sum_form="0o%o\0") + member, "dangerous"),
        ("bytes-length", tar_member(b"pickle", harmful, size=sized), "dangerous"),
        ("blank-length", tar_member(b"pickle", harmful, size=f" 0o{'_'.join(f'{len(harmful):o}')}".encode().ljust(12)), "dangerous"),
        ("extended-name", tar_member(b"p", b"15 path=pickle\n", b"x") + tar_member(b"q", long), "dangerous"),
        ("long-name", tar_member(b"././@LongLink", b"pickle\0", b"L") + tar_member(b"././@LongLink", b"x\0", b"K") + tar_member(b"q", long), "dangerous"),
        ("two-names", tar_member(b"p", b"15 path=pickle\n", b"x") + tar_member(b"././@LongLink", b"x\0", b"L") + tar_member(b"q", long), "dangerous"),
        ("length", tar_member(b"p", sizes, b"x") + tar_member(b"pickle", harmful, size=b"%011o\0" % 1), "dangerous"),
        ("length-hides", tar_member(b"p", b"13 size=1024\n", b"x") + tar_member(b"q", member, size=b"%011o\0" % 0) + tar_member(b"pickle", harmful), "dangerous"),
        ("other-kind", tar_member(b"pickle", harmful, b"Z"), "dangerous"),
        ("sparse", tar_member(b"s", bytes(504) + b"\1" + bytes(519) + b"data", b"S", size=b"%011o\0" % 4, more=1) + member, "dangerous-unseen"),
        ("sparse-lines", tar_member(b"p", b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n", b"x") + tar_member(b"s", b"0\n") + member, "dangerous-unseen"),
        ("sparse-map", tar_member(b"p", b"22 GNU.sparse.map=0,1\n", b"x") + tar_member(b"s", b"0") + member, "dangerous-unseen"),
        ("sparse-numbers", tar_member(b"p", b"23 GNU.sparse.offset=0\n25 GNU.sparse.numbytes=1\n", b"x") + tar_member(b"s", b"0") + member, "dangerous-unseen"),
        ("folder-name", tar_member(b"x", b"a") + tar_member(b"d/", member, b"\0"), "dangerous-odd"),
        ("length-for-all", tar_member(b"p", sizes, b"g") + member, "dangerous-odd"),
        ("line-behind-header", tar_member(b"p", b"11 mtime=1\n15 path=pickle\n", b"x", size=b"%011o\0" % 11) + tar_member(b"q", long), "odd"),
        ("folder-data", tar_member(b"x", b"a") + tar_member(b"d/", member, b"5"), "dangerous-odd"),
        ("link-data", tar_member(b"x", b"a") + tar_member(b"d", member, b"2"), "dangerous-odd"),
    ):
        assert found_in_tar(data + end) == ["posix.system"], name
        write(f"archive-tar-{name}", data + end, verdict, *(["posix.system"] if "dangerous" in verdict else []))
    # In other archives and pickles, also behind a long member.
    numbers = b"".join(struct.pack("<I", zlib.crc32(b"%d" % number)) for number in range(17_000))
    inside = tar_member(b"storages", numbers) + member + end
    for name, data in (
        ("tar", tar_member(b"x.tar", inside) + end), ("zip", archive(("x", inside))), ("short", archive(("x", member + end))),
        ("deflated", archive(("x", inside), method=zipfile.ZIP_DEFLATED)), ("pickle", pickle.dumps([inside], 4)),
    ):
        write(f"archive-tar-in-{name}", data, "dangerous", "posix.system")
    # The name of a member is a pickle.
    both = tar_member(b"cposix\nsystem\n(S'true'\ntR.", b"x") + end
    assert runs(both)
    write("archive-tar-is-pickle", both, "dangerous", "posix.system")
    write("archive-tar-is-pickle-inside", archive(("x", both)), "dangerous", "posix.system")
    wrong = bytearray(member + end)
    wrong[148:154] = b"000001"
    write("archive-tar-checksum", bytes(wrong), "odd")
    found = archive(("a/data.pkl", harmful))
    for name, data in (
        ("comment", b"X" + archive(("a/data.pkl", harmful), comment=b"hi")),
        ("tail", b"X" + found + b"tail"),
        ("pickle", pickle.dumps([1], 2) + archive(("a/data.pkl", harmful), comment=b"hi")),
    ):
        assert found_in(data) == ["posix.system"], name
        write(f"archive-around-{name}", data, *(["odd"] if name == "tail" else ["dangerous-odd", "posix.system"]))
    # Python cuts the name at the zero byte.
    cut = archive(("a/data.pklQ.bin", long)).replace(b"pklQ.bin", b"pkl\0.bin")
    with zipfile.ZipFile(io.BytesIO(cut)) as opened:
        assert opened.namelist() == ["a/data.pkl"]
    write("archive-zero-in-name", cut, "odd")
    # Python 3.13 takes the name of the extra field.
    file, entry = io.BytesIO(), zipfile.ZipInfo("a/data.bin")
    field = struct.pack("<BL", 1, zlib.crc32(b"a/data.bin")) + b"a/data.pkl"
    entry.extra = struct.pack("<HH", 0x7075, len(field)) + field
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(entry, long)
    write("archive-two-names", file.getvalue(), "odd")
    write("archive-long-member", archive(("a/data.bin", long)), "ordinary")


def renamed():
    """Writes what Python imports for each name of Python 2 in a pickle of protocol 2."""
    asked = []

    class Module(types.ModuleType):
        def __getattr__(self, name):
            asked.append((self.__name__, name))
            return list

    def answer(module, *_, **__):
        sys.modules[module] = Module(module)

    names = [(module, "a_name") for module in _compat_pickle.IMPORT_MAPPING] + list(_compat_pickle.NAME_MAPPING)
    modules, importing = dict(sys.modules), builtins.__import__
    for module, name in names:
        builtins.__import__ = answer
        try:
            pickle._Unpickler(io.BytesIO(f"\x80\x02c{module}\n{name}\n.".encode("latin1"))).load()
        finally:
            builtins.__import__ = importing
            sys.modules.clear()
            sys.modules.update(modules)
    lines = [" ".join([*old, *new]) for old, new in zip(names, asked, strict=True)]
    (FOLDER / "renamed.txt").write_text("\n".join(lines) + "\n")


def main():
    make_stand_ins()
    data = poptorch_data()
    for protocol in PROTOCOLS:
        write(f"poptorch-{protocol}", pickle.dumps(data, protocol), "ordinary", "version=3.3.0+7857")
        write(f"plain-{protocol}", pickle.dumps({"a": [1, 2.5, None, True, "x", 2**80], "b": (b"\xff", -1)}, protocol), "ordinary")
        write(f"os-system-{protocol}", pickle.dumps([1, Runs(os.system, "true")], protocol), "dangerous", "posix.system")
        nested = pickle.dumps(Runs(os.system, "true"), protocol)
        write(f"nested-{protocol}", pickle.dumps({"inner": nested}, protocol), "dangerous", "posix.system")
        # Python 3 writes the names of Python 2 in the protocols that both read.
        loads, builtins = ("_pickle", "builtins") if protocol > 2 else ("pickle", "__builtin__")
        write(f"loads-{protocol}", pickle.dumps(Runs(pickle.loads, nested), protocol), "dangerous", f"{loads}.loads", "posix.system")
        disguised = Runs(getattr, Runs(__import__, "os"), "system")
        write(f"getattr-{protocol}", pickle.dumps(disguised, protocol), "dangerous", f"{builtins}.getattr", f"{builtins}.__import__")
    write("enum-member", pickle.dumps(sys.modules["poptorch.enums"].ConnectionType.Always, 4), "ordinary")
    # Python 3.11's own way to pickle a member of an enum.
    write("enum-getattr", pickle.dumps(Runs(getattr, sys.modules["poptorch.enums"].ConnectionType, "Always"), 4), "ordinary")
    write("ordered", pickle.dumps(collections.OrderedDict(a=collections.Counter("xyz"), b=collections.deque([1])), 4), "ordinary")
    write("partial", pickle.dumps(functools.partial(os.system, "true"), 4), "dangerous", "functools.partial", "posix.system")
    write("methodcaller", pickle.dumps(operator.methodcaller("system", "true"), 4), "dangerous", "operator.methodcaller")
    write("eval", pickle.dumps(Runs(eval, "1"), 0), "dangerous", "__builtin__.eval")
    write("unknown", pickle.dumps(Runs(len, []), 4).replace(b"builtins", b"mymodule"), "unknown", "mymodule.len")

    for version in OF_VERSION:
        write(f"poptorch-{version}", pickle.dumps(poptorch_file(version), 4), "ordinary", f"version={version}")
        trained = pickle.dumps(poptorch_file(version, *TRAINING), 4)
        write(f"poptorch-{version}-training", trained, "ordinary", f"version={version}")
    write("poptorch-kept", pickle.dumps([by_path(path) for path in KEPT], 4), "ordinary")
    write("poptorch-own-class", pickle.dumps(poptorch_file("3.4", "mymodel.Net"), 4), "unknown", "mymodel.Net", "version=3.4")
    # One function of that class maps a file, and may create it.
    sys.modules["torch._C"]._VariableFunctionsClass.from_file = None
    mapped = "torch._C._VariableFunctionsClass.from_file"
    write("getattr-from-file", pickle.dumps(Runs(getattr, by_path("torch._C._VariableFunctionsClass"), "from_file"), 4), "dangerous", mapped)
    # Methods of classes that are ordinary in a pickle.
    for of, method in ("numpy.ndarray", "tofile"), ("numpy.ndarray", "dump"), ("poptorch.options.Options", "loadFromFile"), ("torch.storage.UntypedStorage", "from_file"):
        holder = by_path(of)
        setattr(holder, method, None)
        write(f"method-{method}", pickle.dumps(Runs(getattr, holder, method), 4), "dangerous", f"{of}.{method}")
    write("path-write-text", pickle.dumps(pathlib.Path.write_text, 4), "dangerous", "pathlib.Path.write_text")
    write("uuid-command", pickle.dumps(uuid._get_command_stdout, 4), "dangerous", "uuid._get_command_stdout")
    write("partial-list", pickle.dumps(functools.partial(list), 4), "ordinary")
    write("data-loader", pickle.dumps(by_path("poptorch._data.DataLoader")(), 4), "unknown", "poptorch._data.DataLoader")

    # Names that come from the memo, in the wrong order and between other things.
    memo = text("system") + b"\x94" + text("os") + b"\x94" + b"00" + b"h\x01" + b"h\x00" + b"\x93"
    write("memo-binget", frame(memo + text("true") + b"\x85R."), "dangerous", "os.system")
    long_memo = text("os") + b"r" + struct.pack("<I", 70_000) + b"0" + text("system") + b"q\x05" + b"0"
    long_memo += b"j" + struct.pack("<I", 70_000) + b"h\x05" + b"\x93"
    write("memo-long-binget", frame(long_memo + text("true") + b"\x85R."), "dangerous", "os.system")
    put = b"S'os'\np7\n0V" + b"syst\\u0065m" + b"\np8\n0g7\ng8\n\x93(S'true'\ntR."
    write("memo-put-escapes", b"\x80\x04" + put, "dangerous", "os.system")
    write("memo-dup", frame(text("posix") + b"20" + text("system") + b"\x93" + text("true") + b"\x85R."), "dangerous", "posix.system")
    # The module through another one that imported it.
    write("dotted", frame(text("torch.serialization") + text("os.system") + b"\x93" + text("true") + b"\x85R."), "dangerous", "torch.serialization.os.system")
    write("alias", frame(text("collections") + text("_sys.modules") + b"\x93."), "dangerous", "collections._sys.modules")
    write("through-module", frame(text("torch.serialization") + text("os") + b"\x93."), "dangerous", "torch.serialization.os")
    reach = b"cbuiltins\ngetattr\n(ctorch.serialization\nos\nS'system'\ntR(S'true'\ntR."
    write("getattr-reach", b"\x80\x02" + reach, "dangerous", "torch.serialization.os", "torch.serialization.os.system")
    write("getattr-alias", b"\x80\x04cbuiltins\ngetattr\n\x940h\x00(ccollections\nOrderedDict\nS'__init__'\ntRh\x00\x940.", "dangerous", "collections.OrderedDict.__init__")
    write("inst", b"(S'true'\niposix\nsystem\n.", "dangerous", "posix.system")
    write("obj", b"(cos\nsystem\nS'true'\no.", "dangerous", "os.system")
    write("computed-name", b"\x80\x04" + text("os") + b"(" + text("sys") + text("tem") + b"l\x93.", "dangerous", "(computed)")
    write("class-getattr", pickle.dumps(Runs(getattr, collections.OrderedDict, "fromkeys"), 4), "ordinary")

    # Extension codes: what they import stands in a registry of the process that loads.
    copyreg.add_extension("posix", "system", 200)
    write("extension-1", pickle.dumps(Runs(os.system, "true"), 2), "dangerous", "(extension-200)")
    copyreg.remove_extension("posix", "system", 200)
    copyreg.add_extension("posix", "system", 60_000)
    write("extension-2", pickle.dumps(Runs(os.system, "true"), 4), "dangerous", "(extension-60000)")
    copyreg.remove_extension("posix", "system", 60_000)
    copyreg.add_extension("posix", "system", 0x7F000000)
    write("extension-4", pickle.dumps(Runs(os.system, "true"), 5), "dangerous", "(extension-2130706432)")
    copyreg.remove_extension("posix", "system", 0x7F000000)
    write("extension-tail", b"\x82\xc8(S'true'\ntR.tail", "dangerous", "(extension-200)")

    # Buffers out of band, and large texts and bytes in each length.
    buffers = []
    write("buffers", pickle.dumps([pickle.PickleBuffer(b"abc"), bytearray(b"x" * 300)], 5, buffer_callback=buffers.append), "ordinary")
    write("long", pickle.dumps([b"y" * 66_000, "z" * 300, bytearray(300)], 5), "ordinary")
    write("two-pickles", pickle.dumps([1], 2) + pickle.dumps(Runs(os.system, "true"), 2), "dangerous", "posix.system")
    write("nested-twice", pickle.dumps(pickle.dumps(pickle.dumps(Runs(os.system, "true"), 4), 4), 4), "dangerous", "posix.system")

    # Torch's storages outside of its own archives: bytes with several pickles and the numbers.
    storage = sys.modules["torch.storage"]._load_from_bytes
    legacy = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, Tensor((2,)), ["0"]))
    numbers = struct.pack("<q", 640) + bytes(2560)
    write("torch-storage", pickle.dumps(Runs(storage, legacy + numbers), 4), "ordinary")
    write("torch-storage-2", pickle.dumps(Runs(storage, legacy + numbers), 2), "ordinary")
    inner = pickle.dumps(1, 2).decode("latin1").encode()
    recoded = b"c_codecs\nencode\n(X" + struct.pack("<I", len(inner)) + inner + b"U\x05rot13tR"
    write("torch-storage-recoded", b"\x80\x02ctorch.storage\n_load_from_bytes\n" + recoded + b"\x85R.", "dangerous", "torch.storage._load_from_bytes")
    harmful = pickle.dumps(1, 2) + pickle.dumps(Runs(os.system, "true"), 2)
    write("torch-storage-harmful", pickle.dumps(Runs(storage, harmful + numbers), 4), "dangerous", "posix.system")
    write("torch-storage-zip", pickle.dumps(Runs(storage, b"PK\x03\x04" + bytes(60)), 4), "dangerous", "torch.storage._load_from_bytes")

    # The same functions, called in a way that hides what they are given.
    understood = b"\x80\x04cbuiltins\ngetattr\n(ccollections\nOrderedDict\nS'fromkeys'\ntR0"
    get = b"(((clogging\ngetLogger\nS'__globals__'\nibuiltins\ngetattr\nS'get'\nibuiltins\ngetattr\n(S'os'\ntR"
    by_inst = understood + get + b"S'system'\nibuiltins\ngetattr\n(S'true'\ntR."
    assert runs(by_inst)
    write("inst-getattr", by_inst, "dangerous", "builtins.getattr", "(call of a value)")
    harmless = pickle.dumps(1, 2)
    runs_true = b"cposix\nsystem\n(S'true'\ntR."
    hidden = (b"\x80\x02" + runs_true).ljust(64, b"N").decode("utf-16-le").encode()
    hidden = b"(c_codecs\nencode\n(X" + struct.pack("<I", len(hidden)) + hidden + b"X\x09\0\0\0utf-16-letR"
    by_inst = b"\x80\x04ctorch.storage\n_load_from_bytes\nC" + bytes([len(harmless)]) + harmless + b"\x85R0" + hidden
    by_inst += b"itorch.storage\n_load_from_bytes\n."
    assert runs(by_inst)
    write("inst-load", by_inst, "dangerous", "torch.storage._load_from_bytes")
    changing = b"\x80\x05ctorch.storage\n_load_from_bytes\n\x96" + struct.pack("<Q", len(harmless)) + harmless
    appended = changing + b"(" + b"".join(b"K%c" % byte for byte in runs_true) + b"e\x85R."
    assert runs(appended)
    write("bytearray-append", appended, "dangerous", "torch.storage._load_from_bytes")
    filled = harmless + b"\x80\x02" + b"N" * len(runs_true) + b"."
    changing = b"\x80\x05ctorch.storage\n_load_from_bytes\n\x96" + struct.pack("<Q", len(filled)) + filled
    places = b"".join(b"K%cK%c" % place for place in enumerate(runs_true, len(harmless) + 2))
    changed = changing + b"(" + places + b"u\x85R."
    assert runs(changed)
    write("bytearray-setitem", changed, "dangerous", "torch.storage._load_from_bytes")
    # After a stop inside a frame, both unpicklers leave the file behind the frame.
    skipped = b"\x80\x04\x95" + struct.pack("<Q", 3) + b"N.\xff" + b"\x80\x02" + runs_true
    assert runs(skipped, 2)
    write("frame-skip-top", skipped, "odd")
    skipped_inside = b"\x80\x03ctorch.storage\n_load_from_bytes\nC" + bytes([len(skipped)]) + skipped + b"\x85R."
    assert runs(skipped_inside)
    write("frame-skip", skipped_inside, "dangerous-odd", "torch.storage._load_from_bytes")

    # A state sets attributes of the class for all of the process.
    changed_class = b"\x80\x04cargparse\nNamespace\nN}X\x05\0\0\0countK\x01s\x86b."
    pickle.loads(changed_class)
    assert vars(argparse.Namespace).get("count") == 1
    del argparse.Namespace.count
    write("build-class", changed_class, "dangerous", "(change of argparse.Namespace)")

    # It makes a function of a text, and the text runs.
    made = b"\x80\x04cdataclasses\n_create_fn\n" + text("f") + b"]" + text("x=__import__('os').system('true')") + b"a]" + text("pass") + b"a\x87R."
    assert runs(made)
    write("create-function", made, "dangerous", "dataclasses._create_fn")

    attacks()
    shapes()
    owned()
    kept()
    passed_on()
    endless()
    types_of_numpy()
    archives()
    odd_archives()
    renamed()

    # Versions that are set twice. Python keeps the last.
    data = b"\x80\x04" + text("poptorch._poptorch_data") + text("PoptorchData") + b"\x93)\x81}\x94("
    data += text("version") + text("3.3")
    twice = data + text("version") + text("2.0") + b"ub."
    again = data + b"uh\x00" + text("version") + text("2.0") + b"s0b."
    built = data + b"ub}" + text("version") + text("2.0") + b"sb."
    for unpickled in twice, again, built:
        assert pickle.loads(unpickled).version == "2.0"
    write("version-twice", twice, "ordinary", "version=2.0")
    write("version-alias", again, "odd")
    write("version-built-twice", built, "odd")

    # Broken ones. What came before the break has run by then.
    whole = pickle.dumps([1, Runs(os.system, "true"), "tail"], 4)
    write("cut", whole[:-5], "dangerous-odd", "posix.system")
    write("cut-plain", pickle.dumps(list(range(100)), 4)[:-20], "odd")
    write("bad-opcode", b"\x80\x04" + text("x") + b"\xff.", "odd")
    no_stop = b"cposix\nsystem\n(S'true'\ntR"
    write("no-stop", no_stop, "dangerous-odd", "posix.system")
    # The same inside, where a program may load it.
    no_line = text("posix") + text("system") + b"\x93" + text("true") + b"\x85R"
    for name, inner in ("no-stop", no_stop), ("no-line", no_line):
        assert imported(inner) == ["posix.system"]
        write(f"nested-{name}-bytes", pickle.dumps(inner, 4), "dangerous-odd", "posix.system")
        write(f"nested-{name}-text", pickle.dumps(inner.decode("latin1"), 4), "dangerous-odd", "posix.system")
        write(f"nested-{name}-escapes", pickle.dumps(inner.decode("latin1"), 0), "dangerous-odd", "posix.system")
    # The unpickler that is written in Python takes the last letter for the end of the line, and calls it.
    write("inst-cut", b"(S'true'\niposix\nsystem.", "dangerous-odd", "posix.system")
    write("bad-frame", b"\x80\x04\x95" + struct.pack("<Q", 2**60) + text("posix") + text("system") + b"\x93" + text("true") + b"\x85R.", "dangerous-odd", "posix.system")
    write("huge-length", b"\x80\x04\x8d" + struct.pack("<Q", 2**63 - 1) + b"ab", "odd")
    write("empty-stack", b"\x80\x02R.", "odd")

    # No pickles.
    write("not-protobuf", b"\x0a\x05hello\x12\x03abc", "none")
    write("not-capnp", struct.pack("<IIII", 0, 2, 0, 0) + bytes(16), "none")
    write("not-text", b"configuration = 1\nname = two\n", "none")
    write("not-empty", b"", "none")

    (FOLDER / "expected.txt").write_text("\n".join(EXPECTED) + "\n")


if __name__ == "__main__":
    main()

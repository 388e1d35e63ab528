"""Every function that takes a file takes it in every way that the documentation names."""

import io
import mmap
import pathlib

import numpy as np
import pytest
from test_remote import BUILT_IN, server  # noqa: F401

import popef

FUNCTIONS = {
    "open": popef.open,
    "describe": popef.describe,
    "check": popef.check,
    "hash": popef.hash,
    "verify": lambda file: popef.verify(file, verify_manifest(file)),
    "diff": lambda file: popef.diff(file, file),
    "compress": lambda file: popef.compress(file, dry_run=True),
    "decompress": lambda file: popef.decompress(file, dry_run=True),
    "merge": lambda file: popef.merge([file], dry_run=True),
    "split": lambda file: popef.split(file, stem="model", dry_run=True),
    "strip": lambda file: popef.strip(file, drop=popef.Opaque, dry_run=True),
    "recover": lambda file: popef.recover(file, dry_run=True),
    "set": lambda file: popef.set(file, fields={"numIpus": 4}, dry_run=True),
    "extract": lambda file: popef.extract(file, dry_run=True),
}

MANIFEST = []


def verify_manifest(_):
    return MANIFEST[-1]


class Path:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


class Unseekable(io.RawIOBase):
    """A pipe."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.content.readinto(buffer)


INPUTS = {
    "str": str,
    "path": pathlib.Path,
    "path of bytes": lambda path: Path(str(path).encode()),
    "bytes": pathlib.Path.read_bytes,
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "memoryview": lambda path: memoryview(path.read_bytes()),
    "array": lambda path: np.fromfile(path, np.uint8),
    "file object": lambda path: open(path, "rb"),
    "BytesIO": lambda path: io.BytesIO(path.read_bytes()),
    "pipe": lambda path: Unseekable(path.read_bytes()),
    "mmap": lambda path: mapped(path),
    "File": popef.open,
    "mapped File": lambda path: popef.open(path, map=True),
    "File in memory": lambda path: popef.open(path.read_bytes()),
}


def mapped(path):
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@pytest.fixture
def model(tmp_path, interop):
    path = tmp_path / "model.popef"
    path.write_bytes((interop / "executable.popef").read_bytes())
    import hashlib

    manifest = tmp_path / "SHA256SUMS"
    manifest.write_text(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  model.popef\n")
    MANIFEST.append(manifest)
    return path


# A File is opened, and what is read to its end can be read once.
CASES = [
    (function, given)
    for function in FUNCTIONS
    for given in INPUTS
    if not (function == "open" and "File" in given) and not (function == "diff" and given == "pipe")
]


@pytest.mark.parametrize(("function", "given"), CASES)
def test_every_function_takes_every_kind_of_input(function, given, model):
    file = INPUTS[given](model)
    assert result_of(function, file)
    getattr(file, "close", lambda: None)()


@pytest.mark.parametrize("function", [*FUNCTIONS, "parseStream", "map"])
def test_a_blob_is_not_taken_for_a_file(function, model):
    special = {"parseStream": popef.Reader().parseStream, "map": lambda blob: popef.open(blob, map=True)}
    for blob in popef.open(model):
        with pytest.raises(TypeError, match="not one of its blobs: give the file"):
            (FUNCTIONS | special)[function](blob)


def result_of(function, file):
    result = FUNCTIONS[function](file)
    return result is not None and (not isinstance(result, dict) or result.get("ok", True))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_takes_an_address(function, model, server):  # noqa: F811
    address = f"{server.address}/model.popef"
    if not BUILT_IN:
        with pytest.raises(popef.PopefError) as raised:
            FUNCTIONS[function](address)
        assert raised.value.code == "not-built-in"
        return
    server.files["/model.popef"] = model.read_bytes()
    assert result_of(function, address)
    assert server.asked


def test_a_description_of_an_address_is_that_of_its_file(model, server):  # noqa: F811
    if not BUILT_IN:
        pytest.skip("the module was built without the feature remote")
    server.files["/model.popef"] = model.read_bytes()
    (by_address,) = popef.describe(f"{server.address}/model.popef?signature=SECRET", values=2)["files"]
    (by_path,) = popef.describe(model, values=2)["files"]
    assert by_address.pop("path").startswith(server.address)
    del by_path["path"]
    assert by_address == by_path
    assert "SECRET" not in str(by_address)


class Caller:
    """Code of the caller that raises when the module calls it."""

    def __init__(self, method, error):
        def fail(*_, **__):
            raise error

        self.__class__ = type("Caller", (Caller,), {method: fail})

    def writable(self):
        return False


def write(given, *size):
    with popef.Writer(io.BytesIO()) as writer:
        writer.createOpaqueBlob("notes", "model").write(given, *size)


CALLED = {
    "__index__": [
        lambda file, given: file[given],
        lambda file, given: file.tensors[0][given],
        lambda file, given: popef.TensorInfo([given]),
        lambda file, given: popef.Metadata(numIpus=given),
        lambda file, given: write(b"data", given),
        lambda file, given: popef.split(file, by="size", max_size=given, stem="model", dry_run=True),
        lambda file, given: popef.set(file, fields={"numIpus": given}, dry_run=True),
    ],
    "__fspath__": [
        lambda file, given: popef.open(given),
        lambda file, given: popef.Writer(given),
        lambda file, given: popef.describe(given),
        lambda file, given: popef.pack(tensors=given, dry_run=True),
        lambda file, given: popef.pack(feeds={"feed": given}, dry_run=True),
        lambda file, given: list(popef.scan([given])),
    ],
    "__array__": [
        lambda file, given: write(given),
        lambda file, given: popef.set(file, tensors={"input_parameter": given}, dry_run=True),
        lambda file, given: popef.pack(tensors={"tensor": given}, dry_run=True),
    ],
    "__iter__": [
        lambda file, given: popef.TensorInfo(given),
        lambda file, given: popef.check(file, loaders=given),
        lambda file, given: popef.merge(given, dry_run=True),
        lambda file, given: popef.strip(file, drop=given, dry_run=True),
        lambda file, given: popef.pack(tensors=given, dry_run=True),
    ],
    "__eq__": [lambda file, given: file.tensors[0] == given, lambda file, given: file.tensors[0] != given],
    "write": [lambda file, given: popef.Writer(given)],
}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), TypeError("mine"), ValueError("mine")], ids=repr)
@pytest.mark.parametrize(("method", "call"), [(method, call) for method in CALLED for call in CALLED[method]])
def test_what_code_of_the_caller_raises_comes_through(method, call, error, interop):
    if method == "write" and isinstance(error, Exception):
        pytest.skip("an object that refuses to be written to is not for writing")
    with pytest.raises(type(error)) as raised:
        call(popef.open(interop / "executable.popef"), Caller(method, error))
    assert raised.value is error


RAISING = {
    "of the system": lambda path: popef.open(path / "missing"),
    "of a function": lambda path: popef.compress(path / "missing", path / "out"),
    "of a file": lambda path: popef.open(b"no PopEF file at all"),
    "of a call": lambda path: closed_writer().createOpaqueBlob("late", "model"),
}


def closed_writer():
    with popef.Writer(io.BytesIO()) as writer:
        return writer


@pytest.mark.parametrize("call", RAISING.values(), ids=RAISING)
def test_an_exception_has_the_one_that_is_handled_as_its_context(call, tmp_path):
    try:
        raise KeyError
    except KeyError as handled:
        with pytest.raises((popef.PopefError, OSError)) as raised:
            call(tmp_path)
        assert raised.value.__context__ is handled
        # Nobody raises this one.
        assert popef.open(b"no PopEF file at all", damaged=True).damage.__context__ is None


WRITERS = {
    "Writer": popef.Writer,
    "FileWriter": popef.FileWriter,
    "append": lambda path: popef.FileWriter(path, popef.FileWriter.Mode.APPEND),
    "pack": lambda path: popef.pack(output=path, tensors={"a": np.ones(2)}),
    **{
        name: lambda path, function=function: function(b"", path)
        for name, function in [
            ("compress", popef.compress), ("decompress", popef.decompress), ("split", popef.split), ("strip", popef.strip),
            ("recover", popef.recover), ("set", popef.set), ("extract", popef.extract),
        ]
    },
    "merge": lambda path: popef.merge([b""], path),
}  # fmt: skip


@pytest.mark.parametrize("function", WRITERS)
def test_no_function_writes_to_an_address(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(popef.PopefError, match="the tool popef uploads") as raised:
        WRITERS[function]("s3://bucket/model.popef")
    assert raised.value.code == "no-upload"
    assert "SECRET" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []

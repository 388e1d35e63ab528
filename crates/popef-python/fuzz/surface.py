"""Gives damaged files and odd values to everything that the module offers, and looks for what is no proper exception: a panic, a
crash, a hang, or memory out of proportion.

    pip install atheris numpy target/wheels/popef-*.whl
    python crates/popef-python/fuzz/surface.py [-max_total_time=SECONDS] [CORPUS]

Without a corpus, it begins with the files of testdata. The options are those of libFuzzer. Atheris sees the branches of Python, not
those of the native code; the targets in crates/fuzz see these.
"""

import copy
import io
import json
import pathlib
import pickle
import sys
import tempfile

import atheris
import numpy as np

with atheris.instrument_imports(include=["popef"]):
    import popef

FOLDER = pathlib.Path(tempfile.mkdtemp())
ROOT = pathlib.Path(__file__).resolve().parents[3]
# What callers can be told. Everything else is a fault of the module; panics are no `Exception`.
PROPER = (popef.PopefError, ValueError, TypeError, OverflowError, KeyError, IndexError, AttributeError, OSError, BufferError, DeprecationWarning)


def look(content, options):
    """Reads a file in every way, as far as it goes."""
    file = popef.open(content, damaged=bool(options & 1))
    repr(file), file.names(), file.damage
    for blob in file:
        repr(blob), blob.name, blob.version, blob.read()
        tries(lambda: blob.numpy().sum() if isinstance(blob, popef.Tensor) else None)
        tries(lambda: blob.unpack() if isinstance(blob, popef.Executable) else None)
        tries(lambda: repr(blob.metadata()) if isinstance(blob, popef.MetadataBlob) else None)
    file._repr_html_()
    assert pickle.loads(pickle.dumps(file)).names() == file.names()


def parts(content, options):
    """Takes tensors and feeds as every kind of array, and single runs of feeds."""
    file = popef.open(content, damaged=True)
    at = options - 128
    for data in file.tensors:
        whole = tries(data.numpy)
        given = tries(lambda: np.from_dlpack(data))
        assert whole is None or given is None or whole.tobytes() == given.tobytes()
        tries(lambda: np.asarray(data, copy=True).sum())
    for feed in file.feeds:
        whole = tries(feed.numpy)
        for runs in (at, slice(at, None), slice(None, at, 3), slice(None, None, at % 5 - 2)):
            found = tries(lambda: feed[runs])
            assert whole is None or found is None or found.tobytes() == whole[runs].tobytes()
        tries(lambda: sum(1 for run in feed) if len(feed) < 100 else None)


def values(content, options):
    """Reads and sets every attribute of metadata, and of all that is in it."""
    for blob in popef.open(content, damaged=True).metadata:
        metadata = tries(blob.metadata)
        for value in [metadata, *(metadata.anchors() if metadata else ())]:
            for name in dir(value):
                found = tries(lambda: getattr(value, name))
                if not name.startswith("_") and not callable(found):
                    tries(lambda: setattr(value, name, found))
                    tries(lambda: setattr(value, name, options - 128))
        assert metadata is None or pickle.loads(pickle.dumps(metadata)) == metadata == copy.deepcopy(metadata)


def operations(content, options):
    """Does an operation on two files, which are parts of the content."""
    kind, at = options % 16, len(content) * (options // 16) // 16
    a, b = content, content[at:] + content[:at]
    if kind < 8:
        a = b = content
    number = options >> 2
    file = popef.open(a, damaged=True)
    array = np.frombuffer(content[: number & 31], np.uint8)
    each = {data.name: np.resize(array, min(data.nbytes, 9999)) for data in file.tensors}
    fields = ["numIpus", "isPOD", "seedHandle", "engineOptions[a]", "programsMap[3]", content[: number & 15].decode("latin-1")]
    calls = [
        lambda: popef.diff(a, b, rtol=number),
        lambda: popef.hash(a, algorithm="both", whole=True),
        lambda: popef.merge([a, b], dry_run=True, keep=("first", "last", "all", None)[number % 4]),
        lambda: popef.strip(a, dry_run=True, drop=lambda blob: blob.index == number),
        lambda: popef.recover(b, dry_run=True),
        lambda: popef.compress(a, dry_run=True, packing=f"zlib:{number % 10}"),
        lambda: popef.decompress(a, dry_run=True),
        lambda: popef.split(a, dry_run=True, by="size", max_size=number * 64 + 1),
        lambda: popef.set(a, FOLDER / "new.popef", overwrite=True, tensors=each),
        lambda: popef.set(a, dry_run=True, add_missing=True, tensors={"missing": array.tobytes(), **each}),
        lambda: popef.set(a, dry_run=True, fields={fields[number % 6]: (number, "x", None, number > 9)[number % 4]}),
        lambda: popef.set(a, dry_run=True, merge={"numIpus": number, "anchors": [{"name": name} for name in each]}),
        lambda: popef.set(a, dry_run=True, version=b[: number & 7], rename={name: content[:number] for name in list(each)[:1]}),
        lambda: popef.pack(dry_run=True, tensors=each, feeds={name: array.reshape(-1, 1) for name in each}),
        lambda: popef.extract(a, dry_run=True),
        lambda: verified(a, b),
    ]
    calls[kind]()


def verified(a, b):
    """Verifies a file by what damaged bytes say of it."""
    for manifest in (b, json.dumps({"schemaVersion": 1, "files": [{"path": "a", **popef.hash(a)}]}).encode()):
        path = FOLDER / "manifest"
        path.write_bytes(manifest)
        tries(lambda: popef.verify(a, path))


def scan(content, options):
    paths = [FOLDER / "whole.popef", FOLDER / "cut.popef"]
    paths[0].write_bytes(content)
    paths[1].write_bytes(content[: len(content) * options // 256])
    asked = {"check": (None, "quick", "deep")[options % 3], "hash": (None, "blake3")[options % 2], "per": ("blob", "file")[options % 5 > 3]}
    rows = list(popef.scan(paths, threads=1 + options % 2, **asked))
    assert {row["file"] for row in rows} >= {str(path) for path in paths if path.stat().st_size}


def vendors(content, options):
    reader = popef.Reader(quiet=bool(options & 1))
    reader.parseStream(io.BytesIO(content))
    for executable in reader.executables():
        tries(executable.executable)
    for data in [*reader.tensors(), *reader.feeds(), *reader.opaqueBlobs()]:
        tries(data.data)
    for metadata in reader.metadata():
        again = io.BytesIO()
        with popef.Writer(again) as writer:
            writer.writeMetadata(metadata)
        assert popef.open(again.getvalue())[0].metadata() == metadata
    tries(lambda: popef.ModelBuilder(reader).createModels())


def check(content, options):
    popef.check(content, deep=bool(options & 1), loaders=["popart", "poptorch", "tensorflow", "triton"] if options & 2 else [])


def describe(content, options):
    popef.describe(content, inside=bool(options & 1), tiles=bool(options & 2))


def write(content, options):
    """A program of calls, each chosen by a byte, with values from the others."""
    given = atheris.FuzzedDataProvider(content)
    stream = io.BytesIO()
    writer = popef.Writer(stream)
    blob = None
    while given.remaining_bytes():
        name = given.ConsumeUnicode(4)
        shape = [given.ConsumeInt(9) for _ in range(given.ConsumeIntInRange(0, 3))]
        data_type = given.ConsumeIntInRange(0, 20)
        calls = [
            lambda: writer.createTensorData(popef.TensorDataInfo(name, popef.TensorInfo(shape, popef.DataType(data_type)))),
            lambda: writer.createFeedData(popef.FeedDataInfo(name, popef.TensorInfo(shape, popef.DataType(data_type)), data_type)),
            lambda: writer.createExecutable(name, bool(data_type & 1)),
            lambda: writer.createOpaqueBlob(name, name),
            lambda: writer.writeMetadata(popef.Metadata(executable=name, anchors=[popef.Anchor(name)], numIpus=data_type)),
            lambda: blob.write(memoryview(content)[:: data_type - 10]),
            lambda: blob.write(content, data_type),
            lambda: blob.close(),
            lambda: writer.close(),
            lambda: writer.discard(),
        ]
        call = calls[given.ConsumeIntInRange(0, len(calls) - 1)]
        made = tries(call) if blob or "blob" not in call.__code__.co_freevars else None
        blob = made if isinstance(made, popef.BlobWriter) else blob
    if tries(lambda: [writer.close()]):
        popef.open(stream.getvalue())


def tries(call):
    try:
        return call()
    except PROPER:
        return None


# All files of the corpus stay: what they reach in the native code is not seen.
KEEP = ["-keep_seed=1", "-reduce_inputs=0"]
USES = [atheris.instrument_func(use) for use in (look, vendors, check, describe, write, parts, values, operations, scan)]


def one(content):
    if len(content) > 2:
        tries(lambda: USES[content[0] % len(USES)](content[2:], content[1]))


def main():
    arguments = sys.argv
    if all(argument.startswith("-") for argument in arguments[1:]):
        corpus = pathlib.Path(tempfile.mkdtemp())
        files = [path for path in (ROOT / "testdata").rglob("*.popef") if path.stat().st_size < 8000]
        for number, path in enumerate(files):
            for use in range(len(USES)):
                (corpus / f"{number}-{use}").write_bytes(bytes([use, (37 * number + use) % 256]) + path.read_bytes())
        arguments = [*arguments, str(corpus)]
    atheris.Setup(["surface", *KEEP, "-rss_limit_mb=2048", "-timeout=20", "-max_len=8002", *arguments[1:]], one)
    atheris.Fuzz()


main()

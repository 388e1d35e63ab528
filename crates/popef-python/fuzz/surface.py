"""Gives damaged files and odd values to everything that the module offers, and looks for what is no proper exception: a panic, a
crash, a hang, or memory out of proportion.

    pip install atheris numpy target/wheels/popef-*.whl
    python crates/popef-python/fuzz/surface.py [-max_total_time=SECONDS] [CORPUS]

Without a corpus, it begins with the files of testdata. The options are those of libFuzzer. Atheris sees the branches of Python, not
those of the native code; the targets in popef/fuzz see these.
"""

import io
import pathlib
import sys
import tempfile

import atheris

with atheris.instrument_imports(include=["popef"]):
    import popef

ROOT = pathlib.Path(__file__).resolve().parents[3]
# What callers can be told. Everything else is a fault of the module; panics are no `Exception`.
PROPER = (popef.PopefError, ValueError, TypeError, OverflowError, KeyError, IndexError, OSError, DeprecationWarning)


def look(content, options):
    """Reads a file in every way, as far as it goes."""
    file = popef.open(content, damaged=bool(options & 1))
    repr(file), file.names(), file.damage
    for blob in file:
        repr(blob), blob.name, blob.version, blob.read()
        tries(lambda: blob.numpy().sum() if isinstance(blob, popef.Tensor) else None)
        tries(lambda: blob.unpack() if isinstance(blob, popef.Executable) else None)
        tries(lambda: repr(blob.metadata()) if isinstance(blob, popef.MetadataBlob) else None)


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
USES = [atheris.instrument_func(use) for use in (look, vendors, check, describe, write)]


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
                (corpus / f"{number}-{use}").write_bytes(bytes([use, 3]) + path.read_bytes())
        arguments = [*arguments, str(corpus)]
    atheris.Setup(["surface", *KEEP, "-rss_limit_mb=2048", "-timeout=20", "-max_len=8002", *arguments[1:]], one)
    atheris.Fuzz()


main()

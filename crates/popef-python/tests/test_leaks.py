"""Thousands of uses do not leak memory, open files, mappings or objects."""

import ctypes
import gc
import io
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import popef

# Memory is counted by the allocators, so that a few bytes for each use are found, on a busy machine too.
if not hasattr(ctypes.CDLL(None), "mallinfo2"):
    pytest.skip("the C library does not count what it has allocated", allow_module_level=True)

USES = 1000


class Mallinfo2(ctypes.Structure):
    """The bytes that the C library has in use in its heap, and in mappings of their own."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def in_use():
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo2
    info = mallinfo2()
    with open("/proc/self/maps") as maps:
        mapped = sum("model.popef" in line for line in maps)
    files = len(os.listdir("/proc/self/fd"))
    return info.uordblks + info.hblkhd, sys.getallocatedblocks(), mapped, files


def look(file):
    """Asks for all that a file has."""
    file.names(), len(file), repr(file)
    for blob in file:
        blob.read(), blob.name, blob.version, repr(blob)
    [tensor.numpy() for tensor in file.tensors]
    [executable.unpack() for executable in file.executables]
    [metadata.metadata().anchors() for metadata in file.metadata]


def opened(path):
    look(popef.open(path))


def mapped(path):
    file = popef.open(path, map=True)
    view = file.tensors[0].numpy()[::2]
    del file
    view.sum()


def from_bytes(path):
    look(popef.open(path.read_bytes()))


def from_a_stream(path):
    with open(path, "rb") as stream:
        look(popef.open(stream))


def vendors_reader(path):
    reader = popef.Reader()
    reader.parseFile(path)
    [tensor.data() for tensor in reader.tensors()]
    [opaque.data() for opaque in reader.opaqueBlobs()]
    popef.ModelBuilder(reader).createModel().inputsFromUser


def damaged(path):
    for content in b"no PopEF file", path.read_bytes()[:3000]:
        with pytest.raises(popef.PopefError):
            popef.open(content)
    assert popef.open(content, damaged=True).damage is not None
    with pytest.raises(FileNotFoundError):
        popef.open(path.with_name("missing"))


def checked(path):
    assert popef.check(path).findings is not None


def described(path):
    assert popef.describe(path)["files"]


def runs_and_dlpack(path):
    file = popef.open(path, map=True)
    np.from_dlpack(file.tensors[0]).sum()
    [run.sum() for feed in file.feeds for run in feed]


def changed(path):
    popef.set(path, path, fields={"numIpus": 1}, engine_options={"a": "b"}, overwrite="inputs", only_changes=True)
    with pytest.raises(popef.PopefError):
        popef.set(path, fields={"numIpu": 1}, dry_run=True)


def written(path):
    info = popef.TensorDataInfo("t", popef.TensorInfo([3], popef.DataType.U8))
    stream = io.BytesIO()
    with popef.Writer(stream) as writer:
        blob = writer.createTensorData(info)
        with pytest.raises(TypeError):
            blob.write(np.arange(3))
        blob.write(np.arange(3, dtype=">u1"))
        writer.createExecutable("e", True).write(b"1" * 100)
        writer.writeMetadata(popef.Metadata(executable="e", anchors=[popef.Anchor("a", "h")]))
    with pytest.raises(popef.PopefError):
        with popef.Writer(io.BytesIO()) as writer:
            writer.createTensorData(info).write(b"12")
            writer.createOpaqueBlob("", "")
    writer = popef.Writer(io.BytesIO())
    writer.createTensorData(info).write(b"1")
    writer.discard()


def round(use, path, uses):
    """What each use kept, on average."""
    before = in_use()
    for _ in range(uses):
        use(path)
    return [(new - old) / uses for new, old in zip(in_use(), before, strict=True)]


USED = [opened, mapped, from_bytes, from_a_stream, vendors_reader, damaged, checked, described, runs_and_dlpack, changed, written]

# With one heap for all threads, and without small stores of free memory for each, the C library counts exactly what is in use. Otherwise it also counts
# what each thread keeps, which depends on how threads take turns on a busy machine.
EXACT = {"MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}


@pytest.mark.parametrize("use", USED, ids=lambda use: use.__name__)
def test_nothing_stays(use, interop, tmp_path):
    path = tmp_path / "model.popef"
    path.write_bytes((interop / "executable.popef").read_bytes())
    call = [sys.executable, __file__, use.__name__, str(path)]
    printed = subprocess.run(call, env=os.environ | EXACT, check=True, stdout=subprocess.PIPE).stdout
    bytes_kept, objects_kept, mappings_kept, files_kept = zip(*json.loads(printed), strict=True)
    assert (sum(mappings_kept), sum(files_kept)) == (0, 0)
    assert min(bytes_kept) < 8 and min(objects_kept) < 0.5, (bytes_kept, objects_kept)


def measure(use, path):
    """What each use kept in three rounds."""
    # What is made once for all uses, such as caches.
    round(use, path, USES // 8)
    # A leak grows in each round, also in a table that becomes twice as large when it is full, because a round has as many uses as all before
    # it. What the interpreter or the C library makes once more, such as memory for one more thread, comes in one round.
    return [round(use, path, uses) for uses in (USES // 8, USES // 4, USES // 2)]


if __name__ == "__main__":
    name, path = sys.argv[1:]
    print(json.dumps(measure(globals()[name], pathlib.Path(path))))

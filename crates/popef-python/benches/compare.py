"""Measures the Python module beside NumPy, safetensors and the Rust library, each pair in turns, and prints a table:

    pip install numpy safetensors .
    python crates/popef-python/benches/compare.py [--write]

Needs Linux, the Rust toolchain for the library's own figure, and 3 GiB of memory and of disk (TMPDIR chooses where). What is
compared is the processor's time, so that other programs disturb little, and of each the fastest run; where a disk is waited
for, it is the time of a clock. `--write` puts the table into
docs/PERFORMANCE.md.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import safetensors
import safetensors.numpy

import popef

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "popef-dump" / "benches"))

import table  # noqa: E402
from table import row  # noqa: E402

TENSORS = 100_000
GIB = 1 << 30


def fastest(*works, rounds=9, before=lambda: None, clock=time.process_time):
    """The fewest seconds of each, in turns."""
    times = [[] for _ in works]
    for _ in range(rounds):
        for work, found in zip(works, times):
            before()
            start = clock()
            result = work()
            found.append(clock() - start)
            del result
    return [min(found) for found in times]


def processor_time_with_children():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def shown(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"


def compared(work, least, own, peer, words):
    """A row whose ratio is how many times as fast as the peer we are."""
    goal = "none" if least is None else f"at least {least:.2g} of its speed"
    ratio = peer / own
    return row(work, goal, shown(own), f"{words}, {shown(peer)}", f"{ratio:.2f}", least is None or ratio >= least)


def many_tensors(folder):
    path, peer = folder / "many.popef", folder / "many.safetensors"
    names = [f"layer.{number}.weight" for number in range(TENSORS)]
    zeros = np.zeros((2, 8), np.float32)
    with popef.Writer(path) as writer:
        for name in names:
            writer.createTensorData(popef.TensorDataInfo(name, popef.TensorInfo([2, 8], popef.DataType.F32))).write(zeros)
    safetensors.numpy.save_file(dict.fromkeys(names, zeros), peer)
    return path, peer


def library():
    """The program that opens files with the Rust library: the one in the variable POPEF_BENCH_OPEN, or built here."""
    if "POPEF_BENCH_OPEN" in os.environ:
        return os.environ["POPEF_BENCH_OPEN"]
    command = ["cargo", "bench", "-p", "popef", "--bench", "open", "--no-run", "--message-format", "json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    programs = (json.loads(line).get("executable") for line in built.splitlines())
    return next(program for program in programs if program)


def opening(folder, program):
    path, peer = many_tensors(folder)
    # As often as the program does it.
    own, rust = fastest(
        lambda: [len(popef.open(path)) for _ in range(100)],
        lambda: subprocess.run([program, path], check=True),
        rounds=5,
        clock=processor_time_with_children,
    )
    yield compared(f"open {TENSORS:,} tensors", 1 / 1.3, own / 100, rust / 100, "the Rust library")
    own, other = fastest(lambda: popef.open(path), lambda: safetensors.safe_open(peer, "numpy"))
    yield compared("open them", None, own, other, "safetensors")
    file, peer_file = popef.open(path), safetensors.safe_open(peer, "numpy")
    assert sorted(file.names()) == sorted(peer_file.keys())
    own, other = fastest(file.names, peer_file.keys)
    yield compared("names of all as a list", 1 / 3, own, other, "safetensors' `keys()`")
    own, other = fastest(lambda: [blob.name for blob in file], peer_file.keys)
    yield compared("an object for each, and its name", None, own, other, "safetensors' `keys()`")


def mapped(path, small):
    """Arrays of mapped files: of a tensor of 1 GiB beside one of 64 bytes."""
    big, little = popef.open(path, map=True)[0], popef.open(small, map=True)[0]
    assert (big.nbytes, little.nbytes) == (GIB, 64)
    many = range(1000)
    own, other = (seconds / len(many) for seconds in fastest(lambda: [big.numpy() for _ in many], lambda: [little.numpy() for _ in many]))
    return compared("array of 1 GiB of a mapped file", 0.9, own, other, "array of 64 bytes")


def reading(path, raw):
    assert (popef.open(path)[0].numpy() == np.fromfile(raw, np.float32)).all()
    reader = popef.Reader()
    reader.parseFile(path)
    own, vendor, peer = fastest(
        lambda: popef.open(path)[0].numpy(), lambda: reader.tensors()[0].data(), lambda: np.fromfile(raw, np.float32)
    )
    yield compared("read a tensor of 1 GiB", 0.9, own, peer, "`np.fromfile`")
    yield compared("read it with `Reader`", 0.9, vendor, peer, "`np.fromfile`")


def writing(path, raw, array):
    info = popef.TensorDataInfo("tensor", popef.TensorInfo(array.shape, popef.DataType.F32))

    def write(to):
        with popef.Writer(to) as writer:
            writer.createTensorData(info).write(array)

    def write_into_file():
        with open(path, "wb") as file:
            write(file)

    def flushed(work):
        work()
        descriptor = os.open(raw, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    def remove():
        path.unlink(missing_ok=True)
        raw.unlink(missing_ok=True)

    def write_pieces():
        view = memoryview(array).cast("B")
        with open(raw, "wb", buffering=0) as file:
            for at in range(0, len(view), 8 << 20):
                file.write(view[at : at + (8 << 20)])

    to_file = lambda: array.tofile(raw)
    own, peer = fastest(lambda: write(path), lambda: flushed(to_file), rounds=5, before=remove, clock=time.perf_counter)
    yield compared("write a tensor of 1 GiB, flushed to the disk", 0.9, own, peer, "`ndarray.tofile` and `os.fsync`")
    own, peer, pieces = fastest(write_into_file, to_file, write_pieces, rounds=5, before=remove)
    yield compared("write it into an open file, not flushed", 0.9, own, peer, "`ndarray.tofile`, which allocates the file first")
    yield compared("write it into an open file, not flushed", None, own, pieces, "`write` of pieces of 8 MiB")


def importing():
    """Beside what the interpreter alone takes. The programs of an environment are compiled when they are first run. By a clock, because
    some systems count the time of processes in steps of 10 ms."""
    run = lambda program: lambda: subprocess.run([sys.executable, "-c", program], check=True)
    programs = run("pass"), run("import popef"), run("import numpy")
    nothing, own, peer = fastest(*programs, rounds=25, clock=time.perf_counter)
    figure, words = shown(own - nothing), f"`import numpy`, {shown(peer - nothing)}"
    ratio = (peer - nothing) / (own - nothing)
    return row("`import popef`", "at most 30 ms", figure, words, f"{ratio:.2f}", own - nothing <= 0.030)


def measure(folder):
    small, path, raw = folder / "small.popef", folder / "big.popef", folder / "raw"
    yield importing()
    yield from opening(folder, library())
    array = np.arange(GIB // 4, dtype=np.float32)
    yield from writing(path, raw, array)
    with popef.Writer(path) as writer:
        writer.createTensorData(popef.TensorDataInfo("big", popef.TensorInfo(array.shape, popef.DataType.F32))).write(array)
    with popef.Writer(small) as writer:
        writer.createTensorData(popef.TensorDataInfo("small", popef.TensorInfo([16], popef.DataType.F32))).write(array[:16])
    array.tofile(raw)
    del array
    yield mapped(path, small)
    yield from reading(path, raw)


def main():
    rows = []
    about = f"{table.machine().rstrip().rstrip('.')}; Python {sys.version.split()[0]}, NumPy {np.__version__}.\n"
    with tempfile.TemporaryDirectory() as folder:
        for line in measure(pathlib.Path(folder)):
            print(line, flush=True)
            rows.append(line)
    if "--write" in sys.argv:
        table.put("python", about, rows)


if __name__ == "__main__":
    main()

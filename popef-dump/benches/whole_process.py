"""Measures popef-dump as a whole process: time from start to end, how many processors worked, and peak memory.

    cargo build --release -p popef-dump
    python3 popef-dump/benches/whole_process.py [PROGRAM]

Needs Linux, Python, and for the memory GNU time. Makes its inputs, some of them sparse, in a temporary folder. The output goes
to /dev/null. Every command runs a few times unmeasured, then RUNS times; the median counts. `-e` on a file of
tensors finds nothing to print, so it is the walk over the file and the start of the process, and no more.
"""

import os
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 21
F32 = 3


def message(words):
    """A message of one segment."""
    return struct.pack("<II", 0, len(words) // 8) + words


def text(data):
    return data + bytes(8 - len(data) % 8)


def tensor_head(name, shape, data_size):
    """Header and info of a tensor blob, laid out as docs/FORMAT.md explains byte by byte."""
    name_words = text(name)
    shape_words = struct.pack(f"<{len(shape)}q", *shape)
    at_shape = struct.pack("<II", 1, len(shape) << 3 | 5)
    info = struct.pack("<IHH", 0, 0, 2)
    info += struct.pack("<II", 1 << 2 | 1, (len(name) + 1) << 3 | 2)
    info += struct.pack("<IHH", len(name_words) // 8 << 2, 1, 1)
    info += name_words + struct.pack("<Hxxxxxx", F32) + at_shape + shape_words
    info = message(info)
    size = 48 + len(info) + data_size
    header = struct.pack("<IHH", 0, 2, 1) + struct.pack("<HxxxxxxQ", 2, size) + struct.pack("<II", 1, 1 << 3 | 2) + bytes(8)
    return message(header) + info


def write_tensors(path, count, shape, data=None):
    """Tensors with these bytes for data, or with a hole of the right size."""
    size = 4
    for extent in shape:
        size *= extent
    with open(path, "wb") as file:
        for number in range(count):
            name = f"model/layer_{number // 16}/attention/weights:{number % 16}".encode()
            file.write(tensor_head(name, shape, size))
            file.write(data) if data is not None else file.seek(size, os.SEEK_CUR)
        file.truncate(file.tell())


def measure(command):
    """The median time in milliseconds, what of it the processors worked, and the peak of memory in MiB."""
    times, loads = [], []
    for run in range(RUNS + 3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        status = subprocess.Popen(command, stdout=subprocess.DEVNULL).wait()
        elapsed = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert status == 0, (command, status)
        if run >= 3:
            times.append(elapsed * 1000)
            loads.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / elapsed)
    return statistics.median(times), statistics.median(loads), peak_memory(command)


def peak_memory(command):
    """By GNU time: a process that Python starts itself is counted with Python's memory."""
    try:
        timed = ["/usr/bin/time", "-f", "%M", *command]
        error = subprocess.run(timed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr
    except FileNotFoundError:
        return float("nan")
    return int(error.split()[-1]) / 1024


def make_inputs(folder):
    random.seed(7)
    noise = struct.pack("<65536f", *(random.gauss(0, 1) for _ in range(65536)))
    for count in (1_000, 10_000, 100_000):
        write_tensors(folder / f"{count}.popef", count, [4], bytes(16))
    write_tensors(folder / "sparse.popef", 16, [131_072, 1024])
    write_tensors(folder / "noise.popef", 1, [4096, 65_536], noise * 4096)
    (folder / "many").mkdir()
    for number in range(1000):
        write_tensors(folder / "many" / f"{number}.popef", 100, [4], bytes(16))
    (folder / "list").write_text("".join(f"{folder}/many/{number}.popef\n" for number in range(1000)))


# With a walk over the 1,000 files by one processor, whose time is the sum of their walks.
ONE_PROCESSOR = ["taskset", "-c", "0"]


def works(program, folder):
    """What is measured: a label, the command, and a short name where a goal is held to it."""
    small, sparse, noise, many = (str(folder / file) for file in ("100000.popef", "sparse.popef", "noise.popef", "list"))
    return [
        ("nothing (true)", ["true"], "nothing"),
        ("start-up (--version)", [program, "--version"], None),
        ("100,000 tensors: copied (cat)", ["cat", small], "cat"),
        ("100,000 tensors: walked (-e)", [program, "-e", small], "walk"),
        ("100,000 tensors: --all", [program, "--all", small], "all"),
        ("10,000 tensors: --all", [program, "--all", str(folder / "10000.popef")], "all 10,000"),
        ("1,000 tensors: --all", [program, "--all", str(folder / "1000.popef")], "all 1,000"),
        ("100,000 tensors: --all --format json", [program, "--all", "--format", "json", small], None),
        ("100,000 tensors: overview", [program, small], "overview"),
        ("16 x 512 MiB, sparse: overview", [program, sparse], "sparse"),
        ("16 x 512 MiB, sparse: --all", [program, "--all", sparse], None),
        ("1 GiB of f32: copied (cat)", ["cat", noise], "cat 1 GiB"),
        ("1 GiB of f32: --values, one processor", [*ONE_PROCESSOR, program, "--values", noise], "values, one"),
        ("1 GiB of f32: --values", [program, "--values", noise], "values"),
        ("1,000 files: walked, one processor", [*ONE_PROCESSOR, program, "-e", "--files-from", many], "walks, one"),
        ("1,000 files: walked (-e)", [program, "-e", "--files-from", many], "walks"),
        ("1,000 files: --all", [program, "--all", "--files-from", many], "all of many"),
        ("1,000 files: overview", [program, "--files-from", many], "overview of many"),
    ]


def measure_all(program, show):
    """Measures all works; gives those with a short name by it, as (ms, load, MiB)."""
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder)
        for label, command, short in works(program, folder):
            result = measure(command)
            results[short] = result
            show(label, *result)
    return results


def default_program():
    return str(Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release/popef-dump")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else default_program()
    print(f"{'':<40} {'ms':>8} {'processors':>10} {'MiB':>6}")
    measure_all(program, lambda *row: print("{:<40} {:>8.1f} {:>10.2f} {:>6.1f}".format(*row), flush=True))


if __name__ == "__main__":
    main()

"""Measures popef-dump as a whole process: time from start to end, and peak memory.

    cargo build --release -p popef-dump
    python3 popef-dump/benches/whole_process.py [PROGRAM]

Needs Linux, Python, and for the memory GNU time. Makes its inputs, some of them sparse, in a temporary folder. The output goes
to /dev/null. Every command runs a few times unmeasured, then RUNS times; the median counts. `-e` on a file of
tensors finds nothing to print, so it is the walk over the file and the start of the process, and no more.
"""

import os
import random
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


def measure(program, arguments):
    """The median time in milliseconds, and the peak of memory in MiB."""
    times = []
    for run in range(RUNS + 3):
        start = time.perf_counter()
        child = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL)
        status = child.wait()
        elapsed = time.perf_counter() - start
        assert status == 0, (arguments, status)
        if run >= 3:
            times.append(elapsed * 1000)
    return statistics.median(times), peak_memory(program, arguments)


def peak_memory(program, arguments):
    """By GNU time: a process that Python starts itself is counted with Python's memory."""
    command = ["/usr/bin/time", "-f", "%M", program, *arguments]
    try:
        error = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr
    except FileNotFoundError:
        return float("nan")
    return int(error.split()[-1]) / 1024


def make_inputs(folder):
    random.seed(7)
    noise = struct.pack("<65536f", *(random.gauss(0, 1) for _ in range(65536)))
    write_tensors(folder / "small.popef", 100_000, [4], bytes(16))
    write_tensors(folder / "sparse.popef", 16, [131_072, 1024])
    write_tensors(folder / "noise.popef", 1, [1024, 65_536], noise * 1024)
    (folder / "many").mkdir()
    for number in range(1000):
        write_tensors(folder / "many" / f"{number}.popef", 100, [4], bytes(16))
    (folder / "list").write_text("".join(f"{folder}/many/{number}.popef\n" for number in range(1000)))


def main():
    default = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release/popef-dump"
    program = sys.argv[1] if len(sys.argv) > 1 else str(default)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder)
        small, sparse, noise, many = (str(folder / file) for file in ("small.popef", "sparse.popef", "noise.popef", "list"))
        rows = [
            ("start-up (--version)", ["--version"]),
            ("walk of 100,000 tensors (-e)", ["-e", small]),
            ("--all on 100,000 tensors", ["--all", small]),
            ("--all --format json on them", ["--all", "--format", "json", small]),
            ("overview of them", [small]),
            ("overview of 16 x 512 MiB, sparse", [sparse]),
            ("--all on it", ["--all", sparse]),
            ("--values on 256 MiB of f32", ["--values", noise]),
            ("walk of 1,000 files of 100 tensors (-e)", ["-e", "--files-from", many]),
            ("--all on them", ["--all", "--files-from", many]),
        ]
        print(f"{'':<40} {'ms':>8} {'MiB':>6}")
        for label, arguments in rows:
            median, memory = measure(program, arguments)
            print(f"{label:<40} {median:>8.1f} {memory:>6.1f}", flush=True)


if __name__ == "__main__":
    main()

"""Measures everything that docs/PERFORMANCE.md holds, and writes its table anew:

    python3 popef-dump/benches/performance.py

Runs `cargo bench -p popef`, whole processes of popef-dump (whole_process.py), and a build of the library from nothing. Needs
Linux, GNU time, and for one row pycapnp. Takes about ten minutes, in which the machine should do nothing else.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import table
import whole_process
from table import row

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20


def library_rows():
    """What the benchmarks of the library print as rows of a table."""
    bench = subprocess.Popen(["cargo", "bench", "-p", "popef"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    rows = []
    for line in bench.stdout:
        print(line, end="", flush=True)
        if line.startswith("| "):
            rows.append(line.strip())
    assert bench.wait() == 0, "cargo bench failed"
    return rows


def tool_rows(program):
    show = lambda *result: print("{:<40} {:>8.1f} ms {:>5.2f} {:>6.1f} MiB".format(*result), flush=True)
    results = whole_process.measure_all(program, show)
    time_of = {short: result[0] for short, result in results.items()}
    walk, all_of_it, cat = time_of["walk"], time_of["all"], time_of["cat"]
    rows = [
        row(
            "popef-dump --all, 100,000 tensors, to /dev/null",
            "at most 40 ms, whole process",
            f"{all_of_it:.1f} ms",
            f"its walk alone (-e), {walk:.1f} ms; cat, {cat:.1f} ms",
            f"{all_of_it / walk:.2f}",
            all_of_it <= 40,
        )
    ]
    # Without what a process takes to start and end.
    start = time_of["nothing"]
    each = [(time_of[short] - start) * 1e6 / count for short, count in (("all 1,000", 1e3), ("all 10,000", 1e4), ("all", 1e5))]
    worst = max(each[1:]) / each[0]
    rows.append(
        row(
            "the same for 1,000, 10,000, 100,000 tensors",
            "x10 and x100 cost no more than 10 and 100 times as much",
            ", ".join(f"{cost:.0f}" for cost in each) + " ns a tensor",
            "itself",
            f"{worst:.2f}",
            worst <= 1.5,
        )
    )
    ms, _, memory = results["sparse"]
    rows.append(
        row(
            "popef-dump, overview of 16 x 512 MiB",
            "under 3 ms, whole process, and under 6 MiB",
            f"{ms:.1f} ms, {memory:.1f} MiB",
            f"true, {start:.1f} ms",
            f"{ms / start:.2f}",
            ms < 3 and memory < 6,
        )
    )
    walks = time_of["walks, one"]
    for what, short in (("--all", "all of many"), ("overview", "overview of many")):
        ms, load, _ = results[short]
        rows.append(
            row(
                f"popef-dump, {what} of 1,000 files of 100 tensors",
                "at most 1.3 times the sum of their walks, both processors used",
                f"{ms:.1f} ms, {load:.2f} processors",
                f"their walks, one after the other, {walks:.1f} ms",
                f"{ms / walks:.2f}",
                ms <= 1.3 * walks and load >= 1.5,
            )
        )
    for short, what, processors in (("values, one", "on one processor", 1), ("values", "on both", 2)):
        ms, load, _ = results[short]
        rate = (1 << 30) / ms / 1e6
        rows.append(
            row(
                f"popef-dump --values, 1 GiB of F32, {what}",
                "at least 2 GB/s a processor, both used",
                f"{rate:.2f} GB/s, {load:.2f} processors",
                f"cat, {(1 << 30) / time_of['cat 1 GiB'] / 1e6:.2f} GB/s",
                f"{time_of['cat 1 GiB'] / ms:.2f}",
                rate >= 2 * processors,
            )
        )
    return rows


def pycapnp_rows(program):
    """How long Python with the official library takes to list what the tool lists: for orientation, without a goal."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "small.popef"
        whole_process.write_tensors(file, 10_000, [4], bytes(16))
        script = f"""
import sys, time
import capnp
schema = capnp.load({str(ROOT / 'popef/schema/popef.capnp')!r})
data = open(sys.argv[1], 'rb').read()
def message(at):
    segments = int.from_bytes(data[at:at + 4], 'little') + 1
    table = (4 + 4 * segments + 7) // 8 * 8
    words = sum(int.from_bytes(data[at + 4 + 4 * i:at + 8 + 4 * i], 'little') for i in range(segments))
    return table + 8 * words
start = time.perf_counter()
at = 0
count = 0
while at < len(data):
    length = message(at)
    with schema.BlobHeader.from_bytes(data[at:at + length]) as header:
        size = header.size
    info = at + length
    with schema.TensorDataInfo.from_bytes(data[info:info + message(info)]) as tensor:
        tensor.name, list(tensor.tensorInfo.shape), tensor.tensorInfo.dataType
    at += size
    count += 1
print((time.perf_counter() - start) * 1000, count)
"""
        python = os.environ.get("PYTHON", sys.executable)
        run = subprocess.run([python, "-c", script, str(file)], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            print("left out: pycapnp (no module, or it failed)\n" + run.stderr[-300:])
            return []
        peer = float(run.stdout.split()[0])
        ours, _, _ = whole_process.measure([program, "--all", str(file)])
    return [
        row(
            "popef-dump --all, 10,000 tensors",
            "none: for orientation",
            f"{ours:.1f} ms, whole process",
            f"a loop of Python over pycapnp, {peer:.0f} ms",
            f"{peer / ours:.0f}",
        )
    ]


def size_rows(program):
    size = Path(program).stat().st_size
    return [
        row(
            "release binary, stripped",
            "under 3 MiB",
            f"{size / MIB:.2f} MiB",
            met=size < 3 * MIB,
        )
    ]


def build_rows():
    with tempfile.TemporaryDirectory() as target:
        command = ["cargo", "build", "--quiet", "--release", "--offline", "-p", "popef"]
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": target}, check=True)
        elapsed = time.perf_counter() - start
    return [row("cold build of the library, release", "under 25 s on two processors", f"{elapsed:.1f} s", met=elapsed < 25)]


def main():
    about = table.machine()
    subprocess.run(["cargo", "build", "--release", "-p", "popef-dump"], cwd=ROOT, check=True)
    program = str((ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/popef-dump").resolve())
    # A copy: the benchmarks build the program anew.
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.copy(program, folder)
        rows = library_rows() + tool_rows(program) + pycapnp_rows(program) + size_rows(program)
    rows += build_rows()
    table.put("measured", about, rows)
    print(table.text(rows))


if __name__ == "__main__":
    main()

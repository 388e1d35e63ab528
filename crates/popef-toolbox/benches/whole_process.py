"""Measures the commands of popef as whole processes, each beside a program that handles the same bytes:

    cargo build --release -p popef-toolbox
    python3 crates/popef-toolbox/benches/whole_process.py [--write] [PROGRAM]

Needs Linux, Python, GNU time, and b3sum for one row. The inputs are generated with a fixed seed, in a temporary folder
(TMPDIR chooses where). Each pair takes turns for ROUNDS rounds, and the fastest runs are compared, because other programs only
make a run slower. `--write` puts the table into docs/PERFORMANCE.md.
"""

import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "popef-dump/benches"))

import table  # noqa: E402
from whole_process import write_tensors  # noqa: E402

ROUNDS = 7
MIB = 1 << 20


def make_inputs(folder):
    """A file of 1 GiB of tensors, the same in two halves, and an executable of 256 MiB that compresses like code."""
    noise = random.Random(7).randbytes(16 * MIB)
    for name, count in (("model", 16), ("first", 8), ("second", 8)):
        write_tensors(folder / f"{name}.popef", count, [64 * MIB // 4], noise * 4)
    shutil.copy(folder / "model.popef", folder / "same.popef")
    words = [random.Random(number).randbytes(4) for number in range(4096)]
    chosen = random.Random(8)
    code = b"".join(chosen.choices(words, k=4 * MIB)) * 16
    (folder / "code").write_bytes(code)


def works(popef, folder):
    """What is measured: a label, our command, the peer's, its words, the least ratio, and what to remove between runs."""
    command = lambda text: text.format(popef=shlex.quote(popef))
    return [
        ("extract 1 GiB of tensors", command("{popef} extract model.popef -o out"), "cp model.popef out", "cp", 0.9),
        ("hash 1 GiB, sha256", command("{popef} hash model.popef"), "sha256sum first.popef & sha256sum second.popef; wait", "sha256sum of each half, both at once", 0.9),
        ("hash 1 GiB, blake3", command("{popef} hash --algorithm blake3 model.popef"), "b3sum model.popef", "b3sum", 0.9),
        ("diff of two equal files of 1 GiB", command("{popef} diff model.popef same.popef"), "cmp model.popef same.popef", "cmp", 0.9),
        ("merge two files of 512 MiB", command("{popef} merge first.popef second.popef -o out"), "cp model.popef out && sync out", "cp and sync", 0.9),
        ("split a file of 1 GiB by size", command("{popef} split --by size --max-size 512MiB model.popef -o out"), "mkdir out && cp first.popef out/a && cp second.popef out/b && sync out/a out/b", "cp and sync", 0.9),
        ("compress an executable of 256 MiB", command("{popef} compress code.popef -o out"), command("{popef} compress --threads 1 code.popef -o out"), "the same on one thread", 1.8),
        ("decompress it", command("{popef} decompress packed.popef -o out"), "pigz -d -z -c < code.zz > out && sync out", "pigz -d and sync", None),
    ]


def clear(folder):
    out = folder / "out"
    shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)


def run(command, folder):
    clear(folder)
    start = time.perf_counter()
    status = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    elapsed = time.perf_counter() - start
    assert status == 0, (command, status)
    return elapsed


def peak_memory(command, folder):
    clear(folder)
    timed = ["/usr/bin/time", "-f", "%M", *shlex.split(command)]
    run = subprocess.run(timed, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return int(run.stderr.split()[-1]) / 1024


def measure(popef, folder):
    rows = []
    for label, ours, peer, words, goal in works(popef, folder):
        if shutil.which(shlex.split(peer)[0]) is None:
            print(f"left out: {label}: there is no {shlex.split(peer)[0]}")
            continue
        pairs = [(run(ours, folder), run(peer, folder)) for _ in range(ROUNDS)]
        own, other = (min(times) for times in zip(*pairs))
        memory, ratio = peak_memory(ours, folder), other / own
        wanted = "none: for orientation" if goal is None else f"at least {goal} of its speed, and at most 64 MiB"
        figure = f"{own * 1000:.0f} ms, {memory:.0f} MiB"
        rows.append(table.row(f"popef {label}", wanted, figure, f"{words}, {other * 1000:.0f} ms", f"{ratio:.2f}", ratio >= (goal or 0) and memory <= 64))
        print(rows[-1], flush=True)
    clear(folder)
    return rows


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    popef = str(Path(arguments[0] if arguments else target / "release/popef").resolve())
    about = table.machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder)
        subprocess.run([popef, "pack", "--executable", "code:model", "-o", "code.popef"], cwd=folder, check=True)
        subprocess.run([popef, "compress", "code.popef", "-o", "packed.popef"], cwd=folder, check=True, capture_output=True)
        if shutil.which("pigz"):
            with open(folder / "code.zz", "wb") as out:
                subprocess.run(["pigz", "-z", "-c", "code"], cwd=folder, check=True, stdout=out)
        rows = measure(popef, folder)
    if "--write" in sys.argv:
        table.put("toolbox", about, rows)


if __name__ == "__main__":
    main()

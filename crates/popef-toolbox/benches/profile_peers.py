"""Measures popef profile as a whole process, beside jq and Python's json module:

    cargo build --release -p popef-toolbox
    python3 crates/popef-toolbox/benches/profile_peers.py [--write] [--bytes 1e9] [PROGRAM]

Needs Linux, Python, GNU time and jq, and for a graph of 1 GB 16 GB of memory, which the peers use. The reports are synthetic (large_profile.py), in a
temporary folder (TMPDIR chooses where). Each command runs ROUNDS times, and the fastest runs are compared, because other programs only
make a run slower. `--write` puts the table into docs/PERFORMANCE.md.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "popef-dump/benches"))

import large_profile  # noqa: E402
import table  # noqa: E402

ROUNDS = 3
MIB = 1 << 20
MOST = "64 MiB and 16 bytes per tile and list"


def run(command, folder):
    """Seconds, and MiB of memory at the peak, of the fastest run."""
    runs = []
    for _ in range(ROUNDS):
        timed = ["/usr/bin/time", "-f", "%M", *shlex.split(command)]
        start = time.perf_counter()
        done = subprocess.run(timed, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
        runs.append((time.perf_counter() - start, int(done.stderr.split()[-1]) / 1024))
    return min(runs)


def measure(popef, folder, graph_bytes):
    size = {"tiles": 1472, "ipus": 1, "steps": 10, "exchanges": 50, "compute_sets": 50, "graph_bytes": graph_bytes}
    large_profile.write(str(folder), **size)
    named = f"{(folder / 'graph.json').stat().st_size / 1e9:.1f} GB"
    popef = shlex.quote(popef)
    ours, memory = run(f"{popef} profile graph.json", folder)
    rows = []
    for peer, command, goal in [
        ("jq .memory.byTile", "jq .memory.byTile graph.json", 3),
        ("json.load of Python", f"{shlex.quote(sys.executable)} -c 'import json; json.load(open(\"graph.json\"))'", 5),
    ]:
        theirs, their_memory = run(command, folder)
        ratio = theirs / ours
        figure = f"{ours:.2f} s, {memory:.0f} MiB"
        met = ratio >= goal and memory <= 64
        goal = f"at least {goal} times its speed, and at most {MOST}"
        rows.append(table.row(f"popef profile of a graph.json of {named}", goal, figure, f"{peer}, {theirs:.2f} s, {their_memory:.0f} MiB", f"{ratio:.1f}", met))
    (folder / "graph.json").unlink()
    large_profile.write(str(folder), **size | {"steps": 10_000, "graph_bytes": 0})
    seconds, memory = run(f"{popef} profile graph.json execution.json -o page.html --force", folder)
    page = (folder / "page.html").stat().st_size
    rows.append(table.row("page of 1,472 tiles and 10,000 steps", "at most 2 MB", f"{page / 1e6:.1f} MB, made in {seconds:.2f} s with {memory:.0f} MiB", met=page <= 2e6))
    large_profile.write(str(folder), **size | {"tiles": 188_416, "ipus": 128, "graph_bytes": 0})
    for command, lists in [("--by category", 8), ("--by tile", 12)]:
        seconds, memory = run(f"{popef} profile graph.json {command}", folder)
        most = 64 + 16 * 188_416 * lists / MIB
        rows.append(table.row(f"popef profile {command} of 188,416 tiles", f"at most {MOST}, here {most:.0f} MiB", f"{seconds:.2f} s, {memory:.0f} MiB", met=memory <= most))
    for distinct, named in [(False, "a million steps"), (True, "a million steps that all have other numbers")]:
        large_profile.write(str(folder), **size | {"steps": 1_000_000, "graph_bytes": 0, "distinct": distinct})
        for command in ["", "--by step", "-o page.html --force", "--trace steps.json --force"]:
            seconds, memory = run(f"{popef} profile graph.json execution.json {command}", folder)
            rows.append(table.row(f"popef profile {command} of {named}".replace("  ", " "), "at most 64 MiB", f"{seconds:.2f} s, {memory:.0f} MiB", met=memory <= 64))
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("popef", nargs="?", default=str(ROOT / "target/release/popef"))
    arguments.add_argument("--bytes", type=float, default=1e9)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    about = table.machine()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(str(Path(given.popef).resolve()), Path(folder), given.bytes)
    if given.write:
        table.put("profile", about, rows)
    print(about, table.text(rows), sep="\n")


if __name__ == "__main__":
    main()

"""Measures the memory of the commands of popef for files of very many blobs:

    cargo build --release -p popef-toolbox
    python3 crates/popef-toolbox/benches/many_blobs.py [--write] [PROGRAM]

Needs Linux, Python and GNU time. There are two files: 300,000 tensors of 4 bytes, and a model of 100,000 such tensors that are
all inputs. `--write` puts the table into docs/PERFORMANCE.md.
"""

import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "popef-dump/benches"))

import table  # noqa: E402

GOAL = 64
# A status of 1 says that something was found, or differs.
COMMANDS = [
    "ls {file}",
    "dump --all {file}",
    "check {file}",
    "cat {file} layer.0000100.weight",
    "hash --format json {file}",
    "verify {manifest}",
    "diff {file} {file}",
    "merge {file} -o out.popef",
    "split {file} --max-size 4MB -o out",
    "strip {file} --drop tensor:layer.0000001* -o out.popef",
    "recover {file} -o out.popef",
    "compress {file} -o out.popef",
    "extract {file} --tensors-as safetensors -o out",
    "extract {file} -o out",
    "pack {folder} -o out.popef",
    "report {file} -o out.html",
    "set {file} --set-version 1 -o out.popef",
    "set {file} --tensors {other} -o out.popef",
]
OF_METADATA = [
    "pack --executable model.bin:model --metadata model.json --tensors tensors.safetensors -o out.popef",
    "set {file} --set numIpus=2 -o out.popef",
    "diff {file} {changed}",
]


def name(number):
    return f"layer.{number:07}.weight"


def write_safetensors(path, count, first):
    tensors = {name(i): {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(count)}
    header = json.dumps(tensors, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack(f"<{count}f", *(first + i for i in range(count))))


def write_metadata(path, count):
    info = {"dataType": "F32", "shape": [1]}
    anchor = lambda i: {"name": name(i), "type": "INPUT", "handle": "h2d_" + name(i), "tensorInfo": info, "programs": [0]}
    path.write_text(json.dumps({"executable": "model", "anchors": [anchor(i) for i in range(count)]}))


def make_inputs(popef, folder, count, with_anchors):
    """The files that the commands name."""
    run = lambda command, **more: subprocess.run([popef, *shlex.split(command)], cwd=folder, check=True, **more)
    folder.mkdir()
    write_safetensors(folder / "tensors.safetensors", count, 0)
    write_safetensors(folder / "other.safetensors", count, 1)
    models = ""
    if with_anchors:
        (folder / "model.bin").write_bytes(b"its bytes")
        write_metadata(folder / "model.json", count)
        models = "--executable model.bin:model --metadata model.json"
    run(f"pack {models} --tensors tensors.safetensors -o file.popef", capture_output=True)
    run("extract file.popef --tensors-as safetensors -o folder", capture_output=True)
    with open(folder / "manifest.json", "wb") as manifest:
        run("hash --format json file.popef", stdout=manifest)
    if with_anchors:
        run("set file.popef --set numIpus=4 -o changed.popef", capture_output=True)


def peak_memory(popef, command, folder):
    for out in folder.glob("out*"):
        shutil.rmtree(out) if out.is_dir() else out.unlink()
    places = {"file": "file.popef", "other": "other.safetensors", "folder": "folder", "manifest": "manifest.json", "changed": "changed.popef"}
    timed = ["/usr/bin/time", "-q", "-f", "%M", popef, *shlex.split(command.format(**places))]
    done = subprocess.run(timed, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert done.returncode in (0, 1), (command, done.stderr[-2000:])
    return int(done.stderr.split()[-1]) / 1024


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    popef = str(Path(arguments[0] if arguments else target / "release/popef").resolve())
    about, rows = table.machine(), []
    with tempfile.TemporaryDirectory() as temporary:
        tensors, model = Path(temporary, "tensors"), Path(temporary, "model")
        make_inputs(popef, tensors, 300_000, False)
        make_inputs(popef, model, 100_000, True)
        for command in COMMANDS + OF_METADATA:
            peaks = {"300,000 tensors": None if command in OF_METADATA else peak_memory(popef, command, tensors)}
            peaks["100,000 tensors and anchors"] = peak_memory(popef, command, model)
            figures = "; ".join(f"{what}: {peak:.0f} MiB" for what, peak in peaks.items() if peak is not None)
            is_met = all(peak is None or peak <= GOAL for peak in peaks.values())
            shown = command.format(file="x.popef", other="y.safetensors", folder="xd", manifest="x.manifest", changed="y.popef")
            rows.append(table.row(f"`popef {shown}`", f"at most {GOAL} MiB", figures, "", "", is_met))
            print(rows[-1], flush=True)
    if "--write" in sys.argv:
        table.put("memory", about, rows)


if __name__ == "__main__":
    main()

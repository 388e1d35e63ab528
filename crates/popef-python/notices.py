"""Writes THIRD-PARTY-NOTICES, which every wheel carries: the licences of the crates that are linked into the module.

    python notices.py            # writes the file
    python notices.py --check    # fails if the crates are others by now

The crates are those of all targets and of the feature ``remote``, so the file fits every wheel. Their licences are read from
Cargo's own copies of them.
"""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "THIRD-PARTY-NOTICES"
HEAD = """Third-party notices

The Python module popef is MIT OR Apache-2.0. Its wheels have the crates below linked into them. Each is named with its licence.
Where that is a choice that includes MIT, the crate is used under MIT. Those that only a module with the feature "remote" has are marked.

The Rust standard library is linked too: MIT OR Apache-2.0, copyright (c) The Rust Project Contributors, https://www.rust-lang.org.
"""
TEXTS = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)
RULE = "-" * 80


def metadata(features):
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--features", features]
    # Crates for other systems are fetched only if they were not before.
    for options in ["--offline"], []:
        found = subprocess.run([*command, *options], cwd=HERE, capture_output=True, text=True)
        if found.returncode == 0:
            return json.loads(found.stdout)
    sys.exit(found.stderr)


def linked(features):
    """The crates of others that are linked into the module, by their ids."""
    found = metadata(features)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    waiting, seen = [found["resolve"]["root"]], set()
    while waiting:
        current = waiting.pop()
        if current in seen or is_run_by_compiler(packages[current]):
            continue
        seen.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    return {id: packages[id] for id in seen if packages[id]["source"] is not None}


def is_run_by_compiler(package):
    """Whether nothing of it is in what it helps to compile."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def texts_of(package):
    """The texts that have to go with a crate."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and TEXTS.search(path.name) and path.suffix != ".rs")
    chosen = files
    if " OR " in (package["license"] or "") and "MIT" in package["license"]:
        mit = [path for path in files if "mit" in path.name.lower()]
        chosen = mit + [path for path in files if "notice" in path.name.lower()] if mit else files
    return ["\n".join(line.rstrip() for line in read(path).strip().splitlines()) for path in chosen]


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def lines():
    """One line for each crate."""
    usual = linked("extension-module")
    for id, package in sorted(linked("extension-module,remote").items(), key=lambda item: (item[1]["name"], item[1]["version"])):
        mark = "" if id in usual else " (remote)"
        licence = package["license"] or f"see {package['license_file']}"
        yield f"{package['name']} {package['version']}{mark}: {licence}", package


def document():
    crates = list(lines())
    holders = {}
    for line, package in crates:
        for text in texts_of(package) or [f"Its authors: {', '.join(package['authors']) or package['repository']}"]:
            holders.setdefault(text, []).append(line.split(":")[0])
    parts = [HEAD, "\n".join(line for line, _ in crates)]
    parts += [f"{RULE}\n{', '.join(names)}\n{RULE}\n\n{text}" for text, names in holders.items()]
    return "\n\n".join(parts) + "\n"


def is_current():
    """Whether the file names the crates that are linked now."""
    wanted = [line for line, _ in lines()]
    return FILE.exists() and "\n".join(wanted) + "\n\n" + RULE in FILE.read_text(encoding="utf-8")


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(document(), encoding="utf-8")
    elif not is_current():
        sys.exit(f"{FILE.name} is not of these crates any more: run {pathlib.Path(__file__).name}")

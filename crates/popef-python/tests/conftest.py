"""What the tests share: files that the official Cap'n Proto library wrote, and that library as a reader."""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
INTEROP = ROOT / "testdata" / "interop"

# A shell has what it starts in the background ignore Ctrl-C, and programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def needed(package):
    """Skips the test, or the tests of the file, if a package is missing. In CI, none may be."""
    if importlib.util.find_spec(package) is None and not os.environ.get("CI"):
        pytest.skip(f"{package} is not installed", allow_module_level=True)


if importlib.util.find_spec("hypothesis"):
    import hypothesis

    # The same examples in each run: what passed once passes again. `pytest --hypothesis-profile search` looks for others.
    hypothesis.settings.register_profile("tests", derandomize=True, deadline=None, max_examples=60, database=None)
    hypothesis.settings.register_profile("search", deadline=None, max_examples=5000, database=None)
    hypothesis.settings.load_profile("tests")


@pytest.fixture
def interop():
    return INTEROP


@pytest.fixture
def described():
    """What a file of testdata/interop holds, worked out with the official library."""

    def describe(name):
        document = json.loads((INTEROP / f"{name}.json").read_text())
        return [blob for file in document["files"] for blob in file["blobs"]]

    return describe


@pytest.fixture
def peer():
    """Reads a file with the official Cap'n Proto library. Compressed executables are unpacked with Python's zlib."""
    needed("capnp")
    script = ROOT / "popef" / "tests" / "read_with_pycapnp.py"
    schema = ROOT / "popef" / "schema" / "popef.capnp"

    def read(path):
        done = subprocess.run(
            [sys.executable, script, schema, path], check=True, capture_output=True, text=True
        )
        return json.loads(done.stdout)

    return read


@pytest.fixture
def run():
    """Runs a Python program in a process of its own. Returns what it printed."""

    def run(program, *arguments, **options):
        return subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, **options
        )

    return run


@pytest.fixture(scope="session")
def tool():
    """The tool ``popef``: the one beside this Python, or the one that was built last."""
    beside = pathlib.Path(sys.executable).with_name("popef")
    built = [ROOT / "target" / profile / "popef" for profile in ("debug", "release")]
    newest = max((path for path in built if path.exists()), key=lambda path: path.stat().st_mtime, default=None)
    found = beside if beside.exists() else newest
    if found is None:
        assert not os.environ.get("CI"), "the tool popef is missing: cargo build -p popef-toolbox"
        pytest.skip("the tool popef is missing: cargo build -p popef-toolbox")
    return found

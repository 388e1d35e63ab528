"""The examples in the documentation run."""

import doctest
import inspect
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, needed

import popef

DOCUMENTS = ["README.md", "docs/PYTHON.md"]


def examples():
    for document in DOCUMENTS:
        text = (ROOT / document).read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        assert blocks, document
        for number, block in enumerate(blocks):
            yield pytest.param(block, id=f"{document}-{number}")


def need_packages_of(block):
    for package in re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE):
        needed(package)
    if re.search("to_arrow|polars|duckdb|mapInArrow", block):
        needed("pyarrow")
    if "to_pandas" in block:
        needed("pandas")


@pytest.mark.parametrize("block", list(examples()))
def test_the_examples_of_the_documents_run(block, tmp_path, monkeypatch, interop):
    need_packages_of(block)
    monkeypatch.chdir(tmp_path)
    shutil.copy(interop / "executable.popef", "model.popef")
    shutil.copy(interop / "split-tensors.popef", "weights.popef")
    exec(compile(block, "example", "exec"), {"__name__": "__main__"})


def test_mypy_accepts_the_examples(tmp_path):
    needed("mypy")
    for parameters in examples():
        need_packages_of(parameters.values[0])
        (tmp_path / f"{parameters.id.replace('/', '-').replace('.', '-')}.py").write_text(parameters.values[0])
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *tmp_path.glob("*.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


NAMES = [name for name in popef.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name):
    """The doctests of functions in Rust are not found by `doctest.testmod`."""
    public = getattr(popef, name)
    members = vars(public).items() if isinstance(public, type) else ()
    docs = {name: public.__doc__} | {f"{name}.{member}": value.__doc__ for member, value in members if value is not None}
    tests = {place: doctest.DocTestParser().get_doctest(doc or "", {}, place, None, 0) for place, doc in docs.items()}
    assert any(test.examples for test in tests.values())
    for test in tests.values():
        assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_and_member_is_told_of(name):
    text = (ROOT / "docs" / "PYTHON.md").read_text()
    public = getattr(popef, name)
    members = [name for name in vars(public) if not name.startswith("_")] if isinstance(public, type) else []
    constants = [member for member in members if isinstance(getattr(public, member), public)] if members else []
    for member in {name, *members} - set(constants):
        # The setter of a field is told of with its getter.
        told = member if not re.match("set[A-Z]", member) else member[3].lower() + member[4:]
        assert re.search(rf"\b{told}\b", text), member
        assert inspect.getdoc(getattr(public, member, public)), member

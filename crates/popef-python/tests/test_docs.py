"""The examples in the documentation run."""

import doctest
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


def test_the_examples_of_the_docstrings_run():
    result = doctest.testmod(popef)
    assert (result.failed, result.attempted > 5) == (0, True)

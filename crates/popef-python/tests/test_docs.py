"""The examples in the documentation run."""

import ast
import doctest
import hashlib
import inspect
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, needed

import popef

HERE = pathlib.Path(__file__).resolve().parents[1]
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
    with popef.FileWriter("weights.popef", popef.FileWriter.Mode.APPEND) as writer:
        # Tensors that have no rows, or no first one.
        for name, shape in ("scalar", []), ("empty", [0, 2]):
            info = popef.TensorDataInfo(name, popef.TensorInfo(shape, popef.DataType.F32))
            writer.createTensorData(info).write(bytes(info.tensorInfo().sizeInBytes()))
    exec(compile(block, "example", "exec"), {"__name__": "__main__"})


def test_mypy_accepts_the_examples(tmp_path):
    needed("mypy")
    for parameters in examples():
        need_packages_of(parameters.values[0])
        (tmp_path / f"{parameters.id.replace('/', '-').replace('.', '-')}.py").write_text(parameters.values[0])
    # pandas has its types in a package of its own.
    options = ["--strict", "--disable-error-code=import-untyped", "--cache-dir", tmp_path / "cache"]
    command = [sys.executable, "-m", "mypy", *options, *tmp_path.glob("*.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


NAMES = [*(name for name in popef.__all__ if name != "__version__"), "hash", "open", "set"]


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
        # The setter of a field is documented with its getter.
        told = member if not re.match("set[A-Z]", member) else member[3].lower() + member[4:]
        assert re.search(rf"\b{told}\b", text), member
        assert inspect.getdoc(getattr(public, member, public)), member


TYPED = """
import numpy.typing as npt
import popef
from typing import TYPE_CHECKING, Any, assert_type

if TYPE_CHECKING:
    from popef.reports import HashReport

with popef.open("model.popef") as file:
    array: npt.NDArray[Any] = file["w"].numpy()
    assert_type(file.tensor("w"), popef.Tensor)
    assert_type(file.feed("w"), popef.Feed)
    assert_type(file.executable("e").unpack(), bytes)
    assert_type(file.opaque("e").executable, str)
    assert_type(file[0], popef.Blob)
    assert_type(file.tensors[0][2:5], npt.NDArray[Any])
    assert_type(file.closed, bool)

def total(report: "HashReport") -> int:
    return sum(blob["dataSize"] for blob in report["blobs"])

print(total(popef.hash("model.popef")))
assert_type(popef.compress("a", "b")["executables"][0]["sizeAfter"], int)
assert_type(popef.describe("a")["files"][0]["path"], str | None)
print(popef.diff("a", "b")["counts"]["same"] + 1)
print(popef.describe("a", inside=True)["files"][0]["blobs"][0]["payload"]["sessionVersion"])
print(popef.hash("a", data=False)["blobs"][0].get("data"))
popef.pack(output="a", executables={"m": "code"})
"""

WRONG = ['popef.hash("a")["contnet"]', 'popef.compress("a", "b")["sizeAfter"].lower()', 'popef.open("a").tensor("w").unpack()']


def mypy(file, tmp_path):
    needed("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


def test_blobs_and_reports_are_typed(tmp_path):
    (tmp_path / "right.py").write_text(TYPED)
    done = mypy("right.py", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "wrong.py").write_text("import popef\n" + "\n".join(WRONG))
    done = mypy("wrong.py", tmp_path)
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == ["2", "3", "4"], done.stdout


def test_the_types_of_reports_are_those_of_the_schemas():
    done = subprocess.run([sys.executable, HERE / "reports.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def classes_of_reports():
    """The classes of the stub: their keys, the types, and which keys can be missing."""
    module = ast.parse((HERE / "python" / "popef" / "reports.pyi").read_text())
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    return {node.name: {field.target.id: ast.unparse(field.annotation) for field in node.body} for node in classes}


def hold(value, type, classes):
    """Whether a value is of a type, as far as dicts and lists go."""
    type = re.sub(r"^NotRequired\[(.*)\]$", r"\1", type)
    if isinstance(value, list) and (item := re.match(r"list\[(.*)\]", type)):
        return all(hold(one, item[1], classes) for one in value)
    fields = classes.get(type.removesuffix(" | None"))
    if fields is None or value is None:
        return True
    assert value.keys() <= fields.keys(), (type, value.keys() - fields.keys())
    missing = {key for key, of in fields.items() if not of.startswith("NotRequired")} - value.keys()
    assert not missing, (type, missing)
    return all(hold(one, fields[key], classes) for key, one in value.items())


def test_reports_are_what_their_types_say(tmp_path, interop):
    model, feeds = interop / "executable.popef", interop / "split-feeds.popef"
    (tmp_path / "sums").write_text(f"{hashlib.sha256(model.read_bytes()).hexdigest()}  model.popef\n")
    popef.extract(model, tmp_path / "parts")
    reports = [
        ("Compress", popef.compress(model, tmp_path / "a")), ("Compress", popef.decompress(tmp_path / "a", tmp_path / "b")),
        ("Merge", popef.merge([model, feeds.read_bytes()], tmp_path / "c")), ("Split", popef.split(model, tmp_path / "parted")),
        ("Strip", popef.strip(model, tmp_path / "d", drop=popef.Executable)), ("Diff", popef.diff(model, tmp_path / "d")),
        ("Recover", popef.recover(model.read_bytes()[:9999], tmp_path / "e")), ("Hash", popef.hash(model, whole=True)),
        ("Hash", popef.hash(model)), ("Hash", popef.hash(model, data=False)), ("Verify", popef.verify(feeds, tmp_path / "sums")),
        ("Set", popef.set(model, tmp_path / "f", fields={"numIpus": 4})), ("Pack", popef.pack(tmp_path / "parts", tmp_path / "g")),
        ("Extract", popef.extract(model, tmp_path / "again")), ("Diff", popef.diff(model, tmp_path / "f", exact=True)),
    ]  # fmt: skip
    classes = classes_of_reports()
    assert all(hold(report, f"{name}Report", classes) for name, report in reports)
    assert {f"{name}Report" for name, _ in reports} == {name for name in classes if name.endswith("Report")}
    described = [popef.describe(model, values=3, inside=True), popef.describe(model.read_bytes()[:9999])]
    assert all(hold(description, "Description", classes) for description in described)

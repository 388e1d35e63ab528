"""Listings as plain dicts, beside the JSON of the tool."""

import io
import json
import subprocess

import pytest
from conftest import ROOT

import popef

FILES = sorted(str(path) for path in (ROOT / "testdata").rglob("*") if path.is_file())
WAYS = {
    "each": (["ls", "--each"], {"each": True}),
    "together": (["ls"], {}),
    "values": (["ls", "--each", "--values=7", "--verbose"], {"each": True, "values": 7, "inside": True}),
    "tiles": (["dump", "--each", "--all", "--verbose"], {"each": True, "inside": True, "tiles": True}),
}


def without_advice(item):
    """An object of JSON without advice, in which the tool names its options and the module its functions."""
    return {key: value for key, value in item.items() if key != "advice"}


@pytest.mark.parametrize("way", WAYS)
def test_a_description_is_the_json_of_the_tool(way, tool):
    command, options = WAYS[way]
    listed = subprocess.run([tool, *command, "--format", "json", *FILES], capture_output=True, check=False)
    expected = json.loads(listed.stdout, object_hook=without_advice)
    described = json.loads(json.dumps(popef.describe(*FILES, **options)), object_hook=without_advice)
    assert described.keys() == expected.keys()
    assert len(described["files"]) == len(FILES) > 500
    for file, other in zip(described["files"], expected["files"], strict=True):
        assert file == other
    # Equal numbers can be of different types.
    assert json.dumps(described, sort_keys=True) == json.dumps(expected, sort_keys=True)


def test_files_in_memory_and_opened_ones_are_described(interop):
    path = interop / "executable.popef"
    by_path = popef.describe(path)["files"][0]
    assert by_path["path"] == str(path)
    for given in popef.open(path), popef.open(path, map=True):
        assert popef.describe(given)["files"][0] == by_path
    content = path.read_bytes()
    for given in content, io.BytesIO(content), popef.open(content):
        assert popef.describe(given)["files"][0] == {**by_path, "path": None}
    damaged = popef.describe(content[:3000])["files"][0]
    assert (len(damaged["blobs"]), damaged["error"]["code"], damaged["error"]["offset"]) == (2, "blob-cut", 2936)


def test_the_data_of_an_anchor_can_be_in_another_file(interop):
    files = [interop / f"split-{part}.popef" for part in ("executable", "tensors", "feeds")]

    def providers(**options):
        described = popef.describe(*files, **options)["files"][0]["blobs"]
        return {anchor["providedBy"] for blob in described for anchor in blob["info"].get("anchors", ())}

    assert (providers(), providers(each=True)) == ({"user", "popef"}, {"user"})


def test_what_cannot_be_opened_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        popef.describe(tmp_path / "missing.popef")
    with pytest.raises(IsADirectoryError):
        popef.describe(tmp_path)
    with pytest.raises(TypeError):
        popef.describe(3.5)
    assert popef.describe() == {"schemaVersion": 1, "files": []}

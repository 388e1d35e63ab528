"""The operations of the tool as functions: what they write and report is what the tool writes and reports."""

import array
import collections
import contextlib
import errno
import hashlib
import io
import itertools
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import popef


@pytest.fixture
def model(tmp_path):
    """A model of all types of blobs, with one executable that compresses well."""
    path = tmp_path / "model.popef"
    anchors = [popef.Anchor("w", type=popef.TensorType.INPUT, tensorInfo=popef.TensorInfo([3], popef.DataType.F32))]
    with popef.Writer(path) as writer:
        writer.createExecutable("e").write(b"\0" * 100_000)
        writer.writeMetadata(popef.Metadata(executable="e", anchors=anchors))
        writer.createOpaqueBlob("popart", "e").write(b"opaque")
        for name, values in [("w", [1, 2, 3]), ("layer.bias", [4, 5, 6])]:
            info = popef.TensorDataInfo(name, popef.TensorInfo([3], popef.DataType.F32))
            writer.createTensorData(info).write(np.array(values, np.float32))
        info = popef.FeedDataInfo("f", popef.TensorInfo([2], popef.DataType.S8), 3)
        writer.createFeedData(info).write(bytes(range(6)))
    return path


@pytest.fixture
def report(tool):
    """What the tool reports as JSON, without the version of the schema."""

    def report(*arguments):
        done = subprocess.run([tool, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
        assert done.stdout, done.stderr
        document = json.loads(done.stdout)
        assert document.pop("schemaVersion") == 1
        return document

    return report


class Wrapped:
    """An array without a buffer, as those of PyTorch on some devices."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_merge_split_and_strip_do_what_the_tool_does(model, tmp_path, report):
    parts = [tmp_path / "parts" / f"model-{kind}.popef" for kind in ("executables", "tensors", "feeds")]
    done = popef.split(model, tmp_path / "parts")
    assert [part["path"] for part in done["parts"]] == [str(part) for part in parts]
    assert done == report("split", model, "--by", "kind", "--output", tmp_path / "parts", "--force")

    merged, stripped = tmp_path / "merged.popef", tmp_path / "stripped.popef"
    done = popef.merge(parts, merged)
    assert done == report("merge", *parts, "--output", merged, "--force")
    assert (done["blobs"], digest(merged)) == (6, digest(model))

    done = popef.strip(model, stripped, drop=popef.Tensor)
    assert done == report("strip", model, "--drop", "tensor", "--drop", "feed", "--output", stripped, "--force")
    assert [blob.name for blob in popef.open(stripped)] == ["e", None, "popart"]
    assert done["broken"][0]["inputs"] == [{"name": "w"}]


def test_executables_are_compressed_and_decompressed_as_by_the_tool(model, tmp_path, report):
    small, plain, other = tmp_path / "small.popef", tmp_path / "plain.popef", tmp_path / "other.popef"

    def told(command, path):
        expected = report(command, path, "--output", other, "--force")["files"][0]
        return {key: value for key, value in expected.items() if key not in ("path", "output", "error")}

    assert popef.compress(model, small, packing="zlib:9") == popef.compress(model, packing="zlib:9", dry_run=True)
    done = popef.compress(model, small, overwrite=True)
    assert done == told("compress", model)
    assert done["executables"][0]["outcome"] == "compressed"
    assert small.stat().st_size < 5000
    assert digest(small) == digest(other)
    assert popef.decompress(small, plain) == told("decompress", small)
    assert digest(plain) == digest(model)
    assert popef.diff(model, small)["verdict"] == "same"
    with pytest.raises(ValueError, match="brotli"):
        popef.compress(model, packing="brotli", dry_run=True)


def test_a_model_is_extracted_and_packed_again(model, tmp_path, report):
    folder, again = tmp_path / "folder", tmp_path / "again.popef"
    done = popef.extract(model, folder)
    expected = report("extract", model, "--dry-run")["files"][0]
    assert done["blobs"] == expected["blobs"]
    assert [blob["path"] for blob in done["blobs"]][3:] == ["tensors/w.npy", "tensors/layer.bias.npy", "feeds/f.npy"]
    assert np.load(folder / "feeds" / "f.npy").tolist() == [[0, 1], [2, 3], [4, 5]]
    np.save(folder / "tensors" / "w.npy", np.array([7, 8, 9], np.float32))
    done = popef.pack(folder, again)
    expected = report("pack", folder, "--output", again, "--force")
    assert done == {key: value for key, value in expected.items() if key != "output"}
    assert popef.open(again)["w"].numpy().tolist() == [7, 8, 9]
    assert len(again.read_bytes()) == len(model.read_bytes())

    np.savez(tmp_path / "w.npz", a=np.zeros(2), b=np.ones((2, 2), np.int8))
    popef.pack(output=tmp_path / "w.popef", tensors=tmp_path / "w.npz", feeds={"runs": folder / "feeds" / "f.npy"})
    assert [repr(blob) for blob in popef.open(tmp_path / "w.popef")] == [
        "<popef.Tensor 'a', F64 (2,)>",
        "<popef.Tensor 'b', S8 (2, 2)>",
        "<popef.Feed 'runs', S8 (3, 2)>",
    ]


def test_differences_are_those_of_the_tool(model, tmp_path, report):
    other = tmp_path / "other.popef"
    content = bytearray(model.read_bytes())
    at = content.index(np.array([1, 2, 3], np.float32).tobytes())
    content[at : at + 4] = np.array([1.5], np.float32).tobytes()
    other.write_bytes(content)
    done = popef.diff(model, other)
    expected = report("diff", model, other)
    assert done == {key: value for key, value in expected.items() if key not in ("a", "b")}
    assert (done["verdict"], done["blobs"][0]["values"]["maxAbs"]) == ("different", 0.5)
    assert popef.diff(model, other, atol=0.5)["verdict"] == "same"
    assert popef.diff(model, other, select="layer*")["verdict"] == "same"
    assert popef.diff(model, popef.open(model.read_bytes()))["counts"]["same"] == 6


def test_digests_are_those_of_the_tool_and_verify_a_file(model, tmp_path, report):
    for options, arguments in [({}, []), ({"whole": True, "algorithm": "both"}, ["--whole", "--algorithm", "both"])]:
        done = popef.hash(model, **options)
        expected = report("hash", model, *arguments)["files"][0]
        assert (expected.pop("path"), expected.pop("error")) == (str(model), None)
        assert done == expected
    assert done["whole"]["sha256"] == digest(model)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"schemaVersion": 1, "files": [{"path": "model.popef", **done}]}))
    assert popef.verify(model, manifest)["ok"] is True
    assert popef.verify(model, manifest, name="model.popef")["ok"] is True
    changed = model.read_bytes().replace(b"opaque", b"OPAQUE")
    found = popef.verify(changed, manifest)
    assert (found["ok"], [blob["name"] for blob in found["blobs"]]) == (False, ["popart"])
    with pytest.raises(popef.PopefError) as raised:
        popef.verify(model, manifest, name="another.popef")
    assert raised.value.code == "bad-manifest"


@pytest.mark.parametrize("program", ["sha256sum", "b3sum"])
def test_lines_of_sums_verify_all_bytes(program, model, tmp_path):
    if not shutil.which(program):
        assert not os.environ.get("CI"), f"{program} is missing"
        pytest.skip(f"{program} is not installed")
    cut, other = tmp_path / "cut.popef", tmp_path / "SHA256SUMS"
    cut.write_bytes(model.read_bytes()[:-1])
    sums = subprocess.run([program, "model.popef", "cut.popef"], cwd=tmp_path, check=True, capture_output=True, text=True)
    other.write_text(sums.stdout)
    options = {"algorithm": "blake3" if program == "b3sum" else "sha256"}
    assert popef.verify(model, other, name="model.popef", **options) == {
        "ok": True, "whole": True, "changed": 0, "missing": 0, "added": 0, "blobs": []
    }
    assert popef.verify(popef.open(model.read_bytes()), other, name="model.popef", **options)["ok"] is True
    # A damaged file can be what it was, and a whole one can be the undamaged part of another.
    assert popef.verify(cut, other, name="cut.popef", **options)["ok"] is True
    assert popef.verify(model, other, name="model.popef")["ok"] is True
    assert popef.verify(model, other, name="cut.popef")["ok"] is False
    assert popef.verify(model, other, name="cut.popef", **options)["ok"] is False
    assert popef.verify(cut, other, name="model.popef", **options)["ok"] is False
    with cut.open("ab") as file:
        file.write(model.read_bytes()[-1:] + b"more")
    assert popef.verify(cut, other, name="model.popef", **options)["ok"] is False
    for wrong, words in [({}, "several files"), ({"name": "x"}, "no such file"), ({"only_content": True}, "of the content")]:
        with pytest.raises(popef.PopefError, match=words) as raised:
            popef.verify(model, other, **wrong)
        assert raised.value.code == "bad-manifest"


def test_fields_of_metadata_are_set_and_unset(model, tmp_path, peer):
    new, again = tmp_path / "new.popef", tmp_path / "again.popef"
    steps = []
    done = popef.set(
        model,
        new,
        merge={"seedHandle": "seed", "numIpus": 2, "programsMap": {"3": "main"}},
        fields={
            "numIpus": np.int64(4),
            "isPOD": np.bool_(True),
            "anchors[w].tensorInfo.shape": (2, 2),
            "anchors[w].tensorInfo.dataType": popef.DataType.F16,
            "anchors[w].type": popef.TensorType.OUTPUT,
            "programFlow.main": [1, 2],
        },
        engine_options={"a=b": "c=d", "gone": "soon"},
        progress=lambda *step: steps.append(step),
    )
    assert (done["written"], done["sizeBefore"], done["sizeAfter"]) == (True, model.stat().st_size, new.stat().st_size)
    assert {"field": "numIpus", "old": 1, "new": 4} in done["blobs"][0]["changes"]
    assert steps[-1][0] == steps[-1][1]
    before, after = (blobs[1]["info"] for blobs in (peer(model), peer(new)))
    expected = {"numIpus": 4, "isPOD": True, "seedHandle": "seed", "programsMap": [{"index": 3, "name": "main"}]}
    expected |= {"engineOptions": [{"name": "a=b", "value": "c=d"}, {"name": "gone", "value": "soon"}]}
    assert {key: after[key] for key in expected} == expected
    assert (after["anchors"][0]["tensorInfo"], after["anchors"][0]["type"]) == ({"shape": [2, 2], "dataType": 2}, 2)
    assert after["programFlow"]["main"] == [1, 2]
    assert {key for key in before if before[key] != after[key]} == expected.keys() | {"anchors", "programFlow"}
    popef.set(new, again, engine_options={"gone": None}, fields={"seedHandle": None})
    info = peer(again)[1]["info"]
    assert (info["engineOptions"], info["seedHandle"]) == (expected["engineOptions"][:1], "")


def test_blobs_are_renamed_and_get_versions_and_arrays(model, tmp_path, report, peer):
    weights, new, other = tmp_path / "weights.npz", tmp_path / "new.popef", tmp_path / "other.popef"
    np.savez(weights, w=np.array([7, 8, 9], np.float32))
    done = popef.set(model, new, rename={"w": "x"}, version="3.3.0", tensors=weights, select="w")
    expected = report(
        "set", model, "--rename", "w=x", "--set-version", "3.3.0", "--tensors", weights, "--filter", "w", "--output", other
    )
    assert done == {key: value for key, value in expected.items() if key not in ("path", "output")}
    assert digest(new) == digest(other)
    blobs = peer(new)
    assert [blob["info"].get("name") for blob in blobs] == ["e", None, "popart", "x", "layer.bias", "f"]
    assert [blob["header"]["version"] for blob in blobs] == ["", "", "", "3.3.0", "", ""]
    assert bytes.fromhex(blobs[3]["data"]) == np.array([7, 8, 9], np.float32).tobytes()
    assert blobs[1]["info"]["anchors"][0]["name"] == "x"


@pytest.mark.parametrize(
    "given",
    [
        np.array([7, 8, 9], np.float32),
        np.array([7, 8, 9], ">f4"),
        np.array([7, 0, 8, 0, 9], np.float32)[::2],
        memoryview(array.array("f", [7, 8, 9])),
        np.array([7, 8, 9], np.float32).tobytes(),
        Wrapped(np.array([7, 8, 9], np.float32)),
    ],
    ids=["array", "big-endian", "strided", "memoryview", "bytes", "__array__"],
)
def test_arrays_in_memory_are_set_as_those_in_files_are(given, model, tmp_path):
    new, other, weights = tmp_path / "new.popef", tmp_path / "other.popef", tmp_path / "w.npz"
    np.savez(weights, w=np.array([7, 8, 9], np.float32))
    popef.set(model, other, tensors=weights)
    report = popef.set(model, new, tensors={"w": given})
    assert digest(new) == digest(other) != digest(model)
    change = {"field": "data", "old": {"dataSize": 12}, "new": {"dataSize": 12, "from": None}}
    assert [blob["changes"] for blob in report["blobs"]] == [[change]]


def test_arrays_in_memory_are_checked_against_what_takes_them(model, tmp_path):
    new, lacking = tmp_path / "new.popef", tmp_path / "lacking.popef"
    popef.set(model, new, tensors=collections.OrderedDict(f=np.arange(6, dtype=np.int8).reshape(3, 2) * 2))
    assert popef.open(new)["f"].numpy().tolist() == [[0, 2], [4, 6], [8, 10]]
    popef.strip(model, lacking, drop="w")
    for given in np.ones(3, np.float32), np.ones(3, np.float32).tobytes():
        popef.set(lacking, new, tensors={"w": given}, add_missing=True, overwrite=True)
        assert popef.open(new)["w"].numpy().tolist() == [1, 1, 1]
    new.unlink()
    for given, raised, words in [
        ({"w": np.ones(3)}, popef.PopefError, r"needed F32 \[3\], found F64 \[3\]"),
        ({"w": np.ones((3, 1), np.float32)}, popef.PopefError, r"needed F32 \[3\], found F32 \[3, 1\]"),
        ({"w": bytes(11)}, popef.PopefError, r"found U8 \[11\]"),
        ({"f": np.ones((2, 3), np.int8)}, popef.PopefError, r"needed S8 \[3, 2\], found S8 \[2, 3\]"),
        ({"x": np.ones(3, np.float32)}, popef.PopefError, 'has the name "x"'),
        ({"w": np.ones(3, object)}, TypeError, '"w": PopEF has no type'),
        ({"w": [1.0, 2.0, 3.0]}, TypeError, '"w": an array, .* not list'),
        ({"w": None}, TypeError, "not NoneType"),
        ({"w": "w.npy"}, TypeError, "not a str"),
        ({3: np.ones(3)}, TypeError, "a str is needed, not int"),
        (np.ones(3), TypeError, "needs a name"),
        (3, TypeError, "a path is needed, or several, not int"),
        ({}, ValueError, "nothing to set"),
    ]:
        with pytest.raises(raised, match=words):
            popef.set(model, new, tensors=given)
    assert not new.exists()


def test_arrays_in_memory_are_packed(tmp_path, peer):
    path, feed = tmp_path / "weights.popef", tmp_path / "runs.npy"
    np.save(feed, np.zeros((3, 2), np.int8))
    tensors = {"a": np.arange(6, dtype=">i2").reshape(2, 3).T, "b": b"any", "c": np.float16(1.5)}
    popef.pack(output=path, tensors=tensors, feeds={"f": np.ones((2, 4), np.float32), "g": feed})
    blobs = {blob["info"]["name"]: blob for blob in peer(path)}
    assert list(blobs) == ["a", "b", "c", "f", "g"]
    assert bytes.fromhex(blobs["a"]["data"]) == np.array([[0, 3], [1, 4], [2, 5]], "<i2").tobytes()
    assert bytes.fromhex(blobs["b"]["data"]) == b"any"
    file = popef.open(path)
    assert [(blob.data_type.name, blob.shape) for blob in file.tensors] == [("S16", (3, 2)), ("U8", (3,)), ("F16", ())]
    assert [feed.numpy().tolist() for feed in file.feeds] == [[[1] * 4] * 2, [[0, 0]] * 3]
    for options, raised, words in [
        ({}, ValueError, "nothing to pack"),
        ({"feeds": {"f": np.float32(1)}}, popef.PopefError, 'feed "f": needed an array with the runs'),
        ({"tensors": {"g": np.zeros(2)}, "feeds": {"f": 3}}, TypeError, '"f": an array'),
        ({"tensors": {"a": np.zeros(2, "c16")}}, TypeError, '"a": PopEF has no type'),
        ({"tensors": np.zeros(2)}, TypeError, "needs a name"),
    ]:
        with pytest.raises(raised, match=words):
            popef.pack(output=tmp_path / "new.popef", **options)


def test_an_array_that_is_changed_meanwhile_is_no_danger(model, tmp_path):
    array = np.full(3, 7, np.float32)

    def progress(*_):
        array[:] += 1

    with contextlib.suppress(popef.PopefError):
        popef.set(model, tmp_path / "new.popef", tensors={"w": array}, progress=progress)
        assert len(popef.open(tmp_path / "new.popef")) == 6


def test_a_change_that_is_refused_or_none_writes_nothing(model, tmp_path):
    new, before = tmp_path / "new.popef", model.read_bytes()
    done = popef.set(model, dry_run=True, fields={"numIpus": 4})
    assert (done["written"], len(done["blobs"]), new.exists()) == (True, 1, False)
    done = popef.set(model, new, fields={"numIpus": 1}, only_changes=True)
    assert (done["written"], done["blobs"], new.exists()) == (False, [], False)
    nested = []
    nested.append(nested)
    for options, raised, words in [
        ({}, ValueError, "nothing to set"),
        ({"fields": {"numIpu": 4}}, popef.PopefError, "numIpus"),
        ({"fields": {"numIpus": "4"}}, popef.PopefError, "a whole number"),
        ({"fields": {"numIpus": float("nan")}}, ValueError, "not a number"),
        ({"fields": {"numIpus": object()}}, TypeError, "not object"),
        ({"merge": {"anchors": nested}}, ValueError, "deeply"),
        ({"fields": {"anchors[w].name": "nobody"}, "strict": True, "dry_run": True}, popef.PopefError, "nothing was written"),
        ({"rename": {"nobody": "x"}}, popef.PopefError, "nobody"),
        ({"fields": {"anchors[w].name": "nobody"}, "strict": True}, popef.PopefError, "nothing was written"),
    ]:
        with pytest.raises(raised, match=words):
            popef.set(model, new, **options)
    assert (new.exists(), model.read_bytes()) == (False, before)
    with pytest.raises(popef.PopefError) as refused:
        popef.set(model, model, fields={"numIpus": 4}, overwrite=True)
    assert refused.value.code == "output-is-input"


def test_what_is_whole_is_recovered(model, tmp_path):
    cut, whole = tmp_path / "cut.popef", tmp_path / "whole.popef"
    cut.write_bytes(model.read_bytes()[:-1])
    done = popef.recover(cut, whole)
    assert (done["keptBlobs"], done["damage"]["code"], len(popef.open(whole))) == (5, "blob-cut", 5)
    # Blob 1 is left out, and those after it are found.
    blobs = popef.describe(model)["files"][0]["blobs"]
    damaged = bytearray(model.read_bytes())
    info = blobs[1]["offset"] + 48
    damaged[info + 8 : info + 16] = b"\xff" * 8
    done = popef.recover(bytes(damaged), tmp_path / "behind.popef")
    assert [(lost["damage"]["blob"], lost["isRest"]) for lost in done["lost"]["first"]] == [(1, False)]
    assert done["keptBlobs"] == len(popef.open(tmp_path / "behind.popef")) == len(blobs) - 1
    # Anything else would leave out the rest without a word.
    opened = popef.open(cut, damaged=True)
    for work in popef.compress, popef.decompress, popef.strip, popef.split, popef.extract, popef.hash:
        with pytest.raises(popef.PopefError) as refused:
            work(opened, **({} if work is popef.hash else {"dry_run": True}))
        assert refused.value.code == "blob-cut"


def test_options_that_make_no_sense_are_refused(model, tmp_path):
    for stem in "../elsewhere", "", "a/b", "/a", "..":
        with pytest.raises(popef.PopefError) as refused:
            popef.split(model, tmp_path / "parts", stem=stem)
        assert refused.value.code == "wrong-arguments"
    for tolerance in -1, float("nan"):
        with pytest.raises(ValueError, match="from 0 on"):
            popef.diff(model, model, atol=tolerance)
        with pytest.raises(ValueError, match="from 0 on"):
            popef.diff(model, model, rtol=tolerance)


def test_texts_that_are_not_utf8_are_set_and_packed(tmp_path):
    name, other = (os.fsdecode(text) for text in (b"caf\xe9", b"caf\xe8"))
    path, changed = tmp_path / "model.popef", tmp_path / "changed.popef"
    anchor = popef.Anchor(name, type=popef.TensorType.INPUT)
    with popef.Writer(path) as writer:
        options = [popef.Option(name, "old"), popef.Option(other, "kept")]
        writer.writeMetadata(popef.Metadata(executable=name, engineOptions=options, anchors=[anchor]))

    def metadata(**changes):
        popef.set(path, changed, overwrite=True, **changes)
        return popef.open(changed).metadata[0].metadata()

    # Names that look the same where they are shown are not the same.
    options[0] = popef.Option(name, other)
    assert metadata(engine_options={name: other}).engineOptions() == options
    assert metadata(engine_options={name: None}).engineOptions() == [popef.Option(other, "kept")]
    assert metadata(device_options={os.fsencode(name): "1"}).deviceOptions() == [popef.Option(name, "1")]
    found = metadata(fields={f"anchors[{name}].handle": other, "seedHandle": name}, model=name)
    assert (found.anchors()[0].handle(), found.seedHandle()) == (other, name)
    # What tools show can be typed: it means both.
    assert metadata(engine_options={"caf\ufffd": None}).engineOptions() == []

    found = metadata(merge={"seedHandle": name, "deviceOptions": [{"name": name, "value": other}]})
    assert (found.seedHandle(), found.deviceOptions()) == (name, [popef.Option(name, other)])
    found = metadata(merge={"engineOptions": {"new": {"value": name}}})
    assert found.engineOptions()[-1] == popef.Option("new", name)
    # The metadata of a listing is a patch too.
    patch = popef.describe(path)["files"][0]["blobs"][0]["info"]
    texts = {key: patch[key] for key in ("executable", "executableBytes")}
    assert metadata(merge={**texts, "numIpus": 2}).executable() == name
    with pytest.raises(popef.PopefError, match="needed the text whose bytes in hex are executableBytes"):
        metadata(merge={**texts, "executable": "another"})
    with pytest.raises(ValueError, match="neither keys"):
        metadata(merge={"engineOptions": {name: "1"}})

    array = tmp_path / "array.npy"
    np.save(array, np.zeros((2, 1), np.float32))
    popef.pack(output=changed, overwrite=True, feeds={name: array}, opaques={other: array}, tensors={name: np.zeros(1)})
    assert sorted(popef.open(changed).names()) == sorted([name, other, name])


@pytest.mark.parametrize(
    ("select", "names"),
    [
        (None, ["e", None, "popart", "w", "layer.bias", "f"]),
        ("*.bias", ["layer.bias"]),
        ("e", ["e", None]),
        (popef.BlobType.DATA_FEED, ["f"]),
        (popef.Tensor, ["w", "layer.bias", "f"]),
        (lambda blob: blob.blob_size > 10_000, ["e"]),
        (["w", "f", "*.bias"], ["w", "layer.bias", "f"]),
        (["w", popef.Opaque, lambda blob: blob.index == 1], [None, "popart", "w"]),
    ],
)
def test_blobs_are_selected_by_name_type_class_and_callable(select, names, model, tmp_path):
    path = tmp_path / "selected.popef"
    popef.merge([model], path, select=select)
    assert [blob.name for blob in popef.open(path)] == names
    parts = popef.split(model, by="size", max_size=1, select=select, dry_run=True)["parts"]
    assert sum(part["blobs"] for part in parts) == len(names)


def test_a_callable_is_asked_about_the_blobs_of_each_file(model, tmp_path):
    other = tmp_path / "other.popef"
    popef.strip(model, other, drop=lambda blob: blob.name != "layer.bias")
    asked = []
    popef.merge([model, other], dry_run=True, keep="all", select=lambda blob: asked.append(blob.name) or True)
    assert asked.count("layer.bias") >= 2
    assert set(asked) == {"e", None, "popart", "w", "layer.bias", "f"}


def test_a_closed_tensor_is_a_wrong_value_and_advice_is_not_for_the_tool(model, tmp_path):
    file = popef.open(model)
    tensor = file.tensor("w")
    file.close()
    for operation in (
        lambda: popef.set(model, tensors={"w": tensor}, dry_run=True),
        lambda: popef.pack(output=tmp_path / "out", tensors={"w": tensor}),
    ):
        with pytest.raises(ValueError, match="^\"w\": the file is closed$"):
            operation()
    with pytest.raises(popef.PopefError, match='the name "missing"$'):
        popef.set(model, tensors={"missing": b"1"}, dry_run=True)


ASKING = {
    "merge": lambda model, to, ask: popef.merge([model], to, select=ask),
    "merge in place": lambda model, to, ask: popef.merge([model], model, select=ask, overwrite="inputs"),
    "compress": lambda model, to, ask: popef.compress(model, to, select=ask),
    "decompress": lambda model, to, ask: popef.decompress(model, to, select=ask),
    "strip": lambda model, to, ask: popef.strip(model, to, drop=ask),
    "set": lambda model, to, ask: popef.set(model, to, version="3.3.0", select=ask),
    "split": lambda model, to, ask: popef.split(model, to, select=ask),
    "extract": lambda model, to, ask: popef.extract(model, to, select=ask),
}


@pytest.mark.parametrize("operation", ASKING)
def test_nothing_is_written_if_a_callable_raises_in_any_of_its_calls(operation, model, tmp_path):
    content = model.read_bytes()
    for failing in range(1, 100):
        calls = itertools.count(1)

        def ask(blob):
            if next(calls) == failing:
                raise KeyError(failing)
            return blob.index in (0, 3)

        try:
            ASKING[operation](model, tmp_path / "out", ask)
            break
        except KeyError:
            assert (os.listdir(tmp_path), model.read_bytes()) == (["model.popef"], content)
    assert failing > 2
    assert (tmp_path / "out").exists() or model.read_bytes() != content


def write_some(number):
    with popef.Writer(io.BytesIO()) as writer:
        writer.createOpaqueBlob("a", "b").write(b"data", number)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda model, number: popef.compress(model, dry_run=True, threads=number), "threads"),
        (lambda model, number: popef.split(model, dry_run=True, by="size", max_size=number), "max_size"),
        (lambda model, number: popef.describe(model, values=number), "values"),
        (lambda model, number: popef.scan(model, threads=number), "threads"),
        (lambda _, number: write_some(number), "size"),
    ],
)
def test_numbers_that_make_no_sense_are_named(call, argument, model):
    out_of_range = [(number, ValueError, str(number)) for number in (-1, 1 << 70)]
    for wrong, raised, found in [*out_of_range, ("x", TypeError, "str"), (1.5, TypeError, "float")]:
        with pytest.raises(raised, match=rf"^{argument}: needed a whole number from \d to \d+, found {found}$"):
            call(model, wrong)


def test_a_selection_that_chooses_nothing_or_makes_no_sense_is_refused(model):
    with pytest.raises(popef.PopefError) as raised:
        popef.merge([model], dry_run=True, select="missing*")
    assert raised.value.code == "nothing-chosen"
    with pytest.raises(ZeroDivisionError):
        popef.merge([model], dry_run=True, select=lambda blob: 1 / 0)
    with pytest.raises(TypeError, match="BlobType"):
        popef.merge([model], dry_run=True, select=3)
    for wrong in int, popef.File, ["w", dict]:
        with pytest.raises(TypeError, match=r"a class of blobs, such as popef.Tensor, not (int|File|dict)"):
            popef.merge([model], dry_run=True, select=wrong)
        with pytest.raises(TypeError, match="a class of blobs"):
            popef.strip(model, dry_run=True, drop=wrong)
    with pytest.raises(ValueError, match="backwards"):
        popef.merge([model], dry_run=True, select="[z-a]")
    with pytest.raises(ValueError, match="first, last and all"):
        popef.merge([model], dry_run=True, keep="newest")


def test_what_is_no_list_of_files_is_refused(model):
    for wrong in str(model), model.read_bytes(), popef.open(model), io.BytesIO(model.read_bytes()):
        with pytest.raises(TypeError, match="a list of files is needed"):
            popef.merge(wrong, dry_run=True)
    for wrong in 5, None:
        with pytest.raises(TypeError, match="a list of files is needed, not (int|NoneType)"):
            popef.merge(wrong, dry_run=True)
    with pytest.raises(ValueError, match="no files to merge"):
        popef.merge([], dry_run=True)


def test_nothing_is_replaced_that_may_not_be(model, tmp_path):
    before = model.read_bytes()
    other = tmp_path / "other.popef"
    other.write_bytes(b"old")
    for dry_run in False, True:
        with pytest.raises(FileExistsError) as exists:
            popef.merge([model], other, dry_run=dry_run)
        assert (exists.value.filename, exists.value.code) == (str(other), "file-exists")
        with pytest.raises(popef.PopefError) as raised:
            popef.strip(model, model, drop="w", overwrite=True, dry_run=dry_run)
        assert raised.value.code == "output-is-input"
    with pytest.raises(TypeError, match="a path to write to"):
        popef.merge([model])
    for overwrite, raised in [("yes", ValueError), (1, TypeError), (["inputs"], TypeError)]:
        with pytest.raises(raised, match="overwrite is True, False or 'inputs'"):
            popef.merge([model], other, overwrite=overwrite)
    assert (other.read_bytes(), model.read_bytes()) == (b"old", before)
    popef.merge([model], other, overwrite=True)
    assert other.read_bytes() == before
    popef.strip(model, model, drop="w", overwrite="inputs")
    assert "w" not in popef.open(model)


def test_the_progress_ends_at_the_total_and_an_exception_of_it_stops_the_work(model, tmp_path):
    steps = []
    popef.merge([model], tmp_path / "new.popef", progress=lambda *step: steps.append(step))
    assert steps[-1][0] == steps[-1][1] > 100_000
    with pytest.raises(ZeroDivisionError):
        popef.merge([model], tmp_path / "other.popef", progress=lambda *_: 1 / 0)
    with pytest.raises(TypeError, match="progress is a callable for two numbers, not int"):
        popef.merge([model], tmp_path / "other.popef", progress=5)


THREADS = """
import os
import resource
import sys

import popef

with open(sys.argv[1], "rb") as file:
    content = file.read()
if os.getuid() == 0:
    # A user of its own, who has this thread alone. Limits do not hold for root.
    os.setgroups([])
    os.setgid(61234)
    os.setuid(61234)
for more in range(3):
    resource.setrlimit(resource.RLIMIT_NPROC, (1 + more, resource.getrlimit(resource.RLIMIT_NPROC)[1]))
    for work in (
        lambda: popef.hash(content, whole=True)["whole"]["sha256"],
        lambda: popef.check(content, deep=True).passes(),
        lambda: len(popef.describe(content, values=1)["files"]),
        lambda: popef.compress(content, dry_run=True)["sizeAfter"],
        lambda: popef.split(content, dry_run=True, stem="m")["parts"][0]["size"],
        lambda: popef.open(content)["e"].unpack()[:0],
    ):
        try:
            print(work())
        except OSError as error:
            print(error.errno, error.strerror, error.code)
"""


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="the limit is that of Linux")
def test_a_thread_that_cannot_be_started_is_an_error_or_is_done_without(run, model):
    done = run(THREADS, model)
    assert done.returncode == 0, done.stderr
    assert "panicked" not in done.stderr
    lines = done.stdout.splitlines()
    refused = [line for line in lines if line.startswith(f"{errno.EAGAIN} ")]
    # Another program of the user may have ended meanwhile, so it is not certain how many fail.
    assert os.getuid() != 0 or len(refused) > 4, done.stdout


class Cancelled(Exception):
    pass


WRITING = {
    "compress": lambda model, to, **more: popef.compress(model, to, **more),
    "decompress": lambda model, to, **more: popef.decompress(model, to, **more),
    "set": lambda model, to, **more: popef.set(model, to, version="9", **more),
    "strip": lambda model, to, **more: popef.strip(model, to, drop=popef.Opaque, **more),
    "merge": lambda model, to, **more: popef.merge([model], to, **more),
    "recover": lambda model, to, **more: popef.recover(model, to, **more),
    "pack": lambda model, to, **more: popef.pack(output=to, tensors={"w": np.zeros(9, "f4")}, **more),
}


def writes_all(path):
    with popef.Writer(path) as writer:
        writer.createExecutable("m").write(bytes(1000))
        writer.createOpaqueBlob("notes", "m").write(b"data")
    return path


@pytest.mark.parametrize("operation", WRITING)
@pytest.mark.parametrize("exists", [True, False])
def test_an_exception_in_the_last_call_of_progress_publishes_nothing(operation, exists, tmp_path):
    model, output = writes_all(tmp_path / "all.popef"), tmp_path / "out.popef"
    if exists:
        output.write_bytes(b"good")

    def progress(done, total):
        if done == total:
            raise Cancelled

    with pytest.raises(Cancelled):
        WRITING[operation](model, output, overwrite=True, progress=progress)
    assert sorted(os.listdir(tmp_path)) == ["all.popef", "out.popef"][: 1 + exists]
    assert not exists or output.read_bytes() == b"good"


@pytest.mark.parametrize("operation", [popef.extract, popef.split])
def test_an_exception_in_the_last_call_of_progress_makes_no_folder(operation, tmp_path):
    model = writes_all(tmp_path / "all.popef")

    def progress(done, total):
        if done == total:
            raise Cancelled

    with pytest.raises(Cancelled):
        operation(model, tmp_path / "folder", progress=progress)
    assert os.listdir(tmp_path) == ["all.popef"]
    operation(model, tmp_path / "folder", progress=lambda *_: None)
    assert os.listdir(tmp_path / "folder")


def test_pack_takes_executables_by_name(tmp_path):
    (tmp_path / "code").write_bytes(b"its code")
    popef.pack(output=tmp_path / "new.popef", executables={"model": tmp_path / "code"})
    assert popef.open(tmp_path / "new.popef").executable("model").read() == b"its code"


def test_pack_refuses_a_dict_of_metadata():
    with pytest.raises(TypeError, match="a path is needed, or several, not dict"):
        popef.pack(metadata={"executable": "model"}, dry_run=True)


def test_no_threads_are_refused(model):
    with pytest.raises(ValueError, match="threads: needed a whole number from 1 to .*, found 0"):
        popef.compress(model, dry_run=True, threads=0)


def test_advice_of_a_function_names_no_command(model):
    with pytest.raises(popef.PopefError) as raised:
        popef.set(model, dry_run=True, fields={"numIpus": "many"})
    print(raised.value.code)
    assert "command" not in raised.value.advice


def test_a_model_that_is_not_there_is_named(interop):
    reader = popef.Reader()
    reader.parseFile(interop / "executable.popef")
    with pytest.raises(popef.PopefError, match="metadata for the executable \"nope\""):
        popef.ModelBuilder(reader).createModel("nope")

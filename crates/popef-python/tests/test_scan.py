"""Scans give what the official library reads in each file, and go on after files that are damaged."""

import errno
import gc
import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading

import pytest
from conftest import INTEROP, ROOT

import popef

BROKEN = ROOT / "testdata" / "broken"
METADATA = {
    "replication_factor": "replicationFactor",
    "num_ipus": "numIpus",
    "num_processes": "numProcesses",
    "ipu_version": "ipuVersion",
    "is_pod": "isPOD",
    "is_inference": "isInference",
    "device_iterations": "deviceIterations",
}
ERRORS = ["error_code", "error_kind", "error_message", "error_blob", "error_offset"]


def interop_files():
    """The description of each file of testdata/interop, as the official library reads it, by its name."""
    documents = [json.loads(path.read_text()) for path in sorted(INTEROP.glob("*.json"))]
    return {file["path"].rsplit("/", 1)[-1]: file for document in documents for file in document["files"]}


def expected_record(path, file, blob):
    """A record, made of a blob's description."""
    info = blob["info"]
    of_type = blob["type"]
    tensor = info.get("tensorInfo", {})
    product = info.get("numTensors", 1)
    for extent in tensor.get("shape", []):
        product *= extent
    return {
        "file": str(path),
        "file_bytes": None,
        "file_size": file["size"],
        "index": blob["index"],
        "type": of_type,
        "name": info.get("name"),
        "name_bytes": None,
        "executable": info.get("executable"),
        "executable_bytes": None,
        "data_type": tensor.get("dataType"),
        "shape": tuple(tensor["shape"]) if tensor else None,
        "num_tensors": info.get("numTensors"),
        "elements": product if tensor else None,
        "size_in_bytes": tensor.get("sizeInBytes"),
        "offset": blob["offset"],
        "size": blob["size"],
        "data_offset": blob["dataOffset"],
        "data_size": blob["dataSize"],
        "version": blob["version"],
        "is_compressed": info.get("isCompressed"),
        "uncompressed_size": info.get("uncompressedSize"),
        **{column: info.get(key) for column, key in METADATA.items()},
        "anchors": len(info["anchors"]) if "anchors" in info else None,
        **dict.fromkeys(ERRORS),
    }


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_records_have_what_the_official_library_reads(threads):
    files = interop_files()
    paths = [INTEROP / name for name in files]
    expected = [
        record
        for path, file in zip(paths, files.values(), strict=True)
        for record in [expected_record(path, file, blob) for blob in file["blobs"]] or [without_blobs(path)]
    ]
    assert len(expected) > 50
    assert list(popef.scan(paths, threads=threads)) == expected


def without_blobs(path):
    """The only record of a file without blobs."""
    columns = popef.scan(path).columns
    return {**dict.fromkeys(columns), "file": str(path), "file_size": os.path.getsize(path)}


def test_a_file_without_blobs_has_a_record(tmp_path, interop):
    (tmp_path / "empty.popef").touch()
    shutil.copy(interop / "split-feeds.popef", tmp_path / "feeds.popef")
    records = list(popef.scan(tmp_path, check="quick"))
    assert [(os.path.basename(record["file"]), record["index"], record["file_size"]) for record in records] == [
        ("empty.popef", None, 0),
        ("feeds.popef", 0, (tmp_path / "feeds.popef").stat().st_size),
    ]
    assert records[0]["error_code"] is None


def test_records_of_files_count_the_blobs_of_the_official_library():
    files = interop_files()
    counts = {"executables": "poplarExecutable", "tensors": "dataTensor", "feeds": "dataFeed", "opaques": "opaque"}
    counts["metadata"] = "metadata"
    records = list(popef.scan([INTEROP / name for name in files], per="file"))
    for record, (name, file) in zip(records, files.items(), strict=True):
        blobs = file["blobs"]
        assert record == {
            "file": str(INTEROP / name),
            "file_bytes": None,
            "file_size": file["size"],
            "prefix_size": 0,
            "blobs": len(blobs),
            **{column: sum(blob["type"] == wanted for blob in blobs) for column, wanted in counts.items()},
            "data_size": sum(blob["dataSize"] for blob in blobs),
            **dict.fromkeys(ERRORS),
        }


def broken_files():
    """The files that cannot be read to their end, with code, blob, byte and words."""
    pattern = r"^file: +(\S+)\n(?:.+\n)*?fails: +on opening\ncode: +(\S+)\nerror: +blob (\d+), byte (\d+): (.*)$"
    return re.findall(pattern, (BROKEN / "table.txt").read_text(), re.MULTILINE)


def test_damaged_files_have_a_record_with_the_error_and_the_scan_goes_on():
    broken = broken_files()
    assert len(broken) > 50
    good = INTEROP / "executable.popef"
    paths = [path for name, *_ in broken for path in (BROKEN / name, good)]
    records = list(popef.scan(paths, columns=["file", "index", *ERRORS]))
    assert sum(record["file"] == str(good) for record in records) == 4 * len(broken)
    damages = [record for record in records if record["index"] is None]
    for record, (name, code, blob, offset, words) in zip(damages, broken, strict=True):
        assert record["file"] == str(BROKEN / name)
        if record["error_code"] == "not-popef":
            assert "this is not a PopEF file" in record["error_message"]
            assert (record["error_blob"], record["error_offset"]) == (None, None)
        else:
            assert (record["error_code"], record["error_message"]) == (code, words)
            assert (record["error_blob"], record["error_offset"]) == (int(blob), int(offset))
        blobs = [other for other in records if other["file"] == record["file"] and other["index"] is not None]
        assert [other["index"] for other in blobs] == list(range(len(blobs)))
        assert len(blobs) == int(blob)
    per_file = [record for record in popef.scan(paths, per="file") if record["file"] != str(good)]
    assert [record["blobs"] for record in per_file] == [int(blob) for _, _, blob, _, _ in broken]
    assert all(record["error_code"] for record in per_file)


def test_what_is_wrong_with_a_blob_is_in_its_record():
    (first, second) = popef.scan(BROKEN / "data-short.popef")
    assert (first["error_code"], first["index"]) == ("data-too-short", 0) or second["error_code"] == "data-too-short"
    wrong = first if first["error_code"] else second
    assert wrong["error_blob"] == wrong["index"]
    assert wrong["name"] is not None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_what_cannot_be_opened_has_a_record_and_raises_on_request(tmp_path, interop):
    os.mkfifo(tmp_path / "pipe.popef")
    (tmp_path / "text.popef").write_text("just words\n" * 10)
    (tmp_path / "empty.popef").touch()
    os.symlink("nowhere", tmp_path / "dangling.popef")
    records = list(popef.scan([tmp_path, tmp_path / "*.nothing", "-"], per="file"))
    found = [(os.path.basename(record["file"]), record["error_code"], record["error_kind"]) for record in records]
    assert found == [
        ("dangling.popef", "not-found", "io"),
        ("empty.popef", None, None),
        ("pipe.popef", "not-regular-file", "unsupported"),
        ("text.popef", "not-popef", "notPopef"),
        ("*.nothing", "not-found", "io"),
        ("-", "not-found", "io"),
    ]
    assert [record["file_size"] for record in records][:4] == [None, 0, None, 110]
    raised = {"dangling.popef": FileNotFoundError, "pipe.popef": popef.PopefError, "text.popef": popef.PopefError}
    for name, kind in raised.items():
        run = iter(popef.scan([interop / "split-feeds.popef", tmp_path / name], on_error="raise"))
        assert next(run)["type"] == "dataFeed"
        with pytest.raises(kind) as error:
            next(run)
        assert error.value.code == dict((file, code) for file, code, _ in found)[name]
    with pytest.raises(popef.PopefError) as error:
        list(popef.scan(BROKEN / "data-short.popef", on_error="raise"))
    assert error.value.code == "data-too-short"


FULL = """
import os
import resource
import sys

import popef

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
try:
    while True:
        taken.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
for path in sys.argv[1:]:
    record, = popef.scan(path, threads=1)
    try:
        list(popef.scan(path, threads=1, on_error="raise"))
    except OSError as error:
        raised = error.errno, error.filename, error.code
    print(record["file"], record["error_code"], record["error_kind"], record["error_message"], raised, sep="|")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_without_file_descriptors_a_record_has_the_error_of_the_system(tmp_path, run):
    file = tmp_path / "model.popef"
    file.touch()
    done = run(FULL, tmp_path, file)
    assert done.returncode == 0, done.stderr
    failed = {tmp_path: "list the folder", file: "open the file"}
    words = "Too many open files (os error 24)"
    assert done.stdout.splitlines() == [
        f"{path}|io|io|cannot {doing}: {words}|{(errno.EMFILE, str(path), 'io')}" for path, doing in failed.items()
    ]


def test_folders_and_patterns_stand_for_their_files_in_order(tmp_path, interop):
    for name in "b.popef", "a.poptorch", "sub/d.popef", "sub/deep/c.popef", "c.txt", "odd[1].popef", "odd1.popef":
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(interop / "split-feeds.popef", tmp_path / name)

    def found(paths, **options):
        return [os.path.relpath(record["file"], tmp_path) for record in popef.scan(paths, **options)]

    top = ["a.poptorch", "b.popef", "odd1.popef", "odd[1].popef"]
    assert found(tmp_path) == [*top, "sub/d.popef", "sub/deep/c.popef"]
    assert found(tmp_path, recursive=False) == top
    assert found(tmp_path / "*") == ["a.poptorch", "b.popef", "c.txt", "odd1.popef", "odd[1].popef"]
    assert found(f"{tmp_path}/**/[cd].popef") == ["sub/d.popef", "sub/deep/c.popef"]
    assert found(str(tmp_path / "odd[1].popef").encode()) == ["odd[1].popef"]
    assert found(iter([tmp_path / "sub", tmp_path / "b.popef"])) == ["sub/d.popef", "sub/deep/c.popef", "b.popef"]
    assert found([]) == []


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8")
def test_names_that_are_not_utf8_are_kept(tmp_path, interop):
    path = os.fsencode(tmp_path) + b"/caf\xe9.popef"
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob(b"n\xff", b"e\xfe").write(b"")
    (record,) = popef.scan(path)
    assert (record["name"], record["name_bytes"]) == ("n\udcff", b"n\xff")
    assert (record["executable"], record["executable_bytes"]) == ("e\udcfe", b"e\xfe")
    assert (os.fsencode(record["file"]), record["file_bytes"]) == (path, path)


@pytest.mark.parametrize("algorithm", ["sha256", "blake3"])
def test_digests_are_those_of_other_programs(algorithm, tmp_path):
    def digest(content):
        if algorithm == "sha256":
            return hashlib.sha256(content).hexdigest()
        path = tmp_path / "content"
        path.write_bytes(content)
        return subprocess.run(["b3sum", "--no-names", path], check=True, capture_output=True, text=True).stdout.strip()

    if algorithm == "blake3" and not shutil.which("b3sum"):
        pytest.skip("b3sum is not installed")
    for name in "executable.popef", "compressed-zlib.popef", "split-feeds.popef":
        content = (INTEROP / name).read_bytes()
        (record,) = popef.scan(INTEROP / name, per="file", hash=algorithm)
        assert record["file_hash"] == digest(content)
        (alone,) = popef.scan(INTEROP / name, per="file", hash=algorithm, columns=["file_hash"])
        assert alone == {"file_hash": record["file_hash"]}
        for blob in popef.scan(INTEROP / name, hash=algorithm):
            start = blob["data_offset"]
            assert blob["data_hash"] == digest(content[start : start + blob["data_size"]])


def test_the_digest_of_the_content_does_not_depend_on_compression(tmp_path):
    for compressed in False, True:
        with popef.Writer(tmp_path / f"{compressed}.popef") as writer:
            writer.createExecutable("model", compressed).write(bytes(100_000))
    columns = ["data_hash", "content_hash", "is_compressed", "compression"]
    plain, packed = popef.scan(tmp_path, hash="sha256", columns=columns)
    assert plain["content_hash"] == packed["content_hash"]
    assert plain["data_hash"] != packed["data_hash"]
    assert (plain["compression"], packed["compression"]) == (None, "zlib")
    plain, packed = popef.scan(tmp_path, per="file", hash="sha256", columns=["content_hash"])
    assert plain == packed


def test_damaged_files_and_executables_have_no_digest_of_what_is_damaged():
    records = {record["name"]: record for record in popef.scan(BROKEN / "zlib-wrong-checksum.popef", hash="sha256")}
    damaged = [record for record in records.values() if record["error_code"]]
    assert [(record["error_code"], record["content_hash"]) for record in damaged] == [("compressed-data-damaged", None)]
    assert all(record["data_hash"] for record in records.values())
    (record,) = popef.scan(BROKEN / "size-one-more.popef", per="file", hash="sha256")
    assert (record["file_hash"], record["content_hash"], record["error_code"]) == (None, None, "blob-cut")


@pytest.mark.parametrize("deep", [False, True])
def test_findings_of_checks_are_with_their_blobs(deep):
    checks = ROOT / "testdata" / "checks"
    paths = sorted(checks.glob("PE[123]*.popef")) + sorted(checks.glob("PE40[134589].popef"))
    check = "deep" if deep else "quick"
    columns = ["file", "index", "check_severity", "check_rules", "check_messages", "check_complete", "error_blob"]
    records = list(popef.scan(paths, check=check, columns=columns))
    files = list(popef.scan(paths, check=check, per="file"))
    worst = {"error": 0, "warning": 1, "note": 2}
    for path, file in zip(paths, files, strict=True):
        findings = popef.check(path, deep=deep).findings
        own = [record for record in records if record["file"] == str(path)]
        blobs = {record["index"] for record in own}
        for record in own:
            mine = [
                finding
                for finding in findings
                if (finding.blob if finding.blob in blobs else None) == record["index"]
            ]
            assert sorted(record["check_rules"]) == sorted(finding.rule for finding in mine)
            assert sorted(record["check_messages"]) == sorted(finding.message for finding in mine)
            severities = sorted((finding.severity for finding in mine), key=worst.get)
            assert record["check_severity"] == (severities[0] if severities else None)
        assert sorted(file["check_rules"]) == sorted(finding.rule for finding in findings)
        if deep == path.stem.startswith("PE4"):
            assert path.stem in file["check_rules"]
        assert file["check_complete"] is True


def test_a_scan_checks_with_loaders_and_a_policy_as_check_does():
    policy = ROOT / "testdata" / "validate" / "policy.toml"
    paths = [ROOT / "testdata" / "checks" / f"{rule}.popef" for rule in ("PE101", "PE108", "PE601", "PE612")]
    for options in {"loaders": ["popart", "poptorch"]}, {"policy": policy}:
        files = list(popef.scan(paths, per="file", check="quick", **options))
        for path, file in zip(paths, files, strict=True):
            findings = popef.check(path, **options).findings
            assert sorted(file["check_rules"]) == sorted(finding.rule for finding in findings)
        assert files != list(popef.scan(paths, per="file", check="quick"))
    with pytest.raises(FileNotFoundError):
        popef.scan(paths, check="quick", policy="missing.toml")


def test_a_scan_can_be_read_again_shared_and_pickled(interop):
    scan = popef.scan(interop, columns=["name", "index"], check="quick")
    assert scan.columns == ("name", "index")
    assert repr(scan) == "<popef.Scan per blob, check='quick', 2 columns>"
    first = list(scan)
    assert list(scan) == first == list(pickle.loads(pickle.dumps(scan)))
    assert list(first[0]) == ["name", "index"]
    one, other = iter(scan), iter(scan)
    assert [next(one), next(one), next(other)] == [first[0], first[1], first[0]]


def test_wrong_options_are_refused_at_once(interop):
    for options in (
        {"per": "model"},
        {"check": "shallow"},
        {"hash": "md5"},
        {"on_error": "ignore"},
        {"threads": 0},
        {"columns": []},
        {"columns": ["name", "name"]},
        {"columns": ["names"]},
        {"columns": ["check_rules"]},
        {"columns": ["data_hash"], "check": "quick"},
        {"loaders": ["popart"]},
        {"policy": "policy.toml"},
        {"loaders": ["another"], "check": "quick"},
    ):
        with pytest.raises(ValueError, match=next(iter(options)).rstrip("s")):
            popef.scan(interop, **options)
    with pytest.raises(TypeError):
        popef.scan(interop, columns="name")
    with pytest.raises(TypeError):
        list(popef.scan([3.5]))


def test_an_error_of_the_paths_is_raised_and_ends_the_scan(interop):
    def paths():
        yield interop / "split-feeds.popef"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(popef.scan(paths()))


def test_files_are_opened_no_more_than_some_before_their_turn(interop):
    asked = []

    def paths():
        for number in range(10_000):
            asked.append(number)
            yield interop / "split-feeds.popef"

    run = iter(popef.scan(paths(), threads=2))
    for _ in range(10):
        next(run)
    assert len(asked) < 200
    del run
    gc.collect()
    assert len(asked) < 200


def test_one_run_is_for_one_thread_at_a_time(interop):
    """Threads that share a run get each record once, or an error that another one is using it."""
    run = iter(popef.scan([interop / "executable.popef"] * 2000, columns=["file", "index"]))
    records, refused = [], []

    def take():
        while True:
            try:
                record = next(run, None)
            except ValueError as error:
                refused.append(str(error))
                continue
            if record is None:
                return
            records.append(record["index"])

    threads = [threading.Thread(target=take) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(records) == sorted(list(range(4)) * 2000)
    assert set(refused) <= {"another thread is using the scan"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_begins_anew(run, interop):
    program = """
import os, sys, popef, warnings
warnings.simplefilter("ignore")
scan = popef.scan([sys.argv[1]] * 100)
begun = iter(scan)
next(begun)
child = os.fork()
if child == 0:
    try:
        next(begun)
    except RuntimeError as error:
        print(error, len(list(scan)), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(1 + len(list(begun)))
"""
    done = run(program, interop / "executable.popef", timeout=60)
    assert done.stdout.split("\n")[:2] == [
        "the scan was begun in another process; begin a new one 400",
        "400",
    ], done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_ctrl_c_ends_waiting_for_a_file(run, tmp_path):
    """The first file takes long: a terabyte that is not there is hashed."""
    path = tmp_path / "huge.popef"
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob("o", "e").write(b"")
    content = bytearray(path.read_bytes())
    size = len(content)
    assert content.count(size.to_bytes(8, "little")) == 1
    path.write_bytes(content.replace(size.to_bytes(8, "little"), (size + 2**40).to_bytes(8, "little")))
    os.truncate(path, size + 2**40)
    program = """
import os, signal, sys, threading, popef
signal.signal(signal.SIGUSR1, signal.default_int_handler)
run = iter(popef.scan(sys.argv[1], hash="sha256"))
try:
    # However early or late it comes: the file is read for hours.
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    next(run)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run(program, path, timeout=60).stdout == "interrupted\n"


def test_a_file_that_is_open_is_no_path(interop):
    path = interop / "executable.popef"
    with open(path, "rb") as stream:
        for given in popef.open(path), stream:
            with pytest.raises(TypeError, match="paths is a path, or several, not .*popef.describe takes files that are open"):
                popef.scan(given)

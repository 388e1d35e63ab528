"""What happens to a file whose writer is not closed: it is finished, unless an exception came in between."""

import contextlib
import gc
import io
import os
import subprocess
import sys
import threading

import pytest

import popef

GOOD = b"a good model, which no half one may replace"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.popef"
    path.write_bytes(GOOD)
    return path


@pytest.fixture
def warned():
    """Nothing is raised where it could not be caught: warnings are collected."""
    with pytest.warns(ResourceWarning) as warned:
        yield warned


def begin(path):
    writer = popef.Writer(path)
    writer.createOpaqueBlob("first", "model").write(b"data")
    return writer


def half(path):
    """A function that fails while it writes."""
    writer = begin(path)
    writer.createOpaqueBlob("second", "model")
    raise KeyError("the weights are missing")


def test_a_writer_that_is_just_dropped_finishes_its_file_and_says_so(path, warned):
    begin(path)
    assert popef.open(path).names() == ["first"]
    (warning,) = warned
    assert "test_forgotten_writers.py" in str(warning.message)
    assert "its file was finished" in str(warning.message)


def test_a_file_that_a_failed_script_deleted_does_not_come_back(tmp_path):
    """As the public script that compresses executables does it."""
    path = str(tmp_path / "output.popef")

    def compress():
        with open(path, "w+"):
            pass
        try:
            writer = popef.Writer(path)
            writer.createOpaqueBlob("first", "model").write(b"data")
            raise AttributeError
        except BaseException:
            os.remove(path)

    with pytest.warns(ResourceWarning):
        compress()
        gc.collect()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("now", ["gone", "another", "created"])
def test_a_file_whose_path_is_not_what_it_was_is_discarded(now, tmp_path, warned):
    path = tmp_path / "model.popef"
    if now != "created":
        path.write_bytes(GOOD)
    writer = begin(path)
    if now == "gone":
        path.unlink()
    else:
        other = tmp_path / "other"
        other.write_bytes(b"of somebody else")
        os.replace(other, path)
    del writer
    assert path.exists() == (now != "gone")
    assert now == "gone" or path.read_bytes() == b"of somebody else"
    assert [file.name for file in tmp_path.iterdir()] == ["model.popef"] * (now != "gone")
    assert "removed or replaced" in str(warned[0].message)


def ends_in_except(path):
    with contextlib.suppress(KeyError):
        half(path)


def ends_in_bare_except(path):
    try:
        half(path)
    except KeyError:
        pass
    return None


def ends_in_except_with_a_name(path):
    try:
        half(path)
    except KeyError as error:
        str(error)
    something = None
    return something


def ends_in_except_that_returns(path):
    try:
        half(path)
    except KeyError as error:
        return str(error)


def ends_while_handled(path):
    writer = begin(path)
    try:
        raise KeyError
    except KeyError:
        del writer


def ends_in_finally(path):
    try:
        writer = begin(path)
        try:
            raise KeyError
        finally:
            del writer
    except KeyError:
        pass


def ends_in_a_loop(path):
    for _ in range(1):
        try:
            half(path)
        except KeyError:
            continue


def ends_in_a_thread(path):
    thread = threading.Thread(target=lambda: contextlib.suppress(KeyError).__enter__() or ends_in_bare_except(path))
    thread.start()
    thread.join()


ENDS = [
    ends_in_except,
    ends_in_bare_except,
    ends_in_except_with_a_name,
    ends_in_except_that_returns,
    ends_while_handled,
    ends_in_finally,
    ends_in_a_loop,
    ends_in_a_thread,
]


@pytest.mark.parametrize("end", ENDS)
def test_an_exception_discards_what_was_not_closed(end, path, warned):
    end(path)
    assert path.read_bytes() == GOOD
    assert os.listdir(path.parent) == [path.name]
    assert "exception" in str(warned[0].message)


def honest_in_except(path):
    """The exception was there before the writer, and has nothing to do with it."""
    try:
        raise ImportError
    except ImportError:
        begin(path)


def honest_after_except(path):
    writer = begin(path)
    try:
        raise KeyError
    except KeyError:
        pass
    writer = None
    return writer


def honest_after_named_except(path):
    writer = begin(path)
    try:
        raise KeyError
    except KeyError as error:
        str(error)
    del writer


def honest_in_a_thread(path):
    thread = threading.Thread(target=begin, args=(path,))
    thread.start()
    thread.join()


def honest_with_a_blob(path):
    blob = begin(path).createOpaqueBlob("second", "model")
    blob.write(b"data")


@pytest.mark.parametrize(
    "end", [honest_in_except, honest_after_except, honest_after_named_except, honest_in_a_thread, honest_with_a_blob]
)
def test_an_exception_that_is_over_discards_nothing(end, path, warned):
    end(path)
    assert popef.open(path).names()[0] == "first"


def test_a_file_object_gets_no_half_file_either(warned):
    file = io.BytesIO()
    file.write(GOOD)
    ends_in_bare_except(file)
    assert file.getvalue() == GOOD


def test_discarding_leaves_nothing_in_a_file_object():
    file = io.BytesIO()
    file.write(GOOD)
    writer = begin(file)
    writer.createOpaqueBlob("second", "model").write(b"more")
    writer.discard()
    assert file.getvalue() == GOOD


BEGIN = """
import popef, sys
def begin(path):
    writer = popef.Writer(path)
    writer.createTensorData(popef.TensorDataInfo("w", popef.TensorInfo([2], popef.DataType.U8))).write(b"12")
    return writer
path = sys.argv[1]
"""

PROGRAMS = {
    "global": "writer = begin(path)\nraise KeyError",
    "local": "def main():\n    writer = begin(path)\n    raise KeyError\nmain()",
    "exit": "def main():\n    writer = begin(path)\n    sys.exit('no weights')\nmain()",
    "interrupt": "def main():\n    writer = begin(path)\n    raise KeyboardInterrupt\nmain()",
    "hook": "sys.excepthook = lambda *_: None\nwriter = begin(path)\nraise KeyError",
    "cycle": "class A: pass\na = A()\na.a = a\na.writer = begin(path)\nraise KeyError",
    "object": "class A: writer = begin(path)\nraise KeyError",
    "thread": "import threading\ndef main():\n    writer = begin(path)\n    raise KeyError\n"
    "thread = threading.Thread(target=main)\nthread.start()\nthread.join()",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_ends_by_an_exception_keeps_the_good_model(program, path, run):
    done = run(BEGIN + PROGRAMS[program], path)
    assert done.returncode != 0 or program == "thread"
    assert path.read_bytes() == GOOD
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    "program",
    ["writer = begin(path)", "def main():\n    writer = begin(path)\nmain()", "writer = begin(path)\nsys.exit(0)"],
)
def test_a_program_that_just_ends_has_finished_its_file(program, path, run):
    done = run(BEGIN + program, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert popef.open(path).names() == ["w"]
    assert "ResourceWarning" in run("import warnings\nwarnings.simplefilter('always')" + BEGIN + program, path).stderr


# How a console runs what is typed: each line of its own, and it goes on after an exception.
CONSOLE = """
import code, sys
sys.ps1 = "> "
console = code.InteractiveConsole()
for line in open(sys.argv[2]).read().split(";"):
    console.runcode(compile(line.strip(), "cell", "exec"))
"""


def console(path, cells, tmp_path_factory, run):
    file = tmp_path_factory.mktemp("cells") / "cells"
    file.write_text(";".join(cells))
    return run(CONSOLE.replace("import code, sys", BEGIN + "import code").replace("InteractiveConsole()", "InteractiveConsole(globals())"), path, file)


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["writer = begin(path)", "oops"], None),
        (["writer = begin(path)", "oops", "writer.createOpaqueBlob('n', 'e').write(b'data')"], ["w", "n"]),
        (["oops", "writer = begin(path)"], ["w"]),
        (["def f():\n    writer = begin(path)\n    raise KeyError\nf()", "0"], None),
        (["def f():\n    writer = begin(path)\n    raise KeyError\nf()", "oops"], None),
        (["def f():\n    writer = begin(path)\n    raise KeyError\nf()", "writer = begin(path)\nwriter.close()"], ["w"]),
    ],
)
def test_an_exception_in_a_console_counts_if_the_writer_was_not_used_after_it(cells, names, path, tmp_path_factory, run):
    console(path, cells, tmp_path_factory, run)
    assert (path.read_bytes() == GOOD) if names is None else (popef.open(path).names() == names)


def test_a_second_writer_takes_the_place_of_a_forgotten_one(path, warned):
    first = popef.Writer(path)
    blob = first.createOpaqueBlob("first", "model")
    blob.write(b"data")
    with popef.Writer(path) as second:
        second.createOpaqueBlob("second", "model").write(b"data")
    assert first.closed
    for call in (lambda: blob.write(b"more"), lambda: first.createOpaqueBlob("third", "model")):
        with pytest.raises(popef.PopefError, match=r"made at .*test_forgotten_writers\.py:\d+, took its place"):
            call()
    first.close()
    assert popef.open(path).names() == ["second"]
    assert "for the same path" in str(warned[0].message)


@pytest.mark.parametrize("way", ["relative", "link", "append"])
def test_a_path_is_the_same_however_it_is_spelled(way, path, monkeypatch):
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob("old", "model").write(b"data")
    monkeypatch.chdir(path.parent)
    first = popef.Writer("model.popef")
    if way == "link":
        os.symlink(path, "link.popef")
    mode = popef.FileWriter.Mode.APPEND if way == "append" else popef.FileWriter.Mode.WRITE
    with pytest.warns(ResourceWarning), popef.FileWriter("link.popef" if way == "link" else path, mode) as second:
        second.createOpaqueBlob("second", "model").write(b"data")
    assert first.closed
    assert popef.open(path).names() == ["old"] * (way == "append") + ["second"]


def test_a_writer_of_another_process_keeps_its_path(path):
    program = BEGIN + "writer = begin(path)\nprint('ready', flush=True)\nsys.stdin.read()\nwriter.discard()"
    child = subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(popef.PopefError, match="somebody else") as raised:
            popef.Writer(path)
        assert raised.value.code == "file-busy"
        child.stdin.close()
    popef.Writer(path).discard()
    assert path.read_bytes() == GOOD

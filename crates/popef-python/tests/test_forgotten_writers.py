"""What becomes of a file whose writer nobody closed.

A new one is finished, unless an exception came in between. A file that exists stays as it is.
"""

import asyncio
import concurrent.futures
import contextlib
import gc
import io
import os
import subprocess
import sys
import threading
import weakref

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
    path.unlink()
    popef.Writer(path).createOpaqueBlob("first", "model").write(b"data")
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


def ends_in_an_except_clause_of_an_except_clause(path):
    try:
        raise ImportError
    except ImportError:
        writer = begin(path)
        try:
            raise KeyError
        except KeyError:
            del writer


ENDS = [
    ends_in_an_except_clause_of_an_except_clause,
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
        popef.Writer(path).createOpaqueBlob("first", "model")


def honest_after_except(path):
    writer = popef.Writer(path)
    writer.createOpaqueBlob("first", "model")
    try:
        raise KeyError
    except KeyError:
        pass
    writer = None
    return writer


def honest_after_named_except(path):
    writer = popef.Writer(path)
    writer.createOpaqueBlob("first", "model")
    try:
        raise KeyError
    except KeyError as error:
        str(error)
    del writer


def honest_when_the_function_returns(path):
    writer = popef.Writer(path)
    writer.createOpaqueBlob("first", "model")


def honest_in_a_loop(path):
    for name in "second.popef", path.name:
        writer = popef.Writer(path.with_name(name))
        writer.createOpaqueBlob("first", "model").write(b"data")
        del writer


def honest_in_a_thread(path):
    thread = threading.Thread(target=honest_when_the_function_returns, args=(path,))
    thread.start()
    thread.join()


def honest_with_a_blob(path):
    blob = popef.Writer(path).createOpaqueBlob("first", "model")
    blob.write(b"data")


def honest_with_a_helper(path):
    begin(path)


def honest_in_a_generator(path):
    list(begin(path) for _ in range(1))


def honest_in_the_except_clause_of_a_loop(path):
    for name in path.name, "second.popef":
        try:
            raise ImportError
        except ImportError:
            writer = popef.Writer(path.with_name(name))
            writer.createOpaqueBlob("first", "model").write(b"data")


class Frozen(Exception):
    """As a frozen dataclass."""

    def __setattr__(self, name, value):
        raise AttributeError(f"cannot assign to field {name!r}")

    __getattr__ = __delattr__ = lambda self, name: fail()


def honest_in_except_of_a_frozen_exception(path):
    try:
        raise Frozen
    except Frozen:
        popef.Writer(path).createOpaqueBlob("first", "model")


HONEST = [
    honest_in_the_except_clause_of_a_loop,
    honest_in_except_of_a_frozen_exception,
    honest_in_except,
    honest_after_except,
    honest_after_named_except,
    honest_when_the_function_returns,
    honest_in_a_loop,
    honest_in_a_thread,
    honest_with_a_blob,
    honest_with_a_helper,
    honest_in_a_generator,
]


@pytest.mark.parametrize("found", [None, b""])
@pytest.mark.parametrize("end", HONEST)
def test_an_exception_that_is_over_discards_nothing(end, found, path, warned):
    path.unlink() if found is None else path.write_bytes(found)
    end(path)
    assert popef.open(path).names() == ["first"]
    assert "its file was finished" in str(warned[-1].message)


@pytest.mark.parametrize("end", HONEST)
def test_a_file_that_exists_stays_and_the_program_is_told(end, path):
    """Python does not tell whether the work ended. A program that relies on the vendor's writer would take the old file for the new one."""
    with pytest.warns((RuntimeWarning, ResourceWarning)) as warned:
        end(path)
    assert path.read_bytes() == GOOD
    (told,) = [warning for warning in warned if warning.category is RuntimeWarning]
    assert str(path) in str(told.message)
    assert "the file that exists is kept" in str(told.message)
    assert "with statement, or call close()" in str(told.message)


def export(path):
    """Writes one blob after the other, and tells how far it is."""
    writer = begin(path)
    for number in range(3):
        yield number
        writer.createOpaqueBlob(f"layer {number}", "model").write(b"data")


def fails_over_a_generator(path):
    for number in export(path):
        if number == 2:
            raise KeyError


def fails_in_a_call_over_a_generator(path):
    for _ in export(path):
        fail()


def fails_in_a_map_over_a_generator(path):
    list(map(lambda number: [][number], export(path)))


def fails_in_a_comprehension_over_a_generator(path):
    return [1 // (1 - number) for number in export(path)]


def fails_with_a_generator_that_only_writes(path):
    def layers(writer):
        for number in range(3):
            writer.createOpaqueBlob(f"layer {number}", "model").write(b"data")
            yield

    for _ in layers(popef.Writer(path)):
        fail()


def fails_in_a_coroutine(path):
    async def work():
        writer = begin(path)
        await asyncio.sleep(0)
        raise KeyError(writer)

    async def main():
        await asyncio.gather(work(), return_exceptions=True)

    asyncio.run(main())


def fails_over_an_asynchronous_generator(path):
    async def export():
        writer = begin(path)
        for number in range(3):
            yield number
        del writer

    async def main():
        async for number in export():
            fail()

    asyncio.run(main())


class Drops:
    def __init__(self, path):
        self.writer = begin(path)

    def close(self):
        self.writer = None

    __del__ = close


def fails_beside_an_object_with_del(path):
    dropping = Drops(path)
    fail(dropping)


def fails_beside_an_object_with_del_in_a_call(path):
    fail(Drops(path))


def fails_beside_a_finalizer(path):
    class Thing:
        pass

    thing, writers = Thing(), [popef.Writer(path)]
    writers[0].createOpaqueBlob("half", "model")
    weakref.finalize(thing, writers.clear)
    fail()


def fails_and_is_kept_for_later(path):
    errors = []
    for _ in range(2):
        try:
            half(path)
        except KeyError as error:
            errors.append(error)
    return len(errors)


def fails_and_is_kept_until_the_next_failure(path):
    kept = None
    for _ in range(2):
        try:
            half(path)
        except KeyError as error:
            kept = error
    kept = None
    return kept


def fails_in_a_future(path):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(half, path)
    assert future.exception() is not None


class Exporter:
    """The second try of ``export`` has the same frame as the first one, or one at the same address."""

    def __init__(self):
        self.on_done = self.report

    def report(self):
        pass

    def export(self, path, fails):
        gc.collect()
        self.writer = popef.Writer(path)
        self.writer.createOpaqueBlob("half", "model").write(b"da")
        if fails:
            raise ValueError("the weights are missing")


def fails_and_the_next_try_drops_it(path):
    exporter = Exporter()
    for now, fails in [(path, True), (path.with_name("other"), False)]:
        try:
            exporter.export(now, fails)
        except ValueError:
            pass
    exporter.writer.discard()


def fails_and_the_next_try_collects_it(path):
    for now, fails in [(path, True), (path.with_name("other"), False)]:
        exporter = Exporter()
        try:
            exporter.export(now, fails)
        except ValueError:
            exporter = None
    exporter.writer.discard()


def fail(*_):
    raise KeyError("the weights are missing")


FAILS = [
    fails_over_a_generator,
    fails_in_a_call_over_a_generator,
    fails_in_a_map_over_a_generator,
    fails_in_a_comprehension_over_a_generator,
    fails_with_a_generator_that_only_writes,
    fails_in_a_coroutine,
    fails_over_an_asynchronous_generator,
    fails_beside_an_object_with_del,
    fails_beside_an_object_with_del_in_a_call,
    fails_beside_a_finalizer,
    fails_and_is_kept_for_later,
    fails_and_is_kept_until_the_next_failure,
    fails_in_a_future,
    fails_and_the_next_try_drops_it,
    fails_and_the_next_try_collects_it,
]


@pytest.mark.filterwarnings("ignore:.*was not closed")
@pytest.mark.parametrize("failing", FAILS)
def test_an_exception_that_python_keeps_out_of_sight_loses_no_good_model(failing, path):
    with contextlib.suppress(KeyError, IndexError, ZeroDivisionError):
        failing(path)
    gc.collect()
    assert path.read_bytes() == GOOD
    assert os.listdir(path.parent) == [path.name]


def test_a_file_is_not_appended_to_either(path):
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob("good", "model").write(b"data")
    with pytest.warns(RuntimeWarning, match="the file that exists is kept"):
        appended(path)
    assert popef.open(path).names() == ["good"]


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


IN_A_BLOCK = "with popef.Writer(path) as writer, writer.createOpaqueBlob('w', 'm'):\n        sys.exit(0)"

EXITS = {
    "script": f"if True:\n    {IN_A_BLOCK}",
    "function": f"def main():\n    {IN_A_BLOCK}\nmain()",
    "except": f"try:\n    raise KeyError\nexcept KeyError:\n    {IN_A_BLOCK}",
    "thread": f"import threading\ndef main():\n    {IN_A_BLOCK}\nthread = threading.Thread(target=main)\nthread.start()\nthread.join()",
    "generator": f"def steps():\n    {IN_A_BLOCK.replace('sys.exit(0)', 'yield')}\nfor step in steps():\n    sys.exit(0)",
    "at exit": f"import atexit\n@atexit.register\ndef main():\n    {IN_A_BLOCK}",
}


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("place", EXITS)
def test_an_exit_in_a_block_discards_everything_wherever_it_is(place, exists, path, run):
    if not exists:
        path.unlink()
    assert run(BEGIN + EXITS[place], path).returncode == 0
    assert [file.read_bytes() for file in path.parent.iterdir()] == [GOOD] * exists


# The writer is a variable of the script, of a function that returns, or of one that others call.
ENDINGS = {
    "script": "writer = popef.Writer(path)\nwriter.createOpaqueBlob('w', 'm')",
    "function": "def main():\n    writer = popef.Writer(path)\n    writer.createOpaqueBlob('w', 'm')\nmain()",
    "helper": "writer = begin(path)",
    "exit": "writer = popef.Writer(path)\nwriter.createOpaqueBlob('w', 'm')\nsys.exit(0)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_that_just_ends_has_made_its_file(ending, path, run):
    path.unlink()
    done = run(BEGIN + ENDINGS[ending], path)
    assert (done.returncode, done.stderr) == (0, "")
    assert popef.open(path).names() == ["w"]


@pytest.mark.parametrize("ending", [*ENDINGS, "failure"])
def test_a_program_that_just_ends_replaces_nothing_and_says_so(ending, path, run):
    program = ENDINGS.get(ending, ENDINGS["exit"].replace("exit(0)", "exit('no weights')"))
    done = run(BEGIN + program, path)
    assert "RuntimeWarning: the writer for" in done.stderr
    assert path.read_bytes() == GOOD


@pytest.mark.parametrize("exists", [True, False])
def test_a_program_that_ends_with_a_daemon_thread_says_that_the_file_may_be_missing(exists, path, run):
    """Python frees no variables that a function of the thread can see."""
    if not exists:
        path.unlink()
    wait = "import threading\nthreading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()\n"
    done = run(BEGIN + wait + ENDINGS["script"], path)
    assert "RuntimeWarning: the writer for" in done.stderr
    assert "while a daemon thread runs" in done.stderr


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


MADE = "writer = popef.Writer(path)\nwriter.createOpaqueBlob('w', 'm')"


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["writer = begin(path)", "oops"], None),
        ([MADE, "oops", "writer = popef.Writer(path + '2')", "writer.discard()"], None),
        ([MADE, "oops", "del writer"], None),
        ([MADE, "oops", "writer = None"], None),
        (["def f():\n    writer = begin(path)\n    raise KeyError\nf()", "0"], None),
        (["def f():\n    writer = begin(path)\n    raise KeyError\nf()", "oops"], None),
        (["def f():\n    writer = begin(path)\n    raise KeyError\nf()", "writer = begin(path)\nwriter.close()"], ["w"]),
    ],
)
def test_an_exception_in_a_console_counts_if_the_writer_was_not_used_after_it(cells, names, path, tmp_path_factory, run):
    console(path, cells, tmp_path_factory, run)
    assert (path.read_bytes() == GOOD) if names is None else (popef.open(path).names() == names)


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        ([MADE, "oops", "writer.createOpaqueBlob('n', 'e').write(b'data')", "del writer"], ["w", "n"]),
        (["oops", MADE, "writer = None"], ["w"]),
        # Two exceptions later, Python has one at the address of the first.
        *[(["oops", MADE + "\noops", *["oops"] * later, "writer = None"], None) for later in range(5)],
    ],
)
def test_an_exception_in_a_console_counts_for_a_new_file_too(cells, names, path, tmp_path_factory, run):
    path.unlink()
    console(path, cells, tmp_path_factory, run)
    assert (not path.exists()) if names is None else (popef.open(path).names() == names)


def test_a_second_writer_takes_the_place_of_a_forgotten_one(path, warned):
    first = popef.Writer(path)
    blob = first.createOpaqueBlob("first", "model")
    blob.write(b"data")
    with popef.Writer(path) as second:
        second.createOpaqueBlob("second", "model").write(b"data")
    assert first.closed
    late = lambda: blob.write(b"more"), lambda: first.createOpaqueBlob("third", "model")
    for call in (*late, blob.close, blob.__exit__, first.close, first.__exit__):
        with pytest.raises(popef.PopefError, match=r"made at .*test_forgotten_writers\.py:\d+, took its place"):
            call()
    with pytest.raises(KeyError), first:
        raise KeyError
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


FORKED = """
import os, popef, signal, sys
writer = popef.FileWriter(sys.argv[1], getattr(popef.FileWriter.Mode, sys.argv[2]))
blob = writer.createExecutable("e", True)
if os.fork() == 0:
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)
signal.pause()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("mode", ["WRITE", "APPEND"])
def test_a_forked_process_does_not_keep_the_path_of_its_parents_writer(mode, path):
    popef.Writer(path).close()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", FORKED, path, mode], text=True, **pipes) as parent:
        assert parent.stdout.readline() == "ready\n"
        with pytest.raises(popef.PopefError, match="somebody else"):
            popef.Writer(path)
        parent.kill()
        parent.wait()
        popef.Writer(path).close()


APPEND = popef.FileWriter.Mode.APPEND


def appended(path, name="first"):
    writer = popef.FileWriter(path, APPEND)
    writer.createOpaqueBlob(name, "model").write(b"data")
    return writer


def test_appending_to_a_file_that_a_forgotten_writer_makes_keeps_its_blobs(tmp_path, warned):
    """Python makes the new writer before it drops the old one."""
    path = tmp_path / "log.popef"
    first = writer = appended(path, "step 0")
    writer = appended(path, "step 1")
    writer.close()
    first.close()
    assert popef.open(path).names() == ["step 0", "step 1"]
    assert "its blobs were appended" in str(warned[0].message)


def test_appending_after_a_writer_that_nobody_closed_says_where_that_was_made(tmp_path):
    path = tmp_path / "log.popef"
    popef.Writer(path).close()
    appended(path, "old").close()
    first = appended(path)
    with pytest.raises(popef.PopefError, match=r"made at .*test_forgotten_writers\.py:\d+ was not closed") as raised:
        popef.FileWriter(path, APPEND)
    assert (raised.value.code, "discard()" in raised.value.advice) == ("writer-not-closed", True)
    first.close()
    appended(path, "second").close()
    assert popef.open(path).names() == ["old", "first", "second"]


def test_appending_again_discards_a_failed_append(tmp_path, warned):
    path = tmp_path / "log.popef"
    popef.Writer(path).close()
    appended(path, "old").close()
    first = popef.FileWriter(path, APPEND)
    first.createOpaqueBlob("half", "model")
    try:
        raise KeyError
    except KeyError:
        appended(path, "new").close()
    assert first.closed
    assert popef.open(path).names() == ["old", "new"]


@pytest.mark.parametrize("output", ["out.popef", "./out.popef", None])
@pytest.mark.parametrize("mode", [None, popef.FileWriter.Mode.WRITE, APPEND])
def test_a_function_names_the_writer_that_keeps_its_path(mode, output, tmp_path, monkeypatch):
    """A cell that failed has left it. A second writer takes its place, but a function has no line of its own that could say so."""
    path, source = tmp_path / "out.popef", tmp_path / "model.popef"
    monkeypatch.chdir(tmp_path)
    for made in path, source:
        with popef.Writer(made) as writer:
            writer.createOpaqueBlob("good", "model").write(b"data")
    if mode is None:
        path.unlink()
    writer = popef.FileWriter(path, mode)
    with pytest.raises(popef.PopefError, match=r"out\.popef, made at .*\.py:\d+ was not closed") as raised:
        popef.compress(source, output or path, overwrite=True)
    assert raised.value.code == "writer-not-closed"
    writer.discard()
    popef.compress(source, output or path, overwrite=True)
    assert popef.open(path).names() == ["good"]

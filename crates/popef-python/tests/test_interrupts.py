"""Ctrl-C ends long work. The work itself sends the signal, from a file object that it reads. The end of the program ends daemon threads."""

import pytest

PROGRAM = """
import io
import os
import signal
import sys
import threading
import time

import numpy as np
import popef

handled = threading.Event()


def handle(number, frame):
    handled.set()
    raise KeyboardInterrupt


class Stream(io.BytesIO):
    reads = None

    def read(self, size=-1):
        if Stream.reads is not None:
            Stream.reads += 1
        if Stream.reads == 5:
            os.kill(os.getpid(), signal.SIGINT)
        # Other threads than the main one do the work, and go on when the signal was handled.
        if Stream.reads is not None and Stream.reads >= 5 and threading.current_thread() is not threading.main_thread():
            assert handled.wait(60)
            # On a busy machine, the main thread needs its turn to tell them to stop.
            time.sleep(0.01)
        return super().read(size)


stream = Stream()
info = popef.TensorDataInfo("t", popef.TensorInfo([64, 1 << 18], popef.DataType.F32))
with popef.Writer(stream) as writer:
    writer.createExecutable("e", False).write(os.urandom(1 << 20) * 64)
    writer.createTensorData(info).write(np.ones((64, 1 << 18), np.float32))
    writer.createTensorData(info).write(np.ones((64, 1 << 18), np.float32))
stream.seek(0)
file = popef.open(stream)
# A file with many blobs, which are read while it is opened.
many = Stream()
with popef.Writer(many) as writer:
    for _ in range(3000):
        writer.createOpaqueBlob("n", "e").write(bytes(2000))
many.seek(0)
signal.signal(signal.SIGINT, handle)
Stream.reads = 0
# All data is 192 MiB, and one read has at most 256 KiB of it. Threads that read ahead may go on for a while.
try:
    print(eval(sys.argv[1]))
except KeyboardInterrupt:
    print("stopped" if handled.is_set() and Stream.reads < 500 else f"after {Stream.reads} reads")
# What was stopped did no harm.
print(len(file.tensors[0].read()))
"""


@pytest.mark.parametrize(
    "work",
    [
        "popef.check(file, deep=True)",
        "popef.describe(file, values=3)",
        "file.tensors[0].numpy()",
        "file.executables[0].unpack()",
        "popef.hash(file, algorithm='blake3')",
        "popef.diff(file, io.BytesIO(stream.getvalue()))",
        "popef.merge([file], 'new.popef')",
        "popef.compress(file, 'new.popef')",
        "popef.extract(file, 'folder')",
        "popef.hash(file, select=lambda blob: stream.read(0) == b'')",
        "popef.open(many)",
        "popef.Reader().parseStream(many)",
    ],
)
def test_a_signal_ends(work, run, tmp_path):
    done = run(PROGRAM, work, cwd=tmp_path)
    assert (done.stdout.split("\n"), done.stderr) == (["stopped", str(64 << 20), ""], "")
    assert list(tmp_path.iterdir()) == []


CALLING_BACK = """
import sys
import threading
import time
import popef


def slow(*_):
    time.sleep(0.01)
    return True


class Stream:
    def __init__(self):
        self.file = open(sys.argv[1], "rb")

    def __getattr__(self, name):
        time.sleep(0.001)
        return getattr(self.file, name)

    def read(self, size=-1):
        slow()
        return self.file.read(size)


def work():
    while True:
        eval(sys.argv[2])


threading.Thread(target=work, daemon=True).start()
time.sleep(0.25)
# The end of the interpreter takes a while.
garbage = [[[] for _ in range(1000)] for _ in range(300)]
"""


@pytest.mark.parametrize(
    "work",
    [
        "popef.hash(sys.argv[1], progress=slow)",
        "popef.hash(sys.argv[1], select=slow)",
        "popef.hash(Stream())",
        "popef.open(Stream())[2].read()",
        "next(iter(popef.scan(sys.argv[1] for _ in range(100) if slow())))",
    ],
)
def test_a_daemon_thread_that_is_called_back_does_not_crash_at_the_end(work, run, interop):
    for _ in range(3):
        done = run(CALLING_BACK, interop / "executable.popef", work)
        assert (done.returncode, done.stderr) == (0, "")

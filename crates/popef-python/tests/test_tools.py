"""The tools that the wheel brings: what they print, how they end, and how they are stopped."""

import os
import pathlib
import signal
import subprocess
import sys
import sysconfig

import pytest
from conftest import ROOT

import popef

SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))
VENDOR = ROOT / "popef-dump" / "tests" / "vendor"


def tool(name, *arguments, **options):
    return subprocess.run([SCRIPTS / name, *arguments], capture_output=True, timeout=60, **options)


@pytest.mark.parametrize("name", ["popef-dump", "popef_dump"])
@pytest.mark.parametrize(
    ("options", "expected"), [("-a -t -e -o", "anchors-tensors-execs-opaques.txt"), ("-m", "metadata.txt")]
)
def test_calls_of_the_vendors_tool_print_what_it_printed(name, options, expected, interop):
    done = tool(name, *options.split(), "executable.popef", cwd=interop)
    assert (done.returncode, done.stderr) == (0, b"")
    assert words(done.stdout) == words((VENDOR / expected).read_bytes())


def words(text):
    """The vendor's document has lost the indents."""
    return [line.split() for line in text.splitlines() if line.strip()]


def test_the_toolbox_runs_as_a_script_and_as_a_module(interop):
    arguments = ["ls", "executable.popef"]
    script = tool("popef", *arguments, cwd=interop)
    module = subprocess.run([sys.executable, "-m", "popef", *arguments], capture_output=True, cwd=interop, timeout=60)
    assert (script.returncode, script.stderr, script.stdout) == (module.returncode, module.stderr, module.stdout)
    assert b"input_parameter" in script.stdout
    assert tool("popef", "--version").stdout.decode().splitlines()[0] == f"popef {popef.__version__}"


def test_the_exit_status_is_that_of_the_tool(interop, tmp_path):
    one, other = interop / "executable.popef", interop / "empty.popef"
    assert tool("popef", "diff", one, one).returncode == 0
    assert tool("popef", "diff", one, other).returncode == 1
    missing = tool("popef", "ls", tmp_path / "missing.popef")
    assert (missing.returncode, b"Traceback" in missing.stderr) == (2, False)
    assert tool("popef", "no-such-command").returncode == 2
    assert tool("popef-dump", "--no-such-option").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_file_names_may_be_any_bytes(interop, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.popef"
    os.symlink(interop / "executable.popef", path)
    assert tool("popef", "ls", path).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_tool_that_waits_for_input(interop, tmp_path):
    content = (interop / "executable.popef").read_bytes()
    command = [SCRIPTS / "popef", "merge", "-", "--output", tmp_path / "out.popef"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        # More than a pipe holds: when all is written, the tool has started and is reading.
        for _ in range(100):
            running.stdin.write(content)
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        status = running.wait(timeout=60)
        running.stdin.close()
        assert status in (130, -signal.SIGINT)
        assert b"Traceback" not in running.stderr.read()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="pipes end in another way there")
def test_a_reader_that_goes_early_is_no_error(interop):
    command = [SCRIPTS / "popef", "ls", *([interop / "executable.popef"] * 2000)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 0

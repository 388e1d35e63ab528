"""Measures listings of files on another machine, over a link with a delay, and counts what gguf-parser-go's way would fetch:

    cargo build --release -p popef-toolbox
    python3 crates/popef-toolbox/benches/remote_peers.py [--write] [PROGRAM]

Needs Linux, Python, GNU time and nginx (Debian: nginx-light). A proxy between popef and nginx delays all bytes, half of the delay on each way. The
files are in a temporary folder; their data are holes. Of ROUNDS runs of each command, the fastest counts, because other programs only
make a run slower. `--write` puts the table into docs/PERFORMANCE.md.

gguf-parser-go (util/httpx/file.go) asks for the size with HEAD, and fetches 4 MiB from each place that is not among the bytes it has.
What this comes to is calculated from the places of the headers, which popef says.
"""

import argparse
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "popef-dump/benches"))

import table  # noqa: E402

ROUNDS = 9
DELAY = 0.050
MIB = 1 << 20


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Proxy:
    """Passes bytes on after half of the delay, in both directions, however many come at once."""

    def __init__(self, to):
        self.to, self.port = to, free_port()
        started = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(started)), daemon=True).start()
        started.wait()

    async def serve(self, started):
        server = await asyncio.start_server(self.connected, "127.0.0.1", self.port, backlog=1000)
        started.set()
        await server.serve_forever()

    async def connected(self, reader, writer):
        try:
            # Opening a connection takes a round trip, before the first byte goes.
            await asyncio.sleep(DELAY)
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.passed(reader, other_writer), self.passed(other_reader, writer))

    async def passed(self, reader, writer):
        queue = asyncio.Queue()

        async def read():
            while data := await reader.read(1 << 16):
                queue.put_nowait((time.monotonic() + DELAY / 2, data))
            queue.put_nowait((time.monotonic() + DELAY / 2, b""))

        reading = asyncio.create_task(read())
        try:
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0, due - time.monotonic()))
                if not data:
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        reading.cancel()
        writer.close()


def nginx(folder):
    found = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    assert found, "nginx is missing (Debian: nginx-light)"
    port = free_port()
    (folder / "nginx").mkdir()
    conf = folder / "nginx/nginx.conf"
    conf.write_text(
        f"daemon off; pid {folder}/nginx/pid; worker_processes 1; error_log {folder}/nginx/errors;\n"
        "events { worker_connections 1000; }\n"
        f"http {{ access_log off; client_body_temp_path {folder}/nginx/body; proxy_temp_path {folder}/nginx/proxy;\n"
        f"fastcgi_temp_path {folder}/nginx/f; uwsgi_temp_path {folder}/nginx/u; scgi_temp_path {folder}/nginx/s;\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}/files; keepalive_requests 100000; }} }}\n"
    )
    server = subprocess.Popen([found, "-p", folder / "nginx", "-e", folder / "nginx/errors", "-c", conf])
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.05)
    raise SystemExit("nginx did not start")


def npy(path, size):
    """An array of zeros that are a hole."""
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % size
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        out.truncate(10 + len(header) + size)


def make(popef, folder):
    files = folder / "files"
    files.mkdir()
    arrays = folder / "arrays"
    for name, count, size in [("small", 1, 1000), ("large", 16, 64 * MIB), ("dense", 100_000, 4)]:
        shutil.rmtree(arrays, ignore_errors=True)
        arrays.mkdir()
        for number in range(count):
            npy(arrays / f"{number}.npy", size)
        # A command line has no room for 100,000 paths.
        paths = sorted(arrays.iterdir()) if count < 1000 else [one(arrays)]
        tensors = [word for path in paths for word in ("--tensors", path)]
        subprocess.run([popef, "pack", *tensors, "-o", files / f"{name}.popef"], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(arrays)
    for number in range(100):
        shutil.copy(files / "small.popef", files / f"{number}.popef")


def one(arrays):
    """All arrays of a folder in one archive."""
    path = arrays.parent / "arrays.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for array in arrays.iterdir():
            archive.write(array, array.name)
    return path


def run(popef, urls):
    """Seconds of the fastest run, and what it cost."""
    fastest = None
    for _ in range(ROUNDS):
        start = time.perf_counter()
        done = subprocess.run([popef, "ls", "--format", "json", *urls], capture_output=True, check=True)
        seconds = time.perf_counter() - start
        fastest = min(fastest or (seconds, done.stdout), (seconds, done.stdout))
    files = json.loads(fastest[1])["files"]
    return fastest[0], files


def memory_of(command):
    """Seconds, and MiB of memory at the peak."""
    start = time.perf_counter()
    # What starts a process counts with its own memory, so this is left to a small one.
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return time.perf_counter() - start, int(done.stderr.split()[-1]) / 1024


def of_gguf_parser(file):
    """The bytes that 4 MiB from each place that is not there yet come to."""
    fetched = end = 0
    for blob in file["blobs"]:
        if blob["dataOffset"] > end:
            start = max(blob["offset"], end)
            end = min(start + 4 * MIB, file["size"])
            fetched += end - start
    return fetched


def measure(popef, folder):
    make(popef, folder)
    server, port = nginx(folder)
    rows = []
    try:
        proxy = Proxy(port)
        url = lambda name: f"http://127.0.0.1:{proxy.port}/{name}.popef"  # noqa: E731
        slowest = 0
        for name, words in [("small", "1 small blob"), ("large", "16 blobs of 64 MiB"), ("dense", "100,000 tensors of 4 bytes")]:
            seconds, [file] = run(popef, [url(name)])
            requests, got = file["network"]["requests"], file["network"]["bytes"]
            # One round trip opens the connection.
            waits = (requests + 1) * DELAY
            slowest = seconds if name == "small" else slowest
            ratio = seconds / waits
            figure = f"{seconds:.2f} s, {requests} {'request' if requests == 1 else 'requests'}"
            rows.append(table.row(f"popef ls of a file with {words}", "at most 1.2 times the waits for the connection and the requests", figure, f"{waits:.2f} s", f"{ratio:.2f}", ratio <= 1.2))
            theirs = of_gguf_parser(file)
            rows.append(table.row(f"bytes for a file with {words}", "at most 1.1 times those of gguf-parser-go's way", f"{got:,}", f"calculated: {theirs:,}", f"{got / theirs:.2f}", got <= 1.1 * theirs))
        seconds, files = run(popef, [url(number) for number in range(100)])
        assert len(files) == 100
        rows.append(table.row("popef ls of 100 files with 1 small blob", "at most 3 times the time of one", f"{seconds:.2f} s", f"{slowest:.2f} s", f"{seconds / slowest:.2f}", seconds <= 3 * slowest))
        # Without the delay: these read a gigabyte.
        os.link(folder / "files/large.popef", folder / "files/again.popef")
        near = [f"http://127.0.0.1:{port}/{name}.popef" for name in ("large", "again")]
        for command, urls in [("hash", near[:1]), ("check --deep", near[:1]), ("diff", near)]:
            seconds, memory = memory_of([popef, *command.split(), *urls])
            work = f"popef {command} of {'two files' if len(urls) > 1 else 'a file'} with 16 blobs of 64 MiB, without a delay"
            rows.append(table.row(work, "at most 64 MiB of memory", f"{memory:.0f} MiB, {seconds:.1f} s", met=memory <= 64))
    finally:
        server.terminate()
        server.wait()
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("popef", nargs="?", default=str(ROOT / "target/release/popef"))
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    about = table.machine()
    with tempfile.TemporaryDirectory() as folder:
        # nginx's workers may be of another user.
        os.chmod(folder, 0o755)
        rows = measure(str(Path(given.popef).resolve()), Path(folder))
    if given.write:
        table.put("remote", about, rows)
    print(about, table.text(rows), sep="\n")


if __name__ == "__main__":
    main()

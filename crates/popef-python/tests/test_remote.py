"""Files on other machines, from a server in this process. Without the feature, addresses are refused in words."""

import http.server
import multiprocessing
import pickle
import signal
import threading

import numpy as np
import pytest

import popef


def is_built_in():
    try:
        popef.open("file:///there/is/no/such/file")
    except popef.PopefError as error:
        return error.code != "not-built-in"
    except OSError:
        return True


BUILT_IN = is_built_in()
built_in = pytest.mark.skipif(not BUILT_IN, reason="the module was built without the feature remote")
ADDRESSES = ["https://example.com/model.popef", "s3://bucket/model.popef", "gs://b/k", "HTTPS://example.com/x", "file:///x"]


@pytest.mark.skipif(BUILT_IN, reason="the module was built with the feature remote")
@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_cannot_be_read_is_told_from_a_path(address):
    with pytest.raises(popef.PopefError, match="--features=remote") as raised:
        popef.open(address)
    assert raised.value.code == "not-built-in"
    assert ("the path itself" in str(raised.value)) == address.startswith("file:")
    with pytest.raises(popef.PopefError):
        popef.hash(address)


@pytest.mark.parametrize("call", [popef.open, popef.hash, popef.check, lambda address: popef.recover(address, "out.popef")])
@pytest.mark.parametrize(
    "address",
    ["ftp://u:SECRET@h/a", "http:/u:SECRET@h/a", "oci://b/k?sig=SECRET", "s3:///k?sig=SECRET", "https://u:SECRET@h:x/a"],
)
def test_nothing_secret_of_an_address_is_shown(call, address):
    with pytest.raises((popef.PopefError, OSError)) as raised:
        report = call(address)
        # A check says in its report what it could not read.
        assert "SECRET" not in f"{report!r} {report}"
        raise OSError
    error = raised.value
    assert "SECRET" not in f"{error} {error!r} {getattr(error, 'filename', '')}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        if self.path.startswith("/slow"):
            server.released.wait(30)
        content = server.files.get(self.path.partition("?")[0])
        if content is None:
            self.send_response(403 if self.path.startswith("/secret") else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        part = content[int(first) : int(last) + 1]
        server.sent += len(part)
        self.send_response(206)
        self.send_header("ETag", f'"{hash(content)}"')
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.asked, server.sent, server.released = {}, [], 0, threading.Event()
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


ARRAY = np.arange(3_000_000, dtype=np.float32)


@pytest.fixture
def model(tmp_path, server):
    """A model on disk, and its address."""
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        writer.writeMetadata(popef.Metadata(executable="e", numIpus=4))
        writer.createExecutable("e", True).write(b"\0" * 100_000)
        writer.createTensorData(popef.TensorDataInfo("w", popef.TensorInfo([3_000_000], popef.DataType.F32))).write(ARRAY)
        writer.createFeedData(popef.FeedDataInfo("f", popef.TensorInfo([1000], popef.DataType.F32), 3000)).write(ARRAY)
    server.files["/model.popef"] = path.read_bytes()
    return path, f"{server.address}/model.popef?signature=secret"


def total(tensor):
    return float(tensor.numpy()[:1000].sum())


@built_in
def test_a_file_behind_an_address_is_a_file(model, server):
    path, address = model
    file = popef.open(address)
    assert len(server.asked) <= 6
    local = popef.open(path)
    assert (file.names(), file.size, [blob.offset for blob in file]) == (
        local.names(), local.size, [blob.offset for blob in local]
    )
    assert file.metadata[0].metadata() == local.metadata[0].metadata()
    assert (file["w"].numpy() == ARRAY).all()
    assert file["e"].unpack() == b"\0" * 100_000
    assert (file["f"][17] == ARRAY[17_000:18_000]).all()
    assert "secret" not in repr(file) + file.path
    assert popef.hash(file)["content"] == popef.hash(path)["content"]
    assert popef.diff(address, path)["verdict"] == "same"
    assert popef.check(address).worst == popef.check(path).worst
    again = pickle.loads(pickle.dumps(file["w"]))
    assert (again.numpy() == ARRAY).all()
    with pytest.raises(ValueError, match="mapped"):
        popef.open(address, map=True)


@built_in
def test_only_what_is_asked_for_is_read(model, server):
    file = popef.open(model[1])
    before = len(server.asked)
    assert before <= 6
    file["f"][3]
    assert len(server.asked) <= before + 3


@built_in
def test_errors_of_servers_are_those_of_python_where_they_fit(server):
    for path, kind, code in [("/none", FileNotFoundError, "remote-not-found"), ("/secret", PermissionError, "remote-denied")]:
        with pytest.raises(kind) as raised:
            popef.open(server.address + path + "?key=hidden")
        assert raised.value.code == code
        assert "hidden" not in str(raised.value)
        assert raised.value.filename.startswith(server.address)
    for address, code in [("s3://", "remote-url"), ("http://example.com/x", "remote-http")]:
        with pytest.raises(popef.PopefError) as raised:
            popef.open(address)
        assert raised.value.code == code
        assert raised.value.advice


@built_in
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_files_behind_addresses_can_be_sent_to_other_processes(method, model):
    file = popef.open(model[1])
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(total, [file["w"]] * 4) == [total(file["w"])] * 4


@built_in
def test_a_forked_process_does_not_wait_forever_for_its_parents_connections(model):
    file = popef.open(model[1])

    def read(answers):
        try:
            file["w"].numpy()
        except popef.PopefError as error:
            answers.put(error.code)

    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=read, args=(answers,))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert answers.get() == "remote-stopped"


@built_in
def test_ctrl_c_ends_waiting_for_a_server(model, server):
    server.files["/slow"] = server.files["/model.popef"]

    def interrupt():
        while "/slow" not in server.asked:
            pass
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        popef.open(f"{server.address}/slow")
    thread.join()


@built_in
def test_other_threads_run_while_a_server_is_waited_for(model, server):
    server.files["/slow"] = server.files["/model.popef"]
    opened = []
    thread = threading.Thread(target=lambda: opened.append(popef.open(f"{server.address}/slow")))
    thread.start()
    # This thread would not get here if the other one kept the interpreter's lock.
    server.released.set()
    thread.join()
    assert len(opened[0]) == 4


@built_in
def test_only_the_rows_that_are_asked_for_are_read(model, server):
    tensor = popef.open(model[1])["w"]
    server.asked.clear()
    server.sent = 0
    assert tensor[5] == ARRAY[5]
    assert (tensor[1000:3000] == ARRAY[1000:3000]).all()
    assert len(tensor) == 3_000_000
    assert len(server.asked) <= 4
    assert 8000 <= server.sent < 1_000_000

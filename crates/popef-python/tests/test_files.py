"""Opened files: their blobs by number, name and type, and arrays that share the memory of a file."""

import copy
import gc
import hashlib
import html.parser
import io
import mmap
import multiprocessing
import os
import pathlib
import pickle
import re

import numpy as np
import pytest

import popef

NAMES = sorted(path.stem for path in (pathlib.Path(__file__).parents[3] / "testdata" / "interop").glob("*.popef"))
WAYS = ["path", "mapped", "bytes", "buffer", "stream"]


def opened(path, way, **options):
    if way == "mapped":
        return popef.open(path, map=True, **options)
    given = {
        "path": lambda: path,
        "bytes": path.read_bytes,
        "buffer": lambda: bytearray(path.read_bytes()),
        "stream": lambda: io.BytesIO(path.read_bytes()),
    }
    return popef.open(given[way](), **options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_every_way_gives_what_the_official_library_reads(name, way, interop, peer):
    path = interop / f"{name}.popef"
    content = path.read_bytes()
    file = opened(path, way)
    blobs = peer(path)
    assert (len(file), file.size, file.damage) == (len(blobs), len(content), None)
    for number, (blob, expected) in enumerate(zip(file, blobs, strict=True)):
        info = expected["info"]
        assert (blob.index, blob.offset, blob.blob_size) == (number, expected["offset"], expected["header"]["size"])
        assert (int(blob.blob_type), blob.version) == (expected["header"]["type"], expected["header"]["version"])
        assert blob.name == info.get("name")
        assert blob.read() == content[blob.data_offset : blob.data_offset + blob.data_size]
        assert blob.data_offset + blob.data_size == blob.offset + blob.blob_size
        if isinstance(blob, popef.Tensor):
            array = blob.numpy()
            shape = tuple(info["tensorInfo"]["shape"])
            if isinstance(blob, popef.Feed):
                shape = (info["numTensors"], *shape)
            assert blob.shape == array.shape == shape
            assert int(blob.data_type) == info["tensorInfo"]["dataType"]
            assert blob.dtype == array.dtype
            assert array.tobytes() == bytes.fromhex(expected["data"])[: blob.nbytes]
            assert array.flags.writeable == (way in ("path", "stream"))
        elif isinstance(blob, popef.Executable):
            assert blob.unpack().hex() == expected["data"]
            assert blob.unpacked_size == len(expected["data"]) // 2
            assert blob.is_compressed == (info["uncompressedSize"] != 2**64 - 1)
        elif isinstance(blob, popef.MetadataBlob):
            assert blob.executable == blob.metadata().executable() == info["executable"]
        else:
            assert isinstance(blob, popef.Opaque)
            assert (blob.executable, blob.read().hex()) == (info["executable"], expected["data"])


def test_blobs_are_found_by_number_name_and_type(interop):
    file = popef.open(interop / "executable.popef")
    assert [type(blob) for blob in file] == [popef.Opaque, popef.MetadataBlob, popef.Executable, popef.Tensor]
    assert file[-1].index == 3
    assert file[np.int64(0)].name == "popart"
    assert file["input_parameter"].index == file[b"input_parameter"].index == 3
    assert file.names() == ["popart", "3284579348837926701", "input_parameter"]
    assert "popart" in file
    assert "missing" not in file
    assert 3 not in file
    for wrong in 4, -5, 2**70, -(2**70):
        with pytest.raises(IndexError):
            file[wrong]
    with pytest.raises(KeyError, match="missing"):
        file["missing"]
    for wrong in 1.0, np.ones(2, bool):
        with pytest.raises(TypeError, match=f"a slice is needed, not {type(wrong).__name__}"):
            file[wrong]
    lists = file.tensors, file.feeds, file.executables, file.opaques, file.metadata
    assert [len(blobs) for blobs in lists] == [1, 0, 1, 1, 1]
    assert repr(file) == f"<popef.File {str(interop / 'executable.popef')!r}, 4 blobs, 66858 bytes>"
    assert repr(file[3]) == "<popef.Tensor 'input_parameter', F32 (2,)>"
    assert repr(file[0]) == "<popef.Opaque 'popart', 1536 bytes>"
    builder = popef.ModelBuilder(popef.Reader())
    assert repr(builder) == "<popef.ModelBuilder of <popef.Reader of 0 files, 0 blobs>>"
    with popef.open(interop / "split-feeds.popef") as feeds:
        assert repr(feeds[0]) == "<popef.Feed 'user_input', F32 (3, 2)>"


@pytest.fixture
def big(tmp_path):
    path = tmp_path / "big.popef"
    info = popef.TensorDataInfo("t", popef.TensorInfo([1000, 1000], popef.DataType.F32))
    array = np.random.default_rng(1).random((1000, 1000), np.float32)
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob("odd", "so that the array is not aligned").write(b"123")
        writer.createTensorData(info).write(array)
    return path, array


def test_a_file_is_a_sequence_of_its_blobs(interop):
    file, other = popef.open(interop / "executable.popef"), popef.open(interop / "all-types.popef")
    blobs = list(file)
    assert (file[1:], file[::-1], file[5:2]) == (blobs[1:], blobs[::-1], [])
    assert all(blob in file and blob not in other for blob in blobs)
    assert popef.open((interop / "executable.popef").read_bytes(), map=True)[0].index == 0


def test_arrays_share_the_memory_of_a_mapped_file_and_keep_it(big):
    path, expected = big
    file = popef.open(path, map=True)
    first, second = file["t"].numpy(), file["t"].numpy()
    assert np.shares_memory(first, second)
    base = first
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)
    del file, second, base
    gc.collect()
    os.replace(path, path.with_name("renamed"))
    assert (first == expected).all()
    with pytest.raises(ValueError, match="read-only|WRITEABLE|writeable"):
        first.setflags(write=True)


def test_arrays_share_the_memory_of_bytes_in_memory(big):
    path, expected = big
    content = path.read_bytes()
    array = popef.open(content)["t"].numpy()
    assert np.shares_memory(array, np.frombuffer(content, np.uint8))
    assert (array == expected).all()
    separate = popef.open(path)["t"]
    assert not np.shares_memory(separate.numpy(), separate.numpy())


def test_tensors_are_arrays_for_numpy(big):
    path, expected = big
    tensor = popef.open(path, map=True)["t"]
    assert np.asarray(tensor).shape == (1000, 1000)
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    assert np.shares_memory(np.asarray(tensor), tensor.numpy())
    assert not np.shares_memory(np.array(tensor), tensor.numpy())
    assert np.array(tensor).flags.writeable
    assert np.isclose(np.mean(tensor), expected.mean())
    with pytest.raises(ValueError, match="copy"):
        tensor.__array__(np.float64, copy=False)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3)])
def test_tensors_have_the_size_that_their_arrays_have(shape):
    array = np.ones(shape, np.float16)
    info = popef.TensorInfo(shape, popef.DataType.F16)
    content = io.BytesIO()
    with popef.Writer(content) as writer:
        writer.createTensorData(popef.TensorDataInfo("t", info)).write(array)
        writer.createFeedData(popef.FeedDataInfo("f", info, 2)).write(np.stack([array, array]))
    file = popef.open(content.getvalue())
    for tensor, expected in (file.tensors[0], array), (file.feeds[0], np.stack([array, array])):
        assert (np.size(tensor), np.ndim(tensor), np.shape(tensor)) == (expected.size, expected.ndim, expected.shape)
        assert [np.size(tensor, axis) for axis in range(expected.ndim)] == list(expected.shape)
        assert tensor.nbytes == expected.nbytes
    assert file.tensors[0].blob_size == file.feeds[0].offset


@pytest.mark.parametrize(
    ("shape", "data", "words"), [([1] * 65, bytes(4), "64"), ([0] * 65, b"", "64"), ([0, 2**62], b"", "too big")]
)
def test_a_shape_that_numpy_does_not_take_is_an_error_with_its_place(shape, data, words, tmp_path):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob("first", "e").write(b"")
        writer.createTensorData(popef.TensorDataInfo("t", popef.TensorInfo(shape, popef.DataType.F32))).write(data)
    tensor, reader = popef.open(path)["t"], popef.Reader()
    reader.parseFile(path)
    for read in tensor.numpy, lambda: np.asarray(tensor), popef.open(path.read_bytes())["t"].numpy, reader.tensors()[0].data:
        with pytest.raises(popef.PopefError, match=f'blob 1: the tensor "t" cannot be an array of NumPy: .*{words}') as raised:
            read()
        assert (raised.value.code, raised.value.blob) == ("no-array", 1)
        assert isinstance(raised.value.__cause__, ValueError)
    assert raised.value.path == str(path)
    assert (tensor.shape, tensor.read()) == (tuple(shape), data)


def test_what_has_to_be_read_is_no_array_without_a_copy(big):
    path, expected = big
    tensor = popef.open(path)["t"]
    with pytest.raises(ValueError, match="map=True"):
        tensor.__array__(copy=False)
    with pytest.raises(BufferError, match="map=True"):
        tensor.__dlpack__(max_version=(1, 0), copy=False)
    mapped = popef.open(path, map=True)["t"]
    assert np.shares_memory(mapped.__array__(copy=False), mapped.numpy())
    copied = tensor.__array__(copy=True)
    assert copied.flags.writeable and (copied == expected).all()


def test_tensors_are_given_to_libraries_that_know_dlpack(tmp_path):
    path = tmp_path / "model.popef"
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    with popef.Writer(path) as writer:
        info = popef.TensorInfo([2, 3], popef.DataType.F32)
        writer.createTensorData(popef.TensorDataInfo("aligned", info)).write(expected)
        writer.createOpaqueBlob("odd", "e").write(b"1")
        writer.createTensorData(popef.TensorDataInfo("unaligned", info)).write(expected)
    mapped, parts = popef.open(path, map=True), popef.open(path)
    assert mapped["aligned"].numpy().flags.aligned and not mapped["unaligned"].numpy().flags.aligned
    for file in mapped, parts:
        for tensor in file.tensors:
            assert tensor.__dlpack_device__() == np.zeros(1).__dlpack_device__()
            assert np.from_dlpack(tensor).tolist() == expected.tolist()
    shared = np.from_dlpack(mapped["aligned"])
    assert np.shares_memory(shared, mapped["aligned"].numpy()) and not shared.flags.writeable
    assert not np.shares_memory(np.from_dlpack(mapped["aligned"], copy=True), shared)
    assert np.from_dlpack(mapped["unaligned"]).flags.aligned

    class Old:
        """A consumer that does not know what is read-only."""

        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **_):
            return self.tensor.__dlpack__()

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    copied = np.from_dlpack(Old(mapped["aligned"]))
    assert copied.tolist() == expected.tolist() and not np.shares_memory(copied, shared)
    with pytest.raises(BufferError, match="read-only"):
        mapped["aligned"].__dlpack__(copy=False)
    with pytest.raises(BufferError, match="not aligned"):
        mapped["unaligned"].__dlpack__(max_version=(1, 0), copy=False)


class Counting(io.BytesIO):
    """Knows how many bytes were read of it."""

    count = 0

    def read(self, size=-1):
        data = super().read(size)
        self.count += len(data)
        return data


def test_one_run_of_a_feed_is_read_alone(tmp_path):
    path, expected = tmp_path / "feed.popef", np.arange(24_000_000, dtype="<f4").reshape(4, 2, 3_000_000)
    with popef.Writer(path) as writer:
        info = popef.FeedDataInfo("f", popef.TensorInfo([2, 3_000_000], popef.DataType.F32), 4)
        writer.createFeedData(info).write(expected)
    stream = Counting(path.read_bytes())
    in_parts = popef.open(stream)["f"]
    stream.count = 0
    assert (in_parts[2] == expected[2]).all()
    assert 24_000_000 <= stream.count < 25_000_000
    for feed in in_parts, popef.open(path)["f"], popef.open(path, map=True)["f"]:
        is_own = feed is in_parts or not np.shares_memory(feed.numpy(), feed.numpy())
        assert (len(feed), feed[0].shape, feed[0].flags.writeable) == (4, (2, 3_000_000), is_own)
        assert (feed[-1] == expected[-1]).all()
        for runs in slice(None), slice(1, 3), slice(-1, None), slice(3, 1), slice(2, 99):
            assert np.array_equal(feed[runs], expected[runs])
        assert sum(np.array_equal(run, wanted) for run, wanted in zip(feed, expected, strict=True)) == 4
        assert np.asarray(feed).shape == (4, 2, 3_000_000)
        for wrong in 4, -5, 2**70:
            with pytest.raises(IndexError, match="4 tensors"):
                feed[wrong]
        with pytest.raises(TypeError, match="not str"):
            feed["1"]
        with pytest.raises(ValueError, match="one after the other"):
            feed[::2]
    assert np.shares_memory(feed[2], feed.numpy())
    assert not is_own


def test_a_change_is_an_error_if_the_file_is_read_in_parts(big):
    path, _ = big
    tensor = popef.open(path)["t"]
    with open(path, "r+b") as file:
        file.truncate(5000)
    with pytest.raises(popef.PopefError) as raised:
        tensor.numpy()
    assert raised.value.kind == "changed"


@pytest.mark.parametrize("now_there", ["the same", "another", "nothing", "a pipe"])
def test_large_arrays_come_from_the_file_that_was_opened(big, now_there):
    path, expected = big
    file = popef.open(path)
    reader = popef.Reader()
    reader.parseFile(path)
    if now_there == "another":
        path.with_name("another").write_bytes(bytes(path.stat().st_size))
        os.replace(path.with_name("another"), path)
    elif now_there != "the same":
        path.unlink()
    if now_there == "a pipe":
        os.mkfifo(path)
    array, own = file["t"].numpy(), reader.tensors()[0].data()
    assert (array == expected).all() and (own == expected).all()
    assert (array.flags.writeable, own.flags.writeable) == (True, True)
    own[0, 0] = 7
    assert (reader.tensors()[0].data() == expected).all()


@pytest.mark.parametrize("way", WAYS)
def test_damaged_files_open_on_request(way, tmp_path, interop):
    path = tmp_path / "cut.popef"
    path.write_bytes((interop / "executable.popef").read_bytes()[:3000])
    with pytest.raises(popef.PopefError):
        opened(path, way)
    file = opened(path, way, damaged=True)
    assert (len(file), file.damage.code, file.damage.blob) == (2, "blob-cut", 2)
    assert repr(file).endswith(", 2 blobs, 3000 bytes, damaged>")


def test_what_cannot_be_opened_is_refused(tmp_path):
    for options in {}, {"map": True}:
        with pytest.raises(FileNotFoundError):
            popef.open(tmp_path / "missing.popef", **options)
        with pytest.raises(TypeError):
            popef.open(3.5, **options)
        with pytest.raises(TypeError):
            popef.open(None, **options)


@pytest.mark.parametrize("way", ["open", "map", "Reader", "hash", "describe", "check"])
def test_a_folder_is_a_directory(way, tmp_path):
    ways = {"map": lambda path: popef.open(path, map=True), "Reader": lambda path: popef.Reader().parseFile(path)}
    with pytest.raises(IsADirectoryError) as raised:
        ways.get(way, getattr(popef, way, None))(tmp_path)
    assert (raised.value.filename, raised.value.code) == (str(tmp_path), "is-folder")
    with pytest.raises(popef.PopefError) as raised:
        popef.open("/dev/null")
    assert raised.value.code == "not-regular-file"


def test_a_tensor_that_is_shorter_than_its_shape_raises():
    stream = io.BytesIO()
    with popef.Writer(stream) as writer:
        info = popef.TensorDataInfo("t", popef.TensorInfo([6], popef.DataType.U8))
        writer.createTensorData(info).write(b"123456")
    content = stream.getvalue()
    # One element more than there is data: the shape is the last word of the info.
    assert content[-14:-6] == (6).to_bytes(8, "little")
    tensor = popef.open(content[:-14] + (7).to_bytes(8, "little") + content[-6:])[0]
    for use in tensor.numpy, lambda: tensor.nbytes, lambda: np.asarray(tensor):
        with pytest.raises(popef.PopefError) as raised:
            use()
        assert (raised.value.needed, raised.value.found) == (7, 6)
    assert tensor.read() == b"123456"


def test_files_and_blobs_are_equal_by_what_they_are_of(interop, tmp_path):
    path = interop / "executable.popef"
    content = path.read_bytes()
    copied = tmp_path / "copy.popef"
    copied.write_bytes(content)
    one, two = popef.open(path), popef.open(str(path), map=True)
    assert one == two
    assert one[3] == two["input_parameter"] == one[-1]
    assert len({one, two, popef.open(path)}) == len({one[3], two[3]}) == 1
    in_memory = popef.open(content)
    assert in_memory == popef.open(content)
    assert in_memory[0] == in_memory[0]
    others = [popef.open(copied), in_memory, popef.open(bytearray(content)), popef.open(io.BytesIO(content)), 3, None]
    assert all(one != other for other in others)
    assert one[3] not in [one[2], in_memory[3], popef.open(copied)[3], "input_parameter"]
    stream = popef.open(io.BytesIO(content))
    assert (stream == stream, stream[0] == stream[0], stream[0] == stream[1]) == (True, True, False)


@pytest.mark.parametrize("way", WAYS)
def test_files_and_blobs_are_pickled_and_copied(way, interop):
    path = interop / "executable.popef"
    file = opened(path, way)
    assert copy.copy(file) is copy.deepcopy(file) is file
    assert copy.copy(file[3]) == copy.deepcopy(file[3]) == file[3]
    if way == "stream":
        with pytest.raises(TypeError, match="file object cannot be pickled"):
            pickle.dumps(file)
        with pytest.raises(TypeError, match="file object cannot be pickled"):
            pickle.dumps(file[3])
        return
    again, tensor = pickle.loads(pickle.dumps((file, file[3])))
    assert (again.path, again.names()) == (file.path, file.names())
    assert tensor == again["input_parameter"]
    assert tensor.numpy().tolist() == file[3].numpy().tolist()
    shares = np.shares_memory(again[3].numpy(), again[3].numpy())
    assert shares == (way != "path")


@pytest.mark.parametrize("map", [False, True])
def test_a_file_is_the_same_one_in_another_folder(map, interop, tmp_path, monkeypatch):
    """The folder of the program may hold another file of this name later."""
    content = {"one": (interop / "executable.popef").read_bytes(), "other": (interop / "split-tensors.popef").read_bytes()}
    for folder in content:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.popef").write_bytes(content[folder])
    monkeypatch.chdir(tmp_path / "one")
    file = popef.open("model.popef", map=map)
    (tmp_path / "one" / "cut.popef").write_bytes(content["one"][:3000])
    cut = popef.open("cut.popef", map=map, damaged=True)
    sums = tmp_path / "SHA256SUMS"
    sums.write_text(f"{hashlib.sha256(content['one'][:3000]).hexdigest()}  cut.popef\n")
    monkeypatch.chdir(tmp_path / "other")
    assert pickle.loads(pickle.dumps((file, file[3]))) == (file, file[3])
    assert popef.hash(file)["content"] == popef.hash(content["one"])["content"]
    assert popef.verify(cut, sums)["ok"]
    assert file.path == "model.popef"


def test_a_damaged_file_is_pickled_with_its_damage(interop, tmp_path):
    path = tmp_path / "cut.popef"
    path.write_bytes((interop / "executable.popef").read_bytes()[:3000])
    again = pickle.loads(pickle.dumps(popef.open(path, damaged=True)))
    assert (len(again), again.damage.code) == (2, "blob-cut")


def total(tensor):
    return float(tensor.numpy().sum())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_blobs_go_to_other_processes(method, interop):
    file = popef.open(interop / "split-tensors.popef")
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(total, file.tensors) == [total(tensor) for tensor in file.tensors]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell of descriptors")
@pytest.mark.parametrize("way", ["path", "mapped"])
def test_blobs_of_one_file_share_it_again_when_they_are_unpickled(way, tmp_path):
    """Otherwise a process could not open as many files as there are tensors."""
    path = tmp_path / "model.popef"

    def write(name):
        with popef.Writer(path) as writer:
            for number in range(30):
                writer.createOpaqueBlob(f"{name} {number}", "model").write(b"data")

    write("old")
    file = opened(path, way)
    before = len(os.listdir("/proc/self/fd"))
    blobs = pickle.loads(pickle.dumps(list(file))) + [pickle.loads(pickle.dumps(blob)) for blob in file]
    assert len(os.listdir("/proc/self/fd")) <= before + 1
    assert blobs == [*file, *file]
    # A file that is unpickled is another one.
    pickle.loads(pickle.dumps(file)).close()
    assert {blob.read() for blob in blobs} == {b"data"}
    pickled = pickle.dumps(file[3])
    write("new")
    assert pickle.loads(pickled).name == "new 3"
    assert blobs[3].name == "old 3"


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))

    def handle_data(self, data):
        self.text += data


def test_notebooks_show_a_short_table_in_which_names_are_text(tmp_path):
    hostile = "<script>alert(1)</script>&amp;\"'\u202e\x1b[31m"
    wide = "\u2601\ufe0f\x07" * 100
    path = tmp_path / "<b>&.popef"
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob(hostile, "").write(b"")
        writer.createOpaqueBlob(wide, "").write(b"")
        for number in range(100_000):
            writer.createOpaqueBlob(f"{number}" * 100, "").write(b"")
    shown = popef.open(path)._repr_html_()
    found = Tags(shown)
    assert {tag for tag, _ in found.tags} == {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert not any(attributes for _, attributes in found.tags)
    assert str(path) in found.text
    assert "<script>alert(1)</script>&amp;\"'" in found.text
    assert not re.search("[\x00-\x1f\u202e]", shown)
    assert "100002 blobs" in found.text
    assert "and 99982 more" in found.text
    assert len(shown) < 5000


def test_exceptions_keep_what_they_say_when_they_are_pickled(tmp_path):
    calls = [
        lambda: popef.open(tmp_path / "missing.popef"),
        lambda: popef.open(b"no PopEF file at all"),
        lambda: popef.merge([popef.open(b"")], tmp_path),
        lambda: popef.strip(b"", dry_run=True, drop="x"),
        lambda: popef.check(b"", loaders=["another"]),
    ]
    for call in calls:
        with pytest.raises(Exception) as raised:
            call()
        again = pickle.loads(pickle.dumps(raised.value))
        assert (type(again), str(again), again.args) == (type(raised.value), str(raised.value), raised.value.args)
        assert vars(again) == vars(raised.value)


def test_the_tuples_of_blobs_are_made_once(interop):
    file = popef.open(interop / "all-types.popef")
    assert file.tensors is file.tensors
    assert file.tensors[0] is file.tensors[0]
    assert file.tensors == tuple(blob for blob in file if type(blob) is popef.Tensor)
    assert len(file.tensors) > 1


@pytest.fixture
def rows(tmp_path):
    """A large tensor, with a blob before and bytes after its elements."""
    path, expected = tmp_path / "rows.popef", np.arange(3_000_000, dtype="<i4").reshape(1000, 3, 1000)
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob("odd", "so that the array is not aligned").write(b"123")
        writer.createTensorData(popef.TensorDataInfo("t", popef.TensorInfo([1000, 3, 1000], popef.DataType.S32))).write(expected)
        writer.createTensorData(popef.TensorDataInfo("scalar", popef.TensorInfo([], popef.DataType.U8))).write(b"7")
        writer.createTensorData(popef.TensorDataInfo("empty", popef.TensorInfo([0, 2], popef.DataType.U8)))
        writer.createTensorData(popef.TensorDataInfo("thin", popef.TensorInfo([4, 0], popef.DataType.F16)))
    return path, expected


@pytest.mark.parametrize("way", WAYS)
def test_rows_of_a_tensor_are_those_of_its_array(way, rows):
    path, expected = rows
    file = opened(path, way)
    tensor = file["t"]
    assert len(tensor) == 1000
    for row in 0, 5, 999, -1, -1000, np.int64(3):
        assert np.array_equal(tensor[row], expected[row])
    for part in slice(None), slice(2, 5), slice(-2, None), slice(7, 3), slice(998, 4000), slice(None, -998):
        assert np.array_equal(tensor[part], expected[part])
        assert tensor[part].shape == expected[part].shape
    assert all(np.array_equal(row, wanted) for row, wanted in zip(tensor, expected, strict=True))
    assert tensor[5].flags.writeable == tensor[2:5].flags.writeable == (way in ("path", "stream"))
    for wrong in 1000, -1001, 2**70:
        with pytest.raises(IndexError, match="the tensor has 1000"):
            tensor[wrong]
    for wrong in (1, 2), "1", None, 1.0, ..., expected[:, 0, 0] > 3:
        with pytest.raises(TypeError, match=r"numpy\(\)"):
            tensor[wrong]
    with pytest.raises(ValueError, match="one after the other"):
        tensor[::2]
    for use in (len, iter, lambda tensor: tensor[0]):
        with pytest.raises(TypeError, match="no dimensions"):
            use(file["scalar"])
    assert (len(file["empty"]), list(file["empty"]), file["empty"][:].shape) == (0, [], (0, 2))
    assert [row.shape for row in file["thin"]] == [(0,)] * 4


def test_only_the_rows_that_are_wanted_are_read(rows):
    path, expected = rows
    stream = Counting(path.read_bytes())
    tensor = popef.open(stream)["t"]
    for part, most in ((slice(2, 5), 3 * 12_000), (5, 12_000), (slice(0, 0), 0)):
        stream.count = 0
        assert np.array_equal(tensor[part], expected[part])
        assert stream.count <= most
    stream.count = 0
    assert len(tensor) == 1000
    assert stream.count == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_closed_file_is_closed(way, rows):
    path, expected = rows
    with opened(path, way) as file:
        tensor, array, row = file["t"], file["t"].numpy(), file["t"][5]
        tensors, known = file.tensors, hash(file)
        assert not file.closed
    file.close()
    assert file.closed
    assert (array == expected).all() and (row == expected[5]).all()
    uses = [
        tensor.numpy, tensor.read, lambda: tensor[0], lambda: tensor.shape, lambda: tensors[0].name, lambda: file.tensors,
        lambda: file[0], lambda: file["t"], lambda: list(file), lambda: len(file), lambda: popef.hash(file), file.names,
        lambda: popef.describe(file), lambda: popef.check(file), file.__enter__, lambda: pickle.dumps(file),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(ValueError, match="^the file is closed$"):
            use()
    assert (repr(tensor), repr(file).endswith(", closed>")) == ("<popef.Tensor, closed>", True)
    assert (hash(file), file == file, tensor == tensors[0], tensor.index) == (known, True, True, 1)
    assert file.size == path.stat().st_size


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell of descriptors")
@pytest.mark.parametrize("way", ["path", "mapped"])
def test_a_file_takes_one_descriptor_until_it_is_closed(way, rows):
    path, expected = rows

    def descriptors():
        links = [os.path.join("/proc/self/fd", number) for number in os.listdir("/proc/self/fd")]
        return sum(os.path.realpath(link) == str(path) for link in links)

    file = opened(path, way)
    blobs, rows_read = list(file), file["t"][3]
    assert descriptors() == 1
    file.close()
    gc.collect()
    assert descriptors() == (0 if way == "path" else 1)
    assert (rows_read == expected[3]).all()
    # Arrays keep the mapping.
    del rows_read
    gc.collect()
    assert descriptors() == 0
    assert len(blobs) == 5


def test_a_mapped_file_is_read_by_functions_unless_another_one_took_its_place(rows):
    path, expected = rows
    file = popef.open(path, map=True)
    assert popef.hash(file)["content"] == popef.hash(path)["content"]
    assert file[0].read() == b"123"
    with pytest.raises((popef.PopefError, OSError)):
        popef.strip(file, path, drop=popef.Opaque, overwrite=True)


@pytest.mark.parametrize("change", ["replaced", "appended", "touched", "removed"])
def test_a_mapped_file_that_was_changed_is_not_read_by_functions(change, rows):
    path, expected = rows
    file = popef.open(path, map=True)
    if change == "replaced":
        path.with_name("another").write_bytes(path.read_bytes())
        os.replace(path.with_name("another"), path)
    elif change == "appended":
        with popef.FileWriter(path, popef.FileWriter.Mode.APPEND) as writer:
            writer.createOpaqueBlob("more", "model")
    elif change == "touched":
        os.utime(path, (1, 1))
    else:
        path.unlink()
    assert (file["t"].numpy() == expected).all()
    for read in file[0].read, lambda: popef.hash(file):
        with pytest.raises(popef.PopefError) as raised:
            read()
        assert (raised.value.code, raised.value.kind) == ("file-changed", "changed")


CHANGES = {
    "rewritten": lambda path: path.write_bytes(path.read_bytes().replace(b"123", b"321")),
    "appended": lambda path: path.write_bytes(path.read_bytes() + b"more"),
    "shortened": lambda path: os.truncate(path, 100),
    "touched": lambda path: os.utime(path, (1, 1)),
}


@pytest.mark.parametrize(
    ("way", "change"),
    [(way, change) for way in ("path", "file object", "parseStream") for change in CHANGES]
    + [("BytesIO", "appended"), ("BytesIO", "shortened")],
)
def test_what_changed_since_it_was_opened_is_not_read(way, change, rows, tmp_path):
    path, _ = rows
    with io.BytesIO(path.read_bytes()) if way == "BytesIO" else open(path, "rb") as given:
        if way == "parseStream":
            reader = popef.Reader()
            reader.parseStream(given)
            uses = [reader.tensors()[0].data]
        else:
            file = popef.open(path if way == "path" else given)
            os.link(path, tmp_path / "another name")
            uses = [file["t"].numpy, lambda: file["t"][3], lambda: popef.hash(file)]
            assert popef.hash(file)["complete"]
        if way != "BytesIO":
            CHANGES[change](path)
        elif change == "appended":
            given.seek(0, os.SEEK_END)
            given.write(b"more")
        else:
            given.truncate(100)
        for use in uses:
            with pytest.raises(popef.PopefError) as raised:
                use()
            assert raised.value.kind == "changed"


def test_blobs_are_found_by_name_and_type(interop):
    file = popef.open(interop / "executable.popef")
    assert type(file.tensor("input_parameter")) is popef.Tensor
    assert file.executable("3284579348837926701") == file.executables[0]
    assert file.opaque(b"popart") == file["popart"]
    feeds = popef.open(interop / "split-feeds.popef")
    assert feeds.feed("user_input") == feeds.feeds[0]
    for find in file.tensor, file.feed, file.executable:
        with pytest.raises(KeyError, match="popart"):
            find("popart")


def test_what_cannot_be_mapped_is_told_of(tmp_path, interop):
    with open(interop / "executable.popef", "rb") as file:
        for given in file, io.BytesIO(file.read()):
            with pytest.raises(TypeError, match="^a file object cannot be mapped: give the path"):
                popef.open(given, map=True)
    content = bytearray((interop / "executable.popef").read_bytes())
    assert len(popef.open(content, map=True)) == 4


def test_a_star_import_leaves_the_functions_of_python_alone():
    names = {}
    exec("from popef import *", names)
    assert not set(vars(__import__("builtins"))) & (names.keys() - {"__builtins__"})
    assert names["Writer"] is popef.Writer
    assert "__version__" not in names
    assert popef.open.__name__ == "open"


FORKED = """
import io, os, sys
import popef
content = open(sys.argv[1], "rb").read()
files = [popef.open(open(sys.argv[1], "rb")), popef.open(io.BytesIO(content)), popef.open(sys.argv[1])]
if (child := os.fork()) == 0:
    for file in files:
        try:
            print(len(file[0].read()) > 0, flush=True)
        except popef.PopefError as error:
            print(error.code, error.advice, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(len(files[0][0].read()) > 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_does_not_read_from_its_parents_file_object(run, interop):
    """Both have one position of the file, so that one would read what the other sought."""
    done = run(FORKED, interop / "split-tensors.popef")
    refused = "other-process Open the file again in this process, or open it by its path."
    assert (done.stdout.splitlines(), done.stderr) == ([refused, "True", "True", "True"], "")


@pytest.fixture
def tensor(tmp_path):
    with popef.Writer(tmp_path / "t.popef") as writer:
        for name, shape in ("w", [2]), ("scalar", []), ("empty", [0]):
            info = popef.TensorDataInfo(name, popef.TensorInfo(shape, popef.DataType.F32))
            writer.createTensorData(info).write(bytes(info.tensorInfo().sizeInBytes()))
    return popef.open(tmp_path / "t.popef").tensor


def test_numpy_compares_arrays_with_tensors(tensor):
    array = np.array([0, 1], "f4")
    for equal in tensor("w") == array, array == tensor("w"):
        assert equal.tolist() == [True, False]
    assert (tensor("w") != array).tolist() == [False, True]
    assert tensor("w") == tensor("w")
    assert tensor("w") != tensor("scalar")
    assert tensor("w") != "w"
    assert (tensor("w") == 5) is False
    assert (tensor("w") < np.array([1, 0], "f4")).tolist() == [True, False]


def test_an_exception_while_a_tensor_is_compared_is_no_answer(rows):
    class Stream(io.BytesIO):
        def read(self, size=-1):
            if interrupts:
                raise KeyboardInterrupt
            return super().read(size)

    path, expected = rows
    interrupts = False
    tensor = popef.open(Stream(path.read_bytes()))["t"]
    interrupts = True
    for compare in lambda: tensor == expected, lambda: tensor != expected, lambda: expected == tensor:
        with pytest.raises(KeyboardInterrupt):
            compare()


REFUSED = """
import sys
import popef

def refuse(event, arguments):
    if event == "open" and arguments[0] == sys.argv[1]:
        raise PermissionError("refused")

file = popef.open(sys.argv[1])
sys.addaudithook(refuse)
for read in file["t"].numpy, lambda: popef.open(sys.argv[1], map=True):
    try:
        read()
    except PermissionError as error:
        print(error)
"""


def test_an_audit_hook_refuses_what_it_is_told_of(run, big):
    done = run(REFUSED, big[0])
    assert (done.stdout, done.stderr) == ("refused\nrefused\n", "")


@pytest.mark.parametrize("name", ["w", "scalar", "empty"])
def test_a_tensor_is_true(name, tensor):
    assert bool(tensor(name)) is True

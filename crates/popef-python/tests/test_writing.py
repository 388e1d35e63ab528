"""Writers write the given values, as the official Cap'n Proto library reads them; and nothing incomplete appears."""

import contextlib
import ctypes
import io
import os
import pathlib
import tempfile
import threading

import numpy as np
import pytest

import popef


def tensor(shape, data_type, name="t"):
    return popef.TensorDataInfo(name, popef.TensorInfo(shape, data_type))


ARRAY = np.arange(24, dtype="<i4").reshape(2, 3, 4)


@pytest.mark.parametrize(
    "data",
    [
        ARRAY,
        ARRAY.tobytes(),
        bytearray(ARRAY.tobytes()),
        memoryview(ARRAY),
        ARRAY.astype(">i4"),
        np.asfortranarray(ARRAY),
        np.repeat(ARRAY, 2, axis=2)[:, :, ::2],
        ARRAY[::-1, ::-1][::-1, ::-1],
    ],
    ids=["array", "bytes", "bytearray", "memoryview", "big-endian", "fortran", "strided", "negative"],
)
def test_any_buffer_is_written_in_c_order_and_little_endian(data, tmp_path, peer):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        writer.createTensorData(tensor([2, 3, 4], popef.DataType.S32)).write(data)
    (blob,) = peer(path)
    assert bytes.fromhex(blob["data"]) == ARRAY.tobytes()


def test_scalars_empty_arrays_and_8_bit_floats_are_written(tmp_path, peer):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        writer.createTensorData(tensor([], popef.DataType.F16)).write(np.float16(1.5))
        writer.createTensorData(tensor([0, 2], popef.DataType.F16)).write(np.zeros((0, 2), np.float16))
        writer.createTensorData(tensor([2], popef.DataType.BOOL)).write(np.array([True, False]))
        writer.createTensorData(tensor([], popef.DataType.S32)).write(np.array(7, ">i4"))
    assert [blob["data"] for blob in peer(path)] == ["003e", "", "0100", "07000000"]
    assert [t.data().shape for t in read(path).tensors()] == [(), (0, 2), (2,), ()]


def test_arrays_of_ml_dtypes_are_written(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    path = tmp_path / "model.popef"
    array = np.array([[1.5, -2], [0.25, 8]], ml_dtypes.float8_e4m3fnuz)
    with popef.Writer(path) as writer:
        writer.createTensorData(tensor([2, 2], popef.DataType.F8143)).write(array.T)
    again = read(path).tensors()[0].data()
    assert again.dtype == array.dtype
    assert again.astype(np.float32).tolist() == [[1.5, 0.25], [-2, 8]]


@pytest.mark.parametrize(
    ("data_type", "array", "found"),
    [
        (popef.DataType.F32, np.zeros(4, np.int32), "int32"),
        (popef.DataType.F32, np.zeros(4, ">u4"), "uint32"),
        (popef.DataType.F32, np.zeros(2, np.float64), "float64"),
        (popef.DataType.U16, np.zeros(4, np.float16), "float16"),
        (popef.DataType.U8, np.zeros(4, np.bool_), "bool"),
        (popef.DataType.F8143, np.zeros(4, np.int8), "int8"),
        (popef.DataType.F64, np.zeros(4, np.complex64), "Zf"),
        (popef.DataType.S64, np.zeros(4, "M8[s]"), r"datetime64\[s\]"),
        (popef.DataType.F16, "bfloat16", "bfloat16"),
        (popef.DataType.F8143, "float8_e5m2fnuz", "float8_e5m2fnuz"),
    ],
)
def test_an_array_of_another_type_is_refused_before_anything_is_written(data_type, array, found, tmp_path):
    if isinstance(array, str):
        array = np.zeros(4, getattr(pytest.importorskip("ml_dtypes"), array))
    path = tmp_path / "model.popef"
    info = popef.TensorInfo([4], data_type)
    with popef.Writer(path) as writer:
        for create, given in [
            (writer.createTensorData, popef.TensorDataInfo("t", info)),
            (writer.createFeedData, popef.FeedDataInfo("t", info, 1)),
        ]:
            blob = create(given)
            with pytest.raises(TypeError, match=f'"t" has elements of the type {data_type.name}, the array has .*{found}'):
                blob.write(array)
            blob.write(bytes(info.sizeInBytes()))
        writer.createOpaqueBlob("any", "e").write(array)
    assert [blob.data_size for blob in popef.open(path)] == [info.sizeInBytes()] * 2 + [array.nbytes]


def test_bytes_of_any_kind_are_taken_as_they_are(tmp_path):
    path = tmp_path / "model.popef"
    values = np.array([1.5, -2], "<f2")
    with popef.Writer(path) as writer:
        for data in values.view("u1"), values.view("V2"), bytearray(values.tobytes()), memoryview(values).cast("c"):
            writer.createTensorData(tensor([2], popef.DataType.F16)).write(data)
        writer.createTensorData(tensor([2], popef.DataType.F8)).write(np.zeros(2, np.uint8))
    assert [t.numpy().tolist() for t in popef.open(path).tensors] == [[1.5, -2]] * 4 + [[0, 0]]


def test_an_array_in_another_order_is_refused_and_parts_of_any_shape_are_not(tmp_path):
    path = tmp_path / "model.popef"
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    with popef.Writer(path) as writer:
        blob = writer.createTensorData(tensor([2, 3], popef.DataType.F32))
        with pytest.raises(ValueError, match=r"the shape \[2, 3\], the array \[3, 2\]"):
            blob.write(array.T)
        blob.write(array[:1])
        blob.write(array[1])
        for data_type in popef.DataType.U8, popef.DataType.S8:
            with pytest.raises(ValueError, match="the array"), writer.createTensorData(tensor([2, 3], data_type)) as bytes_:
                bytes_.write(array.T.astype(np.uint8))
        writer.createTensorData(tensor([2, 3], popef.DataType.F32)).write(array.ravel())
        writer.createTensorData(tensor([1, 6], popef.DataType.F32)).write(array.reshape(6, 1))
        blob = writer.createFeedData(popef.FeedDataInfo("f", popef.TensorInfo([3], popef.DataType.F32), 2))
        with pytest.raises(ValueError, match="the feed"):
            blob.write(array.T)
        blob.write(array)
    assert [t.numpy().tolist() for t in popef.open(path)] == [[[0, 1, 2], [3, 4, 5]]] * 2 + [[[0, 1, 2, 3, 4, 5]], [[0, 1, 2], [3, 4, 5]]]


def test_tensors_of_an_opened_file_are_written_as_they_are(tmp_path):
    path, copy = tmp_path / "model.popef", tmp_path / "copy.popef"
    with popef.Writer(path) as writer:
        writer.createTensorData(tensor([2, 3, 4], popef.DataType.S32)).write(ARRAY)
    with popef.Writer(copy) as writer:
        writer.createTensorData(tensor([2, 3, 4], popef.DataType.S32)).write(popef.open(path)["t"])
    assert copy.read_bytes() == path.read_bytes()


def read(path):
    reader = popef.Reader()
    reader.parseFile(path)
    return reader


def test_data_in_pieces_larger_than_any_buffer(tmp_path):
    path = tmp_path / "model.popef"
    data = np.random.default_rng(1).integers(0, 256, 20_000_001, np.uint8)
    with popef.Writer(path) as writer:
        blob = writer.createTensorData(tensor([2, data.size], popef.DataType.U8))
        blob.write(data)
        blob.write(data.tobytes())
        writer.createExecutable("model", True).write(data[:9_000_001])
    reader = read(path)
    assert (reader.tensors()[0].data() == data).all()
    assert reader.executables()[0].executable() == data[:9_000_001].tobytes()


def test_feeds_are_written(tmp_path, peer):
    path = tmp_path / "feeds.popef"
    info = popef.FeedDataInfo("labels", popef.TensorInfo([2], popef.DataType.S16), 3)
    with popef.Writer(path) as writer:
        blob = writer.createFeedData(info)
        for run in range(3):
            blob.write(np.array([run, -run], np.int16))
    (blob,) = peer(path)
    assert blob["info"]["numTensors"] == 3
    assert read(path).feeds()[0].data().tolist() == [[0, 0], [1, -1], [2, -2]]


@pytest.mark.parametrize("size", [-1, 4])
def test_a_size_that_the_data_does_not_have_is_refused(size, tmp_path):
    with popef.Writer(tmp_path / "model.popef") as writer:
        blob = writer.createOpaqueBlob("n", "e")
        with pytest.raises(ValueError, match="3 bytes" if size > 0 else "^size: needed a whole number from 0 "):
            blob.write(b"abc", size)
        blob.write(b"abc", 2)
        blob.write("dé")
    assert read(tmp_path / "model.popef").opaqueBlobs()[0].data() == "abdé".encode()


def test_a_masked_array_is_refused(tmp_path):
    with popef.Writer(tmp_path / "model.popef") as writer, pytest.raises(TypeError, match="masked"):
        writer.createOpaqueBlob("n", "e").write(np.ma.masked_array([1, 2], [False, True]))


class Texts:
    """Stands for the texts of pandas."""

    def __array__(self, *_, **__):
        return np.array(["cat", "dog"], object)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [(wrong, "buffer") for wrong in (None, 3, [1, 2], object())]
    + [
        (wrong, "addresses of this process: convert .* astype")
        for wrong in (Texts(), Texts().__array__()[::-1], np.zeros(2, [("i", "i4"), ("o", object)]), (ctypes.c_void_p * 2)())
    ],
)
def test_what_has_no_bytes_is_refused(wrong, words, tmp_path):
    with popef.Writer(tmp_path / "model.popef") as writer, pytest.raises(TypeError, match=words):
        writer.createOpaqueBlob("n", "e").write(wrong)


def test_fields_of_an_array_may_have_any_names(tmp_path):
    array = np.ones(2, [("O", "i4"), ("&P", "f8")])
    with popef.Writer(tmp_path / "model.popef") as writer:
        writer.createOpaqueBlob("n", "e").write(array)
    assert popef.open(tmp_path / "model.popef")[0].read() == array.tobytes()


def test_an_incomplete_tensor_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.popef"
    path.write_bytes(b"precious")
    writer = popef.Writer(path)
    writer.createTensorData(tensor([4], popef.DataType.F32)).write(b"\0" * 12)
    with pytest.raises(popef.PopefError, match="16 bytes") as raised:
        writer.createOpaqueBlob("n", "e")
    assert (raised.value.needed, raised.value.found) == (16, 12)
    assert writer.closed
    # Later calls say why, also that which the program believes to be the last one.
    for call in (lambda: writer.createOpaqueBlob("n", "e"), writer.close):
        with pytest.raises(popef.PopefError, match="closed: everything was discarded.* tensor t was left unfinished"):
            call()
    assert path.read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["model.popef"]


def test_too_much_data_is_refused_at_once(tmp_path):
    path = tmp_path / "model.popef"
    writer = popef.Writer(path)
    with pytest.raises(popef.PopefError):
        writer.createTensorData(tensor([1], popef.DataType.F32)).write(b"\0" * 5)
    del writer
    assert os.listdir(tmp_path) == []


def fails_twice(writer):
    blob = writer.createTensorData(tensor([1], popef.DataType.F32))
    with contextlib.suppress(popef.PopefError):
        blob.write(b"\0" * 5)
    with pytest.raises(popef.PopefError, match="4 bytes of data, but 5 were given") as raised:
        blob.write(b"\0" * 4)
    assert raised.value.code == "writer-closed"
    return blob


def fails_and_is_closed(writer):
    fails_twice(writer)
    writer.close()


def fails_and_is_closed_in_a_later_except_clause(writer):
    fails_twice(writer)
    try:
        raise KeyError
    except KeyError:
        writer.close()


def fails_in_an_except_clause(writer):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        fails_and_is_closed(writer)


def fails_before_another_exception(writer):
    with contextlib.closing(writer):
        fails_twice(writer)
        raise KeyError


def fails_and_ends_the_blob(writer):
    fails_twice(writer).close()


def fails_in_a_block_of_a_blob(writer):
    with writer.createTensorData(tensor([1], popef.DataType.F32)) as blob, contextlib.suppress(popef.PopefError):
        blob.write(b"\0" * 5)


@pytest.mark.parametrize(
    "fails",
    [
        fails_and_is_closed,
        fails_and_is_closed_in_a_later_except_clause,
        fails_in_an_except_clause,
        fails_before_another_exception,
        fails_and_ends_the_blob,
        fails_in_a_block_of_a_blob,
    ],
)
def test_a_failure_that_is_caught_is_told_of_at_the_end(fails, tmp_path):
    with pytest.raises(popef.PopefError, match="everything was discarded.*but 5 were given"):
        fails(popef.Writer(tmp_path / "model.popef"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [None, KeyboardInterrupt(), SystemExit(3)])
def test_nothing_takes_the_place_of_an_exception_that_tells_of_a_failure_or_ends_the_program(error, tmp_path):
    with pytest.raises(BaseException) as raised, contextlib.closing(popef.Writer(tmp_path / "model.popef")) as writer:
        if error is not None:
            fails_twice(writer)
            raise error
        try:
            writer.createTensorData(tensor([1], popef.DataType.F32)).write(b"\0" * 5)
        except popef.PopefError as failure:
            error = KeyError()
            raise error from failure
    assert raised.value is error
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("end", ["block", "discard"])
def test_a_failure_that_is_caught_is_not_the_end_of_it(end, tmp_path):
    path = tmp_path / "model.popef"
    if end == "block":
        with pytest.raises(popef.PopefError, match="but 5 were given"), popef.Writer(path) as writer:
            fails_twice(writer)
    else:
        writer = popef.Writer(path)
        fails_twice(writer)
        writer.discard()
    assert os.listdir(tmp_path) == []


class Named(popef.Writer):
    """A class that inherits has other arguments."""

    def __init__(self, folder, *, name):
        assert "not made yet" in repr(self)
        with pytest.raises(TypeError, match="super"):
            self.close()
        super().__init__(folder / name)


def test_a_class_that_inherits_from_a_writer_has_arguments_of_its_own(tmp_path):
    with Named(tmp_path, name="model.popef") as writer:
        writer.createOpaqueBlob("first", "model")
        with pytest.raises(TypeError, match="once"):
            popef.Writer.__init__(writer, tmp_path / "other")
    assert popef.open(tmp_path / "model.popef").names() == ["first"]
    assert os.listdir(tmp_path) == ["model.popef"]


def test_a_block_that_raises_leaves_no_file(tmp_path):
    path = tmp_path / "model.popef"
    with pytest.raises(ZeroDivisionError), popef.Writer(path) as writer:
        writer.createOpaqueBlob("n", "e").write(b"data")
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_a_block_of_a_blob_that_raises_leaves_no_blob(tmp_path):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        with pytest.raises(ZeroDivisionError), writer.createOpaqueBlob("first", "e") as blob:
            blob.write(b"data")
            raise ZeroDivisionError
        assert blob.closed
        with writer.createOpaqueBlob("second", "e") as blob:
            blob.write(b"data")
    assert [blob.name for blob in read(path).opaqueBlobs()] == ["second"]


def test_a_mistake_leaves_the_writer_usable(tmp_path):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        with pytest.raises(popef.PopefError):
            writer.createExecutable("")
        writer.createExecutable("model", None).write(b"x")
        with pytest.raises(popef.PopefError, match="model") as raised:
            writer.createExecutable("model")
        assert raised.value.kind == "duplicate"
        with pytest.raises(popef.PopefError):
            writer.createTensorData(tensor([-1], popef.DataType.F32))
        with pytest.raises(TypeError):
            writer.createTensorData(popef.FeedDataInfo())
    assert len(read(path).executables()) == 1


def test_a_file_object_is_written_from_its_position():
    stream = io.BytesIO(b"something else")
    stream.seek(0, os.SEEK_END)
    with popef.Writer(stream) as writer:
        writer.createOpaqueBlob("n", "e").write(b"data")
        with pytest.raises(ZeroDivisionError), writer.createOpaqueBlob("undone", "e") as blob:
            blob.write(b"longer than the other one")
            raise ZeroDivisionError
    assert stream.getvalue().startswith(b"something else")
    stream.seek(14)
    reader = popef.Reader()
    reader.parseStream(stream)
    assert [blob.data() for blob in reader.opaqueBlobs()] == [b"data"]


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_file_object_keeps_no_blobs_of_a_longer_file(in_memory, tmp_path):
    with io.BytesIO() if in_memory else open(tmp_path / "model.popef", "w+b") as stream:
        for names in ["a", "b", "c"], ["d"], []:
            stream.seek(0)
            with popef.Writer(stream) as writer:
                for name in names:
                    writer.createOpaqueBlob(name, "e").write(b"data")
            stream.seek(0)
            assert popef.open(stream).names() == names


def test_a_large_tensor_in_a_file_object_takes_only_its_place(tmp_path):
    path = tmp_path / "large"
    array = np.random.default_rng(1).random((5, 1_000_000), np.float32)
    with path.open("w+b") as file:
        file.write(b"something else")
        with pytest.raises(ZeroDivisionError), popef.Writer(file) as writer:
            writer.createTensorData(tensor([5, 1_000_000], popef.DataType.F32)).write(array[:1])
            raise ZeroDivisionError
        file.flush()
        assert path.read_bytes() == b"something else"
        file.seek(14)
        with popef.Writer(file) as writer:
            writer.createTensorData(tensor([5, 1_000_000], popef.DataType.F32)).write(array)
            writer.createTensorData(tensor([2, 5_000_000], popef.DataType.F16)).write(array.tobytes())
    content = path.read_bytes()
    assert content.startswith(b"something else")
    first, second = popef.open(content[14:]).tensors
    assert np.array_equal(first.numpy(), array) and second.read() == array.tobytes()
    assert second.data_offset + second.data_size + 14 == len(content)


class Sips(io.RawIOBase):
    """Takes at most 100,001 bytes at a time, as pipes and sockets do."""

    def __init__(self):
        self.inner = io.BytesIO()

    def write(self, data):
        return self.inner.write(bytes(data[:100_001]))

    def seek(self, *to):
        return self.inner.seek(*to)

    def truncate(self, size=None):
        return self.inner.truncate(size)

    def seekable(self):
        return True

    def writable(self):
        return True

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.inner.readinto(buffer)


class Own(io.BytesIO):
    """Keeps what it was given, and may expect bytes."""

    def write(self, data):
        assert type(data) is bytes
        return super().write(data)


def of(stream):
    """What was written to a file object."""
    inner = getattr(stream, "raw", stream)
    if isinstance(inner, Sips):
        return inner.inner.getvalue()
    return stream.getvalue() if isinstance(stream, io.BytesIO) else pathlib.Path(stream.name).read_bytes()


@pytest.mark.parametrize("kind", ["file", "update", "raw", "bytes", "temporary", "own", "sips", "buffered"])
def test_arrays_reach_every_kind_of_file_object(kind, tmp_path):
    path = tmp_path / "model.popef"
    stream = {
        "file": lambda: open(path, "wb"),
        "update": lambda: open(path, "w+b"),
        "raw": lambda: open(path, "wb", buffering=0),
        "bytes": io.BytesIO,
        "temporary": lambda: tempfile.NamedTemporaryFile(dir=tmp_path),
        "own": Own,
        "sips": Sips,
        "buffered": lambda: io.BufferedWriter(Sips()),
    }[kind]()
    array = np.arange(5_000_003, dtype=np.int32)
    with stream:
        with popef.Writer(stream) as writer:
            writer.createOpaqueBlob("first", "").write(memoryview(b"1"))
            blob = writer.createTensorData(tensor([5_000_003], popef.DataType.S32))
            for part in array[:3], array[3:4_000_000], array[4_000_000:4_000_000], array[4_000_000:]:
                blob.write(part)
            writer.createExecutable("packed", 1).write(np.zeros(1000, np.uint8))
            writer.createOpaqueBlob("last", "").write(array[::2], 20_000)
        stream.flush()
        content = of(stream)
    file = popef.open(content)
    assert file.names() == ["first", "t", "packed", "last"]
    assert (file["t"].numpy() == array).all()
    assert (file[0].read(), file["packed"].unpack()) == (b"1", bytes(1000))
    assert file["last"].read() == array[::2].tobytes()[:20_000]


def test_a_file_object_may_say_nothing_of_what_it_took():
    class Silent:
        def __init__(self):
            self.under = io.BytesIO()

        def __getattr__(self, name):
            return getattr(self.under, name)

        def write(self, data):
            self.under.write(data)

    class Views(io.BytesIO):
        def read(self, size=-1):
            return memoryview(super().read(size))

    class Full(io.RawIOBase):
        def seekable(self):
            return True

        def seek(self, offset, whence=0):
            return 0

        def write(self, data):
            return None

    silent = Silent()
    with popef.Writer(silent) as writer:
        writer.createOpaqueBlob("n", "e").write(b"data")
    assert popef.open(Views(silent.under.getvalue()))["n"].read() == b"data"
    with pytest.raises(popef.PopefError, match="whole buffer"), popef.Writer(Full()) as writer:
        writer.createOpaqueBlob("n", "e").write(b"data")


def test_what_a_file_object_raises_reaches_the_caller():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "no space left")

    writer = popef.Writer(Full())
    with pytest.raises(OSError, match="no space left") as raised:
        writer.createOpaqueBlob("n", "e").write(b"data")
    assert raised.value.errno == 28
    assert writer.closed


def test_appending_to_a_missing_file_creates_it(tmp_path):
    path = tmp_path / "model.popef"
    for name in "first", "second":
        with popef.FileWriter(path, popef.FileWriter.Mode.APPEND) as writer:
            assert isinstance(writer, popef.Writer)
            writer.createOpaqueBlob(name, "e").write(b"data")
    assert [blob.name for blob in read(path).opaqueBlobs()] == ["first", "second"]
    with popef.FileWriter(path) as writer:
        writer.createOpaqueBlob("third", "e")
    assert [blob.name for blob in read(path).opaqueBlobs()] == ["third"]


def test_a_file_can_be_replaced_while_it_is_read(tmp_path):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        writer.createOpaqueBlob("old", "e").write(b"data")
    reader = read(path)
    with popef.Writer(path) as writer:
        for blob in reader.opaqueBlobs():
            writer.createOpaqueBlob("new", blob.executable).write(blob.data())
    assert [(blob.name, blob.data()) for blob in read(path).opaqueBlobs()] == [("new", b"data")]


EXIT = """
import popef, sys
writer = popef.Writer(sys.argv[1])
writer.createOpaqueBlob("n", "e").write(b"data")
"""


def test_a_program_that_just_ends_has_written_its_file(tmp_path, run):
    path = tmp_path / "model.popef"
    done = run(EXIT, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert read(path).opaqueBlobs()[0].data() == b"data"


def test_a_program_that_just_ends_has_written_to_its_file_object(tmp_path, run):
    path = tmp_path / "model.popef"
    done = run("import popef, sys\nto = open(sys.argv[1], 'wb')\n" + EXIT.replace("sys.argv[1]", "to"), path)
    assert (done.returncode, done.stderr) == (0, "")
    assert read(path).opaqueBlobs()[0].data() == b"data"


def test_a_writer_that_cannot_finish_says_so(tmp_path, run):
    path = tmp_path / "model.popef"
    program = EXIT + "info = popef.TensorDataInfo('t', popef.TensorInfo([9], popef.DataType.U8))\n"
    program += "writer.createTensorData(info)\ndel writer\n"
    done = run(program, path)
    assert "PopefError" in done.stderr
    assert "9 bytes" in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_leaves_the_file_to_its_parent(tmp_path, run):
    path = tmp_path / "model.popef"
    program = EXIT + (
        "import os, sys\n"
        "blob = writer.createOpaqueBlob('second', 'e')\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        writer.close()\n"
        "    except popef.PopefError as error:\n"
        "        print(error.code, flush=True)\n"
        "    with writer, blob:\n"
        "        sys.exit()\n"
        "os.wait()\n"
        "blob.write(b'data')\n"
    )
    done = run(program, path)
    assert (done.stdout, done.stderr) == ("writer-busy\n", "")
    assert [blob.name for blob in read(path).opaqueBlobs()] == ["n", "second"]


INTERRUPTED = """
import os, popef, signal, sys, threading
big = bytes(64 << 20)
class Slow:
    # Stands for a slow disk: the interrupt comes while the library writes.
    def __init__(self): self.at = 0
    def write(self, data):
        self.at += len(data)
        if self.at > 20 << 20:
            signal.raise_signal(signal.SIGINT)
        return len(data)
    def seek(self, to, whence=0): self.at = to; return to
    def tell(self): return self.at
    def truncate(self, to): pass
    def flush(self): pass
writer = popef.Writer(Slow())
blob = writer.createOpaqueBlob("n", "e")
try:
    blob.write(big)
except KeyboardInterrupt:
    print("stopped", writer.closed)
"""


def test_ctrl_c_stops_writing(run):
    done = run(INTERRUPTED)
    assert (done.stdout, done.stderr) == ("stopped True\n", "")


def test_a_writer_that_two_threads_use_refuses_and_does_not_hang(tmp_path):
    inside, go = threading.Event(), threading.Event()

    class Waiting(io.BytesIO):
        def write(self, data):
            inside.set()
            go.wait(60)
            return super().write(data)

    writer = popef.Writer(Waiting())
    thread = threading.Thread(target=lambda: writer.writeMetadata(popef.Metadata()))
    thread.start()
    assert inside.wait(60)
    with pytest.raises(popef.PopefError, match="another thread"):
        writer.close()
    go.set()
    thread.join()
    writer.close()
    assert writer.closed


def test_a_program_may_change_its_folder_while_it_writes(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    writers = popef.Writer("new"), popef.FileWriter("more", popef.FileWriter.Mode.APPEND)
    monkeypatch.chdir("elsewhere")
    for writer in writers:
        writer.createOpaqueBlob("n", "e").write(b"data")
        writer.close()
    assert (sorted(os.listdir("..")), os.listdir(".")) == (["elsewhere", "more", "new"], [])


def test_path_may_be_of_any_kind(tmp_path):
    for path in str(tmp_path / "a"), os.fsencode(tmp_path / "b"), pathlib.Path(tmp_path / "c"):
        popef.Writer(path).close()
        popef.Reader().parseFile(path)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


@pytest.mark.parametrize("mode", ["w", "r", "rb", "text", "wrapped", "memory"])
def test_a_file_object_that_cannot_be_written_to_is_refused_at_once(mode, tmp_path):
    path = tmp_path / "model.popef"
    path.write_bytes(b"")
    files = {"text": io.StringIO, "wrapped": lambda: tempfile.NamedTemporaryFile("w"), "memory": lambda: io.BufferedReader(io.BytesIO())}
    with files.get(mode, lambda: open(path, mode))() as file:
        error = io.UnsupportedOperation if mode in ("rb", "memory") else TypeError
        with pytest.raises(error, match="the file object must be opened"):
            popef.Writer(file)

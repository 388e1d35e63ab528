"""What readers give is what the official Cap'n Proto library and NumPy read."""

import io
import os
import pathlib
import pickle
import sys
import threading

import numpy as np
import pytest

import popef

FILES = sorted(path.stem for path in (pathlib.Path(__file__).parents[3] / "testdata" / "interop").glob("*.popef"))


def read(path, **options):
    reader = popef.Reader(**options)
    reader.parseFile(path)
    return reader


def data_types(value):
    """The infos as the official library prints them: enumerations are numbers."""
    return {
        "name": value.name(),
        "tensorInfo": {"shape": value.tensorInfo().shape(), "dataType": int(value.tensorInfo().dataType())},
    }


@pytest.mark.parametrize("name", FILES)
def test_all_blobs_are_those_of_the_official_library(name, interop, peer):
    path = interop / f"{name}.popef"
    reader = read(path)
    blobs = {kind: [blob for blob in peer(path) if blob["header"]["type"] == kind] for kind in range(5)}
    for found, blob in zip(reader.executables(), blobs[0], strict=True):
        assert (found.name, found.executable().hex()) == (blob["info"]["name"], blob["data"])
        assert found.isCompressed == (blob["info"]["uncompressedSize"] != 2**64 - 1)
        assert found.getAvailableReadSize() == len(blob["data"]) // 2
    for found, blob in zip(reader.metadata(), blobs[1], strict=True):
        assert found.executable() == blob["info"]["executable"]
        assert found.numIpus() == blob["info"]["numIpus"]
        assert found.programsMap() == {item["index"]: item["name"] for item in blob["info"]["programsMap"]}
        assert [anchor.repeats() for anchor in found.anchors()] == [item["repeats"] for item in blob["info"]["anchors"]]
        assert [int(anchor.type()) for anchor in found.anchors()] == [item["type"] for item in blob["info"]["anchors"]]
    for found, blob in zip(reader.tensors(), blobs[2], strict=True):
        assert data_types(found.info) == blob["info"]
        data = found.data()
        assert list(data.shape) == blob["info"]["tensorInfo"]["shape"]
        # Bytes after the last element do not belong to the tensor.
        assert data.tobytes() == bytes.fromhex(blob["data"])[: found.info.tensorInfo().sizeInBytes()]
    for found, blob in zip(reader.feeds(), blobs[3], strict=True):
        assert data_types(found.info) | {"numTensors": found.info.numTensors()} == blob["info"]
        assert list(found.data().shape) == [found.info.numTensors(), *found.info.tensorInfo().shape()]
        assert found.data().tobytes() == bytes.fromhex(blob["data"])
    for found, blob in zip(reader.opaqueBlobs(), blobs[4], strict=True):
        assert (found.name, found.executable) == (blob["info"]["name"], blob["info"]["executable"])
        assert found.data().hex() == blob["data"]


def test_arrays_have_the_values_that_numpy_reads(interop):
    tensors = {tensor.info.name(): tensor for tensor in read(interop / "all-types.popef").tensors()}
    expected = {"bool": "?", "f16": "<f2", "f32": "<f4", "f64": "<f8", "s8": "i1", "u8": "u1", "s16": "<i2", "u16": "<u2"}
    expected |= {"s32": "<i4", "u32": "<u4", "s64": "<i8", "u64": "<u8", "f8": "u1"}
    for name, dtype in expected.items():
        assert tensors[f"t_{name}"].data().dtype == np.dtype(dtype)
    weights = read(interop / "executable.popef").tensors()[0].data()
    assert weights.tolist() == [1.5, -2.25]
    weights[0] = 7  # it belongs to the caller
    assert weights.tolist() == [7, -2.25]


def test_8_bit_floats_are_those_of_ml_dtypes_if_it_is_installed():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    pairs = [("F8143", ml_dtypes.float8_e4m3fnuz), ("F8152", ml_dtypes.float8_e5m2fnuz), ("F8", np.uint8)]
    for name, dtype in pairs:
        assert popef.popefTypeToNumpyDType(getattr(popef.DataType, name)) == np.dtype(dtype)
    assert popef.numpyDTypeToPopefType(ml_dtypes.float8_e5m2fnuz) == popef.DataType.F8152


def test_types_of_numpy_have_types_of_popef():
    for name in "BOOL F16 F32 F64 S8 U8 S16 U16 S32 U32 S64 U64".split():
        data_type = getattr(popef.DataType, name)
        dtype = popef.popefTypeToNumpyDType(data_type)
        assert popef.numpyDTypeToPopefType(dtype) == data_type
        assert popef.numpyDTypeToPopefType(dtype.newbyteorder(">")) == data_type
    with pytest.raises(TypeError, match="PopEF has no type for complex64"):
        popef.numpyDTypeToPopefType("complex64")
    with pytest.raises(TypeError, match="NumPy has no type"):
        popef.popefTypeToNumpyDType(popef.DataType(99))


@pytest.mark.parametrize("kind", ["bytes", "file", "pipe", "raw"])
def test_streams_give_the_same(kind, interop):
    path = interop / "executable.popef"
    content = path.read_bytes()
    streams = {
        "bytes": lambda: io.BytesIO(content),
        "file": lambda: open(path, "rb"),
        "raw": lambda: open(path, "rb", buffering=0),
        "pipe": lambda: NoSeek(content),
    }
    with streams[kind]() as stream:
        reader = popef.Reader()
        reader.parseStream(stream)
        opaque = reader.opaqueBlobs()[0].data()
        executable = reader.executables()[0].executable()
    expected = read(path)
    assert opaque == expected.opaqueBlobs()[0].data()
    assert executable == expected.executables()[0].executable()


class NoSeek(io.BytesIO):
    def seekable(self):
        return False

    def seek(self, *_):
        raise OSError("a pipe cannot seek")


def test_a_stream_is_read_from_its_position(interop):
    stream = io.BytesIO(b"something else" + (interop / "split-tensors.popef").read_bytes())
    stream.seek(14)
    reader = popef.Reader()
    reader.parseStream(stream)
    assert reader.tensors()[0].data().tolist() == [1.5, -2.25]


def test_what_a_stream_raises_reaches_the_caller(interop):
    class Broken(io.BytesIO):
        def read(self, size=-1):
            if size != 0:
                raise ZeroDivisionError("mine")
            return b""

    with pytest.raises(ZeroDivisionError, match="mine"):
        popef.Reader().parseStream(Broken((interop / "executable.popef").read_bytes()))
    with pytest.raises(TypeError, match="binary"):
        popef.Reader().parseStream(io.StringIO("text"))
    with pytest.raises(TypeError, match="not str"):
        popef.Reader().parseStream("model.popef")


def test_errors_of_the_system_are_those_of_python(tmp_path):
    reader = popef.Reader()
    missing = tmp_path / "missing.popef"
    with pytest.raises(FileNotFoundError) as raised:
        reader.parseFile(missing)
    assert (raised.value.errno, raised.value.filename, raised.value.code) == (2, str(missing), "not-found")
    with pytest.raises(FileNotFoundError):
        popef.Writer(tmp_path / "folder" / "model.popef")
    with pytest.raises((IsADirectoryError, popef.PopefError)):
        reader.parseFile(tmp_path)
    with pytest.raises(TypeError):
        reader.parseFile(1.5)
    with pytest.raises(ValueError, match="null"):
        reader.parseFile("a\0b")


def test_damage_says_where_it_is_and_can_be_pickled(tmp_path, interop):
    path = tmp_path / "cut.popef"
    path.write_bytes((interop / "executable.popef").read_bytes()[:3000])
    with pytest.raises(popef.PopefError) as raised:
        read(path)
    error = raised.value
    assert isinstance(error, RuntimeError)
    assert (error.code, error.kind, error.blob, error.offset) == ("blob-cut", "damaged", 2, 2936)
    assert (error.needed, error.found) == (63786, 64)
    assert error.path == str(path)
    assert "Copy or export the file again" in error.advice
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))

    quiet = read(path, quiet=True)
    assert (len(quiet.opaqueBlobs()), len(quiet.metadata()), quiet.executables()) == (1, 1, [])
    assert [str(error) for error in quiet.errors()] == [str(error)]


def test_damaged_data_raises_when_it_is_read(tmp_path, interop, described):
    content = bytearray((interop / "compressed-zlib.popef").read_bytes())
    (executable,) = [blob for blob in described("compressed-zlib") if blob["type"] == "poplarExecutable"]
    content[executable["dataOffset"] + executable["dataSize"] // 2] ^= 0xFF
    path = tmp_path / "damaged.popef"
    path.write_bytes(content)
    with pytest.raises(popef.PopefError) as raised:
        read(path).executables()[0].executable()
    assert raised.value.kind == "damaged"


def test_a_file_that_changes_raises_and_gives_no_wrong_data(tmp_path, interop):
    path = tmp_path / "model.popef"
    path.write_bytes((interop / "executable.popef").read_bytes())
    reader = read(path)
    with open(path, "ab") as file:
        file.write(b"more")
    with pytest.raises(popef.PopefError) as raised:
        reader.opaqueBlobs()[0].data()
    assert raised.value.kind == "changed"


def test_the_lists_of_a_reader_grow(interop):
    reader = read(interop / "split-executable.popef")
    executables = reader.executables()
    reader.parseFile(interop / "two-models.popef")
    assert reader.executables() is executables
    assert len(executables) == 3


def test_models_are_chosen_by_executable(interop):
    reader = read(interop / "two-models.popef")
    builder = popef.ModelBuilder(reader)
    with pytest.raises(popef.PopefError, match="2 models") as raised:
        builder.createModel()
    assert raised.value.code == "no-such-model"
    names = [model.metadata.executable() for model in builder.createModels()]
    assert len(set(names)) == 2
    assert builder.createModel(names[1]).executable.name == names[1]
    with pytest.raises(popef.PopefError):
        builder.createModel("another")
    with pytest.raises(popef.PopefError):
        popef.ModelBuilder(popef.Reader()).createModel()


def test_a_model_has_the_data_of_all_files(interop):
    reader = popef.Reader()
    for name in "split-executable", "split-tensors", "split-feeds":
        reader.parseFile(interop / f"{name}.popef")
    model = popef.ModelBuilder(reader).createModel()
    assert [tensor.info.name() for tensor in model.tensors] == ["input_parameter"]
    assert [feed.info.name() for feed in model.feeds] == ["user_input"]
    assert model.inputsFromUser == []
    assert [anchor.name() for anchor in model.outputsToUser] == ["Add:0"]


def test_threads_can_read_at_the_same_time(interop):
    reader = read(interop / "all-types.popef")
    expected = [tensor.data().tobytes() for tensor in reader.tensors()]
    results, tensors = [], reader.tensors()

    def work():
        for _ in range(20):
            results.append([tensor.data().tobytes() for tensor in tensors])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 160
    assert all(result == expected for result in results)


def test_nothing_leaks(interop):
    path = interop / "executable.popef"

    def use():
        reader = read(path)
        reader.metadata(), reader.tensors()[0].data(), reader.executables()[0].executable()
        with pytest.raises(popef.PopefError):
            popef.Reader().parseStream(io.BytesIO(b"no PopEF"))

    for _ in range(100):
        use()
    before = resident()
    for _ in range(1000):
        use()
    assert resident() - before < 2 << 20


def resident():
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells it in a file")
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_the_module_is_described():
    assert popef.__version__.count(".") == 2
    assert set(popef.__all__) <= set(dir(popef))
    for name in set(popef.__all__) - {"__version__"}:
        assert getattr(popef, name).__doc__, name
        assert getattr(popef, name).__module__ in {"popef", "popef._popef"}


BOMB = """
import resource, sys, popef
file, reader = popef.open(sys.argv[1]), popef.Reader()
reader.parseFile(sys.argv[1])
with open("/proc/self/statm") as sizes:
    now = int(sizes.read().split()[0]) * resource.getpagesize()
for more in 40 << 20, 96 << 20:
    resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.RLIM_INFINITY))
    for unpack in file[0].unpack, reader.executables()[0].executable:
        try:
            unpack()
        except MemoryError:
            print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it limits memory as Linux does")
def test_an_executable_that_is_too_large_when_unpacked_is_an_error(tmp_path, run):
    path = tmp_path / "bomb.popef"
    with popef.Writer(path) as writer:
        writer.createExecutable("e", True).write(bytes(96 << 20))
    done = run(BOMB, path)
    assert (done.stderr, done.stdout) == ("", 4 * "no memory\n")

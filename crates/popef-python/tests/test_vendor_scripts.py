"""The calls of every public program that uses the vendor's module, in the same order, with the same arguments."""

import os
import pathlib
import shutil

import numpy as np
import pytest

import popef


def compress(paths, output):
    """The calls of a script that compresses the executables of several files into one."""
    for path in paths:
        reader = popef.Reader()
        reader.parseFile(path)
        open(output, "w+")  # noqa: SIM115 -- the script never closes it
        writer = popef.Writer(output)
        for metadata in reader.metadata():
            writer.writeMetadata(metadata)
        for executable in reader.executables():
            content = executable.executable()
            blob = writer.createExecutable(executable.name, True)
            blob.write(content, len(content))
        for tensor in reader.tensors():
            blob = writer.createTensorData(tensor.info)
            blob.write(tensor.data().tobytes(), tensor.info.tensorInfo().sizeInBytes())
        for feed in reader.feeds():
            blob = writer.createFeedData(feed.info)
            feed.data().tobytes()
            writer.write(feed.data().tobytes(), feed.info.tensorInfo().sizeInByte())
        for opaque in reader.opaqueBlobs():
            blob = writer.createOpaqueBlob(opaque.name, opaque.executable)
            data = opaque.data()
            blob.write(data, len(data))
        writer.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_compress_keeps_all_blobs(tmp_path, interop, peer):
    source, output = str(interop / "add-clean.popef"), str(tmp_path / "small.popef")
    compress([source], output)

    order = [1, 0, 2, 3, 4]
    old = sorted(peer(source), key=lambda blob: order.index(blob["header"]["type"]))
    new = peer(output)
    for before, after in zip(old, new, strict=True):
        if before["header"]["type"] == 0:
            assert after["info"]["uncompressedSize"] == len(before["data"]) // 2
            before["info"].pop("uncompressedSize"), after["info"].pop("uncompressedSize")
        assert (after["info"], after["data"]) == (before["info"], before["data"])

    reader = popef.Reader()
    reader.parseFile(output)
    assert [executable.isCompressed for executable in reader.executables()] == [True]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_compress_makes_what_can_be_compressed_smaller(tmp_path, peer):
    source, output = str(tmp_path / "large.popef"), str(tmp_path / "small.popef")
    with popef.Writer(source) as writer:
        writer.createExecutable("model").write(bytes(1_000_000))
    compress([source], output)
    assert os.path.getsize(output) < 2000
    (blob,) = peer(output)
    assert bytes.fromhex(blob["data"]) == bytes(1_000_000)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_the_broken_branch_for_feeds_raises_and_leaves_no_half_file(tmp_path, interop):
    output = str(tmp_path / "small.popef")
    with pytest.raises(AttributeError):
        compress([str(interop / "split-feeds.popef")], output)
    # What the script had opened itself is still there, and the incomplete blob did not become a file.
    assert os.path.getsize(output) == 0


def test_a_our_compress_keeps_feeds_and_destroys_nothing(tmp_path, interop, peer):
    """The script fails at feeds, and empties its output before it knows that it can read its input, even if both are the same."""
    source, output, cut = (tmp_path / name for name in ("model.popef", "small.popef", "cut.popef"))
    shutil.copy(interop / "split-feeds.popef", source)
    with popef.FileWriter(source, popef.FileWriter.Mode.APPEND) as writer:
        writer.createExecutable("model").write(bytes(1_000_000))
    popef.compress(source, output)
    assert os.path.getsize(output) < 2000
    *feeds, executable = peer(output)
    assert feeds == peer(interop / "split-feeds.popef")
    assert bytes.fromhex(executable["data"]) == bytes(1_000_000)

    content = output.read_bytes()
    cut.write_bytes(content[:-1])
    for unreadable, error in (cut, "blob-cut"), (tmp_path / "missing.popef", "not-found"), (output, "output-is-input"):
        with pytest.raises((popef.PopefError, FileNotFoundError)) as raised:
            popef.compress(unreadable, output, overwrite=True)
        assert raised.value.code == error
        assert output.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.popef", "model.popef", "small.popef"]


def test_a_a_reader_that_failed_to_parse_is_empty(tmp_path):
    reader = popef.Reader()
    try:
        reader.parseFile(str(tmp_path / "missing.popef"))
    except BaseException:
        pass
    lists = reader.metadata(), reader.executables(), reader.tensors(), reader.feeds(), reader.opaqueBlobs()
    assert lists == ([], [], [], [], [])
    output = tmp_path / "empty.popef"
    popef.Writer(str(output)).close()
    assert output.read_bytes() == b""


def test_a_bytes_are_no_metadata(tmp_path):
    writer = popef.Writer(str(tmp_path / "new.popef"))
    with pytest.raises(TypeError):
        writer.write(b"\0" * 8, 8)
    with pytest.raises(TypeError, match="a popef.Metadata is needed, not bytes"):
        writer.write(b"\0" * 8)
    writer.discard()


def test_b_opaque_data_outlives_its_reader(interop, peer):
    def find(path):
        reader = popef.Reader()
        reader.parseFile(path)
        return reader.opaqueBlobs()[0].data()

    path = interop / "executable.popef"
    blob = find(os.fsencode(path))
    assert type(blob) is bytes
    assert blob.hex() == next(blob["data"] for blob in peer(path) if blob["header"]["type"] == 4)


def test_c_anchors_of_two_readers_are_equal(tmp_path, interop):
    path = str(tmp_path / "cached.popef")
    shutil.copy(interop / "replicated.popef", path)
    pre, post = popef.Reader(), popef.Reader()
    pre.parseFile(str(interop / "replicated.popef"))
    post.parseFile(path)
    assert len(pre.metadata()) == 1
    assert len(post.metadata()) == 1
    names = sorted([anchor.name() for anchor in pre.metadata()[0].anchors()])
    assert names == sorted([anchor.name() for anchor in post.metadata()[0].anchors()])
    assert names


def test_d_anchor_names_are_unique(tmp_path, interop, described):
    path = str(tmp_path / "model.poplar_exec")
    shutil.copy(interop / "many-anchors.popef", path)
    reader = popef.Reader()
    reader.parseFile(path)
    metadata = reader.metadata()[0]
    names = [anchor.name() for anchor in metadata.anchors()]
    assert len(names) == len(set(names)) == 300
    (blob,) = [blob for blob in described("many-anchors") if blob["type"] == "metadata"]
    assert names == [anchor["name"] for anchor in blob["info"]["anchors"]]


def test_e_programs_are_lists_and_the_map_is_a_dict(tmp_path):
    path = str(tmp_path / "model.popef")
    anchors = [popef.Anchor(name=name, programs=[1]) for name in "abc"]
    names = {0: "load_program", 1: "main_program", 2: "save_program"}
    with popef.Writer(path) as writer:
        writer.writeMetadata(popef.Metadata(anchors=anchors, programsMap=names))

    reader = popef.Reader()
    reader.parseFile(path)
    metadata = reader.metadata()[0]
    del reader
    anchors = metadata.anchors()
    for index in range(3):
        assert anchors[index].programs() == [1]
    programs = metadata.programsMap()
    assert programs[0] == "load_program"
    assert programs[1] == "main_program"
    assert programs[2] == "save_program"


@pytest.mark.parametrize("name", list(popef.DataType.__members__))
def test_f_arrays_of_every_type(name):
    data_type = getattr(popef.DataType, name)
    dtype = popef.popefTypeToNumpyDType(data_type)
    array = np.random.randn(2, 3).astype(dtype)
    again = np.frombuffer(array.tobytes(), dtype=popef.popefTypeToNumpyDType(data_type)).reshape([2, 3])
    assert again.tobytes() == array.tobytes()
    assert dtype.itemsize == popef.TensorInfo(dataType=data_type).sizeInBytes()


def test_g_a_blob_is_appended(tmp_path, interop):
    path = str(tmp_path / "model.popef")
    shutil.copy(interop / "executable.popef", path)
    old = (interop / "executable.popef").read_bytes()
    reader = popef.Reader()
    reader.parseFile(path)
    assert len(reader.executables()) == 1
    writer = popef.FileWriter(path, popef.FileWriter.Mode.APPEND)
    blob = writer.createOpaqueBlob("poptorch", reader.executables()[0].name)
    blob.write("for PopTorch", 12)
    blob.close()
    writer.close()

    assert pathlib.Path(path).read_bytes().startswith(old)
    reader = popef.Reader()
    reader.parseFile(path)
    blobs = {blob.name: blob for blob in reader.opaqueBlobs()}
    assert list(blobs) == ["popart", "poptorch"]
    assert blobs["poptorch"].getAvailableReadSize() == 12
    assert blobs["poptorch"].data() == b"for PopTorch"


def test_h_variables_alone_without_close(tmp_path, interop, peer):
    path = str(tmp_path / "variables.popef")

    def export():
        reader = popef.Reader()
        reader.parseFile(str(interop / "executable.popef"))
        writer = popef.Writer(path)
        for anchor in reader.metadata()[0].anchors():
            info = popef.TensorDataInfo()
            info.setName(anchor.name())
            info.setTensorInfo(anchor.tensorInfo())
            size = anchor.tensorInfo().sizeInBytes()
            writer.createTensorData(info).write(b"\x01" * size, size)

    # It says so to those who look for it. Python shows no such warnings unless asked.
    with pytest.warns(ResourceWarning, match="its file was finished"):
        export()
    blobs = peer(path)
    assert len(blobs) == 4
    assert all(blob["data"] == "01" * 8 for blob in blobs)


def test_i_two_files_add_up(interop):
    reader = popef.Reader()
    reader.parseFile(str(interop / "split-executable.popef"))
    assert len(reader.tensors()) == 0
    reader.parseFile(str(interop / "split-tensors.popef"))
    assert reader.feeds() == []
    assert [tensor.info.name() for tensor in reader.tensors()] == ["input_parameter"]
    (executable,), (metadata,) = reader.executables(), reader.metadata()
    assert metadata.executable() == executable.name
    assert all(opaque.executable == executable.name for opaque in reader.opaqueBlobs())


def test_j_scalars_and_8_bit_floats(tmp_path):
    scalar = popef.TensorInfo()
    scalar.setDataType(popef.DataType.BOOL)
    scalar.setShape([])
    assert scalar.sizeInBytes() == 1

    path = str(tmp_path / "floats.popef")
    for data_type in popef.DataType.F8143, popef.DataType.F8152:
        info = popef.TensorDataInfo("weights", popef.TensorInfo([4, 128, 16, 16], data_type))
        assert info.tensorInfo().sizeInBytes() == 4 * 128 * 16 * 16
        data = bytes(range(256)) * 512
        with popef.Writer(path) as writer:
            writer.createTensorData(info).write(data, len(data))
        reader = popef.Reader()
        reader.parseFile(path)
        assert reader.tensors()[0].info == info
        assert reader.tensors()[0].data().tobytes() == data
        assert reader.tensors()[0].data().shape == (4, 128, 16, 16)


def test_k_a_model_of_a_stream(interop):
    with open(interop / "executable.popef", "rb") as stream:
        reader = popef.Reader()
        reader.parseStream(stream)
        model = popef.ModelBuilder(reader).createModel()
        assert model.metadata.programFlow().main() == [5]
        assert model.executable.name == model.metadata.executable()
        assert [anchor.name() for anchor in model.inputsFromUser] == ["user_input"]


def test_l_only_the_last_blob_is_active(tmp_path, peer):
    path = str(tmp_path / "model.popef")
    writer = popef.Writer(path)
    first = writer.createOpaqueBlob("first", "model")
    first.write(b"one", 3)
    second = writer.createOpaqueBlob("second", "model")
    with pytest.raises(RuntimeError, match="not active") as raised:
        first.write(b"more", 4)
    assert raised.value.code == "blob-writer-inactive"
    second.write(b"two", 3)
    writer.close()
    with pytest.raises(RuntimeError):
        second.write(b"more", 4)
    assert [bytes.fromhex(blob["data"]) for blob in peer(path)] == [b"one", b"two"]


def test_m_text_is_no_popef_file(tmp_path, monkeypatch):
    path = tmp_path / "x.popef"
    path.write_text("This is not cache")
    reader = popef.Reader()
    with pytest.raises(popef.PopefError) as raised:
        reader.parseFile(str(path))
    assert (raised.value.blob, raised.value.offset) == (0, 0)
    assert reader.metadata() == []

    quiet = popef.Reader(quiet=True)
    quiet.parseFile(str(path))
    assert quiet.metadata() == quiet.executables() == quiet.opaqueBlobs() == []
    assert [error.code for error in quiet.errors()] == [raised.value.code]

    monkeypatch.setenv("POPEF_LENIENT", "1")
    unchanged = popef.Reader()
    unchanged.parseFile(str(path))
    assert unchanged.metadata() == []

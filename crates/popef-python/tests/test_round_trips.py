"""What hypothesis thinks of is read back as it was given, by this module and by the official Cap'n Proto library."""

import importlib.util
import io

import numpy as np
import pytest
from conftest import ROOT, needed

import popef

needed("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

BY_NUMPY = {
    "?": popef.DataType.BOOL,
    "f2": popef.DataType.F16,
    "f4": popef.DataType.F32,
    "f8": popef.DataType.F64,
    "i1": popef.DataType.S8,
    "u1": popef.DataType.U8,
    "i2": popef.DataType.S16,
    "u2": popef.DataType.U16,
    "i4": popef.DataType.S32,
    "u4": popef.DataType.U32,
    "i8": popef.DataType.S64,
    "u8": popef.DataType.U64,
}
EIGHT_BITS = [popef.DataType.F8, popef.DataType.F8143, popef.DataType.F8152]

names = st.text(max_size=20)
words = st.integers(0, 2**32 - 1)
lists_of_words = st.lists(words, max_size=4)


@pytest.fixture(scope="module")
def peer():
    """Reads the bytes of a file with the official library."""
    needed("capnp")
    import capnp

    spec = importlib.util.spec_from_file_location("peer", ROOT / "popef" / "tests" / "read_with_pycapnp.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    schema = capnp.load(str(ROOT / "popef" / "schema" / "popef.capnp"))
    return lambda content: list(module.blobs(schema, memoryview(content)))


@st.composite
def arrays(draw):
    """An array of any type, shape, order of bytes and layout, and its type in PopEF."""
    code = draw(st.sampled_from(sorted(BY_NUMPY)))
    dtype = np.dtype(code).newbyteorder(draw(st.sampled_from("<>")))
    array = draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
    if draw(st.booleans()):
        array = array.T
    steps = [slice(None, None, draw(st.sampled_from([1, 1, 2, -1]))) for _ in array.shape]
    data_type = draw(st.sampled_from(EIGHT_BITS)) if code == "u1" and draw(st.booleans()) else BY_NUMPY[code]
    return array[tuple(steps)], data_type


def wire(array):
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()


@given(st.lists(st.tuples(names, arrays()), max_size=6))
def test_tensors(peer, tensors):
    stream = io.BytesIO()
    with popef.Writer(stream) as writer:
        for name, (array, data_type) in tensors:
            info = popef.TensorDataInfo(name, popef.TensorInfo(array.shape, data_type))
            writer.createTensorData(info).write(array)
    content = stream.getvalue()
    reader = popef.Reader()
    reader.parseStream(io.BytesIO(content))
    blobs = zip(tensors, popef.open(content), reader.tensors(), peer(content), strict=True)
    for (name, (array, data_type)), blob, entry, seen in blobs:
        assert (blob.name, blob.shape, blob.data_type) == (name, array.shape, data_type)
        assert (entry.info.name(), tuple(entry.info.tensorInfo().shape())) == (name, array.shape)
        for again in blob.numpy(), entry.data():
            assert again.dtype == popef.popefTypeToNumpyDType(data_type)
            assert (again.shape, again.tobytes()) == (array.shape, wire(array))
        assert seen["info"]["tensorInfo"] == {"shape": list(array.shape), "dataType": int(data_type)}
        assert bytes.fromhex(seen["data"]) == wire(array)


@given(names, st.integers(0, 3), arrays())
def test_feeds(peer, name, runs, given_array):
    array, data_type = given_array
    stream = io.BytesIO()
    with popef.Writer(stream) as writer:
        info = popef.FeedDataInfo(name, popef.TensorInfo(array.shape, data_type), runs)
        feed = writer.createFeedData(info)
        for _ in range(runs):
            feed.write(array)
    (blob,), (seen,) = popef.open(stream.getvalue()), peer(stream.getvalue())
    assert (blob.shape, blob.numpy().tobytes()) == ((runs, *array.shape), wire(array) * runs)
    assert (seen["info"]["numTensors"], bytes.fromhex(seen["data"])) == (runs, wire(array) * runs)


@given(names.filter(bool), names, st.binary(max_size=2000), st.booleans(), st.lists(st.integers(0, 2000), max_size=4))
def test_executables_and_opaques(peer, name, executable, data, compress, cuts):
    """In any pieces."""
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in zip(edges, edges[1:])]
    stream = io.BytesIO()
    with popef.Writer(stream) as writer:
        blob = writer.createExecutable(name, compress)
        for piece in pieces:
            blob.write(piece)
        blob = writer.createOpaqueBlob(name, executable)
        for piece in pieces:
            blob.write(piece)
    first, second = popef.open(stream.getvalue())
    assert (first.name, first.is_compressed, first.unpack(), first.unpacked_size) == (name, compress, data, len(data))
    assert (second.name, second.executable, second.read()) == (name, executable, data)
    assert [blob["data"] for blob in peer(stream.getvalue())] == [data.hex()] * 2


tensor_infos = st.builds(
    popef.TensorInfo, st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3), st.integers(0, 14).map(popef.DataType)
)
anchors = st.builds(
    popef.Anchor,
    name=names,
    handle=names,
    tensorInfo=tensor_infos,
    type=st.integers(0, 2).map(popef.TensorType),
    programs=lists_of_words,
    isPerReplica=st.booleans(),
    useRemoteBuffers=st.booleans(),
    repeats=words,
)
options = st.lists(st.builds(popef.Option, names, names), max_size=3)
metadatas = st.builds(
    popef.Metadata,
    replicationFactor=words,
    numIpus=words,
    seedHandle=names,
    anchors=st.lists(anchors, max_size=3),
    executable=names,
    numProcesses=words,
    ipuVersion=words,
    isPOD=st.booleans(),
    isInference=st.booleans(),
    engineOptions=options,
    deviceOptions=options,
    programFlow=st.builds(popef.ProgramFlow, lists_of_words, lists_of_words, lists_of_words),
    programsMap=st.dictionaries(words, names, max_size=3),
    deviceIterations=words,
)


@given(metadatas)
def test_metadata(peer, metadata):
    stream = io.BytesIO()
    with popef.Writer(stream) as writer:
        writer.writeMetadata(metadata)
    (blob,) = popef.open(stream.getvalue())
    assert blob.metadata() == metadata
    (seen,) = peer(stream.getvalue())
    assert_same(seen["info"], metadata)


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_names_that_are_no_text(name, executable):
    """The official library refuses them, so only this module reads them."""
    stream = io.BytesIO()
    with popef.Writer(stream) as writer:
        writer.createOpaqueBlob(name, executable).write(b"data")
        writer.writeMetadata(popef.Metadata(executable=executable, programsMap={1: name}))
    first, second = popef.open(stream.getvalue())
    metadata = second.metadata()
    for found, given_name in [
        (first.name, name),
        (first.executable, executable),
        (metadata.executable(), executable),
        (metadata.programsMap()[1], name),
    ]:
        assert found.encode("utf-8", "surrogateescape") == given_name


def assert_same(seen, given):
    """Each field that the official library found is the one of that name."""
    for name, value in seen.items():
        field = getattr(given, name)()
        if name == "programsMap":
            assert {program["index"]: program["name"] for program in value} == field
        elif isinstance(value, dict):
            assert_same(value, field)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for part, part_given in zip(value, field, strict=True):
                assert_same(part, part_given)
        elif isinstance(value, str):
            assert value == field
        else:
            assert value == (int(field) if hasattr(field, "__int__") else field)

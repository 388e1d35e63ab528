"""The values: what they are equal to, how they are shown, copied and pickled."""

import copy
import gc
import inspect
import pickle
import weakref

import pytest

import popef


def full_metadata():
    anchor = popef.Anchor(
        name="image",
        handle="h2d_image",
        tensorInfo=popef.TensorInfo([8, 224], popef.DataType.F16),
        type=popef.TensorType.INPUT,
        programs=[5],
        isPerReplica=True,
        useRemoteBuffers=True,
        repeats=3,
    )
    return popef.Metadata(
        replicationFactor=2,
        numIpus=4,
        seedHandle="seed",
        anchors=[anchor],
        executable="model",
        numProcesses=6,
        ipuVersion=21,
        isPOD=True,
        isInference=False,
        engineOptions=[popef.Option("a", "1"), popef.Option("b", "2")],
        deviceOptions=[popef.Option("c", "3")],
        programFlow=popef.ProgramFlow([0], [1, 2], []),
        programsMap={0: "load", 1: "main"},
        deviceIterations=7,
    )


VALUES = [
    full_metadata(),
    popef.Anchor("name"),
    popef.TensorInfo([2, 3], popef.DataType.S8),
    popef.TensorDataInfo("t", popef.TensorInfo([1])),
    popef.FeedDataInfo("f", popef.TensorInfo([1]), 4),
    popef.ProgramFlow([1], [2], [3]),
    popef.Option("name", "value"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_equal_to_their_copies(value):
    for other in pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value):
        assert other is not value
        assert other == value
        assert not other != value
    assert value != type(value)()
    assert value != 1
    with pytest.raises(TypeError):
        hash(value)


class Noted(popef.Anchor):
    """A class that inherits has other arguments, and attributes of its own."""

    def __init__(self, note, *fields, **others):
        super().__init__(*fields, **others)
        self.note = note


class Slotted(Noted):
    __slots__ = ("_note", "never_set")

    @property
    def note(self):
        return self._note

    @note.setter
    def note(self, note):
        super().__setattr__("_note", note)

    def __setattr__(self, name, value):
        assert name == "note", "the object refuses other changes"
        super().__setattr__(name, value)


@pytest.mark.parametrize("kind", [Noted, Slotted])
def test_a_class_that_inherits_has_arguments_and_attributes_of_its_own(kind):
    value = kind(["for me"], "image", programs=[1])
    assert (value.name(), value.programs(), value.note) == ("image", [1], ["for me"])
    for other in pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value):
        assert (type(other), other, other.note) == (kind, value, ["for me"])
        assert not hasattr(other, "never_set")
    with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
        Noted(None, nam="image")


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_the_arguments_are_the_fields(value):
    """The signature is a text that the class is made with."""
    kind, names = type(value), list(inspect.signature(type(value)).parameters)
    assert kind(*[getattr(value, name)() for name in names]) == value
    assert kind(**{name: getattr(value, name)() for name in names}) == value
    assert [name for name in names if f"{name}=" not in repr(value)] == []


def test_every_field_is_written_and_read(tmp_path, peer):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        writer.writeMetadata(full_metadata())
    (blob,) = peer(path)
    assert blob["info"] == {
        "replicationFactor": 2,
        "numIpus": 4,
        "seedHandle": "seed",
        "anchors": [
            {
                "name": "image",
                "handle": "h2d_image",
                "tensorInfo": {"shape": [8, 224], "dataType": 2},
                "type": 1,
                "programs": [5],
                "isPerReplica": True,
                "useRemoteBuffers": True,
                "repeats": 3,
            }
        ],
        "executable": "model",
        "numProcesses": 6,
        "ipuVersion": 21,
        "isPOD": True,
        "isInference": False,
        "engineOptions": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}],
        "deviceOptions": [{"name": "c", "value": "3"}],
        "programFlow": {"load": [0], "main": [1, 2], "save": []},
        "programsMap": [{"index": 0, "name": "load"}, {"index": 1, "name": "main"}],
        "deviceIterations": 7,
    }
    reader = popef.Reader()
    reader.parseFile(path)
    assert reader.metadata() == [full_metadata()]


def test_getters_give_what_is_inside_and_setters_copy():
    metadata = popef.Metadata()
    anchor = popef.Anchor("first")
    metadata.setAnchors([anchor])
    anchor.setName("changed later")
    metadata.anchors()[0].tensorInfo().setShape([7])
    metadata.anchors().append(popef.Anchor("second"))
    metadata.engineOptions().append(popef.Option("name", "value"))
    metadata.programFlow().load().append(3)
    metadata.programsMap()[3] = "load"
    assert [anchor.name() for anchor in metadata.anchors()] == ["first", "second"]
    assert metadata.anchors()[0].tensorInfo().shape() == [7]
    assert metadata == popef.Metadata(
        anchors=[popef.Anchor("first", tensorInfo=popef.TensorInfo([7])), popef.Anchor("second")],
        engineOptions=[popef.Option("name", "value")],
        programFlow=popef.ProgramFlow(load=[3]),
        programsMap={3: "load"},
    )


def test_what_is_set_may_use_the_object_itself():
    metadata = full_metadata()
    metadata.setAnchors(anchor for name in ["image", "no"] for anchor in metadata.anchors() if anchor.name() == name)
    assert metadata == full_metadata()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: popef.TensorInfo().setShape("12"), TypeError),
        (lambda: popef.TensorInfo().setShape([1.5]), TypeError),
        (lambda: popef.TensorInfo().setDataType(3), TypeError),
        (lambda: popef.Anchor().setName(None), TypeError),
        (lambda: popef.Anchor().setPrograms([-1]), ValueError),
        (lambda: popef.Metadata().setNumIpus(2**32), ValueError),
        (lambda: popef.Metadata().setAnchors([popef.Option()]), TypeError),
        (lambda: popef.Metadata().setProgramsMap(["name"]), TypeError),
        (lambda: popef.Metadata(unknown=1), TypeError),
        (lambda: popef.TensorInfo([2**62, 4], popef.DataType.F32).sizeInBytes(), popef.PopefError),
        (lambda: popef.TensorInfo([-1], popef.DataType.F32).sizeInBytes(), popef.PopefError),
        (lambda: popef.TensorInfo([1], popef.DataType(99)).sizeInBytes(), popef.PopefError),
    ],
)
def test_wrong_values_are_refused(wrong, error):
    with pytest.raises(error):
        wrong()


def test_a_wrong_item_in_a_list_is_found_when_it_is_written(tmp_path):
    metadata = popef.Metadata()
    metadata.anchors().append("no anchor")
    with popef.Writer(tmp_path / "model.popef") as writer, pytest.raises(TypeError, match="popef.Anchor is needed"):
        writer.writeMetadata(metadata)


def test_names_that_are_not_utf_8_are_kept(tmp_path, peer):
    path = tmp_path / "model.popef"
    with popef.Writer(path) as writer:
        writer.createExecutable(b"caf\xe9").write(b"x")
    reader = popef.Reader()
    reader.parseFile(path)
    name = reader.executables()[0].name
    assert name == "caf\udce9"
    copied = tmp_path / "copied.popef"
    with popef.Writer(copied) as writer:
        writer.createExecutable(name).write(b"x")
    assert copied.read_bytes() == path.read_bytes()


def test_values_are_shown():
    assert repr(popef.TensorInfo([2], popef.DataType.F32)) == "TensorInfo(shape=[2], dataType=<DataType.F32: 3>)"
    assert repr(popef.Option("a", "1")) == "Option(name='a', value='1')"
    many = popef.ProgramFlow(main=range(1000))
    assert repr(many) == "ProgramFlow(load=[], main=<1000 items>, save=[])"
    assert "type=<TensorType.INPUT: 1>" in repr(full_metadata().anchors()[0])


def test_the_old_name_of_device_iterations_warns():
    metadata = popef.Metadata()
    with pytest.warns(DeprecationWarning, match="deviceIterations"):
        metadata.setDeviceIteration(9)
    with pytest.warns(DeprecationWarning, match="deviceIterations"):
        assert metadata.deviceIteration() == 9
    assert metadata.deviceIterations() == 9


def test_a_cycle_of_values_is_collected():
    class Watched(popef.Metadata):
        pass

    metadata = Watched()
    metadata.anchors().append(metadata)
    gone = weakref.ref(metadata)
    del metadata
    gc.collect()
    assert gone() is None


# The numbers are those of the schema, written down by hand.
DATA_TYPES = ["BOOL", "F8", "F16", "F32", "F64", "S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64", "F8143", "F8152"]
BLOB_TYPES = ["POPLAR_EXECUTABLE", "METADATA", "DATA_TENSOR", "DATA_FEED", "OPAQUE"]
TENSOR_TYPES = ["UNKNOWN", "INPUT", "OUTPUT"]


@pytest.mark.parametrize(
    ("kind", "names"),
    [(popef.DataType, DATA_TYPES), (popef.BlobType, BLOB_TYPES), (popef.TensorType, TENSOR_TYPES)],
)
def test_enumerations_are_like_those_of_pybind11(kind, names):
    assert list(kind.__members__) == names
    for number, name in enumerate(names):
        value = getattr(kind, name)
        assert value == kind(number) == kind.__members__[name]
        assert (value.name, value.value, int(value), hash(value)) == (name, number, number, number)
        assert value != number
        assert str(value) == f"{kind.__name__}.{name}"
        assert repr(value) == f"<{kind.__name__}.{name}: {number}>"
        assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value
    assert len({kind(number) for number in range(len(names))}) == len(names)
    assert (kind(99).name, int(kind(99))) == ("???", 99)
    with pytest.raises(TypeError):
        assert kind(0) < kind(1)
    with pytest.raises(ValueError, match="value: needed a whole number from 0 to 65535, found -1"):
        kind(-1)


def test_a_number_that_is_out_of_range_is_told_the_range():
    with pytest.raises(ValueError, match="^numIpus: needed a whole number from 0 to 4294967295, found -1$"):
        popef.Metadata(numIpus=-1)
    with pytest.raises(ValueError, match="^shape: needed .* to 9223372036854775807, found 9223372036854775808$"):
        popef.TensorInfo([2**63])
    with pytest.raises(ValueError, match="^programsMap: needed .* from 0 to 4294967295, found -1$"):
        popef.Metadata().setProgramsMap({-1: "Program"})
    with pytest.raises(TypeError, match="^isPOD: needed True or False, found int$"):
        popef.Metadata(isPOD=1)
    # Python has no text for numbers with this many digits.
    with pytest.raises(ValueError, match="^numIpus: needed a whole number from 0 to 4294967295$"):
        popef.Metadata(numIpus=1 << 100_000)


@pytest.mark.parametrize("mode", [popef.FileWriter.Mode.WRITE, popef.FileWriter.Mode.APPEND])
def test_modes_are_pickled_and_copied(mode):
    assert pickle.loads(pickle.dumps(mode)) == copy.deepcopy(mode) == mode


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (
            full_metadata(),
            "replication_factor num_ipus seed_handle num_processes ipu_version is_pod is_inference engine_options"
            " device_options program_flow programs_map device_iterations",
        ),
        (full_metadata().anchors()[0], "tensor_info is_per_replica use_remote_buffers"),
        (popef.TensorInfo([2], popef.DataType.F16), "data_type"),
        (popef.TensorDataInfo("a", popef.TensorInfo([2], popef.DataType.F16)), "tensor_info"),
        (popef.FeedDataInfo("a", popef.TensorInfo([2], popef.DataType.F16), 3), "tensor_info num_tensors"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_names_of_several_words_are_attributes_too(value, names):
    getters = {getter.lower(): getter for getter in dir(value) if callable(getattr(value, getter))}
    found = [name for name in dir(value) if "_" in name.strip("_") and not name.startswith("_") and name != "size_in_bytes"]
    assert sorted(found) == sorted(names.split())
    for name in names.split():
        getter = getattr(value, getters[name.replace("_", "")])
        assert getattr(value, name) == getter()
        empty = getattr(type(value)(), name)
        setattr(value, name, empty)
        assert getter() == getattr(value, name) == empty
    assert getattr(type(value), name).__doc__


def test_an_attribute_takes_what_its_setter_takes():
    metadata = full_metadata()
    metadata.num_ipus = 16
    assert metadata.numIpus() == 16
    with pytest.raises(TypeError):
        metadata.num_ipus = "many"
    assert popef.TensorInfo([3], popef.DataType.F32).size_in_bytes == 12

"""Scans as Arrow batches have the records of the scan, and other libraries take them as they are."""

import gc
import re

import pytest
from conftest import ROOT, needed

import popef

needed("pyarrow")
import pyarrow as pa  # noqa: E402

TESTDATA = ROOT / "testdata"
TYPES = {
    "int": pa.int64(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "bytes": pa.binary(),
    "tuple[int, ...]": pa.list_(pa.int64()),
    "tuple[str, ...]": pa.list_(pa.string()),
}


def as_in_arrow(value):
    """A value of a record as Arrow has it: text with replacement characters, and no number that 63 bits do not hold."""
    if isinstance(value, tuple):
        return [as_in_arrow(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return None if isinstance(value, int) and value >= 2**63 else value


@pytest.mark.parametrize("rows", [1, 7, 16384])
@pytest.mark.parametrize("per", ["blob", "file"])
def test_batches_have_the_records(per, rows):
    """Over files of testdata, sound and broken, with columns of every type."""
    # Unpacking what begins with a b, such as bombs, takes long.
    paths = [TESTDATA / "interop", TESTDATA / "golden", TESTDATA / "later", TESTDATA / "broken" / "[!b]*.popef"]
    scan = popef.scan(paths, per=per, check="quick", hash="blake3")
    records = [{name: as_in_arrow(value) for name, value in record.items()} for record in scan]
    batches = list(scan.record_batches(rows))
    assert all(batch.num_rows <= rows and batch.schema == scan.schema for batch in batches)
    for batch in batches:
        batch.validate(full=True)
    assert [row for batch in batches for row in batch.to_pylist()] == records
    assert len(records) > 150
    # Each type has values and gaps.
    table = scan.to_arrow()
    seen = {table.schema.field(name).type for name in table.column_names if table[name].null_count < len(table)}
    assert seen >= {pa.int64(), pa.bool_(), pa.string(), pa.list_(pa.string())}
    if per == "blob":
        assert seen == set(TYPES.values())


def documented_columns(document):
    """The table of columns in docs/PYTHON.md: names, types, and in which records they are."""
    lines = (ROOT / "docs" / document).read_text().split("| column | type | per | |\n", 1)[1].splitlines()[1:]
    for line in lines:
        if not line.startswith("|"):
            return
        names, kind, per, _ = line.strip("|").split("|", 3)
        for name in names.split(","):
            yield name.strip().strip("`"), kind.strip().strip("`"), per.strip().split(", ")


def test_the_documented_columns_are_those_of_the_schema():
    documented = list(documented_columns("PYTHON.md"))
    for per in "blob", "file":
        schema = popef.scan([], per=per, check="quick", hash="blake3").schema
        if per == "blob":
            schema = schema.append(popef.scan([], columns=["compression"]).schema.field(0))
        expected = {name: TYPES[kind] for name, kind, pers in documented if per in pers}
        assert expected == dict(zip(schema.names, schema.types, strict=True))


def test_wide_columns_are_split_into_batches(tmp_path):
    """Offsets of a column have 31 bits, so a batch ends before its texts are too long."""
    with popef.Writer(tmp_path / "names.popef") as writer:
        for number in range(40):
            writer.createOpaqueBlob(f"{number:02}" + "n" * 1_000_000, "e").write(b"")
    batches = list(popef.scan(tmp_path, columns=["name"]).record_batches())
    assert [batch.num_rows for batch in batches] == [17, 17, 6]
    names = [name for batch in batches for name in batch.column("name").to_pylist()]
    assert [name[:3] for name in names] == [f"{number:02}n" for number in range(40)]


def test_the_arrays_keep_their_memory():
    batch = next(popef.scan(TESTDATA / "interop").record_batches())
    expected = batch.to_pylist()
    column = batch.column("name")
    names = column.to_pylist()
    copy = pa.RecordBatch.from_pylist(expected, batch.schema)
    del batch
    gc.collect()
    assert column.to_pylist() == names
    assert copy.to_pylist() == expected


def test_without_files_there_are_columns_and_no_rows():
    table = popef.scan([], columns=["name", "shape"]).to_arrow()
    assert (table.num_rows, table.schema.types) == (0, [pa.string(), pa.list_(pa.int64())])
    with pytest.raises(ValueError, match="rows"):
        popef.scan([]).record_batches(0)


def test_the_stream_can_be_taken_by_any_library():
    scan = popef.scan(TESTDATA / "interop")
    reader = pa.RecordBatchReader.from_stream(scan)
    assert reader.schema == scan.schema
    assert reader.read_all() == scan.to_arrow() == pa.table(scan)


def test_errors_come_through_the_stream(tmp_path):
    scan = popef.scan([TESTDATA / "interop", tmp_path / "missing"], on_error="raise")
    with pytest.raises(FileNotFoundError):
        scan.to_arrow()
    with pytest.raises(OSError, match="missing"):
        pa.RecordBatchReader.from_stream(scan).read_all()


def test_pandas_takes_a_scan():
    needed("pandas")
    import pandas

    scan = popef.scan(TESTDATA / "interop")
    for frame in scan.to_arrow().to_pandas(), pandas.DataFrame.from_arrow(scan):
        sizes = frame[frame["type"] == "dataTensor"].groupby("data_type")["data_size"].sum()
        expected = {}
        for record in scan:
            if record["type"] == "dataTensor":
                expected[record["data_type"]] = expected.get(record["data_type"], 0) + record["data_size"]
        assert sizes.to_dict() == expected


def test_duckdb_takes_a_scan():
    needed("duckdb")
    import duckdb

    blobs = popef.scan(TESTDATA / "interop")
    query = "select type, count(*) n, sum(data_size) size from blobs where index is not null group by type order by type"
    expected = {}
    for record in blobs:
        if record["index"] is None:
            continue
        count, size = expected.get(record["type"], (0, 0))
        expected[record["type"]] = (count + 1, size + record["data_size"])
    assert duckdb.execute(query).fetchall() == [(name, *values) for name, values in sorted(expected.items())]
    # Twice: each query reads the files anew.
    ((shape,),) = duckdb.execute("select shape from blobs where name = 'input_parameter' limit 1").fetchall()
    assert shape == [2]


def test_polars_takes_a_scan():
    needed("polars")
    import polars

    scan = popef.scan(TESTDATA / "interop")
    frame = polars.DataFrame(scan)
    assert frame.rows() == [tuple(row.values()) for row in scan.to_arrow().to_pylist()]


def test_importing_popef_imports_none_of_these(run):
    program = "import sys, popef; print([name for name in sys.argv[1:] if name in sys.modules])"
    libraries = ["pyarrow", "numpy", "pandas", "pyspark", "glob", "popef.spark", "popef._arrow"]
    assert run(program, *libraries).stdout == "[]\n"


def test_without_pyarrow_the_error_says_what_to_install(run):
    program = """
import sys, popef
sys.modules["pyarrow"] = None
scan = popef.scan(sys.argv[1])
assert len(list(scan)) == 4
for use in scan.to_arrow, scan.record_batches, scan.__arrow_c_stream__, lambda: scan.schema:
    try:
        use()
    except ImportError as error:
        print(error)
"""
    done = run(program, TESTDATA / "interop" / "executable.popef")
    assert done.stdout == "this needs pyarrow: pip install 'popef[arrow]'\n" * 4, done.stderr


def test_the_recipe_for_pandas_keeps_integers(tmp_path, monkeypatch, capsys):
    needed("pandas")
    with popef.Writer(tmp_path / "model.popef") as writer:
        writer.writeMetadata(popef.Metadata(executable="e", deviceIterations=7))
        writer.createTensorData(popef.TensorDataInfo("t", popef.TensorInfo([2], popef.DataType.U8))).write(b"12")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (TESTDATA.parent / "docs" / "PYTHON.md").read_text(), re.DOTALL | re.MULTILINE)
    (recipe,) = (block for block in blocks if "to_pandas" in block)
    names = {}
    exec(recipe, names)
    blobs = names["blobs"]
    # Tensors have no iterations, so the column has a null.
    assert blobs["device_iterations"].dtype.kind == "i"
    assert blobs["device_iterations"].tolist()[0] == 7
    assert capsys.readouterr().out.splitlines()[1].split() == ["U8", "2"]

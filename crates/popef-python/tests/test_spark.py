"""The data source for Spark, on a cluster of two executors on this machine, each a process of its own."""

import collections
import functools
import json
import os
import pathlib
import re
import shutil
import sys

import pytest
from conftest import INTEROP, ROOT, needed

import popef

needed("pyspark")
import pyspark  # noqa: E402
from pyspark.sql.datasource import DataSourceReader  # noqa: E402

if not shutil.which("java") and not os.environ.get("CI"):
    pytest.skip("Java is not installed", allow_module_level=True)

# PySpark warns that it was not tested with the newest pandas, which this test does not use.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

FILES = 5000
DAMAGED = 1234


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    environment = {
        "SPARK_HOME": str(pathlib.Path(pyspark.__file__).parent),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Where the executors of a cluster have their working folders.
        "SPARK_WORKER_DIR": str(tmp_path_factory.mktemp("work")),
        "SPARK_LOCAL_DIRS": str(tmp_path_factory.mktemp("local")),
        # Half of the time of starting is that of Java's better compiler.
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.sql.shuffle.partitions", "2")
        builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        import popef.spark

        popef.spark.register(session)
        yield session
        session.stop()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """5,000 files of the official library, one of them cut off within its third blob."""
    folder = tmp_path_factory.mktemp("files")
    content = (INTEROP / "executable.popef").read_bytes()
    (folder / "0000.popef").write_bytes(content)
    for number in range(1, FILES):
        path = folder / f"{number:04}.popef"
        if number == DAMAGED:
            path.write_bytes(content[:3000])
        else:
            # As many files as these would be, but on little of the disk.
            os.link(folder / "0000.popef", path)
    return folder


def rows(frame):
    return [row.asDict() for row in frame.collect()]


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, default=repr))


def test_a_damaged_file_among_5000_has_a_row_with_the_error_and_the_job_goes_on(spark, files):
    from pyspark.sql import functions

    frame = spark.read.format("popef").load(f"{files}/*.popef")
    counts = frame.groupBy("type", "name", "error_code", "error_blob", "error_offset")
    counted = counts.agg(functions.count("*").alias("rows"), functions.sum("data_size").alias("bytes"))
    found = {(row["type"], row["name"], row["error_code"]): row for row in counted.collect()}
    described = json.loads((INTEROP / "executable.json").read_text())["files"][0]["blobs"]
    assert len(found) == len(described) + 1
    for blob in described:
        row = found[blob["type"], blob["info"].get("name"), None]
        # The damaged file has the first two blobs.
        count = FILES if blob["index"] < 2 else FILES - 1
        assert (row["rows"], row["bytes"]) == (count, count * blob["dataSize"])
    (damage,) = frame.filter("error_code is not null").select("file", "index", "error_blob", "error_offset").collect()
    assert tuple(damage) == (str(files / f"{DAMAGED}.popef"), None, 2, 2936)


def test_files_are_divided_among_the_executors(spark, files):
    from pyspark.sql import functions

    reader = spark.read.format("popef").option("per", "file").option("columns", "file,blobs")
    frame = reader.option("filesPerPartition", "500").load(str(files))
    assert frame.rdd.getNumPartitions() == FILES // 500
    per_task = frame.groupBy(functions.spark_partition_id()).agg(functions.count("*"), functions.sum("blobs"))
    assert sorted(count for _, count, _ in per_task.collect()) == [500] * (FILES // 500)


def test_rows_and_schema_are_those_of_a_scan(spark):
    for options in {}, {"per": "file"}, {"check": "deep", "hash": "blake3"}, {"per": "file", "hash": "sha256"}:
        frame = spark.read.format("popef").options(**options).load(str(INTEROP))
        table = popef.scan(INTEROP, **options).to_arrow()
        assert frame.columns == table.column_names
        assert in_order(rows(frame)) == in_order(table.to_pylist())
        assert frame.schema == popef.spark.schema(**options)
    two = spark.read.format("popef").option("columns", "name, index").load([f"file://{INTEROP}/split*.popef", str(INTEROP)])
    assert two.count() == 4 + len(list(popef.scan(INTEROP)))
    assert two.columns == ["name", "index"]


def test_a_schema_chooses_columns(spark):
    """Digests are computed on the executors, and only for the column that is wanted."""
    reader = spark.read.format("popef").schema("data_hash string, name string").option("hash", "sha256")
    expected = popef.scan(INTEROP, hash="sha256", columns=["data_hash", "name"]).to_arrow().to_pylist()
    assert in_order(rows(reader.load(str(INTEROP)))) == in_order(expected)


PREDICATES = {
    "type = 'dataTensor'": lambda row: row["type"] == "dataTensor",
    "type <> 'dataTensor'": lambda row: row["type"] is not None and row["type"] != "dataTensor",
    "type in ('opaque', 'metadata') and index > 0": lambda row: row["type"] in ("opaque", "metadata") and row["index"] > 0,
    "name not in ('popart', 'z')": lambda row: row["name"] is not None and row["name"] not in ("popart", "z"),
    "name is null": lambda row: row["name"] is None,
    "shape is not null": lambda row: row["shape"] is not None,
    "is_compressed": lambda row: row["is_compressed"] is True,
    "not is_compressed": lambda row: row["is_compressed"] is False,
    "data_size >= 16 and data_size < 1000": lambda row: row["data_size"] is not None and 16 <= row["data_size"] < 1000,
    "name like 'input%' or index = 1": lambda row: (row["name"] or "").startswith("input") or row["index"] == 1,
    "name like 'input%'": lambda row: (row["name"] or "").startswith("input"),
    "name like '%parameter' and file like '%split%'": lambda row: (
        (row["name"] or "").endswith("parameter") and "split" in row["file"]
    ),
    "uncompressed_size <=> null": lambda row: row["uncompressed_size"] is None,
    "num_tensors <=> 3": lambda row: row["num_tensors"] == 3,
    "shape = array(2L)": lambda row: row["shape"] == (2,),
    "length(name) > 5": lambda row: len(row["name"] or "") > 5,
}


def kept(load):
    """The rows that each predicate keeps, in one job for all of them."""
    columns = ["file", "index"]
    parts = [
        load().filter(predicate).selectExpr(f"{number} as number", *columns)
        for number, predicate in enumerate(PREDICATES)
    ]
    kept = collections.defaultdict(set)
    for number, file, index in functools.reduce(lambda one, other: one.union(other), parts).collect():
        kept[list(PREDICATES)[number]].add((file, index))
    return kept


def expected():
    """The same, by Python."""
    records = list(popef.scan(INTEROP))
    rows = {
        predicate: {(row["file"], row["index"]) for row in records if keeps(row)}
        for predicate, keeps in PREDICATES.items()
    }
    assert all(0 < len(found) < len(records) for found in rows.values())
    return rows


def test_filters_keep_their_rows_also_if_a_frame_is_used_many_times(spark):
    frame = spark.read.format("popef").load(str(INTEROP))
    assert kept(lambda: frame) == expected()
    assert frame.count() == len(list(popef.scan(INTEROP)))


@pytest.fixture
def pushing(spark):
    if not hasattr(DataSourceReader, "pushFilters"):
        pytest.skip("new in Spark 4.1")
    popef.spark.register(spark, push_filters=True)
    yield spark.read.format("popef")
    popef.spark.register(spark)


def test_filters_that_are_pushed_keep_the_same_rows(pushing):
    assert kept(lambda: pushing.load(str(INTEROP))) == expected()


def test_filters_that_are_pushed_are_not_applied_again(pushing):
    for predicate in PREDICATES:
        frame = pushing.load(str(INTEROP)).filter(predicate).select("name")
        plan = frame._jdf.queryExecution().executedPlan().toString()
        by_spark = any(part in predicate for part in (" or ", "<=> 3", "array", "length"))
        assert (re.search(r"\bFilter\b", plan) is not None) == by_spark, plan


def test_files_that_a_pushed_filter_leaves_out_are_not_opened(pushing, tmp_path):
    """Opening the others would raise an error."""
    shutil.copy(INTEROP / "executable.popef", tmp_path / "good.popef")
    (tmp_path / "bad.popef").write_bytes(b"no PopEF file")
    reader = pushing.option("onError", "raise")
    assert reader.load(str(tmp_path)).filter("file like '%good%'").count() == 4
    with pytest.raises(Exception, match="not a PopEF file"):
        reader.load(str(tmp_path)).count()


def test_wrong_options_are_refused(spark):
    for options, words in (
        ({"colums": "name"}, "no option colums"),
        ({"threads": "-1"}, "threads is a number"),
        ({"recursive": "yes"}, "recursive is true or false"),
        ({"check": "shallow"}, "check is quick or deep"),
    ):
        with pytest.raises(Exception, match=words):
            spark.read.format("popef").options(**options).load(str(INTEROP))
    with pytest.raises(Exception, match="by a path, not 's3://bucket/x'"):
        spark.read.format("popef").load("s3://bucket/x")
    for schema, words in ("size string", "size is bigint, not string"), ("nothing int", "no column 'nothing'"):
        with pytest.raises(Exception, match=words):
            spark.read.format("popef").schema(schema).load(str(INTEROP)).count()


def test_what_is_not_there_has_a_row(spark, tmp_path):
    frame = spark.read.format("popef").load(f"{tmp_path}/*.popef")
    (row,) = frame.select("file", "error_code").collect()
    assert tuple(row) == (f"{tmp_path}/*.popef", "not-found")
    assert spark.read.format("popef").load(str(tmp_path)).count() == 0


def test_the_examples_of_the_documentation_run(spark, files, capfd):
    text = (ROOT / "docs" / "PYTHON.md").read_text()
    blocks = re.findall(r"^```python spark\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    names = {"/models/a": f"{files}/{DAMAGED}", "/models/b": f"{files}/0000", "/models": str(files / "000[0-9].popef")}
    names |= {"/models/*": str(files / "000*"), "/more/*": str(files / f"{DAMAGED}")}
    for block in blocks:
        for name in sorted(names, key=len, reverse=True):
            block = block.replace(f'"{name}', f'"{names[name]}')
        exec(compile(block, "example", "exec"), {"__name__": "__main__", "spark": spark})
    shown = capfd.readouterr().out
    assert re.search(r"dataTensor\s*\|\s*10\|", shown)
    assert re.search(r"\|\s*2\|\s*blob-cut\|", shown)
    assert re.search(r"\|\s*4\|\s*NULL\|", shown)

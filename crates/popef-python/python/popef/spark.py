"""A data source for Spark: one row for each blob, or for each file, of many PopEF files.

It needs PySpark 4 or newer, and this module in the Python of the executors. Paths are those of files that every executor can
open, such as those of a shared file system.

    import popef.spark

    popef.spark.register(spark)
    blobs = spark.read.format("popef").load("/models/*.popef")
"""

import json
import os
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import ArrayType, BinaryType, BooleanType, LongType, StringType, StructType

from popef._scan import expand, scan

__all__ = ["PopefDataSource", "register", "schema"]

_TYPES = {
    "int": LongType(),
    "bool": BooleanType(),
    "str": StringType(),
    "bytes": BinaryType(),
    "list[int]": ArrayType(LongType()),
    "list[str]": ArrayType(StringType()),
}

# The number of files that a task reads: their headers, or all of their data.
_FILES_WITHOUT_DATA = 200
_FILES_WITH_DATA = 10


def register(spark, *, push_filters=False):
    """Makes the format ``popef`` known to a Spark session.

    With ``push_filters``, which needs Spark 4.1, rows are left out where the files are read. Use it only if each loaded
    frame is used in one query: Spark (4.3, at least) also applies the filters of one query to others of the same frame,
    which then miss rows. It sets ``spark.sql.python.filterPushdown.enabled`` for the session.
    """
    if push_filters:
        if not hasattr(DataSourceReader, "pushFilters"):
            raise ValueError("push_filters needs Spark 4.1")
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(_PushingDataSource if push_filters else PopefDataSource)


def schema(**options):
    """Returns the schema of a scan with these options of ``popef.scan``, for ``mapInArrow`` and for readers."""
    return _schema(scan((), **options))


def _schema(scanned):
    result = StructType()
    for name, type in scanned._types.items():
        result.add(name, _TYPES[type])
    return result


class PopefDataSource(DataSource):
    """The data source. ``register`` makes it known to a session."""

    @classmethod
    def name(cls):
        """The format that is given to ``spark.read.format``."""
        return "popef"

    def schema(self):
        """The columns that follow from the options."""
        return _schema(_Options(self.options).scan(()))

    def reader(self, schema):
        """Reads the columns of a schema, which may be a subset of all columns."""
        return _Reader(_Options(self.options), schema)


class _PushingDataSource(PopefDataSource):
    def reader(self, schema):
        return _PushingReader(_Options(self.options), schema)


class _Options:
    """The options of a reader, as ``spark.read.option`` sets them."""

    def __init__(self, given):
        given = {name.lower(): value for name, value in given.items()}
        self.paths = [_local(path) for path in _paths(given)]
        self.recursive = _bool(given, "recursive", True)
        self.files = _number(given, "filesperpartition", None)
        columns = _names(given.pop("columns", None))
        self.options = {
            "per": given.pop("per", "blob"),
            "check": given.pop("check", None),
            "loaders": _names(given.pop("loaders", None)) or (),
            "policy": _local(given.pop("policy")) if "policy" in given else None,
            "hash": given.pop("hash", None),
            "columns": columns,
            # A task has one processor, if nothing else was configured.
            "threads": _number(given, "threads", 1),
            "on_error": given.pop("onerror", "record"),
        }
        if given:
            raise ValueError(f"the format popef has no option {', '.join(sorted(given))}")

    def scan(self, files):
        return scan(files, **self.options)

    def files_of_a_task(self):
        reads_data = self.options["check"] or self.options["hash"]
        return self.files or (_FILES_WITH_DATA if reads_data else _FILES_WITHOUT_DATA)


def _paths(given):
    one, several = given.pop("path", None), given.pop("paths", None)
    return ([] if one is None else [one]) + ([] if several is None else json.loads(several))


def _names(given):
    return None if given is None else [name.strip() for name in given.split(",")]


def _local(path):
    """A path for the system. Executors have other working folders, so it is absolute."""
    scheme, colon, rest = path.partition(":/")
    if colon and scheme.isalnum() and len(scheme) > 1:
        if scheme != "file":
            raise ValueError(f"the format popef reads files that every executor can open by a path, not {path!r}")
        path = "/" + rest.lstrip("/")
    return os.path.abspath(path)


def _number(given, name, default):
    value = given.pop(name, None)
    if value is None:
        return default
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"{name} is a number from 1 on, not {value!r}")
    return int(value)


def _bool(given, name, default):
    value = given.pop(name, str(default)).lower()
    if value not in ("true", "false"):
        raise ValueError(f"{name} is true or false, not {value!r}")
    return value == "true"


@dataclass
class _Files(InputPartition):
    """The files that one task reads."""

    paths: list[str]


class _Reader(DataSourceReader):
    def __init__(self, options, schema):
        self.options = options
        self.filters = []
        options.options["columns"] = schema.fieldNames()
        known = _schema(options.scan(()))
        for field, found in zip(schema, known, strict=True):
            if field.dataType != found.dataType:
                wrong = f"{field.name} is {found.dataType.simpleString()}, not {field.dataType.simpleString()}"
                raise ValueError(f"the column {wrong}")

    def partitions(self):
        """The files, divided among tasks. Files that a filter leaves out are not opened."""
        # A task lists each folder again that cannot be listed here, and has a row with the error.
        found = expand(self.options.paths, self.options.recursive)
        files = [file.filename if isinstance(file, OSError) else file for file in found]
        filters = [filter for filter in self.filters if filter.column == "file"]
        if filters:
            shown = [os.fsencode(file).decode(errors="replace") for file in files]
            kept = pa.record_batch({"file": pa.array(shown, pa.string()), "at": pa.array(range(len(files)))})
            files = [files[at] for at in _filtered(kept, filters)["at"].to_pylist()]
        count = self.options.files_of_a_task()
        return [_Files(files[start : start + count]) for start in range(0, len(files), count)]

    def read(self, partition):
        """The rows of the files of a task."""
        # Without any files, Spark still wants one task.
        files = partition.paths if isinstance(partition, _Files) else []
        for batch in self.options.scan(files).record_batches():
            batch = _filtered(batch, self.filters)
            if batch.num_rows:
                yield batch


class _PushingReader(_Reader):
    def pushFilters(self, filters):
        """Takes the filters that it can apply exactly as Spark does, and returns the others."""
        for filter in filters:
            taken = _Filter.of(filter, self.options.scan(()).schema)
            if taken is None:
                yield filter
            else:
                self.filters.append(taken)


def _filtered(batch, filters):
    for filter in filters:
        batch = batch.filter(filter.mask(batch))
    return batch


# The functions of filters on a column and a value of its type.
_COMPARISONS = {
    "EqualTo": "equal",
    "GreaterThan": "greater",
    "GreaterThanOrEqual": "greater_equal",
    "LessThan": "less",
    "LessThanOrEqual": "less_equal",
}
_SEARCHES = {"StringStartsWith": pc.starts_with, "StringEndsWith": pc.ends_with, "StringContains": pc.match_substring}


@dataclass
class _Filter:
    """A filter on one column. As in SQL, a comparison with nothing gives nothing, which leaves the row out."""

    column: str
    kind: str
    value: object
    is_negated: bool

    @classmethod
    def of(cls, filter, schema):
        """The same filter for Arrow. None if the results could differ."""
        is_negated = isinstance(filter, datasource.Not)
        filter = filter.child if is_negated else filter
        kind, value = type(filter).__name__, getattr(filter, "value", None)
        if len(filter.attribute) != 1 or filter.attribute[0] not in schema.names:
            return None
        column = filter.attribute[0]
        of_type = {pa.int64(): int, pa.string(): str, pa.bool_(): bool}.get(schema.field(column).type)

        def fits(value):
            return type(value) is of_type and (of_type is not int or -(2**63) <= value < 2**63)

        is_taken = (
            kind in ("IsNull", "IsNotNull")
            or (kind in _COMPARISONS and fits(value))
            or (kind in _SEARCHES and of_type is str and fits(value))
            or (kind == "In" and all(map(fits, value)))
        )
        return cls(column, kind, value, is_negated) if is_taken else None

    def mask(self, batch):
        """Which rows it keeps."""
        column = batch.column(self.column)
        if self.kind == "IsNull":
            mask = pc.is_null(column)
        elif self.kind == "IsNotNull":
            mask = pc.is_valid(column)
        elif self.kind == "In":
            found = pc.is_in(column, pa.array(self.value, column.type))
            mask = pc.if_else(pc.is_valid(column), found, pa.scalar(None, pa.bool_()))
        elif self.kind in _SEARCHES:
            mask = _SEARCHES[self.kind](column, self.value)
        else:
            mask = pc.call_function(_COMPARISONS[self.kind], [column, pa.scalar(self.value, column.type)])
        return pc.invert(mask) if self.is_negated else mask

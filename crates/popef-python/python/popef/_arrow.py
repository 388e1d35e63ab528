"""Scans as Arrow record batches, with pyarrow."""

from popef import _popef

try:
    import pyarrow as pa
except ImportError as error:
    raise ImportError("this needs pyarrow: pip install 'popef[arrow]'") from error

_TYPES = {
    "int": pa.int64(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "bytes": pa.binary(),
    "list[int]": pa.list_(pa.int64()),
    "list[str]": pa.list_(pa.string()),
}

# Offsets into a column have 31 bits. This also bounds the memory of a batch.
_BYTES = 16 << 20


def schema(types):
    """The schema for columns, given the types of their names."""
    return pa.schema([pa.field(name, _TYPES[type]) for name, type in types.items()])


def batches(run, schema, rows):
    """The records of a run as batches."""
    rows = _popef.scan_rows(rows)

    def made():
        while (batch := run.batch(rows, _BYTES)) is not None:
            count, columns = batch
            arrays = [_array(type, count, *buffers) for type, buffers in zip(schema.types, columns, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return made()


def _array(type, rows, nulls, count, valid, runs, items, values):
    valid, runs, items, values = (None if bytes is None else pa.py_buffer(bytes) for bytes in (valid, runs, items, values))
    if pa.types.is_list(type):
        buffers = [None, values] if items is None else [None, items, values]
        child = pa.Array.from_buffers(type.value_type, count, buffers)
        return pa.Array.from_buffers(type, rows, [valid, runs], nulls, children=[child])
    buffers = [valid, values] if runs is None else [valid, runs, values]
    return pa.Array.from_buffers(type, rows, buffers, nulls)


def table(batches, schema):
    """All batches as one table."""
    return pa.Table.from_batches(batches, schema)


def stream(batches, schema, requested):
    """The capsule of Arrow's C stream interface."""
    return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__(requested)

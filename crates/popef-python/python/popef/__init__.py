"""Reads and writes PopEF files, in which models compiled for Graphcore IPUs are shipped.

The classes have the names and methods of the vendor's module, so that programs written for it run unchanged:

>>> import popef
>>> import io
>>> file = io.BytesIO()
>>> info = popef.TensorDataInfo("weights", popef.TensorInfo([2], popef.DataType.F32))
>>> with popef.Writer(file) as writer:
...     writer.createTensorData(info).write(b"\\x00\\x00\\xc0\\x3f\\x00\\x00\\x10\\xc0")
>>> reader = popef.Reader()
>>> reader.parseStream(io.BytesIO(file.getvalue()))
>>> [tensor.info.name() for tensor in reader.tensors()]
['weights']
>>> reader.tensors()[0].data().tolist()
[1.5, -2.25]
"""

from popef._check import Finding, Report, Skipped, check
from popef._error import PopefError
from popef._popef import (
    Anchor,
    Blob,
    BlobType,
    BlobWriter,
    DataType,
    Executable,
    ExecutableReader,
    Feed,
    FeedDataInfo,
    FeedReader,
    File,
    FileWriter,
    Metadata,
    MetadataBlob,
    Model,
    ModelBuilder,
    Opaque,
    OpaqueReader,
    Option,
    ProgramFlow,
    Reader,
    Tensor,
    TensorDataInfo,
    TensorInfo,
    TensorReader,
    TensorType,
    Writer,
    __version__,
    compress,
    decompress,
    describe,
    diff,
    extract,
    hash,
    merge,
    numpyDTypeToPopefType,
    open,
    pack,
    popefTypeToNumpyDType,
    recover,
    set,
    split,
    strip,
    verify,
)
from popef._scan import Scan, scan

# Without `hash`, `open` and `set`: `from popef import *` must not replace functions of Python itself.
__all__ = [
    "Anchor",
    "Blob",
    "BlobType",
    "BlobWriter",
    "DataType",
    "Executable",
    "ExecutableReader",
    "Feed",
    "FeedDataInfo",
    "FeedReader",
    "File",
    "FileWriter",
    "Finding",
    "Metadata",
    "MetadataBlob",
    "Model",
    "ModelBuilder",
    "Opaque",
    "OpaqueReader",
    "Option",
    "PopefError",
    "ProgramFlow",
    "Reader",
    "Report",
    "Scan",
    "Skipped",
    "Tensor",
    "TensorDataInfo",
    "TensorInfo",
    "TensorReader",
    "TensorType",
    "Writer",
    "check",
    "compress",
    "decompress",
    "describe",
    "diff",
    "extract",
    "merge",
    "numpyDTypeToPopefType",
    "pack",
    "popefTypeToNumpyDType",
    "recover",
    "scan",
    "split",
    "strip",
    "verify",
]

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any, Literal, TypeAlias, final

import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]

_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
_Loader: TypeAlias = Literal["popart", "poptorch", "tensorflow", "triton"]

@final
class Scan:
    def __init__(
        self,
        paths: _Path | Iterable[_Path],
        *,
        per: Literal["blob", "file"],
        recursive: bool,
        check: Literal["quick", "deep"] | None,
        loaders: _Loader | Iterable[_Loader],
        policy: _Path | None,
        hash: Literal["blake3", "sha256"] | None,
        columns: Iterable[str] | None,
        threads: int | None,
        on_error: Literal["record", "raise"],
    ) -> None: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def schema(self) -> pa.Schema: ...
    def record_batches(self, rows: int = 16384) -> Iterator[pa.RecordBatch]: ...
    def to_arrow(self) -> pa.Table: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def scan(
    paths: _Path | Iterable[_Path],
    *,
    per: Literal["blob", "file"] = "blob",
    recursive: bool = True,
    check: Literal["quick", "deep"] | None = None,
    loaders: _Loader | Iterable[_Loader] = (),
    policy: _Path | None = None,
    hash: Literal["blake3", "sha256"] | None = None,
    columns: Iterable[str] | None = None,
    threads: int | None = None,
    on_error: Literal["record", "raise"] = "record",
) -> Scan: ...
def expand(paths: _Path | Iterable[_Path], recursive: bool = True) -> Iterator[str | OSError]: ...

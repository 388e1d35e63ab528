from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Literal, TypeAlias

from popef import File, _Readable
from typing_extensions import Buffer

_Severity: TypeAlias = Literal["error", "warning", "note"]
_Loader: TypeAlias = Literal["popart", "poptorch", "tensorflow", "triton"]

@dataclass(frozen=True)
class Finding:
    rule: str
    severity: _Severity
    file: int
    path: str | None
    blob: int | None
    offset: int | None
    names: tuple[str, ...]
    message: str
    title: str
    meaning: str
    fix: str

@dataclass(frozen=True)
class Skipped:
    file: int | None
    path: str | None
    what: str
    why: str
    failed: bool

@dataclass(frozen=True)
class Report:
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    @property
    def worst(self) -> _Severity | None: ...
    @property
    def is_complete(self) -> bool: ...
    def passes(self, warnings_allowed: bool = True) -> bool: ...

def check(
    *files: File | str | PathLike[str] | PathLike[bytes] | Buffer | _Readable,
    deep: bool = False,
    loaders: Iterable[_Loader] = (),
    policy: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Report: ...

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, ClassVar, Literal, TypeAlias

from popef import File, _Readable
from typing_extensions import Buffer

_Severity: TypeAlias = Literal["error", "warning", "note"]
_Loader: TypeAlias = Literal["popart", "poptorch", "tensorflow", "triton"]

class _Record:
    def as_dict(self) -> dict[str, Any]: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[object, ...]: ...

class Finding(_Record):
    __match_args__: ClassVar[tuple[Literal["rule"], Literal["severity"], Literal["file"], Literal["path"], Literal["blob"], Literal["offset"], Literal["names"], Literal["message"], Literal["title"], Literal["meaning"], Literal["fix"]]]
    def __init__(
        self,
        rule: str,
        severity: _Severity,
        file: int,
        path: str | None,
        blob: int | None,
        offset: int | None,
        names: tuple[str, ...],
        message: str,
        title: str,
        meaning: str,
        fix: str,
    ) -> None: ...
    @property
    def rule(self) -> str: ...
    @property
    def severity(self) -> _Severity: ...
    @property
    def file(self) -> int: ...
    @property
    def path(self) -> str | None: ...
    @property
    def blob(self) -> int | None: ...
    @property
    def offset(self) -> int | None: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def message(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def fix(self) -> str: ...

class Skipped(_Record):
    __match_args__: ClassVar[tuple[Literal["file"], Literal["path"], Literal["what"], Literal["why"], Literal["failed"]]]
    def __init__(
        self,
        file: int | None,
        path: str | None,
        what: str,
        why: str,
        failed: bool,
    ) -> None: ...
    @property
    def file(self) -> int | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def what(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def failed(self) -> bool: ...

class Report(_Record):
    __match_args__: ClassVar[tuple[Literal["findings"], Literal["skipped"]]]
    def __init__(
        self,
        findings: tuple[Finding, ...],
        skipped: tuple[Skipped, ...],
    ) -> None: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...
    @property
    def skipped(self) -> tuple[Skipped, ...]: ...
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

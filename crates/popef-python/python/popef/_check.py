"""Checks files before they are shipped. The rules are those of the tool ``popef check``."""

import os
from dataclasses import dataclass

from popef import _popef


@dataclass(frozen=True)
class Finding:
    """Something that a rule found in a file."""

    __module__ = "popef"

    rule: str
    """The id of the rule, such as ``PE101``, which never changes."""
    severity: str
    """``error``, ``warning`` or ``note``."""
    file: int
    """The file, by its position among those that were given, from 0."""
    path: str | None
    """The path of the file, if it has one."""
    blob: int | None
    """The number of the blob in the file, or None."""
    offset: int | None
    """The byte of the file, or None."""
    names: tuple[str, ...]
    """The names that the finding is about, at most the first 100."""
    message: str
    """What is wrong, with the figures."""
    title: str
    """The rule in a few words."""
    meaning: str
    """What it means, and what happens when the file is loaded."""
    fix: str
    """How to fix it."""

    def __str__(self):
        place = [] if self.blob is None else [f"blob {self.blob}"]
        place += [] if self.offset is None else [f"byte {self.offset}"]
        return ": ".join([f"{self.severity} {self.rule}", *([", ".join(place)] if place else []), self.message])


@dataclass(frozen=True)
class Skipped:
    """Something that was not checked."""

    __module__ = "popef"

    file: int | None
    """The file, by its position among those that were given, or None for all of them."""
    path: str | None
    """The path of the file, if it has one."""
    what: str
    """What was not checked."""
    why: str
    """Why not."""
    failed: bool
    """Whether the reason is a failure and not an option or the format."""

    def __str__(self):
        return f"not checked: {self.what}: {self.why}"


@dataclass(frozen=True)
class Report:
    """What a check found, and what it did not check."""

    __module__ = "popef"

    findings: tuple[Finding, ...]
    """Sorted by file, then blob, then rule."""
    skipped: tuple[Skipped, ...]
    """What was not checked."""

    @property
    def worst(self):
        """The worst severity of a finding, or None if there are no findings."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in ("error", "warning", "note") if severity in found), None)

    @property
    def is_complete(self):
        """Whether everything that was asked for could be checked."""
        return not any(skipped.failed for skipped in self.skipped)

    def passes(self, warnings_allowed=True):
        """Returns whether nothing is worse than a note, or than a warning if warnings are allowed."""
        return self.worst not in ({"error"} if warnings_allowed else {"error", "warning"})


def check(*files, deep=False, loaders=(), policy=None, progress=None):
    """Checks files that belong together: blobs of one can refer to blobs of another.

    A file is a ``File``, or what ``popef.open`` takes. The undamaged part of a damaged file is checked too. With ``deep``, all data
    is read, also the tiles inside executables. ``loaders`` adds what these need: ``popart``, ``poptorch``, ``tensorflow`` or
    ``triton``. ``policy`` is the path of a policy, a TOML file with the requirements of your team. ``progress`` is called now and then
    with the number of bytes that were read, and of all that will be.

    >>> import io, popef
    >>> file = io.BytesIO()
    >>> with popef.Writer(file) as writer:
    ...     writer.writeMetadata(popef.Metadata(executable="missing"))
    >>> report = popef.check(file.getvalue())
    >>> report.passes()
    False
    >>> print(report.findings[0])  # doctest: +ELLIPSIS
    error PE...: blob 0, byte 0: ...
    """
    opened = [file if isinstance(file, _popef.File) else _popef.open(file, damaged=True) for file in files]
    findings, skipped = _popef.check(opened, deep, list(loaders), _policy(policy), progress)
    return Report(tuple(Finding(**fields) for fields in findings), tuple(Skipped(**fields) for fields in skipped))


def _policy(path):
    """The name and the text of a policy."""
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        return os.fsdecode(path), file.read()


# Errors, help and pickles name what users import.
check.__module__ = "popef"

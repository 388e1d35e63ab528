"""Checks files before they are shipped. The rules are those of the tool ``popef check``."""

import os
from collections.abc import Iterable

from popef import _popef


class _Record:
    """Values with names, which cannot be changed. The slots of a class are the names and what they mean.

    It does what a dataclass does. The module dataclasses would make ``import popef`` twice as slow.
    """

    __slots__ = ()

    def __init_subclass__(cls):
        cls.__module__ = "popef"
        cls.__match_args__ = tuple(cls.__slots__)

    def __init__(self, *values, **named):
        given = dict(zip(self.__slots__, values, strict=False), **named)
        if len(values) + len(named) != len(self.__slots__) or given.keys() != self.__slots__.keys():
            raise TypeError(f"{type(self).__name__} needs {', '.join(self.__slots__)}")
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be changed")

    def __delattr__(self, name):
        raise AttributeError(f"{name} cannot be deleted")

    def as_dict(self):
        """Returns the values by their names."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other):
        return self.as_dict() == other.as_dict() if type(self) is type(other) else NotImplemented

    def __hash__(self):
        return hash(tuple(self.as_dict().values()))

    def __reduce__(self):
        return type(self), tuple(self.as_dict().values())

    def __repr__(self):
        values = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({values})"


class Finding(_Record):
    """Something that a rule found in a file.

    >>> import popef
    >>> finding = popef.check(b"no PopEF file at all").findings[0]
    >>> finding.rule, finding.severity, finding.blob
    ('PE004', 'error', 0)
    >>> finding.as_dict()["offset"]
    0
    """

    __slots__ = {
        "rule": "The id of the rule, such as ``PE101``, which never changes.",
        "severity": "``error``, ``warning`` or ``note``.",
        "file": "The file, by its position among those that were given, from 0.",
        "path": "The path of the file, if it has one.",
        "blob": "The number of the blob in the file, or None.",
        "offset": "The byte of the file, or None.",
        "names": "The names that the finding is about, at most the first 100.",
        "message": "What is wrong, with the figures.",
        "title": "The rule in a few words.",
        "meaning": "What it means, and what happens when the file is loaded.",
        "fix": "How to fix it.",
    }

    def __str__(self):
        place = [] if self.blob is None else [f"blob {self.blob}"]
        place += [] if self.offset is None else [f"byte {self.offset}"]
        return ": ".join([f"{self.severity} {self.rule}", *([", ".join(place)] if place else []), self.message])


class Skipped(_Record):
    """Something that was not checked.

    >>> import io, popef
    >>> file = io.BytesIO()
    >>> with popef.Writer(file) as writer:
    ...     writer.createExecutable("model").write(b"made by hand")
    >>> print(popef.check(file.getvalue()).skipped[0])  # doctest: +ELLIPSIS
    not checked: ...
    """

    __slots__ = {
        "file": "The file, by its position among those that were given, or None for all of them.",
        "path": "The path of the file, if it has one.",
        "what": "What was not checked.",
        "why": "Why not.",
        "failed": "Whether the reason is a failure and not an option or the format.",
    }

    def __str__(self):
        return f"not checked: {self.what}: {self.why}"


class Report(_Record):
    """What a check found, and what it did not check.

    >>> import popef
    >>> report = popef.check(b"no PopEF file at all")
    >>> report.worst, report.is_complete, report.passes()
    ('error', True, False)
    """

    __slots__ = {
        "findings": "The findings, sorted by file, then blob, then rule.",
        "skipped": "What was not checked.",
    }

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
        """Returns whether all could be checked, and nothing is worse than a note, or than a warning if warnings are allowed."""
        return self.is_complete and self.worst not in ({"error"} if warnings_allowed else {"error", "warning"})


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
    if not files:
        raise ValueError("there are no files to check")
    opened = [file if isinstance(file, _popef.File) else _popef.open(file, damaged=True) for file in files]
    findings, skipped = _popef.check(opened, deep, names_of(loaders), policy_of(policy), progress)
    return Report(tuple(Finding(**fields) for fields in findings), tuple(Skipped(**fields) for fields in skipped))


def names_of(loaders):
    """The names of loaders. A single one may be given alone."""
    is_one = isinstance(loaders, str) or not isinstance(loaders, Iterable)
    names = [loaders] if is_one else list(loaders)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"loaders is the name of a loader, or several, not {loaders!r}")
    return names


def policy_of(path):
    """The name and the text of a policy."""
    if path is None:
        return None
    # A number would be a file that the program has open.
    path = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        return path, file.read()


# Errors, help and pickles name what users import.
check.__module__ = "popef"

"""Records of the files and blobs of many files."""

import os
from collections.abc import Iterable

from popef import _popef
from popef._check import names_of, policy_of

_PATH = str | bytes | os.PathLike
_ENDINGS = (".popef", ".poptorch")


class Scan:
    """Files to be scanned. ``popef.scan`` makes it.

    Each iteration reads the files anew, and gives one record after the other, as a ``dict``. The next files are opened by other
    threads meanwhile.

    >>> import popef
    >>> files = popef.scan([], per="file", columns=["file", "blobs"])
    >>> files.columns, list(files)
    (('file', 'blobs'), [])
    """

    __module__ = "popef"

    def __init__(self, paths, *, per, recursive, check, loaders, policy, hash, columns, threads, on_error):
        _check_choice("on_error", on_error, "record", "raise")
        _check_choice("per", per, "blob", "file")
        if isinstance(paths, _popef.File) or hasattr(paths, "read") or not isinstance(paths, _PATH | Iterable):
            message = f"paths is a path, or several, not {type(paths).__name__}: a scan opens files itself"
            raise TypeError(f"{message}. popef.describe takes files that are open")
        if check is None and (loaders or policy is not None):
            raise ValueError("loaders and policy are for a check, which check asks for")
        asked = {None} | ({"check"} if check else set()) | ({"hash"} if hash else set())
        self._types = _chosen(_popef.scan_columns(per == "file"), columns, asked)
        self._columns = tuple(self._types)
        self._paths = paths
        self._recursive = recursive
        self._options = {
            "per_file": per == "file",
            "columns": list(self._columns),
            "check": None if check is None else (check, names_of(loaders), policy_of(policy)),
            "hash": hash,
            "threads": threads,
            "raises": on_error == "raise",
        }
        # Wrong options are found now, and not only at the first record.
        _popef.ScanRun(iter(()), **self._options)

    @property
    def columns(self):
        """The names of the columns, which are the keys of each record."""
        return self._columns

    @property
    def schema(self):
        """The ``pyarrow.Schema`` of the batches."""
        from popef import _arrow

        return _arrow.schema(self._types)

    def _run(self):
        return _popef.ScanRun(expand(self._paths, self._recursive), **self._options)

    def __iter__(self):
        return self._run()

    def record_batches(self, rows=16384):
        """Gives the records as ``pyarrow.RecordBatch`` objects, each with at most ``rows`` rows and about 16 MiB in a
        column."""
        from popef import _arrow

        return _arrow.batches(self._run(), self.schema, rows)

    def to_arrow(self):
        """Returns all records as a ``pyarrow.Table``."""
        from popef import _arrow

        return _arrow.table(self.record_batches(), self.schema)

    def __arrow_c_stream__(self, requested_schema=None):
        """What other libraries call to get the records: pandas, Polars, DuckDB and more."""
        from popef import _arrow

        return _arrow.stream(self.record_batches(), self.schema, requested_schema)

    def __repr__(self):
        check = self._options["check"]
        given = {"check": check and check[0], "hash": self._options["hash"]}
        options = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
        per = "file" if self._options["per_file"] else "blob"
        return f"<popef.Scan per {per}{options}, {len(self._columns)} columns>"


def scan(
    paths,
    *,
    per="blob",
    recursive=True,
    check=None,
    loaders=(),
    policy=None,
    hash=None,
    columns=None,
    threads=None,
    on_error="record",
):
    """Scans files: gives a record for each blob or for each file, as a ``dict`` or as Arrow record batches.

    ``paths`` is a path, or several. A folder stands for all files in it whose names end with ``.popef`` or ``.poptorch``, with
    those in its subfolders if ``recursive``. A path that does not exist is a pattern if it has ``*``, ``?`` or ``[``; ``**`` is
    any number of folders. Files come in the order given, and those of a folder or a pattern by name.

    Only headers are read, unless more is requested. ``check`` checks each file on its own: ``"quick"`` or ``"deep"``,
    with ``loaders`` and ``policy`` as ``popef.check`` has them. ``hash`` computes digests: ``"blake3"`` or
    ``"sha256"``. ``columns`` names the wanted columns; work for other columns is skipped. ``threads`` is the number of
    files read at once.

    A file that cannot be read, or not to its end, has a record with the error, after those of its blobs before the damage. With
    ``on_error="raise"``, the first error is raised.

    >>> import popef, tempfile, os
    >>> folder = tempfile.TemporaryDirectory()
    >>> with popef.Writer(os.path.join(folder.name, "model.popef")) as writer:
    ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
    >>> for record in popef.scan(folder.name, columns=["index", "type", "name", "data_size"]):
    ...     print(record)
    {'index': 0, 'type': 'opaque', 'name': 'notes', 'data_size': 12}
    >>> [(record["blobs"], record["opaques"]) for record in popef.scan(folder.name, per="file")]
    [(1, 1)]
    >>> folder.cleanup()
    """
    return Scan(
        paths,
        per=per,
        recursive=recursive,
        check=check,
        loaders=loaders,
        policy=policy,
        hash=hash,
        columns=columns,
        threads=threads,
        on_error=on_error,
    )


# Errors, help and pickles name what users import.
scan.__module__ = "popef"


def _check_choice(name, given, one, other):
    if given not in (one, other):
        error = ValueError if isinstance(given, str) else TypeError
        raise error(f"{name} is {one} or {other}, not {given!r}")


def _chosen(available, columns, asked):
    """The types of the columns that are wanted, by name. ``asked`` has the options that were given."""
    if columns is None:
        return {name: type for name, type, is_usual, option in available if is_usual and option in asked}
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        raise TypeError(f"columns is a list of names, not one {type(columns).__name__}")
    columns = tuple(columns)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError("columns names at least one column, and none twice")
    known = {name: (type, option) for name, type, _, option in available}
    for name in columns:
        if name not in known:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(known)}")
        if known[name][1] not in asked:
            raise ValueError(f"the column {name!r} needs the option {known[name][1]}")
    return {name: known[name][0] for name in columns}


def expand(paths, recursive=True):
    """The files of paths, folders and patterns, one after the other, and an ``OSError`` for each folder that cannot be listed."""
    if isinstance(paths, _PATH):
        paths = (paths,)
    for path in map(os.fsdecode, paths):
        if os.path.isdir(path):
            yield from _files_in(path, recursive)
        elif any(mark in path for mark in "*?[") and not os.path.lexists(path):
            # A pattern that nothing matches is a path of no file, which has a record with an error.
            yield from _matches(path) or (path,)
        else:
            yield path


def _matches(pattern):
    import glob

    return [path for path in sorted(glob.glob(pattern, recursive=True)) if not os.path.isdir(path)]


def _files_in(folder, recursive):
    unlisted = []
    for place, folders, files in os.walk(folder, onerror=unlisted.append):
        folders.sort()
        if not recursive:
            folders.clear()
        for file in sorted(files):
            if file.endswith(_ENDINGS):
                yield os.path.join(place, file)
    yield from unlisted

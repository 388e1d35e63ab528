"""Tries the marks of names/ordinary.txt: calls each name that can be imported here
with objects that tell what is done to them, and makes objects of each class.

    python probe_names.py [the folder with ordinary.txt]

Run with Python 3.11.7, NumPy 2.4.6 and pandas 3.1.1, and with Python 3.10.13,
NumPy 1.26.4 and torch 1.12.1. It prints what a mark does not promise: an argument
that is called or given back, and an object that two calls share. Known are the
functions of NumPy that make generators, for which the scan has rules of its own,
and types of NumPy, of which the shared ones refuse a state. The attributes that a
name asks its arguments for are printed last.
"""

import builtins
import collections
import contextlib
import importlib
import io
import itertools
import signal
import sys
import warnings
from pathlib import Path

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "crates/popef-payload/src/pickle/names")
PLAIN = [None, 0, 1, "a", "f4", "D", "UTC", b"x", [1], {}, (1, 2), 1.5, 200]
IMMUTABLE = (int, str, bytes, float, complex, tuple, frozenset, type, type(None))
DONE = []


class Probe:
    def __getattr__(self, name):
        DONE.append(name)
        raise AttributeError(name)

    def __call__(self, *_, **__):
        DONE.append("a call")
        return 1


class Kind(type):
    def __call__(cls, *_, **__):
        DONE.append("a call")
        return 1


ProbeClass = Kind("ProbeClass", (), {})


def names():
    """Module, name and mark."""
    for line in (FOLDER / "ordinary.txt").read_text().splitlines():
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if not line.startswith(" "):
            mark, modules, words = words[0], words[1].split(","), words[2:]
        yield from ((module, name, mark) for name in words for module in modules)
    yield from (("builtins", name, "+") for name in dir(builtins) if name.endswith(("Error", "Exception", "Warning")))
    with contextlib.suppress(ImportError):
        yield from (("torch._utils", name, "=") for name in dir(importlib.import_module("torch._utils")) if name.startswith("_rebuild_"))


def late(*_):
    raise TimeoutError


def attempt(function, *arguments):
    DONE.clear()
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return [function(*arguments)]
    except BaseException:
        return []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def contains(arguments, value):
    held = [*arguments, *(item for part in arguments if isinstance(part, (list, tuple)) for item in part)]
    return not isinstance(value, IMMUTABLE) and any(value is part for part in held)


def with_probe(probe):
    pairs = itertools.product(PLAIN, PLAIN[:8])
    yield from [(probe,), (probe, probe), (probe, probe, probe), ([probe],), ({"a": probe},), ([(probe, probe)],)]
    yield from itertools.chain.from_iterable(((probe, value), (value, probe)) for value in PLAIN)
    yield from ((*pair, probe) for pair in pairs)


def complaints(found, mark, asked):
    if mark in "-!" or not callable(found):
        return
    for probe in Probe(), ProbeClass:
        for arguments in with_probe(probe) if mark != "*" else []:
            result = attempt(found, *arguments)
            if "a call" in DONE:
                yield "calls its argument"
            asked.update(DONE)
            if mark in "+=" and result and contains(arguments, result[0]):
                yield "gives back its argument"
    tried = [(), *((value,) for value in PLAIN), *itertools.product(PLAIN, PLAIN[:8])] if mark in "+=" else []
    for arguments in tried:
        results = attempt(found, *arguments) + attempt(found, *arguments)
        if mark == "+" and len(results) == 2 and results[0] is results[1]:
            yield "shares what it gives"
        if mark == "=" and results and isinstance(results[0], (str, dict)):
            yield f"gives {type(results[0]).__name__}"
    if mark in "*+" and isinstance(found, type):
        results = attempt(found.__new__, found) + attempt(found.__new__, found)
        if len(results) == 2 and results[0] is results[1]:
            yield "shares its objects"


def main():
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, late)
    attributes, tried = collections.defaultdict(set), 0
    for module, name, mark in names():
        try:
            found = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except Exception:
            continue
        tried += 1
        for complaint in sorted(set(complaints(found, mark, attributes[f"{module}.{name}"]))):
            print(f"{mark} {module}.{name} {complaint}")
    for name, asked in attributes.items():
        methods = {method for method in asked if not method.startswith("__")} - {"a call"}
        if methods:
            print(f"  {name} asks for {' '.join(sorted(methods))}")
    print(tried, "names")


if __name__ == "__main__":
    main()

"""Writes random.jsonl: random pickles, and what Python imports when it loads them.

Half are made of random objects by Python's own picklers, half opcode by opcode,
all from one seed. Each is loaded by both of Python's unpicklers with a
find_class that notes what is asked for and gives a stand-in, so that nothing of
it is run. To make the file again, or another one:

    python make_random.py [SEED COUNT FILE]        (written with Python 3.11.7)

A line has the pickle in hexadecimal. Under "imports" is what Python imports, in
its order, each with the byte of its opcode (null if pickletools cannot tell);
under "inside" what the pickles in its bytes and texts import; under "stop" the
byte behind the opcode at which Python stops, or null if it stops with an error.
An extension code N counts as the import "(extension-N)".
"""

import collections
import copyreg
import datetime
import decimal
import enum
import fractions
import io
import itertools
import json
import pickle
import pickletools
import random
import struct
import sys
import types
import uuid
from pathlib import Path

SEED, COUNT, FILE = sys.argv[1:] or (2024, 210, Path(__file__).parent / "random.jsonl")
RANDOM = random.Random(int(SEED))

# ---- what Python imports -----------------------------------------------------


class Anything:
    """Takes whatever a pickle does to it."""

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return Anything()

    def take(self, *args):
        pass

    append = extend = add = __setitem__ = __setstate__ = take


def loads(unpickler, data):
    """The names that are asked for, and the byte behind the stop, if it gets there."""
    asked = []

    class Asking(unpickler):
        def find_class(self, module, name):
            # A carriage return at the end of a line is not told.
            module, name = module.rstrip(), name.rstrip()
            asked.append(f"{module}.{name}" if module != "extension" else f"(extension-{name})")
            return Anything

        def persistent_load(self, pid):
            return Anything()

    file = io.BytesIO(data)
    copyreg.clear_extension_cache()
    try:
        Asking(file, buffers=iter([b"one", bytearray(b"two")])).load()
        return asked, file.tell()
    except Exception:
        return asked, None


def places(data):
    """The bytes of the opcodes that import, as far as pickletools understands them."""
    extensions = set()
    try:
        for opcode, argument, position in pickletools.genops(data):
            if opcode.name.startswith("EXT"):
                # Python asks for each once.
                if argument not in extensions:
                    yield position
                extensions.add(argument)
            elif opcode.name in ("GLOBAL", "INST", "STACK_GLOBAL"):
                yield position
    except Exception:
        return


def imports(data):
    in_c, stop_in_c = loads(pickle.Unpickler, data)
    in_python, stop_in_python = loads(pickle._Unpickler, data)
    # One may give up where the other goes on.
    asked, shorter = sorted([in_c, in_python], key=len, reverse=True)
    assert asked[: len(shorter)] == shorter, data
    found = list(itertools.zip_longest(itertools.islice(places(data), len(asked)), asked))
    return found, stop_in_c or stop_in_python


# ---- of random objects -------------------------------------------------------


def module(name, **content):
    made = types.ModuleType(name)
    for key, value in content.items():
        value.__module__ = name
        value.__qualname__ = key
        setattr(made, key, value)
    sys.modules[name] = made


def rebuild(*parts):
    return parts


class Layer:
    pass


class Slots:
    __slots__ = ("one", "other")


class Weights(list):
    pass


class Options(dict):
    def __init__(self, *args, **kwargs):
        pass


class Sized:
    def __init__(self, parts):
        self.parts = parts

    def __reduce__(self):
        return rebuild, self.parts, {"state": 1}, iter(self.parts), iter({1: 2}.items())


class Named:
    def __new__(cls, *, name):
        made = object.__new__(cls)
        made.name = name
        return made

    def __getnewargs_ex__(self):
        return (), {"name": self.name}


def make_modules():
    module("model", Layer=Layer, Slots=Slots, Weights=Weights, Options=Options, Sized=Sized, Named=Named)
    module("model.inner", rebuild=rebuild, Kind=enum.Enum("Kind", "ONE TWO"), Point=collections.namedtuple("Point", "x y"))


def leaf():
    return RANDOM.choice([
        lambda: None,
        lambda: RANDOM.choice([True, False]),
        lambda: RANDOM.randrange(-(2**RANDOM.randrange(1, 80)), 2**RANDOM.randrange(1, 80)),
        RANDOM.random,
        lambda: RANDOM.choice(["", "a", "caf\u00e9", "\U0001f600", "two\nlines.", "os", "system", "\\u0041", "'\"", "\u0080\u0002"]),
        lambda: "t" * RANDOM.choice([255, 256, 257]),
        lambda: RANDOM.randbytes(RANDOM.randrange(12)),
        lambda: bytearray(RANDOM.randbytes(3)),
        lambda: RANDOM.choice([len, print, int, Layer, rebuild, collections.OrderedDict, datetime.datetime]),
        lambda: datetime.timedelta(RANDOM.randrange(9)),
        lambda: decimal.Decimal("1.5"),
        lambda: fractions.Fraction(1, 3),
        lambda: complex(1, 2),
        lambda: range(RANDOM.randrange(9)),
        lambda: uuid.UUID(int=RANDOM.randrange(2**128)),
        lambda: sys.modules["model.inner"].Kind.ONE,
        lambda: RANDOM.choice([Ellipsis, NotImplemented]),
    ])()


def with_state(made, state):
    made.__dict__.update(state)
    return made


def thing(depth, inside):
    if depth == 0:
        return leaf()
    more = lambda: thing(depth - 1, inside)
    some = lambda: [more() for _ in range(RANDOM.randrange(4))]

    def slots():
        made = Slots()
        made.one = more()
        return made

    def recursive():
        made = some()
        made.append(made)
        return made

    def nested():
        data, found, deeper, _ = of_objects(depth - 1)
        # As a text it is looked into by its mark, or for the lines of its imports.
        if not data.startswith(b"\x80") and b"\n" not in data:
            return data[:3]
        inside.extend(deeper + [path for _, path in found])
        return data if RANDOM.randrange(3) else data.decode("latin1")

    return RANDOM.choice([
        leaf,
        some,
        lambda: tuple(some()),
        lambda: dict(zip("abc", some())),
        lambda: {RANDOM.randrange(5)},
        lambda: frozenset([RANDOM.randrange(5)]),
        lambda: collections.OrderedDict(a=more()),
        lambda: collections.deque(some()),
        lambda: collections.defaultdict(list, a=more()),
        lambda: with_state(Layer(), {"weight": more(), "bias": more()}),
        slots,
        lambda: Weights(some()),
        lambda: with_state(Options(a=1), {"options": more()}),
        lambda: Sized(tuple(some())),
        lambda: Named(name=more()),
        lambda: sys.modules["model.inner"].Point(more(), more()),
        recursive,
        lambda: [shared := more(), shared],
        nested,
    ])()


def of_objects(depth):
    """A pickle, what it imports, what those inside import, and where it stops."""
    while True:
        inside = []
        file = io.BytesIO()
        pickler = RANDOM.choice([pickle.Pickler, pickle._Pickler])(file, RANDOM.randrange(6))
        # Without a memo.
        pickler.fast = RANDOM.randrange(8) == 0
        try:
            pickler.dump(thing(depth, inside))
        except Exception:
            # Not everything can be spelt in every protocol.
            continue
        data = file.getvalue()
        if RANDOM.randrange(6) == 0:
            data = pickletools.optimize(data)
        found, stop = imports(data)
        if stop is not None and len(data) <= 1500:
            return data, found, inside, stop


# ---- opcode by opcode --------------------------------------------------------

NAMES = ["os", "system", "posix", "a.b", "c", "collections", "OrderedDict", "torch.storage", "_load_from_bytes",
         "builtins", "getattr", "x", "version", "latin1", "_codecs", "encode", "copyreg", "_reconstructor", "na\u00efve"]


def text(value):
    raw = value.encode()
    spellings = [lambda letter: letter, lambda letter: f"\\x{ord(letter):02x}", lambda letter: f"\\{ord(letter):03o}"]
    escaped = "".join(RANDOM.choice(spellings)(letter) for letter in value if letter.isascii()).encode()
    return RANDOM.choice([
        b"\x8c" + struct.pack("<B", len(raw)) + raw,
        b"X" + struct.pack("<I", len(raw)) + raw,
        b"\x8d" + struct.pack("<Q", len(raw)) + raw,
        b"V" + "".join(RANDOM.choice([letter, f"\\u{ord(letter):04x}"]) for letter in value).encode("raw-unicode-escape") + b"\n",
        b"S'" + escaped + b"'\n",
        b'S"' + escaped + b'"\n',
        b"U" + struct.pack("<B", len(raw)) + raw,
        b"T" + struct.pack("<i", len(raw)) + raw,
    ])


def put(place):
    return RANDOM.choice([b"q%c" % place, b"r" + struct.pack("<I", place), b"p%d\n" % place, b"p +%d \n" % place])


def get(place):
    return RANDOM.choice([b"h%c" % place, b"j" + struct.pack("<I", place), b"g%d\n" % place, b"g0_%d\n" % place])


def number():
    return RANDOM.choice([b"K\x05", b"M\x05\x01", b"J\1\2\3\4", b"I12\n", b"I01\n", b"L12L\n", b"F1.5\n", b"G" + bytes(8),
                          b"\x8a\x01\x05", b"\x8b\x01\0\0\0\x05", b"N", b"\x88", b"\x89", b"P7\n"])


def imported():
    """An import, in each way to spell one."""
    module, name = RANDOM.choice(NAMES), RANDOM.choice(NAMES)
    return RANDOM.choice([
        f"c{module}\n{name}\n".encode(),
        text(module) + text(name) + b"\x93",
        text(module) + b"\x94" + text(name) + b"\x94\x93",
        text(name) + put(3) + b"0" + text(module) + get(3) + b"\x93",
        text(name) + b"2\x93",
        RANDOM.choice([b"\x82\x05", b"\x83\x05\0", b"\x84\x06\0\0\0"]),
        f"(i{module}\n{name}\n".encode(),
        f"(c{module}\n{name}\n".encode() + number() + b"o",
    ])


def nested():
    data = pickle.dumps(RANDOM.choice([uuid.UUID(int=1), decimal.Decimal(1), [1]]), RANDOM.randrange(6))
    return b"C%c" % len(data) + data


# How likely each is, how many values it takes, and how many it leaves. What wants
# a value of some kind mostly brings it along.
OPCODES = [
    (4, 0, 1, number),
    (6, 0, 1, lambda: text(RANDOM.choice(NAMES))),
    (4, 0, 1, lambda: RANDOM.choice([b"]", b"}", b")", b"\x8f", b"\x97"])),
    (2, 0, 1, lambda: RANDOM.choice([b"C\x03abc", b"B\2\0\0\0ab", b"\x8e\1" + bytes(7) + b"a", b"\x96\1" + bytes(7) + b"a\x98"])),
    (1, 0, 1, nested),
    (9, 0, 1, imported),
    (2, 0, 1, lambda: imported() + b")R"),
    (2, 0, 1, lambda: imported() + number() + b"\x85R"),
    (2, 0, 1, lambda: imported() + imported() + text(RANDOM.choice(NAMES)) + b"\x86R"),
    (2, 0, 1, lambda: imported() + b")\x81}b"),
    (1, 0, 1, lambda: imported() + b")}\x92"),
    (2, 0, 1, lambda: b"(" + number() * RANDOM.randrange(5) + RANDOM.choice([b"t", b"l", b"\x91"])),
    (1, 0, 1, lambda: b"(" + text("a") + imported() + b"d"),
    (1, 0, 1, lambda: b"}(" + text("version") + imported() + b"u"),
    (1, 0, 1, lambda: b"}" + text("version") + text("1") + b"s"),
    (1, 0, 1, lambda: b"]" + imported() + b"a(" + number() + b"e"),
    (1, 0, 1, lambda: b"\x8f(" + number() + b"\x90"),
    (4, 0, 1, lambda: get(RANDOM.randrange(6))),
    (4, 1, 1, lambda: put(RANDOM.randrange(6))),
    (1, 1, 1, lambda: b"r" + struct.pack("<I", RANDOM.randrange(20_000))),
    (3, 1, 1, lambda: b"\x94"),
    (2, 1, 2, lambda: b"2"),
    (1, 1, 0, lambda: b"0"),
    (1, 0, 0, lambda: b"(" + number() + b"1"),
    (1, 0, 0, lambda: b"(0"),
    (3, 1, 1, lambda: b"\x85"),
    (2, 2, 1, lambda: b"\x86"),
    (1, 3, 1, lambda: b"\x87"),
    (1, 1, 1, lambda: b"Q"),
    (0.2, 2, 1, lambda: b"\x93"),
    (0.2, 2, 1, lambda: b"R"),
    (0.1, 1, 1, lambda: b")\x81"),
    (0.1, 2, 1, lambda: b"b"),
    (0.1, 2, 1, lambda: b"a"),
    (0.2, 0, 0, lambda: b"\x80%c" % RANDOM.randrange(6)),
    (0.2, 0, 0, lambda: RANDOM.randbytes(1)),
]


def of_opcodes():
    data, values = [], 0
    if RANDOM.randrange(3):
        data.append(b"\x80%c" % RANDOM.randrange(6))
    # So that most places in the memo have a value.
    data += [number() + put(place) + b"0" for place in range(RANDOM.choice([0, 5, 6]))]
    for _ in range(RANDOM.randrange(3, 16)):
        _, needed, left, make = RANDOM.choices(OPCODES, [opcode[0] for opcode in OPCODES])[0]
        # What lacks its values is left in now and then.
        if values >= needed or RANDOM.randrange(100) == 0:
            data.append(make())
            values = max(values - needed, 0) + left
    return b"".join(data) + (b"." if values else b"N.")


def main():
    make_modules()
    for code in (5, 6):
        copyreg.add_extension("extension", str(code), code)
    lines = []
    for _ in range(int(COUNT)):
        lines.append(of_objects(RANDOM.randrange(1, 5)))
        data = of_opcodes()
        found, stop = imports(data)
        lines.append((data, found, [], stop))
    with open(FILE, "w") as file:
        for data, found, inside, stop in lines:
            line = {"pickle": data.hex(), "imports": found, "inside": sorted(set(inside)), "stop": stop}
            file.write(json.dumps(line) + "\n")
    stopped = sum(stop is not None for *_, stop in lines)
    print(len(lines), "pickles,", stopped, "to their end,", sum(len(found) for _, found, *_ in lines), "imports")


if __name__ == "__main__":
    main()

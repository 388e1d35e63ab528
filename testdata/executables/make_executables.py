"""Writes the archives and Poplar executables of this folder, and what binutils print for the archives.

The ELF files are laid out here by hand, after the ELF specification, with the
machine number of IPUs. Debian's `ar` puts them into archives where it can; the
others are laid out by hand too. The LZ4 frames are by the package lz4, the
message of the metadata by pycapnp. No byte here comes from this project's own
code, and none from Poplar: no sample of its files is public. To make them again:

    apt-get install binutils            # 2.40
    pip install pycapnp==2.2.4 lz4==4.4.5
    python make_executables.py

`NAME.size-A.txt`, `NAME.size-B.txt`, `NAME.ar-t.txt` and `NAME.readelf.txt` are
what the commands print for NAME.a.
"""

import os
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import capnp
import lz4.frame

FOLDER = Path(__file__).parent
popef = capnp.load(str(FOLDER / "../../popef/schema/popef.capnp"))
IPU, I386 = 248, 3
RELOCATABLE, LINKED = 1, 2
PROGBITS, SYMTAB, STRTAB, NOTE, NOBITS, REL = 1, 2, 3, 7, 8, 9
W, A, X = 1, 2, 4
NOTYPE, OBJECT, FUNC, SECTION, FILE = range(5)


class Strings:
    """A table of names."""

    def __init__(self):
        self.bytes = b"\0"

    def add(self, name):
        if not name:
            return 0
        place = len(self.bytes)
        self.bytes += name.encode() + b"\0"
        return place


def elf(sections, symbols=(), kind=LINKED, machine=IPU):
    """A 32-bit little-endian ELF file.

    A section is (name, type, flags, address, bytes or the size of what has none, info), a symbol
    (name, type, number of its section, address, size).
    """
    names, symbol_names = Strings(), Strings()
    sections = [(*section, 0)[:6] for section in sections]
    entries = [bytes(16)]
    entries += [
        struct.pack("<IIIBBH", symbol_names.add(name), address, size, 1 << 4 | type, 0, section)
        for name, type, section, address, size in symbols
    ]
    tables = []
    if symbols:
        tables.append((".symtab", SYMTAB, 0, 0, b"".join(entries), 1))
        tables.append((".strtab", STRTAB, 0, 0, symbol_names.bytes, 0))
    count = 1 + len(sections) + len(tables) + 1
    symtab = 1 + len(sections) if symbols else 0
    for section in [*sections, *tables]:
        names.add(section[0])
    names.add(".shstrtab")
    tables.append((".shstrtab", STRTAB, 0, 0, names.bytes, 0))

    names = Strings()
    body, headers = b"", struct.pack("<10I", *[0] * 10)
    for name, type, flags, address, content, info in [*sections, *tables]:
        offset = 52 + len(body)
        size = content if type == NOBITS else len(content)
        link = {SYMTAB: symtab + 1, REL: symtab}.get(type, 0)
        each = {SYMTAB: 16, REL: 8}.get(type, 0)
        headers += struct.pack("<10I", names.add(name), type, flags, address, offset, size, link, info, 4, each)
        if type != NOBITS:
            body += content + bytes(-len(content) % 4)
    ident = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    fields = struct.pack("<HHIIIIIHHHHHH", kind, machine, 1, 0x4C000, 0, 52 + len(body), 0, 52, 0, 0, 40, count, count - 1)
    return ident + fields + body + headers


def bytes_of(seed, size):
    return bytes((seed * 37 + i * i) & 0xFF for i in range(size))


def text_only(seed, size):
    """All memory is in .text, as TensorFlow's documentation says of Poplar's files."""
    sections = [(".text", PROGBITS, A | X, 0x4C000, bytes_of(seed, size))]
    symbols = [
        ("", SECTION, 1, 0x4C000, 0),
        ("__start", FUNC, 1, 0x4C000, 64),
        (f"poplar_vertex_{seed}", FUNC, 1, 0x4C040, size - 64),
    ]
    return elf(sections, symbols)


def all_kinds(seed):
    """A section of each kind, stacks by section and by symbol."""
    sections = [
        (".text", PROGBITS, A | X, 0x4C000, bytes_of(seed, 300 + 4 * seed)),
        (".rodata", PROGBITS, A, 0x4D000, bytes_of(seed, 40)),
        (".note.ipu", NOTE, A, 0x4D040, struct.pack("<III4s4s", 4, 4, 1, b"IPU", b"note")),
        (".data", PROGBITS, A | W, 0x4D100, bytes_of(seed + 1, 100)),
        (".bss", NOBITS, A | W, 0x4D200, 700),
        (".worker_stack", NOBITS, A | W, 0x4D600, 1536),
        (".comment", PROGBITS, 0, 0, b"by hand\0"),
        (".debug_line", PROGBITS, 0, 0, bytes_of(seed, 57)),
    ]
    symbols = [
        ("tile.s", FILE, 0xFFF1, 0, 0),
        ("__start", FUNC, 1, 0x4C000, 32),
        ("__supervisor_stack", OBJECT, 5, 0x4D200, 256),
        ("__supervisor_Stack_alias", OBJECT, 5, 0x4D280, 192),  # half of it is in the symbol before
        ("worker_stack_0", OBJECT, 6, 0x4D600, 256),  # is in a section that counts already
        ("unwind_stack", FUNC, 1, 0x4C020, 32),  # code, not a stack
        ("stack_top", OBJECT, 0xFFF1, 0x4E000, 4),  # a number, in no section
        ("counter", OBJECT, 4, 0x4D100, 4),
        ("elsewhere", NOTYPE, 0, 0, 0),
    ]
    return elf(sections, symbols)


def relocatable():
    sections = [
        (".text", PROGBITS, A | X, 0, bytes_of(9, 24)),
        (".rel.text", REL, 0, 0, struct.pack("<II", 4, 1 << 8 | 1), 1),
        (".data", PROGBITS, A | W, 0, bytes_of(9, 12)),
    ]
    return elf(sections, [("vertex", FUNC, 1, 0, 24), ("a_stack", OBJECT, 3, 4, 8)], kind=RELOCATABLE)


def without_symbols():
    return elf([(".text", PROGBITS, A | X, 0x4C000, bytes_of(3, 16))])


def run(*command, cwd=FOLDER, check=True):
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, cwd=cwd, check=check, capture_output=True, env=environment).stdout


def ar(name, members, flags="rcD"):
    """An archive by `ar`: deterministic, with a table of symbols."""
    path = FOLDER / f"{name}.a"
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for member, content in members:
            (Path(folder) / member).write_bytes(content)
        run("ar", flags, str(path), *[member for member, _ in members], cwd=folder)
    print_with_binutils(name)


def member(name, content):
    """A member of a hand-made archive; its header's fields are text."""
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
    return header + content + b"\n" * (len(content) % 2)


def by_hand(name, *members):
    (FOLDER / f"{name}.a").write_bytes(b"!<arch>\n" + b"".join(members))
    print_with_binutils(name)


def print_with_binutils(name):
    commands = {"size-A": ["size", "-A"], "size-B": ["size", "-B"], "ar-t": ["ar", "t"]}
    if name != "bsd-names":  # readelf does not know BSD's names
        commands["readelf"] = ["readelf", "-S", "-s", "-W"]
    for suffix, command in commands.items():
        # `size` fails after it has shown the rest, if a member is no ELF file.
        (FOLDER / f"{name}.{suffix}.txt").write_bytes(run(*command, f"{name}.a", check=False))


def bsd(name, content):
    """A name before the content, padded with zeros."""
    padded = name.encode().ljust(-(-len(name) // 8) * 8, b"\0")
    return member(f"#1/{len(padded)}", padded + content)


def frames(content, piece):
    """LZ4 frames one behind the other, with different settings."""
    pieces = [content[start : start + piece] for start in range(0, len(content), piece)]
    return b"".join(
        lz4.frame.compress(part, block_linked=i % 2 == 0, content_checksum=i % 3 == 0, store_size=i % 2 == 1)
        for i, part in enumerate(pieces)
    )


def poplar_executable(format, archive, metadata):
    packed = [frames(archive, 3000), frames(metadata, 200)]
    sizes = [len(archive), len(packed[0]), len(metadata), len(packed[1])]
    start = b"GC_EXE_%d" % format + struct.pack("<4Q", *sizes)
    return start + b"".join(packed)


def blob(name, data, uncompressed_size=2**64 - 1):
    """An executable in a PopEF file."""
    info = popef.PoplarExecutable.new_message(name=name, uncompressedSize=uncompressed_size).to_bytes()
    # The header's length does not depend on the size.
    return header(len(header(0)) + len(info) + len(data)) + info + data


def header(size):
    return popef.BlobHeader.new_message(version="", type="poplarExecutable", size=size).to_bytes()


def metadata(options):
    """A message of Cap'n Proto, in two segments if it has many options. Poplar's own schema is not known: this is one of PopEF."""
    message = popef.Metadata.new_message(executable="not what Poplar writes", numIpus=1)
    for i, option in enumerate(message.init("engineOptions", options)):
        option.name, option.value = f"option{i}", "on"
    return message.to_bytes()


def main():
    equal = text_only(7, 200)
    # In an order that is not that of the numbers. 3, 5 and 6 are equal.
    tiles = {0: text_only(1, 400), 1: all_kinds(1), 10: text_only(2, 1000), 2: all_kinds(2), 3: equal}
    tiles |= {4: text_only(4, 333), 5: equal, 6: equal}
    ar("tiles", [(f"tile{number}.elf", content) for number, content in tiles.items()])

    ar(
        "long-names",
        [(f"poplar_tile_executable_{number:04}.elf", text_only(number, 80 + number)) for number in range(3)]
        + [("README.txt", b"not a tile, and odd"), ("host_code.o", elf([], machine=I386)), ("t3.elf", without_symbols())],
    )
    ar("kinds", [("all.elf", all_kinds(3)), ("relocatable.elf", relocatable()), ("plain.elf", without_symbols())], "rcDS")
    by_hand(
        "bsd-names",
        bsd("__.SYMDEF SORTED", struct.pack("<II", 0, 0)),
        *[bsd(f"a tile with a long name {number}", text_only(number, 100 + number)) for number in range(2)],
        member("short_2", text_only(5, 99)),
    )
    table = b"".join(b"a_member_with_64_bit_symbols_%d.elf/\n" % number for number in range(2))
    first, second = text_only(1, 128), all_kinds(4)
    # One symbol, in the member that begins after three headers, the symbols and the names.
    symbols = struct.pack(">QQ", 1, 8 + 60 + 24 + 60 + len(table)) + b"__start\0"
    by_hand(
        "sym64",
        member("/SYM64/", symbols),
        member("//", table),
        member("/0", first),
        member(f"/{table.index(b'1.elf') - len('a_member_with_64_bit_symbols_')}", second),
    )

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tile0.elf").write_bytes(without_symbols())
        run("ar", "rcDT", "thin.a", "tile0.elf", cwd=folder)
        (FOLDER / "thin.a").write_bytes((Path(folder) / "thin.a").read_bytes())

    archive = (FOLDER / "tiles.a").read_bytes()
    no_archive = poplar_executable(3, b"something else", metadata(2))
    for name, executable in {
        "poplar-3": poplar_executable(3, archive, metadata(400)),
        "poplar-1": poplar_executable(1, (FOLDER / "kinds.a").read_bytes(), b""),
        "poplar-no-archive": no_archive,
    }.items():
        (FOLDER / f"{name}.gc_exe").write_bytes(executable)

    whole = poplar_executable(3, archive, metadata(2))
    damaged = poplar_executable(3, archive[:3000], metadata(2))
    (FOLDER / "models.popef").write_bytes(
        blob("whole", zlib.compress(whole), len(whole))
        + blob("damaged", damaged)
        + blob("no-archive", no_archive)
        + blob("not-of-poplar", b"something else")
        + blob("cut-zlib", zlib.compress(whole)[:-500], len(whole))
    )


main()

"""Writes the .popef files of this folder: each is broken in one way.

All is put together here, word by word, from docs/FORMAT.md: no byte comes from
this project's own code. Only zlib and gzip data is made by Python's zlib, and what
breaks it is done to its output. To make the files again:

    python make_broken.py

table.txt beside this file says of each what is wrong and what a reader must say.
In most files the broken blob is the second: the first is a tensor that is whole,
128 bytes long, and must still be read.
"""

import gzip
import struct
import zlib
from pathlib import Path

FOLDER = Path(__file__).parent
ALL_ONES = 2**64 - 1
MOST = 2**29 - 1  # of a list's elements, and of the words to them
EXECUTABLE, METADATA, TENSOR, FEED, OPAQUE = range(5)
BOOL, F32, F64 = 0, 3, 4
BYTES, HALVES, WORDS, POINTERS, STRUCTS = 2, 4, 5, 6, 7

# ---- words and pointers ------------------------------------------------------


def to_struct(offset, data, pointers):
    return (offset << 2) & 0xFFFF_FFFC | data << 32 | pointers << 48


def to_list(offset, kind, count):
    return 1 | (offset << 2) & 0xFFFF_FFFC | kind << 32 | count << 35


def far(segment, word, double=False):
    return 2 | double << 2 | word << 3 | segment << 32


CAPABILITY = 3


def to_bytes(words):
    return b"".join(struct.pack("<Q", word & ALL_ONES) for word in words)


def text_words(text):
    text += b"\0"
    text += b"\0" * (-len(text) % 8)
    return list(struct.unpack(f"<{len(text) // 8}Q", text))


def message(*segments, count=None, lengths=None):
    """A segment table, which may lie, and the segments."""
    lengths = [len(segment) for segment in segments] if lengths is None else lengths
    table = [len(segments) - 1 if count is None else count, *lengths]
    table += [0] * (len(table) % 2)
    return struct.pack(f"<{len(table)}I", *table) + b"".join(map(to_bytes, segments))


# ---- blobs -------------------------------------------------------------------


def header_words(blob_type, size, version=b""):
    return [to_struct(0, 2, 1), blob_type, size, to_list(0, BYTES, len(version) + 1), *text_words(version)]


def blob(blob_type, info, data=b"", size=None):
    """A blob with a header of 48 bytes that is right but for the size, if one is given."""
    truth = 48 + len(info) + len(data)
    return message(header_words(blob_type, truth if size is None else size)) + info + data


def tensor_words(name=b"w", data_type=F32, shape=(2,)):
    """Words 0 root, 1 name's pointer, 2 tensorInfo's, then name, TensorInfo of 2 words (type, shape's pointer), shape."""
    name_words = text_words(name)
    return [
        to_struct(0, 0, 2),
        to_list(1, BYTES, len(name) + 1),
        to_struct(len(name_words), 1, 1),
        *name_words,
        data_type,
        to_list(0, WORDS, len(shape)),
        *shape,
    ]


def feed_words(tensors, data_type=F32, shape=(2,)):
    words = tensor_words(b"f", data_type, shape)
    return [to_struct(0, 1, 2), tensors, *words[1:]]


def executable_info(uncompressed_size):
    return message([to_struct(0, 1, 1), uncompressed_size, to_list(0, BYTES, 2), *text_words(b"x")])


def metadata_words(pointers, *behind):
    """A root with 3 words of data and 7 pointers: words 0 root, 1 to 3 data, 4 to 10 pointers, then what is behind."""
    row = [0] * 7
    for index, pointer in pointers.items():
        row[index] = pointer
    return [to_struct(0, 3, 7), 0, 0, 0, *row, *behind]


# Which pointer of Metadata is which.
SEED_HANDLE, ANCHORS, NAME, ENGINE_OPTIONS, DEVICE_OPTIONS, FLOW, PROGRAMS = range(7)

GOOD = blob(TENSOR, message(tensor_words(b"good-one")), struct.pack("<2f", 1.5, -2.25))
assert len(GOOD) == 128


def write(name, content):
    (FOLDER / f"{name}.popef").write_bytes(content)


def behind_good(name, content):
    write(name, GOOD + content)


# ---- headers -----------------------------------------------------------------


def tensor_with_size(size):
    return blob(TENSOR, message(tensor_words()), bytes(8), size)


def tensor_with_header(header):
    return header + message(tensor_words()) + bytes(8)


def headers():
    write("no-popef-file", b"PK\x03\x04\x14\x00\x00\x00\x08\x00 a ZIP archive and nothing else")
    behind_good("header-1-byte", tensor_with_size(120)[:1])
    behind_good("header-7-bytes", tensor_with_size(120)[:7])
    behind_good("header-table-only", tensor_with_size(120)[:8])
    behind_good("header-without-last-byte", tensor_with_size(120)[:47])
    behind_good("header-table-cut", struct.pack("<2I", 2, 1))
    behind_good("header-no-words", tensor_with_header(message([])))
    behind_good("header-root-null", tensor_with_header(message([0] * 5)))
    behind_good("header-no-size", tensor_with_header(message([to_struct(0, 1, 0), TENSOR])))
    behind_good("header-root-list", tensor_with_header(message([to_list(0, WORDS, 2), TENSOR, 120])))
    behind_good("header-root-outside", tensor_with_header(message([to_struct(1000, 2, 1), TENSOR, 120])))
    words = header_words(TENSOR, 120)
    behind_good("header-version-outside", tensor_with_header(message([*words[:3], to_list(1, BYTES, 9), 0])))
    behind_good("header-version-no-end", tensor_with_header(message([*words[:4], 0x31])))
    behind_good("header-version-capability", tensor_with_header(message([*words[:3], CAPABILITY, 0])))
    behind_good("header-root-far-nowhere", tensor_with_header(message([far(7, 0), TENSOR, 120])))
    behind_good("header-type-unknown", blob(65535, b"", b"what it holds nobody knows"))


def sizes():
    truth = len(tensor_with_size(0))
    assert truth == 120
    # The header takes 48 bytes, the info with its table 64, the data 8.
    for size in (0, 1, 47, 48, 55, 56, 111):
        behind_good(f"size-{size}", tensor_with_size(size))
    behind_good("size-one-more", tensor_with_size(truth + 1))
    behind_good("size-2-32-more", tensor_with_size(2**32 + truth))
    behind_good("size-2-63", tensor_with_size(2**63))
    behind_good("size-all-ones", tensor_with_size(ALL_ONES))
    behind_good("size-wraps-to-0", tensor_with_size(2**64 - len(GOOD)))
    behind_good("size-wraps-to-itself", tensor_with_size(2**64 - 8))
    # It ends 8 bytes early, in the data: the next header is taken from there.
    behind_good("size-ends-in-data", tensor_with_size(truth - 8))


def segment_tables():
    words = header_words(TENSOR, 120)
    behind_good("segments-512", tensor_with_header(message(words, count=511)))
    behind_good("segments-2-32", tensor_with_header(message(words, count=2**32 - 1)))
    behind_good("segments-511-empty", tensor_with_header(message(*[[]] * 511)))
    behind_good("segment-2-32-words", tensor_with_header(message(words, lengths=[2**32 - 1])))
    behind_good("segment-64-kib", tensor_with_header(message(words, lengths=[8192])))
    two = message(words, [0], lengths=[2**31, 2**31])
    behind_good("segments-sum-2-32", tensor_with_header(two))

    words = tensor_words()
    behind_good("info-segments-512", blob(TENSOR, message(words, count=511), bytes(8)))
    behind_good("info-2-32-words", blob(TENSOR, message(words, lengths=[2**32 - 1]), bytes(8)))
    behind_good("info-past-file", blob(TENSOR, message(words, lengths=[len(words) + 2]), bytes(8)))
    behind_good("info-past-blob", blob(TENSOR, message(words, lengths=[len(words) + 2]), bytes(8)) + bytes(64))
    behind_good("info-one-word-less", blob(TENSOR, message(words, lengths=[len(words) - 1]), bytes(8)))
    behind_good("info-no-words", blob(TENSOR, message([])))
    behind_good("info-table-cut", blob(TENSOR, struct.pack("<2I", 200, 1)))


# ---- pointers, in the info message of a tensor -------------------------------


def tensor_with(words, *more_segments):
    return blob(TENSOR, message(words, *more_segments), bytes(8))


def with_word(index, word):
    words = tensor_words()
    words[index] = word
    return tensor_with(words)


ROOT, NAME_AT, INFO_AT, TYPE_AT, SHAPE_AT = 0, 1, 2, 4, 5


def pointers():
    behind_good("root-list", with_word(ROOT, to_list(0, WORDS, 2)))
    behind_good("root-capability", with_word(ROOT, CAPABILITY))
    behind_good("struct-behind-end", with_word(INFO_AT, to_struct(1000, 1, 1)))
    behind_good("struct-before-start", with_word(INFO_AT, to_struct(-100, 1, 1)))
    behind_good("struct-farthest", with_word(INFO_AT, to_struct(MOST, 1, 1)))
    behind_good("struct-data-65535", with_word(INFO_AT, to_struct(1, 0xFFFF, 1)))
    behind_good("struct-pointers-65535", with_word(INFO_AT, to_struct(1, 1, 0xFFFF)))
    behind_good("struct-one-word-over", with_word(INFO_AT, to_struct(1, 1, 3)))
    behind_good("struct-is-list", with_word(INFO_AT, to_list(1, WORDS, 2)))
    behind_good("struct-is-capability", with_word(INFO_AT, CAPABILITY))
    behind_good("list-behind-end", with_word(NAME_AT, to_list(1000, BYTES, 2)))
    behind_good("list-before-start", with_word(NAME_AT, to_list(-100, BYTES, 2)))
    behind_good("list-2-29-bytes", with_word(NAME_AT, to_list(1, BYTES, MOST)))
    behind_good("list-2-29-words", with_word(SHAPE_AT, to_list(0, WORDS, MOST)))
    behind_good("list-2-29-of-nothing", with_word(SHAPE_AT, to_list(0, 0, MOST)))
    behind_good("list-one-over", with_word(SHAPE_AT, to_list(0, WORDS, 2)))
    behind_good("text-is-struct", with_word(NAME_AT, to_struct(1, 1, 0)))
    behind_good("text-is-words", with_word(NAME_AT, to_list(1, WORDS, 1)))
    behind_good("text-is-capability", with_word(NAME_AT, CAPABILITY))
    behind_good("text-without-end", with_word(NAME_AT, to_list(1, BYTES, 1)))
    behind_good("text-of-no-bytes", with_word(NAME_AT, to_list(1, BYTES, 0)))
    behind_good("text-not-utf-8", tensor_with(tensor_words(b"caf\xe9")))
    behind_good("text-with-nul", tensor_with(tensor_words(b"a\0b")))
    behind_good("shape-of-bytes", with_word(SHAPE_AT, to_list(0, BYTES, 8)))
    behind_good("shape-is-struct", with_word(SHAPE_AT, to_struct(0, 1, 0)))
    words = tensor_words()
    words[SHAPE_AT] = to_list(0, STRUCTS, 4)
    behind_good("shape-of-structs", tensor_with([*words[:6], to_struct(2, 2, 0), 1, 0, 2, 0]))
    # TensorInfo is its own parent: its shape is then the name.
    behind_good("cycle", with_word(INFO_AT, to_struct(-2, 0, 2)))
    # A field of a later schema, with structs in structs, that nobody needs to look at.
    words = tensor_words()
    chain = [to_struct(0, 0, 1)] * 100
    behind_good("nesting-unknown-field", tensor_with([to_struct(1, 0, 3), words[6], *nested(chain)]))
    fars()


def nested(chain):
    """A root struct of three pointers, the third of which leads to the chain."""
    name, info = text_words(b"w"), [F32, to_list(0, WORDS, 1), 2]
    at_name = to_list(2, BYTES, 2)
    at_info = to_struct(2, 1, 1)
    at_chain = to_struct(4, 0, 1)
    return [at_name, at_info, at_chain, *name, *info, *chain, 0]


def fars():
    behind_good("far-no-segment", with_word(NAME_AT, far(1, 0)))
    behind_good("far-segment-2-32", with_word(NAME_AT, far(2**32 - 1, 0)))
    behind_good("far-itself", with_word(NAME_AT, far(0, NAME_AT)))
    words = tensor_words()
    words[NAME_AT] = far(1, 1)
    behind_good("far-pad-outside", tensor_with(words, [to_list(0, BYTES, 2)]))
    words[NAME_AT] = far(1, 0)
    behind_good("far-target-outside", tensor_with(words, [to_list(0, BYTES, 2)]))
    behind_good("far-to-capability", tensor_with(words, [CAPABILITY]))
    behind_good("far-to-far", tensor_with(words, [far(1, 1), to_list(0, BYTES, 2), 0x77]))
    words[NAME_AT] = far(1, 0, True)
    behind_good("double-far-pad-cut", tensor_with(words, [far(0, 3)]))
    behind_good("double-far-first-is-near", tensor_with(words, [to_list(0, BYTES, 2), to_list(0, BYTES, 2)]))
    behind_good("double-far-first-is-double", tensor_with(words, [far(0, 3, True), to_list(0, BYTES, 2)]))
    behind_good("double-far-no-segment", tensor_with(words, [far(9, 0), to_list(0, BYTES, 2)]))
    behind_good("double-far-itself", tensor_with(words, [far(1, 0, True), far(1, 0, True)]))
    behind_good("double-far-target-outside", tensor_with(words, [far(0, 7), to_list(0, BYTES, 2)]))
    behind_good("double-far-wrong-kind", tensor_with(words, [far(0, 3), to_struct(0, 1, 0)]))


# ---- Metadata ----------------------------------------------------------------


def metadata(pointers, *behind):
    return blob(METADATA, message(metadata_words(pointers, *behind)))


def metadatas():
    def behind_root(pointer):
        """From a root's pointer to the first word behind them."""
        return 6 - pointer

    def list_at(pointer, words):
        return {pointer: to_list(behind_root(pointer), STRUCTS, words)}

    # Lists of elements that take no bytes: a tag, and nothing behind it.
    behind_good("amplify-2-29-anchors", metadata(list_at(ANCHORS, 0), to_struct(MOST, 0, 0)))
    behind_good("amplify-13-anchors", metadata(list_at(ANCHORS, 0), to_struct(13, 0, 0)))
    behind_good("amplify-14-anchors", metadata(list_at(ANCHORS, 0), to_struct(14, 0, 0)))
    behind_good("amplify-800-bytes", metadata({ANCHORS: to_list(5, BYTES, 800)}, *[0] * 100))
    behind_good("amplify-1000-words", metadata({ANCHORS: to_list(5, POINTERS, 1000)}, *[0] * 1000))
    behind_good("amplify-2-29-options", metadata(list_at(ENGINE_OPTIONS, 0), to_struct(MOST, 0, 0)))
    behind_good("amplify-2-30-programs", metadata(list_at(PROGRAMS, 0), to_struct(2**30 - 1, 0, 0)))
    behind_good("tag-more-than-words", metadata(list_at(ANCHORS, 5), to_struct(2, 1, 4), *[0] * 5))
    behind_good("tag-no-struct", metadata(list_at(ANCHORS, 5), to_list(1, WORDS, 1), *[0] * 5))
    behind_good("tag-missing", metadata(list_at(ANCHORS, 0)))
    behind_good("structs-behind-end", metadata(list_at(ANCHORS, 50), to_struct(10, 1, 4), *[0] * 5))
    behind_good("structs-are-bytes", metadata({ANCHORS: to_list(5, BYTES, 8)}, 0))
    anchor = [0, to_list(3, BYTES, 2), to_list(2, HALVES, MOST), 0, 0, *text_words(b"a")]
    behind_good("anchor-programs-2-29", metadata(list_at(ANCHORS, 5), to_struct(1, 1, 4), *anchor))
    anchor = [0, to_list(3, BYTES, 1), 0, 0, 0, *text_words(b"a")]
    behind_good("anchor-name-no-end", metadata(list_at(ANCHORS, 5), to_struct(1, 1, 4), *anchor))
    anchor = [0, 0, 0, 0, CAPABILITY]
    behind_good("anchor-info-capability", metadata(list_at(ANCHORS, 5), to_struct(1, 1, 4), *anchor))
    anchor = [0, 0, 0, 0, to_struct(-5, 1, 4)]
    behind_good("anchor-cycle", metadata(list_at(ANCHORS, 5), to_struct(1, 1, 4), *anchor))
    behind_good("flow-is-list", metadata({FLOW: to_list(1, WORDS, 1)}, 0))
    behind_good("flow-main-outside", metadata({FLOW: to_struct(1, 0, 3)}, 0, to_list(50, HALVES, 9), 0))
    option = [to_list(5, BYTES, 8), 0]
    behind_good("option-name-no-end", metadata(list_at(DEVICE_OPTIONS, 2), to_struct(1, 0, 2), *option, *[ALL_ONES] * 5))
    shared(behind_root)


def shared(behind_root):
    """Many options whose names are all one text of 2,000 bytes."""
    options = 40
    rows = []
    for option in range(options):
        rows += [to_list(2 * (options - option) - 1, BYTES, 2000), 0]
    text = text_words(b"x" * 1999)
    pointer = {ENGINE_OPTIONS: to_list(behind_root(ENGINE_OPTIONS), STRUCTS, 2 * options)}
    behind_good("amplify-shared-text", metadata(pointer, to_struct(options, 0, 2), *rows, *text))


# ---- data --------------------------------------------------------------------


def tensor_of(data_type, shape, data):
    return blob(TENSOR, message(tensor_words(b"w", data_type, shape)), data)


def opaque_of(name, data):
    words = text_words(name)
    return blob(OPAQUE, message([to_struct(0, 0, 2), to_list(1, BYTES, len(name) + 1), 0, *words]), data)


def feed_of(tensors, data_type, shape, data):
    return blob(FEED, message(feed_words(tensors, data_type, shape)), data)


def datas():
    behind_good("data-short", tensor_of(F32, (2, 3), bytes(23)))
    behind_good("data-none", tensor_of(F32, (2, 3), b""))
    behind_good("data-of-2-62-bytes", tensor_of(F32, (2**60,), bytes(8)))
    behind_good("shape-negative", tensor_of(F32, (2, -3), bytes(24)))
    behind_good("shape-most-negative", tensor_of(F32, (-(2**63), 2), bytes(24)))
    behind_good("shape-product-wraps", tensor_of(F32, (2**32, 2**32), bytes(8)))
    behind_good("shape-size-wraps", tensor_of(F64, (2**61,), b""))
    behind_good("shape-zero-and-huge", tensor_of(F64, (2**62, 2**62, 0), b""))
    behind_good("shape-zero-and-negative", tensor_of(F64, (0, -1), b""))
    behind_good("type-unknown", tensor_of(15, (2,), bytes(8)))
    behind_good("bool-of-2", tensor_of(BOOL, (4,), b"\0\1\2\1"))
    behind_good("feed-short", feed_of(3, F32, (2,), bytes(23)))
    behind_good("feed-product-wraps", feed_of(2**32 - 1, F32, (2**31,), bytes(8)))
    behind_good("feed-of-2-32-nothings", feed_of(2**32 - 1, F32, (0,), b""))
    # The data is itself a blob: nobody may take it for one.
    behind_good("blob-in-data", blob(OPAQUE, message([to_struct(0, 0, 0)]), GOOD))
    behind_good("popart-cut", opaque_of(b"popart", message([to_struct(0, 0, 4), 0, 0, 0, 0])[:-8]))
    nothings = message([to_struct(0, 0, 4), 0, to_list(2, 0, MOST), 0, 0])
    behind_good("popart-2-29-tensors", opaque_of(b"popart", nothings))
    behind_good("tensorflow-cut", opaque_of(b"tensorflow", b"\x08\x01\x7a\x20v2.6"))
    behind_good("tensorflow-not-utf8", opaque_of(b"tensorflow", b"\x08\x01\x7a\x04v2.\xff"))
    # A whole blob, and then the rest of another, of which the front is missing.
    behind_good("blob-without-front", GOOD[40:])
    behind_good("garbage-behind", b"garbage")
    behind_good("zeros-behind", bytes(32))
    behind_good("ones-behind", b"\xff" * 32)


# ---- compressed data ---------------------------------------------------------


def packed(data, size):
    return blob(EXECUTABLE, executable_info(size), data)


def zstd_of_zeros(blocks):
    """A frame whose blocks each say: 128 KiB of zeros. The format's own way to be small; 4 bytes a block."""
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([7 << 3])
    for index in range(blocks):
        last = index == blocks - 1
        frame += struct.pack("<I", last | 1 << 1 | (128 << 10) << 3)[:3] + b"\0"
    return frame


def lz4_of_zeros(length):
    """A frame with one block: a zero, and one match that repeats it."""
    block = b"\x1f\x00\x01\x00" + b"\xff" * ((length - 20) // 255) + bytes([(length - 20) % 255])
    block += b"\x00"
    frame = b"\x04\x22\x4d\x18\x60\x70\x73"
    return frame + struct.pack("<I", len(block)) + block + struct.pack("<I", 0)


def lz4_of_hello(header, behind=b""):
    """A frame with one block of five bytes as they are. The header's last byte is its checksum: xxh32, its second byte."""
    return b"\x04\x22\x4d\x18" + header + b"\x05\0\0\x80hello" + behind


# Deflate, one block of fixed codes: the letter a, a match of 3 bytes that begin 17 bytes earlier, the end.
DISTANCE_TOO_FAR = bytes.fromhex("4b040a0000")


def compressed():
    payload = b"".join(struct.pack("<I", number * number) for number in range(250))
    zeros = bytes(1 << 20)
    behind_good("bomb-zlib-1-mib", packed(zlib.compress(zeros, 9), 100))
    behind_good("bomb-gzip-16-mib", packed(gzip.compress(zeros, 9, mtime=0) * 16, 1 << 20))
    behind_good("bomb-zstd-1-gib", packed(zstd_of_zeros(8192), 1000))
    behind_good("bomb-zstd-10-gib", packed(zstd_of_zeros(81920), 1 << 20))
    behind_good("bomb-lz4-1-mib", packed(lz4_of_zeros(1 << 20), 100))
    behind_good("bomb-says-10-gib", packed(zlib.compress(zeros, 9), 10 << 30))
    behind_good("says-2-63", packed(zlib.compress(payload), 2**63))
    behind_good("zlib-early", packed(zlib.compress(payload)[:-200], len(payload)))
    behind_good("zlib-without-checksum", packed(zlib.compress(payload)[:-4], len(payload)))
    wrong_checksum = bytearray(zlib.compress(payload))
    wrong_checksum[-1] ^= 1
    behind_good("zlib-wrong-checksum", packed(bytes(wrong_checksum), len(payload)))
    behind_good("zlib-late", packed(zlib.compress(payload) + b"garbage", len(payload)))
    behind_good("zlib-twice", packed(zlib.compress(payload) * 2, 2 * len(payload)))
    behind_good("zlib-one-byte-less", packed(zlib.compress(payload), len(payload) - 1))
    behind_good("zlib-one-byte-more", packed(zlib.compress(payload), len(payload) + 1))
    behind_good("zlib-stored-length-lies", packed(b"\x78\x01\x01\x05\x00\x05\x00hello", 5))
    behind_good("zlib-distance-too-far", packed(b"\x78\x01" + DISTANCE_TOO_FAR, 100))
    behind_good("zlib-dictionary", packed(b"\x78\xbb\x00\x00\x00\x01\x03\x00", 5))
    behind_good("gzip-without-trailer", packed(gzip.compress(payload, mtime=0)[:-8], len(payload)))
    behind_good("gzip-mark-only", packed(b"\x1f\x8b", len(payload)))
    behind_good("gzip-endless-name", packed(b"\x1f\x8b\x08\x08" + b"\x00" * 6 + b"n" * 100, 5))
    behind_good("gzip-unknown-method", packed(b"\x1f\x8b\x07" + bytes(7) + b"\x03\x00" + bytes(8), 0))
    behind_good("gzip-distance-too-far", packed(b"\x1f\x8b\x08" + bytes(7) + DISTANCE_TOO_FAR + bytes(8), 100))
    behind_good("zstd-early", packed(zstd_of_zeros(3)[:-4], 3 * (128 << 10)))
    behind_good("zstd-mark-only", packed(b"\x28\xb5\x2f\xfd", 5))
    behind_good("zstd-window-2-41", packed(b"\x28\xb5\x2f\xfd\x00\xff" + zstd_of_zeros(1)[6:], 128 << 10))
    behind_good("zstd-reserved-block", packed(b"\x28\xb5\x2f\xfd\x00\x38" + b"\x07\x00\x00", 5))
    behind_good("zstd-dictionary", packed(b"\x28\xb5\x2f\xfd\x01\x38\x07\x29\x00\x00hello", 5))
    behind_good("zstd-content-length", packed(b"\x28\xb5\x2f\xfd\x20\x06\x29\x00\x00hello", 5))
    behind_good("zstd-reserved-bit", packed(b"\x28\xb5\x2f\xfd\x28\x05\x29\x00\x00hello", 5))
    too_many = b"\x28\xb5\x2f\xfd\x00\x68" + b"\x2d\x00\x00" + b"\x0d\x00\x30\x00" + b"\x00"
    behind_good("zstd-too-many-literals", packed(too_many, 3 << 16))
    behind_good("lz4-without-end", packed(lz4_of_zeros(1 << 16)[:-4], 1 << 16))
    behind_good("lz4-match-before-start", packed(lz4_of_zeros(1 << 10).replace(b"\x1f\0\1\0", b"\x1f\0\xff\0"), 1 << 10))
    behind_good("lz4-header-checksum", packed(b"\x04\x22\x4d\x18\x60\x70\x74" + bytes(4), 0))
    behind_good("lz4-dictionary", packed(lz4_of_hello(b"\x61\x70\x01\0\0\0\x2e", bytes(4)), 5))
    behind_good("lz4-version-2", packed(lz4_of_hello(b"\xa0\x70\x5d", bytes(4)), 5))
    behind_good("lz4-block-checksum", packed(lz4_of_hello(b"\x70\x70\x72", bytes(8)), 5))
    behind_good("lz4-content-checksum", packed(lz4_of_hello(b"\x64\x70\xb9", bytes(8)), 5))
    behind_good("lz4-legacy", packed(b"\x02\x21\x4c\x18" + lz4_of_hello(b"")[4:], 5))
    behind_good("lz4-content-length", packed(lz4_of_hello(b"\x68\x70\x06" + bytes(7) + b"\xaa", bytes(4)), 5))
    behind_good("compressed-unknown", packed(b"BZh91AY&SY", 5))
    behind_good("compressed-no-data", packed(b"", 5))


def main():
    for old in FOLDER.glob("*.popef"):
        old.unlink()
    for make in (headers, sizes, segment_tables, pointers, metadatas, datas, compressed):
        make()
    named = {line.split()[1] for line in (FOLDER / "table.txt").read_text().splitlines() if line.startswith("file:")}
    made = {path.name for path in FOLDER.glob("*.popef")}
    assert named == made, f"table.txt and the files differ: {sorted(named ^ made)}"


if __name__ == "__main__":
    main()

"""Writes payload.bin and the .popef files of this folder.

Each file holds one poplarExecutable blob named "model". Its messages are
written by pycapnp (the official Cap'n Proto C++ library), its data by zlib,
gzip, zstandard and lz4, so no byte here comes from this project's own code.
README.md beside this file says what each one holds. To make them again:

    pip install pycapnp==2.2.4 zstandard==0.25.0 lz4==4.4.5
    python make_compressed.py

Another version of a compressor may write other bytes of the same meaning.
"""

import gzip
import io
import itertools
import random
import struct
import zlib
from pathlib import Path

import capnp
import lz4.frame
import zstandard

FOLDER = Path(__file__).parent
popef = capnp.load(str(FOLDER / "../../popef/schema/popef.capnp"))

PAYLOAD = bytes((i * i >> 3) & 0xFF for i in range(100_000))
NOT_COMPRESSED = 2**64 - 1


def executable_blob(data, uncompressed_size, name="model"):
    info = popef.PoplarExecutable.new_message(name=name, uncompressedSize=uncompressed_size)
    content = info.to_bytes() + data
    # The header's length does not depend on the size it states.
    size = len(header_bytes(0)) + len(content)
    return header_bytes(size) + content


def header_bytes(size):
    return popef.BlobHeader.new_message(version="", type="poplarExecutable", size=size).to_bytes()


def write(name, data, uncompressed_size=len(PAYLOAD)):
    (FOLDER / f"{name}.popef").write_bytes(executable_blob(data, uncompressed_size))


def gzip_with_name(data):
    out = io.BytesIO()
    with gzip.GzipFile(filename="payload.bin", mode="wb", fileobj=out, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def zstd(data, **options):
    return zstandard.ZstdCompressor(level=3, **options).compress(data)


def lz4_frame(data, linked=False, checksum=False):
    # Blocks of 64 KiB: the payload takes two, so that linked blocks do refer
    # to the block before.
    return lz4.frame.compress(
        data,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=linked,
        content_checksum=checksum,
    )


def skippable(content):
    """A frame that zstd and LZ4 decoders pass over (RFC 8878, section 3.1.2)."""
    return struct.pack("<II", 0x184D2A50 + len(content) % 16, len(content)) + content


def with_skippable(compress):
    """The payload in two frames, with some to be skipped before, between and behind them, as pzstd writes them."""
    sizes = [skippable(struct.pack("<I", size)) for size in (60_000, 40_000)]
    first, second = compress(PAYLOAD[:60_000]), compress(PAYLOAD[60_000:])
    return sizes[0] + first + skippable(b"") + sizes[1] + second + skippable(bytes(50_000))


def in_two(compress):
    """The payload as two compressed parts, one after the other."""
    return compress(PAYLOAD[:60_000]) + compress(PAYLOAD[60_000:])


def poplar_container(version):
    """A Poplar executable as docs/FORMAT.md describes it: the payload's first
    90,000 bytes as the archive, in two LZ4 frames, the rest as the metadata,
    in one."""
    archive = lz4_frame(PAYLOAD[:50_000]) + lz4_frame(PAYLOAD[50_000:90_000])
    metadata = lz4_frame(PAYLOAD[90_000:])
    magic = f"GC_EXE_{version}".encode("ascii")
    sizes = struct.pack("<4Q", 90_000, len(archive), 10_000, len(metadata))
    return magic + sizes + archive + metadata


def content(random, length, reach=70_000):
    """Bytes of which some repeat: runs, what stood up to `reach` bytes before, noise."""
    out = bytearray()
    while len(out) < length:
        size = min(int(random.expovariate(100 / length)) + 1, length - len(out))
        kind = random.random()
        if kind < 0.3:
            out += random.randbytes(random.choice([1, 1, 2, 3, 7])) * size
        elif kind < 0.9 and out:
            start = random.randrange(max(0, len(out) - reach), len(out))
            out += out[start : start + size]
        else:
            out += random.randbytes(min(size, 100))
        del out[length:]
    return bytes(out)


def lz4_frames(random, parts, pieces=1, **settings):
    """A frame for each part, and behind some a frame to be skipped. The compressor is given each part in so many
    pieces, each of which ends a block."""
    packed = b""
    for part in parts:
        compressor = lz4.frame.LZ4FrameCompressor(auto_flush=pieces > 1, **settings)
        has_size = random.random() < 0.5
        packed += compressor.begin(source_size=len(part) if has_size else 0)
        step = len(part) // pieces + 1
        packed += b"".join(compressor.compress(part[at : at + step]) for at in range(0, len(part), step))
        packed += compressor.flush()
        if random.random() < 0.2:
            packed += skippable(b"between")
    assert b"".join(lz4_parts(packed)) == b"".join(parts)
    return packed


def lz4_parts(packed):
    """What the frames hold, by liblz4 itself."""
    while packed:
        part, read = lz4.frame.decompress(packed, return_bytes_read=True)
        yield part
        packed = packed[read:]
        while packed[1:4] == b"\x2a\x4d\x18":
            packed = packed[8 + struct.unpack("<I", packed[4:8])[0] :]


def blob_of(packed, parts):
    """An executable named by the CRC-32 of what it unpacks to."""
    whole = b"".join(parts)
    return executable_blob(packed, len(whole), f"{zlib.crc32(whole):08x}")


def lz4_settings():
    """Executables packed as LZ4 frames of all settings."""
    seeded = random.Random(4)
    sizes = [lz4.frame.BLOCKSIZE_MAX64KB, lz4.frame.BLOCKSIZE_MAX256KB, lz4.frame.BLOCKSIZE_MAX1MB]
    sizes.append(lz4.frame.BLOCKSIZE_MAX4MB)
    names = ("block_size", "block_linked", "block_checksum", "content_checksum")
    blobs = []

    def add(lengths, pieces=1, **settings):
        parts = [content(seeded, length) for length in lengths]
        level = seeded.choice([-5, 0, 0, 9])
        blobs.append(blob_of(lz4_frames(seeded, parts, pieces, compression_level=level, **settings), parts))

    # Small enough that each byte can be changed.
    add([1000, 0, 700], 5, block_linked=True, block_checksum=True, content_checksum=True)
    for values in itertools.product(sizes, *[[False, True]] * 3):
        settings = dict(zip(names, values, strict=True))
        add([int(10 ** seeded.uniform(0, 4)) - 1 for _ in range(seeded.randrange(1, 5))], **settings)
        add([int(10 ** seeded.uniform(1, 5))], seeded.choice([2, 20, 300]), **settings)
    for linked in (False, True):
        add([400_000], seeded.randrange(1, 9), block_linked=linked, block_size=sizes[0])
        add([5_000_000], block_linked=linked, block_size=sizes[3])
    return b"".join(blobs)


def zstd_frame(part, in_one, **settings):
    parameters = zstandard.ZstdCompressionParameters.from_level(settings.pop("level"), **settings)
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    if in_one:
        return compressor.compress(part)
    stream = compressor.compressobj()
    step = len(part) // 3 + 1
    pieces = (stream.compress(part[at : at + step]) for at in range(0, len(part), step))
    blocks = b"".join(piece + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for piece in pieces)
    return blocks + stream.flush()


def zstd_settings():
    """Executables packed as zstd frames of many settings. The first frame of each begins with Poplar's mark."""
    seeded = random.Random(5)
    blobs = []
    for window_log, has_size, has_checksum in itertools.product((10, 14, 17, 18, 21, 23), *[[False, True]] * 2):
        lengths = [int(10 ** seeded.uniform(0, 4)) - 1 for _ in range(seeded.randrange(3))]
        parts = [b"GC_EXE_3" + content(seeded, length, 300_000) for length in (300_000, *lengths)]
        settings = {"window_log": window_log, "write_content_size": has_size, "write_checksum": has_checksum}
        packed = [zstd_frame(part, has_size, level=seeded.choice([1, 3, 19]), **settings) for part in parts]
        blobs.append(blob_of(b"".join(packed), parts))
    return b"".join(blobs)


def main():
    (FOLDER / "payload.bin").write_bytes(PAYLOAD)

    for level in (1, 6, 9):
        write(f"zlib-{level}", zlib.compress(PAYLOAD, level))

    write("gzip", gzip.compress(PAYLOAD, mtime=0))
    write("gzip-name", gzip_with_name(PAYLOAD))
    write("gzip-two-members", in_two(lambda part: gzip.compress(part, mtime=0)))

    write("zstd", zstd(PAYLOAD))
    write("zstd-checksum", zstd(PAYLOAD, write_checksum=True))
    write("zstd-no-size", zstd(PAYLOAD, write_content_size=False))
    write("zstd-two-frames", in_two(zstd))

    write("zstd-skippable", with_skippable(zstd))

    write("lz4", lz4_frame(PAYLOAD))
    write("lz4-checksum", lz4_frame(PAYLOAD, checksum=True))
    write("lz4-linked", lz4_frame(PAYLOAD, linked=True))
    write("lz4-two-frames", in_two(lz4_frame))
    write("lz4-skippable", with_skippable(lz4_frame))

    (FOLDER / "lz4-settings.popef").write_bytes(lz4_settings())
    (FOLDER / "zstd-settings.popef").write_bytes(zstd_settings())

    container = poplar_container(3)
    write("plain-poplar", container, NOT_COMPRESSED)
    write("plain-poplar-1", poplar_container(1), NOT_COMPRESSED)
    write("plain-poplar-2", poplar_container(2), NOT_COMPRESSED)
    write("zlib-poplar", zlib.compress(container), len(container))


if __name__ == "__main__":
    main()

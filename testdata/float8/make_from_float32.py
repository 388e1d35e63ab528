"""Writes e4m3fnuz-from.txt and e5m2fnuz-from.txt: what float32 numbers become as 8-bit floats.

A line is the bits of a float32, the byte that ml_dtypes casts it to, and the
byte of the same number after it was clipped to the largest finite ones, which
is what saturation means. Rounding changes its result only at the midpoints
between neighbours, so these are there, each with the float32 numbers right
below and above it, and so is every value with its own neighbours. Made with
ml_dtypes 0.6.0 and numpy 2.4.6:

    pip install ml_dtypes==0.6.0 numpy==2.4.6
    python make_from_float32.py
"""

from pathlib import Path

import ml_dtypes
import numpy

FOLDER = Path(__file__).parent
TYPES = {
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
# Zero, the smallest and the largest subnormal, the smallest normal and the largest number of float32, infinity, NaN of
# several payloads, one of them signalling.
SPECIAL = [0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF]


def places(dtype):
    """The numbers at which something can change, without sign."""
    values = numpy.arange(128, dtype=numpy.uint8).view(dtype).astype(numpy.float64)
    # What would come after the largest, if there were more exponents.
    beyond = 2 * values[-1] - values[-2]
    midpoints = (values + numpy.append(values[1:], beyond)) / 2
    exact = numpy.concatenate([values, midpoints, [beyond]])
    single = exact.astype(numpy.float32)
    assert (single == exact).all()
    up, down = numpy.float32(numpy.inf), numpy.float32(-numpy.inf)
    near = numpy.concatenate([single, numpy.nextafter(single, up), numpy.nextafter(single, down)])
    return numpy.abs(near).view(numpy.uint32)


for name, dtype in TYPES.items():
    largest = numpy.array([0x7F], dtype=numpy.uint8).view(dtype).astype(numpy.float32)[0]
    magnitudes = numpy.unique(numpy.concatenate([places(dtype), numpy.array(SPECIAL, dtype=numpy.uint32)]))
    bits = numpy.concatenate([magnitudes, magnitudes | 0x80000000])
    numbers = bits.view(numpy.float32)
    with numpy.errstate(invalid="ignore"):
        cast = numbers.astype(dtype).view(numpy.uint8)
        saturated = numpy.clip(numbers, -largest, largest).astype(dtype).view(numpy.uint8)
    rows = zip(bits, cast, saturated, strict=True)
    lines = (f"{number:#010x} {byte:#04x} {clipped:#04x}\n" for number, byte, clipped in rows)
    (FOLDER / f"{name}-from.txt").write_text("".join(lines), encoding="ascii")

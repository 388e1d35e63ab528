"""Writes e4m3fnuz.txt and e5m2fnuz.txt: what each byte of an 8-bit float means.

One line for each of the 256 bytes: the byte, then the bits of the float32 with
the same value. Made with ml_dtypes 0.6.0 and numpy 2.4.6:

    pip install ml_dtypes==0.6.0 numpy==2.4.6
    python make_float8.py
"""

from pathlib import Path

import ml_dtypes
import numpy

FOLDER = Path(__file__).parent
TYPES = {
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}

for name, dtype in TYPES.items():
    bits = numpy.arange(256, dtype=numpy.uint8).view(dtype).astype(numpy.float32).view(numpy.uint32)
    lines = (f"{byte:#04x} {value:#010x}\n" for byte, value in enumerate(bits))
    (FOLDER / f"{name}.txt").write_text("".join(lines), encoding="ascii")

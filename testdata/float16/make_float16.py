"""Writes float32.bin: what each of the 65,536 patterns of a 16-bit float means.

For each pattern, from 0 on, the bits of the float32 with the same value, little
endian. Made with numpy 2.4.6:

    pip install numpy==2.4.6
    python make_float16.py
"""

from pathlib import Path

import numpy

patterns = numpy.arange(1 << 16, dtype=numpy.uint16).view(numpy.float16)
(Path(__file__).parent / "float32.bin").write_bytes(patterns.astype("<f4").tobytes())

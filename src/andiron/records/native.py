"""The compiled half of each pair, where it was compiled: native/ behind the same signatures as the other half.

    repeat    repeat.c    twin in broker/node/shortcut.py
    check     check.c     twin in validate.py
    crc32c    crc32c.c    twin in crc32c.py
    walk      walk.c      twin of walk.py
    seek      seek.c      twin in seek.py

Each is None where the extension is not there: no compiler was at hand when Andiron was installed, or
ANDIRON_NATIVE=0 is set. Then checksums cost a copy, and of large batches fewer records are looked at:
validate.py tells how many.
"""

from __future__ import annotations

from andiron.records.walk import Walk

try:
    from andiron.records import _native
except ImportError:
    _there = False
else:
    _there = _native.EDITION == 2  # another was built from sources that have changed since

repeat = _native.repeat if _there else None
check = _native.check if _there else None
crc32c = _native.crc32c if _there else None
walk: Walk | None = _native.walk if _there else None
seek = _native.seek if _there else None

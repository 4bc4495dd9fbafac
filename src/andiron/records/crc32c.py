"""CRC-32C, the checksum in every batch header: the wheel, behind one name.

In Python it would run at 5 MB/s, so the wheel is a hard dependency. Its package also
imports a command line and importlib.metadata: measured, some 45 ms of a start, where the
extension by itself takes 6. So the extension is loaded by itself; should a later wheel
keep it elsewhere, the package is imported like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import cast

Checksum = Callable[[bytes | bytearray | memoryview], int]


def _load() -> Checksum:
    package = PathFinder.find_spec("crc32c")
    inside = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec("crc32c._crc32c", inside) if inside else None
    if spec is None or spec.loader is None:
        return cast(Checksum, import_module("crc32c").crc32c)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Checksum, module.crc32c)


crc32c: Checksum = _load()

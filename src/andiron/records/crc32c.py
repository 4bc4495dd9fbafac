"""CRC-32C, the checksum in every batch header, behind one name.

    crc32c(data)                  of all of it
    crc32c(data, start, stop)     of a part, for which nobody makes a view

In Python it would run at 5 MB/s. native/crc32c.c runs at 24 GB/s where it was compiled; elsewhere the wheel
google-crc32c does, which reads nothing but `bytes` and so is given a copy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from andiron.records import native

Bytes = bytes | bytearray | memoryview


class Checksum(Protocol):
    """A checksum of bytes, or of those from `start` up to `stop`."""

    def __call__(self, data: Bytes, start: int = ..., stop: int = ..., /) -> int: ...


def by_wheel() -> Checksum:
    """The checksum of google-crc32c."""
    value = import_module("google_crc32c").value

    def checksum(data: Bytes, start: int = 0, stop: int | None = None, /) -> int:
        checked: int = value(bytes(memoryview(data)[start:stop]))
        return checked

    return checksum


crc32c: Checksum = native.crc32c or by_wheel()

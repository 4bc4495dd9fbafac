"""CRC-32C, by its published check values, however it was loaded."""

from __future__ import annotations

import importlib

import pytest

from andiron.records import crc32c as module
from andiron.records.crc32c import crc32c


@pytest.mark.parametrize(
    ("data", "checksum"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_known_bytes_have_their_known_checksum(data, checksum):
    assert crc32c(data) == checksum
    assert crc32c(bytearray(data)) == checksum
    assert crc32c(memoryview(b"x" + data)[1:]) == checksum


def test_the_package_can_still_be_imported_beside_it():
    assert importlib.import_module("crc32c").crc32c(b"123456789") == crc32c(b"123456789")


def test_the_package_is_used_where_its_extension_is_not_found(monkeypatch):
    monkeypatch.setattr(module.PathFinder, "find_spec", lambda *where: None)

    assert module._load()(b"123456789") == 0xE3069283

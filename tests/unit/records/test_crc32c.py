"""CRC-32C, by its published check values, whoever computes it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from andiron.records.crc32c import by_wheel, crc32c

KNOWN = [
    (b"", 0),
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
]


@pytest.mark.parametrize("checksum", [crc32c, by_wheel()], ids=["here", "wheel"])
@pytest.mark.parametrize(("data", "known"), KNOWN)
def test_known_bytes_have_their_known_checksum(data, known, checksum):
    assert checksum(data) == known
    assert checksum(bytearray(data)) == known
    assert checksum(memoryview(b"x" + data)[1:]) == known
    assert checksum(b"abc" + data + b"de", 3, 3 + len(data)) == known


def test_bytes_of_any_length_and_alignment_have_the_checksum_that_the_wheel_gives_them():
    data, other = os.urandom(40_000), by_wheel()
    lengths = [*range(70), *range(760, 780), 6143, 6144, 6145, 12_288, 24_600, 39_990]

    assert [crc32c(data, n % 9, n % 9 + n) for n in lengths] == [
        other(data, n % 9, n % 9 + n) for n in lengths
    ]


def test_nothing_is_read_beyond_the_end():
    for start, stop in ((0, 4), (-1, 2), (2, 1)):
        with pytest.raises(IndexError):
            crc32c(b"abc", start, stop)


def test_without_the_extension_the_wheel_is_used():
    ask = "from andiron.records import native, crc32c; print(native.crc32c is None, crc32c.crc32c(b'123456789'))"
    off = os.environ | {"ANDIRON_NATIVE": "0"}
    told = subprocess.run([sys.executable, "-c", ask], env=off, capture_output=True, text=True, check=True)

    assert told.stdout.split() == ["True", str(0xE3069283)]

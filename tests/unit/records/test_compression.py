"""The codecs: both ways, in the dialects of others, damaged, and as bombs."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys

import cramjam
import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.compression import (
    CODECS,
    GZIP,
    LZ4,
    NAMES,
    NONE,
    SNAPPY,
    ZSTD,
    compress,
    decompress,
)

TEXT = b"".join(b"line %d of something that repeats itself; " % n for n in range(5000))
PACKED = [GZIP, SNAPPY, LZ4, ZSTD]
ALL = [NONE, *PACKED]


def refusal(codec, data, **more):
    with pytest.raises(ProtocolError) as refused:
        decompress(codec, data, **more)
    return refused.value


@pytest.mark.parametrize("codec", ALL)
@pytest.mark.parametrize(
    "data", [b"", b"x", TEXT, bytes(range(256)) * 10], ids=["none", "one", "text", "noise"]
)
def test_what_is_packed_is_unpacked(codec, data):
    assert decompress(codec, compress(codec, data)) == data


@pytest.mark.parametrize("codec", ALL)
def test_any_kind_of_buffer_will_do(codec):
    packed = compress(codec, memoryview(bytearray(TEXT)))

    assert decompress(codec, memoryview(bytearray(packed))) == TEXT


@pytest.mark.parametrize("codec", PACKED)
def test_text_becomes_smaller(codec):
    assert len(compress(codec, TEXT)) < len(TEXT) / 4


@pytest.mark.parametrize(
    ("codec", "levels"), [(GZIP, [-1, 1, 6, 9]), (LZ4, [1, 9, 12, 17]), (ZSTD, [-131072, -5, 1, 3, 19, 22])]
)
def test_every_level_of_the_settings_is_taken(codec, levels):
    for level in levels:
        assert decompress(codec, compress(codec, TEXT, level)) == TEXT


@pytest.mark.parametrize(("codec", "low", "high"), [(GZIP, 1, 9), (LZ4, 3, 12), (ZSTD, 1, 19)])
def test_a_level_makes_a_difference(codec, low, high):
    assert compress(codec, TEXT, low) != compress(codec, TEXT, high)


@pytest.mark.parametrize(("codec", "level"), [(GZIP, 6), (GZIP, -1), (LZ4, 9), (ZSTD, 3)])
def test_the_default_level_is_kafkas(codec, level):
    assert compress(codec, TEXT) == compress(codec, TEXT, level)


def test_codecs_have_the_names_of_the_settings():
    assert NAMES == ("none", "gzip", "snappy", "lz4", "zstd")
    assert [CODECS[name] for name in NAMES] == ALL
    assert CODECS["uncompressed"] == NONE


def test_snappy_is_written_in_the_framing_java_reads():
    packed = compress(SNAPPY, bytes(40_000))

    assert packed[:16] == b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    (first,) = struct.unpack_from(">i", packed, 16)
    (second,) = struct.unpack_from(">i", packed, 20 + first)
    assert len(packed) == 24 + first + second
    assert cramjam.snappy.decompress_raw_len(packed[20 : 20 + first]) == 32 * 1024


def test_bare_snappy_is_read_too():
    assert decompress(SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT))) == TEXT


def test_lz4_is_written_in_independent_blocks():
    flags = compress(LZ4, TEXT)[4]

    assert flags & 0x20, "Java refuses blocks that lean on each other"
    assert not flags & 0x04, "no checksum of the content"


def test_linked_lz4_blocks_are_read_too():
    assert decompress(LZ4, bytes(cramjam.lz4.compress(TEXT))) == TEXT


@pytest.mark.parametrize("codec", PACKED)
def test_streams_that_follow_each_other_are_one(codec):
    assert decompress(codec, compress(codec, b"one, ") + compress(codec, b"two")) == b"one, two"


@pytest.mark.parametrize("codec", PACKED)
def test_a_bomb_is_refused_at_the_cap(codec):
    bomb = compress(codec, bytes(3_000_000))

    error = refusal(codec, bomb, cap=1_000_000)

    assert error.code is ErrorCode.MESSAGE_TOO_LARGE  # its producer may split it
    assert "1000000" in error.detail
    assert len(decompress(codec, bomb, cap=3_000_000)) == 3_000_000


def test_what_unpacks_to_far_more_than_guessed_is_unpacked_all_the_same():
    assert decompress(ZSTD, compress(ZSTD, bytes(20_000_000))) == bytes(20_000_000)


def test_a_snappy_length_that_cannot_be_true_costs_no_memory():
    lie = b"\xff\xff\xff\x7f" + b"\x00" * 10  # 256 MiB less one, out of ten bytes

    assert refusal(SNAPPY, lie).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("cut", [0, 1, 5, 17, -1])
def test_a_stream_cut_short_is_invalid(codec, cut):
    packed = compress(codec, TEXT)

    assert refusal(codec, packed[:cut]).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", PACKED)
def test_bytes_of_another_kind_are_invalid(codec):
    assert refusal(codec, b"\xffthis is not packed at all, is it?").code is ErrorCode.INVALID_RECORD


def test_a_snappy_block_longer_than_the_data_is_invalid():
    packed = bytearray(compress(SNAPPY, b"something"))
    struct.pack_into(">i", packed, 16, 1000)

    assert refusal(SNAPPY, packed).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [-1, 5, 7])
def test_there_is_no_other_codec(codec):
    assert refusal(codec, b"data").code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    with pytest.raises(ProtocolError):
        compress(codec, b"data")


def test_gzip_of_anyone_is_read():
    assert decompress(GZIP, gzip.compress(TEXT)) == TEXT


def test_a_node_that_opens_no_batch_never_loads_the_codecs():
    script = "import sys, andiron.records.validate, andiron.records.control; print('cramjam' in sys.modules)"

    asked = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert asked.stdout.strip() == "False"

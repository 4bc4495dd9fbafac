"""What a batch's records are packed with: gzip, snappy, lz4 and zstd, as other clients write and read them.

    attributes & 7      0 none   1 gzip   2 snappy   3 lz4   4 zstd

Two of the four have dialects. Java frames snappy in blocks of its own ("xerial"), librdkafka
writes it bare: both are read, the first is written. Java reads lz4 frames only if their blocks
are independent of each other, which is not what cramjam writes unless told.

The law: what comes in may be a bomb, so nothing is unpacked without a cap. Output goes into a
buffer that grows step by step; it is never as long as the data says, but as long as it proves.

cramjam is imported at first use: a node whose producers do not pack never pays for it.
"""

from __future__ import annotations

import struct
from importlib import import_module
from typing import TYPE_CHECKING, Final

from andiron.model.errors import ErrorCode

if TYPE_CHECKING:
    from types import ModuleType

Bytes = bytes | bytearray | memoryview

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
NAMES: Final = ("none", "gzip", "snappy", "lz4", "zstd")
CODECS: Final = {name: codec for codec, name in enumerate(NAMES)} | {"uncompressed": NONE}  # topics say it so

UNPACKED_BYTES_MAX: Final = 256 * 1024 * 1024  # far beyond any batch a client will build

LZ4_LEVEL_DEFAULT = 9  # in Kafka's settings this number means the fast compressor, not level 9
GZIP_LEVEL_DEFAULT, ZSTD_LEVEL_DEFAULT = 6, 3

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)  # version, oldest version able to read it
_XERIAL_BLOCK_BYTES = 32 * 1024
_XERIAL_AGAIN = struct.unpack_from(">i", _XERIAL_MAGIC)[0]  # where a length should be: a stream was appended
_BLOCK_LENGTH = struct.Struct(">i")
_SNAPPY_RATIO_MAX = 22  # the best it can do is 64 bytes out of 3

_GUESS = 4  # times the packed size at first, and times that whenever it was too little
_OUTPUT_IS_FULL = "failed to write whole buffer"  # cramjam's words for an output too short


def compress(codec: int, data: Bytes, level: int | None = None) -> bytes:
    """`data` packed with `codec`; `level` as in compression.<codec>.level, None for the default."""
    if codec == NONE:
        return bytes(data)
    cramjam = _cramjam(codec)
    if codec == GZIP:
        gzip_level = GZIP_LEVEL_DEFAULT if level is None or level < 0 else level
        return bytes(cramjam.gzip.compress(data, level=gzip_level))
    if codec == SNAPPY:
        return _xerial(cramjam, data)
    if codec == LZ4:
        fast = level is None or level == LZ4_LEVEL_DEFAULT
        frame = cramjam.lz4.Compressor(level=0 if fast else level, content_checksum=False, block_linked=False)
        frame.compress(bytes(data))  # it takes nothing else
        return bytes(frame.finish())
    return bytes(cramjam.zstd.compress(data, level=ZSTD_LEVEL_DEFAULT if level is None else level))


def decompress(codec: int, data: Bytes, cap: int = UNPACKED_BYTES_MAX) -> bytes:
    """What `data` was packed from; INVALID_RECORD if it is damaged, MESSAGE_TOO_LARGE if it exceeds `cap` bytes."""
    return bytes(unpacked(codec, data, cap))


def unpacked(codec: int, data: Bytes, cap: int = UNPACKED_BYTES_MAX, room: bytearray | None = None) -> Bytes:
    """The same for those who only look at it: a view of what it was unpacked into, which is `room` if it fits there."""
    if codec == NONE:
        return data
    cramjam = _cramjam(codec)
    try:
        if codec == SNAPPY:
            return _unsnappy(cramjam, data, cap)
        module = {GZIP: cramjam.gzip, LZ4: cramjam.lz4, ZSTD: cramjam.zstd}[codec]
        return _unpack(cramjam, module, data, cap, room)
    except cramjam.DecompressionError as error:
        raise ErrorCode.INVALID_RECORD.error(f"{NAMES[codec]}: {error}") from error


def _cramjam(codec: int) -> ModuleType:
    if not NONE <= codec <= ZSTD:
        raise ErrorCode.UNSUPPORTED_COMPRESSION_TYPE.error(f"there is no codec {codec}")
    return import_module("cramjam")


def _unpack(
    cramjam: ModuleType, module: ModuleType, data: Bytes, cap: int, room: bytearray | None
) -> memoryview:
    """Unpack into the room that there is, or a buffer of a guessed size, then into larger ones up to the cap."""
    out = bytearray(min(cap, _GUESS * len(data) + 1024)) if room is None or len(room) > cap else room
    while True:
        try:
            written = module.decompress_into(data, out)
        except cramjam.DecompressionError as error:
            if _OUTPUT_IS_FULL not in str(error):
                raise
            if len(out) >= cap:
                raise _too_long(cap) from error
            out = bytearray(min(cap, len(out) * _GUESS))
        else:
            return memoryview(out)[:written]


def _xerial(cramjam: ModuleType, data: Bytes) -> bytes:
    """Snappy in Java's framing: a header, then blocks each behind its length."""
    view = memoryview(data)
    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = memoryview(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        out += _BLOCK_LENGTH.pack(len(block))
        out += block
    return bytes(out)


def _unsnappy(cramjam: ModuleType, data: Bytes, cap: int) -> bytes:
    """Snappy with Java's framing or without any."""
    view = memoryview(data)
    blocks = _xerial_blocks(view) if view[: len(_XERIAL_MAGIC)] == _XERIAL_MAGIC else [view]
    parts, total = [], 0
    for block in blocks:
        length = cramjam.snappy.decompress_raw_len(block)
        total += length
        if total > cap:
            raise _too_long(cap)
        if length > _SNAPPY_RATIO_MAX * len(block):  # a lie: allocate nothing for it
            raise ErrorCode.INVALID_RECORD.error(f"snappy: {length} bytes out of {len(block)}")
        parts.append(bytes(cramjam.snappy.decompress_raw(block)))
    return b"".join(parts)


def _xerial_blocks(view: memoryview) -> list[memoryview]:
    blocks = []
    pos, end = len(_XERIAL_HEADER), len(view)
    while pos + _BLOCK_LENGTH.size <= end:
        (length,) = _BLOCK_LENGTH.unpack_from(view, pos)
        if length == _XERIAL_AGAIN:
            pos += len(_XERIAL_HEADER)
            continue
        pos += _BLOCK_LENGTH.size
        if not 0 <= length <= end - pos:
            raise ErrorCode.INVALID_RECORD.error(f"snappy: a block of {length} bytes in {end - pos}")
        blocks.append(view[pos : pos + length])
        pos += length
    if pos != end:
        raise ErrorCode.INVALID_RECORD.error("snappy: cut short")
    return blocks


def _too_long(cap: int) -> Exception:
    return ErrorCode.MESSAGE_TOO_LARGE.error(f"the records unpack to more than {cap} bytes")

from typing import Any

EDITION: int

def repeat(frame: Any, head: int, prefix: bytes, flexible: bool, /) -> tuple[int, int, int] | None: ...
def check(
    records: Any, limits: tuple[int, bool, int, int, bool], now: int, zstd: bool, /
) -> tuple[int, ...] | None: ...
def crc32c(data: Any, start: int = 0, stop: int = ..., /) -> int: ...
def seek(
    data: Any, start: int, stop: int, base_timestamp: int, count: int, first: int, wanted: int, /
) -> tuple[int, int] | None: ...
def walk(
    data: Any,
    start: int,
    stop: int,
    base_timestamp: int,
    max_timestamp: int,
    count: int,
    earliest: int,
    latest: int,
    keyed: bool,
    told_max: int,
    /,
) -> tuple[int, int, tuple[tuple[int, int], ...]] | None: ...

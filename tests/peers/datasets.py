"""Records that try a broker's patience: nulls, empties, tombstones, headers of every kind, a few of 1 MB."""

from __future__ import annotations

import random

from peers.clients.base import Record

MB = 1_000_000
FIRST_TIME = 1_700_000_000_000
# A comma, an equals sign or a newline would be ambiguous in what kcat prints; all else may stand here.
HEADERS: tuple[tuple[tuple[str, bytes | None], ...], ...] = (
    (("trace", b"4bf92f3577b34da6"), ("trace", b"a second one of the same name"), ("nothing", None)),
    (),
    (("one", b"1"),),
    (("ключ", "значение".encode()),),
)


def assorted(count: int, seed: int = 0, large: int = 2) -> list[Record]:
    """`count` small records of all kinds with `large` values of 1 MB among them."""
    chance = random.Random(seed)
    found = [_small(number, chance) for number in range(count)]
    for each in range(large):
        # One that no codec can shrink and one that shrinks to nothing.
        value = chance.randbytes(MB) if each % 2 == 0 else b"andiron " * (MB // 8)
        found.insert((each + 1) * count // (large + 1), Record(b"large", value, timestamp=FIRST_TIME + count))
    return found


def _small(number: int, chance: random.Random) -> Record:
    key = (None, b"", b"key-%d" % (number % 97), chance.randbytes(16))[number % 4]
    value = (
        b"value %d " % number * chance.randrange(1, 12),
        chance.randbytes(chance.randrange(300)),
        None if key else b"no key",
        b"",
        b"\x00\n\r\t,=\xff",
    )[number % 5]
    return Record(key, value, HEADERS[number % 7 % len(HEADERS)], FIRST_TIME + number * 7)


def difference(expected: list[Record], found: list[Record]) -> str | None:
    """Where two lists part, in one line; None where they don't. A None timestamp or offset matches any."""
    for place, (want, got) in enumerate(zip(expected, found, strict=False)):
        for name in ("key", "value", "headers", "timestamp", "offset"):
            left, right = getattr(want, name), getattr(got, name)
            if left != right and not (left is None and name in ("timestamp", "offset")):
                return f"record {place}: {name} is {_short(right)}, not {_short(left)}"
    if len(expected) != len(found):
        return f"{len(found)} records, not {len(expected)}"
    return None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 120 else f"{text[:100]}… ({len(text)} characters)"

"""Requests that are legal by their schema, and meant badly.

A *sample* has extreme values everywhere: ends of ranges, nulls, empties, names of what is there and what is not. A
*flood* is one array of the schema, at any depth, filled with as many of the smallest elements as fit into some
megabytes: it is not encoded element by element but spliced, so that twenty megabytes take a moment. A *crowd* is the
same with as many elements as are let in, each with names and ids of its own.

    one element    … count=1 │ element │ …
    two            … count=2 │ element │ element │ …       what differs first is the count; by how much, the element
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from andiron.broker.handlers import HANDLERS
from andiron.broker.settings.listeners import Scope
from andiron.wire.apis import APIS
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.primitives import uvarint
from andiron.wire.schema import Field, Struct
from properties.wire_samples import sample

VERSIONS = [
    (handler.api, version)
    for handler in HANDLERS.values()
    for version in range(handler.served[0], handler.served[1] + 1)
]


class Flood(NamedTuple):
    """An API, a version, and the way to one of the arrays of its request."""

    key: int
    version: int
    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"{APIS[self.key].name} v{self.version} {'.'.join(self.path)}"

    def request(self, size: int) -> bytes:
        """One of about `size` bytes."""
        one, two = self._with(1), self._with(2)
        at = next(i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
        flexible = self.version >= APIS[self.key].flexible_since
        element = one[at + 1 : at + 1 + len(two) - len(one)]
        assert element and two == one[:at] + two[at : at + 1] + element + one[at + 1 :]
        count = max(1, size // len(element))
        body = one[: at if flexible else at - 3]
        body += uvarint(count + 1) if flexible else count.to_bytes(4, "big")
        return self.header() + body + element * count + one[at + 1 + len(element) :]

    def crowd(self, count: int) -> bytes:
        """One of `count` elements that all differ."""
        return self.header() + self._with(count, distinct=True)

    @property
    def most(self) -> int:
        """How many elements are let in."""
        return HANDLERS[self.key].entries_max - len(self.path)

    @property
    def listener(self) -> str:
        """Where it is served."""
        return "PLAINTEXT" if Scope.BROKER in HANDLERS[self.key].scope else "CONTROLLER"

    def header(self) -> bytes:
        return encode_request_header(self.key, self.version, 1, "fuzz")

    def _with(self, count: int, distinct: bool = False) -> bytes:
        message = APIS[self.key].request()
        elements = _fill(message, self.path, count, self.version)
        for number in range(count if distinct else 0):
            elements[number] = _named(elements[number], number)
        return encode_message(message, self.version)


def _fill(made: Any, path: tuple[str, ...], count: int, version: int) -> list[Any]:
    """Have one element in each array on the way, and `count` in the last, which is returned."""
    field = next(each for each in made.__fields__ if each.name == path[0])
    if field.kind == "nested":
        inner = field.of()
        setattr(made, field.name, inner)
        return _fill(inner, path[1:], count, version)
    several = 1 if path[1:] else count
    elements = [_element(field.of, version) for _ in range(several)]
    setattr(made, field.name, elements)
    return _fill(elements[0], path[1:], count, version) if path[1:] else elements


def _named(element: Any, number: int) -> Any:
    """The element with a name or a number of its own."""
    if not isinstance(element, Struct):
        named = {str: str(number), int: number % 128, bytes: number.to_bytes(16, "big")}
        return named.get(type(element), element)
    for field in element.__fields__:
        if field.kind in ("string", "uuid", "i32"):
            value = {"string": f"n{number}", "uuid": number.to_bytes(16, "big"), "i32": number}[field.kind]
            setattr(element, field.name, value)
    return element


def _element(of: Any, version: int) -> Any:
    if isinstance(of, Field):
        return None if version >= of.nullable else of.default
    made = of()
    for field in of.__fields__:
        if field.present(version) and version < field.nullable and getattr(made, field.name) is None:
            setattr(
                made,
                field.name,
                b"" if field.kind in ("data", "records") else [] if field.kind == "array" else "",
            )
    return made


def floods() -> list[Flood]:
    """Every array of every request that is served."""
    return [
        Flood(key, version, path) for key, version in VERSIONS for path in _arrays(APIS[key].request, version)
    ]


def _arrays(cls: type[Struct], version: int) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for field in cls.__fields__:
        if not field.present(version) or field.tagged(version):
            continue
        if field.kind == "array":
            found.append((field.name,))
        if field.kind in ("array", "nested") and isinstance(field.of, type):
            found += [(field.name, *path) for path in _arrays(field.of, version)]
    return found


def valid(chance: random.Random, of: tuple[int, int] | None = None) -> bytes:
    """An API in a version, or any, with values that tend to find bugs."""
    key, version = of or chance.choice(VERSIONS)
    body = encode_message(sample(APIS[key].request, version, chance), version)
    return encode_request_header(key, version, chance.getrandbits(31), "fuzz") + body


def mutated(request: bytes, chance: random.Random) -> bytes:
    """With bytes turned over, cut out, doubled or put in; now and then as it was."""
    data = bytearray(request)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at : at + chance.randrange(1, 9)] = chance.randbytes(chance.randrange(9))
            case 2:
                del data[at:]
            case 3:
                data[at:at] = data[: chance.randrange(20)]
            case 4 if at < len(data):
                data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
    return bytes(data)

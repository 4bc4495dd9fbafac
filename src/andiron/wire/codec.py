"""Messages to bytes and back: one encoder and one decoder per message and version, made on first use.

    encode = encoder(ProduceResponse, 9)        encode(response, parts)
    decode = decoder(ProduceRequest, 9)         request, pos = decode(buf, pos, end)

The functions are printed from the declarations (decoders.py, encoders.py), compiled and kept;
`fn.source` is their text. Making one takes about half a millisecond, so a node makes those that
its clients speak and no others.

A decoder returns where it stopped and minds no bytes behind that: librdkafka leaves three after
the Metadata request for all topics, and Kafka does not look at them either.

`records` are read as views of the buffer they came in: copy them before it is used again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Sized
from typing import Any, Protocol, TypeVar, cast

from andiron.wire.decoders import decoder_source
from andiron.wire.encoders import encoder_source
from andiron.wire.primitives import Buffer, UnencodableMessage
from andiron.wire.schema import FIXED, Field, Message, Struct

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Decoder(Protocol[T_co]):
    """Read a message at `pos`, nothing beyond `end`; return it and where it ended."""

    source: str

    def __call__(self, buf: Buffer, pos: int, end: int, /) -> tuple[T_co, int]: ...


class Encoder(Protocol[T_contra]):
    """Append the message to `parts`: bytes, and each records object as it is."""

    source: str

    def __call__(self, message: T_contra, parts: list[Sized], /) -> None: ...


SLICE = 1_000  # elements, of about a microsecond each

_DECODERS: dict[tuple[type, int, int], Decoder[Any]] = {}
_ENCODERS: dict[tuple[type, int], Encoder[Any]] = {}
_SLICING_DECODERS: dict[tuple[type, int, int], Callable[..., Any]] = {}
_SLICING_ENCODERS: dict[tuple[type, int], Callable[..., Any]] = {}


def decoder(cls: type[T], version: int, entries_max: int = 0) -> Decoder[T]:
    """The function that reads this message in this version; of what strangers send, at most so many entries."""
    try:
        return _DECODERS[cls, version, entries_max]
    except KeyError:
        source = decoder_source(_versioned(cls, version), version, entries_max)
        made = _DECODERS[cls, version, entries_max] = cast(Decoder[T], source.function("decode"))
        return made


def slicing_decoder(
    cls: type[T], version: int, entries_max: int
) -> Callable[[Buffer, int, int], Generator[None, None, tuple[T, int]]]:
    """The same for a large message: it yields after every SLICE of elements."""
    key = (cls, version, entries_max)
    if key not in _SLICING_DECODERS:
        source = decoder_source(_versioned(cls, version), version, entries_max, SLICE)
        _SLICING_DECODERS[key] = source.function("decode")
    return _SLICING_DECODERS[key]


def encoder(cls: type[T], version: int) -> Encoder[T]:
    """The function that writes this message in this version."""
    try:
        return _ENCODERS[cls, version]
    except KeyError:
        source = encoder_source(_versioned(cls, version), version)
        source.names["explained"] = _explained
        made = _ENCODERS[cls, version] = cast(Encoder[T], source.function("encode"))
        return made


def slicing_encoder(
    cls: type[T], version: int
) -> Callable[[T, list[Any]], Generator[list[bytes], None, None]]:
    """The same for a large message: it yields after every SLICE of elements, each time all that is written."""
    if (cls, version) not in _SLICING_ENCODERS:
        source = encoder_source(_versioned(cls, version), version, SLICE)
        source.names["explained"] = _explained
        _SLICING_ENCODERS[cls, version] = source.function("encode")
    return _SLICING_ENCODERS[cls, version]


def decode_message(cls: type[T], version: int, buf: Buffer) -> T:
    """Read a message that begins the buffer."""
    return decoder(cls, version)(buf, 0, len(buf))[0]


def encode_message(message: object, version: int) -> bytes:
    """The bytes of a message whose records, if any, are bytes already."""
    parts: list[Any] = []
    encoder(type(message), version)(message, parts)
    return b"".join(parts)


def _versioned(cls: type, version: int) -> type[Message]:
    if not issubclass(cls, Message):
        raise TypeError(f"{cls.__name__} is not declared as a message")
    first, last = cls.__versions__
    if not first <= version <= last:
        raise ValueError(f"{cls.__name__} has versions {first} to {last}, not {version}")
    return cls


# ── what was wrong with a message that would not be encoded ──────────────────────────


def _explained(message: Message, version: int, error: Exception) -> UnencodableMessage:
    name = type(message).__name__
    wrong = _wrong_in_struct(message, version, name) or f"{name}: {error}"
    return UnencodableMessage(f"{wrong} (in v{version})")


def _wrong_in_struct(value: Struct, version: int, path: str) -> str | None:
    for field in value.__fields__:
        if field.present(version):
            where = f"{path}.{field.name}"
            wrong = _wrong_in_field(field, getattr(value, field.name), version, where)
            if wrong:
                return wrong
    return None


def _wrong_in_field(field: Field, value: Any, version: int, path: str) -> str | None:
    if value is None:
        absent = field.default is None and field.tagged(version)
        return None if absent or version >= field.nullable else f"{path} is null, which is not allowed"
    if field.kind == "array":
        for index, element in enumerate(value):
            wrong = _wrong_in_element(field.of, element, version, f"{path}[{index}]")
            if wrong:
                return wrong
    elif field.kind == "nested":
        return _wrong_in_element(field.of, value, version, path)
    elif field.kind in FIXED:
        try:
            struct.pack(f">{FIXED[field.kind][0]}", value)
        except struct.error as error:
            return f"{path} is {value!r}: {error}"
    elif field.kind == "string" and not isinstance(value, str):
        return f"{path} is {value!r}, not a string"
    return None


def _wrong_in_element(of: Any, value: Any, version: int, path: str) -> str | None:
    if isinstance(of, Field):
        return _wrong_in_field(of, value, version, path)
    if not isinstance(value, of):
        return f"{path} is {value!r}, not a {of.__name__}"
    return _wrong_in_struct(value, version, path)

"""How a message is declared: once, for all its versions, also flexible ones with tagged fields (KIP-482).

    @message(api_key=3, versions=(0, 13), flexible=9)
    class MetadataResponse:
        throttle_time_ms: int = i32(since=3)
        brokers: list[MetadataBroker] = array(MetadataBroker)
        cluster_id: str | None = string(since=2, nullable=2, default=None)

A class stands for the message in every version: a field that a version lacks keeps its
default when read and is left out when written. Fields are written in the order of their
declaration, which is therefore the protocol's; names are the protocol guide's in snake_case.

Each maker takes the same keywords:

    since, until    the versions that have the field, both ends included
    nullable        the first version in which it may be null; True for all
    default         what it holds unless told; 0, "", b"", [], False or 16 zero bytes if not given
    tag, tag_since  its number in the tagged section, and the first version in which it is there;
                    before that it stands among the others

A tagged field that equals its default is not written. A tagged struct is best declared
`x: S | None = nested(S, tag=0, default=None)`: None is then "absent", costs nothing to
make, and stands for the struct with all its defaults.

The classes behave as slotted dataclasses but are much cheaper to create, since a node must
start in a blink and declares hundreds: the constructor is compiled when first called.

Read next: codec.py, which turns these declarations into code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack, cast, dataclass_transform, overload

T = TypeVar("T")

NEVER = 1 << 15  # above every version
ZERO_UUID = bytes(16)
_UNSET: Any = object()

# kind -> (struct format, size on the wire) of the kinds that always take the same room
FIXED = {
    "i8": ("b", 1),
    "i16": ("h", 2),
    "i32": ("i", 4),
    "i64": ("q", 8),
    "u16": ("H", 2),
    "u32": ("I", 4),
    "f64": ("d", 8),
    "boolean": ("?", 1),
    "uuid": ("16s", 16),
}
NUMBERS = frozenset(FIXED) - {"uuid"}


class Place(TypedDict, total=False):
    """Where a field stands: the keywords that every maker takes."""

    since: int
    until: int
    tag: int
    tag_since: int


class NullablePlace(Place, total=False):
    """The same, of a kind that can be null."""

    nullable: int  # True counts as version 0 and on: all


class Field:
    """One row of a declaration."""

    __slots__ = ("default", "kind", "name", "nullable", "of", "since", "tag", "tag_since", "until")

    def __init__(
        self,
        kind: str,
        default: Any,
        of: Any = None,
        *,
        since: int = 0,
        until: int = NEVER,
        nullable: int = NEVER,
        tag: int | None = None,
        tag_since: int | None = None,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.default = default
        self.of = of  # array: the element's Field or struct class; nested: the struct class
        self.since = since
        self.until = until
        self.nullable = 0 if nullable is True else nullable
        self.tag = tag
        self.tag_since = since if tag_since is None else tag_since

    def present(self, version: int) -> bool:
        """Whether the version has this field at all."""
        return self.since <= version <= self.until

    def tagged(self, version: int) -> bool:
        """Whether it stands in the tagged section there."""
        return self.tag is not None and version >= self.tag_since

    def fresh_default(self) -> str:
        """The default as an expression that makes a new one where it is mutable."""
        if self.default is None:
            return "None"
        if self.kind == "array":
            return "[]"
        if self.kind == "nested":
            return f"{self.of.__name__}()"
        return repr(self.default)


class Struct:
    """What every declared class inherits: the comforts of a dataclass, shared by all."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    __fields__: tuple[Field, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Compile the constructor of this class, then call it: only the first call comes here."""
        cls = type(self)
        constructor = _constructor(cls)
        type.__setattr__(cls, "__init__", constructor)
        constructor(self, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    __hash__ = None  # type: ignore[assignment]  # equal by value and open to change: no key for a dict

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({values})"


class Message(Struct):
    """A struct that stands by itself on the wire (or as a record) and so knows its versions."""

    __slots__ = ()
    __api_key__: int = -1
    __versions__: tuple[int, int] = (0, 0)
    __flexible__: int = NEVER


def _constructor(cls: type[Struct]) -> Callable[..., None]:
    """def __init__(self, a=0, b=UNSET): self.a = a; self.b = [] if b is UNSET else b"""
    names: dict[str, Any] = {"UNSET": _UNSET}
    parameters, lines = ["self"], []
    for field in cls.__fields__:
        name, default = field.name, field.fresh_default()
        if field.default is not None and field.kind in ("array", "nested"):
            if field.kind == "nested":
                names[field.of.__name__] = field.of
            parameters.append(f"{name}=UNSET")
            lines.append(f"self.{name} = {default} if {name} is UNSET else {name}")
        else:
            parameters.append(f"{name}={default}")
            lines.append(f"self.{name} = {name}")
    body = "\n    ".join(lines) or "pass"
    exec(f"def __init__({', '.join(parameters)}):\n    {body}\n", names)
    constructor = names["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return cast(Callable[..., None], constructor)


def _declare(cls: type[T], base: type[Struct], extra: dict[str, Any]) -> type[T]:
    """The declared class again, its makers' rows gathered and its attributes made slots."""
    fields = []
    for name, field in vars(cls).items():
        if isinstance(field, Field):
            field.name = name
            fields.append(field)
    names = tuple(field.name for field in fields)
    namespace = {
        "__slots__": names,
        "__match_args__": names,
        "__fields__": tuple(fields),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        **extra,
    }
    return cast(type[T], type(cls.__name__, (base,), namespace))


@dataclass_transform()
def struct(cls: type[T]) -> type[T]:
    """Declare a part of messages; its versions and flexibility are those of the message around it."""
    return _declare(cls, Struct, {})


@dataclass_transform()
def message(
    api_key: int, versions: tuple[int, int], flexible: int | None = None
) -> Callable[[type[T]], type[T]]:
    """Declare a request, a response or a record (whose type is then given as the key).

    `versions` are the first and the last, `flexible` the first with compact lengths and tags.
    """

    def declare(cls: type[T]) -> type[T]:
        own = {"__api_key__": api_key, "__versions__": versions}
        own["__flexible__"] = NEVER if flexible is None else flexible
        return _declare(cls, Message, own)

    return declare


# ── makers ───────────────────────────────────────────────────────────────────────────
# Each returns a Field and is typed as the value the field will hold, so that a type
# checker sees an attribute with a default.


def i8(default: int = 0, **place: Unpack[Place]) -> int:
    """A signed byte."""
    return cast(int, Field("i8", default, **place))


def i16(default: int = 0, **place: Unpack[Place]) -> int:
    """A signed 16-bit integer."""
    return cast(int, Field("i16", default, **place))


def i32(default: int = 0, **place: Unpack[Place]) -> int:
    """A signed 32-bit integer."""
    return cast(int, Field("i32", default, **place))


def i64(default: int = 0, **place: Unpack[Place]) -> int:
    """A signed 64-bit integer."""
    return cast(int, Field("i64", default, **place))


def u16(default: int = 0, **place: Unpack[Place]) -> int:
    """An unsigned 16-bit integer."""
    return cast(int, Field("u16", default, **place))


def u32(default: int = 0, **place: Unpack[Place]) -> int:
    """An unsigned 32-bit integer."""
    return cast(int, Field("u32", default, **place))


def f64(default: float = 0.0, **place: Unpack[Place]) -> float:
    """A double."""
    return cast(float, Field("f64", default, **place))


def boolean(default: bool = False, **place: Unpack[Place]) -> bool:
    """One byte, 0 or 1."""
    return cast(bool, Field("boolean", default, **place))


def uuid(default: bytes = ZERO_UUID, **place: Unpack[Place]) -> bytes:
    """Sixteen bytes, all zero where there is no id."""
    return cast(bytes, Field("uuid", default, **place))


def string(default: str | None = "", **place: Unpack[NullablePlace]) -> str:
    """Text, UTF-8 on the wire."""
    return cast(str, Field("string", default, **place))


def data(default: bytes | None = b"", **place: Unpack[NullablePlace]) -> bytes:
    """Bytes that mean something to someone else; copied out of the frame."""
    return cast(bytes, Field("data", default, **place))


def records(default: bytes | None = None, **place: Unpack[NullablePlace]) -> Any:
    """Record batches: read as a view of the frame, written from anything that has a length."""
    return Field("records", default, **place)


@overload
def array(of: type[T], default: list[T] | None = ..., **place: Unpack[NullablePlace]) -> list[T]: ...


@overload
def array(of: T, default: list[T] | None = ..., **place: Unpack[NullablePlace]) -> list[T]: ...


def array(of: Any, default: Any = _UNSET, **place: Unpack[NullablePlace]) -> Any:
    """A list of structs, or of what a maker makes: `array(i32())`. Its default is empty or None."""
    assert default is _UNSET or not default, "an array's default is empty or None"
    return Field("array", [] if default is _UNSET else default, of, **place)


def nested(of: type[T], default: T | None = _UNSET, **place: Unpack[NullablePlace]) -> T:
    """A struct in place. Its default is a new one, or None where it is nullable or tagged."""
    assert default is _UNSET or default is None, "a nested struct's default is a new one or None"
    return cast(T, Field("nested", default, of, **place))

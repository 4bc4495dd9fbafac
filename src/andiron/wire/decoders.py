"""Prints the decoder of one message in one version: straight-line code, no tables, no recursion.

    ProduceRequest v9                       what is printed

    transactional_id  compact string        n2 = buf[pos]; pos += 1; ... m1.transactional_id = ...
    acks              i16         ┐
    timeout_ms        i32         ├ a run   m1.acks, m1.timeout_ms, n3 = unpack_from_hiB(buf, pos)
    topic_data        count byte  ┘         for _ in range(n3): ...

Adjacent fields of fixed size are one `struct` call, a *run*. The length of what follows joins
the run as its last item: two or four bytes in old versions, in flexible ones the first byte of
a varint, which is nearly always all of it.

Nothing is trusted. Lengths and counts are checked against what is left before anything is
allocated or looped over, a count by the least its elements can take. Fixed fields are not
checked one by one: position only grows, so reading beyond `end` is noticed at the latest when
the message is complete.

An entry can be as short as a byte and costs a hundred times that once it is an object. So whoever decodes what
strangers send names the most entries of all arrays together (`entries_max`); and where a message is large, a generator
decodes it that yields after every `slice` elements.

Read next: encoders.py, the way back.
"""

from __future__ import annotations

import struct
from typing import Any

from andiron.wire.primitives import MalformedMessage, continue_uvarint, read_tag, skip_tags
from andiron.wire.schema import FIXED, NUMBERS, Field, Message, Struct
from andiron.wire.source import Many, Source

_MANY = {kind: Many("unpack_from", FIXED[kind][0]) for kind in NUMBERS}


def decoder_source(cls: type[Message], version: int, entries_max: int = 0, slice: int = 0) -> Source:
    """The source of `decode(buf, pos, end) -> (message, pos)`; with a `slice`, of a generator that returns them."""
    return _Decoder(cls, version, entries_max, slice).source


def has_records(cls: type[Struct], version: int) -> bool:
    """Whether the version carries record batches anywhere within."""
    return any(
        field.kind == "records" or (isinstance(field.of, type) and has_records(field.of, version))
        for field in cls.__fields__
        if field.present(version)
    )


class _Decoder:
    def __init__(self, cls: type[Message], version: int, entries_max: int, slice: int) -> None:
        self.version, self.entries_max, self.slice = version, entries_max, slice
        self.flexible = version >= cls.__flexible__
        self.run: list[tuple[str, str]] = []  # fixed items not yet printed: struct letter, target
        self.source = Source(f"decode {cls.__name__} v{version}")
        self.source.names.update(
            new=object.__new__,
            Malformed=MalformedMessage,
            Broken=(IndexError, struct.error, UnicodeDecodeError),
            continue_uvarint=continue_uvarint,
            skip_tags=skip_tags,
            read_tag=read_tag,
        )
        # Records must stay a view of the frame; all else is read faster from bytes.
        self.as_bytes = "" if not has_records(cls, version) else ".tobytes()"
        self._function(cls)

    def _function(self, cls: type[Message]) -> None:
        source = self.source
        with source.block("def decode(buf, pos, end):"):
            source.line("base = 0")
            if self.entries_max:
                source.line(f"room = {self.entries_max}")
            if self.slice:
                source.line(f"left = {self.slice}")
                with source.block("if not left:"):
                    source.line("yield")  # a generator even where there is no array
            if self.as_bytes:
                with source.block("if type(buf) is not memoryview:"):
                    source.line("buf = memoryview(buf)")
            else:
                with source.block("if type(buf) is not bytes:"):
                    source.line("buf = bytes(buf[pos:end])")
                    source.line("base, pos, end = pos, 0, end - pos")
            with source.block("try:"):
                message = self._struct(cls)
                self._flush()
            with source.block("except Broken as error:"):
                source.line(f"raise Malformed(f'{cls.__name__} v{self.version}: {{error}}') from error")
            with source.block("if pos > end:"):
                self._raise(cls.__name__, "is cut short")
            source.line(f"return {message}, pos + base")

    def _raise(self, what: str, wrong: str) -> None:
        self.source.line(f"raise Malformed({f'{what} {wrong}'!r})")

    def _flush(self) -> None:
        """Print the run of fixed items."""
        if not self.run:
            return
        letters = "".join(letter for letter, _ in self.run)
        targets = ", ".join(target for _, target in self.run)
        if letters == "B":
            self.source.line(f"{targets} = buf[pos]")
        else:
            comma = "," if len(self.run) == 1 else ""
            unpack = self.source.packed("unpack_from", letters)
            self.source.line(f"{targets}{comma} = {unpack}(buf, pos)")
        self.source.line(f"pos += {struct.calcsize('>' + letters)}")
        self.run.clear()

    def _struct(self, cls: type[Struct], target: str = "") -> str:
        """Print a struct into a new variable, and into `target` as well."""
        source = self.source
        made = source.local("m")
        new = f"new({source.name(cls.__name__, cls)})"
        source.line(f"{target} = {made} = {new}" if target else f"{made} = {new}")
        tagged: list[Field] = []
        for field in cls.__fields__:
            if field.present(self.version) and not field.tagged(self.version):
                continue
            default = field.fresh_default()
            if field.kind == "nested" and field.default is not None:
                default = f"{source.name(field.of.__name__, field.of)}()"
            source.line(f"{made}.{field.name} = {default}")
            if field.present(self.version):
                tagged.append(field)
        for field in cls.__fields__:
            if field.present(self.version) and not field.tagged(self.version):
                self._field(field, f"{made}.{field.name}")
        if self.flexible:
            self._tags(tagged, made)
        return made

    def _field(self, field: Field, target: str) -> None:
        if field.kind in FIXED:
            self.run.append((FIXED[field.kind][0], target))
        elif field.kind == "array":
            self._array(field, target)
        elif field.kind == "nested":
            self._nested(field, target)
        else:
            self._text(field, target)

    def _length(self, letter: str) -> str:
        """Print the reading of a length; flexible ones are one too high."""
        length = self.source.local("n")
        self.run.append(("B" if self.flexible else letter, length))
        self._flush()
        if self.flexible:
            with self.source.block(f"if {length} > 127:"):
                self.source.line(f"{length}, pos = continue_uvarint(buf, pos, {length})")
        return length

    def _text(self, field: Field, target: str) -> None:
        """Strings, bytes, records: a length and so many bytes."""
        source = self.source
        length = self._length("h" if field.kind == "string" else "i")
        value = "buf[pos:stop]"
        if field.kind == "string":
            value += f"{self.as_bytes}.decode()"
        elif field.kind == "data":
            value += self.as_bytes
        stop = f"stop = pos + {length} - 1" if self.flexible else f"stop = pos + {length}"
        if self.version >= field.nullable:
            with source.block(f"if {length}:" if self.flexible else f"if {length} >= 0:"):
                source.line(stop)
                with source.block("if stop > end:"):
                    self._raise(field.name, "runs past the end")
                source.line(f"{target} = {value}")
                source.line("pos = stop")
            with source.block("else:"):
                source.line(f"{target} = None")
        else:
            source.line(stop)
            with source.block("if not pos <= stop <= end:"):
                self._raise(field.name, "is null or runs past the end")
            source.line(f"{target} = {value}")
            source.line("pos = stop")

    def _array(self, field: Field, target: str) -> None:
        source = self.source
        count = self._length("i")
        if self.flexible:
            source.line(f"{count} -= 1")
        size = f"{count} * {self._least(field.of)}"
        if self.version >= field.nullable:
            with source.block(f"if {count} < 0:"):
                source.line(f"{target} = None")
            with source.block("else:"):
                with source.block(f"if {size} > end - pos:"):
                    self._raise(field.name, "has more elements than bytes are left")
                self._elements(field.of, count, target)
        else:
            with source.block(f"if not 0 <= {size} <= end - pos:"):
                self._raise(field.name, "is null or has more elements than bytes are left")
            self._elements(field.of, count, target)

    def _elements(self, of: Any, count: str, target: str) -> None:
        source = self.source
        if self.entries_max:
            source.line(f"room -= {count}")
            with source.block("if room < 0:"):
                self._raise("the message", f"has more than {self.entries_max} entries")
        if not isinstance(of, type) and of.kind in NUMBERS:
            many = source.name(f"many_{of.kind}", _MANY[of.kind])
            source.line(f"{target} = [*{many}[{count}](buf, pos)]")
            source.line(f"pos += {count} * {FIXED[of.kind][1]}")
            return
        elements = source.local("a")
        source.line(f"{target} = {elements} = []")
        with source.block(f"for _ in range({count}):"):
            if self.slice:
                source.line("left -= 1")
                with source.block("if not left:"):
                    source.line(f"left = {self.slice}")
                    source.line("yield")
            if isinstance(of, type):
                element = self._struct(of)
            else:
                element = source.local("e")
                self._field(of, element)
            self._flush()
            source.line(f"{elements}.append({element})")

    def _nested(self, field: Field, target: str) -> None:
        source = self.source
        if self.version < field.nullable:
            self._struct(field.of, target)
            return
        marker = source.local("n")
        self.run.append(("b", marker))
        self._flush()
        with source.block(f"if {marker} < {1 if field.tagged(self.version) else 0}:"):
            source.line(f"{target} = None")
        with source.block("else:"):
            self._struct(field.of, target)
            self._flush()

    def _tags(self, tagged: list[Field], made: str) -> None:
        """Print the end of a flexible struct; `tagged` are those fields that we know."""
        source = self.source
        count = source.local("t")
        self.run.append(("B", count))
        self._flush()
        with source.block(f"if {count}:"):
            if not tagged:
                source.line(f"pos = skip_tags(buf, pos, end, {count})")
                return
            tag, stop = source.local("tag"), source.local("stop")
            with source.block(f"if {count} > 127:"):
                self._raise("a tagged section", "has more than 127 fields")
            with source.block(f"for _ in range({count}):"):
                source.line(f"{tag}, {stop}, pos = read_tag(buf, pos, end)")
                source.line(f"{stop} += pos")
                for index, field in enumerate(tagged):
                    with source.block(f"{'el' if index else ''}if {tag} == {field.tag}:"):
                        self._field(field, f"{made}.{field.name}")
                        self._flush()
                with source.block("else:"):
                    source.line(f"pos = {stop}")
                with source.block(f"if pos != {stop}:"):
                    self._raise("a tagged field", "does not fill its size")

    def _least(self, of: Any) -> int:
        """The fewest bytes that an element can take."""
        if isinstance(of, Field):
            return self._least_field(of)
        fields = [
            field for field in of.__fields__ if field.present(self.version) and not field.tagged(self.version)
        ]
        return max(1, sum(map(self._least_field, fields)) + self.flexible)

    def _least_field(self, field: Field) -> int:
        if field.kind in FIXED:
            return FIXED[field.kind][1]
        if field.kind == "nested":
            return 1 if self.version >= field.nullable else self._least(field.of)
        if self.flexible:
            return 1
        return 2 if field.kind == "string" else 4

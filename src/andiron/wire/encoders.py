"""Prints the encoder of one message in one version.

The pieces of a message are collected in a list and joined once; what lies between two record
batches (or is a whole message without any) becomes one part. Adjacent fixed fields, the empty
tagged sections between them and the length of what follows are packed by one `struct` call:

    out += (pack_ihqqqB(...) if n5 < 128 else ..., s4, b"\\0")

Records are never touched: their length is written, and the object itself becomes a part, so
that it may be a slice of a file that only the edge knows how to send.

There are no checks in the printed code. If something in it fails, codec.py looks the message
over to say what is wrong; it costs nothing when nothing is.
"""

from __future__ import annotations

import struct

from andiron.wire.primitives import BYTES, uvarint
from andiron.wire.schema import FIXED, NUMBERS, Field, Message, Struct
from andiron.wire.source import Many, Source

# A boolean is packed as a number, since struct's own "?" would take a null for False.
LETTERS = {kind: letter for kind, (letter, _) in FIXED.items()} | {"boolean": "b"}
_MANY = {kind: Many("pack", LETTERS[kind]) for kind in NUMBERS}


def encoder_source(cls: type[Message], version: int, slice: int = 0) -> Source:
    """The source of `encode(message, parts)`; with a `slice`, of a generator that yields after so many elements
    what it has written since the last records."""
    return _Encoder(cls, version, slice).source


class _Encoder:
    def __init__(self, cls: type[Message], version: int, slice: int) -> None:
        self.version, self.slice = version, slice
        self.flexible = version >= cls.__flexible__
        self.run: list[tuple[str, str]] = []  # fixed items not yet a piece: struct letter, expression
        self.pieces: list[str] = []  # expressions of bytes not yet printed
        self.out = "out"
        self.source = Source(f"encode {cls.__name__} v{version}")
        self.source.names.update(
            join=b"".join,
            uvarint=uvarint,
            BYTES=BYTES,
            Broken=(AttributeError, TypeError, ValueError, OverflowError, struct.error),
        )
        self._function(cls)

    def _function(self, cls: type[Message]) -> None:
        source = self.source
        with source.block("def encode(m, parts):"):
            with source.block("try:"):
                source.line("out = []")
                if self.slice:
                    source.line(f"left = {self.slice}")
                    with source.block("if not left:"):
                        source.line("yield out")  # a generator even where there is no array
                self._struct(cls, "m")
                self._flush()
                with source.block("if out:"):
                    source.line("parts.append(join(out))")
            with source.block("except Broken as error:"):
                source.line(f"raise explained(m, {self.version}, error) from error")

    def _end_run(self) -> None:
        if self.run:
            self.pieces.append(self._pack(self.run))
            self.run.clear()

    def _pack(self, run: list[tuple[str, str]]) -> str:
        """The expression for the bytes of a run; "x" is a byte that is always zero."""
        letters = "".join(letter for letter, _ in run)
        if letters == "B":
            return f"BYTES[{run[0][1]}]"
        if letters == "x" * len(letters):
            return repr(bytes(len(letters)))
        values = ", ".join(value for letter, value in run if letter != "x")
        return f"{self.source.packed('pack', letters)}({values})"

    def _flush(self) -> None:
        """Print the pieces collected so far."""
        self._end_run()
        if len(self.pieces) == 1:
            self.source.line(f"{self.out}.append({self.pieces[0]})")
        elif self.pieces:
            self.source.line(f"{self.out} += ({', '.join(self.pieces)})")
        self.pieces.clear()

    def _length(self, length: str, letter: str) -> None:
        """The length in `length` joins the run; it is one too high where it is a varint."""
        if not self.flexible:
            self.run.append((letter, length))
            return
        short, long = self._pack([*self.run, ("B", length)]), f"uvarint({length})"
        if self.run:
            long = f"{self._pack(self.run)} + {long}"
        self.run.clear()
        self.pieces.append(f"{short} if {length} < 128 else {long}")

    def _struct(self, cls: type[Struct], value: str) -> None:
        present = [field for field in cls.__fields__ if field.present(self.version)]
        for field in present:
            if not field.tagged(self.version):
                self._field(field, f"{value}.{field.name}")
        if self.flexible:
            tagged = [field for field in present if field.tagged(self.version)]
            self._tags(sorted(tagged, key=lambda field: field.tag or 0), value)

    def _field(self, field: Field, value: str) -> None:
        if field.kind in LETTERS:
            self.run.append((LETTERS[field.kind], value))
        elif field.kind == "array":
            self._array(field, value)
        elif field.kind == "nested":
            self._nested(field, value)
        elif field.kind == "records":
            self._records(field, value)
        else:
            self._text(field, value)

    def _measured(self, field: Field, value: str) -> str:
        """Print the length of a local value as it is written; return its name."""
        source, length = self.source, self.source.local("n")
        plus = " + 1" if self.flexible else ""
        if self.version >= field.nullable:
            null = "0" if self.flexible else "-1"
            source.line(f"{length} = {null} if {value} is None else len({value}){plus}")
        else:
            source.line(f"{length} = len({value}){plus}")
        return length

    def _text(self, field: Field, value: str) -> None:
        source, text, length = self.source, self.source.local("s"), self.source.local("n")
        encoded = ".encode()" if field.kind == "string" else ""
        plus = " + 1" if self.flexible else ""
        if self.version >= field.nullable:
            source.line(f"{text} = {value}")
            with source.block(f"if {text} is None:"):
                source.line(f"{text}, {length} = b'', {'0' if self.flexible else '-1'}")
            with source.block("else:"):
                if encoded:
                    source.line(f"{text} = {text}{encoded}")
                source.line(f"{length} = len({text}){plus}")
        else:
            source.line(f"{text} = {value}{encoded}")
            source.line(f"{length} = len({text}){plus}")
        self._length(length, "h" if field.kind == "string" else "i")
        self._end_run()
        self.pieces.append(text)

    def _records(self, field: Field, value: str) -> None:
        assert self.out == "out", "records cannot stand in a tagged field"
        source, batches = self.source, self.source.local("r")
        source.line(f"{batches} = {value}")
        self._length(self._measured(field, batches), "i")
        self._flush()
        with source.block(f"if {batches}:"):
            source.line(f"parts += (join(out), {batches})")
            source.line("out.clear()")

    def _array(self, field: Field, value: str) -> None:
        source, elements, of = self.source, self.source.local("a"), field.of
        source.line(f"{elements} = {value}")
        length = self._measured(field, elements)
        self._length(length, "i")
        self._flush()
        with source.block(f"if {elements}:"):
            if not isinstance(of, type) and of.kind in NUMBERS:
                many = source.name(f"many_{of.kind}", _MANY[of.kind])
                source.line(f"{self.out}.append({many}[len({elements})](*{elements}))")
                return
            element = source.local("e")
            with source.block(f"for {element} in {elements}:"):
                if self.slice:
                    source.line("left -= 1")
                    with source.block("if not left:"):
                        source.line(f"left = {self.slice}")
                        source.line("yield out")
                if isinstance(of, type):
                    self._struct(of, element)
                else:
                    self._field(of, element)
                self._flush()

    def _nested(self, field: Field, value: str) -> None:
        source, inner = self.source, self.source.local("m")
        source.line(f"{inner} = {value}")
        if self.version < field.nullable:
            self._struct(field.of, inner)
            return
        null = 0 if field.tagged(self.version) else -1  # there it is written like the length of an array
        self.run.append(("b", f"{null} if {inner} is None else 1"))
        self._flush()
        with source.block(f"if {inner} is not None:"):
            self._struct(field.of, inner)
            self._flush()

    def _tags(self, tagged: list[Field], value: str) -> None:
        """The end of a flexible struct: how many tagged fields differ from their default, and those."""
        if not tagged:
            self.run.append(("x", ""))
            return
        source, count = self.source, self.source.local("t")
        values = {field.name: source.local("v") for field in tagged}
        for field in tagged:
            source.line(f"{values[field.name]} = {value}.{field.name}")
        conditions = [self._differs(field, values[field.name]) for field in tagged]
        counted = " + ".join(f"({condition})" for condition in conditions)
        if all(field.default is None for field in tagged):
            counted = f"0 if {' is '.join(values.values())} is None else {counted}"
        source.line(f"{count} = {counted}")
        self.run.append(("B", count))
        self._flush()
        with source.block(f"if {count}:"):
            for field, condition in zip(tagged, conditions, strict=True):
                with source.block(f"if {condition}:"):
                    self._tagged_field(field, values[field.name])

    def _differs(self, field: Field, value: str) -> str:
        """A condition, a bool, that says whether a tagged field must be written."""
        if field.kind == "array" and field.default is not None:
            return f"{value} is None or len({value}) > 0"  # any empty sequence equals the default
        if field.default is None:
            differs = f"{value} is not None"
            if field.kind == "nested" and self.version < field.nullable:
                differs += f" and {value} != {self._default_of(field)}"
            return differs
        if field.kind == "nested":
            return f"{value} != {self._default_of(field)}"
        return f"{value} != {field.default!r}"

    def _default_of(self, field: Field) -> str:
        return self.source.name(f"default_{field.name}", field.of())

    def _tagged_field(self, field: Field, value: str) -> None:
        """Print a tagged field into a list of its own, since its size goes before it."""
        source, outer = self.source, self.out
        self.out = source.local("out")
        source.line(f"{self.out} = []")
        self._field(field, value)
        self._flush()
        body = source.local("s")
        source.line(f"{body} = join({self.out})")
        self.out = outer
        source.line(f"{outer} += (uvarint({field.tag}), uvarint(len({body})), {body})")

"""How `consume` prints a record: the value, JSON, or a template in the manner of kcat.

    %t topic   %p partition   %o offset   %T timestamp in ms   %d the same as a date
    %k key     %v value       %h headers as name=value, separated by commas       %% a percent sign

A template is taken apart once; printing is one join a record. Bytes are printed as they are. A null
prints as `null`; who must tell it from the word uses JSON.
"""

from __future__ import annotations

from collections.abc import Callable

from andiron.cli.json_records import encode_record
from andiron.cli.times import show_time
from andiron.model.ids import TopicPartition
from andiron.records.record import Record

Render = Callable[[TopicPartition, Record], bytes]
NULL = b"null"
_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}


class TemplateError(ValueError):
    """A template with a letter that means nothing."""


def renderer(*, as_json: bool, template: str | None, keys: bool, headers: bool) -> Render:
    """The function that prints a record, newline and all."""
    if as_json:
        return lambda partition, record: (
            encode_record(partition, record).encode("utf-8", "surrogatepass") + b"\n"
        )
    if template is None and not keys and not headers:
        return lambda partition, record: (NULL if record.value is None else record.value) + b"\n"
    if template is None:
        template = ("%h\t" if headers else "") + ("%k\t" if keys else "") + "%v\n"
    return compile_template(template)


def compile_template(template: str) -> Render:
    """A function from a template."""
    parts = [_constant(part) if isinstance(part, bytes) else part for part in _parts(template)]

    def render(partition: TopicPartition, record: Record) -> bytes:
        return b"".join([part(partition, record) for part in parts])

    return render


def show_headers(record: Record) -> bytes:
    """name=value, separated by commas."""
    return b",".join(
        name.encode("utf-8", "surrogatepass") + b"=" + (NULL if value is None else value)
        for name, value in record.headers
    )


_FIELDS: dict[str, Render] = {
    "t": lambda partition, record: partition.topic.encode(),
    "p": lambda partition, record: b"%d" % partition.partition,
    "o": lambda partition, record: b"%d" % record.offset,
    "T": lambda partition, record: b"%d" % record.timestamp,
    "d": lambda partition, record: show_time(record.timestamp).encode(),
    "k": lambda partition, record: NULL if record.key is None else record.key,
    "v": lambda partition, record: NULL if record.value is None else record.value,
    "h": lambda partition, record: show_headers(record),
}


def _parts(template: str) -> list[bytes | Render]:
    parts: list[bytes | Render] = []
    chars = iter(template)
    for char in chars:
        if char == "\\":
            letter = next(chars, "\\")
            parts.append(_ESCAPES.get(letter, b"\\" + letter.encode()))
        elif char != "%":
            parts.append(char.encode())
        else:
            letter = next(chars, "")
            if letter != "%" and letter not in _FIELDS:
                raise TemplateError(f"%{letter} means nothing in a format; %{', %'.join(_FIELDS)} and %% do")
            parts.append(_FIELDS.get(letter, b"%"))
    return _joined(parts)


def _joined(parts: list[bytes | Render]) -> list[bytes | Render]:
    """Neighbouring constants as one."""
    joined: list[bytes | Render] = []
    for part in parts:
        if joined and isinstance(part, bytes) and isinstance(joined[-1], bytes):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _constant(text: bytes) -> Render:
    return lambda partition, record: text

"""Kafka's `server.properties`: the syntax of Java's property files.

    # a comment
    log.dirs = /one,\\
               /two            continues on the next line, without its indentation
    listeners: PLAINTEXT://:9092

A key ends at the first "=", ":" or blank that is not escaped, so `a=b=c` is `b=c` under `a`. As in Java, a
key that comes twice has its last value.
"""

from __future__ import annotations

from collections.abc import Iterator

from andiron.model.settings import SettingError

BLANKS = " \t\f"
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """The settings of a file, as typed."""
    given: dict[str, str] = {}
    for number, line in _logical_lines(text):
        key_end = _end_of_key(line)
        key = line[:key_end]
        value = line[key_end:].lstrip(BLANKS)
        if value[:1] in ("=", ":"):
            value = value[1:].lstrip(BLANKS)
        given[_unescape(key, number)] = _unescape(value, number)
    return given


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, comments and blank lines left out; with the number of the first."""
    begun, whole = 0, ""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = line.lstrip(BLANKS)
        if not begun:
            if not line or line[0] in "#!":
                continue
            begun = number
        if _continues(line):
            whole += line[:-1]
            continue
        yield begun, whole + line
        begun, whole = 0, ""
    if begun:
        yield begun, whole


def _continues(line: str) -> bool:
    """Whether a line ends in a backslash that no other backslash escapes."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _end_of_key(line: str) -> int:
    escaped = False
    for index, char in enumerate(line):
        if not escaped and char in "=:" + BLANKS:
            return index
        escaped = char == "\\" and not escaped
    return len(line)


def _unescape(text: str, number: int) -> str:
    if "\\" not in text:
        return text
    chars = iter(text)
    parts = []
    for char in chars:
        if char != "\\":
            parts.append(char)
        elif (escaped := next(chars, "")) != "u":
            parts.append(ESCAPES.get(escaped, escaped))
        else:
            digits = "".join(next(chars, "") for _ in range(4))
            if len(digits) != 4 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
                raise SettingError(f"line {number}", f"\\u{digits} is not a character: \\u takes four digits")
            parts.append(chr(int(digits, 16)))
    return "".join(parts)

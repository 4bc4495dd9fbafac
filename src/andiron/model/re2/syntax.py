r"""The syntax of RE2, which Kafka's brokers understand in subscriptions and listings, read into nodes.

    orders\.(eu|us)     Sequence(Set o, Set r, …, Set ., Choice(Sequence(Set e, Set u), Sequence(Set u, Set s)))

RE2 has no look-around and no back-references, because they cannot be matched in linear time; patterns with them are
refused like any other that is not well formed, with INVALID_REGULAR_EXPRESSION.

What is matched are whole names in one line, so a greedy and a lazy repetition are the same. A set of characters is an
integer (alphabet.py). Beyond ASCII, letters have no upper and lower case here, and no properties but `Any`.

As in RE2, a repetition is counted up to 1,000, and one within another up to 1,000 in all; and a pattern has an end.

Read next: pattern.py.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn, TypeAlias

from andiron.model.errors import ErrorCode
from andiron.model.re2.alphabet import Alphabet, character_number
from andiron.model.re2.automaton import AT_END, AT_START, AT_WORD_EDGE, NOT_AT_WORD_EDGE

LENGTH_MAX = 10_000
REPEAT_MAX = 1_000
DEPTH_MAX = 50
_ASCII = (1 << 128) - 1
_SHOWN = 100  # characters of a pattern that is refused


def _bits(characters: str) -> int:
    return sum(1 << ord(character) for character in set(characters))


_DIGITS, _LOWER = _bits("0123456789"), _bits("abcdefghijklmnopqrstuvwxyz")
_UPPER = _LOWER >> 32
_LETTERS = _LOWER | _UPPER
_PUNCTUATION = _bits("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_PERL = {"d": _DIGITS, "w": _LETTERS | _DIGITS | _bits("_"), "s": _bits(" \t\n\r\f")}
_POSIX = {
    "alnum": _LETTERS | _DIGITS, "alpha": _LETTERS, "ascii": _ASCII, "blank": _bits(" \t"),
    "cntrl": (1 << 32) - 1 | 1 << 127, "digit": _DIGITS, "graph": _LETTERS | _DIGITS | _PUNCTUATION,
    "lower": _LOWER, "print": _LETTERS | _DIGITS | _PUNCTUATION | _bits(" "), "punct": _PUNCTUATION,
    "space": _bits(" \t\n\r\f\v"), "upper": _UPPER, "word": _PERL["w"],
    "xdigit": _DIGITS | _bits("abcdefABCDEF"),
}  # fmt: skip
_UNICODE = {
    "L": _LETTERS, "Lu": _UPPER, "Ll": _LOWER, "Latin": _LETTERS, "N": _DIGITS, "Nd": _DIGITS,
    "P": _bits("!\"#%&'()*,-./:;?@[\\]_{}"), "Pc": _bits("_"), "Pd": _bits("-"),
}  # fmt: skip
_CONTROL = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ANCHORS = {"A": AT_START, "z": AT_END, "b": AT_WORD_EDGE, "B": NOT_AT_WORD_EDGE}


class Set(NamedTuple):
    """One character of these."""

    characters: int


class Anchor(NamedTuple):
    """No character, at a place where this holds."""

    asks: int


class Sequence(NamedTuple):
    """One after the other."""

    parts: list[Node]


class Choice(NamedTuple):
    """One of these."""

    options: list[Node]


class Repeat(NamedTuple):
    """The same again and again; without end if `most` is None."""

    node: Node
    least: int
    most: int | None


Node: TypeAlias = Set | Anchor | Sequence | Choice | Repeat


def refuse(pattern: str, why: str) -> NoReturn:
    """Raise INVALID_REGULAR_EXPRESSION."""
    shown = pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…"
    raise ErrorCode.INVALID_REGULAR_EXPRESSION.error(f"{shown!r} is not a valid pattern: {why}")


def read_pattern(pattern: str, alphabet: Alphabet) -> Node:
    """The nodes of a pattern, in its alphabet; raises INVALID_REGULAR_EXPRESSION."""
    if len(pattern) > LENGTH_MAX:
        refuse(pattern, f"it has more than {LENGTH_MAX} characters")
    reader = _Reader(pattern, alphabet)
    node = reader.choice(0)
    if not reader.at_end():
        reader.fault("there is a ')' without its '('")
    return node


class _Reader:
    """A pattern while it is read from left to right."""

    def __init__(self, text: str, alphabet: Alphabet) -> None:
        self._text, self._at = text, 0
        self._bit, self._every = alphabet.bit, alphabet.every
        self._fold = False  # whether "a" means "A" as well

    def fault(self, why: str) -> NoReturn:
        refuse(self._text, f"{why} (at character {self._at})")

    def at_end(self) -> bool:
        return self._at >= len(self._text)

    def _skip(self, expected: str) -> bool:
        """Step over what is expected, if it is there."""
        if not self._text.startswith(expected, self._at):
            return False
        self._at += len(expected)
        return True

    def _take(self, missing: str) -> str:
        if self.at_end():
            self.fault(missing)
        self._at += 1
        return self._text[self._at - 1]

    def _take_to(self, end: str, missing: str) -> str:
        inside, found, _ = self._text[self._at :].partition(end)
        if not found:
            self.fault(missing)
        self._at += len(inside) + len(end)
        return inside

    # ── what stands beside each other ──

    def choice(self, depth: int) -> Node:
        """Alternatives, up to the end or to a closing parenthesis."""
        if depth > DEPTH_MAX:
            self.fault("it is nested too deeply")
        options = [self._sequence(depth)]
        while self._skip("|"):
            options.append(self._sequence(depth))
        return options[0] if len(options) == 1 else Choice(options)

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while not self.at_end() and self._text[self._at] not in "|)":
            atoms = self._atoms(depth)
            if atoms:
                parts += atoms
                parts[-1] = self._repeated(parts[-1])
        return parts[0] if len(parts) == 1 else Sequence(parts)

    def _atoms(self, depth: int) -> list[Node]:
        if self._skip("\\Q"):
            literal, _, _ = self._text[self._at :].partition("\\E")
            self._at = min(len(self._text), self._at + len(literal) + 2)
            return [self._set(self._bit(character)) for character in literal]
        character = self._take("")
        if character == "(":
            return self._group(depth)
        if character == "[":
            return [self._set(self._class())]
        if character == "\\":
            return [self._escape()]
        if character in "*+?":
            self.fault(f"there is nothing for {character!r} to repeat")
        if character in "^$":
            return [Anchor(AT_START if character == "^" else AT_END)]
        return [self._set(self._every if character == "." else self._bit(character))]

    def _set(self, characters: int) -> Node:
        if self._fold:
            characters |= (characters & _UPPER) << 32 | (characters & _LOWER) >> 32
        return Set(characters)

    def _repeated(self, node: Node) -> Node:
        if (bounds := self._bounds()) is None:
            return node
        self._skip("?")  # lazily
        if self._bounds() is not None:
            self.fault("a repetition cannot be repeated")
        repeat = Repeat(node, *bounds)
        if max(repeat.least, repeat.most or 0) > 1 and _times(repeat) > REPEAT_MAX:
            self.fault(f"more than {REPEAT_MAX} repetitions within each other are too many")
        return repeat

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in _SIGNS.items():
            if self._skip(sign):
                return bounds
        inside, closed, _ = self._text[self._at :].partition("}")
        low, comma, high = inside[1:].partition(",")
        # A brace that holds no bounds is a character like any other.
        if inside[:1] != "{" or not closed or not _is_number(low) or not (high == "" or _is_number(high)):
            return None
        self._at += len(inside) + 1
        least, most = int(low), int(high) if high else None if comma else int(low)
        if max(least, most or 0) > REPEAT_MAX or (most is not None and most < least):
            self.fault(f"{{{inside[1:]}}} is not a valid repetition")
        return least, most

    # ── groups ──

    def _group(self, depth: int) -> list[Node]:
        outside = self._fold
        if self._skip("?P<") or (not self._text.startswith(("?<=", "?<!"), self._at) and self._skip("?<")):
            if not self._take_to(">", "the name of a group has no end").isidentifier():
                self.fault("a group needs a name of letters, digits and '_'")
        elif self._skip("?") and not self._flags():
            return []
        node = self.choice(depth + 1)
        if not self._skip(")"):
            self.fault("there is a '(' without its ')'")
        self._fold = outside
        return [node]

    def _flags(self) -> bool:
        """Flags; whether they are those of a group, and not for all that follows."""
        on = True
        while (flag := self._take("there is a '(' without its ')'")) not in ":)":
            if flag == "-" and on:
                on = False
            elif flag == "i":
                self._fold = on
            elif flag not in "msU":
                self.fault(f"there is no '(?{flag}'")
        return flag == ":"

    # ── characters ──

    def _escape(self) -> Node:
        if not self.at_end() and (asks := _ANCHORS.get(self._text[self._at])) is not None:
            self._at += 1
            return Anchor(asks)
        return self._set(self._escaped())

    def _escaped(self) -> int:
        """The characters that a backslash and what follows stand for."""
        character = self._take("there is nothing behind a backslash")
        if character.lower() in _PERL:
            return _PERL[character.lower()] ^ (self._every if character.isupper() else 0)
        if character in "pP":
            return self._property() ^ (self._every if character == "P" else 0)
        if character == "x":
            return self._hexadecimal()
        if character in _CONTROL:
            return _bits(_CONTROL[character])
        if character.isalnum() or not character.isascii():
            self.fault(f"there is no '\\{character}'")
        return _bits(character)

    def _property(self) -> int:
        name = self._take("a property needs a name")
        if name == "{":
            name = self._take_to("}", "there is a '{' without its '}'")
        known = {**_UNICODE, "Any": self._every}
        if (characters := known.get(name.removeprefix("^"))) is None:
            self.fault(f"no property {name!r} is known of ASCII characters")
        return characters ^ (self._every if name.startswith("^") else 0)

    def _hexadecimal(self) -> int:
        if self._skip("{"):
            digits = self._take_to("}", "there is a '{' without its '}'")
        else:
            digits = self._take("'\\x' needs digits") + self._take("'\\x' needs two digits")
        if (number := character_number(digits)) is None:
            self.fault(f"{digits!r} is not a hexadecimal number of a character")
        return self._bit(chr(number))

    def _class(self) -> int:
        """The inside of brackets."""
        inverted = self._skip("^")
        characters, first = 0, True
        while first or not self._skip("]"):
            characters |= self._member()
            first = False
        return characters ^ (self._every if inverted else 0)

    def _member(self) -> int:
        unclosed = "there is a '[' without its ']'"
        if self._skip("[:"):
            name = self._take_to(":]", unclosed)
            if (posix := _POSIX.get(name.removeprefix("^"))) is None:
                self.fault(f"there is no class [:{name}:]")
            return posix ^ (self._every if name.startswith("^") else 0)
        low = self._one(unclosed)
        if self._text.startswith("-]", self._at) or not self._skip("-"):
            return low
        high = self._one(unclosed)
        if low.bit_count() != 1 or high.bit_count() != 1 or high < low:
            self.fault("a range of characters goes from one to a later one")
        return (high << 1) - low

    def _one(self, unclosed: str) -> int:
        character = self._take(unclosed)
        return self._escaped() if character == "\\" else self._bit(character)


def _times(node: Node) -> int:
    """How often the most repeated part of a node is written out."""
    match node:
        case Sequence(parts) | Choice(parts):
            return max(map(_times, parts), default=1)
        case Repeat(inner, least, most):
            return max(1, least if most is None else most) * _times(inner)
    return 1


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 100

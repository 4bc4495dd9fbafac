r"""Java's regular expressions, for the names of topics: what subscribePattern means to Spark's own connector.

    orders-\p{Lower}++[a-z&&[^aeiou]]   ──▶   orders\-[a-z]++[bcdfghjklmnpqrstvwxyz]

A source in Python runs in processes that have no Java, so the pattern is written anew in Python's own kind. That is
exact because the name of a topic has 65 different characters at most: whatever a class of characters means in
Java, it is a set of these, and that set is what is written. Case is dealt with in the same way, and no flag is left.
Groups, alternatives, look-ahead, lazy and possessive quantifiers are the same in both.

What is refused although Java takes it: look-behind of varying length, scripts and blocks but for Latin's.

Read next: options.py.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn

LETTERS, DIGITS = frozenset(string.ascii_letters), frozenset(string.digits)
LOWER, UPPER = frozenset(string.ascii_lowercase), frozenset(string.ascii_uppercase)
MARKS = frozenset("._-")
NAMES = LETTERS | DIGITS | MARKS  # what the name of a topic is made of
NOTHING: frozenset[str] = frozenset()
WORD = LETTERS | DIGITS | {"_"}

_POSIX = {
    "Lower": LOWER, "Upper": UPPER, "ASCII": NAMES, "Alpha": LETTERS, "Digit": DIGITS, "Alnum": LETTERS | DIGITS,
    "Punct": MARKS, "Graph": NAMES, "Print": NAMES, "Blank": NOTHING, "Cntrl": NOTHING, "Space": NOTHING,
    "XDigit": frozenset(string.hexdigits),
}  # fmt: skip
_JAVA = {
    "LowerCase": LOWER, "UpperCase": UPPER, "TitleCase": NOTHING, "Alphabetic": LETTERS, "Ideographic": NOTHING,
    "Digit": DIGITS, "Defined": NAMES, "Letter": LETTERS, "LetterOrDigit": LETTERS | DIGITS,
    "JavaIdentifierStart": LETTERS | {"_"}, "JavaIdentifierPart": WORD, "UnicodeIdentifierStart": LETTERS,
    "UnicodeIdentifierPart": WORD, "IdentifierIgnorable": NOTHING, "SpaceChar": NOTHING, "Whitespace": NOTHING,
    "ISOControl": NOTHING, "Mirrored": NOTHING,
}  # fmt: skip
_PROPERTIES = {  # after Is, in any case
    "ALPHABETIC": LETTERS, "LETTER": LETTERS, "IDEOGRAPHIC": NOTHING, "LOWERCASE": LOWER, "UPPERCASE": UPPER,
    "TITLECASE": NOTHING, "WHITE_SPACE": NOTHING, "WHITESPACE": NOTHING, "CONTROL": NOTHING, "PUNCTUATION": MARKS,
    "HEX_DIGIT": frozenset(string.hexdigits), "HEXDIGIT": frozenset(string.hexdigits), "ASSIGNED": NAMES,
    "NONCHARACTER_CODE_POINT": NOTHING, "NONCHARACTERCODEPOINT": NOTHING, "DIGIT": DIGITS, "ALNUM": LETTERS | DIGITS,
    "BLANK": NOTHING, "GRAPH": NAMES, "PRINT": NAMES, "WORD": WORD, "JOIN_CONTROL": NOTHING, "JOINCONTROL": NOTHING,
}  # fmt: skip
_SCRIPTS = {"LATIN": LETTERS, "LATN": LETTERS, "COMMON": DIGITS | MARKS, "ZYYY": DIGITS | MARKS}
_BLOCKS = ("BASICLATIN", "BASIC_LATIN", "BASIC LATIN")
_CATEGORIES = (
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp", "Cc", "Cf",
    "Co", "Cs", "Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf", "L", "M", "N", "Z", "C",
    "P", "S",
)  # fmt: skip
_SEVERAL = {"LC": LETTERS, "LD": LETTERS | DIGITS, "L1": NAMES, "all": NAMES}
_ESCAPED_SETS = {"d": DIGITS, "w": WORD, "s": NOTHING, "h": NOTHING, "v": NOTHING}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_PLACES = {"b": r"\b", "B": r"\B", "A": r"\A", "G": r"\A", "Z": r"\Z", "z": r"\Z", "R": "(?!)", "X": "."}
_FLAGS = frozenset("idmsuxU")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?")
_NAME = re.compile(r"([a-zA-Z][a-zA-Z0-9]*)>")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)


class BadPattern(ValueError):
    """What is wrong with a pattern, and where."""


@lru_cache(maxsize=64)
def compile_java(pattern: str) -> re.Pattern[str]:
    """A pattern of Java's that is matched against whole names of topics."""
    unquoted = _QUOTED.sub(lambda found: re.sub(r"([^a-zA-Z0-9])", r"\\\1", found[1]), pattern)
    try:
        return re.compile(_Translation(unquoted).all(), re.ASCII)
    except re.error as error:
        raise BadPattern(error.msg) from None
    except (ValueError, KeyError, OverflowError) as error:
        raise BadPattern(str(error)) from None


class _Translation:
    """One pattern, from left to right."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._groups = 0
        self._any_case = self._free = False  # the flags i and x

    def all(self) -> str:
        """The whole pattern."""
        made = self._alternatives()
        if self._at < len(self._text):
            self._fail("unbalanced parenthesis")
        return made

    # ── the text ─────────────────────────────────────────────────────────────────────

    def _fail(self, why: str) -> NoReturn:
        raise BadPattern(f"{why} at position {self._at}")

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._text[at] if at < len(self._text) else ""

    def _take(self) -> str:
        if self._at >= len(self._text):
            self._fail("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _skip(self, text: str) -> bool:
        if found := self._text.startswith(text, self._at):
            self._at += len(text)
        return found

    def _until(self, end: str) -> str:
        at = self._text.find(end, self._at)
        if at < 0:
            self._fail(f"there is no {end!r}")
        found, self._at = self._text[self._at : at], at + 1
        return found

    def _skip_remarks(self) -> None:
        while self._free and (self._peek().isspace() or self._peek() == "#"):
            if self._take() == "#":
                while self._peek() not in ("", "\n"):
                    self._at += 1

    # ── the structure ────────────────────────────────────────────────────────────────

    def _alternatives(self) -> str:
        flags = self._any_case, self._free
        made = ""
        while self._at < len(self._text) and self._peek() != ")":
            self._skip_remarks()
            if self._skip("|"):
                made += "|"
            elif self._peek() not in ("", ")"):
                made += self._atom() + self._quantifier()
        self._any_case, self._free = flags
        return made

    def _quantifier(self) -> str:
        self._skip_remarks()
        found = _QUANTIFIER.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found[0] if found else ""

    def _atom(self) -> str:
        match char := self._take():
            case "(":
                return self._group()
            case "[":
                return _written(self._class())
            case "\\":
                return self._escape()
            case "." | "^":
                return char
            case "$":
                return r"\Z"
            case "*" | "+" | "?" | "{":
                self._at -= 1
                self._fail(f"nothing before {char!r} to be repeated")
        return self._literal(char)

    def _literal(self, char: str) -> str:
        return (
            _written(self._cases(frozenset([char]))) if char.isascii() and char.isalpha() else re.escape(char)
        )

    def _group(self) -> str:
        if not self._skip("?"):
            self._groups += 1
            return self._rest_of_group("(")
        for opening in (":", "=", "!", ">", "<=", "<!"):
            if self._skip(opening):
                return self._rest_of_group(f"(?{opening}")
        if self._skip("<"):
            found = _NAME.match(self._text, self._at)
            if found is None:
                self._fail("a name of a group is made of letters and digits")
            self._at = found.end()
            self._groups += 1
            return self._rest_of_group(f"(?P<{found[1]}>")
        return self._flags()

    def _rest_of_group(self, opening: str) -> str:
        made = self._alternatives()
        if not self._skip(")"):
            self._fail("a group is not closed")
        return f"{opening}{made})"

    def _flags(self) -> str:
        """Flags for the rest of the group that they stand in, or for a group of their own."""
        before = self._any_case, self._free
        on = True
        while (char := self._take()) not in ":)":
            if char != "-" and char not in _FLAGS:
                self._fail(f"there is no flag {char!r}")
            on = on and char != "-"
            self._any_case = on if char == "i" else self._any_case
            self._free = on if char == "x" else self._free
        if char == ")":
            return ""
        made = self._rest_of_group("(?:")
        self._any_case, self._free = before
        return made

    # ── escapes ──────────────────────────────────────────────────────────────────────

    def _escape(self) -> str:
        char = self._peek()
        if char in _PLACES:
            self._at += 1
            return _PLACES[char]
        if char == "k" and self._peek(1) == "<":
            self._at += 2
            return self._again(f"(?P={self._until('>')})")
        if char in string.digits[1:] and char:
            return self._again(f"\\{self._number()}")
        named = self._escaped_set()
        return self._literal(self._escaped_char()) if named is None else _written(named)

    def _again(self, reference: str) -> str:
        return f"(?{'i' if self._any_case else ''}:{reference})"

    def _number(self) -> int:
        """Of a group: as many digits as there are groups for."""
        number = int(self._take())
        while self._peek().isdigit() and number * 10 + int(self._peek()) <= self._groups:
            number = number * 10 + int(self._take())
        return number

    def _escaped_set(self) -> frozenset[str] | None:
        """The set that stands after a backslash; None if it is a character."""
        char = self._peek()
        if char and char.lower() in _ESCAPED_SETS:
            found = _ESCAPED_SETS[self._take().lower()]
            return found if char.islower() else NAMES - found
        if char in ("p", "P"):
            self._at += 1
            found = self._property()
            return found if char == "p" else NAMES - found
        return None

    def _escaped_char(self) -> str:
        char = self._take()
        if char in _CONTROLS:
            return _CONTROLS[char]
        match char:
            case "c":
                return chr(ord(self._take()) ^ 64)
            case "0":
                return self._code(r"[0-3][0-7]{2}|[0-7]{1,2}", 8)
            case "x" if self._skip("{"):
                return chr(int(self._until("}"), 16))
            case "x":
                return self._code("[0-9a-fA-F]{2}", 16)
            case "u":
                return self._code("[0-9a-fA-F]{4}", 16)
            case "N" if self._skip("{"):
                return unicodedata.lookup(self._until("}"))
        if char.isascii() and char.isalpha():
            self._fail(f"there is no escape {char!r}")
        return char

    def _code(self, digits: str, base: int) -> str:
        found = re.compile(digits).match(self._text, self._at)
        if found is None:
            self._fail("digits are missing")
        self._at = found.end()
        return chr(int(found[0], base))

    # ── sets of characters ───────────────────────────────────────────────────────────

    def _class(self) -> frozenset[str]:
        """Up to the bracket that closes it."""
        negated = self._skip("^")
        found = self._union(first=True)
        while self._skip("&&"):
            right = self._union(first=False)
            found = right if found is None else found if right is None else found & right
        if not self._skip("]"):
            self._fail("a class of characters is not closed")
        return NAMES - (found or NOTHING) if negated else found or NOTHING

    def _union(self, *, first: bool) -> frozenset[str] | None:
        """What stands side by side, up to && or the end; None for nothing."""
        found: frozenset[str] | None = None
        while True:
            if self._free:
                self._skip_remarks()
            char = self._peek()
            if char == "" or self._text.startswith("&&", self._at):
                return found
            if char == "]" and (found is not None or not first):
                return found
            found = (found or NOTHING) | self._member()

    def _member(self) -> frozenset[str]:
        if self._skip("["):
            return self._class()
        if self._skip("\\"):
            named = self._escaped_set()
            if named is not None:
                return named
            low = self._escaped_char()
        else:
            low = self._take()
        if self._peek() != "-" or self._peek(1) in ("", "]", "["):
            return self._cases(frozenset([low]))
        self._at += 1
        high = self._escaped_char() if self._skip("\\") else self._take()
        if high < low:
            self._fail(f"{low}-{high} is no range")
        return self._cases(frozenset(each for each in NAMES if low <= each <= high))

    def _cases(self, chars: frozenset[str]) -> frozenset[str]:
        return chars | {each.swapcase() for each in chars} if self._any_case else chars

    def _property(self) -> frozenset[str]:
        name = self._until("}") if self._skip("{") else self._take()
        found = _property_of(name)
        if found is None:
            self._fail(f"the property {name!r} is not known here")
        is_case = found in (LOWER, UPPER)
        return LETTERS if is_case and self._any_case else found


def _property_of(name: str) -> frozenset[str] | None:
    """The characters with a property, as Java calls it."""
    key, _, value = name.partition("=")
    if value:
        kinds: dict[str, Callable[[str], frozenset[str] | None]] = {
            "sc": _script, "script": _script, "blk": _block, "block": _block,
            "gc": _category, "general_category": _category,
        }  # fmt: skip
        kind = kinds.get(key.lower())
        return None if kind is None else kind(value)
    if name.startswith("Is"):
        known = _PROPERTIES.get(name[2:].upper())
        return next(
            (each for each in (known, _category(name[2:]), _script(name[2:])) if each is not None), None
        )
    if name.startswith("In"):
        return _block(name[2:])
    if name.startswith("java"):
        return _JAVA.get(name[4:])
    return _POSIX.get(name, _category(name))


def _category(name: str) -> frozenset[str] | None:
    if name in _SEVERAL:
        return _SEVERAL[name]
    if name not in _CATEGORIES:
        return None
    return frozenset(each for each in NAMES if unicodedata.category(each).startswith(name))


def _script(name: str) -> frozenset[str] | None:
    return _SCRIPTS.get(name.upper())


def _block(name: str) -> frozenset[str] | None:
    return NAMES if name.upper() in _BLOCKS else None


def _written(chars: frozenset[str]) -> str:
    """A set as Python writes it."""
    members = "".join(map(re.escape, sorted(chars)))
    if not chars:
        return "(?!)"
    return members if len(chars) == 1 else f"[{members}]"

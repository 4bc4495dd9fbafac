r"""The characters that a pattern can tell apart.

A set of characters is an integer with a bit for each. The 128 of ASCII have their own; of those beyond, a pattern
tells only what it mentions from what lies between, so each mentioned one has a bit, and each gap:

    [à-ü]x     ASCII │ …ß │ à │ á…û │ ü │ ý…

The bits stand in the order of the characters, so a range is the bits from its first to its last.
"""

from __future__ import annotations

from bisect import bisect_right

_ASCII = 128
_LAST = 0x10FFFF  # of Unicode
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")


class Alphabet:
    """The bits of one pattern."""

    __slots__ = ("_cuts", "every")

    def __init__(self, pattern: str = "") -> None:
        mentioned = {ord(character) for character in pattern if not character.isascii()}
        for escape in pattern.split("\\x{")[1:]:
            number = character_number(escape.partition("}")[0])
            if number is not None and number >= _ASCII:
                mentioned.add(number)
        self._cuts = sorted(mentioned | {number + 1 for number in mentioned})
        self.every = (1 << _ASCII + len(self._cuts) + 1) - 1

    def symbol(self, character: str) -> int:
        """The number of a character's bit."""
        number = ord(character)
        return number if number < _ASCII else _ASCII + bisect_right(self._cuts, number)

    def bit(self, character: str) -> int:
        """The set of a character that the pattern mentions."""
        return 1 << self.symbol(character)


def character_number(digits: str) -> int | None:
    """What hexadecimal digits say, if that is a character."""
    if not 1 <= len(digits) <= 6 or not _HEXADECIMAL.issuperset(digits):
        return None
    number = int(digits, 16)
    return number if number <= _LAST else None

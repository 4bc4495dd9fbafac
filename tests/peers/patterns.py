r"""Patterns of topics' names in Java's language, and names to hold them against.

Where `None` stands for the names, Java refuses the pattern too. `made_up` writes more of them out of the same parts.
"""

from __future__ import annotations

import random
import string

NAMES = (
    "orders",
    "Orders",
    "orders-1",
    "orders.eu",
    "o",
    "O",
    "aa",
    "ab",
    "aA",
    "abab",
    "a1",
    "11",
    "_x",
    "x_",
    "a-b",
    "",
)

PATTERNS: list[tuple[str, list[str] | None]] = [
    (r"orders", ["orders"]),
    (r"orders.*", ["orders", "orders-1", "orders.eu"]),
    (r"\p{Lower}+", ["orders", "o", "aa", "ab", "abab"]),
    (r"\p{javaLowerCase}++", ["orders", "o", "aa", "ab", "abab"]),
    (r"\P{Lower}+", ["O", "11"]),
    (r"\p{IsUppercase}\p{L}*", ["Orders", "O"]),
    (r"\pL+", ["orders", "Orders", "o", "O", "aa", "ab", "aA", "abab"]),
    (r"\p{Lu}.*", ["Orders", "O"]),
    (r"\p{IsLatin}\p{gc=Nd}", ["a1"]),
    (r"[\p{Alnum}&&[^\p{Upper}]]+", ["orders", "o", "aa", "ab", "abab", "a1", "11"]),
    (r"[a-z&&[^o]]+", ["aa", "ab", "abab"]),
    (r"[a-c[x-z]_]+", ["aa", "ab", "abab", "_x", "x_"]),
    (r"[^a-z&&[^b]]b?", ["O"]),
    (r"(?i)orders", ["orders", "Orders"]),
    (r"(?i)[^o]{2}", ["aa", "ab", "aA", "a1", "11", "_x", "x_"]),
    (r"(?i:O)rders", ["orders", "Orders"]),
    (r"((?i)a)\1", ["aa"]),
    (r"(?i)(a)\1", ["aa", "aA"]),
    (r"(?<first>a)b\k<first>b", ["abab"]),
    (r"(ab)\1", ["abab"]),
    (r"(ab){2}", ["abab"]),
    (r"a*+a", []),
    (r"(?>a|ab)b", ["ab"]),
    (r"\Qorders.eu\E", ["orders.eu"]),
    (r"\Qorders.\Eeu", ["orders.eu"]),
    (r"orders\Q.e\Eu|\Qa-b", ["orders.eu", "a-b"]),
    (r"orders\x2deu|a\u002Db|\x{61}\061", ["a1", "a-b"]),
    (r"(?x) a b  # two letters", ["ab"]),
    (r"\h*orders\R?", ["orders"]),
    (r"\Aorders\z|^o$", ["orders", "o"]),
    (r"\borders\b.\w+", ["orders-1", "orders.eu"]),
    (r"(?!orders)\w+", ["Orders", "o", "O", "aa", "ab", "aA", "abab", "a1", "11", "_x", "x_"]),
    (r"\w+(?<=b)", ["ab", "abab"]),
    (r"[-.\w]+", [each for each in NAMES if each]),
    (r"[\w&&\D&&[^_]]", ["o", "O"]),
    (r"[]a]+", ["aa"]),
    (r"|o", ["o", ""]),
    (r"a{1,2}", ["aa"]),
    (r"[a-z", None),
    (r"(a", None),
    (r"a)", None),
    (r"*a", None),
    (r"a{,2}", None),
    (r"a\i", None),
    (r"\p{Nonsense}", None),
    (r"[z-a]", None),
    (r"(?<1>a)", None),
    (r"(?z)a", None),
]

_ATOMS = (
    "a", "b", "O", "1", "_", r"\.", r"\-", ".", r"\w", r"\W", r"\d", r"\D", r"\p{Lower}", r"\P{Alpha}", r"\p{Punct}",
    r"\p{Lu}", r"\p{IsAlphabetic}", r"\p{javaLetterOrDigit}", "[ab]", "[^ab]", "[a-f&&[^b]]", r"[^\w&&[^_]]",
    "[a[b-d]]", r"[\d_]", "[^a-z[0-9]]", r"\Q.\E", r"\x61", "(?i:a)", "(?i:[^B])", r"(?i:\p{Upper})",
    "[a-c&&b-d&&[^c]]",
)  # fmt: skip
_QUANTIFIERS = ("", "", "", "*", "+", "?", "*?", "+?", "*+", "++", "?+", "{2}", "{1,2}", "{1,}+")


def made_up(seed: int) -> str:
    """A pattern that Java takes."""
    chance = random.Random(seed)

    def sequence(depth: int) -> str:
        return "".join(part(depth) for _ in range(chance.randint(1, 3)))

    def part(depth: int) -> str:
        if depth and chance.random() < 0.25:
            opening = chance.choice(("(", "(?:", "(?>", "(?i:", "(?=", "(?!"))
            inside = "|".join(sequence(depth - 1) for _ in range(chance.randint(1, 2)))
            looks = opening in ("(?=", "(?!")
            return f"{opening}{inside})" + ("" if looks else chance.choice(_QUANTIFIERS))
        return chance.choice(_ATOMS) + chance.choice(_QUANTIFIERS)

    return chance.choice(("", "", "(?i)")) + sequence(2)


def made_up_names(seed: int, count: int = 20) -> list[str]:
    """Short names, of few letters."""
    chance = random.Random(seed)
    letters = "aabbcdO1_.-" + chance.choice(string.ascii_letters)
    return ["".join(chance.choices(letters, k=chance.randint(0, 5))) for _ in range(count)]

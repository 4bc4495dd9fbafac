"""How much of a property is tried: a third as a rule, since chance looks elsewhere each time; all of it if asked.

ANDIRON_TEST_EFFORT=all     as `make kills` does
"""

from __future__ import annotations

import os

SHARE = 1 if os.environ.get("ANDIRON_TEST_EFFORT") == "all" else 3


def tries(count: int) -> int:
    """Of so many examples, or seeds, those that are tried now."""
    return max(1, count // SHARE)

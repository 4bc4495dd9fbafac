"""The history of a world: as columns to read, and as a hash to compare.

       time  who         what        about
      1.204  producer-2  asks        Produce v9 #14
      1.209  node-1      step        Received
      1.213  node-1      says        Produce v9 #14 → orders-0 17

Every line goes into the hash, whether or not anyone reads it, so two runs have the same hash
only if everything in them happened alike, in the same order: the same bytes left the node at
the same time. A line therefore says nothing that differs between two runs of one seed, such
as a memory address or the order of a set.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from andiron.model.ids import Millis


class Trace:
    """What happened, line by line."""

    def __init__(self, begins: Millis, tell: Callable[[str], None] | None = None) -> None:
        """`tell` is given each line as it comes."""
        self._begins, self._tell = begins, tell
        self._hash = blake2b(digest_size=16)
        self.count = 0

    def note(self, now: Millis, who: str, what: str, about: str = "") -> None:
        """One line more."""
        self.count += 1
        line = f"{(now - self._begins) / 1000:11.3f}  {who:<12}{what:<12}{about}"
        self._hash.update(line.encode())
        if self._tell is not None:
            self._tell(line)

    def digest(self) -> str:
        """The hash of everything so far."""
        return self._hash.hexdigest()

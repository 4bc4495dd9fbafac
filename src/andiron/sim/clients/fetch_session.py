"""A fetch session as its consumer keeps it: with each broker another one.

    epoch 0   all partitions are named; the broker gives the session an id
    epoch n   only those whose place has changed, and those to forget; the broker must remember the rest
    epoch -1  no session at all

Lost, on either side, it begins anew: with epoch 0, which also closes the old one if it is still there.
"""

from __future__ import annotations

from andiron.model.ids import TopicPartition

NO_SESSION = (0, -1)


class FetchSession:
    """What one consumer and one broker have agreed on."""

    __slots__ = ("_id", "_is_kept", "epoch", "told")

    def __init__(self, *, is_kept: bool) -> None:
        """`is_kept`: or there is none, and every request stands for itself."""
        self._is_kept = is_kept
        self._id, self.epoch = (0, 0) if is_kept else NO_SESSION  # epoch: of the next request
        self.told: dict[TopicPartition, int] = {}  # the places that the broker knows of

    @property
    def id(self) -> int:
        return self._id

    @property
    def names_all(self) -> bool:
        """Whether the next request names every partition."""
        return self.epoch <= 0

    def answered(self, id: int) -> None:
        """The broker has answered; without an id, it keeps no session."""
        if self._is_kept:
            self._id, self.epoch = id, self.epoch + 1
            if id == 0:
                self.forget()

    def forget(self) -> None:
        """Begin anew."""
        if self._is_kept:
            self.epoch = 0
        self.told = {}

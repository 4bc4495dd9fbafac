"""The options of a copy: which topics, how they are read, and what may become of their offsets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CopyOptions:
    """The choices of whoever copies; as they are, all topics are copied once, to the end that they have now."""

    topics: tuple[str, ...] = ()  # names and patterns; none stands for all but internal ones
    exclude: tuple[str, ...] = ()
    committed: bool = True  # read_committed
    keep_offsets: bool = True  # where a source begins later than at 0, the target does too
    follow: bool = False  # go on with what is written later
    accept_loss: bool = False  # go on behind records that are gone before they are copied
    replication_factor: int | None = None  # of new topics; the source's where it is not told
    rate: float | None = None  # bytes a second, at most

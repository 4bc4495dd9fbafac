"""What every assignor is given and what it gives back.

    subscribers, each with its topics and what it had     ─┐
    how many partitions each topic has                    ─┴▶  what each subscriber has from now on

The laws of all of them: every partition of a topic that somebody reads has exactly one owner, who reads that topic;
the answer is a function of what was asked, in whatever order the subscribers stand; and asked again with its own
answer, an assignor moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

Partitions: TypeAlias = Mapping[bytes, tuple[int, ...]]  # by topic id, in ascending order, never empty


class Subscriber(NamedTuple):
    """A member as an assignor sees it."""

    id: str
    instance_id: str | None
    topics: Sequence[bytes]  # ids, in ascending order
    owned: Partitions  # by the assignment before


Assignor: TypeAlias = Callable[[Sequence[Subscriber], Mapping[bytes, int]], dict[str, Partitions]]

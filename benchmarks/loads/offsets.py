"""Commit a great many offsets, and ask for them: 100 partitions a commit, a group after the other.

In one partition of `__consumer_offsets` or spread over all of them, which the names of the groups decide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from loads import answer, asking
from servers import Raw

PARTITIONS = 100  # of the topic, and offsets a group
KEPT_IN = 50  # partitions of __consumer_offsets
FETCH_VERSION = 9
WINDOW = 20


def names(label: str, count: int, *, together: bool) -> list[str]:
    """Names of groups: `together` in one partition of the offsets topic, or anywhere."""
    numbered: Iterator[str] = (f"{label}-{number}" for number in itertools.count())
    if together:
        numbered = (name for name in numbered if place_of(name) == 0)
    return list(itertools.islice(numbered, count))


def place_of(group: str) -> int:
    """The partition of the offsets topic that keeps a group: Java's hash of its name, modulo."""
    found = 0
    for letter in group:
        found = (found * 31 + ord(letter)) & 0xFFFFFFFF
    return (found & 0x7FFFFFFF) % KEPT_IN


def one_each(groups: list[str]) -> list[str]:
    """A group from each partition of the offsets topic that keeps some of these."""
    return list({place_of(name): name for name in groups}.values())


def load(port: int, topic: str, label: str, groups: int, together: bool) -> dict[str, float]:
    requests = [
        asking.commit(name, topic, range(PARTITIONS)) for name in names(label, groups, together=together)
    ]
    with Raw(port) as link:
        for number, request in enumerate(requests):
            link.send(request)
            if number >= WINDOW:
                _check(link)
        for _ in range(min(WINDOW, groups)):
            _check(link)
    return {"offsets": groups * PARTITIONS}


def _check(link: Raw) -> None:
    errors = asking.commit_errors(link.receive())
    assert not errors, f"a commit was refused: {errors}"


def served(link: Raw, topic: str, groups: list[str]) -> bool:
    """Whether the last offset of each of these groups can be had."""
    wanted = [OffsetFetchRequestTopics(name=topic, partition_indexes=[PARTITIONS - 1])]
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=name, topics=wanted) for name in groups]
    )
    found = asking.ask(link, request, OffsetFetchResponse, FETCH_VERSION).groups
    if any(group.error_code for group in found):
        return False
    places = [place for group in found for topic in group.topics for place in topic.partitions]
    return len(places) == len(groups) and all(place.committed_offset == asking.OFFSET for place in places)


if __name__ == "__main__":
    answer(load)

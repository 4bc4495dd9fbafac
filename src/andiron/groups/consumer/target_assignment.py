"""The target assignment: subscriptions and topics in, each member's target out.

The members vote for an assignor by naming one; the majority has it, and on a tie, or if nobody names any, the first one
of group.consumer.assignors. Assignors start from the last targets and not from what members hold at the moment, so
that a rebalance on top of another one moves nothing twice.

Of the topics only a number is remembered, from their names, ids and sizes. When it comes out differently, something has
happened to them, and the targets are made anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b

from andiron.groups.assignors import ASSIGNORS
from andiron.groups.assignors.spec import Partitions, Subscriber
from andiron.groups.consumer.group import names_of
from andiron.groups.consumer.member import Member
from andiron.groups.topics import Topics

NO_TOPICS_HASH = 0


def metadata_hash(names: Iterable[str], topics: Topics) -> int:
    """The metadata hash of these topics as they are now; those that do not exist do not count."""
    digest, found = blake2b(digest_size=8), False
    for name in names:
        if (topic := topics.named(name)) is not None:
            digest.update(b"%d:%b%b%d;" % (len(name), name.encode(), topic.id, topic.partitions))
            found = True
    return int.from_bytes(digest.digest(), "big", signed=True) if found else NO_TOPICS_HASH


def preferred_assignor(members: Iterable[Member], offered: Sequence[str]) -> str:
    """The assignor that most members want."""
    votes = Counter(member.profile.assignor for member in members)
    return max(offered, key=lambda name: votes[name])


def make_targets(
    members: Collection[Member],
    assignor: str,
    before: Mapping[str, Partitions],
    patterns: Mapping[str, tuple[str, ...]],
    topics: Topics,
) -> dict[str, Partitions]:
    """A target for each member. `before` has the last targets by member id, `patterns` the topics of each pattern."""
    known = _Known(topics)
    subscribers = [
        Subscriber(
            member.id,
            member.profile.instance_id,
            known.ids(names_of(member.profile, patterns)),
            before.get(member.id, {}),
        )
        for member in members
    ]
    return ASSIGNORS[assignor](subscribers, known.partitions)


def subscribed_ids(names: Iterable[str], topics: Topics) -> tuple[bytes, ...]:
    """The ids of those topics that exist."""
    return tuple(topic.id for topic in map(topics.named, names) if topic is not None)


class _Known:
    """The topics that have been asked for. Members mostly subscribe to the same ones: those are asked for once."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._subscriptions: dict[tuple[str, ...], tuple[bytes, ...]] = {}
        self.partitions: dict[bytes, int] = {}

    def ids(self, names: tuple[str, ...]) -> tuple[bytes, ...]:
        if (ids := self._subscriptions.get(names)) is None:
            found = {
                topic.id: topic.partitions for topic in map(self._topics.named, names) if topic is not None
            }
            self.partitions.update(found)
            ids = self._subscriptions[names] = tuple(sorted(found))
        return ids

"""The uniform assignor: everybody has as much as everybody else, and as little as possible moves.

Where all read the same topics, each is due the same number of partitions, or one more. A member keeps what it had up
to what it is due, and what is free then is dealt out in turn:

    before   a: 0 1 2 3    b: 4 5 6 7             c has come, so each is due 2 or 3 of the 8
    kept     a: 0 1 2      b: 4 5 6     c:
    dealt    a: 0 1 2      b: 4 5 6     c: 3 7

Whoever has more than the least keeps the one more while there are any, which makes the moves as few as they can be. A
member gives up its highest partitions across its topics and topics are dealt out in turn, so that each topic stays
spread over the members and not only the sum of them.

Where subscriptions differ there is no such number. What is free goes to the least laden of its topic's readers, topics
with the fewest readers first, and then partitions go from the most to the least laden reader of a topic, for as long
as that brings the two closer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace

from andiron.groups.assignors.spec import Partitions, Subscriber


def assign(subscribers: Sequence[Subscriber], partitions: Mapping[bytes, int]) -> dict[str, Partitions]:
    """Share all partitions evenly among those who read their topics."""
    standing = sorted(subscribers, key=lambda subscriber: subscriber.id)
    if not standing:
        return {}
    topics = [topic for topic in standing[0].topics if partitions.get(topic, 0) > 0]
    if all(other.topics == standing[0].topics for other in standing):
        return _homogeneous(standing, {topic: partitions[topic] for topic in topics})
    return _Heterogeneous(standing, partitions).assign()


# ── homogeneous: all subscribe to the same topics ────────────────────────────────────


def _homogeneous(standing: list[Subscriber], partitions: Mapping[bytes, int]) -> dict[str, Partitions]:
    held = {topic: bytearray(count) for topic, count in partitions.items()}
    before = [_still_valid(subscriber, held) for subscriber in standing]
    least, more = divmod(sum(partitions.values()), len(standing))
    # Those who have one more than the least keep it first; the others get it while there are any left.
    keepers = [place for place, owned in enumerate(before) if len(owned) > least][:more]
    quota = [least] * len(standing)
    for place in keepers:
        quota[place] += 1
    spare = more - len(keepers)
    for place in range(len(standing)):
        if spare and quota[place] == least:
            quota[place] += 1
            spare -= 1

    kept: list[list[tuple[int, bytes]]] = []
    for place, owned in enumerate(before):
        kept.append(owned[: quota[place]])
        for partition, topic in owned[quota[place] :]:
            held[topic][partition] = 0
    _deal(kept, quota, held)
    return {subscriber.id: _by_topic(kept[place]) for place, subscriber in enumerate(standing)}


def _still_valid(subscriber: Subscriber, held: dict[bytes, bytearray]) -> list[tuple[int, bytes]]:
    """The partitions that a member had and may keep, lowest first; they are marked as held."""
    valid = []
    for topic, owned in subscriber.owned.items():
        marks = held.get(topic)
        if marks is None:
            continue
        for partition in owned:
            if partition < len(marks) and not marks[partition]:
                marks[partition] = 1
                valid.append((partition, topic))
    valid.sort()
    return valid


def _deal(kept: list[list[tuple[int, bytes]]], quota: list[int], held: dict[bytes, bytearray]) -> None:
    """Give each free partition to the next member below its quota."""
    due = [place for place, owned in enumerate(kept) if len(owned) < quota[place]]
    turn = 0
    for topic, marks in held.items():
        partition = marks.find(0)
        while partition >= 0:
            turn %= len(due)
            place = due[turn]
            kept[place].append((partition, topic))
            if len(kept[place]) == quota[place]:
                del due[turn]
            else:
                turn += 1
            partition = marks.find(0, partition + 1)


def _by_topic(owned: list[tuple[int, bytes]]) -> Partitions:
    shares: dict[bytes, list[int]] = {}
    for partition, topic in sorted(owned):
        shares.setdefault(topic, []).append(partition)
    return {topic: tuple(share) for topic, share in sorted(shares.items())}


# ── heterogeneous: subscriptions differ ──────────────────────────────────────────────


class _Heterogeneous:
    """One assignment among differing subscriptions while it is being made; members go by their index."""

    def __init__(self, standing: list[Subscriber], partitions: Mapping[bytes, int]) -> None:
        self._standing = standing
        self._load = [0] * len(standing)
        self._readers: dict[bytes, list[int]] = {}
        for place, subscriber in enumerate(standing):
            for topic in subscriber.topics:
                if partitions.get(topic, 0) > 0:
                    self._readers.setdefault(topic, []).append(place)
        # The topics with the fewest readers first: who reads them has the least choice.
        self._topics = sorted(self._readers, key=lambda topic: (len(self._readers[topic]), topic))
        self._taken = {topic: bytearray(partitions[topic]) for topic in self._topics}
        self._shares: dict[bytes, dict[int, list[int]]] = {
            topic: {place: [] for place in self._readers[topic]} for topic in self._topics
        }

    def assign(self) -> dict[str, Partitions]:
        self._keep()
        for topic in self._topics:
            self._hand_out(topic)
        while sum(self._even_out(topic) for topic in self._topics):
            pass
        return {subscriber.id: self._share_of(place) for place, subscriber in enumerate(self._standing)}

    def _keep(self) -> None:
        for place, subscriber in enumerate(self._standing):
            for topic, owned in subscriber.owned.items():
                if (share := self._shares.get(topic, {}).get(place)) is None:
                    continue
                taken = self._taken[topic]
                for partition in owned:
                    if partition < len(taken) and not taken[partition]:
                        taken[partition] = 1
                        share.append(partition)
                self._load[place] += len(share)

    def _hand_out(self, topic: bytes) -> None:
        """Give what is free of a topic to whichever of its readers has the least."""
        taken, load, shares = self._taken[topic], self._load, self._shares[topic]
        laden = [(load[place], place) for place in self._readers[topic]]
        heapify(laden)
        partition = taken.find(0)
        while partition >= 0:
            least = laden[0][1]
            shares[least].append(partition)
            load[least] += 1
            heapreplace(laden, (load[least], least))
            partition = taken.find(0, partition + 1)

    def _even_out(self, topic: bytes) -> bool:
        """Let one partition of a topic go from its most to its least laden reader; whether that was needed.

        One at a time, so that no topic is moved more than the others. Each move makes the sum of the squares of
        the loads smaller, so there is an end to it."""
        load, shares = self._load, self._shares[topic]
        least = min(self._readers[topic], key=load.__getitem__)
        giver = max((place for place, share in shares.items() if share), key=load.__getitem__)
        if load[giver] - load[least] < 2:
            return False
        shares[least].append(shares[giver].pop())
        load[giver] -= 1
        load[least] += 1
        return True

    def _share_of(self, place: int) -> Partitions:
        topics = sorted(self._standing[place].topics)
        shares = {topic: self._shares.get(topic, {}).get(place) for topic in topics}
        return {topic: tuple(sorted(share)) for topic, share in shares.items() if share}

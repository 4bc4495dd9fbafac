"""Partitions that are moved come to where they were to go; and a replica goes when it is told to, and not before.

    1 2 3 ──▶ 1 2 3 +4 ──▶ 4 is in sync ──▶ 2 3 4       a reassignment, or it is cancelled on the way

A node that the metadata names as a replica has its log; one that it does not name any more may drop it, and begins with
nothing should it be named again. What an operator was told is done is done in the end, if nobody asked for anything
else after it; and once the weather clears, no reassignment is under way for ever.
"""

from __future__ import annotations

from andiron.controller.image import Image, PartitionImage
from andiron.model.ids import TopicPartition
from andiron.sim.canon import Place
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.mirror import Key, Mirrors
from andiron.sim.newest import Newest
from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.apis import ApiKey

STAYS = "a replica is there until it is told to go"
ARRIVES = "a reassignment that was acknowledged comes to pass"
ENDS = "no reassignment is under way for ever"

REASSIGNED = "partitions that are to move"


class ReplicasMove(Watcher):
    """Follows what each node knows of where replicas are to be."""

    def __init__(self, mirrors: Mirrors, newest: Newest) -> None:
        self._mirrors, self._newest = mirrors, newest
        self._applied: dict[int, int] = {}
        self._asked: dict[Place, int] = {}  # how many requests, of which the end is not known
        self._wanted: dict[Place, list[int]] = {}  # where a partition is to be, for sure

    # ── replicas ─────────────────────────────────────────────────────────────────────

    def went_down(self, host: Host, end: End) -> None:
        """In the very step perhaps in which it dropped a log: in its next life it may be named again."""
        self._applied.pop(host.number, None)
        if host.node is not None:
            for key in [key for key in self._mirrors if key[0] == host.number]:
                self._forget_if_dropped(host, key, _partition(host.node.broker.image, key[1:]))

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        broker = host.node.broker
        if self._applied.get(host.number) == broker.metadata.applied:
            return
        self._applied[host.number] = broker.metadata.applied
        for key in [key for key in self._mirrors if key[0] == host.number]:
            told, mirror = _partition(broker.image, key[1:]), self._mirrors[key]
            if told is None:
                continue
            if host.number not in told.replicas:
                self._forget_if_dropped(host, key, told)
            elif (
                broker.replica_manager.peek(mirror.name) is None
                and mirror.name not in broker.replica_manager.unopened
                and host.is_open
                and not broker.replica_manager.is_behind
            ):
                raise Violation(STAYS, f"{mirror.name} is not on {host.name}, one of {list(told.replicas)}")

    def _forget_if_dropped(self, host: Host, key: Key, told: PartitionImage | None) -> None:
        if (
            told is not None
            and host.number not in told.replicas
            and not _has_log(host, self._mirrors[key].name)
        ):
            del self._mirrors[key]

    # ── reassignments ────────────────────────────────────────────────────────────────

    def heard(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.ALTER_PARTITION_REASSIGNMENTS:
            return
        exchange.notes[REASSIGNED] = self._places(exchange)
        for place in exchange.notes[REASSIGNED]:
            self._wanted.pop(place, None)
            self._asked[place] = self._asked.get(place, 0) + 1

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.ALTER_PARTITION_REASSIGNMENTS or exchange.response.error_code:
            return
        answers = [answer for topic in exchange.response.responses for answer in topic.partitions]
        places = exchange.notes[REASSIGNED]
        if not places or places != self._places(exchange):
            return  # another topic of that name
        for place, (_, replicas), answer in zip(places, _wishes(exchange), answers, strict=True):
            self._asked[place] -= 1
            if answer.error_code == 0 and replicas is not None and not self._asked[place]:
                self._wanted[place] = replicas

    def is_restless(self, host: Host) -> bool:
        return self._moving(host) is not None

    def rested(self, host: Host) -> None:
        moving = self._moving(host)
        if moving is not None:
            raise Violation(ENDS, moving)
        for place, replicas in self._wanted.items():
            told = self._newest.partition(place)
            if told is not None and list(told.replicas) != replicas:
                raise Violation(ARRIVES, f"{list(told.replicas)} are replicas, and {replicas} was promised")

    def _moving(self, host: Host) -> str | None:
        if host.node is None:
            return "the node is down"
        for topic in host.node.broker.image.topics.values():
            for index, told in topic.partitions.items():
                if told.reassigning:
                    return f"{topic.name}-{index}: +{list(told.adding)} -{list(told.removing)}"
        return None

    def _places(self, exchange: Exchange) -> list[Place]:
        found = []
        for name, _ in _wishes(exchange):
            topic_id = self._newest.topic_id(name.topic)
            if topic_id is not None:
                found.append((topic_id, name.partition))
        return found


def _wishes(exchange: Exchange) -> list[tuple[TopicPartition, list[int] | None]]:
    return [
        (TopicPartition(topic.name, each.partition_index), each.replicas)
        for topic in exchange.body.topics
        for each in topic.partitions
    ]


def _has_log(host: Host, name: TopicPartition) -> bool:
    """Whether a node has a log of this name: it may not have heard yet that it is to go, or have heard of it before it
    was named."""
    folder = f"{name.topic}-{name.partition}"
    return any(host.disk.exists(f"{directory}/{folder}") for directory in host.settings.log_dirs)


def _partition(image: Image, place: Place) -> PartitionImage | None:
    topic = image.topics_by_id.get(place[0])
    return None if topic is None else topic.partitions.get(place[1])

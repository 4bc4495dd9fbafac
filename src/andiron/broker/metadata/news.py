"""What the log of the active controller says of the cluster: brokers, topics, configs, unclean elections.

    committed records ─▶ delta ─▶ one line for each broker, topic and resource that is not what it was

One node tells, the active controller, so that each thing is told once in a cluster; the others only keep up with what
it was before, since any of them may be the next. It tells what it has decided itself, in its own epoch: what earlier
ones decided is history, and nobody is told of it again at each start.

Read next: metadata_publisher.py, which asks for it after a delta has taken effect.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from andiron.controller.image import BROKER, CLIENT_METRICS, GROUP, TOPIC, Delta, Image
from andiron.model.ids import NodeId, TopicId, TopicPartition
from andiron.model.line import Line

KINDS = {TOPIC: "topic", BROKER: "broker", CLIENT_METRICS: "client-metrics", GROUP: "group"}

Told = tuple[int, Line]  # at which level

log = logging.getLogger(__name__)


class News:
    """What is known of brokers and partitions, to see by it what is new."""

    def __init__(self) -> None:
        self._fenced: dict[NodeId, bool] = {}
        self._unclean: dict[tuple[TopicId, int], None] = {}  # partitions whose leader has not recovered yet

    def tell(self, delta: Delta, image: Image, *, aloud: bool) -> None:
        """Take note of what has changed, and write it into the log if it is for this node to say."""
        told = [*self._of_brokers(delta, image), *self._of_elections(delta, image)]
        if aloud:
            for level, line in [*told, *_of_topics(delta, image), *_of_configs(delta, image)]:
                log.log(level, line)

    def _of_brokers(self, delta: Delta, image: Image) -> Iterator[Told]:
        for node in delta.brokers:
            broker, was_fenced = image.brokers.get(node), self._fenced.pop(node, True)
            if broker is None:
                yield logging.INFO, Line("Broker {broker} is unregistered", broker=node)
                continue
            self._fenced[node] = broker.fenced
            if broker.fenced and not was_fenced:
                level = logging.INFO if broker.stopping else logging.WARNING
                yield level, Line("Broker {broker} is fenced", broker=node, broker_epoch=broker.epoch)
            elif was_fenced and not broker.fenced:
                yield (
                    logging.INFO,
                    Line("Broker {broker} is unfenced", broker=node, broker_epoch=broker.epoch),
                )

    def _of_elections(self, delta: Delta, image: Image) -> Iterator[Told]:
        for key in delta.partitions:
            topic = image.topics_by_id.get(key[0])
            partition = topic.partitions.get(key[1]) if topic is not None else None
            if topic is None or partition is None or not partition.recovering:
                self._unclean.pop(key, None)
            elif key not in self._unclean:
                self._unclean[key] = None
                yield logging.ERROR, Line(
                    "Partition {partition} has a leader by unclean election: committed records may be lost",
                    partition=TopicPartition(topic.name, key[1]), leader=partition.leader,
                    leader_epoch=partition.leader_epoch,
                )  # fmt: skip


def _of_topics(delta: Delta, image: Image) -> Iterator[Told]:
    for topic in delta.removed_topics:
        yield logging.INFO, Line("Topic {topic} is deleted", topic=topic.name)
    changed = dict.fromkeys(id for id, index in delta.partitions if index == 0)  # what a new topic always has
    for new in [image.topics_by_id[id] for id in changed if id in image.topics_by_id]:
        if new.partitions[0].partition_epoch == 0:
            yield (
                logging.INFO,
                Line("Topic {topic} is created", topic=new.name, partitions=len(new.partitions)),
            )


def _of_configs(delta: Delta, image: Image) -> Iterator[Told]:
    """By name only: a value may be a password."""
    for kind, name in delta.configs:
        if kind != TOPIC or name in image.topics:
            resource, names = (
                f"{KINDS.get(kind, kind)} {name or 'default'}",
                image.configs.get((kind, name), {}),
            )
            yield (
                logging.INFO,
                Line("Config of {resource} is changed", resource=resource, settings=list(names)),
            )

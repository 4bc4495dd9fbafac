"""Who names an epoch is answered in that epoch, or refused (KIP-320).

A client that names the epoch it takes a leader to be in is told FENCED_LEADER_EPOCH where it is behind the times, and
UNKNOWN_LEADER_EPOCH where the leader is. Answered from another epoch it would take records for the next ones that are
not: a leader that has been deposed may have some that nobody else has.
"""

from __future__ import annotations

from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.watcher import Violation, Watcher
from andiron.wire.apis import ApiKey

SINCE = 9  # of Fetch: before, epochs are not named
FENCED = "who names an epoch is answered in it"


class EpochsAreFenced(Watcher):
    """Looks at fetches that name epochs, when they are answered."""

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.FETCH or exchange.version < SINCE or exchange.was_held:
            return
        names, partitions = exchange.notes["names"], exchange.notes["partitions"]
        named = {
            (topic.topic or names.get(topic.topic_id), wanted.partition): wanted.current_leader_epoch
            for topic in exchange.body.topics
            for wanted in topic.partitions
        }
        for topic in exchange.response.responses:
            for data in topic.partitions:
                name = topic.topic or names.get(topic.topic_id), data.partition_index
                partition, epoch = partitions.get(name), named.get(name, -1)
                if partition is None or partition.retired or data.error_code or epoch < 0:
                    continue
                if partition.epoch != epoch:
                    raise Violation(
                        FENCED, f"{partition.name}: {epoch} is named, and it is {partition.epoch}"
                    )

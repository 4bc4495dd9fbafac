"""Which replicas of a node look otherwise than after its last step: most steps leave most of them as they were.

Laws about replicas are asked of those alone. What they look at is compared here once, instead of by each of them:

    end · start · watermark · flushed end │ epoch · leads · failure │ segments · settings │ open to clients

A replica that is new to the node is told of twice: after a restart the first look settles what has survived
(invariants/survival.py), and the others begin with the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from andiron.broker.replicas.partition import Partition
    from andiron.sim.host import Host

_Look = tuple[tuple[Any, ...], object, object]


class Changes:
    """What was seen of each replica in one life of a node; those that are otherwise now, found when first asked for."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._seen: dict[Partition, _Look] = {}
        self._new: dict[Partition, None] = {}
        self._changed: list[Partition] | None = None

    def stepped(self) -> None:
        """The node has taken a step: there may be others."""
        self._changed = None

    def __iter__(self) -> Iterator[Partition]:
        if self._changed is None:
            self._changed = self._find()
        return iter(self._changed)

    def _find(self) -> list[Partition]:
        assert self._host.node is not None
        changed, is_open = [], self._host.is_open
        for partition in self._host.node.broker.replica_manager:
            log = partition.log
            look = (
                log.end, log.start, partition.watermark, log.flushed_end,
                partition.epoch, partition.leads, partition.failure, is_open,
            )  # fmt: skip
            seen, bases, settings = self._seen.get(partition), log.segments.bases, log.settings
            is_same = seen is not None and seen[0] == look and seen[1] is bases and seen[2] is settings
            if is_same and partition not in self._new:
                continue
            self._seen[partition] = look, bases, settings
            if seen is None:
                self._new[partition] = None
            else:
                self._new.pop(partition, None)
            changed.append(partition)
        return changed

"""What is committed was written by all that are in sync, by the word of the controller.

    ISR in the metadata   1 2 3        a leader that counts without 3, which it has not heard of for long, before the
    watermark             ▁▁▁▁▁▁▁▁│    controller has taken 3 out, commits what is lost when the controller lets 3 lead
    3 ever had            ▁▁▁▁▁│

So it is with those that are eligible (KIP-966): while there are any, nothing is committed.

Looked at when a leader begins, and when its watermark moves on; against what each replica ever had, since a loss of
power may take from it what it had said it had.
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.sim.host import Host
from andiron.sim.mirror import Key, key_of
from andiron.sim.newest import Newest
from andiron.sim.watcher import End, Violation, Watcher

HELD = "what is committed was on all that are in sync"


class CommittedIsInSync(Watcher):
    """Remembers how far the log of each replica ever went."""

    def __init__(self, newest: Newest) -> None:
        self._newest = newest
        self._held: dict[Key, int] = {}
        self._watermarks: dict[Key, int] = {}

    def went_down(self, host: Host, end: End) -> None:
        self._watermarks = {key: mark for key, mark in self._watermarks.items() if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        for partition in host.changed:
            key = key_of(host, partition)
            self._held[key] = max(self._held.get(key, 0), partition.log.end)
            if not self._newest.leads(host, partition):
                self._watermarks.pop(key, None)
            elif partition.watermark > self._watermarks.get(key, 0):
                self._watermarks[key] = partition.watermark
                self._check(host, partition)

    def _check(self, host: Host, partition: Partition) -> None:
        _, topic_id, number = key_of(host, partition)
        told = self._newest.partition((topic_id, number))
        for replica in () if told is None else (*told.isr, *told.elr):
            held = self._held.get((replica, topic_id, number), 0)
            if held < partition.watermark:
                how = f"{partition.name} is committed up to {partition.watermark}; node-{replica} had {held}"
                raise Violation(HELD, how)

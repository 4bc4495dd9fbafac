"""Who is in sync is in service, and one that came to a bad end begins anew.

    registered, in service     1 2 3      in sync 1 2 3
    2 is killed, and fenced    1 _ 3      in sync 1 3       eligible, if these are too few
    2 registers again          1 _ 3      in sync 1 3       and not eligible: it may have lost what it had

Looked at whenever the metadata has changed, as what it says of brokers and of partitions has to go together. Whether a
replica that is taken for what it is not has lost anything, and leads then, takes two more coincidences.
"""

from __future__ import annotations

from andiron.model.ids import NodeId
from andiron.sim.host import Host
from andiron.sim.newest import Newest
from andiron.sim.watcher import End, Violation, Watcher

SERVES = "who is in sync is in service"
ANEW = "one that came to a bad end begins anew"


class InSyncAreInService(Watcher):
    """Holds partitions against brokers; remembers in which life a broker came to a bad end."""

    def __init__(self, newest: Newest) -> None:
        self._newest = newest
        self._applied = -1
        self._ended: dict[NodeId, int] = {}  # the epoch under which it was registered then

    def went_down(self, host: Host, end: End) -> None:
        known = self._newest.broker(host.number)
        let_in = None if host.node is None else host.node.broker.lifecycle.epoch
        # One that was not let in yet in this life had nothing to lose, and may be in the middle of that.
        if end is not End.STOPPED and known is not None and known.epoch == let_in:
            self._ended[NodeId(host.number)] = known.epoch

    def stepped(self, host: Host) -> None:
        if self._newest.applied == self._applied:
            return
        self._applied = self._newest.applied
        anew = self._take_anew()
        for name, told in self._newest.partitions():
            for replica in told.isr if len(told.isr) > 1 else ():  # without ELR the last one stays
                known = self._newest.broker(replica)
                if known is None or known.fenced:
                    raise Violation(SERVES, f"{name}: node-{replica} is in sync, and fenced")
            for replica in anew:
                if replica in told.elr:
                    raise Violation(ANEW, f"{name}: node-{replica}, which was killed, is eligible")

    def _take_anew(self) -> list[NodeId]:
        """Those that have registered since, and not served since that."""
        anew = []
        for node, epoch in list(self._ended.items()):
            known = self._newest.broker(node)
            if known is not None and known.epoch != epoch:
                del self._ended[node]
                anew += [node] if known.fenced else []
        return anew

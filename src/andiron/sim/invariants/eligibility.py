"""Who may lead has all that is committed: every replica in sync, and every eligible one (KIP-966), in its present life.

    replicas 1 2 3   in sync 1   eligible 2      1 and 2 have all up to the watermark of 1; 3 may have less

Looked at whenever the metadata has changed: a controller is found out when it takes somebody for what it is not, and
not only when that one happens to lead. A replica that has come to a bad end is known by it from when it has registered
again.
"""

from __future__ import annotations

from andiron.controller.image import PartitionImage
from andiron.model.ids import NodeId
from andiron.sim.canon import Canon, Canons, Place
from andiron.sim.host import Host
from andiron.sim.mirror import Mirrors
from andiron.sim.newest import Newest
from andiron.sim.watcher import Violation, Watcher

ALL = "who may lead has all that is committed"


class EligibleHaveAll(Watcher):
    """Looks at all partitions when somebody has read something new."""

    def __init__(self, mirrors: Mirrors, canons: Canons, newest: Newest) -> None:
        self._mirrors, self._canons, self._newest = mirrors, canons, newest
        self._applied = -1

    def stepped(self, host: Host) -> None:
        if self._newest.applied == self._applied:
            return
        self._applied = self._newest.applied
        for place, canon in self._canons.items():
            told = self._newest.partition(place)
            if told is not None and not canon.is_excused and not canon.cuts:
                self._look(host, place, canon, told)

    def _look(self, host: Host, place: Place, canon: Canon, told: PartitionImage) -> None:
        for replica in dict.fromkeys((*told.isr, *told.elr)):
            end = self._end(host.world.hosts[replica], replica, place, canon)
            if end is not None and end < canon.end:
                role = "in sync" if replica in told.isr else "eligible"
                raise Violation(
                    ALL, f"{canon.name}: node-{replica} is {role}, and ends at {end} of {canon.end}"
                )

    def _end(self, host: Host, replica: NodeId, place: Place, canon: Canon) -> int | None:
        """Where its log ends; None where that cannot be said, or not be known to the controller."""
        broker = None if host.node is None else host.node.broker
        known = self._newest.broker(replica)
        if broker is None or known is None or known.epoch != broker.lifecycle.epoch:
            return None
        partition, mirror = broker.replica_manager.peek(canon.name), self._mirrors.get((replica, *place))
        if partition is None or partition.topic_id != place[0] or partition.failure is not None:
            return None
        return None if mirror is None or mirror.fell is not None else partition.log.end

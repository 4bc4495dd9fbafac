"""Who may lead: the brokers as they will be once what is being decided has come about.

A decision on a broker (it is fenced, let in, loses a directory) is at the same time one on all partitions of
which it has a replica, and these must be decided as if the broker had changed already:

    image.brokers     1 live   2 live   3 fenced
    changed                    2 fenced
    standing          1 live   2 fenced 3 fenced

Read next: elections.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from andiron.controller.image import BrokerImage, Image, PartitionImage
from andiron.model.ids import NodeId


@dataclass(frozen=True, slots=True)
class Standing:
    """The brokers of an image, one of which may be about to change."""

    image: Image
    changed: BrokerImage | None = None

    def broker(self, id: NodeId) -> BrokerImage | None:
        """A broker as it will be."""
        if self.changed is not None and self.changed.id == id:
            return self.changed
        return self.image.brokers.get(id)

    def may_lead(self, partition: PartitionImage, replica: NodeId) -> bool:
        """Whether a replica is on a live broker, in a directory that works."""
        broker = self.broker(replica)
        return broker is not None and broker.live and broker.holds(partition.directory_of(replica))

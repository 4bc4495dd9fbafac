"""In which of its directories each replica of this broker lies, told to the controller (KIP-858).

    the metadata: orders-3 is in directory A     it is there               ─▶ nothing to say
                                                 it lies in B              ─▶ AssignReplicasToDirs: B
                                                 its disk has failed       ─▶ AssignReplicasToDirs: lost

What is lost leaves the in-sync replicas and is led by others, while the broker goes on with all the rest. When the
disk is well again the replica is found where it is, and that is told too: it follows, and rejoins. A log that would not
open is tried again; one that could not be synced is lost until a restart.

What comes up while one request is under way goes out in the next.
"""

from __future__ import annotations

import logging

from andiron.broker.metadata.broker_lifecycle import BrokerLifecycle
from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.node.patience import ASSIGN_DIRECTORIES_MS
from andiron.broker.node.step import Step
from andiron.controller.image import LOST
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis
from andiron.model.line import Line
from andiron.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectory,
    AssignReplicasToDirsRequestPartition,
    AssignReplicasToDirsRequestTopic,
)

log = logging.getLogger(__name__)

Replica = tuple[bytes, int]  # its topic's id, its number


class DirectoryAssignments:
    """Keeps the controller informed of where this broker's replicas are."""

    def __init__(self, lifecycle: BrokerLifecycle, channel: ControllerChannel, step: Step) -> None:
        self._lifecycle, self._channel, self._step = lifecycle, channel, step
        self._to_tell: dict[Replica, bytes] = {}
        self._asking = False

    def found(self, topic_id: bytes, index: int, directory: bytes, told: bytes) -> None:
        """A replica is in `directory`, or LOST, and the metadata says it is in `told`."""
        if directory == told:
            self._to_tell.pop((topic_id, index), None)
        else:
            self._to_tell[topic_id, index] = directory

    def lost(self, topic_id: bytes, index: int) -> None:
        """The disk under a replica has failed."""
        self._to_tell[topic_id, index] = LOST

    def send(self, now: Millis) -> None:
        """Tell what is to be told, once the broker is registered."""
        if self._asking or not self._to_tell or self._lifecycle.epoch < 0:
            return
        told, self._to_tell = self._to_tell, {}
        self._asking = True

        def answered(response: object) -> None:
            self._asking = False
            if response is None:
                self._to_tell = {**told, **self._to_tell}
            else:
                self.send(self._step.now)

        def refused(error: ProtocolError) -> None:
            log.warning(Line(
                "Controller cannot be told in which log directories replicas lie; tried again",
                count=len(told), error=error.detail,
            ))  # fmt: skip

        self._step.later(
            self._channel.decide(self._request(told), now, ASSIGN_DIRECTORIES_MS).or_else(refused), answered
        )

    def _request(self, told: dict[Replica, bytes]) -> AssignReplicasToDirsRequest:
        directories: dict[bytes, dict[bytes, AssignReplicasToDirsRequestTopic]] = {}
        for (topic_id, index), directory in told.items():
            topics = directories.setdefault(directory, {})
            topic = topics.setdefault(topic_id, AssignReplicasToDirsRequestTopic(topic_id))
            topic.partitions.append(AssignReplicasToDirsRequestPartition(index))
        return AssignReplicasToDirsRequest(
            self._lifecycle.me,
            self._lifecycle.epoch,
            [
                AssignReplicasToDirsRequestDirectory(id, list(topics.values()))
                for id, topics in directories.items()
            ],
        )

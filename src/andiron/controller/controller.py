"""The controller: routes a request to the part that decides it.

    request ──▶ decide ──▶ Decision(response, records) ──▶ the metadata log ──▶ replay ──▶ image
                  │  looks at                                                              │
                  └────────────────────────────────────────────────────────────────────────┘

`decide` changes nothing, not even its dice: what is left to chance (topic ids, placement) is drawn from the
seed and the position in the log, so the same request at the same position has the same answer. Two requests
must not be decided at one position: append and replay the first before deciding the second.

Read next: topics.py, and broker/shards.py, which runs this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from andiron.controller import brokers, configs, features, partitions, producer_ids, topics
from andiron.controller.brokers import RegisterBroker, UnfenceBroker
from andiron.controller.image import Image
from andiron.controller.producer_ids import AllocateProducerIds
from andiron.controller.records import MetadataRecord
from andiron.controller.settings import ControllerSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, Offset
from andiron.model.machine import Decision
from andiron.wire.messages.alter_configs import AlterConfigsRequest
from andiron.wire.messages.create_partitions import CreatePartitionsRequest
from andiron.wire.messages.create_topics import CreateTopicsRequest
from andiron.wire.messages.delete_topics import DeleteTopicsRequest
from andiron.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest


class BeginCluster(NamedTuple):
    """The first leader has come up: give a cluster without metadata its features. Answered with None."""


class Controller:
    """The deciding machine whose state is the metadata log."""

    def __init__(self, settings: ControllerSettings, seed: int) -> None:
        self.image = Image(noting=False)
        self._settings, self._seed = settings, seed
        self._deciders: dict[type, Callable[[Any], Decision[MetadataRecord]]] = {
            CreateTopicsRequest: lambda r: topics.create_topics(r, self.image, settings, self._chance()),
            DeleteTopicsRequest: lambda r: topics.delete_topics(r, self.image, settings),
            CreatePartitionsRequest: lambda r: partitions.create_partitions(r, self.image, self._chance()),
            AlterConfigsRequest: lambda r: configs.alter_configs(r, self.image, settings),
            IncrementalAlterConfigsRequest: lambda r: configs.incremental_alter_configs(
                r, self.image, settings
            ),
            AllocateProducerIds: lambda r: producer_ids.allocate(r, self.image),
            RegisterBroker: lambda r: brokers.register(r, self.image),
            UnfenceBroker: lambda r: brokers.unfence(r, self.image),
            BeginCluster: lambda r: Decision(None, features.first_records(self.image)),
        }

    def decide(self, request: Any, now: Millis) -> Decision[MetadataRecord]:
        """What should follow from a request."""
        decider = self._deciders.get(type(request))
        if decider is None:
            raise ErrorCode.INVALID_REQUEST.error(f"{type(request).__name__} is not for the controller")
        return decider(request)

    def replay(self, record: MetadataRecord, offset: Offset) -> None:
        """Take in a record that stands in the metadata log at `offset`."""
        self.image.replay(record, offset)

    def _chance(self) -> Chance:
        return Chance((self._seed << 64) | self.image.next_offset)

"""The controller (KIP-631): routes a request to the part that decides it.

    request ──▶ decide ──▶ Decision(response, records) ──▶ the metadata log ──▶ replay ──▶ image
                  │  looks at                                                              │
                  └────────────────────────────────────────────────────────────────────────┘

`decide` changes nothing, not even its dice: what is left to chance (topic ids, placement) is drawn from the
seed and the position in the log, so the same request at the same position has the same answer. Two requests
must not be decided at one position: append and replay the first before deciding the second.

The one thing that is soft is who was heard of when (broker_sessions.py). It is true whether the records of a decision
are written or not, so every decision is firm. A controller that takes over is told so by `LogLoaded` and by the
clock from then on: brokers that are silent are fenced, leaders given back to where they belong.

Read next: topics.py, broker_registrations.py, and broker/coordinators/shard.py, which runs this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from andiron.controller import (
    alter_partition,
    broker_registrations,
    configs,
    controller_registrations,
    directory_assignments,
    eligible_leader_replicas,
    features,
    leader_election,
    partitions,
    producer_ids,
    reassignments,
    topics,
)
from andiron.controller.broker_heartbeats import BrokerGone, BrokerHeartbeats
from andiron.controller.broker_sessions import BrokerSessions
from andiron.controller.image import Image
from andiron.controller.records import (
    AbortTransactionRecord,
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from andiron.controller.settings import ControllerSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, Millis, NodeId, Offset
from andiron.model.machine import Decision, LogLoaded, TimePassed
from andiron.model.settings import SECOND
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from andiron.wire.messages.alter_configs import AlterConfigsRequest
from andiron.wire.messages.alter_partition import AlterPartitionRequest
from andiron.wire.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from andiron.wire.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from andiron.wire.messages.broker_registration import BrokerRegistrationRequest
from andiron.wire.messages.controller_registration import ControllerRegistrationRequest
from andiron.wire.messages.create_partitions import CreatePartitionsRequest
from andiron.wire.messages.create_topics import CreateTopicsRequest
from andiron.wire.messages.delete_topics import DeleteTopicsRequest
from andiron.wire.messages.elect_leaders import ElectLeadersRequest
from andiron.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from andiron.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest
from andiron.wire.messages.update_features import UpdateFeaturesRequest

ABORTED = "the controller that began it is gone"

Decided = Decision[MetadataRecord]


class BeginCluster(NamedTuple):
    """A leader has come up: abort what the one before it left unfinished, and give a cluster without metadata its
    features. Answered with None."""


class Controller:
    """The deciding machine whose state is the metadata log."""

    def __init__(self, settings: ControllerSettings, seed: int, bootstrap: features.Bootstrap = list) -> None:
        self.image = image = Image(noting=False)
        self._bootstrap = bootstrap
        self._settings, self._seed = settings, seed
        self._sessions = sessions = BrokerSessions(settings.broker_session_timeout_ms)
        self._heartbeats = BrokerHeartbeats(image, settings, sessions)
        self._elections_at = NEVER
        # By request; each is given the request and the time.
        self._deciders: dict[type, Callable[[Any, Millis], Decided]] = {
            CreateTopicsRequest: lambda r, _: topics.create_topics(r, image, settings, self._chance()),
            DeleteTopicsRequest: lambda r, _: topics.delete_topics(r, image, settings),
            CreatePartitionsRequest: lambda r, _: partitions.create_partitions(r, image, self._chance()),
            AlterConfigsRequest: lambda r, _: self._configured(configs.alter_configs(r, image, settings)),
            IncrementalAlterConfigsRequest: lambda r, _: self._configured(
                configs.incremental_alter_configs(r, image, settings)
            ),
            AlterPartitionRequest: lambda r, _: alter_partition.alter_partition(r, image, settings),
            ElectLeadersRequest: lambda r, _: leader_election.elect_leaders(r, image, settings),
            AlterPartitionReassignmentsRequest: lambda r, _: reassignments.alter_reassignments(
                r, image, settings
            ),
            ListPartitionReassignmentsRequest: lambda r, _: reassignments.list_reassignments(r, image),
            AssignReplicasToDirsRequest: lambda r, _: directory_assignments.assign_replicas(
                r, image, settings
            ),
            UpdateFeaturesRequest: lambda r, _: features.update_features(r, image, settings),
            AllocateProducerIdsRequest: lambda r, _: producer_ids.allocate_producer_ids(r, image),
            BrokerRegistrationRequest: lambda r, now: broker_registrations.register_broker(
                r, image, settings, sessions, now
            ),
            ControllerRegistrationRequest: lambda r, _: controller_registrations.register_controller(
                r, image
            ),
            UnregisterBrokerRequest: lambda r, _: broker_registrations.unregister_broker(r, image, settings),
            BrokerHeartbeatRequest: self._heartbeats.decide,
            BrokerGone: self._heartbeats.gone,
            BeginCluster: lambda r, _: self._begin(),
            LogLoaded: lambda r, now: self._loaded(now),
            TimePassed: lambda r, now: self._time_passed(now),
        }

    def decide(self, request: Any, now: Millis) -> Decided:
        """What should follow from a request."""
        if self.image.transaction.is_open and not isinstance(request, BeginCluster):
            return self._abort(request)
        decider = self._deciders.get(type(request))
        if decider is None:
            raise ErrorCode.INVALID_REQUEST.error(f"{type(request).__name__} is not for the controller")
        return decider(request, now)

    def replay(self, record: MetadataRecord, offset: Offset) -> None:
        """Take in a record that stands in the metadata log at `offset`."""
        for counting in self.image.replay(record, offset):
            if isinstance(counting, RegisterBrokerRecord):
                self._sessions.registered(NodeId(counting.broker_id), offset)
            elif isinstance(counting, BrokerRegistrationChangeRecord | UnregisterBrokerRecord):
                broker = self.image.brokers.get(NodeId(counting.broker_id))
                if broker is None or broker.fenced:
                    self._sessions.forget(NodeId(counting.broker_id))

    def next_deadline(self) -> Millis:
        """When to come with TimePassed: a session runs out, or leaders are to be looked at."""
        return min(self._sessions.next_deadline(), self._elections_at)

    # ── what time brings ─────────────────────────────────────────────────────────────

    def _begin(self) -> Decided:
        """What a log that ends inside a transaction waits for comes no more: whoever led is gone."""
        aborted = [AbortTransactionRecord(ABORTED)] if self.image.transaction.is_open else []
        first = features.first_records(self.image, self._settings, self._bootstrap)
        return Decision(None, [*aborted, *first])

    def _abort(self, request: object) -> Decided:
        """The abort could not be written at the beginning. Nothing else may be decided before: it would be aborted."""
        if isinstance(request, TimePassed):
            return self._begin()
        raise ErrorCode.NOT_CONTROLLER.error("the controller has still to abort what the one before it began")

    def _loaded(self, now: Millis) -> Decided:
        """This controller has taken over: every broker has a full session to find it."""
        self._sessions.begin(self.image, now)
        self._elections_at = self._next_elections(now)
        return Decision(None, eligible_leader_replicas.clear_needless_elr(self.image, self._settings))

    def _time_passed(self, now: Millis) -> Decided:
        """Fence one broker that is silent, or else look at leaders if that is due."""
        records = self._heartbeats.silent(now)
        if not records and now >= self._elections_at:
            self._elections_at = self._next_elections(now)
            records = leader_election.periodic_elections(self.image, self._settings)
        return Decision(None, records)

    def _next_elections(self, now: Millis) -> Millis:
        return Millis(now + self._settings.leader_imbalance_check_interval_seconds * SECOND)

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _configured(self, decision: Decided) -> Decided:
        """Settings may bear on who is eligible to lead."""
        records = [
            *decision.records,
            *eligible_leader_replicas.clear_elr_by_configs(self.image, decision.records),
        ]
        return Decision(decision.response, records)

    def _chance(self) -> Chance:
        return Chance((self._seed << 64) | self.image.next_offset)

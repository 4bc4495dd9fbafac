"""What a cluster says of itself, asked again and again of whoever answers.

Both are asked by the same client, which takes no part in what is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka.admin import AdminClient, NewTopic

from andiron.client.blocking import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.metadata import Partition
from andiron.client.settings import ClientSettings
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from clusters.nodes import Cluster, bootstrap

PATIENCE_S = 180.0
EVERY_S = 0.03
SETTINGS = {"min.insync.replicas": "2"}
QUICK = ClientSettings(
    client_id="bench",
    socket_connection_setup_timeout_ms=1000,
    request_timeout_ms=5000,
    default_api_timeout_ms=0,  # an answer or none: the next question comes soon
)


class DidNotHappen(Exception):
    """What was waited for did not come."""


class Asking:
    """Questions to a cluster, of which some nodes may be down."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._client: Client | None = None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def controller(self) -> int:
        """The node that leads the metadata."""
        found = -1

        def known() -> bool:
            nonlocal found
            found = self._admin().describe_quorum().leader_id
            return found in self._cluster.nodes and self._cluster.nodes[found].running

        self.until(known, "a controller is there")
        return found

    def controller_epoch(self) -> int:
        """How often a controller was elected."""
        self.controller()
        return self._admin().describe_quorum().epoch

    def partitions(self, topic: str | None = None) -> list[Partition]:
        """Of one topic, or of all."""
        found = self._admin().topics()
        return [each for every in found if topic in (None, every.name) for each in every.partitions]

    def until_in_sync(self, node_id: int | None = None, patience_s: float = PATIENCE_S) -> None:
        """Wait until a node, or each, is in the ISR of all partitions that it is a replica of."""

        def in_sync() -> bool:
            found = self.partitions()
            wanted = [(each, [id for id in each.replicas if node_id in (None, id)]) for each in found]
            return all(id in each.isr for each, ids in wanted for id in ids) and bool(found)

        self.until(in_sync, f"node {node_id or 'by node'} is in sync", patience_s)

    def until_gone(self, node_id: int) -> None:
        """Wait until a node is in no ISR."""
        self.until(lambda: all(node_id not in each.isr for each in self.partitions()), "it is out of sync")

    def create(
        self, topic: str, partitions: int = 1, *, replicas: Sequence[int] | None = None, factor: int = 3
    ) -> None:
        """Make a topic, its replicas here if they are named, and wait until all are in sync."""
        settings = SETTINGS if (factor if replicas is None else len(replicas)) > 2 else {}
        if replicas is None:
            wanted = NewTopic(topic, partitions, factor, config=settings)
        else:
            places = [list(replicas)] * partitions
            wanted = NewTopic(topic, partitions, replica_assignment=places, config=settings)
        admin = AdminClient({"bootstrap.servers": bootstrap(self._cluster)})
        admin.create_topics([wanted], operation_timeout=60, request_timeout=60)[topic].result()
        self.until(lambda: self._is_whole(topic, partitions), f"{topic} is there")

    def _is_whole(self, topic: str, count: int) -> bool:
        found = self.partitions(topic)
        return len(found) == count and all(
            each.leader >= 0 and len(each.isr) == len(each.replicas) for each in found
        )

    def move(self, places: Mapping[TopicPartition, Sequence[int]]) -> None:
        """Move replicas, and wait until all are where they should be."""
        refused = self._admin().reassign(places)
        assert not refused, refused
        self.until(lambda: not self._admin().reassignments(), "all have moved")

    def until(self, holds: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
        """Ask until it is so; no answer counts as not yet."""
        until, why = time.monotonic() + patience_s, ""
        while time.monotonic() < until:
            try:
                if holds():
                    return
            except AndironError as error:
                why = f": {error}"
                self.close()
            time.sleep(EVERY_S)
        raise DidNotHappen(f"not in {patience_s:.0f} s: {what}{why}")

    def _admin(self) -> ClusterAdmin:
        if self._client is None:
            self._client = Client(bootstrap(self._cluster), QUICK)
        return ClusterAdmin(self._client)

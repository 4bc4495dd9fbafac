"""The metadata is what clients were told it is: topics, partitions, settings, and ids given once.

What is acknowledged survives everything, since it was on the disk before; what was not is there
whole or not at all (catalog.py). A topic that is deleted and made again has another id. No two
producers ever get the same id.

Nodes of a cluster learn of changes one after the other, so the newest image counts that any of them has.
"""

from __future__ import annotations

from andiron.controller.image import TOPIC, Image
from andiron.sim.catalog import Catalog, State, TopicState, changes, codes
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.apis import ApiKey

KEPT = "acknowledged metadata is kept"
IDS = "an id is given once"


class MetadataIsKept(Watcher):
    """Compares the committed image with the catalog whenever it has changed."""

    def __init__(self, catalog: Catalog, *, is_alone: bool = True) -> None:
        self._catalog, self._is_alone = catalog, is_alone
        self._requests = 0
        self._applied: dict[int, int] = {}
        self._newest = 0  # that any node has applied
        self._producers: dict[int, None] = {}

    def heard(self, host: Host, exchange: Exchange) -> None:
        self._requests += 1
        asked = [
            self._catalog.heard(topic, change) for topic, change in changes(exchange.body, self._requests)
        ]
        if asked:
            exchange.notes["changes"] = asked

    def said(self, host: Host, exchange: Exchange) -> None:
        asked = exchange.notes.get("changes")
        if asked:
            for one, code in zip(asked, codes(exchange.response), strict=True):
                self._catalog.said(one, code)
            self._look(host)
        is_identity = exchange.key == ApiKey.INIT_PRODUCER_ID and exchange.body.transactional_id is None
        if is_identity and exchange.response.error_code == 0:
            self._check_producer(exchange.response.producer_id)

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        applied = host.node.broker.metadata.applied
        if not self._is_alone:
            if applied > self._newest:
                self._newest = applied
                self._look(host)
        elif host.node.ready and self._applied.get(host.number) != applied:
            self._applied[host.number] = applied
            self._look(host)

    def went_down(self, host: Host, end: End) -> None:
        self._applied.pop(host.number, None)

    def came_up(self, host: Host) -> None:
        """What was under way when the last node ended is now decided."""
        if self._is_alone:
            self._look(host)
            self._settle(host)

    def rested(self, host: Host) -> None:
        if not self._is_alone:
            self._look(host)
            self._settle(host)

    def _settle(self, host: Host) -> None:
        assert host.node is not None
        for topic in self._catalog.topics:
            self._catalog.found(topic, self._state(host.node.broker.image, topic))

    def _look(self, host: Host) -> None:
        assert host.node is not None
        if not self._is_alone and host.node.broker.metadata.applied < self._newest:
            return
        image = host.node.broker.image
        for topic in (*self._catalog.topics, *image.topics):
            actual, possible = self._state(image, topic), self._catalog.possible(topic)
            if actual not in possible:
                raise Violation(KEPT, f"{topic} is {actual}, and may be {possible}")
            self._catalog.shown(topic, actual)

    def _state(self, image: Image, topic: str) -> State:
        found = image.topics.get(topic)
        if found is None:
            return None
        incarnation = self._catalog.incarnation_of(topic, found.id)
        if incarnation is None:
            incarnation = self._catalog.name(topic, found.id)
        if incarnation is None:
            raise Violation(KEPT, f"{topic} has changed its id")
        configs = tuple(sorted(image.configs_of(TOPIC, topic).items()))
        return TopicState(incarnation, len(found.partitions), configs)

    def _check_producer(self, id: int) -> None:
        if id in self._producers:
            raise Violation(IDS, f"producer id {id} is given again")
        self._producers[id] = None

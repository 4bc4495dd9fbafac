"""What a coordinator says can be relied on: it is committed in its own log, and all that it follows from.

A decision is made in the step that hears the request, or later. Where the log ended after that step is where it must
be committed up to when the answer leaves, also if nothing was written for it: what it has seen may otherwise be
taken back. Errors promise nothing, and nor does the answer to a classic member's heartbeat, who is put off with a
kind word while the coordinator loads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from andiron.broker.broker import Broker
from andiron.broker.coordinators.group_coordinator import TOPIC as OFFSETS
from andiron.broker.coordinators.transaction_coordinator import TOPIC as TRANSACTIONS
from andiron.model.ids import TopicPartition
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.apis import ApiKey

COMMITTED = "coordinators say what is committed"

_GROUPS: dict[int, Callable[[Any], str]] = {
    key: lambda body: str(body.group_id)
    for key in (
        ApiKey.OFFSET_COMMIT, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.LEAVE_GROUP,
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.TXN_OFFSET_COMMIT,
    )
} | {ApiKey.OFFSET_FETCH: lambda body: str(body.groups[0].group_id)}  # fmt: skip

_TRANSACTIONS: dict[int, Callable[[Any], str]] = {
    key: lambda body: str(body.transactional_id)
    for key in (ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN)
} | {ApiKey.ADD_PARTITIONS_TO_TXN: lambda body: str(body.v3_and_below_transactional_id)}  # fmt: skip

END = "end of the coordinator's log"


class CoordinatorsWait(Watcher):
    """Remembers what each request may rest on."""

    def __init__(self) -> None:
        self._heard: list[tuple[Exchange, TopicPartition]] = []

    def heard(self, host: Host, exchange: Exchange) -> None:
        assert host.node is not None
        place = _place(host.node.broker, exchange)
        if place is not None:
            self._heard.append((exchange, place))

    def stepped(self, host: Host) -> None:
        for exchange, place in self._heard:
            exchange.notes[END] = _end(host, place)
        self._heard.clear()

    def went_down(self, host: Host, end: End) -> None:
        self._heard.clear()

    def said(self, host: Host, exchange: Exchange) -> None:
        assert host.node is not None
        place = _place(host.node.broker, exchange)
        if place is None or _failed(exchange.response):
            return
        partition = host.node.broker.replica_manager.peek(place)
        # In the very step that heard it, it is not noted yet.
        end = exchange.notes.get(END, _end(host, place))
        if partition is None or partition.watermark < end:
            raise Violation(COMMITTED, f"{exchange} rests on {place} up to {end}, and is answered")


def _place(broker: Broker, exchange: Exchange) -> TopicPartition | None:
    """Where the coordinator that is asked keeps its state."""
    if exchange.key in _GROUPS:
        group = _GROUPS[exchange.key](exchange.body)
        return TopicPartition(OFFSETS, broker.groups.partition_of(group))
    if exchange.key in _TRANSACTIONS:
        id = _TRANSACTIONS[exchange.key](exchange.body)
        return TopicPartition(TRANSACTIONS, broker.transactions.partition_of(id)) if id != "None" else None
    return None


def _end(host: Host, place: TopicPartition) -> int:
    assert host.node is not None
    partition = host.node.broker.replica_manager.peek(place)
    return 0 if partition is None else partition.log.end


def _failed(response: Any) -> bool:
    """Whether an answer says no, wherever it says so."""
    if getattr(response, "error_code", 0):
        return True
    for field in ("topics", "groups", "results_by_topic_v3_and_below"):
        for topic in getattr(response, field, ()):
            parts = getattr(topic, "partitions", ()) or getattr(topic, "results_by_partition", ())
            codes = [
                getattr(one, "error_code", None) or getattr(one, "partition_error_code", 0) for one in parts
            ]
            if getattr(topic, "error_code", 0) or any(codes):
                return True
    return False

"""Producer ids that nobody had, for those who need one.

    this broker's block ── one is left ─▶ given at once
                        └─ used up ─▶ AllocateProducerIds ─▶ the controller ─▶ a new block, and its first

A transactional id needs one with its first producer, and again when the epochs of its last are used up; its coordinator
cannot wait for one in the middle of a decision, so it is asked beforehand whether it will.

Read next: producer_ids.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from andiron.broker.broker import Broker
from andiron.broker.node.waiting import Wait
from andiron.model.ids import Millis
from andiron.transactions.requests import EndTransaction, InitProducer
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest

T = TypeVar("T")


def next_producer_id(broker: Broker, now: Millis, respond: Callable[[int], T]) -> T | Wait:
    """What `respond` makes of an id that no producer had before."""
    ids = broker.producer_ids
    id = ids.take()
    if id is not None:
        return respond(id)
    request = AllocateProducerIdsRequest(broker.settings.node_id, broker.lifecycle.epoch)
    return broker.decide(request, now).and_then(lambda block: respond(ids.first_of(block)))


def in_transactions(broker: Broker, request: InitProducer | EndTransaction, now: Millis) -> Wait:
    """Let the coordinator of a transactional id decide what may need a producer id that nobody had."""
    id, transactions = request.transactional_id, broker.transactions
    if not transactions.machine_of(id).needs_fresh_id(request):
        return transactions.run(id, request, now)
    return next_producer_id(
        broker, now, lambda fresh: transactions.run(id, request._replace(fresh_id=fresh), now)
    )

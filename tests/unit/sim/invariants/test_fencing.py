from types import SimpleNamespace as Some

import pytest

from andiron.sim.invariants.fencing import EpochsAreFenced
from andiron.sim.watcher import Violation
from andiron.wire.apis import ApiKey

ORDERS = ("orders", 0)


def fetched(named, led, *, error=0, version=18, was_held=False):
    """A fetch that names an epoch, answered by a leader in another."""
    partition = Some(name="orders-0", epoch=led, retired=False)
    wanted = Some(partition=0, current_leader_epoch=named)
    answer = Some(partition_index=0, error_code=error)
    return Some(
        key=ApiKey.FETCH,
        version=version,
        was_held=was_held,
        notes={"names": {b"id": "orders"}, "partitions": {ORDERS: partition}},
        body=Some(topics=[Some(topic="", topic_id=b"id", partitions=[wanted])]),
        response=Some(responses=[Some(topic="", topic_id=b"id", partitions=[answer])]),
    )


@pytest.mark.parametrize(("named", "led"), [(3, 4), (4, 3)])
def test_an_answer_from_another_epoch_is_noticed(named, led):
    with pytest.raises(Violation, match=f"orders-0: {named} is named, and it is {led}"):
        EpochsAreFenced().said(None, fetched(named, led))


@pytest.mark.parametrize(
    "exchange",
    [
        fetched(4, 4),
        fetched(-1, 4),
        fetched(3, 4, error=74),
        fetched(3, 4, version=8),
        fetched(3, 4, was_held=True),
    ],
    ids=[
        "it is the epoch",
        "none is named",
        "it is refused",
        "it cannot be named",
        "it is of an earlier moment",
    ],
)
def test_others_are_not(exchange):
    EpochsAreFenced().said(None, exchange)

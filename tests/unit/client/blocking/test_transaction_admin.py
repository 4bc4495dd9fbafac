"""What is asked about transactions, of whom, and how they are ended. Against real brokers: tests/cli."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.transaction_admin import TransactionAdmin
from andiron.client.core.transaction_descriptions import ActiveProducer, OpenTransaction, TransactionListing
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, Fenced, Refused
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_producers import ProducerState
from andiron.wire.messages.write_txn_markers import WriteTxnMarkersResponse
from unit.client.coordinating import Coordinating
from unit.client.scripted import NODE_ID, ScriptedBroker

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
NOW, OLD = 10_000, 5_000


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def coordinating(broker: ScriptedBroker) -> Coordinating:
    return Coordinating(broker)


@pytest.fixture
def admin(broker: ScriptedBroker, coordinating: Coordinating) -> Iterator[TransactionAdmin]:
    with Client(broker.bootstrap, ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)) as client:
        yield TransactionAdmin(client)


def open_since(producer_id: int, start_offset: int, last_timestamp: int = 1_000) -> ProducerState:
    return ProducerState(producer_id, 2, 9, last_timestamp, -1, start_offset)


def test_transactions_are_asked_of_every_broker(coordinating: Coordinating, admin: TransactionAdmin) -> None:
    coordinating.transaction("b", 8, "Empty")
    coordinating.transaction("a", 7, t=[0])

    first, second = (
        TransactionListing("a", NODE_ID, 7, "Ongoing"),
        TransactionListing("b", NODE_ID, 8, "Empty"),
    )
    assert admin.transactions() == [first, second]
    assert admin.transactions(states=["Ongoing"]) == [first]
    assert admin.transactions(producer_ids=[8]) == [second]


def test_filters_are_passed_on(broker: ScriptedBroker, admin: TransactionAdmin) -> None:
    admin.transactions(longer_than_ms=5, id_pattern="a.*")

    (request,) = broker.requests("ListTransactions")
    assert (request.duration_filter, request.transactional_id_pattern) == (5, "a.*")


def test_only_what_is_open_is_longer_than_anything(
    coordinating: Coordinating, admin: TransactionAdmin
) -> None:
    """Kafka's brokers, and ours, go by the time since the last start, whether it has ended or not."""
    for number, state in enumerate(("Empty", "Ongoing", "PrepareAbort", "CompleteCommit", "CompleteAbort")):
        coordinating.transaction(state, number, state)

    found = admin.transactions(longer_than_ms=5)
    assert [each.transactional_id for each in found] == ["Ongoing", "PrepareAbort"]
    assert admin.transactions(states=["CompleteCommit"], longer_than_ms=5) == []


def test_a_filter_that_a_broker_would_not_mind_is_refused(
    broker: ScriptedBroker, admin: TransactionAdmin
) -> None:
    broker.versions[ApiKey.LIST_TRANSACTIONS] = (0, 0)

    assert admin.transactions() == []
    with pytest.raises(Refused, match="needs ListTransactions 1"):
        admin.transactions(longer_than_ms=5)
    with pytest.raises(Refused, match="needs ListTransactions 2"):
        admin.transactions(id_pattern="a.*")


def test_a_state_that_there_is_not_is_refused(admin: TransactionAdmin) -> None:
    with pytest.raises(Refused, match="knows no state Unheard"):
        admin.transactions(states=["Unheard"])


def test_a_description_is_its_coordinators(coordinating: Coordinating, admin: TransactionAdmin) -> None:
    coordinating.transaction("a", 7, t=[1, 0])
    told = admin.describe("a")

    assert (told.producer_id, told.producer_epoch, told.state) == (7, 2, "Ongoing")
    assert (told.coordinator.id, told.partitions) == (NODE_ID, [P0, P1])
    with pytest.raises(Refused) as caught:
        admin.describe("nosuch")
    assert caught.value.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_an_id_is_terminated_by_taking_it_over(
    broker: ScriptedBroker, coordinating: Coordinating, admin: TransactionAdmin
) -> None:
    coordinating.transaction("a", 7, t=[0])
    coordinating.errors[ApiKey.INIT_PRODUCER_ID] = [ErrorCode.CONCURRENT_TRANSACTIONS.number]
    admin.terminate("a")

    assert admin.describe("a").state == "Empty"
    assert [request.producer_id for request in broker.requests("InitProducerId")] == [-1, -1]


def test_an_id_that_is_not_there_is_not_made_by_terminating_it(
    broker: ScriptedBroker, admin: TransactionAdmin
) -> None:
    with pytest.raises(Refused):
        admin.terminate("nosuch")
    assert broker.requests("InitProducerId") == []


def test_producers_are_told_by_leaders(coordinating: Coordinating, admin: TransactionAdmin) -> None:
    coordinating.producers[0] = [open_since(8, 20), open_since(7, 10)]
    coordinating.errors[ApiKey.DESCRIBE_PRODUCERS] = [ErrorCode.NOT_LEADER_OR_FOLLOWER.number]

    assert admin.producers([P0, P1]) == {
        P0: [ActiveProducer(7, 2, 9, 1_000, -1, 10), ActiveProducer(8, 2, 9, 1_000, -1, 20)],
        P1: [],
    }


def test_what_no_coordinator_knows_is_found(coordinating: Coordinating, admin: TransactionAdmin) -> None:
    coordinating.producers[0] = [
        open_since(6, 5),
        open_since(7, 10),
        open_since(8, 20, last_timestamp=NOW),
    ]
    coordinating.producers[1] = [open_since(7, 30), open_since(9, -1)]
    coordinating.transaction("a", 7, t=[0])

    found = admin.find_hanging([P0, P1], OLD, NOW)
    assert [(each.partition, each.producer.producer_id) for each in found] == [(P0, 6), (P1, 7)]


def test_where_nothing_is_open_no_coordinator_is_asked(
    broker: ScriptedBroker, admin: TransactionAdmin
) -> None:
    assert admin.find_hanging([P0], OLD, NOW) == []
    assert broker.requests("ListTransactions") == []


def test_an_id_that_expired_meanwhile_knows_nothing(
    broker: ScriptedBroker, coordinating: Coordinating, admin: TransactionAdmin
) -> None:
    coordinating.producers[0] = [open_since(7, 10)]
    coordinating.transaction("a", 7, t=[0])
    coordinating.transactions["a"].error_code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.number

    assert len(admin.find_hanging([P0], OLD, NOW)) == 1


def test_a_hanging_one_gets_its_marker(
    broker: ScriptedBroker, coordinating: Coordinating, admin: TransactionAdmin
) -> None:
    coordinating.producers[1] = [open_since(7, 30)]
    coordinating.errors[ApiKey.WRITE_TXN_MARKERS] = [ErrorCode.NOT_LEADER_OR_FOLLOWER.number]
    (found,) = admin.find_hanging([P1], OLD, NOW)
    admin.abort(found)

    assert admin.find_hanging([P1], OLD, NOW) == []
    assert {version for name, version, _ in broker.asked if name == "WriteTxnMarkers"} == {1}
    (marker,) = broker.requests("WriteTxnMarkers")[-1].markers
    told = (marker.producer_id, marker.producer_epoch, marker.transaction_result, marker.coordinator_epoch)
    assert told == (7, 2, False, 0)


def test_a_marker_that_is_refused_is_told(coordinating: Coordinating, admin: TransactionAdmin) -> None:
    coordinating.errors[ApiKey.WRITE_TXN_MARKERS] = [ErrorCode.INVALID_PRODUCER_EPOCH.number]

    with pytest.raises(Fenced, match="t-0: a newer producer"):
        admin.abort(OpenTransaction(P0, ActiveProducer(7, 2, 9, 1_000, -1, 10)))


def test_a_marker_of_which_nothing_is_said_is_not_taken_for_written(
    broker: ScriptedBroker, admin: TransactionAdmin
) -> None:
    broker.on(ApiKey.WRITE_TXN_MARKERS, lambda request: WriteTxnMarkersResponse())

    with pytest.raises(Refused, match="nothing was said of t-0"):
        admin.abort(OpenTransaction(P0, ActiveProducer(7, 2, 9, 1_000, -1, 10)))

"""A transaction asks in the right order, tries again what passes, and never commits what failed.

Against real brokers: tests/compat/test_client_transactions.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.transaction import Transaction, end_transaction
from andiron.client.core.outbox import ProducerIdentity
from andiron.client.core.transaction import InitiatedIdentity, Phase
from andiron.client.settings import ClientSettings, ProducerSettings
from andiron.model.errors import ErrorCode, Fenced, ProtocolError, Refused
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.records.batch import Batch
from andiron.wire.apis import ApiKey
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker
from unit.client.transacting import PRODUCER_ID, Transacting

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS.number
FENCED = ErrorCode.PRODUCER_FENCED.number
NOT_COORDINATOR = ErrorCode.NOT_COORDINATOR.number


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    return Logs(broker)


@pytest.fixture
def coordinator(broker: ScriptedBroker, logs: Logs) -> Transacting:
    return Transacting(broker)


@pytest.fixture
def client(broker: ScriptedBroker, coordinator: Transacting) -> Iterator[Client]:
    with Client(broker.bootstrap, ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)) as made:
        yield made


@pytest.fixture
def transaction(client: Client) -> Transaction:
    made = Transaction(client, "tx")
    made.initiate()
    return made


@pytest.fixture
def producer(client: Client, transaction: Transaction) -> Iterator[Producer]:
    made = Producer(client, transaction=transaction)
    yield made
    made.close()


def me(epoch: int) -> ProducerIdentity:
    return ProducerIdentity(PRODUCER_ID, epoch)


def test_what_is_written_is_committed_with_the_offsets(
    coordinator: Transacting, logs: Logs, transaction: Transaction, producer: Producer
) -> None:
    transaction.begin()
    producer.send("t", b"value", partition=0)
    transaction.send_offsets("g", {P1: (17, "note")})
    transaction.commit()

    assert logs.values(0) == [b"value"]
    assert coordinator.offsets == {P1: (17, "note")}
    assert coordinator.outcomes == [True]
    assert coordinator.told == [
        "InitProducerId",
        "AddOffsetsToTxn",
        "TxnOffsetCommit",
        "AddPartitionsToTxn",
        "EndTxn",
    ]
    batch = Batch(logs.batches[0][0])
    assert (batch.is_transactional, batch.producer_id, batch.producer_epoch) == (True, *me(0))


def test_requests_stay_below_the_versions_that_add_by_themselves(
    broker: ScriptedBroker, transaction: Transaction, producer: Producer
) -> None:
    transaction.begin()
    producer.send("t", b"value", partition=0)
    transaction.send_offsets("g", {P0: (1, "")})
    transaction.commit()

    versions = {name: version for name, version, _ in broker.asked}
    limits = {"InitProducerId": 5, "AddPartitionsToTxn": 3, "TxnOffsetCommit": 4, "EndTxn": 4, "Produce": 11}
    assert {name: versions[name] for name in limits} == limits
    assert broker.requests("Produce")[0].transactional_id == "tx"


def test_a_partition_is_added_once_and_several_at_once(
    broker: ScriptedBroker, transaction: Transaction, producer: Producer
) -> None:
    transaction.begin()
    for number in (0, 1, 0, 1):
        producer.send("t", b"value", partition=number)
    producer.flush()
    producer.send("t", b"value", partition=0)
    transaction.commit()

    (request,) = broker.requests("AddPartitionsToTxn")
    assert request.v3_and_below_topics[0].partitions == [0, 1]


def test_the_next_transaction_has_an_epoch_of_its_own(
    coordinator: Transacting, logs: Logs, transaction: Transaction, producer: Producer
) -> None:
    for value in (b"one", b"two"):
        transaction.begin()
        producer.send("t", value, partition=0)
        transaction.commit()

    assert logs.values(0) == [b"one", b"two"]
    batches = [Batch(data) for data in logs.batches[0]]
    assert [(each.producer_epoch, each.base_sequence) for each in batches] == [(0, 0), (1, 0)]
    assert coordinator.outcomes == [True, True]


def test_an_abort_gives_up_what_was_gathered(
    coordinator: Transacting, logs: Logs, transaction: Transaction, producer: Producer
) -> None:
    transaction.begin()
    producer.send("t", b"sent", partition=0)
    producer.flush()
    producer.send("t", b"gathered", partition=0)
    transaction.abort()

    assert logs.values(0) == [b"sent"]
    assert coordinator.outcomes == [False]
    transaction.begin()
    producer.send("t", b"next", partition=1)
    transaction.commit()
    assert logs.values(1) == [b"next"]


def test_of_an_empty_transaction_nobody_hears(coordinator: Transacting, transaction: Transaction) -> None:
    transaction.begin()
    transaction.commit()

    assert coordinator.told == ["InitProducerId"]


def test_nothing_is_sent_outside_of_a_transaction(transaction: Transaction, producer: Producer) -> None:
    with pytest.raises(Refused, match="is not begun"):
        producer.send("t", b"value")


@pytest.mark.parametrize("api", [ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.END_TXN])
def test_the_coordinator_is_asked_again_where_that_helps(
    coordinator: Transacting, client: Client, api: int
) -> None:
    coordinator.errors[api] = [CONCURRENT, NOT_COORDINATOR, CONCURRENT]
    transaction = Transaction(client, "tx")
    transaction.initiate()
    transaction.begin()
    transaction.add([P0])
    transaction.commit()

    assert coordinator.outcomes == [True]


def test_what_could_not_be_added_is_told_and_nothing_is_committed(
    coordinator: Transacting, transaction: Transaction, producer: Producer
) -> None:
    coordinator.errors[ApiKey.ADD_PARTITIONS_TO_TXN] = [ErrorCode.TOPIC_AUTHORIZATION_FAILED.number]
    transaction.begin()
    producer.send("t", b"value", partition=0)

    with pytest.raises(Refused, match="t-0: not allowed on this topic"):
        transaction.commit()
    with pytest.raises(Refused, match="can only be aborted"):
        transaction.commit()
    transaction.abort()
    assert coordinator.outcomes == []  # nothing was added, so there is nothing to end


def test_a_batch_that_was_refused_is_never_committed_around(
    coordinator: Transacting, logs: Logs, transaction: Transaction, producer: Producer
) -> None:
    transaction.begin()
    producer.send("t", b"good", partition=0)
    producer.flush()
    logs.produce_errors = [ErrorCode.MESSAGE_TOO_LARGE.number]
    producer.send("t", b"bad", partition=0)
    with pytest.raises(Refused, match="MESSAGE_TOO_LARGE"):
        producer.flush()

    with pytest.raises(Refused, match=r"can only be aborted.*MESSAGE_TOO_LARGE"):
        transaction.commit()
    transaction.abort()
    assert coordinator.outcomes == [False]


def test_offsets_that_were_refused_fail_the_transaction(
    coordinator: Transacting, transaction: Transaction
) -> None:
    coordinator.errors[ApiKey.TXN_OFFSET_COMMIT] = [ErrorCode.OFFSET_METADATA_TOO_LARGE.number]
    transaction.begin()

    with pytest.raises(Refused, match="group 'g', t-0: the metadata"):
        transaction.send_offsets("g", {P0: (1, "x")})
    assert transaction.phase is Phase.FAILED


def test_a_producer_that_is_closed_unflushed_fails_the_transaction(
    transaction: Transaction, producer: Producer
) -> None:
    transaction.begin()
    producer.send("t", b"value", partition=0)
    producer.close()

    with pytest.raises(Refused, match="closed unflushed"):
        transaction.commit()


def test_who_is_fenced_is_told_so_ever_after(
    coordinator: Transacting, client: Client, transaction: Transaction
) -> None:
    transaction.begin()
    Transaction(client, "tx").initiate()

    for _ in range(2):
        with pytest.raises(Fenced):
            transaction.add([P0])
    with pytest.raises(Fenced):
        transaction.commit()
    assert transaction.phase is Phase.FENCED


def test_a_holder_is_refused_if_another_has_come(client: Client, transaction: Transaction) -> None:
    heir = Transaction(client, "tx")
    assert heir.initiate(transaction.identity) == InitiatedIdentity(me(1), None)

    with pytest.raises(Fenced):
        Transaction(client, "tx").initiate(transaction.identity)


def test_two_phase_asks_for_it(broker: ScriptedBroker, client: Client) -> None:
    first = Transaction(client, "tx", two_phase=True)
    first.initiate()
    first.begin()
    first.add([P0])
    heir = Transaction(client, "tx", two_phase=True)

    assert heir.initiate(keep_prepared=True) == InitiatedIdentity(me(1), me(0))
    asked = [(request.enable_2pc, request.keep_prepared_txn) for request in broker.requests("InitProducerId")]
    assert asked == [(True, False), (True, True)]
    heir.commit()


@pytest.mark.parametrize("version", [5, 2])
def test_a_broker_that_cannot_is_named_before_it_is_asked(
    broker: ScriptedBroker, client: Client, version: int
) -> None:
    broker.versions[ApiKey.INIT_PRODUCER_ID] = (0, version)
    with pytest.raises(
        Refused, match=f"two-phase commit needs InitProducerId 6; .* serves {version}"
    ) as caught:
        Transaction(client, "tx", two_phase=True).initiate()
    assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION

    if version < 3:
        with pytest.raises(Refused, match="needs InitProducerId 3"):
            Transaction(client, "tx").initiate(me(0))
    assert Transaction(client, "tx").initiate().identity == me(0)


def test_who_knows_the_identity_ends_it(
    coordinator: Transacting, client: Client, transaction: Transaction
) -> None:
    end_transaction(client, "tx", transaction.identity, commit=True)
    end_transaction(client, "tx", transaction.identity, commit=False)
    assert coordinator.outcomes == [True, False]

    with pytest.raises(Fenced):
        end_transaction(client, "tx", me(9), commit=True)


def test_an_error_that_passes_leaves_the_end_to_be_told_again(
    broker: ScriptedBroker, coordinator: Transacting, transaction: Transaction, producer: Producer
) -> None:
    transaction.begin()
    producer.send("t", b"value", partition=0)
    coordinator.errors[ApiKey.END_TXN] = [ErrorCode.UNKNOWN_SERVER_ERROR.number]
    with pytest.raises(ProtocolError):
        transaction.commit()

    transaction.commit()
    assert coordinator.outcomes == [True]


def test_a_transaction_wants_every_record_acknowledged(client: Client, transaction: Transaction) -> None:
    with pytest.raises(SettingError, match="acks=all"):
        Producer(client, ProducerSettings(acks="1"), transaction)

"""A leader asks the coordinator of a transaction, on its own node or on another."""

import pytest

from andiron.broker.coordinators.coordinator_calls import ask_coordinator
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.transactions.requests import AddPartitions
from worlds.cluster_client import create, small_cluster
from worlds.cluster_coordinators import TRANSACTION, begin, coordinator_of

NODES = [1, 2, 3]
A, B, C = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


@pytest.fixture
def cluster():
    made = small_cluster()
    create(made, "t", [(1, 2, 3), (2, 3, 1)])
    create(made, "u")
    return made


def ask(cluster, number, question):
    """What a broker hears of a question; an ErrorCode if it is not answered."""
    heard = []
    broker = cluster.broker(number)

    def refused(error: ProtocolError):
        return error.code

    broker.waiting.later(ask_coordinator(broker, question, cluster.now).or_else(refused), heard.append)
    cluster.until(lambda: heard, ms=15_000)
    return heard[0]


def adding(producer, *partitions, **how):
    return AddPartitions(producer.name, producer.id, producer.epoch, partitions, **how)


@pytest.mark.parametrize("number", NODES)
def test_wherever_the_coordinator_is_it_has_a_word_on_each_partition(cluster, number):
    producer = begin(cluster)

    outcome = ask(cluster, number, adding(producer, A, B, C))

    assert outcome == dict.fromkeys([A, B, C], ErrorCode.NONE)


@pytest.mark.parametrize("number", NODES)
def test_what_was_added_before_is_confirmed_and_what_was_not_is_not(cluster, number):
    producer = begin(cluster)
    ask(cluster, coordinator_of(cluster, TRANSACTION, "tx"), adding(producer, A))

    outcome = ask(cluster, number, adding(producer, A, B, verify_only=True))

    assert outcome[A] is ErrorCode.NONE
    assert outcome[B] is not ErrorCode.NONE


@pytest.mark.parametrize("number", NODES)
def test_an_old_holder_of_the_id_is_told_so_everywhere(cluster, number):
    old = begin(cluster)
    begin(cluster)

    outcome = ask(cluster, number, adding(old, A))

    said = outcome if isinstance(outcome, ErrorCode) else outcome[A]  # all of the request, or the partition
    assert said in (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)


def test_a_coordinator_that_is_away_is_not_available(cluster):
    producer = begin(cluster)
    keeper = coordinator_of(cluster, TRANSACTION, "tx")
    other = next(n for n in NODES if n not in (keeper, cluster.controller))
    cluster.cut |= {(other, keeper), (keeper, other)}

    answer = ask(cluster, other, adding(producer, A))

    assert answer in (ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_NOT_AVAILABLE)


def test_where_nobody_ever_had_a_transaction_there_is_no_coordinator():
    cluster = small_cluster()
    create(cluster, "t", [(1, 2, 3), (2, 3, 1)])

    answer = ask(cluster, 1, AddPartitions("tx", 7, 0, (A,)))

    assert answer in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)

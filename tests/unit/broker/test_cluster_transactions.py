"""Transactions over several brokers: the coordinator on one, the partitions on others; and groups beside them."""

import pytest

from andiron.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from andiron.wire.messages.end_txn import EndTxnRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from worlds.cluster_client import (
    all_in_sync,
    begin_produce,
    create,
    produce,
    produced,
    read,
    ready,
    small_cluster,
    write,
)
from worlds.cluster_coordinators import (
    GROUP,
    OFFSETS,
    TRANSACTION,
    TRANSACTIONS,
    begin,
    commit_offset,
    commit_offset_in,
    committed_offset,
    coordinator_of,
    end,
    write_in,
)
from worlds.node import error_of

NODES = [1, 2, 3]
READ_COMMITTED = 1


@pytest.fixture
def cluster():
    """A topic with a partition led by each of the three."""
    made = small_cluster()
    create(made, "t", [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
    return made


def committed(cluster, partition=0):
    return read(cluster, "t", partition=partition, isolation_level=READ_COMMITTED)


def everywhere(cluster, producer, *, sequence=0):
    """A batch in each partition."""
    for partition in range(3):
        value = b"%d" % (10 * sequence + partition)
        assert write_in(cluster, producer, "t", value, partition=partition, sequence=sequence).error_code == 0


def commit_request(producer):
    return EndTxnRequest(producer.name, producer.id, producer.epoch, True)


def stable(cluster):
    """Whether no partition has a transaction left open."""
    return all(
        cluster.partition(n, "t", p).log.last_stable(cluster.partition(n, "t", p).watermark)
        == cluster.partition(n, "t", p).watermark
        for p in range(3)
        for n in [cluster.leader_of("t", p)]
    )


# ── markers ──────────────────────────────────────────────────────────────────────────


def test_what_is_committed_is_read_from_every_broker(cluster):
    producer = begin(cluster)
    everywhere(cluster, producer)
    assert [committed(cluster, p) for p in range(3)] == [[], [], []]

    end(cluster, producer, committed=True)
    cluster.until(lambda: stable(cluster))

    assert [committed(cluster, p) for p in range(3)] == [[b"0"], [b"1"], [b"2"]]


def test_what_is_aborted_is_marked_on_every_broker(cluster):
    producer = begin(cluster)
    everywhere(cluster, producer)

    end(cluster, producer, committed=False)
    cluster.until(lambda: stable(cluster))

    for partition in range(3):
        leader = cluster.partition(cluster.leader_of("t", partition), "t", partition)
        [aborted] = leader.log.aborted_between(0, leader.log.end)
        assert (aborted.producer_id, aborted.first_offset) == (producer.id, 0)


def test_one_transaction_after_another_goes_through_the_same_coordinator(cluster):
    producer = begin(cluster)
    for number in range(5):
        for partition in range(3):
            answer = write_in(cluster, producer, "t", b"%d" % number, partition=partition)
            assert answer.error_code == 0, error_of(answer)
        producer = end(cluster, producer, committed=number % 2 == 0)
        cluster.until(lambda: stable(cluster))

    for partition in range(3):
        assert committed(cluster, partition) == [b"0", b"2", b"4"]
        held = cluster.partition(cluster.leader_of("t", partition), "t", partition)
        assert held.log.end == 10  # five batches, five markers
        assert len(held.log.aborted_between(0, held.log.end)) == 2


def test_a_coordinator_killed_after_the_decision_leaves_the_markers_to_the_next(cluster):
    producer = begin(cluster)
    everywhere(cluster, producer)
    keeper = coordinator_of(cluster, TRANSACTION, "tx")
    others = [n for n in NODES if n != keeper]
    answers = cluster.ask(keeper, commit_request(producer))
    cluster.until(lambda: answers)  # the decision stands; no time has passed for its markers

    cluster.kill(keeper)
    cluster.until(lambda: all(cluster.leader_of("t", p) in others for p in range(3)))
    cluster.until(lambda: stable(cluster))

    assert answers[0].error_code == 0
    assert [committed(cluster, p) for p in range(3)] == [[b"0"], [b"1"], [b"2"]]


def test_markers_that_could_not_be_sent_are_sent_by_the_next_coordinator(cluster):
    producer = begin(cluster)
    everywhere(cluster, producer)
    keeper = coordinator_of(cluster, TRANSACTION, "tx")
    others = [n for n in NODES if n != keeper]
    unmarked = next(n for n in others if n != cluster.controller)
    index = next(p for p in range(3) if cluster.leader_of("t", p) == unmarked)
    cluster.cut.add((keeper, unmarked))  # it fetches from the coordinator, and hears nothing of markers
    answers = cluster.ask(keeper, commit_request(producer))
    cluster.pass_time(1_000)
    assert committed(cluster, index) == []

    cluster.kill(keeper)
    cluster.heal()
    cluster.until(lambda: all(cluster.leader_of("t", p) in others for p in range(3)))
    if answers[0] is None:
        end(cluster, producer, committed=True)
    cluster.until(lambda: stable(cluster))

    assert [committed(cluster, p) for p in range(3)] == [[b"0"], [b"1"], [b"2"]]


@pytest.mark.parametrize("moment", range(0, 60, 10))
def test_whenever_the_coordinator_dies_the_outcome_is_the_same_in_all_partitions(cluster, moment):
    producer = begin(cluster)
    everywhere(cluster, producer)
    keeper = coordinator_of(cluster, TRANSACTION, "tx")
    others = [n for n in NODES if n != keeper]
    cluster.cut |= {(keeper, other) for other in others if other != cluster.controller}
    answers = cluster.ask(keeper, commit_request(producer))
    cluster.pass_time(moment)
    cluster.kill(keeper)
    cluster.heal()

    cluster.until(lambda: all(cluster.leader_of("t", p) in others for p in range(3)))
    if not answers or answers[0] is None or answers[0].error_code:
        end(cluster, producer, committed=True)
    cluster.until(lambda: stable(cluster))
    cluster.start(keeper)
    ready(cluster)
    cluster.until(lambda: all(all_in_sync(cluster, "t", p) for p in range(3)))

    assert [committed(cluster, p) for p in range(3)] == [[b"0"], [b"1"], [b"2"]]


def test_a_partition_whose_leader_is_away_gets_its_marker_when_another_leads(cluster):
    producer = begin(cluster)
    everywhere(cluster, producer)
    keeper = coordinator_of(cluster, TRANSACTION, "tx")
    away = next(n for n in NODES if n not in (keeper, cluster.controller))
    cluster.kill(away)

    end(cluster, producer, committed=True)
    cluster.until(lambda: all(cluster.leader_of("t", p) not in (away, -1) for p in range(3)))
    cluster.until(lambda: stable(cluster))

    assert [committed(cluster, p) for p in range(3)] == [[b"0"], [b"1"], [b"2"]]


def test_a_transaction_that_nobody_ends_is_aborted_after_a_failover_too(cluster):
    producer = begin(cluster, timeout_ms=10_000)
    everywhere(cluster, producer)
    away = coordinator_of(cluster, TRANSACTION, "tx")
    cluster.kill(away)

    cluster.until(lambda: all(cluster.leader_of("t", p) not in (away, -1) for p in range(3)))
    cluster.until(lambda: stable(cluster), ms=120_000)

    held = cluster.partition(cluster.leader_of("t"), "t")
    assert [aborted.producer_id for aborted in held.log.aborted_between(0, held.log.end)] == [producer.id]


def test_an_older_holder_of_an_id_is_fenced_wherever_it_writes(cluster):
    old = begin(cluster)
    everywhere(cluster, old)
    new = begin(cluster)
    cluster.until(lambda: stable(cluster))

    answers = [error_of(write_in(cluster, old, "t", b"late", partition=p, sequence=1)) for p in range(3)]

    assert new.epoch > old.epoch
    assert set(answers) <= {"INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"}


def test_a_batch_of_a_transaction_that_the_coordinator_does_not_know_is_refused_by_the_leader(cluster):
    producer = begin(cluster)
    stranger = producer._replace(epoch=producer.epoch + 3)

    for partition in range(3):
        answer = write_in(cluster, stranger, "t", b"x", partition=partition)
        assert error_of(answer) in ("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE")


def test_offsets_of_a_transaction_count_when_it_commits_and_not_before(cluster):
    producer = begin(cluster)
    assert commit_offset_in(cluster, producer, "g", "t", 7) == "NONE"
    assert committed_offset(cluster, "g", "t") == -1

    end(cluster, producer, committed=True)
    cluster.until(lambda: committed_offset(cluster, "g", "t") == 7)


def test_offsets_of_a_transaction_that_aborts_never_count(cluster):
    assert commit_offset(cluster, "g", "t", 3) == "NONE"
    producer = begin(cluster)
    assert commit_offset_in(cluster, producer, "g", "t", 7) == "NONE"

    end(cluster, producer, committed=False)
    cluster.pass_time(2_000)

    assert committed_offset(cluster, "g", "t", stable=True) == 3


# ── groups ───────────────────────────────────────────────────────────────────────────


def test_internal_topics_have_replicas_as_many_as_they_are_to(cluster):
    coordinator_of(cluster, GROUP, "g")
    coordinator_of(cluster, TRANSACTION, "tx")

    for topic in (OFFSETS, TRANSACTIONS):
        assert all(sorted(p.replicas) == NODES for p in cluster.image.topics[topic].partitions.values())


@pytest.mark.parametrize("group", ["g", "h", "i", "j"])
def test_committed_offsets_outlive_their_coordinator(cluster, group):
    assert commit_offset(cluster, group, "t", 42) == "NONE"
    keeper = coordinator_of(cluster, GROUP, group)

    cluster.kill(keeper)
    cluster.until(lambda: coordinator_of(cluster, GROUP, group) != keeper)

    assert committed_offset(cluster, group, "t") == 42
    assert commit_offset(cluster, group, "t", 43) == "NONE"
    cluster.start(keeper)
    ready(cluster)
    assert committed_offset(cluster, group, "t") == 43


def test_committed_offsets_outlive_a_restart_of_all(cluster):
    assert commit_offset(cluster, "g", "t", 42) == "NONE"
    for number in NODES:
        cluster.stop(number)
    for number in NODES:
        cluster.start(number)
    ready(cluster)

    assert committed_offset(cluster, "g", "t") == 42


def test_a_broker_that_does_not_keep_a_group_says_so(cluster):
    assert commit_offset(cluster, "g", "t", 1) == "NONE"
    keeper = coordinator_of(cluster, GROUP, "g")
    said = {n: error_of(cluster.answer(n, HeartbeatRequest("g", 1, "m"))) for n in NODES}

    assert said.pop(keeper) in ("UNKNOWN_MEMBER_ID", "GROUP_ID_NOT_FOUND")
    assert set(said.values()) == {"NOT_COORDINATOR"}


# ── producers ────────────────────────────────────────────────────────────────────────


def idempotent(cluster, node):
    answer = cluster.answer(node, InitProducerIdRequest(None, 0))
    assert answer.error_code == 0, error_of(answer)
    return answer.producer_id


def test_no_two_producers_get_one_id_whoever_they_ask(cluster):
    ids = [idempotent(cluster, number) for _ in range(5) for number in NODES]
    before = cluster.controller
    cluster.kill(before)
    cluster.until(lambda: cluster.controller not in (None, before))
    ids += [idempotent(cluster, number) for _ in range(5) for number in NODES if number != before]
    cluster.start(before)
    ready(cluster)
    ids += [idempotent(cluster, number) for _ in range(5) for number in NODES]

    assert len(set(ids)) == len(ids)


def test_an_id_that_is_asked_for_while_nobody_controls_comes_when_somebody_does(cluster):
    before = cluster.controller
    asked = next(n for n in NODES if n != before)
    cluster.kill(before)

    answers = cluster.ask(asked, InitProducerIdRequest(None, 0))
    assert not answers
    cluster.until(lambda: answers)

    assert answers[0].error_code == 0


def test_a_batch_repeated_after_a_failover_is_written_once(cluster):
    numbers = {"producer_id": idempotent(cluster, 1), "producer_epoch": 0}
    assert write(cluster, "t", b"a", base_sequence=0, **numbers) == 0
    assert write(cluster, "t", b"b", base_sequence=1, **numbers) == 1
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") in (2, 3))

    again = produce(cluster, "t", b"b", base_sequence=1, **numbers)

    assert error_of(again) in ("NONE", "DUPLICATE_SEQUENCE_NUMBER")
    assert again.base_offset == 1
    assert write(cluster, "t", b"c", base_sequence=2, **numbers) == 2
    assert read(cluster, "t") == [b"a", b"b", b"c"]


def test_a_gap_in_the_sequence_is_noticed_by_the_next_leader_too(cluster):
    numbers = {"producer_id": idempotent(cluster, 1), "producer_epoch": 0}
    write(cluster, "t", b"a", base_sequence=0, **numbers)
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") in (2, 3))

    assert error_of(produce(cluster, "t", b"c", base_sequence=2, **numbers)) == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_what_was_cut_off_is_forgotten_by_the_sequence_too(cluster):
    """A batch that only the old leader had is gone: its producer sends it again, and it is no duplicate."""
    numbers = {"producer_id": idempotent(cluster, 1), "producer_epoch": 0}
    write(cluster, "t", b"a", base_sequence=0, **numbers)
    cluster.isolate(1)
    lost = begin_produce(cluster, "t", b"b", to=1, acks=1, base_sequence=1, **numbers)
    assert produced(lost).base_offset == 1
    cluster.until(lambda: cluster.leader_of("t") in (2, 3))
    cluster.heal()
    cluster.until(lambda: all_in_sync(cluster, "t"))

    # It comes back as the leader: by now the old record must be out of its books as well.
    cluster.answer(1, ElectLeadersRequest(0, [TopicPartitions("t", [0])]))
    cluster.until(lambda: cluster.leader_of("t") == 1)
    assert write(cluster, "t", b"b", base_sequence=1, **numbers) == 1
    assert read(cluster, "t") == [b"a", b"b"]

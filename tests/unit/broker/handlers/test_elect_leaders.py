"""ElectLeaders, whoever is asked; the elections themselves are the controller's (controller/leader_election.py)."""

import pytest

from andiron.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from worlds.cluster_client import all_in_sync, ready
from worlds.controllers import NODES, every_version_of
from worlds.node import error_of

PREFERRED, UNCLEAN = 0, 1


def asking(kind=PREFERRED, topics=(("t", [0]),), timeout_ms=30_000):
    wanted = None if topics is None else [TopicPartitions(*each) for each in topics]
    return ElectLeadersRequest(kind, wanted, timeout_ms)


def results(answer):
    return {
        (topic.topic, part.partition_id): error_of(part)
        for topic in answer.replica_election_results
        for part in topic.partition_result
    }


def moved_away(three):
    """Its first replica does not lead t, and could."""
    cluster = three.cluster
    cluster.stop(1)
    cluster.start(1)
    ready(cluster)
    cluster.until(lambda: all_in_sync(cluster, "t"))
    assert cluster.leader_of("t") != 1


@every_version_of(ElectLeadersRequest)
@pytest.mark.parametrize("number", NODES)
def test_whoever_is_asked_the_first_replica_leads_again(three, number, version):
    moved_away(three)

    answer = three.ask_as_client(number, asking(), version)

    assert results(answer) == {("t", 0): "NONE"}
    three.cluster.until(lambda: three.cluster.leader_of("t") == 1, ms=1_000)


def test_all_partitions_are_meant_where_none_is_named(three):
    moved_away(three)

    assert results(three.ask_as_client(2, asking(topics=None)))[("t", 0)] == "NONE"


@pytest.mark.parametrize(
    "kind, topics, code",
    [
        (PREFERRED, [("t", [0])], "ELECTION_NOT_NEEDED"),
        (UNCLEAN, [("t", [0])], "ELECTION_NOT_NEEDED"),
        (PREFERRED, [("t", [7])], "UNKNOWN_TOPIC_OR_PARTITION"),
        (PREFERRED, [("nope", [0])], "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
)
def test_what_is_refused_is_told_for_each_partition(three, kind, topics, code):
    [told] = results(three.ask_as_client(2, asking(kind, topics))).values()

    assert told == code


def test_a_kind_of_election_that_there_is_not(three):
    assert error_of(three.ask_as_client(2, asking(kind=9))) == "INVALID_REQUEST"


def test_without_a_controller_it_takes_its_time_and_says_so(three):
    three.cluster.kill(*[n for n in NODES if n != 2])

    assert error_of(three.ask_as_client(2, asking(timeout_ms=1_000))) == "REQUEST_TIMED_OUT"

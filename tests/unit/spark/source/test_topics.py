"""Which partitions a source reads, and where they begin and end."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source.offsets import AtOffsets, AtTime, AtTimes, Everywhere
from andiron.spark.source.options import TopicChoice
from andiron.spark.source.plan import Log
from andiron.spark.source.topics import NO_MATCH, Topics, Unreachable, check_named, reaching
from unit.spark.world import EARLIEST, LATEST, World

T0, T1, T2, U0 = (TopicPartition(*each) for each in (("t", 0), ("t", 1), ("t", 2), ("u", 0)))


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.make("t", 2, 10, 5)
        yield made


def topics(world: World, which: TopicChoice, committed: bool = False) -> Topics:
    return Topics(Client(world.broker.bootstrap), which, committed=committed)


def test_topics_are_found_by_name(world: World) -> None:
    world.make("u")

    assert topics(world, TopicChoice(topics=("u", "t"))).find() == ([U0, T0, T1], [])


def test_topics_are_found_by_pattern_and_internal_ones_are_not(world: World) -> None:
    world.make("u")
    world.make("t-2")
    world.make("__tt", internal=True)

    assert topics(world, TopicChoice(pattern=".*t")).find() == ([T0, T1], [])


def test_partitions_are_found_by_number(world: World) -> None:
    assert topics(world, TopicChoice(partitions=(T1,))).find() == ([T1], [])


def test_what_is_not_there_is_told(world: World) -> None:
    found = topics(world, TopicChoice(topics=("t", "nope"))).find()
    assert found == ([T0, T1], ["nope"])
    with pytest.raises(SettingError, match="there is no topic 'nope' in the cluster"):
        found.all()
    with pytest.raises(SettingError, match="there is no topic 'u' in the cluster"):
        topics(world, TopicChoice(partitions=(T0, U0))).find().all()


def test_an_assigned_partition_that_is_not_there_is_passed_over_until_it_is(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    asked = topics(world, TopicChoice(partitions=(T0, T2)))
    with caplog.at_level(logging.WARNING):
        assert asked.find() == asked.find() == ([T0], [])
    assert caplog.text.count("Partitions are assigned that do not exist") == 1

    world.grow("t", 3)
    assert asked.find() == ([T0, T2], [])


def test_a_topic_that_may_not_be_seen_is_told_as_the_broker_does(world: World) -> None:
    world.broker.topics["t"].error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED.number

    with pytest.raises(Exception, match="TOPIC_AUTHORIZATION_FAILED"):
        topics(world, TopicChoice(topics=("t",))).find()


def test_a_topic_made_anew_has_another_id(world: World) -> None:
    asked = topics(world, TopicChoice(topics=("t",)))
    asked.find()
    before = asked.ids()
    world.drop("t")
    world.make("t")
    asked.find()

    assert asked.ids()["t"] != before["t"]


def test_logs_begin_and_end(world: World) -> None:
    world.delete_before("t", 0, 4)
    asked = topics(world, TopicChoice(topics=("t",)))

    assert asked.starts([T0, T1]) == {T0: 4, T1: 0}
    assert asked.ends([T0, T1]) == {T0: 10, T1: 5}
    assert asked.logs([T0, T2, U0]) == {T0: Log(4, 10)}
    assert asked.logs([]) == {}


def test_a_reader_of_committed_records_stops_at_an_open_transaction(world: World) -> None:
    world.logs[T0].open_from = 7
    asked = topics(world, TopicChoice(topics=("t",)), committed=True)

    assert asked.ends([T0, T1]) == {T0: 7, T1: 5}
    assert asked.watermarks([T0]) == {T0: 10}
    assert asked.logs([T0]) == {T0: Log(0, 10)}


def test_a_record_has_an_average_size(world: World) -> None:
    asked = topics(world, TopicChoice(topics=("t",)))
    asked.find()
    sizes = asked.record_bytes([T0, T1])

    assert sizes[T0] == sum(map(len, world.logs[T0].batches)) / 10
    world.make("u")
    asked.starts([U0])
    assert asked.record_bytes([U0]) == {}


# ── where options point to ───────────────────────────────────────────────────────────


def resolve(world: World, place, **options) -> dict[TopicPartition, int]:
    asked = topics(world, TopicChoice(topics=("t",)))
    partitions = asked.find().all()
    check_named(place, partitions)
    return asked.resolve_start(
        place, partitions, asked.ends(partitions), **{"late_is_latest": False, **options}
    )


def test_places_are_found(world: World) -> None:
    world.delete_before("t", 0, 4)

    assert resolve(world, Everywhere(EARLIEST)) == {T0: 4, T1: 0}
    assert resolve(world, Everywhere(LATEST)) == {T0: 10, T1: 5}
    assert resolve(world, AtOffsets({T0: -2, T1: 3})) == {T0: 4, T1: 3}
    assert resolve(world, AtOffsets({T0: 7, T1: -1})) == {T0: 7, T1: 5}


def test_times_are_found(world: World) -> None:
    world.write("t", 0, 5, time=2000)
    world.write("t", 1, 5, time=3000)

    assert resolve(world, AtTime(1500)) == {T0: 10, T1: 5}
    assert resolve(world, AtTimes({T0: 0, T1: 2500})) == {T0: 0, T1: 5}


def test_a_time_after_the_last_record_is_an_error_unless_told_otherwise(world: World) -> None:
    with pytest.raises(SettingError, match=r"t-0 has no record as new as that; .*Strategy=latest"):
        resolve(world, AtTime(9999))
    assert resolve(world, AtTime(9999), late_is_latest=True) == {T0: 10, T1: 5}
    asked = topics(world, TopicChoice(topics=("t",)))
    assert asked.resolve(AtTime(9999), [T0], {T0: 10}) == {T0: NO_MATCH}


@pytest.mark.parametrize("place", [AtOffsets({T0: 1}), AtOffsets({T0: 1, T1: 1, U0: 1}), AtTimes({T0: 1})])
def test_every_partition_must_be_named_and_no_other(world: World, place) -> None:
    with pytest.raises(SettingError, match=r"must name every partition .* read are t-0, t-1"):
        resolve(world, place)


def test_a_cluster_that_does_not_answer_is_told_in_a_line(world: World) -> None:
    options = world.options()
    world.broker.close()

    with (
        pytest.raises(
            Unreachable,
            match=r"^no broker answers at kafka\.bootstrap\.servers=127.*refused\); is it running\?$",
        ),
        reaching(options.kafka),
    ):
        topics(world, options.which).find()

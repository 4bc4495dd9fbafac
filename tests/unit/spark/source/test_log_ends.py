"""How far the log goes: asked at a pace, fixed for AvailableNow, doubted before it is believed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from andiron.client.blocking.client import Client
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source.log_ends import PACE_S, LogEnds
from andiron.spark.source.topics import Topics
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from unit.spark.world import World

T0, T1, T2, U0 = (TopicPartition(*each) for each in (("t", 0), ("t", 1), ("t", 2), ("u", 0)))


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.make("t", 2, 10, 5)
        yield made


class Watch:
    """A clock that goes when it is told to; who sleeps moves it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.then = lambda: None

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.then()


def watching(world: World, watch: Watch | None = None, **given: str) -> LogEnds:
    options = world.options(**given)
    topics = Topics(Client(options.kafka.bootstrap), options.which, committed=options.kafka.committed)
    watch = watch or Watch()
    return LogEnds(topics, options, watch, watch.sleep)


def test_who_asks_too_soon_waits_for_a_fresh_answer(world: World) -> None:
    watch = Watch()
    ends = watching(world, watch)
    assert ends.latest is None
    assert ends.now() == {T0: 10, T1: 5}
    assert watch.slept == []

    world.write("t", 0, 1)
    watch.now += PACE_S / 4
    assert ends.now() == {T0: 11, T1: 5} == ends.latest
    assert watch.slept == [pytest.approx(PACE_S * 3 / 4)]


def test_new_partitions_are_seen(world: World) -> None:
    ends = watching(world)
    world.grow("t", 3)

    assert ends.beyond({T0: 10, T1: 5}, {}) == ({T0: 10, T1: 5, T2: 0}, [])


def test_what_is_fixed_stays(world: World) -> None:
    watch = Watch()
    ends = watching(world, watch)
    ends.fix()
    world.write("t", 0, 1)
    world.grow("t", 3)
    watch.now += 100

    assert ends.beyond({T0: 2, T1: 3}, {}) == ({T0: 10, T1: 5}, [])


def test_who_started_behind_the_fixed_end_is_done(world: World) -> None:
    ends = watching(world)
    ends.fix()
    world.write("t", 0, 5)
    world.grow("t", 3)

    assert ends.beyond({T0: 12, T1: 1, T2: 0}, {}) == ({T0: 12, T1: 5, T2: 0}, [])


def test_a_broker_that_is_behind_is_asked_again(world: World) -> None:
    watch = Watch()
    ends = watching(world, watch, **{"fetchOffset.retryIntervalMs": "250"})
    watch.then = lambda: world.write("t", 0, 10)

    assert ends.beyond({T0: 15, T1: 5}, {}) == ({T0: 20, T1: 5}, [])
    assert watch.slept == [0.25]


def test_a_log_that_stays_short_is_a_loss_and_its_partition_left_out(world: World) -> None:
    watch = Watch()
    ends, losses = watching(world, watch).beyond({T0: 15, T1: 5}, {})

    assert ends == {T1: 5}
    assert losses == ["t-0: was read up to offset 15, and its log ends at 10 now"]
    assert len(watch.slept) == 2


def test_a_topic_that_is_gone_is_a_loss(world: World) -> None:
    world.make("u", 1, 3)
    ends = watching(world, subscribe="t,u")
    assert ends.beyond({T0: 0, U0: 0}, {}).losses == []

    world.drop("u")
    assert ends.beyond({T0: 0, U0: 0}, {}) == ({T0: 10, T1: 5}, ["u-0: gone, with what was not read of it"])


def test_a_topic_deleted_between_two_questions_is_asked_for_again(world: World) -> None:
    world.make("u", 1, 3)
    ends = watching(world, subscribe="t,u")

    def too_late(request: Any) -> ListOffsetsResponse:
        world.drop("u")
        gone = [ListOffsetsPartitionResponse(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number)]
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("u", gone)])

    world.broker.on(ApiKey.LIST_OFFSETS, too_late, world.list_offsets)
    assert ends.now() == {T0: 10, T1: 5}


def test_a_topic_made_anew_is_a_loss_even_if_it_has_grown_longer(world: World) -> None:
    ends = watching(world)
    ends.now()
    before = ends.ids()
    world.drop("t")
    world.make("t", 2, 100, 100)

    anew = ["t-0, t-1: deleted and made anew, with what was not read of it"]
    assert ends.beyond({T0: 10, T1: 5}, before) == ({}, anew)
    assert ends.beyond({}, {}) == ({T0: 100, T1: 100}, [])
    assert ends.beyond({T0: 1, T1: 1}, ends.ids()) == ({T0: 100, T1: 100}, [])


def test_a_topic_made_anew_before_available_now_is_read_from_its_beginning(world: World) -> None:
    ends = watching(world)
    ends.now()
    before = ends.ids()
    world.drop("t")
    world.make("t", 2, 30, 30)
    ends.fix()

    seen = ends.beyond({T0: 10, T1: 5}, before)
    assert (seen.ends, len(seen.losses)) == ({}, 1)
    assert ends.beyond({}, {}).ends == {T0: 30, T1: 30}


def test_a_topic_made_anew_during_available_now_is_read_from_its_beginning(world: World) -> None:
    ends = watching(world)
    ends.fix()
    before = ends.ids()
    world.drop("t")
    world.make("t", 2, 3, 3)

    assert ends.beyond({T0: 10, T1: 5}, before).ends == {T0: 10, T1: 5}, "nobody has asked"
    seen = ends.beyond({T0: 11, T1: 5}, before)
    assert (seen.ends, len(seen.losses)) == ({}, 1)
    assert ends.beyond({}, {}).ends == {T0: 3, T1: 3}


def test_a_checkpoint_of_another_topic_is_told_as_such(world: World) -> None:
    watch = Watch()
    ends, losses = watching(world, watch).beyond({U0: 7}, {})

    assert ends == {T0: 10, T1: 5}
    assert losses == [
        "u-0: in the checkpoint, but not in subscribe=t; a query that reads something else needs a "
        "checkpointLocation of its own"
    ]
    assert watch.slept == []


def test_a_topic_that_never_was_there_is_a_mistake(world: World) -> None:
    with pytest.raises(SettingError, match="there is no topic 'nope'"):
        watching(world, subscribe="t,nope").beyond({T0: 0, T1: 0}, {})


def test_without_fail_on_data_loss_it_is_told_once(world: World) -> None:
    ends = watching(world, subscribe="t,nope", failOnDataLoss="false")

    assert ends.beyond({T0: 0, T1: 0}, {}) == ({T0: 10, T1: 5}, ["nope: not there"])
    assert ends.beyond({T0: 0, T1: 0}, {}).losses == []


def test_an_open_transaction_before_what_was_read_is_no_loss(world: World) -> None:
    world.logs[T0].open_from = 7
    ends = watching(world, **{"kafka.isolation.level": "read_committed"})

    assert ends.beyond({T0: 9, T1: 5}, {}) == ({T0: 9, T1: 5}, [])

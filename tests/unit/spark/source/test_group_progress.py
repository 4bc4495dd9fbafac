"""Progress is mirrored into a group, and never stops a query."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.spark.source.group_progress import PAUSE_S, GroupProgress
from unit.spark.world import World

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1, default_api_timeout_ms=0)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.make("t", 2)
        yield made


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def progress(world: World, now: list[float]) -> Iterator[GroupProgress]:
    made = GroupProgress("report", world.broker.bootstrap, QUICK, clock=lambda: now[0])
    yield made
    made.close()


def test_what_is_done_is_the_groups(world: World, progress: GroupProgress) -> None:
    progress.mirror({T0: 5, T1: 7})

    assert world.committed == {("report", T0): 5, ("report", T1): 7}


def test_what_is_known_is_not_told_again(world: World, progress: GroupProgress) -> None:
    for done in ({}, {T0: 5}, {T0: 5}, {T0: 6}):
        progress.mirror(done)

    assert len(world.broker.requests("OffsetCommit")) == 2


def test_a_failure_is_warned_of_once_and_tried_again_later(
    world: World, progress: GroupProgress, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    world.commit_error = ErrorCode.UNKNOWN_MEMBER_ID.number
    with caplog.at_level(logging.WARNING):
        progress.mirror({T0: 5})
        progress.mirror({T0: 6})
        now[0] += PAUSE_S
        progress.mirror({T0: 7})
    (said,) = caplog.messages
    assert said.startswith("Progress is not mirrored into group report")
    assert 'error="NON_EMPTY_GROUP: ' in said
    assert len(world.broker.requests("OffsetCommit")) == 2

    world.commit_error = 0
    now[0] += PAUSE_S
    progress.mirror({T0: 8})
    assert world.committed == {("report", T0): 8}


def test_a_cluster_that_is_away_stops_nothing(
    world: World, progress: GroupProgress, caplog: pytest.LogCaptureFixture
) -> None:
    world.broker.close()
    progress.mirror({T0: 5})

    assert "the query goes on" in caplog.text

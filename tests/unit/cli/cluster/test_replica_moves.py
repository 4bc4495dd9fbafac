"""Moves begun, followed and throttled."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from andiron.cli.cluster.replica_moves import (
    Progress,
    ReplicaMoves,
    check_refusals,
    replicas_of,
    summary,
    table,
)
from andiron.cli.failure import Failure
from andiron.cli.screen import Screen
from andiron.client.blocking.client import Client
from andiron.client.core.reassignments import Change, Reassignment
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from unit.cli.cluster.scripted_cluster import ScriptedCluster

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
MOVES = [Change(P0, [1, 2], [2, 3]), Change(P1, [2, 1], [1, 2])]
TOPIC, BROKER = 2, 4


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def moving(scripted: ScriptedCluster, said: io.StringIO) -> Iterator[ReplicaMoves]:
    scripted.place("t", [1, 2], [2, 1])
    with Client(scripted.bootstrap) as client:
        yield ReplicaMoves(client, Screen(said))


def test_moves_are_followed_to_their_end(
    scripted: ScriptedCluster, moving: ReplicaMoves, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {(2, P0): 1000, (3, P0): 500}  # by then broker 2 leads it
    monkeypatch.setattr("andiron.cli.cluster.replica_moves.sizes_on", lambda client, asked: sizes)
    moving.begin(MOVES, throttle=None)
    assert len(scripted.under_way) == 2
    moving.follow([P0, P1])

    assert scripted.replicas("t") == [[2, 3], [1, 2]]
    assert said.getvalue() == "andiron: 0 of 2 partitions done, 500 B of 1000 B copied\n"


def test_a_throttle_is_in_place_before_the_first_byte(
    scripted: ScriptedCluster, moving: ReplicaMoves
) -> None:
    moving.begin(MOVES, throttle=1000)

    kinds = [
        name
        for name, _, _ in scripted.asked
        if name in ("IncrementalAlterConfigs", "AlterPartitionReassignments")
    ]
    assert kinds[-1] == "AlterPartitionReassignments"
    assert scripted.configs[TOPIC, "t"] == {
        "leader.replication.throttled.replicas": "0:1,0:2",
        "follower.replication.throttled.replicas": "0:3",
    }
    assert {broker for kind, broker in scripted.configs if kind == BROKER} == {"1", "2", "3"}

    moving.unthrottle(["t"])
    assert not any(scripted.configs.values())


def test_where_nothing_is_throttled_nothing_is_changed(
    scripted: ScriptedCluster, moving: ReplicaMoves
) -> None:
    moving.unthrottle(["t"])

    assert not scripted.requests("IncrementalAlterConfigs")


def test_progress_is_what_a_new_replica_has_of_what_its_leader_has(moving: ReplicaMoves) -> None:
    told = moving.progress({P0: Reassignment([2, 3, 1], [3], [1]), P1: Reassignment([1, 2], [], [])})

    assert told[P0].total == 1000
    assert told[P1] == Progress(0, 0)


def test_what_a_leader_does_not_tell_is_not_taken_for_nothing_to_copy(
    scripted: ScriptedCluster, moving: ReplicaMoves
) -> None:
    """Nothing of nothing would be all of it: 100 %."""
    del scripted.versions[ApiKey.DESCRIBE_LOG_DIRS]

    assert moving.progress({P0: Reassignment([2, 3, 1], [3], [1])}) == {}


def test_a_refusal_is_told_with_what_to_do(scripted: ScriptedCluster, moving: ReplicaMoves) -> None:
    scripted.refusal = ErrorCode.REASSIGNMENT_IN_PROGRESS

    with pytest.raises(Failure, match="2 of 2 partitions could not be moved; wait for it"):
        moving.begin(MOVES, None)


def test_no_refusal_is_no_failure() -> None:
    check_refusals({}, 5, "moved")


@pytest.mark.parametrize(
    ("progress", "percent"), [((0, 10), 0), ((5, 10), 50), ((0, 0), 100), ((11, 10), 100)]
)
def test_percents(progress: tuple[int, int], percent: int) -> None:
    assert Progress(*progress).percent == percent


def test_a_table_of_moves_says_what_will_be_copied_and_what_dropped() -> None:
    fewer = Change(TopicPartition("t", 2), [1, 2, 3], [1, 2])

    assert table([*MOVES, fewer]).splitlines() == [
        "TOPIC  PARTITION  NOW    AFTER  COPY TO  DROP FROM",
        "t              0  1,2    2,3    3        1",
        "t              1  2,1    1,2    -        -",
        "t              2  1,2,3  1,2    -        3",
    ]
    assert summary(MOVES) == "2 partitions to change, 1 replica to copy"


def test_whoever_is_tired_of_waiting_is_told_that_it_goes_on(
    scripted: ScriptedCluster,
    moving: ReplicaMoves,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    scripted.slow = True
    moving.begin(MOVES, None)
    monkeypatch.setattr("andiron.cli.cluster.replica_moves.time.sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        moving.follow([P0])
    assert "the moves go on" in capsys.readouterr().err


def test_replicas_are_listed_by_partition(scripted: ScriptedCluster, moving: ReplicaMoves) -> None:
    with Client(scripted.bootstrap) as client:
        assert replicas_of(client.topics()) == {P0: [1, 2], P1: [2, 1]}


def test_brokers_without_throttles_are_told_of_before_anything_is_moved(
    scripted: ScriptedCluster, moving: ReplicaMoves
) -> None:
    refusal = AlterConfigsResourceResponse(ErrorCode.INVALID_CONFIG.number)
    answer = IncrementalAlterConfigsResponse(responses=[refusal])
    scripted.on(ApiKey.INCREMENTAL_ALTER_CONFIGS, lambda request: answer)

    with pytest.raises(Failure, match="leave --throttle out"):
        moving.begin(MOVES, throttle=1000)
    assert not scripted.under_way

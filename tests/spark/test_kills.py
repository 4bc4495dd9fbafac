"""Whoever dies at whatever step of a commit: nothing is lost, nothing is written twice.

One pass, quick enough for every day. All cells, round after round, in another order each time: `python -m kills`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from peers.committed import committed_offsets

pytest.importorskip("pyspark", reason="pyspark is not installed")

from andiron.spark.runtime import java
from kills.arena import PARTITIONS, Arena
from kills.cells import DRIVERS, OUTAGES, WITHOUT_RESTART, Kill
from peers import jars

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SINK = {"sink": "kills.jobs:sink"}
NAIVE = {"naive": "kills.jobs:naive"}


@pytest.fixture(autouse=True)
def there_is_java() -> None:
    try:
        java.find_java()
    except java.NoJava as why:
        pytest.skip(str(why))


def check_exact(arena: Arena, job: str = "sink") -> None:
    """The output is the input, the group knows it, and no transaction waits for anybody."""
    account = arena.account(job)
    assert account.is_exact, account
    target, source = arena.stages[job].target, arena.source
    ends = {number: arena.topics.end(source, number) for number in range(PARTITIONS)}
    assert committed_offsets(arena.node.bootstrap, f"{target}-progress", source) == ends
    for number in range(PARTITIONS):
        assert arena.topics.client.stable_offset(target, number) == arena.topics.end(target, number)


def test_tasks_committers_and_the_broker_may_die_at_any_step(tmp_path: Path) -> None:
    control = Kill("committer", "after_commit", "naive")

    with Arena(tmp_path, [*WITHOUT_RESTART, control], SINK | NAIVE) as arena:
        arena.run(patience_s=800)

        check_exact(arena)
        assert arena.account("naive").duplicated > 0, "or nothing would be shown by this"
        assert arena.account("naive").lost == 0


@pytest.mark.long
def test_the_broker_may_stay_away_and_the_driver_die_after_it_has_decided(tmp_path: Path) -> None:
    kills = [Kill("outage", "after_prepare"), Kill("driver", "after_decision")]

    with Arena(tmp_path, kills, SINK) as arena:
        arena.run(patience_s=800)

        check_exact(arena)
        assert arena.starts == 2


@pytest.fixture
def kafka() -> str:
    try:
        jars.server_jars()
    except jars.Missing as why:
        pytest.skip(str(why))
    return "kafka"


@pytest.mark.java
def test_on_kafka_as_it_comes_what_was_decided_and_timed_out_is_written_again(
    tmp_path: Path, kafka: str
) -> None:
    """Without Spark: whoever dies stays away until its transactions are aborted."""
    kills = [Kill(each.who, each.step, "hasty") for each in DRIVERS]

    with Arena(tmp_path, kills, {"hasty": "kills.bare"}, server=kafka, program="kills.bare") as arena:
        arena.run(patience_s=800)

        check_exact(arena, "hasty")
        assert arena.mended() >= 1, "or nothing would be shown by this"


@pytest.mark.long
@pytest.mark.java
@pytest.mark.parametrize("job", ["patient", "hasty"])
def test_on_kafka_as_it_comes_the_driver_may_die_at_any_step_and_stay_away(
    tmp_path: Path, job: str, kafka: str
) -> None:
    """The hasty one's transactions are aborted while nobody is there to commit them, and are written again."""
    kills = [Kill(each.who, each.step, job) for each in (*DRIVERS, *(OUTAGES if job == "hasty" else ()))]

    with Arena(tmp_path, kills, {job: f"kills.jobs:{job}"}, server=kafka) as arena:
        arena.run(patience_s=800)

        check_exact(arena, job)

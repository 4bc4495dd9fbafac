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
from kills.cells import WITHOUT_RESTART, Kill

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SINK = {"sink": "kills.jobs:sink"}
NAIVE = {"naive": "kills.jobs:naive"}


@pytest.fixture(autouse=True)
def there_is_java() -> None:
    try:
        java.find_java()
    except java.NoJava as why:
        pytest.skip(str(why))


def check_exact(arena: Arena) -> None:
    """The output is the input, the group knows it, and no transaction waits for anybody."""
    account = arena.account("sink")
    assert account.is_exact, account
    target, source = arena.stages["sink"].target, arena.source
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

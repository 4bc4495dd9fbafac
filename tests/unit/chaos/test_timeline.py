"""Who was in sync when: one line for each change, from whoever is well."""

from __future__ import annotations

import time
from collections.abc import Callable

from andiron.chaos.timeline import PartitionGlimpse, Timeline
from andiron.model.ids import TopicPartition
from unit.client.scripted import ScriptedBroker

P0 = TopicPartition("t", 0)


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_only_what_is_new_is_kept() -> None:
    timeline = Timeline({}, P0, 0.0)
    for at, isr in enumerate([(1, 2), (1, 2), (1,), (1,), (1, 2)]):
        timeline.note(PartitionGlimpse(float(at), 1, isr))

    assert [each.at for each in timeline.glimpses] == [0.0, 2.0, 4.0]
    assert timeline.latest == PartitionGlimpse(4.0, 1, (1, 2))


def test_somebody_who_is_well_is_asked() -> None:
    with ScriptedBroker() as ill, ScriptedBroker() as well:
        ill.topic("t", leader=7)
        well.topic("t", leader=1)
        timeline = Timeline({1: ill.bootstrap, 2: well.bootstrap}, P0, time.monotonic())
        timeline.harmed[1] = None
        timeline.start()
        wait_for(lambda: timeline.latest is not None)
        timeline.stop()

        assert [(each.leader, each.isr) for each in timeline.glimpses] == [(1, (1,))]
        assert ill.asked == []


def test_the_next_is_asked_where_one_does_not_answer() -> None:
    gone = ScriptedBroker()
    gone.close()
    with ScriptedBroker() as well:
        well.topic("t")
        timeline = Timeline({1: gone.bootstrap, 2: well.bootstrap}, P0, time.monotonic())
        timeline.start()
        wait_for(lambda: timeline.latest is not None)
        timeline.stop()

        assert len(timeline.glimpses) == 1


def test_a_node_is_out_once_it_is_seen_to_be() -> None:
    timeline = Timeline({}, P0, 0.0)
    timeline.note(PartitionGlimpse(0.0, 1, (1, 2)))

    assert not timeline.wait_until_out(2, 0.05)

    timeline.note(PartitionGlimpse(1.0, -1, ()))
    assert not timeline.wait_until_out(2, 0.05), "that nobody is known says nothing of it"

    timeline.note(PartitionGlimpse(2.0, 1, (1,)))
    assert timeline.wait_until_out(2, 0.05)
    assert not timeline.wait_until_in(2, 0.05)

    timeline.note(PartitionGlimpse(3.0, 1, (1, 2)))
    assert timeline.wait_until_in(2, 0.05)

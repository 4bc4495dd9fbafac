from __future__ import annotations

from andiron.broker.telemetry.group_stats import LagWatch
from andiron.edge.metrics.survey import Survey
from unit.edge.metrics.scraped import host_of
from worlds.coordinating import commit, coordinating


def survey(world) -> Survey:
    made = Survey(host_of(world.node, world.now), world.node, LagWatch())
    for _ in made.gather():
        pass
    return made


def test_everything_is_gathered():
    world = coordinating()
    world.produce("t", b"a")
    assert commit(world, 0) == "NONE"

    seen = survey(world)

    assert seen.totals.partitions == len(seen.partitions) == 9
    assert ('{topic="t",partition="0"}', 1) in [(labels, each.end) for labels, each in seen.partitions]
    assert [labels for labels, _ in seen.lags] == ['{group="g",topic="t",partition="0"}']
    assert seen.controller is not None and seen.controller.partitions == 9
    assert seen.quorum.leads
    assert seen.groups == {("classic", "Empty"): 1}
    assert "t" in dict(seen.topics)


def test_a_group_may_have_any_name():
    world = coordinating()
    assert commit(world, 0, group='say "x"') == "NONE"

    assert survey(world).lags[0][0] == '{group="say \\"x\\"",topic="t",partition="0"}'


def test_it_pauses_between_pieces_and_the_node_may_go_on_meanwhile():
    world = coordinating()
    for number in range(40):
        assert commit(world, 0, group=f"g{number}") == "NONE"
    made = Survey(host_of(world.node, world.now), world.node, LagWatch())
    pauses = 0
    for _ in made.gather():
        pauses += 1
        world.create(f"new-{pauses}")
        if pauses == 3:
            world.delete("t")

    assert pauses > 4

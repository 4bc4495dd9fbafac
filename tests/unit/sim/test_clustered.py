import random

import pytest

from andiron.broker.settings.node_settings import NodeSettings
from andiron.sim.clustered import NODES, shape
from andiron.sim.plan import make_plan


def planned(seed, nodes):
    return make_plan(seed, random.Random(seed), nodes)


def test_a_seed_says_how_many_unless_it_is_told():
    assert {shape(seed)[0] for seed in range(60)} == set(NODES)
    assert shape(1, 5)[0] == 5


def test_one_node_is_not_touched():
    plan = planned(4, 1)
    assert plan.nodes == []
    assert [each.node_id for each in plan.settings] == [1]


@pytest.mark.parametrize("nodes", [3, 5])
def test_every_node_has_settings_of_its_own(nodes):
    kinds = set()
    for seed in range(30):
        settings = planned(seed, nodes).settings
        brokers = [each for each in settings if "broker" in each.roles]
        voters = [each for each in settings if "controller" in each.roles]
        assert len(brokers) == nodes
        given = [list(each.voters) for each in settings]
        ids = [voter.node_id for voter in voters]
        assert given in ([ids] * len(settings), [[1]] + [[]] * (nodes - 1))
        kinds.add((len(settings), given[-1] == ids))
    assert kinds == {(nodes, True), (nodes, False), (nodes + 3, True)}


def test_topics_have_as_many_replicas_as_there_can_be():
    replicas = {topic.replicas for seed in range(30) for topic in planned(seed, 3).topics}
    assert replicas == {1, 2, 3}


def test_the_properties_are_all_known():
    for seed in range(10):
        for properties in planned(seed, 3).nodes:
            assert NodeSettings.load(properties).notices == []

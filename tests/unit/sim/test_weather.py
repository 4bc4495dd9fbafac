import random

import pytest

from andiron.sim.mirror import Mirrors
from andiron.sim.moods import CLUSTER_MOODS, MOODS, Mood
from andiron.sim.rot import Rot
from andiron.sim.weather import Weather
from unit.sim.quiet import Quiet
from unit.sim.several import Puppets


def brewing(mood, seed=1):
    quiet = Quiet(seed)
    weather = Weather(quiet.world, quiet.network, mood, Rot(quiet.mirrors, random.Random(seed)))
    quiet.world.watch([weather])
    return quiet, weather


@pytest.mark.parametrize("mood", MOODS, ids=lambda mood: mood.name)
def test_after_any_weather_the_node_is_up_and_the_disk_is_well(mood):
    quiet, weather = brewing(mood)
    weather.begin()
    quiet.run(120_000)
    weather.clear_up()
    quiet.run(20_000)
    assert quiet.host.is_open
    assert not quiet.host.disk.is_bad
    assert quiet.network.delay_ms_max == 10


@pytest.mark.parametrize("fault", sorted({"no inodes", *(fault for mood in MOODS for fault in mood.faults)}))
def test_every_fault_passes(fault):
    quiet, weather = brewing(Mood(fault, 2_000, (fault,)))
    weather.begin()
    quiet.run(30_000)
    weather.clear_up()
    quiet.run(20_000)
    assert quiet.host.is_open


def test_when_it_has_cleared_up_nothing_strikes():
    quiet, weather = brewing(Mood("kills", 500, ("kill",)))
    weather.begin()
    weather.clear_up()
    quiet.run(60_000)
    assert quiet.host.boots == 1


def brewing_over_several(monkeypatch, mood, count=3, seed=1):
    puppets = Puppets(monkeypatch, count, seed)
    weather = Weather(puppets.world, puppets.network, mood, Rot(Mirrors(), random.Random(seed)))
    puppets.world.watch([weather])
    return puppets, weather


@pytest.mark.parametrize("mood", CLUSTER_MOODS, ids=lambda mood: mood.name)
def test_after_any_weather_every_node_is_up_and_hears_the_others(mood, monkeypatch):
    puppets, weather = brewing_over_several(monkeypatch, mood)
    weather.begin()
    puppets.run(120_000)
    weather.clear_up()
    puppets.run(20_000)
    assert all(host.is_open and not host.is_paused and not host.disk.is_bad for host in puppets.hosts)
    assert puppets.network.reaches("node-1", "node-3")


@pytest.mark.parametrize("fault", sorted({fault for mood in CLUSTER_MOODS for fault in mood.faults}))
@pytest.mark.parametrize("count", [3, 5])
def test_a_majority_is_spared_or_it_is_not(fault, count, monkeypatch):
    mood = Mood(fault, 500, (fault,), spares=fault != "crowd")
    puppets, weather = brewing_over_several(monkeypatch, mood, count)
    weather.begin()
    most = 0
    for _ in range(3_000):
        puppets.run(20)
        most = max(most, sum(weather._is_troubled(host) for host in puppets.hosts))
    assert (2 * most > count) == (
        fault in ("crowd", "pause")
    )  # a starved machine stands still with all its nodes


def test_nodes_may_be_rolled(monkeypatch):
    puppets, weather = brewing_over_several(monkeypatch, Mood("rolling", 1_000, ("roll",)))
    weather._roll(list(puppets.hosts))
    puppets.run(30_000)
    assert [host.boots for host in puppets.hosts] == [2, 2, 2]

import random

import pytest

from andiron.sim.rot import Rot
from andiron.sim.weather import MOODS, Mood, Weather
from unit.sim.quiet import Quiet


def brewing(mood, seed=1):
    quiet = Quiet(seed)
    weather = Weather(quiet.world, quiet.network, quiet.host, mood, Rot(quiet.mirrors, random.Random(seed)))
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


@pytest.mark.parametrize("fault", sorted({fault for mood in MOODS for fault in mood.faults}))
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

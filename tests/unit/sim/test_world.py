from andiron.sim.watcher import Watcher
from andiron.sim.world import BEGINS, World


def test_things_happen_at_their_time_and_in_the_order_of_their_arrival():
    world, seen = World(1), []
    for delay_ms, name in ((5, "late"), (1, "first"), (1, "second"), (-3, "now")):
        world.after(delay_ms, lambda name=name: seen.append((name, world.now - BEGINS)))

    world.run(BEGINS + 100)

    assert seen == [("now", 0), ("first", 1), ("second", 1), ("late", 5)]
    assert world.now == BEGINS + 100


def test_what_happens_may_bring_about_more():
    world, seen = World(1), []

    def tick():
        seen.append(world.now - BEGINS)
        if len(seen) < 3:
            world.after(10, tick)

    world.after(10, tick)
    world.run(BEGINS + 25)
    assert seen == [10, 20]
    world.run(BEGINS + 35)
    assert seen == [10, 20, 30]


def test_it_stops_when_it_is_done():
    world, seen = World(1), []
    for delay_ms in (1, 2, 3):
        world.after(delay_ms, lambda: seen.append(world.now - BEGINS))
    world.run(BEGINS + 100, lambda: len(seen) == 2)
    assert seen == [1, 2]
    assert world.now == BEGINS + 2


def test_the_same_seed_has_the_same_chance():
    assert World(5).chance.random() == World(5).chance.random() != World(6).chance.random()


def test_only_those_are_told_of_steps_who_want_to_hear_of_them():
    class Onlooker(Watcher):
        def stepped(self, host):
            """Looks."""

    world, onlooker = World(1), Onlooker()
    world.watch([Watcher(), onlooker])
    assert world.onlookers == [onlooker]
    assert len(world.watchers) == 2

from andiron.sim.invariants.excuse import Excuse
from andiron.sim.watcher import End
from unit.sim.quiet import Quiet


def canon(trio):
    law = trio.law(Excuse)
    return law._canons.of(trio.partition(trio.leader()))


def test_by_itself_a_power_loss_excuses_what_is_not_synced_first():
    for durable in (False, True):
        quiet = Quiet(durable=durable)
        law = next(watcher for watcher in quiet.world.watchers if isinstance(watcher, Excuse))
        quiet.host.kill()
        assert not law.is_given
        quiet.host.lose_power()
        assert law.is_given is not durable


def test_one_of_three_may_lose_its_power_and_nothing_is_excused(trio):
    trio.create(min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    kept = canon(trio)
    trio.leader().lose_power()
    assert not kept.is_excused
    assert not trio.law(Excuse).is_given


def test_all_at_once_excuse_what_they_had_not_synced(trio):
    trio.create(min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    kept, hosts = canon(trio), [trio.leader(), *trio.followers()]
    for host in hosts[:-1]:
        host.lose_power()
    assert not kept.is_excused
    hosts[-1].kill()  # it has all of it, but a controller cannot know
    assert kept.is_excused
    assert trio.law(Excuse).is_given


def test_what_is_synced_before_it_is_said_is_never_excused(trio):
    trio.create(flush_messages=1, min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    kept = canon(trio)
    for host in trio.hosts:
        host.lose_power()
    assert not kept.is_excused


def test_kills_alone_excuse_nothing(trio):
    trio.create()
    trio.write(b"a")
    trio.run(1_000)
    kept = canon(trio)
    for host in trio.hosts:
        host.kill()
    assert not kept.is_excused


def test_one_that_is_in_sync_again_is_no_suspect(trio):
    trio.create(min_insync_replicas=2)
    trio.write(b"a")
    trio.run(1_000)
    first = trio.followers()[0]
    first.lose_power()
    trio.run(500)
    first.start()
    trio.run(30_000, until=trio.is_at_rest)
    kept, law = canon(trio), trio.law(Excuse)
    place = trio.partition(trio.leader()).topic_id, 0
    assert not law._is_suspect(first.number, place)
    law.went_down(trio.host(1), End.STOPPED)
    assert not kept.is_excused

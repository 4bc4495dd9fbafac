import pytest

from andiron.log.leader_epochs import LeaderEpochs
from andiron.sim.invariants.survival import PromisesSurvive
from andiron.sim.watcher import Violation
from unit.sim.quiet import Quiet


def test_everything_survives_a_stop_and_a_kill(quiet):
    quiet.create()
    for number in range(5):
        quiet.write(b"%d" % number)
    quiet.restart(quiet.host.stop)
    quiet.restart(quiet.host.kill)
    quiet.restart(quiet.host.stop)
    assert quiet.partition().log.end == 5
    quiet.rest()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_record_lost_by_a_stop_or_a_kill_is_noticed(quiet, end):
    quiet.create()
    quiet.write(b"a")
    quiet.write(b"b")
    getattr(quiet.host, end)()
    quiet.run(until=lambda: not quiet.host.is_up)
    file = quiet.host.disk.open(quiet.path())
    file.truncate(file.size - 10)
    with pytest.raises(Violation, match="what was promised survives: orders-0 ends at 1; 2 was promised"):
        quiet.boot()


def test_what_was_not_synced_may_be_lost_with_the_power_and_what_was_may_not(quiet):
    quiet.create(flush_messages=1)
    quiet.write(b"promised")
    quiet.host.lose_power()
    file = quiet.host.disk.open(quiet.path())
    file.truncate(0)
    with pytest.raises(Violation, match="ends at 0; 1 was promised"):
        quiet.boot()


def test_after_a_power_loss_the_mirror_is_what_is_left():
    ends = set()
    for seed in range(8):
        quiet = Quiet(seed)
        quiet.create()
        for number in range(6):
            quiet.write(b"%d" % number * 30)
        quiet.restart(quiet.host.lose_power)
        assert quiet.mirror().end == quiet.partition().log.end
        quiet.write(b"and on it goes")
        quiet.rest()
        ends.add(quiet.partition().log.end)
    assert len(ends) > 1


def test_another_record_in_a_records_place_is_noticed(quiet):
    quiet.create()
    quiet.write(b"a")
    quiet.host.kill()
    other = quiet.batch((None, b"z"))
    file = quiet.host.disk.open(quiet.path())
    head = file.read(0, 8)
    file.truncate(0)
    file.append(head + other.data[8:])
    with pytest.raises(Violation, match="another record stands at 0"):
        quiet.boot()


def cut(trio, host, size=10):
    """Take the end of a replica's file away while its node is down."""
    directory = trio.partition(trio.leader()).log.directory
    file = host.disk.open(f"{directory}/{0:020}.log")
    file.truncate(file.size - size)


def test_a_follower_that_was_killed_may_have_given_way_and_not_below_what_is_committed(trio):
    trio.create()
    trio.write(b"a")
    trio.write(b"b")
    follower = trio.followers()[0]
    canons = trio.law(PromisesSurvive)._canons
    canon = canons.of(trio.partition(follower))
    canon.end = 1
    follower.kill()
    canon.end = 2
    cut(trio, follower)
    follower.start()
    trio.run(3_000)

    other = trio.followers()[1]
    other.kill()
    cut(trio, other)
    with pytest.raises(Violation, match="orders-0 ends at 1; 2 was promised"):
        other.start()
        trio.run(3_000)


def test_a_start_that_forgets_who_wrote_what_is_noticed(quiet, monkeypatch):
    quiet.create()
    quiet.write(b"a")
    quiet.restart(quiet.host.kill)
    monkeypatch.setattr(LeaderEpochs, "confirm", lambda *batch: None)
    quiet.host.kill()
    with pytest.raises(Violation, match="orders-0: 0 was written in epoch 0, and -1 is known"):
        quiet.boot()

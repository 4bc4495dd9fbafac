import pytest

from andiron.model.effects import Finished, Flush, Work
from andiron.sim.watcher import End, Violation, Watcher
from unit.sim.quiet import ORDERS, Quiet


class Seen(Watcher):
    def __init__(self):
        self.ends, self.boots, self.power_losses = [], 0, 0

    def went_down(self, host, end):
        self.ends.append(end)

    def came_up(self, host):
        self.boots += 1

    def lost_power(self, host):
        self.power_losses += 1


class Job:
    """Writes two files, if it lives to."""

    def run(self, disk):
        disk.open("/data/one")
        disk.open("/data/two")
        return "done"


class Wrong:
    def run(self, disk):
        raise KeyError("a bug")


def test_a_node_comes_and_goes_and_the_disk_stays(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.create(flush_messages=1)
    quiet.write(b"kept")
    for end in (quiet.host.stop, quiet.host.kill, quiet.host.lose_power):
        quiet.restart(end)
    assert seen.ends == [End.STOPPED, End.KILLED, End.POWER_LOST]
    assert (quiet.host.boots, seen.boots) == (4, 3)
    assert len(bytes(quiet.fetch().records)) > 0


def test_power_may_go_while_no_node_is_up(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.host.kill()
    quiet.host.lose_power()
    assert (seen.ends, seen.power_losses) == ([End.KILLED], 1)


def test_what_dies_with_a_node_does_not_concern_the_next():
    quiet = Quiet(watched=False)
    quiet.create(flush_messages=1)
    quiet.host.flush_ms_max = 5_000
    quiet.client.ask(quiet.produce_request(b"x"), 9)
    quiet.run(100)
    quiet.host.kill()
    quiet.run(10)
    quiet.host.flush_ms_max = 0
    quiet.boot()
    quiet.run(10_000)
    assert quiet.host.is_idle


def test_a_flush_covers_what_was_there_when_it_was_asked_for(quiet):
    disk = quiet.host.disk
    file = disk.open("/data/f")
    disk.sync_directory("/data")
    file.append(b"before")
    quiet.host.flush_ms_max = 0
    quiet.host._carry_out([Flush(99, (file,))])
    file.append(b" and after")
    quiet.host._flushing[98] = quiet.host._flushing.pop(99)  # nobody is told
    disk.end_sync(quiet.host._flushing.pop(98))
    assert file._content._synced == len(b"before")


def test_the_end_may_come_in_the_midst_of_a_step(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.host.light_fuse(0, End.KILLED)
    with pytest.raises(AssertionError, match="not answered"):
        quiet.create()
    assert seen.ends == [End.KILLED]
    assert quiet.host.disk.fuse is None


def test_a_frame_is_only_lent(quiet, monkeypatch):
    frames = []
    step = quiet.host.node.step
    monkeypatch.setattr(quiet.host.node, "step", lambda event, now: frames.append(event) or step(event, now))
    quiet.create()
    frame = next(event.frame for event in frames if hasattr(event, "frame"))
    assert bytes(frame) == b"\xdd" * len(frame)


def test_a_step_that_raises_breaks_a_law(quiet, monkeypatch):
    def fail(event, now):
        raise ZeroDivisionError

    monkeypatch.setattr(quiet.host.node, "step", fail)
    with pytest.raises(Violation, match="a step does not fail"):
        quiet.create()


def test_a_start_without_room_is_an_end_and_no_violation(quiet):
    seen = Seen()
    quiet.world.watch([seen])
    quiet.host.kill()
    quiet.host.disk.fill_up(0)
    quiet.host.start()
    assert not quiet.host.is_up
    quiet.host.disk.free_up()
    quiet.host.start()
    assert quiet.host.is_up


def test_a_deadline_that_does_not_move_on_is_noticed(quiet, monkeypatch):
    quiet.create()
    monkeypatch.setattr(quiet.host.node, "next_deadline", lambda: 0)
    monkeypatch.setattr(quiet.host.node, "step", lambda event, now: [])
    with pytest.raises(Violation, match="moves on"):
        quiet.host._plan_waking()
        quiet.run()


def test_a_job_is_done_and_reported(quiet):
    told = []
    quiet.host.feed = told.append
    quiet.host._carry_out([Work(7, Job())])
    quiet.run(1_000)
    (finished,) = [event for event in told if isinstance(event, Finished)]
    assert finished in (Finished(7, "done"), Finished(7, None, "the worker process is gone"))


def test_a_job_with_a_bug_breaks_a_law(quiet):
    quiet.host._carry_out([Work(7, Wrong())])
    with pytest.raises(Violation, match="a job does not fail"):
        quiet.run(1_000)


def test_partitions_are_where_the_settings_say(quiet):
    quiet.create()
    assert quiet.partition(ORDERS).log.directory == "/data/orders-0"

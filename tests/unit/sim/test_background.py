import pytest

from andiron.model.effects import Finished, Flush, Work
from andiron.sim.watcher import Violation
from unit.sim.quiet import Quiet


class Job:
    """Writes two files, if it lives to."""

    def run(self, disk):
        disk.open("/data/one")
        disk.open("/data/two")
        return "done"


class Wrong:
    def run(self, disk):
        raise KeyError("a bug")


def test_what_dies_with_a_node_does_not_concern_the_next():
    quiet = Quiet(watched=False)
    quiet.create(flush_messages=1)
    quiet.host.background.flush_ms_max = 5_000
    quiet.client.ask(quiet.produce_request(b"x"), 9)
    quiet.run(100)
    quiet.host.kill()
    quiet.run(10)
    quiet.host.background.flush_ms_max = 0
    quiet.boot()
    quiet.run(10_000)
    assert quiet.host.is_idle


def test_a_flush_covers_what_was_there_when_it_was_asked_for(quiet):
    disk, background = quiet.host.disk, quiet.host.background
    file = disk.open("/data/f")
    disk.sync_directory("/data")
    file.append(b"before")
    background.flush_ms_max = 0
    quiet.host._carry_out([Flush(99, (file,))])
    file.append(b" and after")
    background.flushing[98] = background.flushing.pop(99)  # nobody is told
    disk.end_sync(background.flushing.pop(98))
    assert file._content._synced == len(b"before")


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

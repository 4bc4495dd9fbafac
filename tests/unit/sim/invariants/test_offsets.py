import pytest

from andiron.sim.watcher import Violation


@pytest.fixture
def quiet(quiet):
    quiet.create()
    quiet.write(b"a", b"b")
    return quiet


def look(quiet):
    for watcher in quiet.world.watchers:
        watcher.stepped(quiet.host)


def test_a_watermark_beyond_the_end_is_noticed(quiet):
    quiet.partition()._leader.watermark = 3
    with pytest.raises(Violation, match="start ≤ last stable ≤ watermark ≤ end"):
        look(quiet)


def test_a_watermark_that_goes_back_is_noticed(quiet):
    quiet.partition()._leader.watermark = 1
    with pytest.raises(Violation, match="orders-0: 2, then 1"):
        look(quiet)


def test_a_watermark_that_never_comes_is_noticed_at_rest(quiet):
    quiet.partition()._leader.watermark = 1
    with pytest.raises(Violation, match="everything appended is committed in the end"):
        for watcher in quiet.world.watchers:
            watcher.rested(quiet.host)


def test_more_that_is_clean_than_there_is_is_noticed(quiet):
    quiet.host.node.broker.directories.note_cleaned(quiet.partition().name, 9)
    with pytest.raises(Violation, match="orders-0 ends at 3, clean up to 9"):
        quiet.write(b"c")


def test_more_flushed_than_there_is_is_noticed(quiet):
    quiet.partition().log._flushed.end = 9
    with pytest.raises(Violation, match="flushed 9"):
        look(quiet)

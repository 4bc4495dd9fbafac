"""Snapshots are cut when they are due, a little at a time, and the log behind them goes."""

import random

import pytest

from andiron.broker.metadata import snapshot_generator
from andiron.broker.metadata.standalone_format import FIRST
from andiron.model.errors import ProtocolError
from andiron.sim.disk import Killed
from worlds.node import SmallNode

HERE = "/data/__cluster_metadata-0"
HOUR = 3_600_000


def cutting(between="1500", keep="0", disk=None, **more):
    return SmallNode(
        disk,
        metadata_log_max_record_bytes_between_snapshots=between,
        metadata_max_retention_bytes=keep,
        **more,
    )


def metadata(node):
    return node.node.broker.metadata


def snapshots(node):
    """Those that were cut: not what a new folder is given."""
    return [id for id in node.node.broker.raft.snapshots.table if id != FIRST]


def files(node, suffix):
    return [name for name in node.disk.names(HERE) if name.endswith(suffix) and name != FIRST.file_name]


def fill(node, count, first=0):
    for number in range(first, first + count):
        node.create(f"t{number}")
        node.settle()


def test_none_is_cut_before_there_is_enough_to_tell():
    node = cutting(between="100000")
    fill(node, 5)

    assert snapshots(node) == []


def test_one_is_cut_when_enough_was_committed():
    node = cutting(keep="-1")
    fill(node, 20)

    assert len(snapshots(node)) > 1
    assert [f"{id.end:020d}-{id.epoch:010d}.checkpoint" for id in snapshots(node)] == files(
        node, ".checkpoint"
    )
    assert metadata(node).partition.log.start == 0, "there is no limit to what is kept"


def test_one_is_cut_when_there_was_none_for_long():
    node = cutting(between="1000000", keep="-1")
    fill(node, 2)

    node.advance(HOUR - 1)
    assert snapshots(node) == []
    node.advance(1)
    assert [id.end for id in snapshots(node)] == [metadata(node).applied]
    node.advance(2 * HOUR)
    assert len(snapshots(node)) == 1, "nothing has happened since"


def test_none_is_cut_by_the_clock_if_nobody_wants_that():
    node = cutting(between="1000000", metadata_log_max_snapshot_interval_ms="0")
    fill(node, 2)
    node.advance(9 * HOUR)

    assert snapshots(node) == []


def test_the_log_before_it_goes_and_older_ones_too():
    node = cutting()
    fill(node, 40)

    log = metadata(node).partition.log
    assert [id.end for id in snapshots(node)] == [log.start]
    assert files(node, ".checkpoint") == [snapshots(node)[0].file_name]
    assert len(log.segments) == 1
    assert files(node, ".log.deleted")
    node.advance(61_000)
    assert not files(node, ".log.deleted")


@pytest.mark.parametrize("clean", [True, False])
def test_a_start_goes_on_from_it(clean):
    node = cutting()
    fill(node, 40)
    node.create("last", retention_ms=5)
    start = metadata(node).partition.log.start
    before = metadata(node).image

    node.restart(clean)

    assert 0 < start <= metadata(node).partition.log.start
    image = metadata(node).image
    assert image is not before
    assert [(t.name, t.id) for t in image.topics.values()] == [(t.name, t.id) for t in before.topics.values()]
    assert (image.configs, image.features) == (before.configs, before.features)
    assert len(node.node.broker.replica_manager) == 41
    assert node.create("and-on").error_code == 0


def test_the_controller_of_a_new_leader_knows_what_only_the_snapshot_tells():
    node = cutting()
    fill(node, 40)
    node.restart()

    assert node.ask(node.create_request("t0")).topics[0].error_code == 36, "it is there already"


def test_what_is_written_is_of_one_moment_though_the_image_goes_on(monkeypatch):
    node = cutting(between="1000000", keep="-1")
    fill(node, 5)
    monkeypatch.setattr(snapshot_generator, "BATCHES_A_TURN", 1)
    node.now += HOUR
    before = {name: topic.id for name, topic in node.node.broker.image.topics.items()}
    node.wake()
    end = metadata(node)._snapshot_generator._cut.view.id.end

    node.delete("t0")
    node.create("later")
    assert metadata(node).applied > end
    node.settle()

    assert [id.end for id in snapshots(node)] == [end]
    image = node.node.broker.raft.snapshots.newest().image
    assert {name: topic.id for name, topic in image.topics.items()} == before


def test_it_counts_when_it_is_on_the_disk_and_not_before():
    node = cutting(between="1000000", keep="0")
    fill(node, 2)
    node.now += HOUR
    node.flush_at_once = False
    node.settle()

    assert snapshots(node) == []
    assert files(node, ".part")
    assert metadata(node).partition.log.start == 0
    node.do_flushes()
    assert len(snapshots(node)) == 1
    assert not files(node, ".part")


def test_a_disk_that_will_not_take_it_is_asked_again_later(caplog):
    node = cutting(between="1000000")
    fill(node, 2)
    node.disk.fill_up()
    node.advance(HOUR)
    assert "Metadata snapshot cannot be written" in caplog.text
    assert snapshots(node) == files(node, ".part") == []

    node.disk.free_up()
    node.advance(61_000)

    assert len(snapshots(node)) == 1


def test_a_sync_that_fails_is_no_snapshot():
    node = cutting(between="1000000")
    fill(node, 2)
    node.now += HOUR
    node.flush_at_once = False
    node.settle()
    node.do_flush("the disk is gone")

    assert snapshots(node) == files(node, ".checkpoint") == []


def test_a_snapshot_that_was_damaged_is_passed_over_and_the_log_tells_the_rest(caplog):
    node = cutting(keep="-1")
    fill(node, 40)
    newest = snapshots(node)[-1]
    path = f"{HERE}/{newest.file_name}"
    node.disk.write_file(path, node.disk.read_file(path)[:-10])

    node.restart()

    assert f"Metadata snapshot {newest.file_name} cannot be read" in caplog.text
    assert len(node.node.broker.image.topics) == 40


def test_a_log_without_the_snapshot_it_stands_on_does_not_start():
    node = cutting()
    fill(node, 40)
    node.node.stop(node.now)
    for name in files(node, ".checkpoint"):
        node.disk.remove(f"{HERE}/{name}")

    with pytest.raises(ProtocolError, match="no snapshot that can be read goes so far"):
        node.start()


@pytest.mark.parametrize("fuse", range(0, 60, 3))
def test_whenever_the_process_dies_the_next_start_has_everything(fuse):
    node = cutting(between="600")
    fill(node, 4)
    node.disk.fuse = fuse
    made = 4
    try:
        for number in range(4, 12):
            node.create(f"t{number}")
            made = number + 1
            node.settle()
    except Killed:
        pass
    if fuse % 2:
        node.disk.crash(random.Random(fuse))
    node.disk.fuse = None
    node.flushes, node.replies = [], {}

    again = cutting(between="600", disk=node.disk)

    assert [f"t{number}" for number in range(made)] == list(again.node.broker.image.topics)[:made]
    assert files(again, ".part") == []
    fill(again, 3, first=20)

"""Compaction from the plan to the swap, through Work and Finished."""

from andiron.log.checkpoints import CLEANED_UPTO, decode_offsets
from andiron.model.effects import Finished
from worlds.compacting import fill_compacted, records, write_compacted
from worlds.node import SmallNode, error_of

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000


def test_a_compacted_topic_keeps_the_latest_of_each_key_and_all_offsets(node):
    fill_compacted(node)
    before = {record.offset: record.value for record in records(node)}

    node.advance(15 * SECOND)
    [work] = node.work
    node.do_work()

    after = records(node)
    assert len(after) < len(before)
    assert all(before[record.offset] == record.value for record in after)
    assert {record.key: record.value for record in after} == {b"a": b"a9", b"b": b"b9", b"c": b"c9"}
    assert node.log("t").end == 30
    assert work.job.partition == ("t", 0)


def test_the_old_files_go_a_minute_later(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    node.do_work()
    assert any(name.endswith(".deleted") for name in node.disk.names("/data/t-0"))

    node.advance(MINUTE)

    assert not any(name.endswith((".deleted", ".cleaned")) for name in node.disk.names("/data/t-0"))


def test_one_log_is_compacted_at_a_time_and_then_the_next(node):
    fill_compacted(node, "t")
    fill_compacted(node, "u")
    node.advance(MINUTE)
    assert len(node.work) == 1

    first = node.work[0].job.partition
    node.step(Finished(node.work[0].token, node.work.pop(0).job.run(node.disk)))
    node.advance(0)

    assert len(node.work) == 1
    assert node.work[0].job.partition != first


def test_a_compaction_that_failed_is_tried_again_after_the_backoff(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    node.step(Finished(node.work.pop().token, None, "the process died"))
    node.settle()
    assert node.work == []

    node.advance(15 * SECOND)
    node.do_work()

    assert len(records(node)) < 30


def test_a_topic_deleted_while_it_is_compacted_is_gone(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    result = node.work[0].job.run(node.disk)
    node.delete("t")

    node.step(Finished(node.work.pop().token, result))
    node.advance(2 * MINUTE)

    assert not any(name.startswith("t-") for name in node.disk.names("/data"))


def test_a_topic_made_anew_while_the_old_one_is_compacted_is_left_alone(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    result = node.work[0].job.run(node.disk)
    node.delete("t")
    fill_compacted(node, rounds=2)

    node.step(Finished(node.work.pop().token, result))

    assert [record.value for record in records(node)] == [b"a0", b"b0", b"c0", b"a1", b"b1", b"c1"]


def test_where_the_result_cannot_be_put_in_place_nothing_is_lost(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    result = node.work[0].job.run(node.disk)
    node.disk.fill_up()

    node.step(Finished(node.work.pop().token, result))

    assert {r.key: r.value for r in records(node)} == {b"a": b"a9", b"b": b"b9", b"c": b"c9"}
    node.disk.free_up()
    node.advance(MINUTE)
    node.do_work()
    assert {r.key: r.value for r in records(node)} == {b"a": b"a9", b"b": b"b9", b"c": b"c9"}


def test_where_the_cleaner_is_turned_off_nothing_is_compacted():
    node = SmallNode(log_cleaner_enable="false")
    fill_compacted(node)

    node.advance(HOUR)

    assert node.work == []


def test_what_is_compacted_is_so_after_a_restart(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    node.do_work()
    before = records(node)

    for clean in (True, False):
        node.restart(clean)
        assert records(node) == before


def cleaner_checkpoint(node, directory="/data"):
    return decode_offsets(node.disk.read_file(f"{directory}/{CLEANED_UPTO}"))


def test_a_restart_goes_on_from_the_cleaner_checkpoint(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    upto = node.work[0].job.end
    node.do_work()
    assert cleaner_checkpoint(node) == {("t", 0): upto}

    node.restart()
    node.advance(15 * SECOND)
    assert node.work == []
    write_compacted(node)
    node.advance(15 * SECOND)

    assert node.work[0].job.first_dirty == upto


def test_a_cleaner_checkpoint_that_cannot_be_written_counts_until_the_next_start(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    upto = node.work[0].job.end
    write_file = node.disk.write_file

    def refuse(path, data):
        raise OSError(28, "No space left on device", path)

    node.disk.write_file = refuse
    node.do_work()
    node.disk.write_file = write_file

    write_compacted(node)
    node.advance(15 * SECOND)
    assert node.work[0].job.first_dirty == upto
    node.restart()
    node.advance(15 * SECOND)
    assert node.work[0].job.first_dirty == 0


def truncated_by_another_leader(node, end):
    """Another broker leads for a while, whose log ends at `end`, as after an unclean election; then this one again."""
    partition, image = node.partition("t"), node.node.broker.image.topics["t"].partitions[0]
    take_role = node.node.broker.replica_manager._take_role
    other = image._replace(leader=2, leader_epoch=1, partition_epoch=1, replicas=(1, 2), isr=(2,))
    take_role(partition, other, node.now)
    partition.go_to(0, end, node.now)
    take_role(partition, image._replace(leader_epoch=2, partition_epoch=2), node.now)


def test_what_is_written_after_a_truncation_below_the_cleaner_checkpoint_is_compacted(node):
    """A tombstone that passed for clean would go in time, and the record that it deletes would come back."""
    fill_compacted(node, rounds=0, delete_retention_ms=MINUTE)
    node.produce("t", records=node.keyed(b"deleted", b"value"))
    write_compacted(node)
    node.advance(15 * SECOND)
    node.do_work()
    upto = cleaner_checkpoint(node)["t", 0]

    truncated_by_another_leader(node, upto - 1)
    end = node.log("t").end
    assert cleaner_checkpoint(node) == {("t", 0): end}
    node.produce("t", records=node.keyed(b"deleted", None))
    write_compacted(node)
    for _ in range(2):
        node.advance(2 * MINUTE)
        node.do_work()
        write_compacted(node)

    assert end < upto
    assert b"deleted" not in {record.key for record in records(node)}


def test_a_full_disk_does_not_end_the_deletion_of_a_compacted_topic(node):
    fill_compacted(node)
    node.advance(15 * SECOND)
    node.do_work()
    node.flush_at_once = False
    ticket = node.send(node.delete_request("t"))
    node.disk.fill_up()

    node.do_flushes()

    assert error_of(node.answer(ticket).responses[0]) == "NONE"
    node.disk.free_up()
    node.flush_at_once = True
    fill_compacted(node, rounds=1)
    assert len(records(node)) == 3

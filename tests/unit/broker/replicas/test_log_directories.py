"""Whose the directories are, what lies in which, and what their checkpoints say."""

import random

import pytest

from andiron.broker.replicas.log_directories import LogDirectories
from andiron.log.checkpoints import CLEANED_UPTO, LOG_STARTS, RECOVERY_POINTS, WATERMARKS
from andiron.log.directory import DirectoryError, Identity
from andiron.log.settings import LogSettings
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.sim.disk import MemoryDisk

ID, OTHER_ID = b"\x01" * 16, b"\x02" * 16
ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def disk():
    return MemoryDisk()


def opened(disk, *paths, node_id=1, seed=1):
    directories = LogDirectories(disk, Chance(seed))
    directories.open(paths or ("/data",), (paths or ("/data",))[0], node_id)
    directories.begin()
    return directories


def open_log(directories, name=ORDERS, topic_id=ID, **how):
    return directories.open_log(name, topic_id, LogSettings(), now=0, **how)


def write(log, count=1):
    for _ in range(count):
        records = build([Record(0, 0, None, b"x")])
        log.append(Batch(records), 0, 0)


# ── whose they are ───────────────────────────────────────────────────────────────────


def test_new_directories_get_one_cluster_and_an_id_each(disk):
    directories = opened(disk, "/one", "/two")

    owners = [Identity.decode(disk.read_file(f"{path}/meta.properties"), path) for path in ("/one", "/two")]
    assert {owner.cluster_id for owner in owners} == {directories.cluster_id}
    assert owners[0].directory_id != owners[1].directory_id
    assert len(directories.ids) == 2 and all(len(each) == 16 for each in directories.ids)


def test_a_second_start_finds_the_same_cluster(disk):
    first = opened(disk, seed=1)

    second = opened(disk, seed=2)

    assert (second.cluster_id, second.ids) == (first.cluster_id, first.ids)


def test_a_directory_that_is_added_joins_the_cluster_of_the_others(disk):
    first = opened(disk, "/two", seed=1)

    assert opened(disk, "/one", "/two", seed=2).cluster_id == first.cluster_id


def test_directories_of_two_clusters_are_refused(disk):
    opened(disk, "/one", seed=1)
    opened(disk, "/two", seed=2)

    with pytest.raises(DirectoryError, match="/two belongs to cluster"):
        opened(disk, "/one", "/two")


def test_a_directory_of_another_node_is_refused(disk):
    opened(disk, node_id=1)

    with pytest.raises(DirectoryError, match="belongs to node 1, and this is node 2"):
        opened(disk, node_id=2)


def test_the_stop_was_clean_if_every_directory_says_so(disk):
    opened(disk, "/one", "/two").leave_clean_mark(7)
    assert opened(disk, "/one", "/two").clean

    assert not opened(disk, "/one", "/two").clean, "the mark is taken once"
    opened(disk, "/one").leave_clean_mark(7)
    assert not opened(disk, "/one", "/two").clean


# ── what lies in which ───────────────────────────────────────────────────────────────


def test_a_new_log_goes_where_the_fewest_are(disk):
    directories = opened(disk, "/one", "/two", "/three")
    names = [TopicPartition("orders", number) for number in range(6)]
    for name in names:
        open_log(directories, name)

    assert [directories.directory_of(name) for name in names] == ["/one", "/two", "/three"] * 2


def test_a_log_stays_where_it_is(disk):
    directories = opened(disk, "/one", "/two")
    names = [TopicPartition("orders", number) for number in range(3)]
    for name in names:
        open_log(directories, name)

    again = opened(disk, "/two", "/one")
    for name in names:
        open_log(again, name)

    assert [again.directory_of(name) for name in names] == ["/one", "/two", "/one"]


def test_the_metadata_log_does_not_count_as_a_partition(disk):
    disk.make_directory("/one/__cluster_metadata-0")
    directories = opened(disk, "/one", "/two")

    open_log(directories)

    assert directories.directory_of(ORDERS) == "/one"


def test_what_was_given_up_has_another_name_and_goes_when_it_is_due(disk):
    directories = opened(disk)
    log = open_log(directories)
    assert directories.next_removal() == NEVER

    directories.give_up(log, now=1_000)

    due = 1_000 + log.settings.file_delete_delay_ms
    assert directories.next_removal() == due
    assert not disk.exists("/data/orders-0")
    directories.remove_due(due - 1)
    assert any(name.endswith("-delete/") for name in disk.names("/data"))
    directories.remove_due(due)
    assert not any(name.startswith("orders") for name in disk.names("/data"))
    assert directories.next_removal() == NEVER


def test_what_was_given_up_before_a_restart_goes_at_once(disk):
    directories = opened(disk)
    directories.give_up(open_log(directories), now=1_000)

    assert opened(disk).next_removal() == 0


def test_a_deletion_is_finished_for_the_topic_that_it_was_for_and_no_other(disk):
    write(open_log(opened(disk)))
    directories = opened(disk)

    directories.finish_deletion(ORDERS, OTHER_ID, now=5)
    assert disk.exists("/data/orders-0")
    directories.finish_deletion(ORDERS, ID, now=5)

    assert not disk.exists("/data/orders-0")
    assert directories.next_removal() == 5


def test_strays_are_set_aside_and_the_known_stay(disk):
    before = opened(disk)
    open_log(before)
    open_log(before, TopicPartition("lost", 3))
    directories = opened(disk)

    directories.set_aside_strays({ORDERS})

    folders = [name for name in disk.names("/data") if name.endswith("/")]
    assert len(folders) == 2
    assert "orders-0/" in folders
    assert folders[0].startswith("lost-3.") and folders[0].endswith("-stray/")


def test_a_folder_of_another_topic_of_that_name_is_set_aside(disk):
    write(open_log(opened(disk)))

    log = open_log(opened(disk), topic_id=OTHER_ID)

    assert log.end == 0
    assert any(name.endswith("-stray/") for name in disk.names("/data"))


@pytest.mark.parametrize("adopts", [True, False])
def test_a_log_that_was_never_flushed_and_lost_its_id_is_taken_over_only_where_it_can_be_no_others(
    disk, adopts
):
    write(open_log(opened(disk)))
    disk.remove("/data/orders-0/partition.metadata")

    log = open_log(opened(disk), topic_id=OTHER_ID, adopts=adopts)

    assert log.end == (1 if adopts else 0)
    assert any(name.endswith("-stray/") for name in disk.names("/data")) is not adopts


def test_an_id_that_a_clean_stop_left_unsynced_goes_to_the_disk_with_the_first_records(disk):
    directories = opened(disk)
    open_log(directories, adopts=False).close()
    directories.leave_clean_mark(7)

    log = open_log(opened(disk), adopts=False)
    write(log)

    files, _ = log.unflushed_files()
    assert "/data/orders-0/partition.metadata" in [file.path for file in files]


def test_the_id_of_a_log_that_was_moved_empty_goes_to_the_disk_with_the_first_records(disk):
    directories = opened(disk, "/one", "/two")
    log = open_log(directories)
    future = directories.open_future(ORDERS, ID, log.settings, "/two", 0)

    log = directories.replace(log, future, "/two", 0)
    write(log)

    files, _ = log.unflushed_files()
    assert "/two/orders-0/partition.metadata" in [file.path for file in files]


def test_a_log_without_an_id_that_was_flushed_is_older_than_ids(disk):
    directories = opened(disk)
    log = open_log(directories)
    write(log)
    directories.save(RECOVERY_POINTS, {ORDERS: 1})
    disk.remove("/data/orders-0/partition.metadata")

    assert open_log(opened(disk), adopts=False).end == 1


def test_the_room_is_that_of_each_file_system_or_unknown(disk):
    directories = opened(disk)
    assert directories.usages() == {"/data": disk.usage("/data")}

    def usage(path):
        raise OSError("gone")

    disk.usage = usage
    assert directories.usages() == {"/data": (-1, -1)}


# ── checkpoints ──────────────────────────────────────────────────────────────────────


def test_checkpoints_are_kept_by_directory_and_found_again(disk):
    directories = opened(disk, "/one", "/two")
    names = [TopicPartition("orders", number) for number in range(2)]
    for name in names:
        write(open_log(directories, name), 5)
    directories.save(WATERMARKS, {names[0]: 3, names[1]: 4})
    assert disk.read_file(f"/one/{WATERMARKS}") == b"0\n1\norders 0 3\n"

    again = opened(disk, "/one", "/two")
    for name in names:
        open_log(again, name)

    assert [again.watermark_of(name) for name in names] == [3, 4]


def test_a_checkpoint_is_written_only_when_it_says_something_new(disk):
    directories = opened(disk)
    open_log(directories)
    directories.save(WATERMARKS, {ORDERS: 3})
    disk.remove(f"/data/{WATERMARKS}")

    directories.save(WATERMARKS, {ORDERS: 3})
    assert not disk.exists(f"/data/{WATERMARKS}")
    directories.save(WATERMARKS, {ORDERS: 4})

    assert disk.exists(f"/data/{WATERMARKS}")


def test_a_log_starts_where_its_checkpoint_says(disk):
    directories = opened(disk)
    write(open_log(directories), 5)
    directories.save(LOG_STARTS, {ORDERS: 2})

    assert open_log(opened(disk)).start == 2


def test_a_broken_checkpoint_is_as_good_as_none(disk):
    directories = opened(disk)
    write(open_log(directories), 5)
    disk.write_file(f"/data/{RECOVERY_POINTS}", b"nonsense")

    assert open_log(opened(disk)).end == 5


def test_of_logs_that_are_not_open_a_checkpoint_goes_on_saying_what_it_said(disk):
    directories = opened(disk)
    open_log(directories)
    directories.save(LOG_STARTS, {ORDERS: 2})

    again = opened(disk)
    again.save(LOG_STARTS, {}, unopened=[ORDERS, TopicPartition("never", 1)])
    assert b"orders 0 2" in disk.read_file(f"/data/{LOG_STARTS}")
    again.save(LOG_STARTS, {})

    assert b"orders" not in disk.read_file(f"/data/{LOG_STARTS}")


def test_a_log_that_is_made_under_the_name_of_one_that_is_gone_hears_nothing_of_it(disk):
    directories = opened(disk)
    log = open_log(directories)
    write(log, 5)
    for checkpoint in (RECOVERY_POINTS, LOG_STARTS):
        directories.save(checkpoint, {ORDERS: 4})
    directories.note_cleaned(ORDERS, 4)
    directories.give_up(log, now=0)

    new = open_log(directories, topic_id=OTHER_ID)

    assert new.start == 0
    assert directories.cleaned_upto(ORDERS) is None
    for checkpoint in (RECOVERY_POINTS, LOG_STARTS, CLEANED_UPTO):
        assert b"orders" not in disk.read_file(f"/data/{checkpoint}"), (
            "it is forgotten before there is a new one"
        )


def test_where_that_cannot_be_written_there_is_no_new_log(disk):
    directories = opened(disk)
    log = open_log(directories)
    directories.save(LOG_STARTS, {ORDERS: 0})
    directories.give_up(log, now=0)
    disk.fill_up()

    with pytest.raises(ProtocolError) as caught:
        open_log(directories, topic_id=OTHER_ID)

    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    disk.free_up()
    assert open_log(directories, topic_id=OTHER_ID).start == 0


def test_checkpoints_of_logs_without_a_folder_are_dropped_at_the_start(disk):
    directories = opened(disk)
    open_log(directories)
    directories.save(LOG_STARTS, {ORDERS: 7})
    disk.remove("/data/orders-0")

    assert open_log(opened(disk)).start == 0


def test_a_log_that_was_cut_below_its_checkpoints_brings_them_down(disk):
    """What is written there next is neither synced, committed nor clean, and a start that is cut short must know it."""
    directories = opened(disk)
    held = open_log(directories)
    write(held, 3)
    for file in held.unflushed_files()[0]:
        file.sync()
    for checkpoint in (RECOVERY_POINTS, WATERMARKS):
        directories.save(checkpoint, {ORDERS: 3})
    directories.note_cleaned(ORDERS, 3)
    path = held.segments.active.path
    disk.corrupt(random.Random(1), path, range(held.size - 5, held.size))

    again = opened(disk)
    held = open_log(again)
    assert (held.end, again.cleaned_upto(ORDERS)) == (2, 2)
    for checkpoint in (RECOVERY_POINTS, WATERMARKS, CLEANED_UPTO):
        assert b"orders 0 2" in disk.read_file(f"/data/{checkpoint}")

    held.truncate(1, 0)
    assert again.cleaned_upto(ORDERS) == 1
    held.restart_at(0, 0)
    assert again.cleaned_upto(ORDERS) == 0
    for checkpoint in (WATERMARKS, CLEANED_UPTO):
        assert b"orders 0 0" in disk.read_file(f"/data/{checkpoint}")


@pytest.mark.parametrize("crashes", [False, True])
def test_how_far_a_log_is_clean_is_forgotten_where_it_moves_away(disk, crashes):
    """Else it would count for what comes back: the log may be cut, or made anew, where it is meanwhile."""
    directories = opened(disk, "/one", "/two")
    log = open_log(directories)
    write(log, 3)
    directories.note_cleaned(ORDERS, 3)
    for path in ("/two", "/one"):
        future = directories.open_future(ORDERS, ID, log.settings, path, 0)
        log = directories.replace(log, future, path, 0)
        if crashes:
            directories = opened(disk, "/one", "/two")
            log = open_log(directories)

    assert directories.directory_of(ORDERS) == "/one"
    assert directories.cleaned_upto(ORDERS) is None
    assert b"orders" not in disk.read_file(f"/one/{CLEANED_UPTO}")


def test_a_folder_that_is_a_partitions_by_its_name_alone_is_not_renamed(disk):
    directories = opened(disk)
    disk.make_directory("/data/photos-2024/summer")
    disk.make_directory("/data/thesis-2")
    disk.write_file("/data/thesis-2/draft.tex", b"")

    again = opened(disk)
    again.set_aside_strays(frozenset())

    assert directories.cluster_id == again.cluster_id
    assert {"photos-2024/", "thesis-2/"} <= disk.names("/data").keys()

"""A node whose metadata log was damaged, torn, or taken away while it was off."""

import random

import pytest

from andiron.broker.metadata.metadata_damage import DamagedMetadata
from andiron.records.batch import iterate
from worlds.cluster_client import create, small_cluster
from worlds.node import SmallNode

FOLDER = "/data/__cluster_metadata-0"
LOG = f"{FOLDER}/00000000000000000000.log"


def node_with_topics():
    node = SmallNode()
    for name in ("first", "second", "third"):
        node.create(name)
    return node


def batches(disk, path=LOG):
    return list(iterate(disk.read_file(path)))


def contents(disk, folder="/data"):
    found = {}
    for name in disk.names(folder):
        path = f"{folder}/{name.rstrip('/')}"
        found |= contents(disk, path) if name.endswith("/") else {path: disk.read_file(path)}
    return found


def flip(disk, batch, path=LOG):
    inside = range(batch.position + 21, batch.position + batch.size)
    return disk.corrupt(random.Random(1), path, inside)


@pytest.mark.parametrize("clean", [True, False])
def test_one_flipped_bit_stops_the_start_before_anything_is_changed(clean):
    node = node_with_topics()
    if clean:
        node.node.stop(node.now)
    middle = batches(node.disk)[5]
    flip(node.disk, middle)
    before = contents(node.disk)

    for _ in range(2):
        with pytest.raises(DamagedMetadata) as refused:
            node.restart(clean=False)
        assert f"{LOG} is damaged at byte {middle.position}" in str(refused.value)
        assert "third" in str(refused.value)
        assert contents(node.disk) == before


def test_a_bit_that_is_flipped_back_harms_nobody():
    node = node_with_topics()
    node.node.stop(node.now)
    healthy, middle = node.disk.read_file(LOG), batches(node.disk)[5]
    flip(node.disk, middle)
    with pytest.raises(DamagedMetadata):
        node.restart(clean=False)

    node.disk.write_file(LOG, healthy)
    node.restart(clean=False)

    assert {"first", "second", "third"} <= node.node.broker.image.topics.keys()


def test_a_torn_tail_after_a_crash_is_cut_as_ever():
    node = node_with_topics()
    node.disk.open(LOG).append(bytes(batches(node.disk)[-1].raw)[:40])

    node.restart(clean=False)

    assert "third" in node.node.broker.image.topics


@pytest.mark.parametrize("seed", range(60))
def test_what_a_power_loss_tears_is_never_taken_for_damage(seed):
    """Topics are being made, some of them flushed, when the power goes: the start cuts what is torn, and succeeds."""
    chance = random.Random(seed)
    node = node_with_topics()
    node.flush_at_once = False
    for number in range(chance.randrange(1, 8)):
        node.send(node.create_request(f"late-{number}"))
        for _ in range(chance.randrange(0, 2)):
            if node.flushes:
                node.do_flush()
    node.disk.crash(chance)

    node.flush_at_once = True
    node.restart(clean=False)

    assert {"first", "second", "third"} <= node.node.broker.image.topics.keys()


def test_a_log_that_is_shorter_than_when_it_was_closed_stops_the_start():
    node = node_with_topics()
    node.node.stop(node.now)
    node.disk.open(LOG).truncate(batches(node.disk)[5].position)

    with pytest.raises(DamagedMetadata, match="had records up to"):
        node.restart(clean=False)


def test_a_node_by_itself_does_not_start_without_metadata_where_there_are_partitions():
    node = node_with_topics()
    node.node.stop(node.now)
    node.disk.rename(FOLDER, "/elsewhere")
    before = contents(node.disk)

    with pytest.raises(DamagedMetadata, match="there is no metadata in /data/__cluster_metadata-0"):
        node.restart(clean=False)
    assert contents(node.disk) == before

    node.disk.rename("/elsewhere", FOLDER)
    node.restart(clean=False)
    assert "third" in node.node.broker.image.topics


def test_a_voter_of_several_stops_too_for_it_has_told_the_others_what_it_holds():
    cluster = small_cluster()
    create(cluster, "t")
    disk = cluster.members[1].disk
    cluster.kill(1)
    flip(disk, batches(disk)[2])

    with pytest.raises(DamagedMetadata, match="this node fetches it from them"):
        cluster.start(1)

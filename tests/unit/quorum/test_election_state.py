"""`quorum-state` is Kafka's file, and a broken one is not taken for an empty one."""

from __future__ import annotations

import pytest

from andiron.model.errors import StaleMetadata
from andiron.model.invariant import BrokenInvariant
from andiron.quorum.election_state import EPOCH_MAX, NOBODY, ElectionState, ElectionStateFile
from andiron.quorum.voter_set import VoterIds
from worlds.small_files import SmallFiles

# As a Kafka 4.3 with static voters, and one with dynamic voters, left them.
KAFKA_0 = (
    b'{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":1}],"data_version":0}'
)
KAFKA_1 = (
    b'{"leaderId":-1,"leaderEpoch":4,"votedId":2,'
    b'"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAQ","data_version":1}'
)


def test_a_node_that_never_voted_begins_at_epoch_0():
    assert ElectionStateFile(SmallFiles(), "/m").load() == ElectionState(0)


def test_kafkas_own_file_is_read_and_written():
    state = ElectionState(1, leader=1, voters=VoterIds([1]))
    files = SmallFiles({"/m/quorum-state": KAFKA_0})

    assert ElectionStateFile(files, "/m").load() == state
    ElectionStateFile(files, "/m").store(state)
    assert files["/m/quorum-state"] == KAFKA_0


def test_the_file_of_a_quorum_with_changing_voters_is_read_and_written():
    state = ElectionState(4, leader=NOBODY, voted=2)
    files = SmallFiles({"/m/quorum-state": KAFKA_1})

    assert ElectionStateFile(files, "/m").load() == state
    ElectionStateFile(files, "/m").store(state)
    assert files["/m/quorum-state"] == KAFKA_1.replace(b"AAAQ", b"AAAA"), "we tell no directories"
    assert ElectionStateFile(files, "/m").load() == state


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"{}",
        KAFKA_0.replace(b":0}", b":7}"),
        KAFKA_0.replace(b":1,", b':"x",', 1),
    ],
)
def test_a_file_that_cannot_be_read_stops_the_node(data):
    with pytest.raises(StaleMetadata, match="/m/quorum-state is not a quorum state"):
        ElectionStateFile(SmallFiles({"/m/quorum-state": data}), "/m").load()


@pytest.mark.parametrize("epoch", [EPOCH_MAX, EPOCH_MAX + 1, 1 << 40])
def test_an_epoch_after_which_there_is_none_stops_the_node_with_a_word_on_what_helps(epoch):
    files = SmallFiles({"/m/quorum-state": KAFKA_1.replace(b'h":4', f'h":{epoch}'.encode())})

    with pytest.raises(
        StaleMetadata, match=rf"/m/quorum-state has epoch {epoch}.*remove this file"
    ) as refused:
        ElectionStateFile(files, "/m").load()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("epoch", [-1, EPOCH_MAX + 1])
def test_what_could_not_be_read_again_is_not_written(epoch):
    files = SmallFiles()

    with pytest.raises(StaleMetadata, match="could not be read again"):
        ElectionStateFile(files, "/m").store(ElectionState(epoch))
    assert not files


# ── one state after the other ────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ElectionState(4), ElectionState(4, voted=2)),
        (ElectionState(4, voted=2), ElectionState(4, voted=2)),
        (ElectionState(4, voted=2), ElectionState(4, leader=3)),
        (ElectionState(4, leader=3), ElectionState(4, leader=3)),
        (ElectionState(4, leader=3, voted=2), ElectionState(5, voted=1)),
        (ElectionState(4, leader=3), ElectionState(9, leader=2)),
    ],
)
def test_these_may_follow(before, after):
    after.check_follows(before)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (ElectionState(4), ElectionState(3), "an epoch never goes back"),
        (ElectionState(4, voted=2), ElectionState(4, voted=3), "a vote is given once in an epoch"),
        (ElectionState(4, leader=2), ElectionState(4, leader=2, voted=3), "a vote is given once in an epoch"),
        (ElectionState(4, leader=2), ElectionState(4, leader=3), "an epoch has one leader"),
        (ElectionState(4, leader=2), ElectionState(4, voted=3), "an epoch has one leader"),
    ],
)
def test_these_may_not_and_the_words_say_why(before, after, words):
    with pytest.raises(BrokenInvariant, match=f"^{words}: .*epoch=4"):
        after.check_follows(before)

"""A voter is reached elsewhere, and says so to the leader."""

import pytest

from andiron.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from andiron.wire.messages.update_raft_voter import KRaftVersionFeature, Listener, UpdateRaftVoterRequest
from worlds.controllers import CLUSTER_ID
from worlds.node import Closed, error_of


def updating(
    three, voter, *, cluster=CLUSTER_ID, epoch=None, directory=None, name="CONTROLLER", levels=(0, 1)
):
    own = three.cluster.broker(voter).directories.metadata_id if voter in (1, 2, 3) else bytes(16)
    return UpdateRaftVoterRequest(
        cluster,
        three.epoch if epoch is None else epoch,
        voter,
        own if directory is None else directory,
        [Listener(name, "elsewhere", 19093)],
        KRaftVersionFeature(*levels),
    )


@pytest.fixture
def changing(three):
    """A cluster whose voters are in the log."""
    raised = UpdateFeaturesRequest(10_000, [FeatureUpdateKey("kraft.version", 1)])
    assert three.error(three.leader, raised) == "NONE"
    return three


def test_the_log_says_so_from_then_on(changing):
    number, leader = changing.follower, changing.leader

    answer = changing.ask(leader, updating(changing, number))

    assert (error_of(answer), answer.current_leader.leader_id) == ("NONE", leader)
    for each in (leader, number):
        assert changing.raft(each).voters.latest.get(number).address == ("elsewhere", 19093)
    assert list(changing.raft(leader).quorum.voters) == [1, 2, 3]


def test_what_is_known_is_not_written_again(changing):
    changing.ask(changing.leader, updating(changing, changing.follower))
    end = changing.raft(changing.leader).partition.log.end

    assert changing.error(changing.leader, updating(changing, changing.follower)) == "NONE"
    assert changing.raft(changing.leader).partition.log.end == end


def test_where_the_settings_name_the_voters_only_its_disk_is_noted(three):
    member = three.raft(three.leader)
    known, end = member.voters.directories.pop(three.follower), member.partition.log.end

    assert three.error(three.leader, updating(three, three.follower)) == "NONE"
    assert member.voters.directories[three.follower] == known
    assert member.partition.log.end == end


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"cluster": "another"}, "INCONSISTENT_CLUSTER_ID"),
        ({"epoch": 0}, "FENCED_LEADER_EPOCH"),
        ({"epoch": 99}, "UNKNOWN_LEADER_EPOCH"),
        ({"directory": b"x" * 16}, "VOTER_NOT_FOUND"),
        ({"name": "PLAINTEXT"}, "INVALID_REQUEST"),
        ({"levels": (0, 0)}, "INVALID_REQUEST"),
    ],
)
def test_what_cannot_be_is_refused(changing, how, code):
    end = changing.raft(changing.leader).partition.log.end

    assert changing.error(changing.leader, updating(changing, changing.follower, **how)) == code
    assert changing.raft(changing.leader).partition.log.end == end


def test_who_is_no_voter_is_not_found(changing):
    assert changing.error(changing.leader, updating(changing, 17)) == "VOTER_NOT_FOUND"


def test_only_the_leader_writes_it_down(changing):
    answer = changing.ask(changing.follower, updating(changing, changing.follower))

    assert error_of(answer) == "NOT_LEADER_OR_FOLLOWER"
    assert answer.current_leader.leader_id == changing.leader


def test_clients_have_no_part_in_it(three):
    with pytest.raises(Closed):
        three.ask_as_client(1, updating(three, 1))

import pytest

from andiron.model.ids import LeaderEpoch, Offset
from andiron.quorum.events import LogEnd
from andiron.sim.invariants.votes import VotersVoteOnce, _check_candidate, _check_known
from andiron.sim.watcher import Violation


def test_what_a_cluster_writes_down_is_in_order(trio):
    law = trio.law(VotersVoteOnce)
    for host in trio.hosts:
        host.kill()
        trio.run(500)
        host.start()
        trio.run(3_000)
    assert law._leaders
    assert sorted(law._epochs) == [1, 2, 3]


def test_a_second_vote_in_an_epoch_is_noticed():
    law = VotersVoteOnce()
    law._look(1, 5, 2, -1)
    law._look(1, 5, -1, 2)
    law._look(1, 5, 2, -1)
    with pytest.raises(Violation, match="node-1 in epoch 5: for 2, then for 3"):
        law._look(1, 5, 3, -1)


def test_two_leaders_in_an_epoch_are_noticed():
    law = VotersVoteOnce()
    law._look(1, 5, -1, 2)
    law._look(2, 5, -1, 2)
    with pytest.raises(Violation, match="epoch 5: 2 by node-1, 3 by node-3"):
        law._look(3, 5, -1, 3)


def test_an_epoch_that_goes_back_is_noticed():
    law = VotersVoteOnce()
    law._look(1, 5, -1, -1)
    with pytest.raises(Violation, match="epochs of the quorum go forward"):
        law._look(1, 4, -1, -1)


def test_a_vote_for_one_that_has_less_is_noticed(trio, monkeypatch):
    leader = next(host for host in trio.hosts if host.node.broker.raft.partition.leads)
    voter = next(host for host in trio.hosts if host is not leader)
    epoch = leader.node.broker.raft.quorum.epoch
    _check_candidate(voter, epoch, leader.number)

    least = LogEnd(LeaderEpoch(0), Offset(0))
    monkeypatch.setattr(leader.node.broker.raft, "log_end", lambda: least)
    with pytest.raises(Violation, match=f"votes for node-{leader.number} in {epoch}"):
        _check_candidate(voter, epoch, leader.number)
    _check_candidate(voter, epoch + 1, leader.number)


@pytest.mark.parametrize(("voted", "leader"), [(66, -1), (-1, 66)])
def test_a_stranger_that_is_believed_is_noticed(trio, voted, leader):
    _check_known(trio.hosts[0], 5, 2, -1)
    with pytest.raises(Violation, match="node-1 in epoch 5: node-66, which is not there"):
        _check_known(trio.hosts[0], 5, voted, leader)

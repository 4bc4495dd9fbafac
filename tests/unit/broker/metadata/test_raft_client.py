"""A node's copy of the metadata log, and its voice in who leads it."""

import pytest

from andiron.broker.metadata.raft_requests import METADATA
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.quorum.roles import Role
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from worlds.cluster import SmallCluster, properties
from worlds.cluster_client import create, ready, small_cluster
from worlds.node import error_of

NODES = [1, 2, 3]


@pytest.fixture
def cluster():
    return small_cluster()


def member(cluster, number):
    return cluster.broker(number).raft


def followers(cluster):
    return [n for n in NODES if n != cluster.controller]


def all_agree(cluster):
    logs = [cluster.broker(m.number).raft.partition for m in cluster.up()]
    return len({(p.log.end, p.watermark) for p in logs}) == 1


def test_one_leads_and_the_others_follow(cluster):
    roles = [member(cluster, n).quorum.role for n in NODES]

    assert sorted(role.name for role in roles) == ["FOLLOWER", "FOLLOWER", "LEADER"]
    assert len({member(cluster, n).quorum.epoch for n in NODES}) == 1


def test_the_log_is_the_same_everywhere_and_known_to_be_committed_at_once(cluster):
    """KIP-1166: the leader answers as soon as it has a higher watermark than the follower knows of."""
    create(cluster, "t")

    assert all_agree(cluster)
    ends = {n: cluster.broker(n).raft.partition.log for n in NODES}
    one, *others = [held.read(0, 1 << 20, held.end).read() for held in ends.values()]
    assert all(other == one for other in others)


def test_what_a_follower_says_it_holds_is_on_its_disk(cluster):
    """A majority that has a record has it through a power loss."""
    create(cluster, "t")
    cluster.lose_power(*NODES)
    for number in NODES:
        cluster.start(number)
    ready(cluster)

    assert "t" in cluster.image.topics


def test_a_voter_that_hears_of_a_new_leader_fetches_from_it_at_once(cluster):
    before = cluster.controller
    cluster.kill(before)
    cluster.until(lambda: cluster.controller not in (None, before))
    leader = cluster.broker(cluster.controller)
    [other] = [n for n in NODES if n not in (before, cluster.controller)]
    cluster.pass_time(50)

    assert member(cluster, other).partition.log.end == leader.metadata.partition.log.end


def test_who_was_voted_for_is_not_forgotten_by_a_restart(cluster):
    epochs = {n: member(cluster, n).quorum.epoch for n in NODES}
    cluster.kill(*NODES)
    for number in NODES:
        cluster.start(number)

    assert all(member(cluster, n).quorum.epoch >= epochs[n] for n in NODES)


def test_a_leader_that_stops_names_the_one_with_the_longest_log_to_follow(cluster):
    before = cluster.controller
    behind, ahead = followers(cluster)
    cluster.cut |= {(behind, before), (before, behind)}
    cluster.ask(before, _a_topic("t"))
    cluster.pass_time(100)
    heard = []
    leader = cluster.members[before]
    leader.node.broker.raft._tell = lambda voter, request: heard.append((voter, request))

    leader.node.resign(cluster.now)

    wanted = [each.candidate_id for each in heard[0][1].topics[0].partitions[0].preferred_candidates]
    assert [voter for voter, _ in heard] == sorted([behind, ahead])
    assert wanted == [ahead, behind]


def test_what_an_old_leader_wrote_alone_is_cut_from_its_log(cluster):
    before = cluster.controller
    cluster.isolate(before)
    cluster.ask(before, _a_topic("alone"))
    assert cluster.broker(before).raft.partition.log.end > cluster.broker(before).raft.partition.watermark
    cluster.pass_time(8_000)
    cluster.heal()
    ready(cluster)
    cluster.pass_time(1_000)

    assert all_agree(cluster)
    assert all("alone" not in cluster.broker(n).image.topics for n in NODES)


def test_an_old_leader_says_nothing_of_what_it_wrote_alone(cluster):
    before = cluster.controller
    cluster.isolate(before)
    answers = cluster.ask(before, _a_topic("alone"))
    cluster.until(lambda: answers)

    assert error_of(answers[0].topics[0]) == "REQUEST_TIMED_OUT"
    assert "alone" not in cluster.broker(before).image.topics


def test_a_voter_that_was_cut_off_deposes_nobody_when_it_is_back(cluster):
    """Pre-votes: it asks before it stands, and those who hear their leader say no."""
    leader, epoch = cluster.controller, member(cluster, cluster.controller).quorum.epoch
    cut_off = followers(cluster)[0]
    cluster.isolate(cut_off)
    cluster.pass_time(20_000)

    cluster.heal()
    cluster.until(lambda: cluster.controller == leader)

    assert member(cluster, leader).quorum.epoch == epoch


def test_a_leader_that_a_majority_does_not_hear_steps_down(cluster):
    before = cluster.controller
    cluster.isolate(before)
    cluster.pass_time(5_000)

    assert member(cluster, before).quorum.role is not Role.LEADER
    assert member(cluster, before).leader == -1


# ── observers ────────────────────────────────────────────────────────────────────────


def test_after_all_were_stopped_one_leads_within_moments(cluster):
    """Whom the others took for the leader says that it leads no more; nobody waits for a fetch to time out."""
    for end in (cluster.stop, cluster.kill):
        for number in NODES:
            end(number)
        for number in NODES:
            cluster.start(number)

        cluster.until(lambda: cluster.controller not in (None, -1), ms=1_000)
        ready(cluster)


def test_an_observer_finds_the_leader_by_asking_the_voters():
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2, 3))

    assert member(cluster, 4).leader == cluster.controller
    assert 4 in member(cluster, cluster.controller).observers
    assert member(cluster, 4).quorum.role is Role.FOLLOWER


def test_an_observer_follows_whoever_leads_next():
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2, 3))
    before = cluster.controller
    cluster.kill(before)

    cluster.until(lambda: cluster.controller not in (None, before), ms=5_000)

    assert member(cluster, 4).leader == cluster.controller


def test_an_observer_that_lost_sight_of_a_leader_that_never_went_finds_it_again():
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2, 3))
    leader = cluster.controller
    cluster.isolate(4)
    cluster.pass_time(10_000)
    assert member(cluster, 4).leader == -1

    cluster.heal()
    cluster.until(lambda: member(cluster, 4).leader == leader, ms=5_000)


def test_an_observer_does_not_vote_nor_count():
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2))
    a, b = (1, 2)
    cluster.kill(b if cluster.controller == a else a)
    cluster.pass_time(10_000)

    assert all(m.node.broker.raft.leader == -1 for m in cluster.up())
    assert member(cluster, 4).quorum.role is not Role.CANDIDATE


def test_an_observer_that_knows_only_where_to_begin_finds_everybody():
    class Bootstrapped(SmallCluster):
        """Node 4 is told of one controller, and not who votes."""

        def start(self, number):
            kept = self.more
            if number == 4:
                self.more = {
                    "controller_quorum_voters": "",
                    "controller_quorum_bootstrap_servers": "node-2:9093",
                }
            super().start(number)
            self.more = kept

    assert "controller.quorum.voters" in properties(4, (1, 2, 3))
    cluster = ready(Bootstrapped((1, 2, 3, 4), voters=(1, 2, 3)))

    assert member(cluster, 4).leader == cluster.controller
    create(cluster, "t", (4,), min_insync_replicas=1)
    assert cluster.partition(4, "t").leads


# ── a disk that fails ────────────────────────────────────────────────────────────────


def test_a_node_whose_metadata_log_fails_is_of_no_use_and_says_so(cluster):
    number = followers(cluster)[0]
    cluster.fail_syncs(number, f"/data/{METADATA.topic}")
    cluster.ask(cluster.controller, _a_topic("t"))
    cluster.pass_time(500)

    assert "cannot be written" in cluster.members[number].node.broken


def test_so_is_the_only_voter_where_others_follow_it_and_it_does_not_turn_in_circles():
    cluster = ready(SmallCluster((1, 2, 3), voters=(1,)))
    cluster.fail_syncs(1, f"/data/{METADATA.topic}")
    cluster.kill(3)
    cluster.ask(1, _a_topic("t"))
    cluster.pass_time(20_000)

    assert "cannot be written" in cluster.members[1].node.broken
    assert cluster.members[1].node.next_deadline() > cluster.now


def test_a_vote_that_cannot_be_written_is_not_given(cluster):
    before = cluster.controller
    one, other = followers(cluster)
    for number in (one, other):
        disk = cluster.members[number].disk
        write, disk.write_file = disk.write_file, _refuse(disk.write_file, "quorum-state")
        assert write
    cluster.kill(before)
    cluster.pass_time(10_000)

    assert all(member(cluster, n).leader == -1 for n in (one, other))


def _a_topic(name):
    return CreateTopicsRequest([CreatableTopic(name, 1, 1)], 1_000)


def _refuse(write, name):
    def write_file(path, data):
        if name in path:
            raise OSError(28, "no space left", path)
        return write(path, data)

    return write_file


# ── who is not let in ────────────────────────────────────────────────────────────────


def test_two_processes_of_one_id_are_not_counted_as_one_voter(cluster):
    leader, voter = member(cluster, cluster.controller), followers(cluster)[0]
    cluster.pass_time(1000)

    with pytest.raises(ProtocolError, match="another process fetches as node"):
        leader.check_identity(voter, bytes(range(16)), cluster.now)


def test_a_voter_that_lost_its_folder_is_let_in_again_once_it_was_silent(cluster):
    leader, voter = member(cluster, cluster.controller), followers(cluster)[0]
    cluster.kill(voter)
    cluster.pass_time(leader.patience_ms + 1000)

    leader.check_identity(voter, bytes(range(16)), cluster.now)

    assert leader.voters.directories[voter] == bytes(range(16))


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (ErrorCode.INCONSISTENT_CLUSTER_ID, "--cluster-id"),
        (ErrorCode.DUPLICATE_BROKER_REGISTRATION, "node.id"),
        (ErrorCode.UNSUPPORTED_VERSION, "nothing to do with this node"),
    ],
)
def test_who_is_refused_says_why_until_it_is_let_in(cluster, code, advice):
    refused = member(cluster, followers(cluster)[0])
    refused.refused(code, cluster.now)
    assert advice in refused.trouble

    cluster.pass_time(refused.patience_ms)
    assert refused.trouble is None


@pytest.mark.parametrize("leads", [True, False])
def test_a_node_that_was_wiped_or_replaced_raises_no_false_alarm(cluster, leads, caplog):
    """The others remember it, as their leader even, with another folder and in an epoch that it has forgotten."""
    wiped = cluster.controller if leads else followers(cluster)[0]
    cluster.kill(wiped)
    disk = cluster.members[wiped].disk = cluster._disk(wiped)
    told = disk.read_file("/data/meta.properties").replace(b"directory.id=dir", b"directory.id=new")
    disk.write_file("/data/meta.properties", told)

    with caplog.at_level("INFO"):
        cluster.start(wiped)
        ready(cluster)

    assert not [each.message for each in caplog.records if each.levelname == "ERROR"]
    assert member(cluster, wiped).trouble is None


def test_a_second_process_that_the_others_go_on_hearing_of_is_an_alarm(cluster, caplog):
    refused = member(cluster, followers(cluster)[0])
    duplicate = ErrorCode.DUPLICATE_BROKER_REGISTRATION
    refused.refused(duplicate, cluster.now)
    assert "if it is gone they forget it" in refused.trouble and not caplog.records

    refused.refused(duplicate, cluster.now + 3 * refused.patience_ms)

    [told] = caplog.records
    assert told.levelname == "ERROR" and refused.trouble in told.message
    assert refused.trouble.startswith("another process is node")

"""Who votes at a node: its settings, a snapshot, its log."""

from types import SimpleNamespace

from andiron.broker.metadata.raft_requests import METADATA, TOPIC_ID
from andiron.broker.metadata.voter_tracker import VoterTracker
from andiron.broker.replicas.partition import Partition
from andiron.broker.settings.node_settings import NodeSettings
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.ids import Address, TopicIdPartition
from andiron.quorum.voter_set import VoterNode, VoterSet
from andiron.records.batch import iterate
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk
from worlds.cluster import properties

MINE = b"m" * 16


def node(id):
    return VoterNode(id, bytes([id] * 16), (("CONTROLLER", Address(f"node-{id}", 9093)),))


class Here:
    """A node's log, and who votes there."""

    def __init__(self, founder=1, end=0):
        settings = NodeSettings.load(properties(1, (1, 2, 3), founder=founder))
        log = PartitionLog.open(
            LogFolder(MemoryDisk(), "/m"), TopicIdPartition(TOPIC_ID, METADATA), LogSettings(), now=0
        )
        self.partition = Partition(METADATA, TOPIC_ID, log)
        self.partition.lead(
            LeaderAndIsr(1, 1, frozenset({1}), frozenset({1})), watermark=0, now=0, lag_ms_max=1
        )
        self.changes = []
        self.voters = VoterTracker(settings, SimpleNamespace(metadata_id=MINE))
        self.voters.load(self.partition, 0, None)

    def ids(self):
        return list(self.voters.latest.ids)

    def change(self, *ids):
        end = self.voters.change(VoterSet(map(node, ids)), self.partition, 0)
        self.changes.append(self.ids())
        return end

    def follow(self, *happened):
        if self.voters.follow(*happened):
            self.changes.append(self.ids())

    def reload(self):
        again = Here()
        again.voters.load(self.partition, 0, None)
        return again.ids()


def test_a_founder_begins_by_itself_and_may_grow():
    here = Here()

    [me] = here.voters.latest
    assert (me.id, me.directory, me.address) == (1, MINE, Address("node-1", 9093))
    assert here.voters.may_change


def test_those_of_the_settings_stay_what_they_are():
    here = Here(founder=None)

    assert here.ids() == [1, 2, 3]
    assert here.voters.addresses[3] == Address("node-3", 9093)
    assert not here.voters.may_change


def test_a_change_is_in_the_log_and_holds_at_once():
    here = Here()
    assert here.change(1, 2) == 2, "the first says in which version, too"
    assert here.change(1, 2, 3) == 3

    assert here.changes == [[1, 2], [1, 2, 3]]
    assert here.voters.addresses[2] == Address("node-2", 9093)
    assert here.reload() == [1, 2, 3]


def test_what_is_fetched_holds_and_what_is_cut_off_does_not():
    leader, follower = Here(), Here()
    leader.change(1, 2)
    leader.change(1, 2, 3)
    records = leader.partition.log.read(0, 1 << 20, 3).read()

    follower.follow(iterate(records), 0, 3)
    assert follower.ids() == [1, 2, 3]
    follower.follow((), 3, 2)
    assert follower.ids() == [1, 2]
    follower.follow((), 2, 0)
    assert follower.ids() == [1]
    assert follower.changes == [[1, 2, 3], [1, 2], [1]]


def test_what_is_known_already_is_not_news():
    leader = Here()
    leader.change(1, 2)
    records = leader.partition.log.read(0, 1 << 20, 3).read()

    leader.follow(iterate(records), 2, 2)

    assert leader.changes == [[1, 2]]


def test_a_snapshot_names_them():
    here = Here()
    here.voters.restart(100, VoterSet([node(4), node(5)]).record())

    assert here.ids() == [4, 5]
    assert here.voters.addresses[5] == Address("node-5", 9093)

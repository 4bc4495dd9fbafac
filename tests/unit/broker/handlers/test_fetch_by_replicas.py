"""Followers fetch as consumers do, see more, and say by it what they hold; consumers may read from followers too."""

import pytest

from andiron.broker.metadata.raft_requests import TOPIC_ID
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from worlds.cluster_client import (
    begin_produce,
    create,
    fetch,
    fetch_request,
    produce,
    produced,
    read,
    small_cluster,
    write,
)
from worlds.controllers import CLUSTER_ID
from worlds.fetching import values
from worlds.node import SmallNode, error_of

ANY = (1 << 63) - 1


@pytest.fixture
def node():
    """A node that leads t for itself and for brokers 2 and 3, of which a test plays whichever it likes."""
    cluster = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    cluster.cut |= {(1, 2), (2, 1), (1, 3), (3, 1)}
    create(cluster, "t", (1, 2, 3))
    return Leader(cluster)


class Leader:
    """Node 1, and fetches of followers that its own do not get to send."""

    def __init__(self, cluster):
        self.cluster, self.partition = cluster, cluster.partition(1, "t")
        self.topic_id = self.partition.topic_id

    def produce(self, *values):
        assert produce(self.cluster, "t", *values, to=1, acks=1).error_code == 0

    def request(
        self,
        offset,
        replica=2,
        epoch=0,
        last_epoch=-1,
        start=0,
        watermark=ANY,
        wait_ms=0,
        life=None,
        topic_id=None,
        **how,
    ):
        life = self.cluster.broker(replica).lifecycle.epoch if life is None else life
        wanted = FetchPartition(0, epoch, offset, last_epoch, start, 1 << 20, high_watermark=watermark)
        return FetchRequest(
            replica_state=ReplicaState(replica, life), max_wait_ms=wait_ms, min_bytes=1,
            topics=[FetchTopic("", topic_id or self.topic_id, [wanted])], **how,
        )  # fmt: skip

    def fetch(self, offset, version=18, **how):
        return self.whole(offset, version, **how).responses[0].partitions[0]

    def whole(self, offset, version=18, **how):
        return self.cluster.answer(1, self.request(offset, **how), version)

    def send(self, offset, version=18, **how):
        return self.cluster.ask(1, self.request(offset, **how), version)

    def seen(self, replica=2):
        return self.partition.leader().progress()[replica].offset


# ── what a follower sees ─────────────────────────────────────────────────────────────


def test_a_follower_sees_everything_and_a_consumer_what_is_committed(node):
    node.produce(b"a")

    assert values(node.fetch(0)) == [b"a"]
    assert len(fetch(node.cluster, "t", frm=1).records) == 0


@pytest.mark.parametrize("version", [12, 14])
def test_before_version_15_a_follower_is_named_by_itself(node, version):
    node.produce(b"a")
    wanted = FetchPartition(0, 0, 1, 0, 0, 1 << 20)
    topic = FetchTopic("t", node.topic_id, [wanted])
    node.cluster.answer(1, FetchRequest(replica_id=2, topics=[topic]), version)

    assert node.seen() == 1


def test_a_follower_waits_for_something_new_and_is_woken_by_it(node):
    answers = node.send(0, wait_ms=60_000)
    assert not answers
    node.produce(b"a")

    assert values(answers[0].responses[0].partitions[0]) == [b"a"]


# ── what it says by it ───────────────────────────────────────────────────────────────


def test_a_fetch_says_that_everything_before_it_is_held(node):
    node.produce(b"a", b"b")
    assert node.seen() == 0
    for replica in (2, 3):
        node.fetch(2, replica=replica)

    assert node.seen() == node.seen(3) == 2
    assert node.partition.watermark == 2


def test_a_producer_that_waits_is_answered_by_the_fetch_that_was_missing(node):
    answers = begin_produce(node.cluster, "t", b"a", to=1)
    node.fetch(1, replica=2)
    assert not answers
    node.fetch(1, replica=3)

    assert produced(answers).error_code == 0


@pytest.mark.parametrize("epoch, code", [(-1, "NONE"), (0, "NONE"), (1, "UNKNOWN_LEADER_EPOCH")])
def test_in_another_epoch_it_says_nothing(node, epoch, code):
    node.produce(b"a")
    answer = node.fetch(1, epoch=epoch)

    assert error_of(answer) == code
    assert node.seen() == (1 if code == "NONE" else 0)


def test_a_follower_whose_log_parts_from_this_one_says_nothing_and_is_told_where(node):
    node.produce(b"a", b"b")
    answer = node.fetch(2, last_epoch=-1)
    assert node.seen() == 2
    answer = node.fetch(5, replica=3, last_epoch=0)

    assert (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset) == (0, 2)
    assert node.seen(3) == 0


def test_whoever_had_to_give_way_is_told_the_watermark_again(node):
    node.produce(b"a", b"b")
    for replica in (2, 3):
        node.fetch(2, replica=replica)
    opened = node.whole(5, last_epoch=0, session_epoch=0)
    assert opened.responses[0].partitions[0].diverging_epoch.end_offset == 2

    told = node.whole(2, last_epoch=0, session_id=opened.session_id, session_epoch=1)

    assert [each.high_watermark for each in told.responses[0].partitions] == [2]


def test_beyond_the_end_nothing_is_said_by_it(node):
    node.produce(b"a")
    answer = node.fetch(7)

    assert error_of(answer) == "OFFSET_OUT_OF_RANGE"
    assert node.seen() == 0


def test_who_holds_no_replica_says_nothing_and_has_to_ask_again(node):
    node.produce(b"a")
    node.fetch(1, replica=2)
    answer = node.fetch(1, life=1, replica=9, wait_ms=500)

    assert error_of(answer) == "NOT_LEADER_OR_FOLLOWER", (
        "the leader may not have heard yet that it is to have one"
    )
    assert sorted(node.partition.leader().progress()) == [2, 3]


def test_an_earlier_life_of_a_broker_says_nothing(node):
    node.produce(b"a")
    node.fetch(1)
    node.fetch(0, life=1)

    assert node.seen() == 1


# ── sessions ─────────────────────────────────────────────────────────────────────────


def test_the_next_fetch_of_a_session_is_not_held_up_by_the_last(node):
    first = node.whole(0, session_id=0, session_epoch=0)
    waiting = node.send(0, session_id=first.session_id, session_epoch=1, wait_ms=60_000)
    assert not waiting
    node.send(0, session_id=first.session_id, session_epoch=2, wait_ms=60_000)

    assert waiting
    assert waiting[0].responses == []


def test_what_is_new_is_told_to_the_last_of_two_fetches_since_the_first_is_not_listened_to(node):
    node.produce(b"a")
    first = node.whole(0, session_id=0, session_epoch=0)
    waiting = node.send(1, session_id=first.session_id, session_epoch=1, wait_ms=500)
    node.whole(1, replica=3)
    assert node.partition.watermark == 1
    next_one = node.send(1, session_id=first.session_id, session_epoch=2, wait_ms=500)

    assert waiting[0].responses == []
    node.cluster.pass_time(500)
    assert next_one[0].responses[0].partitions[0].high_watermark == 1


# ── the metadata ─────────────────────────────────────────────────────────────────────


def test_what_is_committed_of_the_metadata_is_told_at_once():
    """A follower says which watermark it knows (version 18), and does not wait for records to learn of a higher one."""
    node = SmallNode()
    watermark = node.node.broker.raft.partition.watermark
    wanted = FetchPartition(0, -1, watermark, partition_max_bytes=1 << 20, high_watermark=watermark - 1)
    request = FetchRequest(
        replica_state=ReplicaState(9),
        max_wait_ms=60_000,
        min_bytes=1,
        topics=[FetchTopic("", TOPIC_ID, [wanted])],
    )
    node.connect(2, "CONTROLLER")

    answer = node.ask(request, 18, conn=2).responses[0].partitions[0]

    assert (answer.high_watermark, len(answer.records)) == (watermark, 0)


def test_who_knows_all_that_is_committed_waits():
    node = SmallNode()
    watermark = node.node.broker.raft.partition.watermark
    wanted = FetchPartition(0, -1, watermark, partition_max_bytes=1 << 20, high_watermark=watermark)
    request = FetchRequest(
        replica_state=ReplicaState(9),
        max_wait_ms=60_000,
        min_bytes=1,
        topics=[FetchTopic("", TOPIC_ID, [wanted])],
    )
    node.connect(2, "CONTROLLER")

    assert node.answer(node.send(request, 18, conn=2)) is None


def test_another_clusters_follower_is_refused(node):
    assert error_of(node.whole(0, cluster_id="another")) == "INCONSISTENT_CLUSTER_ID"
    assert error_of(node.whole(0, cluster_id=CLUSTER_ID)) == "NONE"


# ── consumers of followers ───────────────────────────────────────────────────────────


@pytest.fixture
def cluster():
    made = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    create(made, "t", (1, 2, 3))
    write(made, "t", b"a")
    made.pass_time(600)
    return made


@pytest.mark.parametrize("version", [11, 12, 13, 17])
def test_a_consumer_may_read_from_a_follower(cluster, version):
    assert read(cluster, "t", frm=2, version=version) == [b"a"]


@pytest.mark.parametrize("version", [4, 10])
def test_older_consumers_are_sent_to_the_leader(cluster, version):
    assert error_of(fetch(cluster, "t", frm=2, version=version)) == "NOT_LEADER_OR_FOLLOWER"


def test_at_a_follower_a_consumer_sees_what_is_known_to_be_committed_there(cluster):
    cluster.cut |= {(1, 2), (2, 1)}
    produce(cluster, "t", b"b", acks=1)

    answer = fetch(cluster, "t", frm=2)

    assert (values(answer), answer.high_watermark) == ([b"a"], 1)


def test_a_consumer_that_waits_at_a_follower_is_answered_there(cluster):
    answers = cluster.ask(2, fetch_request(cluster, "t", 1, wait_ms=60_000), 17)
    assert not answers
    write(cluster, "t", b"b")
    cluster.until(lambda: answers, ms=2_000)

    assert values(answers[0].responses[0].partitions[0]) == [b"b"]


def test_a_follower_does_not_serve_another_follower(cluster):
    wanted = FetchPartition(0, 0, 0, partition_max_bytes=1 << 20)
    topic = FetchTopic("", cluster.image.topics["t"].id, [wanted])
    request = FetchRequest(replica_state=ReplicaState(3, cluster.broker(3).lifecycle.epoch), topics=[topic])

    answer = cluster.answer(2, request, 17).responses[0].partitions[0]

    assert error_of(answer) == "NOT_LEADER_OR_FOLLOWER"


# ── who leads instead ────────────────────────────────────────────────────────────────


def test_who_asks_the_wrong_broker_is_told_the_right_one(cluster):
    create(cluster, "u", (1, 2))
    response = cluster.answer(3, fetch_request(cluster, "u"), 17)
    answer = response.responses[0].partitions[0]

    assert error_of(answer) == "NOT_LEADER_OR_FOLLOWER"
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (1, 0)
    assert [(each.node_id, each.host, each.port) for each in response.node_endpoints] == [(1, "node-1", 9092)]


@pytest.mark.parametrize("epoch, code", [(0, "FENCED_LEADER_EPOCH"), (9, "UNKNOWN_LEADER_EPOCH")])
def test_who_is_in_another_epoch_is_told_the_present_one(cluster, epoch, code):
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") in (2, 3))
    leader = cluster.leader_of("t")

    answer = fetch(cluster, "t", frm=leader, epoch=epoch)

    assert error_of(answer) == code
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (leader, 1)

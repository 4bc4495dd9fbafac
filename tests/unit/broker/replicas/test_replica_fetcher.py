"""A follower's fetches from one leader: one session, told what moved; and every way in which an answer can go wrong."""

import pytest

from andiron.broker.node.patience import FETCHER_RETRY_MS
from andiron.broker.replicas.replica_fetcher import LANE
from andiron.log.checkpoints import LOG_STARTS
from andiron.wire.apis import APIS
from andiron.wire.codec import decode_message
from andiron.wire.header import decode_request_header
from andiron.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from andiron.wire.messages.fetch import FetchRequest
from andiron.wire.messages.list_offsets import ListOffsetsRequest
from worlds.cluster import SmallCluster
from worlds.cluster_client import (
    all_in_sync,
    begin_produce,
    brokers,
    create,
    delete,
    ends,
    in_log,
    isr,
    ready,
    write,
)


class Overheard(SmallCluster):
    """A cluster of which is noted what followers ask their leaders."""

    def __init__(self, *args, **more):
        self.heard = []
        super().__init__(*args, **more)

    def _call(self, caller, life, call):
        if call.lane == LANE:
            frame = b"".join(bytes(part) for part in call.parts)
            key, version, _, _, position = decode_request_header(frame, 0, len(frame))
            self.heard.append((caller.number, decode_message(APIS[key].request, version, frame[position:])))
        super()._call(caller, life, call)

    def asked_by(self, number, kind=FetchRequest):
        return [request for caller, request in self.heard if caller == number and isinstance(request, kind)]


@pytest.fixture
def cluster():
    return ready(Overheard((1, 2, 3, 4), voters=(4,), without_broker=(4,)))


def named(request):
    return sorted(part.partition for topic in request.topics for part in topic.partitions)


# ── sessions ─────────────────────────────────────────────────────────────────────────


def test_a_follower_says_who_it_is_and_where_its_log_ends(cluster):
    create(cluster, "t")
    write(cluster, "t", b"a")
    cluster.pass_time(600)

    asked = [request for request in cluster.asked_by(2) if request.topics][-1]
    part = asked.topics[0].partitions[0]
    assert (asked.replica_state.replica_id, asked.replica_state.replica_epoch) == (
        2,
        cluster.broker(2).lifecycle.epoch,
    )
    assert (part.current_leader_epoch, part.fetch_offset, part.last_fetched_epoch) == (0, 1, 0)


def test_what_does_not_move_is_not_named_again(cluster):
    create(cluster, "t", [(1, 2, 3)] * 10)
    cluster.pass_time(1_200)
    cluster.heard.clear()

    write(cluster, "t", b"a", partition=3)
    cluster.pass_time(3_000)

    names = [named(request) for request in cluster.asked_by(2)]
    assert names.count([3]) == 1
    assert [name for name in names if name not in ([3], [])] == []


def test_a_partition_that_comes_anew_does_not_wait_for_a_fetch_that_finds_nothing(cluster):
    create(cluster, "t")
    cluster.pass_time(600)
    began = cluster.now

    create(cluster, "u")
    write(cluster, "u", b"a")

    assert cluster.now - began < 100


def test_a_leader_that_forgot_the_session_is_told_everything_anew(cluster):
    create(cluster, "t", [(1, 2, 3)] * 3)
    cluster.pass_time(600)
    cluster.broker(1).fetch_sessions._sessions.clear()
    cluster.heard.clear()

    cluster.pass_time(1_100)
    write(cluster, "t", b"a", partition=1)

    assert [0, 1, 2] in [named(request) for request in cluster.asked_by(2)]
    assert ends(cluster, "t", 1) == {1: 1, 2: 1, 3: 1}


def test_a_leader_without_room_for_a_session_is_followed_without_one():
    cluster = ready(Overheard(max_incremental_fetch_session_cache_slots=0))
    create(cluster, "t", [(1, 2, 3)] * 3)
    for number in range(3):
        write(cluster, "t", b"a", partition=number)
    cluster.pass_time(3_000)

    assert all(request.session_id == 0 for request in cluster.asked_by(2))
    assert all(all_in_sync(cluster, "t", p) for p in range(3))


def test_what_is_followed_no_more_is_forgotten_by_the_leader_too(cluster):
    create(cluster, "t", [(1, 2, 3)] * 2)
    create(cluster, "u", (1, 2, 3))
    cluster.pass_time(600)
    delete(cluster, "u")
    cluster.pass_time(1_200)

    sessions = list(cluster.broker(1).fetch_sessions._sessions.values())
    assert sorted(len(session.partitions()) for session in sessions) == [2, 2]


# ── trouble ──────────────────────────────────────────────────────────────────────────


def test_a_leader_that_does_not_answer_is_asked_again_soon(cluster):
    create(cluster, "t")
    cluster.kill(1)
    assert cluster.leader_of("t") == 1  # for all that is known so far

    assert cluster.broker(2).fetcher_manager.next_deadline() <= cluster.now + FETCHER_RETRY_MS


def test_a_leader_that_has_not_read_as_far_yet_is_asked_again_in_a_moment(cluster):
    """Followers may hear of a topic before its leader does."""
    cluster.cut |= {(4, 1), (1, 4)}
    topic = CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, [1, 2, 3])])
    cluster.ask(2, CreateTopicsRequest([topic], 30_000))
    cluster.until(lambda: "t" in cluster.broker(2).image.topics)
    cluster.pass_time(300)
    assert "t" not in cluster.broker(1).image.topics
    assert cluster.broker(2).fetcher_manager._fetchers[1]._paused
    cluster.heal()
    cluster.until(lambda: all("t" in broker.image.topics for broker in brokers(cluster)))

    assert write(cluster, "t", b"a") == 0


def test_a_log_that_the_leader_has_deleted_past_asks_where_the_leaders_begins(cluster):
    create(cluster, "t")
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    for number in range(5):
        write(cluster, "t", b"%d" % number)
    cluster.partition(1, "t").log.advance_start(3)

    cluster.start(3)
    cluster.until(lambda: all_in_sync(cluster, "t"))

    timestamps = [
        request.topics[0].partitions[0].timestamp for request in cluster.asked_by(3, ListOffsetsRequest)
    ]
    assert timestamps == [-1, -2]  # its end first, then its start
    assert in_log(cluster, 3, "t") == [b"3", b"4"]


def test_where_a_log_starts_anew_is_written_down_before_the_leader_is_told(cluster):
    """The leader may answer DeleteRecords by it: what is deleted must not come back with the rest of its batch."""
    create(cluster, "t")
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    write(cluster, "t", *[b"%d" % number for number in range(5)])
    cluster.partition(1, "t").log.advance_start(3)
    cluster.start(3)
    cluster.until(lambda: cluster.partition(1, "t").leader().start_of(3) == 3)

    assert b"t 0 3" in cluster.members[3].disk.read_file(f"/data/{LOG_STARTS}")


def test_a_disk_that_is_full_holds_up_its_partition_until_there_is_room(cluster, caplog):
    create(cluster, "t")
    cluster.members[3].disk.fill_up()
    answers = begin_produce(cluster, "t", b"x" * 10_000, timeout_ms=100_000)
    cluster.pass_time(2_000)
    assert not answers
    assert "cannot take over what its leader has" in caplog.text

    cluster.members[3].disk.free_up()
    cluster.until(lambda: answers)

    assert ends(cluster, "t") == {1: 1, 2: 1, 3: 1}


def test_a_batch_larger_than_a_fetch_may_be_comes_whole():
    cluster = ready(SmallCluster(replica_fetch_max_bytes=1_000, replica_fetch_response_max_bytes=2_000))
    create(cluster, "t", [(1, 2, 3)] * 3)
    for partition in range(3):
        write(cluster, "t", b"x" * 50_000, partition=partition)

    for partition in range(3):
        assert ends(cluster, "t", partition) == {1: 1, 2: 1, 3: 1}


def test_a_long_log_comes_in_many_fetches():
    cluster = ready(SmallCluster(replica_fetch_max_bytes=1_000))
    create(cluster, "t")
    cluster.kill(3)
    cluster.until(lambda: isr(cluster, "t") == [1, 2])
    for number in range(50):
        write(cluster, "t", b"%03d" % number * 100)
    cluster.start(3)
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert in_log(cluster, 3, "t") == in_log(cluster, cluster.leader_of("t"), "t")


# ── answers ──────────────────────────────────────────────────────────────────────────

"""One fetcher with a leader that a test answers for: what is asked, and when."""

from collections import namedtuple
from types import SimpleNamespace

from andiron.broker.node.patience import FETCHER_RETRY_MS
from andiron.broker.replicas.replica_fetcher import ReplicaFetcher
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, Address, TopicPartition
from andiron.replication.follower import Next, Position
from andiron.replication.settings import ReplicationSettings
from andiron.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData

TOPIC_ID = bytes(15) + b"t"
SESSION = 77
Log = namedtuple("Log", "settings end start")


class Replica:
    """A follower of which only the ends matter."""

    def __init__(self, number):
        self.topic_id, self.name = TOPIC_ID, TopicPartition("orders", number)
        self.follows, self.epoch, self.end, self.start = True, 5, 0, 0

    @property
    def log(self):
        return Log(LogSettings(), self.end, self.start)

    def position(self):
        return Position(self.end, self.epoch, self.start)

    def take(self, fetched, now):
        if fetched.error is not ErrorCode.NONE:
            return Next.PAUSE
        self.end += len(fetched.records)  # as if each byte were a record
        self.start = max(self.start, fetched.log_start)
        return Next.FETCH


class Leader:
    """Keeps what it is asked until the test answers: the channel to it."""

    me, epoch = 1, 3

    def __init__(self):
        self.asked = []

    def address_of(self, node):
        return Address("there", 9092)

    def call(self, to, lane, body, timeout_ms, then):
        self.asked.append((body, then))

    def named(self):
        """What the last fetch tells: partition → offset."""
        return {
            each.partition: each.fetch_offset
            for topic in self.asked[-1][0].topics
            for each in topic.partitions
        }

    @property
    def waits(self):
        """How long the last fetch may wait for records."""
        return self.asked[-1][0].max_wait_ms

    def answer(self, which, now, *said, session=SESSION, start=0):
        """Answer a fetch; `said` are (partition, error, records)."""
        told = [
            PartitionData(number, error.number, 0, log_start_offset=start, records=records)
            for number, error, records in said
        ]
        topics = [FetchableTopicResponse(topic_id=TOPIC_ID, partitions=told)] if told else []
        self.asked[which][1](FetchResponse(session_id=session, responses=topics), now)


def alone(save_starts=lambda: None):
    """A fetcher of nothing, and its leader."""
    leader, checkpoints = Leader(), SimpleNamespace(save_starts=save_starts)
    step = SimpleNamespace(replicated=lambda partition: None)
    return ReplicaFetcher(
        2, ReplicationSettings(), leader, quota=None, checkpoints=checkpoints, step=step
    ), leader


def fetching(*numbers, save_starts=lambda: None):
    """A fetcher of some partitions in a session, of which one fetch is under way."""
    fetcher, leader = alone(save_starts)
    replicas = [Replica(number) for number in numbers]
    for replica in replicas:
        fetcher.add(replica, 0)
    leader.answer(0, 0)
    return fetcher, leader, replicas


def test_one_fetch_is_under_way_at_a_time():
    fetcher, leader, _ = fetching(0)
    assert len(leader.asked) == 2

    fetcher.fetch(1)
    assert len(leader.asked) == 2

    leader.answer(1, 500)
    assert len(leader.asked) == 3
    assert leader.named() == {}


def test_what_has_moved_is_told_in_the_next_fetch():
    _, leader, _ = fetching(0, 1)

    leader.answer(-1, 1, (0, ErrorCode.NONE, b"abc"))

    assert leader.named() == {0: 3}


def test_a_partition_that_comes_anew_is_fetched_though_another_fetch_waits():
    fetcher, leader, _ = fetching(0)

    fetcher.add(Replica(1), 1)

    assert len(leader.asked) == 3
    assert leader.named() == {1: 0}


def test_those_that_come_while_two_fetches_are_under_way_go_as_soon_as_one_is_answered():
    fetcher, leader, _ = fetching(0)
    for number in (1, 2, 3):
        fetcher.add(Replica(number), 1)
    assert leader.named() == {1: 0}

    leader.answer(1, 2)  # the first, which found nothing: the second waits for records

    assert len(leader.asked) == 4
    assert leader.named() == {2: 0, 3: 0}


def test_what_a_fetch_that_was_overtaken_brings_is_acknowledged_at_once():
    fetcher, leader, _ = fetching(0)
    fetcher.add(Replica(1), 1)

    leader.answer(1, 2, (0, ErrorCode.NONE, b"abc"))

    assert leader.named() == {0: 3}


def test_a_partition_that_its_leader_does_not_know_yet_is_asked_for_again_soon_though_a_fetch_waits():
    fetcher, leader, _ = fetching(0)
    fetcher.add(Replica(1), 1)
    leader.answer(1, 2)
    leader.answer(2, 2, (1, ErrorCode.NOT_LEADER_OR_FOLLOWER, b""))
    assert fetcher.next_deadline() == 2 + FETCHER_RETRY_MS

    fetcher.tick(2 + FETCHER_RETRY_MS)

    assert leader.named() == {1: 0}
    assert fetcher.next_deadline() == NEVER


def test_a_tick_before_its_time_asks_nothing():
    fetcher, leader, _ = fetching(0)
    fetcher.tick(1)
    assert len(leader.asked) == 2


def test_a_fetch_that_opens_a_session_does_not_wait_for_records():
    fetcher, leader = alone()
    fetcher.add(Replica(0), 0)
    fetcher.add(Replica(1), 0)
    assert (leader.waits, leader.named()) == (0, {0: 0})

    leader.answer(0, 1)

    assert (leader.waits, leader.named()) == (ReplicationSettings().replica_fetch_wait_max_ms, {1: 0})


def test_a_leader_that_keeps_no_session_is_not_asked_without_a_pause():
    fetcher, leader = alone()
    fetcher.add(Replica(0), 0)

    leader.answer(0, 1, session=0)

    assert (leader.waits, leader.named()) == (ReplicationSettings().replica_fetch_wait_max_ms, {0: 0})


def test_the_leader_is_not_told_of_a_new_start_before_it_is_written_down():
    is_full, saved = True, []

    def save():
        if is_full:
            raise OSError(28, "no space left on device")
        saved.append(replica.start)

    fetcher, leader, (replica,) = fetching(0, save_starts=save)
    leader.answer(1, 0, (0, ErrorCode.NONE, b""), start=4)
    assert (replica.start, len(leader.asked)) == (4, 2)

    is_full = False
    fetcher.tick(fetcher.next_deadline())

    assert saved == [4]
    assert leader.asked[-1][0].topics[0].partitions[0].log_start_offset == 4


def test_however_many_starts_an_answer_moves_they_are_written_down_once():
    """Retention takes from a thousand partitions of a leader at once: one sync for its follower, and not a thousand."""
    saves = []
    numbers = range(1_000)
    _, leader, replicas = fetching(*numbers, save_starts=lambda: saves.append(len(leader.asked)))

    leader.answer(1, 0, *((number, ErrorCode.NONE, b"") for number in numbers), start=4)
    leader.answer(2, 0, *((number, ErrorCode.NONE, b"") for number in numbers), start=4)

    assert {replica.start for replica in replicas} == {4}
    assert saves == [2]

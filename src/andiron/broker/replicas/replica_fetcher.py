"""Fetches from one leader for all partitions that it leads and this node follows.

    positions that moved ─▶ Fetch, one at a time ─▶ leader ─▶ for each partition: take ─▶ the next Fetch
                                                              │ diverged: cut, and fetch again
                                                              │ out of range: ask for the leader's ends
                                                              └ an error: leave it out for a while

The next fetch is the acknowledgement of the last: it says where each log now ends. So partitions that must be on the
disk before they count (flush.messages=1) hold it back until they are: the flush of all of them is one group commit.

An answer may be of many megabytes: it is taken in some at a time (fetch_backlog.py), and the next fetch goes when all
of it is.

Fetches are a session (KIP-227): what the leader was told it remembers, and a partition where nothing moves costs
neither side anything but a look. A partition that comes anew, has moved or was left out for a while need not wait until
a fetch that finds nothing is over: the next one goes after it, and the leader answers the first as soon as it hears of
the second.

Read next: replication/follower.py for what an answer does to a log; fetcher_manager.py, which has one of these for
each leader.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import NamedTuple, cast

from andiron.broker.metadata.broker_channel import BrokerChannel
from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import FETCHER_RETRY_MS
from andiron.broker.node.step import Step
from andiron.broker.replicas.checkpoints import Checkpoints
from andiron.broker.replicas.fetch_backlog import FetchBacklog, Key, Piece
from andiron.broker.replicas.follower_fetch import fetch_partition, fetch_partition_data
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.replication_quota import ReplicationQuota, is_throttled
from andiron.log.checkpoints import LOG_STARTS
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Address, LeaderEpoch, Millis, NodeId, Offset
from andiron.model.line import Line
from andiron.replication.follower import Next, Position
from andiron.replication.settings import ReplicationSettings
from andiron.wire.messages.fetch import (
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

LANE = "fetch"
EARLIEST, LATEST = -2, -1  # timestamps that stand for the ends of a log
AT_ONCE = 2  # fetches that may be under way
STEPS = 4  # in which as much is taken in as is fetched of one partition: what one step may cost

# The leader has not read as far in the metadata as this node.
NOT_YET = {
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
}

log = logging.getLogger(__name__)


class SessionPartition(NamedTuple):
    """What the leader remembers of a partition in the fetch session, and the number of the fetch that told it."""

    epoch: LeaderEpoch
    position: Position
    since: int


class ReplicaFetcher:
    """The partitions that one other node leads and this one follows."""

    def __init__(
        self, leader: NodeId, settings: ReplicationSettings, channel: BrokerChannel, quota: ReplicationQuota,
        checkpoints: Checkpoints, step: Step,
    ) -> None:  # fmt: skip
        self.leader, self._settings, self._channel, self._quota = leader, settings, channel, quota
        self._checkpoints, self._step = checkpoints, step
        self._partitions: dict[Key, Partition] = {}
        self._paused: dict[Key, Millis] = {}
        self._log_limiter = LogLimiter()
        self._told: dict[Key, SessionPartition] = {}
        self._untold: dict[Key, None] = {}  # those that the leader may have to be told of: they have moved
        self._gone: dict[Key, None] = {}  # those that it should forget
        self._starts_moved = False  # since they were last written down
        self._backlog = FetchBacklog()
        self._session = 0, 0  # its id and epoch
        self._session_told = 0  # the id that the last answer named
        self._is_refused_one = False  # the leader keeps no session for us
        self._number = 0  # of the last fetch
        self._life = -1  # the epoch of this broker in which it fetches
        self._under_way = 0  # fetches
        self._retry_at = NEVER

    def __len__(self) -> int:
        return len(self._partitions)

    def add(self, partition: Partition, now: Millis) -> None:
        """Fetch this one too, from where its log ends."""
        key = partition.topic_id, partition.name.partition
        self._partitions[key] = partition
        self._paused.pop(key, None)
        self._untold[key] = None
        self.fetch(now)

    def remove(self, partition: Partition) -> None:
        """It is led elsewhere, or not here any more."""
        key = partition.topic_id, partition.name.partition
        self._partitions.pop(key, None)
        self._paused.pop(key, None)
        self._leave_out(key)

    @property
    def is_taking_in(self) -> bool:
        """Whether there is more of what has come."""
        return bool(self._backlog)

    def next_deadline(self) -> Millis:
        """When a pause is over: though a fetch is under way, which may find nothing for long, if one more may be. At
        once if there is more to take in."""
        if self._backlog:
            return Millis(0)
        if not self._may_ask:
            return NEVER
        return min([NEVER if self._under_way else self._retry_at, *self._paused.values()])

    def tick(self, now: Millis) -> None:
        """Take in more of what has come; or fetch if a pause is over."""
        if self._backlog:
            self._take_some(now)
        elif self.next_deadline() <= now:
            self._fetch(now)

    # ── asking ───────────────────────────────────────────────────────────────────────

    def fetch(self, now: Millis) -> None:
        """Ask for what comes next, unless that is being done and the leader knows of all, or what came last is still
        being taken in."""
        if not self._backlog and (not self._under_way or (self._untold and self._may_ask)):
            self._fetch(now)

    @property
    def _may_ask(self) -> bool:
        return self._under_way < (AT_ONCE if self._session[0] else 1)

    def _fetch(self, now: Millis) -> None:
        """Ask, unless something has to get to the disk first."""
        for key in [key for key, until in self._paused.items() if until <= now]:
            del self._paused[key]
            self._untold[key] = None
        to, life = self._channel.address_of(self.leader), self._channel.epoch
        if to is None or life < 0:
            self._retry_at = Millis(now + FETCHER_RETRY_MS) if self._partitions else NEVER
            return
        if self._starts_moved and not self._keep_starts(now):
            self._retry_at = Millis(now + FETCHER_RETRY_MS)
            return
        if life != self._life:
            self._life = life
            self._begin_again()  # what it held in another life the leader does not count
        for key in list(self._untold):
            partition = self._partitions[key]
            if not partition.follows:
                self._leave_out(key)
            elif self._is_held_back(partition, now):
                self._pause(key, now, FETCHER_RETRY_MS)
            elif partition.position() is None:
                # `flushed` comes here before, unless it is moved away.
                self._retry_at = Millis(now + FETCHER_RETRY_MS)
                return
        if self._untold or (self._told and not self._under_way):
            self._send(to)
        elif not self._under_way:
            self._retry_at = NEVER

    def _keep_starts(self, now: Millis) -> bool:
        try:
            self._checkpoints.save_starts()  # the leader takes what it is told of them for lasting
        except OSError as error:
            if (suppressed := self._log_limiter.again(LOG_STARTS, now)) is not None:
                log.error(Line(
                    "Log start offsets cannot be written, so nothing is fetched from leader {leader}; check the disk",
                    leader=self.leader, error=error, suppressed=suppressed,
                ))  # fmt: skip
            return False
        self._starts_moved = False
        return True

    def _leave_out(self, key: Key) -> None:
        self._untold.pop(key, None)
        if self._told.pop(key, None) is not None:
            self._gone[key] = None

    def _pause(self, key: Key, now: Millis, for_ms: int) -> None:
        self._leave_out(key)
        self._paused[key] = Millis(now + for_ms)

    def _begin_again(self) -> None:
        """The leader remembers nothing."""
        self._session = 0, 0
        self._told.clear()
        self._gone.clear()
        self._untold = {key: None for key in self._partitions if key not in self._paused}

    def _is_held_back(self, partition: Partition, now: Millis) -> bool:
        return self._is_throttled(partition) and self._quota.is_spent(now)

    def _is_throttled(self, partition: Partition) -> bool:
        named = partition.log.settings.follower_replication_throttled_replicas
        return bool(named) and is_throttled(named, partition.name.partition, self._channel.me)

    def _request(self) -> FetchRequest:
        settings, (session_id, session_epoch) = self._settings, self._session
        request = FetchRequest(
            replica_state=ReplicaState(self._channel.me, self._channel.epoch),
            max_wait_ms=settings.replica_fetch_wait_max_ms if self._may_wait else 0,
            min_bytes=settings.replica_fetch_min_bytes,
            max_bytes=settings.replica_fetch_response_max_bytes,
            session_id=session_id,
            session_epoch=session_epoch,
        )
        topics: dict[bytes, FetchTopic] = {}
        for key in self._untold:
            partition = self._partitions[key]
            position = partition.position()
            assert position is not None
            told = self._told[key] = SessionPartition(partition.epoch, position, self._number)
            topic = topics.setdefault(key[0], FetchTopic(topic_id=key[0]))
            topic.partitions.append(
                fetch_partition(key[1], told.epoch, told.position, settings.replica_fetch_max_bytes)
            )
        request.topics = list(topics.values())
        request.forgotten_topics_data = [ForgottenTopic(topic_id=id, partitions=[n]) for id, n in self._gone]
        return request

    @property
    def _may_wait(self) -> bool:
        """A fetch that opens a session does not wait for records: who comes next would wait for the session."""
        return self._session[0] != 0 or self._is_refused_one

    def _send(self, to: Address) -> None:
        self._number += 1
        self._under_way += 1
        self._retry_at = NEVER
        request = self._request()
        self._untold.clear()
        self._gone.clear()
        if self._session[0]:
            self._session = self._session[0], self._session[1] + 1
        timeout_ms = self._settings.replica_socket_timeout_ms
        self._channel.call(to, LANE, request, timeout_ms, partial(self._answered, self._number))

    # ── answers ──────────────────────────────────────────────────────────────────────

    def _answered(self, number: int, response: FetchResponse | None, now: Millis) -> None:
        self._under_way -= 1
        if response is None or response.error_code:
            self._backlog = FetchBacklog()
            self._begin_again()
            self._retry_at = now if response is not None else Millis(now + FETCHER_RETRY_MS)
            return
        for topic in response.responses:
            for said in topic.partitions:
                key = topic.topic_id, said.partition_index
                self._backlog.put(Piece(key, number, said, cast(memoryview, said.records or b"")))
        self._session_told = response.session_id
        self._take_some(now)

    def _take_some(self, now: Millis) -> None:
        """As much as one step may cost; the rest in the next, and then the next fetch."""
        self._backlog.begin(self._settings.replica_fetch_max_bytes // STEPS)
        while (piece := self._backlog.take()) is not None:
            self._take(piece, now)
        self._backlog.end()
        if self._backlog:
            return
        self._is_refused_one = not self._session_told
        if self._is_refused_one:
            self._begin_again()
        elif self._session[0] != self._session_told:
            self._session = self._session_told, 1
        self.fetch(now)

    def _take(self, piece: Piece, now: Millis) -> None:
        key, number, said, records, goes_on = piece
        partition, told = self._partitions.get(key), self._told.get(key)
        if partition is None or told is None or told.since > number or not partition.follows:
            return  # since then it has gone elsewhere
        if told.epoch != partition.epoch or (not goes_on and told.position != partition.position()):
            self._untold[key] = None
            self._backlog.drop_rest()
            return  # it has come further, or has been led here in between: what was asked then does not hold now
        start = partition.log.start
        try:
            after = partition.take(fetch_partition_data(said)._replace(records=records), now)
        except ProtocolError as error:
            self._trouble(key, partition, error, now)
            return
        finally:
            self._starts_moved |= partition.log.start != start
        if partition.position() != told.position:
            self._untold[key] = None
        if records and self._is_throttled(partition):
            self._quota.spend(len(records), now)
        if after is Next.ASK_OFFSETS:
            self._ask_offsets(key, partition, LATEST, now)
        elif after is Next.PAUSE:
            self._refused(key, partition, ErrorCode.of(said.error_code), now)
        self._step.replicated(partition)

    def _refused(self, key: Key, partition: Partition, code: ErrorCode, now: Millis) -> None:
        if code in NOT_YET:
            self._pause(key, now, FETCHER_RETRY_MS)
            return
        if (suppressed := self._log_limiter.again(code, now)) is not None:
            log.info(Line(
                "Leader {leader} refuses a fetch of partition {partition}; tried again",
                leader=self.leader, partition=partition.name, error=code.name, suppressed=suppressed,
            ))  # fmt: skip
        self._pause(key, now, self._settings.replica_fetch_backoff_ms)

    def _trouble(self, key: Key, partition: Partition, error: ProtocolError, now: Millis) -> None:
        if (suppressed := self._log_limiter.again(partition.name, now)) is not None:
            log.error(Line(
                "Follower of partition {partition} cannot take over what its leader has, and falls behind",
                partition=partition.name, leader=self.leader, error=error.detail, suppressed=suppressed,
            ))  # fmt: skip
        self._pause(key, now, self._settings.replica_fetch_backoff_ms)

    # ── a log that its leader's does not reach ───────────────────────────────────────

    def _ask_offsets(self, key: Key, partition: Partition, which: int, now: Millis) -> None:
        """Where does the leader's log end? If not before this one, where does it begin?"""
        to = self._channel.address_of(self.leader)
        if to is None:
            self._pause(key, now, FETCHER_RETRY_MS)
            return
        self._leave_out(key)
        self._paused[key] = NEVER
        asked = ListOffsetsPartition(partition.name.partition, partition.epoch, which)
        request = ListOffsetsRequest(self._channel.me, 0, [ListOffsetsTopic(partition.name.topic, [asked])])
        epoch = partition.epoch

        def answered(response: ListOffsetsResponse | None, now: Millis) -> None:
            if self._partitions.get(key) is not partition or partition.epoch != epoch:
                return
            said = response.topics[0].partitions[0] if response is not None else None
            if said is None or said.error_code:
                self._pause(key, now, FETCHER_RETRY_MS)
            elif which == LATEST and said.offset >= partition.log.end:
                self._ask_offsets(key, partition, EARLIEST, now)
            else:
                self._go_to(key, partition, which, Offset(said.offset), now)

        self._channel.call(to, LANE, request, self._settings.replica_socket_timeout_ms, answered)

    def _go_to(self, key: Key, partition: Partition, which: int, offset: Offset, now: Millis) -> None:
        start, end = (Offset(0), offset) if which == LATEST else (offset, partition.log.end)
        held, started = partition.log, partition.log.start
        if which == LATEST:
            log.warning(Line(
                "Partition {partition} is truncated to where its leader's log ends",
                partition=partition.name, leader=self.leader, offset=offset, log_end_offset=held.end,
            ))  # fmt: skip
        else:
            log.warning(Line(
                "Partition {partition} is far behind and starts anew where its leader's log starts",
                partition=partition.name, leader=self.leader, offset=offset, log_end_offset=held.end,
            ))  # fmt: skip
        try:
            partition.go_to(start, end, now)
        except ProtocolError as error:
            self._trouble(key, partition, error, now)
            return
        finally:
            self._starts_moved |= held.start != started
        self._paused.pop(key, None)
        self._untold[key] = None
        self._step.replicated(partition)
        self.fetch(now)

"""A hosted partition: where a log meets its replication role.

Logs know nothing of leaders, and leaders nothing of files; this is the one place that
knows both. A produced batch comes through `append`, top to bottom:

    validate it ─▶ bring it to the topic's codec ─▶ log.append ─▶ leader.appended ─▶ watermark

and is acknowledged once `acknowledged` says so: at the watermark for acks=all, after the
append for acks=1, and never before an fsync that flush.messages asks for.

What cannot be asked of it raises the error its client should see, such as NOT_LEADER_OR_FOLLOWER.

    Partition   one replica: its log, and its role as leader or follower
    Marker      how a transaction ended: what `append_marker` writes
    Watcher     who is told when a partition moves: a fetch session (KIP-227)

Read next: log/partition_log.py below, handlers/produce.py and handlers/fetch.py above.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from andiron.broker.replicas.verification_guards import VerificationGuard, VerificationGuards
from andiron.broker.telemetry.traffic import TopicTraffic
from andiron.log.partition_log import LogAppendInfo, PartitionLog, Slice
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, Millis, NodeId, Offset, TopicId, TopicPartition, wall_time
from andiron.model.invariant import invariant
from andiron.model.settings import MAX_LONG
from andiron.records.batch import TRANSACTIONAL, Batch
from andiron.records.builder import recompress
from andiron.records.compression import CODECS
from andiron.records.control import end_marker
from andiron.records.validate import Allowance, ProduceLimits, check_batch
from andiron.replication.commit_rule import CommitRule, CommitTerms, isr_watermark
from andiron.replication.follower import FetchPartitionData, FollowerReplica, Next, Position
from andiron.replication.leader import LeaderAndIsr, LeaderReplica, LogOffsets

PRODUCER = "producer"
ZSTD_SINCE = 7  # the version of Produce that may carry it
EPOCH_PER_TRANSACTION = 2  # the transaction version since which each has an epoch of its own


class Marker(NamedTuple):
    """How one producer's transaction ended."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int
    transaction_version: int


class Watcher(Hashable, Protocol):
    """A fetch session (KIP-227), which looks only at those of its partitions that have moved."""

    is_replicas: bool  # a follower's: what is committed is told it with the next records

    def moved(self, partition: Partition) -> None: ...


class Partition:
    """One partition on this node, leading or following."""

    __slots__ = (
        "_follower", "_guards", "_isr", "_leader", "_limits", "epoch", "failure", "flush_trouble", "log", "name",
        "partition_epoch", "retired", "syncs_by_roll_only", "topic_id", "traffic", "watchers",
    )  # fmt: skip

    def __init__(
        self, name: TopicPartition, topic_id: TopicId, log: PartitionLog, traffic: TopicTraffic | None = None
    ) -> None:
        self.name, self.topic_id, self.log = name, topic_id, log
        self.traffic = traffic or TopicTraffic()  # all partitions of a topic count in one
        self.epoch, self.partition_epoch = (
            LeaderEpoch(-1),
            -1,
        )  # of who leads; of the ISR, as the controller settles it
        self._isr: frozenset[NodeId] = frozenset()
        self.failure: str | None = None
        self.flush_trouble: str | None = None  # why the flush that was wanted last could not begin
        self.retired = False
        self.watchers: dict[Watcher, None] = {}  # who wants to hear that something happened to it
        self._note_settings(log.settings)
        self._leader: LeaderReplica | None = None
        self._follower: FollowerReplica | None = None
        self._guards: VerificationGuards | None = None  # made with the first transaction

    def __repr__(self) -> str:
        return f"Partition({self.name})"

    # ── roles ────────────────────────────────────────────────────────────────────────

    def lead(
        self, state: LeaderAndIsr, *, watermark: Offset, now: Millis, lag_ms_max: int,
        rule: CommitRule = isr_watermark, heard: Mapping[NodeId, Millis] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        """Become the leader, as the controller says, or for the metadata log the quorum."""
        self._check_epoch_rises(state.leader_epoch)
        log, settings = self.log, self.log.settings
        watermark = min(max(watermark, self.watermark), log.end)
        self.epoch, self._follower = state.leader_epoch, None
        self._leader = LeaderReplica(
            state, LogOffsets(log.end, log.flushed_end, watermark),
            CommitTerms(rule, settings.flush_messages == 1, settings.min_insync_replicas),
            lag_ms_max=lag_ms_max, now=now, heard=heard,
        )  # fmt: skip
        self._leader.confirmed(state.isr)
        self._check_offsets()

    def follow(self, epoch: LeaderEpoch, watermark: Offset) -> None:
        """Become a follower for `epoch`; what it knows to be committed is `watermark`, or more if it led before."""
        self._check_epoch_rises(epoch)
        watermark = max(watermark, self.watermark)
        self.epoch, self._leader, self._guards = epoch, None, None
        self._follower = FollowerReplica(self.log, watermark)
        self._check_offsets()

    def _check_epoch_rises(self, epoch: LeaderEpoch) -> None:
        invariant(epoch >= self.epoch, "a leader epoch never goes back", self.name, epoch, self.epoch)

    def _check_offsets(self) -> None:
        """Where the offsets of a replica must lie: asked when its role or its ISR changes, which is seldom."""
        start, watermark, end = self.log.start, self.watermark, self.log.end
        last_stable = self.log.last_stable(watermark)
        invariant(
            start <= last_stable <= watermark <= end,
            "log start <= LSO <= high watermark <= log end", self.name, start, last_stable, watermark, end,
        )  # fmt: skip

    def settle_isr(self, partition_epoch: int, isr: frozenset[NodeId]) -> frozenset[NodeId]:
        """The controller has settled on these in-sync replicas, whoever leads; returns those before. A leader goes by
        it from `lead`, `settle` or `confirm` on; what it would rather have is its proposal (replication/leader.py)."""
        invariant(
            partition_epoch > self.partition_epoch,
            "a partition epoch rises",
            partition_epoch,
            self.partition_epoch,
        )
        before, self._isr, self.partition_epoch = self._isr, isr, partition_epoch
        return before

    def confirm(self, partition_epoch: int, isr: frozenset[NodeId]) -> frozenset[NodeId]:
        """The controller has settled on what this leader proposed, or on something else; returns the ISR before."""
        self.leader().confirmed(isr)
        return self.settle_isr(partition_epoch, isr)

    def settle(self, replicas: frozenset[NodeId], isr: frozenset[NodeId], now: Millis) -> None:
        """The controller has settled on other replicas or another ISR within the epoch of this leader."""
        leader = self.leader()
        leader.reassigned(replicas, now)
        leader.confirmed(isr)
        self._check_offsets()

    def leader(self) -> LeaderReplica:
        """This partition's leader state, or the error of asking the wrong broker."""
        if self.failure is not None:
            raise ErrorCode.KAFKA_STORAGE_ERROR.error(self.failure)
        if self.retired:
            raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"{self.name} is no longer here")
        if self._leader is None:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"{self.name} is led by another broker")
        return self._leader

    @property
    def leads(self) -> bool:
        """Whether this node leads it, and can."""
        return self._leader is not None and self.failure is None

    def check_epoch(self, named: int) -> None:
        """Refuse a request that names another leader epoch than ours; -1 is none."""
        if named in (-1, self.epoch):
            return
        if named < self.epoch:
            raise ErrorCode.FENCED_LEADER_EPOCH.error(f"{self.name} is at leader epoch {self.epoch}")
        raise ErrorCode.UNKNOWN_LEADER_EPOCH.error(f"{self.name} is still at leader epoch {self.epoch}")

    def fail(self, reason: str) -> None:
        """The disk under this partition can no longer be trusted: refuse everything from now on."""
        self.failure = reason

    def retire(self) -> None:
        """The partition is no longer hosted here: whoever still waits for it is told so."""
        self._leader, self._follower, self.retired = None, None, True

    # ── following ────────────────────────────────────────────────────────────────────

    @property
    def follows(self) -> bool:
        """Whether it is brought up to another node's log, and can be."""
        return self._follower is not None and self.failure is None

    @property
    def fetch_lag(self) -> int:
        """As a follower: how many records below the leader's high watermark are missing from this log."""
        return 0 if self._follower is None else self._follower.lag

    def position(self) -> Position | None:
        """From where to fetch; None while what was fetched last has to get to the disk first."""
        return None if self._follower is None or self.needs_flush else self._follower.position()

    def take(self, fetched: FetchPartitionData, now: Millis) -> Next:
        """Take in what the leader has answered to a follower's fetch."""
        assert self._follower is not None, "a follower takes in what it fetched"
        self.traffic.replicated_in += len(fetched.records)
        return self._follower.take(fetched, now)

    def go_to(self, leader_start: Offset, leader_end: Offset, now: Millis) -> None:
        """A fetch was OFFSET_OUT_OF_RANGE: truncate to the leader's log end, or begin again at its log start."""
        assert self._follower is not None, "a follower takes in what it fetched"
        self._follower.go_to(leader_start, leader_end, now)

    # ── writing ──────────────────────────────────────────────────────────────────────

    def append(
        self, records: memoryview | bytes | None, acks: int, produce_version: int, now: Millis,
        guard: VerificationGuard | None = None, allowance: Allowance | None = None,
    ) -> LogAppendInfo:  # fmt: skip
        """Take in one produced batch as the leader; `records` is stamped in place."""
        leader, log = self.leader(), self.log
        settings = log.settings
        if acks == -1 and not leader.enough_in_sync(settings.min_insync_replicas):
            raise ErrorCode.NOT_ENOUGH_REPLICAS.error(f"{self.name} has {len(leader.isr)} in sync")
        batch = check_batch(records, self._limits, wall_time(now), produce_version >= ZSTD_SINCE, allowance)
        if batch.attributes & TRANSACTIONAL and self.opens_transaction(
            batch.producer_id, batch.producer_epoch
        ):
            self._check_first(batch, guard)
        wanted = settings.compression_type
        if wanted != PRODUCER and CODECS[wanted] != batch.codec:
            batch = self._recompressed(batch, wanted)
        written = log.append(batch, self.epoch, now)
        leader.appended(log.end)
        if not written.duplicate:
            traffic = self.traffic
            traffic.bytes_in += batch.size
            traffic.messages_in += batch.last_offset_delta + 1
        if guard is not None:
            self.guards.end(batch.producer_id)
        return written

    def _recompressed(self, batch: Batch, codec: str) -> Batch:
        """The batch in the topic's codec; unpacked, it may turn out to be larger than the topic takes."""
        settings = self.log.settings
        level = getattr(settings, f"compression_{codec}_level", None)  # snappy and none have no levels
        batch = Batch(recompress(batch, CODECS[codec], level))
        if batch.size > settings.max_message_bytes:
            raise ErrorCode.MESSAGE_TOO_LARGE.error(f"{batch.size} bytes as {codec}")
        return batch

    def append_own(self, records: bytearray, now: Millis) -> LogAppendInfo:
        """Take in a batch that this node itself made: the controller's, a coordinator's, or a marker."""
        leader, log = self.leader(), self.log
        if not leader.enough_in_sync(log.settings.min_insync_replicas):
            raise ErrorCode.NOT_ENOUGH_REPLICAS.error(f"{self.name} has {len(leader.isr)} in sync")
        written = log.append(Batch(records), self.epoch, now)
        leader.appended(log.end)
        self.traffic.bytes_in += len(records)
        self.traffic.messages_in += written.end - written.base_offset
        return written

    def written_before(self, now: Millis) -> LogAppendInfo:
        """What an append that ended at the log end offset would have answered: a marker that is here already is
        acknowledged like one that is appended now, since it may not be committed yet."""
        return self.log.appended_before(self.log.end, wall_time(now), self.log.end)

    def append_marker(self, marker: Marker, now: Millis) -> LogAppendInfo | None:
        """End a producer's transaction here; None if this marker has been here before."""
        self.leader()
        if self._has_marker(marker):
            return None
        records = end_marker(
            marker.committed, producer_id=marker.producer_id, producer_epoch=marker.producer_epoch,
            coordinator_epoch=marker.coordinator_epoch, timestamp=wall_time(now),
        )  # fmt: skip
        written = self.append_own(records, now)
        self.guards.end(marker.producer_id)
        return written

    def _has_marker(self, marker: Marker) -> bool:
        """Whether this marker was written before; raises if nobody can have sent it in earnest, or too late."""
        id, epoch = marker.producer_id, marker.producer_epoch
        if id < 0:
            raise ErrorCode.INVALID_PRODUCER_ID_MAPPING.error(f"no producer has the id {id}")
        if epoch < 0:
            raise ErrorCode.INVALID_PRODUCER_EPOCH.error(f"no producer has the epoch {epoch}")
        known = self.log.producers.get(id)
        own_epoch = marker.transaction_version >= EPOCH_PER_TRANSACTION
        if not own_epoch or known is None or known.epoch != epoch:
            return False
        if known.transaction_start >= 0:
            raise ErrorCode.INVALID_PRODUCER_EPOCH.error(f"epoch {epoch} of producer {id} has begun anew")
        return True

    def opens_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether a write of this producer is its transaction's first here: the coordinator has to know of it."""
        known = self.log.producers.get(producer_id)
        return known is None or known.transaction_start < 0 or known.epoch != epoch

    def _check_first(self, batch: Batch, guard: VerificationGuard | None) -> None:
        self.guards.check(batch.producer_id, guard)
        if guard is not None and self.log.producers.get(batch.producer_id) is None:
            self.guards.check_turn(batch, guard)

    @property
    def guards(self) -> VerificationGuards:
        """Questions to the coordinators of transactions that are about to begin here."""
        if self._guards is None:
            self._guards = VerificationGuards()
        return self._guards

    def expire_producers(self, now: Millis, expiration_ms: int) -> None:
        """Forget producers that have been silent for so long, and what was asked about them."""
        self.log.expire_producers(now, expiration_ms)
        if self._guards is not None:
            self._guards.expire(now, expiration_ms)

    def note_flushed(self, end: Offset) -> None:
        """The flush is done that began when the log ended at `end`."""
        self.log.note_flushed(end)
        if self._leader is not None:
            self._leader.flushed(self.log.flushed_end)

    @property
    def needs_flush(self) -> bool:
        """Whether something of a durable log is not on the disk: its watermark, here or at the leader, waits for it."""
        return self.log.settings.flush_messages == 1 and self.log.flushed_end < self.log.end

    def acknowledged(self, written: LogAppendInfo, acks: int) -> bool:
        """May the producer of this batch be told that it is safe, as safe as it asked for?"""
        leader = self.leader()
        if written.to_disk and self.log.flushed_end < written.end:
            if self.flush_trouble is not None:
                raise ErrorCode.KAFKA_STORAGE_ERROR.error(self.flush_trouble)
            return False
        if acks == 1:
            return True
        if leader.watermark < written.end:
            return False
        if not leader.enough_in_sync(self.log.settings.min_insync_replicas):
            raise ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND.error(
                f"{self.name} has {len(leader.isr)} in sync"
            )
        return True

    @property
    def acknowledges_at_once(self) -> bool:
        """Whether what is appended counts as soon as it is: no followers, and no flush policy."""
        leader = self._leader
        return leader is not None and leader.alone and self.syncs_by_roll_only

    def replace_settings(self, settings: LogSettings) -> None:
        """The topic's configs have changed."""
        self.log.replace_settings(settings)
        self._note_settings(settings)
        if self._leader is not None:
            self._leader.require(durable=settings.flush_messages == 1, least=settings.min_insync_replicas)

    def _note_settings(self, settings: LogSettings) -> None:
        self.syncs_by_roll_only = settings.flush_messages == settings.flush_ms == MAX_LONG
        self._limits = ProduceLimits(
            settings.max_message_bytes,
            append_time=settings.message_timestamp_type == "LogAppendTime",
            before_max_ms=settings.message_timestamp_before_max_ms,
            after_max_ms=settings.message_timestamp_after_max_ms,
            keyed="compact" in settings.cleanup_policy,
        )

    # ── reading ──────────────────────────────────────────────────────────────────────

    @property
    def watermark(self) -> Offset:
        """The end of what is committed, as far as this replica knows."""
        role = self._leader or self._follower
        return self.log.start if role is None else max(role.watermark, self.log.start)

    def readable_end(self, read_committed: bool) -> Offset:
        """Where a consumer's reading ends: the watermark, or the last stable offset."""
        watermark = self.leader().watermark
        return self.log.last_stable(watermark) if read_committed else watermark

    def read(self, offset: Offset, max_bytes: int, upto: Offset, *, at_least_one: bool) -> Slice:
        """Records from `offset` on, as a slice of a file."""
        return self.log.read(offset, max_bytes, upto, at_least_one=at_least_one)

    def end_of_epoch(self, epoch: LeaderEpoch) -> tuple[LeaderEpoch, Offset]:
        """The last epoch up to `epoch` that began here, and where its records end; (-1, -1) if none did. A leader's own
        has begun, though it may have written nothing yet, or nothing that is left: all earlier ones have ended."""
        log, latest = self.log, self.log.epochs.latest
        if epoch == self.epoch:
            return epoch, log.end
        if self._leader is not None and latest < epoch < self.epoch:
            return latest if latest >= 0 else epoch, max(log.start, self._leader.epoch_start)
        return log.epochs.end_of(epoch, log.end)

    def divergence(self, last_epoch: LeaderEpoch, offset: Offset) -> tuple[LeaderEpoch, Offset] | None:
        """Where a log that ends at `offset` with a record of `last_epoch` parts from this one; None if it does not."""
        epoch, end = self.end_of_epoch(last_epoch)
        if epoch < 0:
            raise ErrorCode.OFFSET_OUT_OF_RANGE.error(f"{self.name} knows no leader epoch {last_epoch}")
        return (epoch, end) if epoch < last_epoch or end < offset else None

    def epoch_at_start(self) -> LeaderEpoch:
        """The epoch of the first record, or of the one that would be the first."""
        return self.epoch if self.log.start == self.log.end else self.log.epochs.epoch_of(self.log.start)

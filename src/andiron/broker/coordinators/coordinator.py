"""A coordinator: the machines of one internal topic, one for each of its partitions that is led here.

    group id ──hash──▶ partition of __consumer_offsets ──▶ Shard[GroupShard]
    transactional id ─▶ partition of __transaction_state ─▶ Shard[TransactionShard]

    leadership comes ──▶ loading, a piece at a time ──▶ LogLoaded ──▶ serving ──▶ leadership goes: dropped

Who coordinates follows from the name and from who leads its partition, so every broker knows
it. Loading is reading the partition from its start; it is done in pieces between requests, and
meanwhile clients are told to come again (COORDINATOR_LOAD_IN_PROGRESS). When leadership goes,
the machine is dropped, and those who still wait are sent away (NOT_COORDINATOR); the partition
remembers everything.

The law: what stands in the log is the state. A machine whose records could not be written after
it had changed what it only keeps in mind is dropped and loaded again.

Read next: shard.py for how a request is run; group_coordinator.py, transaction_coordinator.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from andiron.broker.coordinators.shard import Encode, Read, Shard
from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import COORDINATOR_RETRY_MS
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.model.invariant import invariant
from andiron.model.line import Line
from andiron.model.machine import Coordinating, LogLoaded, TimePassed
from andiron.model.timers import Timers

LOAD_BYTES = 1 << 18  # of a log, in one turn

# What clients are told of trouble with the coordinator's own partition.
TOLD = {
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}

M = TypeVar("M", bound=Coordinating[Any])

log = logging.getLogger(__name__)


class Plan(NamedTuple, Generic[M]):
    """How the shards of a coordinator are made."""

    machine: Callable[[Partition], M]
    encode: Encode
    read: Read
    owes: bool = False  # whether other partitions have to hear of its decisions: `Coordinator.owing`


class Coordinator(Generic[M]):
    """The machines of one internal topic."""

    def __init__(self, topic: str, plan: Plan[M], step: Step) -> None:
        self.topic, self._plan, self._step = topic, plan, step
        # Those that have decided what others have to hear of, and where their logs ended then.
        self.owing: dict[Shard[M], Offset] = {}
        self._shards: dict[int, Shard[M]] = {}  # loaded
        self._loading: dict[int, tuple[Shard[M], Offset]] = {}  # and where the next piece begins
        self.timers: Timers[int] = Timers()
        self._log_limiter = LogLimiter()

    def __iter__(self) -> Iterator[Shard[M]]:
        """The shards that serve."""
        return iter(list(self._shards.values()))

    @property
    def loading(self) -> bool:
        """Whether some of the shards are not there yet."""
        return bool(self._loading)

    # ── partitions come and go ───────────────────────────────────────────────────────

    def follow(self, partition: Partition, now: Millis) -> None:
        """A partition of the topic has come, has changed or has gone."""
        index = partition.name.partition
        held = self._shards.get(index) or self._loading.get(index, (None,))[0]
        leads = partition.leads
        if held is not None and leads and held.partition is partition:
            forward = held.epoch <= partition.epoch
            invariant(
                forward, "a coordinator epoch never goes back", partition.name, held.epoch, partition.epoch
            )
            if held.epoch == partition.epoch:
                return
        self._drop(index)
        if leads:
            self._load(index, partition, now)

    def _load(self, index: int, partition: Partition, now: Millis) -> None:
        plan, log = self._plan, partition.log
        shard = Shard(partition, plan.machine(partition), plan.encode, self._step)
        if log.start == log.end:
            self._serve(index, shard, now)
        else:
            self._loading[index] = shard, log.start
            self.timers.set(index, now)

    def _drop(self, index: int) -> None:
        loading = self._loading.pop(index, None)
        shard = self._shards.pop(index, None) or (loading and loading[0])
        self.timers.cancel(index)
        if shard is not None:
            shard.gone = True
            self._step.touch(shard)

    # ── what time brings ─────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        return self.timers.next_deadline()

    def tick(self, now: Millis) -> None:
        """Load a piece of what is to be loaded, and see to those whose deadline has come."""
        while (index := self.timers.take(now)) is not None:
            if index in self._loading:
                self._load_on(index, now)
                return  # a piece a turn
            self._see_to(index, TimePassed(), now)

    def _see_to(self, index: int, request: object, now: Millis) -> None:
        """Let a machine do what is due. If it cannot be written now, it will be tried again."""
        try:
            self._run(index, request, now, 0)
        except ProtocolError as error:
            if (suppressed := self._log_limiter.again(error.detail, now)) is not None:
                log.warning(Line(
                    "Coordinator of partition {partition} cannot write what is due, and tries again",
                    partition=f"{self.topic}-{index}", error=error.detail, suppressed=suppressed,
                ))  # fmt: skip
            if index in self._shards:
                self.timers.set(index, Millis(now + COORDINATOR_RETRY_MS))

    def _load_on(self, index: int, now: Millis) -> None:
        shard, position = self._loading[index]
        try:
            position = shard.load(self._plan.read, position, LOAD_BYTES)
        except ProtocolError as error:
            log.error(Line(
                "Coordinator of partition {partition} cannot read its log and serves nobody yet; check the disk",
                partition=shard.partition.name, error=error.detail,
            ))  # fmt: skip
            self._begin_again(index, shard, now)
            return
        if position < shard.partition.log.end:
            self._loading[index] = shard, position
            self.timers.set(index, now)
            return
        del self._loading[index]
        self._serve(index, shard, now)

    def _begin_again(self, index: int, shard: Shard[M], now: Millis) -> None:
        """The disk would not be read: try it later and from the start, with a machine that knows nothing yet."""
        self._drop(index)
        self.follow(shard.partition, now)
        if index in self._loading:
            self.timers.set(index, Millis(now + COORDINATOR_RETRY_MS))

    def _serve(self, index: int, shard: Shard[M], now: Millis) -> None:
        self._shards[index] = shard
        self._see_to(index, LogLoaded(), now)

    # ── requests ─────────────────────────────────────────────────────────────────────

    def serving(self, partition: Partition) -> Shard[M] | None:
        """The shard of a partition, if it is loaded."""
        shard = self._shards.get(partition.name.partition)
        return shard if shard is not None and shard.partition is partition else None

    def shard(self, index: int) -> Shard[M]:
        """The shard of a partition, or the error that says why it cannot be asked."""
        shard = self._shards.get(index)
        if shard is None:
            if index in self._loading:
                raise ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.error(f"{self.topic}-{index} is being loaded")
            raise ErrorCode.NOT_COORDINATOR.error(f"{self.topic}-{index} is not coordinated here")
        return shard

    def run(self, index: int, request: object, now: Millis, timeout_ms: int) -> Wait:
        """Let a partition's machine decide. What keeps it from doing so is raised when the response is asked for."""
        try:
            self.shard(index)
            return self._run(index, request, now, timeout_ms).or_else(_told)
        except ProtocolError as error:
            return Wait.failed(error).or_else(_told)

    def run_on_all(self, request: object, now: Millis, timeout_ms: int) -> InSlices[Wait]:
        """Let every machine decide a request, some at a time; the Wait gives all their responses."""
        if self._loading:
            error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.error(f"some of {self.topic} is being loaded")
            return Wait.failed(error)
        asked = each(
            list(self._shards), lambda index: self.run(index, request, now, timeout_ms), SIZES.shards
        )
        return Wait.all((yield from asked))

    def _run(self, index: int, request: object, now: Millis, timeout_ms: int) -> Wait:
        shard = self._shards[index]
        try:
            wait = shard.run(request, now, timeout_ms)
        finally:
            if shard.gone or not shard.partition.leads:
                self._drop(index)
                self.follow(shard.partition, now)
            else:
                self.timers.set(index, shard.machine.next_deadline())
        if self._plan.owes:
            self.owing[shard] = shard.partition.log.end
            self._step.has_facts = True
        return wait


def _told(error: ProtocolError) -> Any:
    raise TOLD[error.code].error(error.detail) if error.code in TOLD else error


def partition_of(key: str, count: int) -> int:
    """Which partition is a name's: Java's hash of the string, without its sign."""
    hash = 0
    for unit in memoryview(key.encode("utf-16-le", "surrogatepass")).cast("H"):
        hash = (31 * hash + unit) & 0xFFFF_FFFF
    if hash >= 1 << 31:
        hash = (1 << 32) - hash
    return (0 if hash == 1 << 31 else hash) % count

"""The partitions hosted here, made and unmade as the committed metadata says.

    committed records ─▶ image + delta ─▶ apply ─┬─ new for us      open or create its log, lead it
                                                 ├─ changed         new leader epoch, new ISR
                                                 ├─ new settings    hand them to its log
                                                 └─ gone            stop serving it, rename its folder, remove it later

The table is the only thing that opens logs, and `apply` the only way into it. At a start
everything is new: the whole image is one delta, and each log is recovered as it is opened.

Logs are opened a few at a time, and the loop turns in between: a thousand new partitions must not make a node deaf to
the others, or they would take it for dead. Until its turn has come a partition is not here.

A log that cannot be opened (a full disk, a folder that may not be read) keeps nobody else from being served: its
partition answers KAFKA_STORAGE_ERROR, the reason is in the log, and the controller is told that this replica is lost.
It is tried again every second, whether somebody asks for it or not: nobody does, once the controller has taken it out
of the ISR. When it opens, the controller is told where it lies, and it leads or follows as one that is new. (Kafka
gives up the whole log directory until a restart; here a full disk is waited for, as it is by appends.)

Read next: partition.py, then log_directories.py for where the folders lie.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import OPEN_AGAIN_MS
from andiron.broker.replicas.directory_assignments import DirectoryAssignments
from andiron.broker.replicas.fetcher_manager import FetcherManager
from andiron.broker.replicas.follower_states import FollowerStates
from andiron.broker.replicas.hosted_partitions import HostedPartitions
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.settings.node_settings import NodeSettings, topic_settings
from andiron.broker.telemetry.traffic import Traffic
from andiron.controller.image import BROKER, LOST, NO_LEADER, TOPIC, Delta, Image, PartitionImage, TopicImage
from andiron.log.clean_shutdown import CleanShutdown
from andiron.log.disk import Disk
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, NodeId, Offset, TopicId, TopicPartition
from andiron.model.line import Line
from andiron.replication.leader import LeaderAndIsr

UNTOLD = b""  # no directory: the controller has yet to hear of this one
AT_A_TIME = 20  # logs that are opened in one step: the disk may take its time over each

log = logging.getLogger(__name__)


class ReplicaManager:
    """Every partition of which this node holds a replica, by name: it opens their logs and gives them their roles."""

    def __init__(
        self, settings: NodeSettings, directories: LogDirectories, partitions: HostedPartitions,
        fetcher_manager: FetcherManager, follower_states: FollowerStates, directory_assignments: DirectoryAssignments,
    ) -> None:  # fmt: skip
        self._settings, self._directories, self._partitions = settings, directories, partitions
        self._fetcher_manager, self._follower_states = fetcher_manager, follower_states
        self._directory_assignments = directory_assignments
        self.traffic = Traffic()
        self._me = NodeId(settings.node_id)
        self._to_open: dict[tuple[TopicId, int], None] = {}  # when their turn has come
        self._open_again_at = NEVER  # when those that would not open are tried again
        self._log_limiter = LogLimiter()

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def __len__(self) -> int:
        return len(self._partitions)

    def get(self, name: tuple[str, int]) -> Partition | None:
        """The partition of this name, if it is hosted here; KAFKA_STORAGE_ERROR if its log will not open."""
        partition = self._partitions.get(name)
        if partition is None and name in self._partitions.unopened:
            raise ErrorCode.KAFKA_STORAGE_ERROR.error(self._partitions.unopened[TopicPartition(*name)])
        return partition

    def peek(self, name: tuple[str, int]) -> Partition | None:
        """The partition of this name, if it is open: for those who only look on."""
        return self._partitions.get(name)

    @property
    def unopened(self) -> list[TopicPartition]:
        """Those whose logs will not open."""
        return list(self._partitions.unopened)

    def find(self, topic: str, index: int, image: Image) -> Partition:
        """A partition hosted here, or the error that says where else to ask."""
        partition = self.get((topic, index))
        if partition is None:
            if image.has_partition(topic, index):
                raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"{topic}-{index} is on other brokers")
            raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"{topic}-{index} is not here")
        return partition

    # ── following the metadata ───────────────────────────────────────────────────────

    def apply(self, delta: Delta, image: Image, now: Millis) -> list[Partition]:
        """Bring the table to the image; returns the partitions that changed."""
        touched: dict[Partition, None] = {}
        for topic in delta.removed_topics:
            for index in topic.partitions:
                self._to_open.pop((topic.id, index), None)
                self._remove(TopicPartition(topic.name, index), topic.id, now, touched)
            self.traffic.forget(topic.name)
        for topic_id, index in delta.partitions:
            hosting = image.topics_by_id[topic_id]
            wanted = hosting.partitions[index]
            if self._me in wanted.replicas and (hosting.name, index) not in self._partitions:
                self._to_open[topic_id, index] = None
            else:
                self._to_open.pop((topic_id, index), None)
                self._place(hosting, index, wanted, image, now, touched)
        self._open_some(image, now, touched)
        for partition in self._reconfigured(delta, image):
            partition.replace_settings(self.settings_of(partition.name.topic, image))
            touched[partition] = None
        return list(touched)

    @property
    def is_behind(self) -> bool:
        """Whether some logs are still to be opened: `open_more`."""
        return bool(self._to_open)

    def next_deadline(self) -> Millis:
        """When logs are to be opened, `open_more`, that the disk would not open before."""
        return self._open_again_at

    def open_more(self, image: Image, now: Millis) -> list[Partition]:
        """Open the next few logs; returns the partitions that changed."""
        touched: dict[Partition, None] = {}
        is_retry = self._open_again_at <= now
        if is_retry:
            self._open_again_at = NEVER
            for name in islice(self._partitions.unopened, AT_A_TIME):
                self._to_open[image.topics[name.topic].id, name.partition] = None
        self._open_some(image, now, touched)
        if is_retry and touched and self._partitions.unopened:
            self._open_again_at = now  # the disk is well again
        return list(touched)

    def _open_some(self, image: Image, now: Millis, touched: dict[Partition, None]) -> None:
        for topic_id, index in list(islice(self._to_open, AT_A_TIME)):
            del self._to_open[topic_id, index]
            topic = image.topics_by_id[topic_id]
            self._place(topic, index, topic.partitions[index], image, now, touched)

    def set_aside_strays(self) -> None:
        """Everything that the metadata says is in effect: folders of which it does not speak are nobody's."""
        try:
            self._directories.set_aside_strays(frozenset([*self._partitions, *self._partitions.unopened]))
        except (OSError, ProtocolError) as error:
            log.warning(Line("Folders that belong to no topic cannot be set aside", error=error))

    def brokers_moved(self, now: Millis) -> None:
        """Brokers have come or gone: who could not join an ISR may be able to now."""
        self._follower_states.alter_partition_manager.check_soon(now)

    def watch_isrs(self, now: Millis) -> None:
        """From now on look again and again for followers that do not keep up."""
        self._follower_states.alter_partition_manager.check(
            (), self._settings.replication.replica_lag_time_max_ms, now
        )

    def replace_log(self, partition: Partition, moved: PartitionLog) -> None:
        """The log of a partition lies in another directory from now on, and is the same."""
        partition.log = moved
        if partition.follows:
            partition.follow(partition.epoch, partition.watermark)
        partition.note_flushed(moved.flushed_end)
        name = partition.name
        self._directory_assignments.found(
            partition.topic_id, name.partition, self._directories.id_of(name), UNTOLD
        )

    def settings_of(self, topic: str, image: Image) -> LogSettings:
        """The settings that hold for a topic here and now."""
        dynamic, dynamic_default = image.configs_of(BROKER, str(self._me)), image.configs_of(BROKER, "")
        return topic_settings(image.configs_of(TOPIC, topic), dynamic, dynamic_default, self._settings)

    def _place(
        self, topic: TopicImage, index: int, wanted: PartitionImage, image: Image, now: Millis,
        touched: dict[Partition, None],
    ) -> None:  # fmt: skip
        name = TopicPartition(topic.name, index)
        if self._me not in wanted.replicas:
            self._remove(name, topic.id, now, touched)
            return
        try:
            partition = self._partitions.get(name) or self._open(name, topic, image, now)
        except ProtocolError as error:
            self._put_off(name, error.detail, now)
            self._directory_assignments.found(topic.id, index, LOST, wanted.directory_of(self._me))
            return
        here = self._directories.id_of(name) if partition.failure is None else LOST
        self._directory_assignments.found(topic.id, index, here, wanted.directory_of(self._me))
        self._take_role(partition, wanted, now)
        touched[partition] = None

    def _open(self, name: TopicPartition, topic: TopicImage, image: Image, now: Millis) -> Partition:
        settings = self.settings_of(name.topic, image)
        is_alone = len(image.brokers) <= 1  # nobody can have made another topic of this name meanwhile
        held = self._directories.open_log(name, topic.id, settings, now, adopts=is_alone)
        partition = Partition(name, topic.id, held, self.traffic.of(name.topic))
        self._partitions[name] = partition
        if self._partitions.unopened.pop(name, None) is not None:
            log.info(Line("Partition {partition} is open after all", partition=name))
        return partition

    def _put_off(self, name: TopicPartition, reason: str, now: Millis) -> None:
        """The disk would not open a log: it is tried again, after those that have waited for longer."""
        self._partitions.unopened.pop(name, None)
        self._partitions.unopened[name] = reason
        self._open_again_at = min(self._open_again_at, Millis(now + OPEN_AGAIN_MS))
        if (suppressed := self._log_limiter.again(name, now)) is not None:
            log.error(Line(
                "Partition {partition} is offline: its log cannot be opened; check the disk",
                partition=name, error=reason, suppressed=suppressed,
            ))  # fmt: skip

    def _take_role(self, partition: Partition, wanted: PartitionImage, now: Millis) -> None:
        """Lead or follow as the metadata says. What is older than what the leader was told itself is passed by."""
        if wanted.partition_epoch <= partition.partition_epoch:
            return
        is_new = partition.epoch != wanted.leader_epoch
        watermark = self._watermark_known(partition)
        replicas, isr = frozenset(wanted.replicas), frozenset(wanted.isr)
        before = partition.settle_isr(wanted.partition_epoch, isr)
        if before and wanted.leader == self._me:
            self._follower_states.alter_partition_manager.count(partition, before, isr)
        if wanted.leader != self._me:
            if is_new:
                partition.follow(wanted.leader_epoch, watermark)
            self._fetch(partition, wanted.leader, is_new, now)
        elif is_new:
            self._fetcher_manager.leave(partition)
            is_known = partition.epoch >= 0  # and not opened just now, as all are at a start
            partition.lead(
                LeaderAndIsr(self._me, wanted.leader_epoch, replicas, isr), watermark=watermark, now=now,
                lag_ms_max=self._settings.replication.replica_lag_time_max_ms, heard=self._follower_states.heard,
            )  # fmt: skip
            log.log(logging.INFO if is_known else logging.DEBUG, Line(
                "Partition {partition} is led here", partition=partition.name, leader_epoch=wanted.leader_epoch,
                isr=sorted(isr), high_watermark=partition.watermark,
            ))  # fmt: skip
        elif partition.leads:
            partition.settle(replicas, isr, now)

    def _watermark_known(self, partition: Partition) -> Offset:
        """Where what is committed ends, as of the last checkpoint. It counts when a log is opened and never after that:
        the log knows by then, and may have been cut since."""
        return self._directories.watermark_of(partition.name) if partition.epoch < 0 else Offset(0)

    def _fetch(self, partition: Partition, leader: NodeId, is_new: bool, now: Millis) -> None:
        if leader == NO_LEADER:
            self._fetcher_manager.leave(partition)
        elif is_new:
            self._fetcher_manager.follow(partition, leader, now)

    def _remove(
        self, name: TopicPartition, topic_id: TopicId, now: Millis, touched: dict[Partition, None]
    ) -> None:
        self._partitions.unopened.pop(name, None)
        partition = self._partitions.pop(name, None)
        try:
            if partition is None:
                self._directories.finish_deletion(name, topic_id, now)
            else:
                self._fetcher_manager.leave(partition)
                partition.retire()
                touched[partition] = None
                self._directories.give_up(partition.log, now)
        except (OSError, ProtocolError) as error:
            log.warning(Line(
                "Folder of deleted partition {partition} stays until the next start",
                partition=name, error=error,
            ))  # fmt: skip

    def _reconfigured(self, delta: Delta, image: Image) -> Iterable[Partition]:
        """The partitions whose settings may have changed: a topic's, or all of them with the broker's."""
        if any(kind == BROKER and name in ("", str(self._me)) for kind, name in delta.configs):
            return list(self._partitions.values())
        topics = [image.topics.get(name) for kind, name in delta.configs if kind == TOPIC]
        named = [(topic.name, index) for topic in topics if topic for index in topic.partitions]
        return [self._partitions[name] for name in named if name in self._partitions]


def close_all(disk: Disk, partitions: Sequence[Partition]) -> bool:
    """Bring partitions to the disk; whether all of them got there."""
    sound = [partition.log for partition in partitions if partition.failure is None]
    closing = CleanShutdown(disk, sound)
    closing.close()
    for failed, error in closing.failed.items():
        log.error(Line(
            "Partition {partition} cannot be flushed at the stop: the next start recovers it; check the disk",
            partition=failed.partition, error=error.detail,
        ))  # fmt: skip
    return not closing.failed and len(sound) == len(partitions)
